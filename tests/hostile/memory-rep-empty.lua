-- Nothing, a trillion times.
-- guilty: string\.rep: the result is longer than 16 MiB
return {
	guilty = function(try, knobs)
		while true do (""):rep(1 << 40) end
	end,
}
