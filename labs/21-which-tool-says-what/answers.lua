-- Lab 21, which tool says what: the programs to write.
-- Save this file, then press Enter in `foliolab lab run 21`, or leave `foliolab lab watch 21` running.
return {
	-- What bcc's cachestat prints, from the calls it counted in one interval: added (filemap_add_folio), dirtied
	-- (folio_account_dirtied), accessed (folio_mark_accessed), buffers (mark_buffer_dirty).
	-- Return hits, misses and the ratio in percent: { hits, misses, ratio }.
	cachestat = function(added, dirtied, accessed, buffers)
		return { 0, 0, 0 }
	end,

	-- How many of `n` folios of one page, added one after the other by one CPU, are on an LRU list if a batch
	-- takes `batch` folios?
	listed = function(n, batch)
		return nil
	end,
}
