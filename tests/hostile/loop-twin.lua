-- Twins that replay a long past.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		local m = fl.machine { size = "16m" }
		for i = 1, 1000 do m:pread(i * 4096, "4k") end
		while true do m:twin() end
	end,
}
