-- Lab 16: derived without the miniature.
return {
	solution = {
		["page"] = function(s) return s.byte // 131072 * 2 end,
		["block"] = function(s) return (s.byte // 131072 + 1) * 32 - 1 end,
		["dies-at"] = function(s) return s.at // 32 * 2 end,
		["better-place"] = 1,
		["broken"] = function(s)
			local n = 0
			for at = s.extent, 511, s.extent do
				if at > 32 and at % 32 ~= 0 then
					n = n + 1
				end
			end
			return n
		end,
		["confused"] = function(blocks)
			-- Tidy: a run of numbers, each one more than that before, then nothing but false.
			local n = 0
			while blocks[n + 1] and (n == 0 or blocks[n + 1] == blocks[n] + 1) do
				n = n + 1
			end
			for i = n + 1, #blocks do
				if blocks[i] then
					return true
				end
			end
			return false
		end,
		["lives"] = 4,
		["bios"] = function(s) return s.pairs - 1 + 32 - s.holes end,
		["tidy"] = function(s)
			local list = {}
			for i, p in ipairs(s.list) do
				local first = p[1] // 32 * 32
				list[i] = ("pwrite %d %d"):format(first * 4096, (p[1] + p[2] - first) * 4096)
			end
			return table.concat(list, "; ")
		end,
	},
	wrong = {
		["confused"] = {
			function(blocks) return true end,
			function(blocks) return false end,
			-- Any hole at all.
			function(blocks)
				for i, b in ipairs(blocks) do
					if not b then
						return true
					end
				end
				return false
			end,
			-- Holes only.
			function(blocks)
				local hole = false
				for i, b in ipairs(blocks) do
					if b and hole then
						return true
					end
					hole = hole or not b
				end
				return false
			end,
			-- Breaks only.
			function(blocks)
				for i = 2, #blocks do
					if blocks[i] and blocks[i - 1] and blocks[i] ~= blocks[i - 1] + 1 then
						return true
					end
				end
				return false
			end,
			function(blocks) return 1 end,
		},
		["tidy"] = {
			"pwrite 0 4k",
			"pwrite 0 2m",
			-- The pieces alone.
			function(s)
				return ("pwrite %d %d; pwrite %d %d"):format(s.list[1][1] * 4096, s.list[1][2] * 4096, s.list[2][1] * 4096, s.list[2][2] * 4096)
			end,
			-- From the page's first block on.
			function(s)
				local list = {}
				for i, p in ipairs(s.list) do
					local first = p[1] // 16 * 16 + 1
					list[i] = ("pwrite %d %d"):format(first * 4096, (p[1] + p[2] - first) * 4096)
				end
				return table.concat(list, "; ")
			end,
			"fallocate 0 2m; ftruncate 0",
			"fadvise random 0 0",
		},
		["broken"] = { function(s) return s.large + 1 end },
	},
}
