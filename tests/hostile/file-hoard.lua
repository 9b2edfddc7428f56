-- A file that leaves no memory for the lab.
-- alone: limit memory:
hoard = {}
pcall(function()
	for i = 1, math.huge do hoard[i] = ("x"):rep(1000) .. i end
end)
return { guilty = function() return hoard end }
