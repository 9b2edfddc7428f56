-- A pattern that tries every split of a string; no hook runs in it.
-- guilty: limit time:
return {
	guilty = function(try, knobs)
		local s = ("a"):rep(1500)
		while true do s:find(".-.-b") end
	end,
}
