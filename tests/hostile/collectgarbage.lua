-- The collector stopped.
-- guilty: attempt to call a nil value \(global 'collectgarbage'\)
return {
	guilty = function(try, knobs)
		collectgarbage("stop")
	end,
}
