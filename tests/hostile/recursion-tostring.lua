-- __tostring that asks itself.
-- guilty: C stack overflow
return {
	guilty = function(try, knobs)
		local t
		t = setmetatable({}, { __tostring = function() return tostring(t) end })
		return tostring(t)
	end,
}
