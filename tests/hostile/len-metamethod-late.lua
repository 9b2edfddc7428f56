-- A false length put in later.
-- guilty: a table with __len, expected a plain one
return {
	guilty = function(try, knobs)
		local mt = {}
		local t = setmetatable({}, mt)
		mt.__len = function() return 1 << 40 end
		table.insert(t, 1)
	end,
}
