-- Lab 12: the counter is simulated in two lines; the rest is arithmetic.
local function simulate(runs)
	local counter, windows, misses, first = 0, 0, 0, nil
	for _, r in ipairs(runs) do
		for i = 1, r.n do
			if r.kind == "hit" then
				counter = counter > 0 and counter - 1 or 0
			else
				misses = misses + 1
				counter = counter < 1000 and counter + 1 or counter
				if counter > 100 then
					first = first or misses
				else
					windows = windows + 1
				end
			end
		end
	end
	return windows, first
end

return {
	solution = {
		["wasted"] = function(s) return s.n * (s.ra - 1) end,
		["visits"] = function(s)
			local first, last = s.p - s.p % 16, s.p - s.p % 16 + 15
			first, last = math.max(first, s.p - 8), math.min(last, s.p + 7)
			local n = last - first + 1
			if s.p + 4 <= last then
				n = n - 1
			end
			return { first, n }
		end,
		["read-73"] = function(s) return 100 * s.ra + s.n - 100 end,
		["first-single"] = function(s) return select(2, simulate(s.runs)) end,
		["knob"] = 1,
		["windows"] = function(runs) return (simulate(runs)) end,
		["scan-ios"] = function(s) return s.pages end,
		["way-out"] = 2,
		["two_phases"] = function(s) return ("mmap; madvise random; %s; madvise sequential; %s"):format(s.jumps, s.scan) end,
	},
	wrong = {
		["windows"] = {
			-- Stops for good.
			function(runs)
				local n = 0
				for _, r in ipairs(runs) do
					n = n + (r.kind == "miss" and r.n or 0)
				end
				return math.min(n, 100)
			end,
			-- Compares before it counts.
			function(runs)
				local counter, windows = 0, 0
				for _, r in ipairs(runs) do
					for i = 1, r.n do
						if r.kind == "hit" then
							counter = math.max(counter - 1, 0)
						else
							windows = windows + (counter <= 100 and 1 or 0)
							counter = math.min(counter + 1, 1000)
						end
					end
				end
				return windows
			end,
			-- Knows no upper end.
			function(runs)
				local counter, windows = 0, 0
				for _, r in ipairs(runs) do
					for i = 1, r.n do
						counter = r.kind == "hit" and math.max(counter - 1, 0) or counter + 1
						windows = windows + (r.kind == "miss" and counter <= 100 and 1 or 0)
					end
				end
				return windows
			end,
		},
		["two_phases"] = {
			function(s) return ("mmap; %s; %s"):format(s.jumps, s.scan) end,
			function(s) return ("mmap; madvise random; %s; %s"):format(s.jumps, s.scan) end,
			function(s) return ("mmap; madvise sequential; %s; %s"):format(s.jumps, s.scan) end,
			function(s) return ("mmap; %s; madvise sequential; %s"):format(s.jumps, s.scan) end,
			function(s) return ("mmap; madvise random; %s"):format(s.jumps) end,
			"mmap; madvise populate_read",
		},
		["wasted"] = { function(s) return s.n * s.ra end },
		["read-73"] = { function(s) return s.n * s.ra end },
	},
}
