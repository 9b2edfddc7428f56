-- All functions of the environment replaced; the lab has its own.
-- alone: it returned nothing, expected one of the names
return {
	guilty = function(try, knobs)
		for _, name in ipairs { "assert", "ipairs", "pairs", "type", "tostring", "pcall", "error" } do
			_G[name] = function() return true end
		end
		string.format = function() return "" end
		table.concat = nil
		return "nothing"
	end,
}
