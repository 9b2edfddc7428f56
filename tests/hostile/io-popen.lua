-- A program started.
-- guilty: attempt to index a nil value \(global 'io'\)
return {
	guilty = function(try, knobs)
		return io.popen("id"):read("a")
	end,
}
