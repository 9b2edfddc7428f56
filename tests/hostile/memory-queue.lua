-- A queue without end.
-- guilty: too many operations, expected at most 1000000
return {
	guilty = function(try, knobs)
		local m = fl.machine {}
		while true do m:queue(("seek 0;"):rep(10000)) end
	end,
}
