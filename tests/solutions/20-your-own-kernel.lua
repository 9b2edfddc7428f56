-- Lab 20: from the recorded rows alone; folios from the rule of v6.16.
return {
	solution = {
		["ahead"] = function(s)
			local asked = math.ceil(s.kib * s.j / 4)
			return s.counts[s.j] - asked
		end,
		["rights"] = 3,
		["sizes"] = function(s)
			local list = {}
			for i, n in ipairs(s.counts) do
				local d = n - (s.counts[i - 1] or 0)
				if d ~= 0 then
					list[#list + 1] = d
				end
			end
			return list
		end,
		["grown"] = function(counts)
			local list = {}
			for i = 1, #counts do
				local d = counts[i] - (counts[i - 1] or 0)
				if d > 0 then
					list[#list + 1] = d
				end
			end
			return list
		end,
		["folios"] = function(s)
			local n = 0
			for order = 0, 9 do
				n = n + s.large:orders()[order]
			end
			return n
		end,
		["folios-old"] = function(s) return s.small:cached() end,
		["tell"] = "read 1m; readahead 8m 4m; pread 5m 4k",
		["where"] = function(s)
			local i = 1
			while s.host[i] == s.mini[i] do
				i = i + 1
			end
			return math.ceil(i * s.kib / 4)
		end,
		["first"] = function(host, mini)
			for i = 1, math.max(#host, #mini) do
				if host[i] ~= mini[i] then
					return i
				end
			end
		end,
	},
	wrong = {
		["grown"] = {
			-- Zeros are kept.
			function(counts)
				local list = {}
				for i = 1, #counts do
					list[i] = counts[i] - (counts[i - 1] or 0)
				end
				return list
			end,
			function(counts) return counts end,
			function() return nil end,
		},
		["first"] = {
			-- Forgets what is missing.
			function(host, mini)
				for i = 1, math.min(#host, #mini) do
					if host[i] ~= mini[i] then
						return i
					end
				end
			end,
			function() return 1 end,
		},
		["tell"] = {
			"read 1m",
			"readahead 0 8m",
			"pwrite 0 4m; readahead 8m 4m",
			"read 4k; readahead 8m 4m",
		},
		["ahead"] = { function(s) return s.counts[s.j] end },
	},
}
