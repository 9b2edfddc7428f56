-- One read, a billion times.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		fl.machine { size = "1m" }:play("pwrite 0 4k 1000000000")
	end,
}
