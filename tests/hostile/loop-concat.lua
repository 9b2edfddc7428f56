-- A loop in a metamethod that the lab calls.
-- guilty: limit instructions:
return {
	guilty = function(try, knobs)
		try(setmetatable({}, { __concat = function() while true do end end }) .. "x")
	end,
}
