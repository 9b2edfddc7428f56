-- A file opened.
-- guilty: attempt to index a nil value \(global 'io'\)
return {
	guilty = function(try, knobs)
		return io.open("/etc/passwd"):read("a")
	end,
}
