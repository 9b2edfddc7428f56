-- A loop in __index.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		return setmetatable({}, { __index = function() while true do end end }).x
	end,
}
