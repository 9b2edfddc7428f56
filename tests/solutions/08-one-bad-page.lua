-- Lab 08: derived from the rules alone, without the miniature.
local PAGE, FOLIO = 4096, 2 << 20

-- What a call returns that can use bytes below `wall`, and none in [wall, over).
local function upto(x, wall, over)
	local last = x.off + x.len
	if x.off >= over or last <= wall then
		return x.len
	end
	return x.off < wall and wall - x.off or -5
end

-- Page by page: the bad page is the wall. Folio by folio: the second folio is.
local function by_page(s)
	local list = {}
	for i, x in ipairs(s.list) do
		list[i] = upto(x, s.bad * PAGE, (s.bad + 1) * PAGE)
	end
	return list
end

local function by_folio(s)
	local list = {}
	for i, x in ipairs(s.list) do
		list[i] = upto(x, FOLIO, 2 * FOLIO)
	end
	return list
end

-- The read loop; unit_of(pages, page's state) gives the unit of a turn, or nil for EIO.
local function loop(pages, size, off, len, unit_of)
	local copies, sum, stop = {}, 0, math.min(off + len, size)
	while off < stop do
		local unit = unit_of(pages, pages[off // PAGE])
		if not unit then
			return { copies = copies, result = sum > 0 and sum or -5 }
		end
		local n = math.min(stop, (off // unit + 1) * unit) - off
		copies[#copies + 1] = n
		off, sum = off + n, sum + n
	end
	return { copies = copies, result = sum }
end

local function hurt(pages, p)
	for i = p.first, p.first + (1 << p.order) - 1 do
		if pages[i].bad then
			return true
		end
	end
	return false
end

return {
	solution = {
		["folios-split"] = function(s) return s.n - 1 + 512 end,
		["first-read"] = function(s) return s.page * PAGE - s.off end,
		["who-holds"] = 1,
		["reads-before"] = by_page,
		["turns-before"] = function(s) return s.bad - s.list[1].off // PAGE + 1 end,
		["reads-v1"] = by_folio,
		["bug"] = 2,
		["lost"] = function(s)
			local n, seen = -#s.many, {}
			for _, page in ipairs(s.many) do
				n = n + (seen[page // 512] and 0 or 512)
				seen[page // 512] = true
			end
			return n
		end,
		["unseen"] = 1,
		["copies"] = function(s)
			local list = { FOLIO - s.list[1].off }
			for page = 512, s.bad - 1 do
				list[#list + 1] = PAGE
			end
			return list
		end,
		["simpler"] = 1,
		["turns-final"] = function(s) return 1 + s.far - 512 + 1 end,
		["scan"] = function(s)
			local blocks = FOLIO // s.bs
			return (s.folios - 1) * blocks + (blocks - 1) * (s.bs // PAGE)
		end,
		["splices-before"] = by_folio,
		["splices-after"] = by_page,
		["writes"] = by_folio,
		["writes-fallback"] = by_page,
		["still"] = 3,
		["read"] = function(pages, size, off, len)
			return loop(pages, size, off, len, function(all, p)
				if p and p.bad then
					return nil
				end
				return p and not hurt(all, p) and PAGE << p.order or PAGE
			end)
		end,
		["mend"] = function(s)
			local ops = {}
			for _, page in ipairs(s.bad) do
				ops[#ops + 1] = ("punch %d 4k; pwrite %d 4k"):format(page * PAGE, page * PAGE)
			end
			return table.concat(ops, "; ")
		end,
	},
	wrong = {
		["read"] = {
			-- v1: the folio is lost.
			function(pages, size, off, len)
				return loop(pages, size, off, len, function(all, p)
					if p and hurt(all, p) then
						return nil
					end
					return p and PAGE << p.order or PAGE
				end)
			end,
			-- Asks about the page only, and copies through bad ones.
			function(pages, size, off, len)
				return loop(pages, size, off, len, function(all, p)
					if p and p.bad then
						return nil
					end
					return p and PAGE << p.order or PAGE
				end)
			end,
			-- v6.12: never more than a page.
			function(pages, size, off, len)
				return loop(pages, size, off, len, function(all, p)
					return not (p and p.bad) and PAGE or nil
				end)
			end,
			-- The error wins over the bytes.
			function(pages, size, off, len)
				local r = loop(pages, size, off, len, function(all, p)
					if p and p.bad then
						return nil
					end
					return p and not hurt(all, p) and PAGE << p.order or PAGE
				end)
				if r.result < math.min(len, size - off) then
					r.result = -5
				end
				return r
			end,
			-- Forgets the end of the file.
			function(pages, size, off, len)
				return loop(pages, off + len, off, len, function(all, p)
					if p and p.bad then
						return nil
					end
					return p and not hurt(all, p) and PAGE << p.order or PAGE
				end)
			end,
			function() return { copies = {}, result = -5 } end,
			function() while true do end end,
		},
		["reads-v1"] = { by_page },
		["splices-before"] = { by_page },
		["writes"] = { by_page },
		["mend"] = {
			"read 4k",
			-- The bad pages refuse a write.
			function(s) return ("pwrite %d 4k; pwrite %d 4k"):format(s.bad[1] * PAGE, s.bad[2] * PAGE) end,
			-- Holes are left.
			function(s) return ("punch %d 4k; punch %d 4k"):format(s.bad[1] * PAGE, s.bad[2] * PAGE) end,
			-- All data is thrown away.
			"punch 0 4m; pwrite 0 4m",
			"ftruncate 0; pwrite 0 4m",
			-- One of two.
			function(s) return ("punch %d 4k; pwrite %d 4k"):format(s.bad[1] * PAGE, s.bad[1] * PAGE) end,
			"pinch 0 4k",
		},
	},
}
