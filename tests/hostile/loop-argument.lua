-- A metamethod handed to the lab's own function.
-- guilty: machine: kernel: a table, expected a string
return {
	guilty = function(try, knobs)
		return try(setmetatable({}, { __index = function() while true do end end, __tostring = function() while true do end end }))
	end,
}
