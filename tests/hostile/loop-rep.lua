-- Strings of a megabyte, one after the other.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do local s = ("x"):rep(1 << 20) end
	end,
}
