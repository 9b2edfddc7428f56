-- Lab 08, one bad page: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 08`, or leave `foliolab lab watch 08` running.
return {
	-- A read of `len` bytes at byte `off` of a file of `size` bytes, folio by folio with fallback.
	-- pages[i] (i from 0): { first = , order = , bad = }, nil in a hole.
	read = function(pages, size, off, len)
		return { copies = {}, result = nil }
	end,

	-- Operations that mend the file of step 8; several are parted by ';'.
	mend = [[ ]],
}
