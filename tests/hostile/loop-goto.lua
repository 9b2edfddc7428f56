-- An endless loop without a loop.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		::again::
		goto again
	end,
}
