-- Lab 15, inside ext4_writepages: the programs to write.
-- Save this file, then press Enter in `foliolab lab run 15`, or leave `foliolab lab watch 15` running.
return {
	-- The credits that a round of writeback asks for on v6.18: blocks of 4 KiB, extents, `groups` block groups.
	credits = function(groups)
		return nil
	end,

	-- The pwrites and the fsync that the last step asks for, parted by ';'.
	careful = [[ ]],
}
