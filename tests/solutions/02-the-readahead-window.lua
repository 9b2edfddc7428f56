-- Lab 02: derived from the rules in the text, not from the miniature, where that is possible.
local function init_size(asked, max)
	local p = 1
	while p < asked do
		p = p * 2
	end
	if p <= max // 32 then
		return p * 4
	elseif p <= max // 4 then
		return p * 2
	end
	return max
end

local function next_size(size, max)
	if size < max // 16 then
		return 4 * size
	elseif size <= max // 2 then
		return 2 * size
	end
	return max
end

return {
	solution = {
		["first"] = function(s) return init_size(s.n, s.ra) end,
		["init_size"] = init_size,
		["mark"] = function(s) return s.w.start + s.w.size - s.w.async_size end,
		["which-read"] = function(s)
			-- The read that touches the marked folio: pages read so far, then n at a time.
			local reads, page = 0, s.read_to
			repeat
				page = page + s.n
				reads = reads + 1
			until page > s.hit.index
			return reads
		end,
		["sizes"] = function(s)
			local list, size = {}, s.sizes[s.shown]
			for i = 1, 4 do
				size = next_size(size, s.ra)
				list[i] = size
			end
			return list
		end,
		["next_size"] = next_size,
		["three-reads"] = function(s) return s.j + s.k + init_size(s.l, 32) end,
		["which-rule"] = 1,
		["tail"] = function(s) return 32 - s.n end,
		["after-large"] = function(s)
			-- Windows of 32 pages end at 31, 63, 95, ...; marks at n, 32, 64, ...
			local touched, last, mark = s.reads * s.n - 1, 31, s.n
			while mark <= touched do
				mark, last = last + 1, last + 32
			end
			return last
		end,
		["marks-met"] = function(s) return s.calls_old - 1 end,
		["what-changed"] = 1,
		["place"] = function(s)
			return ("pread %dk 4k; pread %dk 4k"):format((s.p - 2) * 4, (s.p - 1) * 4)
		end,
	},
	wrong = {
		["init_size"] = {
			function(asked, max) return max end,
			function(asked, max) return 2 * asked end,
			-- Forgets to round up.
			function(asked, max)
				return asked <= max // 32 and asked * 4 or asked <= max // 4 and asked * 2 or max
			end,
		},
		["next_size"] = {
			function(size, max) return math.min(2 * size, max) end,
			-- < and <= mixed up.
			function(size, max)
				return size <= max // 16 and 4 * size or size < max // 2 and 2 * size or max
			end,
		},
		["place"] = {
			"read 4k",
			function(s) return ("pread %dk 4k"):format(s.p * 4) end,
			function(s) return ("fadvise willneed %dk 64k"):format(s.p * 4) end,
			function(s) return ("pread %dk 4k; pread %dk 4k; pread %dk 8k"):format((s.p - 2) * 4, (s.p - 1) * 4, s.p * 4) end,
		},
	},
}
