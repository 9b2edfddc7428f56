-- A comparator that never returns.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		table.sort({ 1, 2, 3 }, function() while true do end end)
	end,
}
