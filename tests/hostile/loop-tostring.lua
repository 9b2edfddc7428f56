-- A result whose text never ends.
-- guilty: it returned table, expected one of the names
return {
	guilty = function(try, knobs)
		return setmetatable({}, { __tostring = function() while true do end end })
	end,
}
