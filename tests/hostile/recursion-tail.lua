-- Tail calls without end.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local function again() return again() end
		return again()
	end,
}
