-- Lab 01: derived without the miniature where that is possible.
return {
	solution = {
		["pages"] = function(s) return math.ceil(s.size / 4096) end,
		["last-page"] = function(s) return s.one.index + 2 ^ s.one.order - 1 end,
		["folios"] = function(s) return #s.all end,
		["last-orders"] = computed,
		["by-size"] = function(s)
			local function zeros(n)
				return n % 2 == 1 and 0 or 1 + zeros(n // 2)
			end
			local list = { 1, 2, 3, 4 }
			table.sort(list, function(a, b) return zeros(s.pages[a]) < zeros(s.pages[b]) end)
			return list
		end,
		["biggest"] = function(index)
			local order = 0
			while order < 9 and index % 2 == 0 do
				index = index // 2
				order = order + 1
			end
			return order
		end,
		["saved"] = function(s) return s.mib * 256 / 32 end,
		["the-same"] = 3,
		["window-orders"] = computed,
		["window-end"] = computed,
		["left"] = function(s)
			-- All folios there are of order 5.
			local first = (s.off + 31) // 32 * 32
			local last = (s.last + 1) // 32 * 32
			return s.total - math.max(0, last - first)
		end,
		["why-whole"] = 1,
		["exactly"] = function(s)
			return ("fadvise random 0 0; pread %dk 4k; pread %dk %dk"):format(s.first * 4,
				(s.first + 1) * 4, (s.n - 1) * 4)
		end,
	},
	wrong = {
		["biggest"] = {
			function(index) return 9 end,
			function(index) return index % 2 == 0 and 1 or 0 end,
			-- Forgets that 9 is the largest there is.
			function(index)
				local order = 0
				while index > 0 and index % 2 == 0 do
					index = index // 2
					order = order + 1
				end
				return order
			end,
			function(index) while true do end end,
			function(index) error("no idea") end,
			function(index) return {} end,
		},
		["exactly"] = {
			"read 4k",
			function(s) return ("pread %dk %dk"):format(s.first * 4, s.n * 4) end,
			function(s) return ("fadvise willneed %dk %dk; read 0 2"):format(s.first * 4, s.n * 4) end,
			function(s) return ("pread %dk %dk; pread %dk 4k"):format(s.first * 4, (s.n - 1) * 4, s.last * 4) end,
			"read 4k 21",
			"reed 4k",
		},
		["saved"] = { function(s) return s.mib * 256 end },
		["pages"] = { function(s) return s.size // 4096 end },
	},
}
