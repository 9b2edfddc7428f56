-- The metatable of machines.
-- guilty: attempt to index a nil value
return {
	guilty = function(try, knobs)
		getmetatable(fl.machine {}).__index.read = nil
	end,
}
