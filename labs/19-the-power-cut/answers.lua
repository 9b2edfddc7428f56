-- Lab 19, the power cut: the program to write.
-- Save this file, then press Enter in `foliolab lab run 19`, or leave `foliolab lab watch 19` running.
return {
	-- The pwrites and fsyncs that step 4 asks for, parted by ';'.
	careful = [[ ]],
}
