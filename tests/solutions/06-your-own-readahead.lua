-- Lab 06: derived without the miniature where that is possible.
local streams, starts

local function window_at_miss(ra, req, p)
	local size = math.max(p.first, 2 * req.count)
	return { start = req.index, size = size, async_size = size - req.count }
end

local function double_at_mark(ra, req, p)
	local size = math.min(2 * ra.size, p.most)
	return { start = ra.start + ra.size, size = size, async_size = size }
end

local function gate(inner)
	return function(ra, req, p)
		if req.index ~= 0 and req.index ~= ra.prev_index and req.index ~= ra.prev_index + 1 then
			return false
		end
		return inner(ra, req, p)
	end
end

-- The stride of the last three starts, or nil.
local function stride()
	local n = #starts
	local d = n >= 3 and starts[n] - starts[n - 1] or 0
	return d > 1 and starts[n - 1] - starts[n - 2] == d and d or nil
end

local function ahead(index, req)
	local t = index + 8 * stride()
	return t < req.file_pages and { start = t, size = 1, async_size = 1 } or false
end

local mine = {
	reset = function() streams, starts = {}, {} end,
	sync_ra = function(ra, req)
		if req.file_pages <= 32 then
			return { start = 0, size = req.file_pages }
		end
		starts[#starts + 1] = req.index
		for _, st in ipairs(streams) do
			if st.next == req.index then
				st.size = math.max(8, 2 * req.count)
				st.from, st.next = req.index, req.index + st.size
				return { start = req.index, size = st.size, async_size = st.size - req.count }
			end
		end
		if req.count == 1 and stride() then
			return ahead(req.index, req)
		end
		local st = { next = req.index + req.count }
		table.insert(streams, 1, st)
		streams[17] = nil
		if req.index == 0 then
			st.size = math.max(32, req.count)
			st.from, st.next = 0, st.size
			return { start = 0, size = st.size, async_size = st.size - req.count }
		end
		return false
	end,
	async_ra = function(ra, req)
		for _, st in ipairs(streams) do
			if st.from and req.index >= st.from and req.index < st.next then
				if st.next >= req.file_pages then
					return false
				end
				st.size = math.min(64, 2 * st.size)
				st.from, st.next = st.next, st.next + st.size
				return { start = st.from, size = st.size, async_size = st.size }
			end
		end
		return stride() and ahead(req.index, req) or false
	end,
}

return {
	solution = {
		["points"] = computed,
		["value"] = function(s) return 100 * s.times ^ (1 / 6) end,
		["hopeless"] = 1,
		["fixed-misses"] = function(s) return math.ceil(s.n / s.w) end,
		["fixed-waste"] = function(s) return s.k * (s.w - 1) end,
		["fixed"] = {
			sync_ra = function(ra, req, p) return { start = req.index, size = math.max(p.size, req.count) } end,
		},
		["sizes"] = function(s)
			local list, size = {}, s.first
			for i = 1, 5 do
				size = math.min(2 * size, s.most)
				list[i] = size
			end
			return list
		end,
		["doubling"] = { sync_ra = window_at_miss, async_ra = double_at_mark },
		["gate-waste"] = function(s) return s.j * (s.first - 1) end,
		["gated"] = { sync_ra = gate(window_at_miss), async_ra = double_at_mark },
		["chain-misses"] = function(s) return s.distance end,
		["distance-one"] = 2,
		["stride"] = function(pages)
			local d = pages[2] - pages[1]
			for i = 3, #pages do
				if pages[i] ~= pages[i - 1] + d then
					return 0
				end
			end
			return d > 1 and d or 0
		end,
		["stream-misses"] = function(s) return 2 * s.d end,
		["find"] = function(list, index)
			for i = 1, #list do
				if list[i].next == index then
					return i
				end
			end
			return 0
		end,
		["mine"] = mine,
	},
	wrong = {
		["fixed"] = {
			-- Forgets that a request may be larger.
			{ sync_ra = function(ra, req, p) return { start = req.index, size = p.size } end },
			{ sync_ra = function(ra, req, p) return { start = req.index, size = 16 } end },
			{ sync_ra = function() return { size = 0 } end },
		},
		["doubling"] = {
			-- No mark.
			{
				sync_ra = function(ra, req, p) return { start = req.index, size = math.max(p.first, req.count) } end,
				async_ra = double_at_mark,
			},
			-- Grows without end.
			{
				sync_ra = window_at_miss,
				async_ra = function(ra)
					local size = math.min(2 * ra.size, 512)
					return { start = ra.start + ra.size, size = size, async_size = size }
				end,
			},
		},
		["gated"] = {
			{ sync_ra = window_at_miss, async_ra = double_at_mark },
			-- Lets only page 0 in.
			{
				sync_ra = function(ra, req, p) return req.index == 0 and window_at_miss(ra, req, p) end,
				async_ra = double_at_mark,
			},
		},
		["stride"] = {
			function(pages) return pages[2] - pages[1] end,
			function(pages) return pages[#pages] - pages[#pages - 1] end,
		},
		["find"] = {
			function(list, index) return #list end,
			-- The last instead of the first is the same unless there are two: forgets the 0.
			function(list, index)
				for i = 1, #list do
					if list[i].next == index then
						return i
					end
				end
			end,
		},
		["mine"] = {
			-- The kernel's own decisions: value 100.
			{ sync_ra = function() end },
			-- One idea: large files in windows of 64, everything at once.
			{
				sync_ra = function(ra, req) return { start = req.index, size = math.max(64, req.count), async_size = 32 } end,
				async_ra = function(ra, req) return { start = ra.start + ra.size, size = 64, async_size = 64 } end,
			},
			-- Reads nothing ahead.
			{ sync_ra = function() return false end, async_ra = function() return false end },
			{ sync_ra = function() while true do end end },
			-- One idea alone, and the kernel's decisions otherwise: strides ...
			{
				reset = function() starts = {} end,
				sync_ra = function(ra, req)
					starts[#starts + 1] = req.index
					return req.count == 1 and stride() and ahead(req.index, req) or nil
				end,
				async_ra = function(ra, req)
					return req.folio_order == 0 and stride() and ahead(req.index, req) or nil
				end,
			},
			-- ... or small files.
			{
				sync_ra = function(ra, req)
					return req.file_pages <= 32 and { start = 0, size = req.file_pages } or nil
				end,
			},
		},
	},
}
