-- A false length for loops in C.
-- guilty: __len is not allowed in a metatable
return {
	guilty = function(try, knobs)
		table.insert(setmetatable({}, { __len = function() return 1 << 40 end }), 1)
	end,
}
