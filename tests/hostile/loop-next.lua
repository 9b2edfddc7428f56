-- next over a large table, again and again.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local t = {}
		for i = 1, 10000 do t[i] = i end
		while true do next(t, 5000) end
	end,
}
