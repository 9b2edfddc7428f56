-- Lab 04: derived without the miniature where that is possible.
local function init_size(asked, max)
	local p = 1
	while p < asked do
		p = p * 2
	end
	return p <= max // 32 and p * 4 or p <= max // 4 and p * 2 or max
end

return {
	solution = {
		["cap"] = function(s) return math.max(s.ra_kb, s.io_kb) // 4 end,
		["again"] = 1,
		["calls"] = function(s) return math.ceil(s.n / s.cap) end,
		["prefetch"] = function(first, last, cap)
			local list = {}
			for page = first, last, cap do
				list[#list + 1] = { page, math.min(cap, last - page + 1) }
			end
			return list
		end,
		["records"] = function(s) return s.k * 5 end,
		["records-random"] = function(s) return s.k * 2 end,
		["requests"] = function(s) return s.n end,
		["next-size"] = function(s)
			return s.old.size < s.ra // 8 and 4 * s.old.size or s.old.size <= s.ra and 2 * s.old.size or 2 * s.ra
		end,
		["ra-pages"] = function(s)
			local ra = s.ra2
			for _, advice in ipairs(s.calls) do
				if advice == "sequential" then
					ra = 2 * s.ra2
				elseif advice == "normal" then
					ra = s.ra2
				end
			end
			return math.max(ra, s.io_kb // 4)
		end,
		["script"] = function(s) return s.w + init_size(s.n, 32) + s.k + 5 end,
		["seen"] = 1,
		["random-mark"] = function(s) return s.before:cached() end,
		["bytes"] = function(s)
			return (s.off + s.len) // 4096 - (s.off + 4095) // 4096
		end,
		["dropped"] = function(off, len, size)
			local stop, pages = off + len, (size + 4095) // 4096
			local first = (off + 4095) // 4096
			local last = stop == size and pages or math.min(stop // 4096, pages)
			return math.max(0, last - first)
		end,
		["start-over"] = function(s) return init_size(s.bs // 4, s.ra) end,
		["backup"] = function(s)
			local t = {}
			local function drop(page)
				if page >= 0 and not (page >= s.hot and page < s.hot + s.hot_n) then
					t[#t + 1] = ("fadvise dontneed %dk 128k"):format(page * 4)
				end
			end
			for page = 0, s.pages - 32, 32 do
				t[#t + 1] = "read 64k 2"
				drop(page - 32)
			end
			drop(s.pages - 32)
			return table.concat(t, "; ")
		end,
	},
	wrong = {
		["cap"] = { function(s) return s.mib * 256 end },
		["prefetch"] = {
			function(first, last, cap) return { { first, last - first + 1 } } end,
			-- One call a page.
			function(first, last, cap)
				local list = {}
				for page = first, last do
					list[#list + 1] = { page, 1 }
				end
				return list
			end,
			-- The last call is too long.
			function(first, last, cap)
				local list = {}
				for page = first, last, cap do
					list[#list + 1] = { page, cap }
				end
				return list
			end,
			function() return { { 0 } } end,
			function() return 3 end,
		},
		["dropped"] = {
			function(off, len, size) return len // 4096 end,
			-- Forgets the end of the file.
			function(off, len, size) return math.max(0, (off + len) // 4096 - (off + 4095) // 4096) end,
			-- Rounds the end up.
			function(off, len, size) return (off + len + 4095) // 4096 - (off + 4095) // 4096 end,
		},
		["backup"] = {
			"read 64k 128",
			-- Drops everything at the end.
			"read 64k 128; fadvise dontneed 0 0",
			-- Reads a page at a time without readahead.
			"fadvise random 0 0; read 4k 500",
			-- Drops before the reader.
			"read 64k 4; fadvise dontneed 0 0; read 64k 4; fadvise dontneed 0 0; read 64k 120",
			function(s)
				local t = {}
				for page = 0, s.pages - 32, 32 do
					t[#t + 1] = ("read 64k 2; fadvise dontneed %dk 128k"):format(page * 4)
				end
				return table.concat(t, "; ")
			end,
		},
	},
}
