-- Lab 04, hints: the programs to write.
-- Save this file, then press Enter in `foliolab lab run 04`, or leave `foliolab lab watch 04` running.
return {
	-- The WILLNEED calls that bring pages `first` to `last` into the cache if each call reads at most
	-- `cap` pages: a list of { page, count }.
	prefetch = function(first, last, cap)
		return {}
	end,

	-- How many pages does fadvise(DONTNEED) with these bytes drop? All pages of the file, `size` bytes
	-- long, are cached, in folios of one page.
	dropped = function(off, len, size)
		return nil
	end,

	-- The backup program of the last step; operations are parted by ';' or by newlines.
	backup = [[ ]],
}
