-- A finalizer put in later.
-- guilty: __gc is not allowed in a metatable
return {
	guilty = function(try, knobs)
		local mt = {}
		setmetatable({}, mt)
		mt.__gc = function() while true do end end
		local t = {}
		for i = 1, math.huge do t[i] = setmetatable({}, mt) end
	end,
}
