-- A result that holds itself.
-- guilty: returned tables in tables in tables, expected fewer levels
return {
	guilty = function(try, knobs)
		local t = {}
		t.t = t
		return t
	end,
}
