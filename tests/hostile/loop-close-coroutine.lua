-- Closing a coroutine that holds a loop.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local co = coroutine.create(function()
			local x <close> = setmetatable({}, { __close = function() while true do end end })
			coroutine.yield()
		end)
		coroutine.resume(co)
		coroutine.close(co)
	end,
}
