-- A comparator without an order, again and again.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local t = {}
		for i = 1, 1000 do t[i] = i end
		while true do
			pcall(table.sort, t, function() return true end)
		end
	end,
}
