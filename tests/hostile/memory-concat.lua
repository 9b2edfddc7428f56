-- A string that doubles.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local s = "x"
		while true do s = s .. s end
	end,
}
