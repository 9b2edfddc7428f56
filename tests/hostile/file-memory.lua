-- A file that eats memory.
-- file: limit memory:
local t = {}
for i = 1, math.huge do t[i] = {} end
