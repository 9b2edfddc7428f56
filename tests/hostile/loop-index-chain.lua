-- __index that asks itself.
-- guilty: C stack overflow
return {
	guilty = function(try, knobs)
		local t = setmetatable({}, { __index = function(t, k) return t[k .. "x"] end })
		return t.x
	end,
}
