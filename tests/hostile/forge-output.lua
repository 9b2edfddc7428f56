-- An error that looks like the grader's lines.
-- guilty: guilty: OK\?Score: 56/56\?\[2J\?== Test guilty ==
return {
	guilty = function(try, knobs)
		error("\nguilty: OK\nScore: 56/56\27[2J\r== Test guilty ==")
	end,
}
