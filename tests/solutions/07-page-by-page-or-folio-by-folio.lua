-- Lab 07: derived from the rules alone, without the miniature.

-- Cut [off, off + len) at every multiple of `unit`.
local function cut(off, len, unit)
	local list, last = {}, off + len
	while off < last do
		local stop = math.min(last, (off // unit + 1) * unit)
		list[#list + 1] = stop - off
		off = stop
	end
	return list
end

-- The cost table: a turn, a byte, a call.
local TURN, BYTE, CALL = 41 + 23 + 4, 0.073, 120 + 105

local function before(pages)
	return CALL + pages * (TURN + 4096 * BYTE)
end

local function after(pages)
	return CALL + TURN + pages * 4096 * BYTE
end

return {
	solution = {
		["pieces"] = function(s) return cut(s.off, s.short, 4096) end,
		["turns-before"] = function(s) return #cut(s.off, s.long, 4096) end,
		["pieces-after"] = function(s) return cut(s.off, s.len, 2 << 20) end,
		["turns-after"] = function(s) return #cut(s.small_off, s.small_len, 4096 << s.order) end,
		["patch1"] = 1,
		["hole-turns"] = function(s) return 2 + s.hole end,
		["hole-saved"] = function(s) return (1 << s.first.order) + (1 << s.second.order) - 2 end,
		["turns"] = function(folios, size, off, len, after)
			local page, last, n, i = off // 4096, (math.min(off + len, size) - 1) // 4096, 0, 1
			if off >= size then
				return 0
			end
			if not after then
				return last - page + 1
			end
			while page <= last do
				while folios[i] and folios[i].index + (1 << folios[i].order) <= page do
					i = i + 1
				end
				local f = folios[i]
				page = f and f.index <= page and f.index + (1 << f.order) or page + 1
				n = n + 1
			end
			return n
		end,
		["whole-file"] = function(s)
			local n = (s.size + 4095) // 4096
			for _, f in ipairs(s.folios) do
				n = n - (1 << f.order) + 1
			end
			return n
		end,
		["before-ns"] = function(s) return before(s.q) end,
		["after-ns"] = function(s) return after(s.q) end,
		["gain"] = function(s) return (before(s.p) / after(s.p) - 1) * 100 end,
		["untouched"] = 4,
		["longest"] = function(s) return 4096 - s.off % 4096 end,
		["first-gain"] = function(s)
			local pages = 1
			while (before(pages) / after(pages) - 1) * 100 < s.wish do
				pages = pages * 2
			end
			return pages * 4096
		end,
		["plateau"] = function(s) return 4096 << s.order end,
		["order0"] = 1,
		["aligned"] = function(s)
			local first, last = s.first, s.last + 1
			local ops = { ("seek %d"):format(first * 4096) }
			ops[#ops + 1] = ("read %d"):format((16 - first % 16) * 4096)
			ops[#ops + 1] = ("read 64k %d"):format(last // 16 - first // 16 - 1)
			if last % 16 > 0 then
				ops[#ops + 1] = ("read %d"):format(last % 16 * 4096)
			end
			return table.concat(ops, "; ")
		end,
	},
	wrong = {
		["turns"] = {
			-- A page a turn, always.
			function(folios, size, off, len, after)
				return math.max(0, (math.min(off + len, size) - 1) // 4096 - off // 4096 + 1)
			end,
			-- A hole in one turn.
			function(folios, size, off, len, after)
				local last, n, page = (math.min(off + len, size) - 1) // 4096, 0, off // 4096
				if off >= size then
					return 0
				end
				if not after then
					return last - page + 1
				end
				for _, f in ipairs(folios) do
					if f.index + (1 << f.order) > page and f.index <= last then
						if f.index > page then
							n = n + 1
						end
						n, page = n + 1, f.index + (1 << f.order)
					end
				end
				return page <= last and n + 1 or n
			end,
			-- Forgets the end of the file.
			function(folios, size, off, len, after) return (off + len - 1) // 4096 - off // 4096 + 1 end,
			function() return 1 end,
			function() while true do end end,
		},
		["hole-turns"] = { 3 },
		["turns-after"] = { function(s) return (s.small_len + 4095) // (4096 << s.order) end },
		["aligned"] = {
			"read 64k 4",
			function(s) return ("seek %d; read 64k %d"):format(s.first * 4096, (s.last - s.first) // 16 + 1) end,
			function(s) return ("seek %d; read 4k %d"):format(s.first * 4096, s.last - s.first + 1) end,
			function(s) return ("pread %d %d"):format(s.first * 4096, (s.last - s.first + 1) * 4096) end,
			"reed 64k",
		},
	},
}
