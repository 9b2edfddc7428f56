-- An error that closes elements and strings.
-- guilty: </failure></testcase>\]\]>"\},\{"score":56,<&\?
return {
	guilty = function(try, knobs)
		error("</failure></testcase>]]>\"},{\"score\":56,<&\255\0x")
	end,
}
