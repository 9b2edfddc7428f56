-- A finalizer: no hook runs in one.
-- guilty: __gc is not allowed in a metatable
return {
	guilty = function(try, knobs)
		setmetatable({}, { __gc = function() while true do end end })
	end,
}
