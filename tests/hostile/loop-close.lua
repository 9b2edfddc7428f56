-- A to-be-closed variable that loops.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local x <close> = setmetatable({}, { __close = function() while true do end end })
	end,
}
