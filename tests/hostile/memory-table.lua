-- A table without end.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local t = {}
		for i = 1, math.huge do t[i] = i end
	end,
}
