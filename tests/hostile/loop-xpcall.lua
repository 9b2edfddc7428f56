-- A handler that loops.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		xpcall(error, function() while true do end end)
	end,
}
