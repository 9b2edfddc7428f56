-- The arguments broken.
-- guilty: it returned x, expected one of the names
return {
	guilty = function(try, knobs)
		for i = #knobs, 1, -1 do table.remove(knobs) end
		setmetatable(knobs, { __index = function() return "x" end })
		return knobs[1]
	end,
}
