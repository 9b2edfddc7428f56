-- Lab 14, one write, many orders: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 14`, or leave `foliolab lab watch 14` running.
return {
	-- The orders of the folios that a write of `len` bytes at byte `off` makes in an empty cache, first to last:
	-- a list of numbers. Pages have 4096 bytes, the largest order is 9.
	orders = function(off, len)
		return nil
	end,

	-- The writes that step 5 asks for; several operations are parted by ';'.
	aligned = [[ ]],
}
