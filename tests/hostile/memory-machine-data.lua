-- A gigabyte of real pages.
-- guilty: limit memory:
return {
	guilty = function(try, knobs)
		local t = {}
		for i = 1, 8 do
			t[i] = fl.machine { data = true, memory = "1g", size = "900m", disk = "ram" }
			t[i]:read("1m", 900)
		end
	end,
}
