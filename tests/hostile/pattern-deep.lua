-- A pattern nested too deep.
-- guilty: too many captures
return {
	guilty = function(try, knobs)
		("a"):rep(300000):find(("(a"):rep(40))
	end,
}
