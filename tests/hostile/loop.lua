-- An endless loop.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do end
	end,
}
