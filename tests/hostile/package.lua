-- A library loaded.
-- guilty: attempt to index a nil value \(global 'package'\)
return {
	guilty = function(try, knobs)
		package.loadlib("libc.so.6", "system")
	end,
}
