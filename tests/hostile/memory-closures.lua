-- Closures without end.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local t = {}
		while true do
			local x = {}
			t[#t + 1] = function() return x end
		end
	end,
}
