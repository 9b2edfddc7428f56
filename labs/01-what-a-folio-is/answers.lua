-- Lab 01, what a folio is: the two programs to write.
-- Save this file, then press Enter in `foliolab lab run 01`, or leave `foliolab lab watch 01` running.
return {
	-- The largest order a folio may have whose first page is `index`; 9 is the largest there is.
	biggest = function(index)
		return nil
	end,

	-- Operations that cache what step 7 asks for, and nothing else; several are parted by ';'.
	exactly = [[ ]],
}
