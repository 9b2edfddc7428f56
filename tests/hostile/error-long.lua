-- An error of sixteen megabytes.
-- guilty: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
return {
	guilty = function(try, knobs)
		error(("x"):rep(16 << 20))
	end,
}
