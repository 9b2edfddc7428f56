-- A replacement that never returns.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		("abc"):gsub(".", function() while true do end end)
	end,
}
