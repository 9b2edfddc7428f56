-- A file removed.
-- guilty: attempt to index a nil value \(global 'os'\)
return {
	guilty = function(try, knobs)
		os.remove("answers.lua")
	end,
}
