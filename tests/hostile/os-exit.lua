-- The grader ended.
-- guilty: attempt to index a nil value \(global 'os'\)
return {
	guilty = function(try, knobs)
		os.exit(0)
	end,
}
