-- The destructor of a machine, by hand.
-- guilty: a machine has no '__gc', expected what labs/README\.md lists
return {
	guilty = function(try, knobs)
		local m = fl.machine {}
		m.__gc(m)
	end,
}
