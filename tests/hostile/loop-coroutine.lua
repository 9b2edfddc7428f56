-- A loop in a coroutine.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		coroutine.wrap(function() while true do end end)()
	end,
}
