-- A file as code.
-- guilty: attempt to call a nil value \(global 'dofile'\)
return {
	guilty = function(try, knobs)
		dofile("/etc/passwd")
	end,
}
