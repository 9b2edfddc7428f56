-- An error whose text never ends.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		error(setmetatable({}, { __tostring = function() while true do end end }))
	end,
}
