-- Lab 12, random mapping: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 12`, or leave `foliolab lab watch 12` running.
return {
	-- How many windows v7.3 reads around in all. runs = { { kind = "miss", n = 70 }, { kind = "hit", n = 20 }, ... }:
	-- n touches of pages that are not cached, or n faults on pages that are.
	windows = function(runs)
		return nil
	end,

	-- Operations for the last step; several are parted by ';'.
	two_phases = [[ ]],
}
