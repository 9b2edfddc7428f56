-- Lab 10: from what the student sees, shares with two digits and ns of an operation.
local function two(x)
	return math.floor(x * 100 + 0.5) / 100
end

local function find(list, name)
	for i, v in ipairs(list) do
		if v == name then
			return i
		end
	end
end

return {
	solution = {
		["share-after"] = function(s) return two(s.a.share[s.f]) * s.a.ns / s.b.ns end,
		["really-grew"] = 2,
		["paired"] = function(s) return two(s.b.share[s.f]) - two(s.a.share[s.f]) end,
		["real"] = function(s)
			local ratio = two(s.b.share[s.f]) * s.b.ns / (two(s.a.share[s.f]) * s.a.ns)
			return ratio > 1.01 and 1 or ratio < 0.99 and 3 or 2
		end,
		["proof"] = 4,
		["renamed-growth"] = function(s)
			return 100 * (two(s.b.share[s.f]) * two(s.b.ns) / (two(s.a.share[s.was]) * two(s.a.ns)) - 1)
		end,
		["which-count"] = 4,
		["explained"] = function(s)
			-- 5 visits of each of the further buffers; three walks of a store are those of a write.
			return 100 * (5 * 22 * ((1 << s.k) - 1)) / (two(s.b.ns) - two(s.a.ns))
		end,
		["growth"] = function(before, after, names)
			local result = {}
			for name, share in pairs(after.share) do
				local old = before.share[names[name] or name]
				result[name] = old and (share * after.ns / (old * before.ns) - 1) * 100 or "new"
			end
			return result
		end,
		["by-growth"] = function(s)
			local list = {}
			for i, name in ipairs { "folio_add_file_rmap_ptes", "asm_exc_page_fault", "set_pte_range", "unmap_page_range" } do
				list[i] = find(s.items, name)
			end
			return list
		end,
	},
	wrong = {
		["growth"] = {
			-- The difference of shares.
			function(before, after, names)
				local result = {}
				for name, share in pairs(after.share) do
					local old = before.share[names[name] or name]
					result[name] = old and share - old or "new"
				end
				return result
			end,
			-- Growth of the share, not of the time.
			function(before, after, names)
				local result = {}
				for name, share in pairs(after.share) do
					local old = before.share[names[name] or name]
					result[name] = old and 100 * (share / old - 1) or "new"
				end
				return result
			end,
			-- Forgets the names.
			function(before, after)
				local result = {}
				for name, share in pairs(after.share) do
					local old = before.share[name]
					result[name] = old and 100 * (share * after.ns / (old * before.ns) - 1) or "new"
				end
				return result
			end,
			-- Leaves out what is new.
			function(before, after, names)
				local result = {}
				for name, share in pairs(after.share) do
					local old = before.share[names[name] or name]
					result[name] = old and 100 * (share * after.ns / (old * before.ns) - 1)
				end
				return result
			end,
		},
		-- The one-sided figure.
		["paired"] = { function(s) return s.b.share[s.f] end },
		["share-after"] = { function(s) return s.a.share[s.f] end },
	},
}
