-- __pairs that never ends.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		for _ in pairs(setmetatable({}, { __pairs = function() return function() return 1 end end })) do end
	end,
}
