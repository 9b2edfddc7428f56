-- A string of a terabyte.
-- guilty: string\.rep: the result is longer than 16 MiB
return {
	guilty = function(try, knobs)
		return ("x"):rep(1 << 40)
	end,
}
