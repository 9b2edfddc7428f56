-- Lab 13: derived from the rules as the lab states them.
local function log2(n)
	local k = 0
	while 2 ^ (k + 1) <= n do
		k = k + 1
	end
	return k
end

local function largest(c)
	local page, block = c.page_size or 4096, c.block_size or 4096
	local features = c.features or {}
	local low = block > page and log2(block // page) or 0
	local new = c.kernel == "v7.3"
	local journalled = c.data == "journal" or c.journal_flag
	if low > 0 and (not new or features.encrypt) then
		return -1
	end
	if c.kernel == "v6.12" or features.encrypt or not new and (features.verity or journalled) then
		return 0
	end
	if journalled then
		return low
	end
	local top = page == 4096 and 9 or 11
	return c.kernel == "v6.16" and top or math.min(top, log2(2048 * block / page))
end

local function each(list, kernel, f)
	local out = {}
	for i, c in ipairs(list) do
		local t = {}
		for k, v in pairs(c) do
			t[k] = v
		end
		t.kernel = kernel
		out[i] = f(largest(t))
	end
	return out
end

local function state(order)
	return order < 0 and 2 or order > 0 and 1 or 0
end

-- Orders after each move: up to v6.18 only reading the inode decides, v7.3 decides at every move.
local function flips(moves, live, flag)
	local order, out = flag and 0 or 4, {}
	for i, move in ipairs(moves) do
		if move == "remount" then
			order = flag and 0 or 4
		elseif move ~= "" then
			flag = move == "+j"
			order = live and (flag and 0 or 4) or order
		end
		out[i] = order
	end
	return out
end

return {
	solution = {
		["kernels"] = function(s)
			local large = { ["v6.16"] = true, ["v6.17"] = true, ["v6.18"] = true, ["v7.3"] = true }
			local list = {}
			for i, k in ipairs(s.kernels) do
				list[i] = large[k] and s.order or 0
			end
			return list
		end,
		["folios"] = function(s) return s.kib // 4 - 1 end,
		["six"] = function(s) return each(s.list, "v6.18", state) end,
		["harmless"] = 1,
		["flips-old"] = function(s) return flips(s.moves, false) end,
		["flips-new"] = function(s) return flips(s.moves, true) end,
		["dropped"] = function(s) return s.second end,
		["images-old"] = function(s) return each(s.list, "v6.18", state) end,
		["images-new"] = function(s) return each(s.list, "v7.3", state) end,
		["image-flips"] = function(s)
			local flag = s.file == "table"
			local list = flips(s.moves, s.kernel == "v7.3", flag)
			table.insert(list, 1, flag and 0 or 4)
			return list
		end,
		["new"] = function(s) return each(s.list, "v7.3", state) end,
		["old"] = function(s) return each(s.list, "v6.18", state) end,
		["smallest"] = function(s) return s.block // 4096 end,
		["journal"] = function(s) return math.ceil(s.kib * 1024 / s.block) end,
		["order"] = function(s) return log2(2048 * s.block / 65536) end,
		["largest"] = largest,
	},
	wrong = {
		["largest"] = {
			function(c) return 9 end,
			function(c) return c.kernel == "v6.12" and 0 or 9 end,
			-- Forgets that verity is no obstacle any more.
			function(c)
				local order = largest(c)
				return order > 0 and c.features.verity and 0 or order
			end,
			-- Believes that the flag j does nothing with delayed allocation.
			function(c)
				if c.delalloc then
					c.journal_flag = false
				end
				return largest(c)
			end,
			-- Forgets the limit in blocks.
			function(c)
				local order = largest(c)
				return order > 4 and (c.page_size == 4096 and 9 or 11) or order
			end,
			-- Forgets the refusals.
			function(c) return math.max(largest(c), 0) end,
			-- Forgets that journalled data takes folios of one block.
			function(c)
				if c.data == "journal" and largest(c) > 0 then
					return 0
				end
				return largest(c)
			end,
			function(c) while true do end end,
		},
		["flips-old"] = { function(s) return flips(s.moves, true) end },
		["flips-new"] = { function(s) return flips(s.moves, false) end },
		["image-flips"] = { { 4, 4, 4, 4, 4 } },
		["six"] = { { 1, 1, 1, 1, 1, 1 } },
	},
}
