-- Lab 07, page by page or folio by folio: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 07`, or leave `foliolab lab watch 07` running.
return {
	-- The turns of one read of `len` bytes at byte `off`.
	-- folios: list of { index = , order = } in ascending order; other pages are holes. size: the file's, in bytes.
	-- after: true with f3650ef89b87 and a284cb8472ec (a folio a turn), false without (a page a turn).
	turns = function(folios, size, off, len, after)
		return nil
	end,

	-- Operations that read what step 7 asks for; several are parted by ';'.
	aligned = [[ ]],
}
