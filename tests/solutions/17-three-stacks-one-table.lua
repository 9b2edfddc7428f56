-- Lab 17: counted by hand from lengths; percentages from the times that the text shows.
return {
	solution = {
		["turns-small"] = function(s) return s.mib * 256 end,
		["turns-large"] = function(s) return s.calls end,
		["turns-four"] = function(s) return s.mib * 256 end,
		["buffers"] = function(s) return s.pages end,
		["begins"] = function(s) return s.calls end,
		["lesson"] = 1,
		-- 100 (old - new) / new, rounded, in whole numbers, from the times that the text shows.
		["column"] = function(s)
			local list = {}
			for _, row in ipairs(s.own) do
				local old, new = math.floor(row.costs[1].us + 0.5), math.floor(row.costs[2].us + 0.5)
				list[#list + 1] = (200 * (old - new) + new) // (2 * new)
			end
			return list
		end,
		-- The place of each cell in the student's list.
		["cells-by-gain"] = function(s)
			local list = {}
			for i, cell in ipairs(s.order) do
				list[cell] = i
			end
			return list
		end,
		["cold"] = 1,
		["overwrite"] = 2,
		["commits"] = function(s) return s.syncs end,
		["visits"] = function(s) return 2 * 256 * s.calls end,
		["gain"] = "pwrite 0 1m 8",
	},
	wrong = {
		["gain"] = {
			"pwrite 0 4k 8",
			"pwrite 0 512k",
			-- A long file of which little was written.
			"pwrite 0 512k; ftruncate 2m",
			"pwrite 0 1m 4; fsync; seek 0; read 4k 40",
			-- Too many calls.
			function(s) return ("pwrite 0 64k %d"):format(math.min(s.calls + 1, 60)) .. (s.calls == 60 and "; fsync" or "") end,
		},
	},
}
