-- Lab 19: derived from what the calls promise.
return {
	solution = {
		["left"] = function(s) return s.first end,
		["data"] = function(s) return s.pre + s.kib end,
		["just-before"] = function(s) return s.pre end,
		["durable"] = 1,
		["size"] = function(s) return s.kib end,
		["stale"] = function(s) return s.kib end,
		["ordered"] = function(s) return s.kib end,
		["careful"] = function(s) return ("pwrite %dk %dk; fsync; pwrite 0 %dk; fsync"):format(s.copy, s.kib, s.kib) end,
	},
	wrong = {
		["careful"] = {
			-- In place: torn by a cut.
			function(s) return ("pwrite 0 %dk; fsync"):format(s.kib) end,
			-- Both at once: nothing orders them.
			function(s) return ("pwrite %dk %dk; pwrite 0 %dk; fsync"):format(s.copy, s.kib, s.kib) end,
			-- No promise at the end.
			function(s) return ("pwrite %dk %dk; fsync; pwrite 0 %dk"):format(s.copy, s.kib, s.kib) end,
			function(s) return ("pwrite %dk %dk; fsync"):format(s.copy, s.kib) end,
			"fsync",
		},
	},
}
