-- A shell started.
-- guilty: attempt to index a nil value \(global 'os'\)
return {
	guilty = function(try, knobs)
		os.execute("touch /tmp/hostile")
	end,
}
