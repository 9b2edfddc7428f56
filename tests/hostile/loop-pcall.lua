-- A loop whose death is caught.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		while true do
			pcall(function() while true do end end)
		end
	end,
}
