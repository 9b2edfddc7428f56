-- Recursion without end.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local function down() return 1 + down() end
		return down()
	end,
}
