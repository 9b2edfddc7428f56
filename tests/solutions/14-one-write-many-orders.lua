-- Lab 14: derived without the miniature.

-- Orders of a write; `taken` is a set of pages that are cached, each a folio of its own.
local function write_orders(off, len, taken)
	local list = {}
	while len > 0 do
		local turn = math.min(len, 2097152 - off % 2097152)
		local page = off // 4096
		local order = 0
		if not (taken and taken[page]) then
			while order < 9 and turn >= 4096 * 2 ^ (order + 1) do
				order = order + 1
			end
			local function fits()
				if page % (1 << order) ~= 0 then
					return false
				end
				for p = page, page + (1 << order) - 1 do
					if taken and taken[p] then
						return false
					end
				end
				return true
			end
			while not fits() do
				order = order - 1
			end
		end
		list[#list + 1] = order
		turn = math.min(turn, (page + (1 << order)) * 4096 - off)
		off, len = off + turn, len - turn
	end
	return list
end

return {
	solution = {
		["at-zero"] = function(s)
			-- The binary digits, highest first.
			local list = {}
			for bit = 8, 0, -1 do
				if s.pages & (1 << bit) ~= 0 then
					list[#list + 1] = bit
				end
			end
			return list
		end,
		["old"] = function(s) return s.pages end,
		["at-place"] = function(s) return write_orders(s.at * 4096, s.pages * 4096) end,
		["tail"] = function(s)
			local list, at = write_orders(s.at * 4096, s.pages * 4096), s.at
			for i = 1, #list - 1 do
				at = at + (1 << list[i])
			end
			return at
		end,
		["at-byte"] = function(s) return write_orders(s.off, s.kib * 1024) end,
		["orders"] = write_orders,
		["around"] = function(s) return write_orders(s.base * 4096, s.pages * 4096, { [s.there] = true }) end,
		["most"] = function(s) return 2 ^ math.floor(math.log(s.inside, 2)) end,
		["aligned"] = function(s)
			return ("pwrite %d %d; pwrite 64k 64k %d"):format(s.header * 4096, (16 - s.header) * 4096, s.full)
		end,
	},
	wrong = {
		["orders"] = {
			function(off, len) return { 0 } end,
			-- Forgets the place.
			function(off, len)
				local list = {}
				while len > 0 do
					local order = 0
					while order < 9 and len >= 8192 << order do
						order = order + 1
					end
					list[#list + 1] = order
					len = len - (4096 << order)
				end
				return list
			end,
			-- Forgets that the length counts in bytes: rounds to whole pages first.
			function(off, len)
				local first, last = off // 4096, (off + len - 1) // 4096
				return write_orders(first * 4096, (last - first + 1) * 4096)
			end,
			-- Takes the bytes in front of the write off the hint.
			function(off, len)
				local list = {}
				while len > 0 do
					local page, order = off // 4096, 0
					local n = math.min(len, 2097152 - off % 2097152)
					while order < 9 and n - off % 4096 >= 8192 << order and page % (2 << order) == 0 do
						order = order + 1
					end
					list[#list + 1] = order
					n = math.min(n, (page + (1 << order)) * 4096 - off)
					off, len = off + n, len - n
				end
				return list
			end,
			-- Forgets the largest folio.
			function(off, len)
				local list = write_orders(off, len)
				if len > 4194304 then
					list[1] = 10
				end
				return list
			end,
			function(off, len) while true do end end,
		},
		["aligned"] = {
			"pwrite 0 64k",
			function(s) return ("pwrite %d 64k %d"):format(s.header * 4096, s.full) end,
			function(s) return ("pwrite %d 4k %d"):format(s.header * 4096, s.total) end,
			function(s) return ("pwrite %d %d"):format(s.header * 4096, s.total * 4096) end,
			function(s) return ("pwrite 0 64k %d"):format(s.full + 1) end,
			"reed 4k",
		},
		["at-zero"] = { function(s) return { s.pages } end },
	},
}
