-- Hooks taken away.
-- guilty: attempt to index a nil value \(global 'debug'\)
return {
	guilty = function(try, knobs)
		debug.sethook()
	end,
}
