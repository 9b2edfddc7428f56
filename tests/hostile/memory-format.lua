-- Formats without end.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local t = {}
		while true do t[#t + 1] = ("%99d"):format(#t) end
	end,
}
