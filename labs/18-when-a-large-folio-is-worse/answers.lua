-- Lab 18, when a large folio is worse: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 18`, or leave `foliolab lab watch 18` running.
return {
	-- How many bios ext4 sends to fill `folios`, a list of { index = ..., order = ... } without gaps, all in one
	-- window, of a file whose extents have `extent` blocks each (the last may be shorter). Blocks and pages
	-- have 4096 bytes.
	bios = function(folios, extent)
		return nil
	end,

	-- The workload that step 5 asks for; several operations are parted by ';'.
	fewer = [[ ]],
}
