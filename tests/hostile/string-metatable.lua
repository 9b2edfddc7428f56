-- Methods of strings replaced.
-- guilty: attempt to index a nil value
return {
	guilty = function(try, knobs)
		getmetatable("").__index.format = function() return "MARK_ROUND_DOWN" end
		return "x"
	end,
}
