-- A picture of a billion pages.
-- guilty: bad argument #1 to 'map' \(a range of 1 to 2\^20 pages expected\)
return {
	guilty = function(try, knobs)
		return fl.machine {}:map { to = 1 << 40 }
	end,
}
