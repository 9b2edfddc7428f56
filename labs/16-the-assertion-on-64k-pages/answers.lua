-- Lab 16, the assertion on 64 KiB pages: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 16`, or leave `foliolab lab watch 16` running.
return {
	-- Is this folio confused? `blocks` is a list: for each block of the folio, from first to last, the number of
	-- the disk block that holds it, or false if there is none to read (a hole, or unwritten).
	confused = function(blocks)
		return nil
	end,

	-- The pwrites that step 5 asks for, parted by ';'.
	tidy = [[ ]],
}
