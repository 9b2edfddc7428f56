-- A loop under a hundred coroutines.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local function go(n)
			if n == 0 then while true do end end
			coroutine.wrap(go)(n - 1)
		end
		go(100)
	end,
}
