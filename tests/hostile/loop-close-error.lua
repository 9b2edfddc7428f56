-- An error on top of a to-be-closed loop.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local x <close> = setmetatable({}, { __close = function() while true do end end })
		error("out")
	end,
}
