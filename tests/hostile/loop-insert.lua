-- Insertions at the front of a long list.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local t = {}
		while true do table.insert(t, 1, 1) end
	end,
}
