-- Lab 06, your own readahead: the policies to write.
-- Save this file, then press Enter in `foliolab lab run 06`, or leave `foliolab lab watch 06` running.
--
-- sync_ra is called when a read misses, async_ra when it meets a mark.
--   ra:  start size async_size (the last window)  prev_index (page where the last read ended)
--   req: index (first page wanted)  count (how many)  file_pages (of the file)  limit (the most `size` may be)
--   p:   the numbers of the exercise (not in `mine`)
-- Return { start = , size = , async_size = }, or false for nothing ahead, or nil for the kernel's decision.
-- `reset` is called before each file: forget what you learned there.
return {
	fixed = {
		sync_ra = function(ra, req, p)
			return nil
		end,
	},

	doubling = {
		sync_ra = function(ra, req, p)
			return nil
		end,
		async_ra = function(ra, req, p)
			return nil
		end,
	},

	gated = {
		sync_ra = function(ra, req, p)
			return nil
		end,
		async_ra = function(ra, req, p)
			return nil
		end,
	},

	-- The stride of the last reads, oldest first, or 0.
	stride = function(pages)
		return nil
	end,

	-- Which of the streams does a read at `index` continue? Its place in the list, or 0.
	find = function(streams, index)
		return nil
	end,

	mine = {
		reset = function()
		end,
		sync_ra = function(ra, req)
			return nil
		end,
		async_ra = function(ra, req)
			return nil
		end,
	},
}
