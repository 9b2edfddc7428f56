-- Output without end.
-- guilty: more than 4 MiB printed
return {
	guilty = function(try, knobs)
		while true do print(("x"):rep(1 << 16)) end
	end,
}
