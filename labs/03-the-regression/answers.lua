-- Lab 03, the regression: two functions and a workload.
-- Save this file, then press Enter in `foliolab lab run 03`, or leave `foliolab lab watch 03` running.
return {
	-- The one knob of the list that turns the counts of v6.7 into those of ab4443fe3ca6.
	-- try("v6.7+ORDER1") returns the folio allocation calls of that kernel, a table by order.
	guilty = function(try, knobs)
		return nil
	end,

	-- Indices of the folios that bear the mark; folios = { { index = 28, order = 2 }, ... }.
	marked = function(mark, folios, up)
		return nil
	end,

	-- All pages in order, the same calls on both kernels.
	equal = [[ ]],
}
