-- A pattern that would take years.
-- guilty: a pattern with so many repetitions on a string of 200 bytes may take too long, expected a shorter string or a simpler pattern
return {
	guilty = function(try, knobs)
		("a"):rep(200):find((".-"):rep(4) .. "b")
	end,
}
