-- Machines that read for ever.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do
			fl.machine { size = "16m" }:read("4k", 4096)
		end
	end,
}
