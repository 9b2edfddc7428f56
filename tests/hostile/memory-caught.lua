-- Want of memory, caught and repeated.
-- guilty: limit (time|instructions|memory):
return {
	guilty = function(try, knobs)
		local t = {}
		while true do
			pcall(function() for i = 1, math.huge do t[#t + 1] = ("x"):rep(1000) .. i end end)
		end
	end,
}
