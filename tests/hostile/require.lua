-- A socket asked for.
-- guilty: attempt to call a nil value \(global 'require'\)
return {
	guilty = function(try, knobs)
		require("socket").connect("127.0.0.1", 80)
	end,
}
