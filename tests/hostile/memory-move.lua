-- table.move over a trillion places.
-- guilty: table\.move: too many elements
return {
	guilty = function(try, knobs)
		table.move({}, 1, 1 << 40, 2)
	end,
}
