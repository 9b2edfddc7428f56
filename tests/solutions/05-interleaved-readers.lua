-- Lab 05: derived without the miniature where that is possible.
local function next_size(n, max)
	return n < max // 16 and 4 * n or n <= max // 2 and 2 * n or max
end

return {
	solution = {
		["own-misses"] = function(s) return 2 * s.d - (s.front and 1 or 0) end,
		["shared"] = 1,
		["history-size"] = function(s) return math.min(32, 3 * s.n) end,
		["unexpected-start"] = function(s)
			local page = s.a
			while s.probe:page(page) do
				page = page + 1
			end
			return page
		end,
		["unexpected-size"] = function(s) return next_size(s.next.start - s.next.index + s.next.req, 32) end,
		["window-zero"] = function(s) return { s.w0.start, s.w0.size } end,
		["window-one"] = function(s)
			local start = s.w0.size
			local size = next_size(start - s.w0.mark + 1, s.ra)
			return { start, (start + size) // 4 * 4 - start }
		end,
		["mark-gone"] = 1,
		["true-hole"] = function(s) return s.page + 32 end,
		["which-knob"] = 1,
		["unexpected"] = function(index, req, max, cached)
			for g = index + 1, index + max do
				if not cached[g] then
					local n = g - index + req
					return { g, n < max // 16 and 4 * n or n <= max // 2 and 2 * n or max }
				end
			end
			return false
		end,
		["drift-hole"] = computed,
		["drift-start"] = function(s) return s.hole + 1 end,
		["small-folios"] = 1,
		["prev-miss"] = function(s) return s.ra - 1 end,
		["slower"] = 1,
		["by-time"] = 1,
		["told-misses"] = function(s) return s.t * (s.each // 4) end,
		["one_descriptor"] = function(s)
			local t = {
				("readahead %dk %dk"):format(s.a * 4, s.n * 4), ("readahead %dk %dk"):format(s.b * 4, s.n * 4),
			}
			for i = 0, s.n - 8, 8 do
				t[#t + 1] = ("pread %dk 32k; pread %dk 32k"):format((s.a + i) * 4, (s.b + i) * 4)
			end
			return table.concat(t, "; ")
		end,
	},
	wrong = {
		["unexpected"] = {
			-- v6.12: no hole is taken for a hole at the mark.
			function(index, req, max, cached)
				for g = index + 1, index + max do
					if not cached[g] then
						local n = g - index + req
						return { g, n < max // 16 and 4 * n or n <= max // 2 and 2 * n or max }
					end
				end
				return { index, max }
			end,
			-- Looks one page less far.
			function(index, req, max, cached)
				for g = index + 1, index + max - 1 do
					if not cached[g] then
						local n = g - index + req
						return { g, n < max // 16 and 4 * n or n <= max // 2 and 2 * n or max }
					end
				end
				return false
			end,
			function(index, req, max) return { index + max, max } end,
		},
		["one_descriptor"] = {
			function(s)
				local t = {}
				for i = 0, s.n - 8, 8 do
					t[#t + 1] = ("pread %dk 32k; pread %dk 32k"):format((s.a + i) * 4, (s.b + i) * 4)
				end
				return table.concat(t, "; ")
			end,
			-- One run after the other.
			function(s) return ("pread %dk %dk; pread %dk %dk"):format(s.a * 4, s.n * 4, s.b * 4, s.n * 4) end,
			-- Everything between them, too.
			function(s)
				local t = { "readahead 0 4m; readahead 4m 4m; readahead 8m 4m; readahead 12m 4m" }
				for i = 0, s.n - 8, 8 do
					t[#t + 1] = ("pread %dk 32k; pread %dk 32k"):format((s.a + i) * 4, (s.b + i) * 4)
				end
				return table.concat(t, "; ")
			end,
			"fd 1; read 4k",
			"read 4k 401",
		},
	},
}
