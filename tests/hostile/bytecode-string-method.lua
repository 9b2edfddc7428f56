-- dump as a method.
-- guilty: attempt to call a nil value \(method 'dump'\)
return {
	guilty = function(try, knobs)
		return (""):dump()
	end,
}
