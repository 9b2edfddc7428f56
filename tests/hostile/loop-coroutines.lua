-- Coroutines without end.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do
			coroutine.wrap(function() end)()
		end
	end,
}
