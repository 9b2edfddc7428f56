-- Lab 13, who gets large folios: the program to write.
-- Save this file, then press Enter in `foliolab lab run 13`, or leave `foliolab lab watch 13` running.
return {
	-- The largest order that folios of a regular file may have, or -1 if the kernel refuses to mount.
	-- c.kernel        "v6.12", "v6.16", "v6.18" or "v7.3"
	-- c.page_size     4096 or 65536; no folio has more than order 9 with pages of 4 KiB, 11 with pages of 64 KiB
	-- c.block_size    1024, 2048, ... 65536
	-- c.features      a table: c.features.verity is true or nil; also encrypt, bigalloc, inline_data, ext2,
	--                 ["^has_journal"]
	-- c.data          "ordered", "writeback" or "journal", as mounted
	-- c.delalloc      true or false, as mounted
	-- c.journal_flag  true if the file has the flag j (chattr +j), made with it or read from disk with it
	largest = function(c)
		return nil
	end,
}
