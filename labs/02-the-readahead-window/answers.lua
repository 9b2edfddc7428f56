-- Lab 02, the readahead window: two functions and a workload.
-- Save this file, then press Enter in `foliolab lab run 02`, or leave `foliolab lab watch 02` running.
return {
	-- Pages of the first window for a request of `asked` pages when at most `max` may be read ahead.
	init_size = function(asked, max)
		return nil
	end,

	-- Pages of the window that follows one of `size` pages.
	next_size = function(size, max)
		return nil
	end,

	-- At most 6 operations; several are parted by ';'.
	place = [[ ]],
}
