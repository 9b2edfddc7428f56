-- A hundred machines at once.
-- guilty: machine: too many machines, expected at most 64 alive
return {
	guilty = function(try, knobs)
		local t = {}
		for i = 1, 100 do t[i] = fl.machine {} end
	end,
}
