-- Matches without end.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do
			for _ in ("x"):rep(1000):gmatch(".") do end
		end
	end,
}
