-- Lab 11: derived without the miniature where that is possible.
local function handover(arrivals, hold, line)
	local times = {}
	for i = 1, #arrivals do
		local t = arrivals[i]
		if i > 1 then
			t = math.max(t, times[i - 1] + hold) + line
		end
		times[i] = t
	end
	return times
end

return {
	solution = {
		["last-gets"] = function(s) return handover(s.arrivals, s.hold, s.line)[s.n] end,
		["first-waits"] = function(s) return math.max(s.arrivals[2], s.hold) + s.line - s.arrivals[2] end,
		["handover"] = handover,
		-- The published start of a file: 20 folios of order 2, 2 of order 3, 4 of order 4 and 36 single
		-- pages, which go in batches of 15: 196 pages. Then 32 pages a folio.
		["adds-old"] = function(s) return s.cpus * (26 + 36 // 15 + (s.mb * 256 - 196) // 32) end,
		["adds-new"] = function(s) return s.cpus * s.mb * 32 end,
		["which-lock"] = 1,
		["shared-window"] = 1,
		["shared-misses"] = computed,
		["either"] = 1,
		["page-back"] = function(s) return s.total - s.gone - s.bad end,
		["old-index"] = 1,
		["stale-node"] = 1,
	},
	wrong = {
		["handover"] = {
			-- Forgets the line.
			function(arrivals, hold)
				local t = {}
				for i, a in ipairs(arrivals) do
					t[i] = math.max(a, i > 1 and t[i - 1] + hold or 0)
				end
				return t
			end,
			-- The line only for who has waited.
			function(arrivals, hold, line)
				local t = {}
				for i, a in ipairs(arrivals) do
					local free = i > 1 and t[i - 1] + hold or 0
					t[i] = free > a and free + line or a
				end
				return t
			end,
		},
	},
}
