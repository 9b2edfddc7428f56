-- Lab 10, reading a perf diff: the program to write.
-- Save this file, then press Enter in `foliolab lab run 10`, or leave `foliolab lab watch 10` running.
return {
	-- before and after are { ns = time of one operation, share = { [function] = percent } };
	-- names = { [name after] = name before } of functions that were renamed.
	-- Returns { [name after] = growth of its time for one operation in percent, or "new" }.
	growth = function(before, after, names)
		return nil
	end,
}
