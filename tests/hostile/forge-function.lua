-- A function in place of a result.
-- guilty: returned a function, expected numbers, strings, booleans or tables
return {
	guilty = function(try, knobs)
		return function() return "MARK_ROUND_DOWN" end
	end,
}
