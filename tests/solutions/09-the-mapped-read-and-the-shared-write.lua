-- Lab 09: all derived without the miniature but two figures.
local function windows(first, step, n)
	local seen, count = {}, 0
	for i = 0, n - 1 do
		local w = (first + i * step) // 16
		if not seen[w] then
			seen[w] = true
			count = count + 1
		end
	end
	return count
end

return {
	solution = {
		["window"] = function(s) return { s.p - s.p % 16, s.p - s.p % 16 + 15 } end,
		["in-order"] = function(s) return windows(s.a, 1, s.n) end,
		["faults"] = windows,
		["stride-faults"] = function(s) return windows(s.first, s.step, s.n) end,
		["read-window"] = function(s)
			local start = s.p - s.ra // 2
			return { start, start + s.ra - 1, start + s.ra - s.ra // 4 }
		end,
		["calls"] = function(s) return s.mib * 256 // (1 << s.k) end,
		["order-5"] = function(s) return s.mib * 256 // 16 end,
		["constant"] = 3,
		["whole-faults"] = function(s) return { s.mib * 256 // 16, s.mib * 256 // (1 << s.large) } end,
		["which-knob"] = 1,
		["visits"] = function(s) return 5 * (1 << s.k) * s.mib * 64 end,
		["growth"] = computed,
		["store-visits"] = function(s)
			local list = {}
			for order = 1, 4 do
				-- A folio is faulted in once if a store falls into it: every 4th page is stored to.
				local folios = math.min(s.mib * 64, s.mib * 256 // (1 << order))
				list[order] = folios * 5 * (1 << order)
			end
			return list
		end,
		["worse"] = 1,
		["sparse"] = function(s)
			return ("mmap; madvise random; wtouch %dk %dk %d; munmap"):format(s.first * 4, s.gap * 4, s.n)
		end,
	},
	wrong = {
		["faults"] = {
			function(first, step, n) return n end,
			-- Forgets that the windows are aligned.
			function(first, step, n) return ((n - 1) * step + 1 + 15) // 16 end,
			-- Forgets that a window may be left out.
			function(first, step, n) return (first + (n - 1) * step) // 16 - first // 16 + 1 end,
		},
		["in-order"] = { function(s) return s.n end },
		["visits"] = { function(s) return 5 * s.mib * 64 end },
		["sparse"] = {
			function(s) return s.naive end,
			function(s) return ("mmap; madvise sequential; wtouch %dk %dk %d; munmap"):format(s.first * 4, s.gap * 4, s.n) end,
			function(s) return ("mmap; madvise random; touch %dk %dk %d; munmap"):format(s.first * 4, s.gap * 4, s.n) end,
			function(s) return ("mmap; madvise random; wtouch %dk %dk %d"):format(s.first * 4, s.gap * 4, s.n) end,
			function(s) return ("mmap; madvise random; wtouch %dk %dk %d; munmap"):format(s.first * 4, s.gap * 4, s.n - 1) end,
			function(s) return ("mmap; madvise random; wtouch %dk 4k %d; munmap"):format(s.first * 4, s.n) end,
		},
	},
}
