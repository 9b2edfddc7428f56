-- Lab 17, three stacks, one table: the program to write.
-- Save this file, then press Enter in `foliolab lab run 17`, or leave `foliolab lab watch 17` running.
return {
	-- The workload that the last step asks for, its calls parted by ';'.
	gain = [[ ]],
}
