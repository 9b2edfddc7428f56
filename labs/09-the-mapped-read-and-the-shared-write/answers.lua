-- Lab 09, the mapped read and the shared write: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 09`, or leave `foliolab lab watch 09` running.
return {
	-- How many faults a program takes that touches the `n` pages first, first + step, first + 2 * step, ...
	-- of a mapped file that is cached in folios of one page.
	faults = function(first, step, n)
		return nil
	end,

	-- Operations that store the bytes the last step asks for; several are parted by ';'.
	sparse = [[ ]],
}
