-- A hundred million results.
-- guilty: too many results to unpack
return {
	guilty = function(try, knobs)
		return table.unpack({}, 1, 100000000)
	end,
}
