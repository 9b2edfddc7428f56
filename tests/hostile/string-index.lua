-- Methods of strings reached through a string.
-- guilty: bad argument #1 to 'rawset' \(table expected, got function\)
return {
	guilty = function(try, knobs)
		local s = ("").__index or ("").format
		return rawset(s, "x", 1)
	end,
}
