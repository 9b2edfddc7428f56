-- Lab 05, interleaved readers: the programs to write.
-- Save this file, then press Enter in `foliolab lab run 05`, or leave `foliolab lab watch 05` running.
return {
	-- A marked folio of one page was met that the descriptor did not expect: where does the next window
	-- start and how large is it? Returns { start, size }, or false if nothing is read.
	-- `cached[page]` is true for a page in the cache.
	unexpected = function(index, req, max, cached)
		return nil
	end,

	-- The workload of the last step; operations are parted by ';' or by newlines.
	one_descriptor = [[ ]],
}
