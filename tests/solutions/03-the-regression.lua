-- Lab 03: what can be derived without the miniature is.
local function same(a, b)
	for order = 0, 5 do
		if (a[order] or 0) ~= (b[order] or 0) then
			return false
		end
	end
	return true
end

return {
	solution = {
		["expect"] = function(s) return s.mib * 256 / 32 end,
		["guilty"] = function(try, knobs)
			local bad = try("ab4443fe3ca6")
			for _, k in ipairs(knobs) do
				if same(try("v6.7+" .. k), bad) then
					return k
				end
			end
		end,
		["marked"] = function(mark, folios, up)
			local list = {}
			for _, f in ipairs(folios) do
				local size = 2 ^ f.order
				local at = up and math.ceil(mark / size) * size or math.floor(mark / size) * size
				if at == f.index then
					list[#list + 1] = f.index
				end
			end
			return list
		end,
		["last-marked"] = function(s)
			for i = #s.list, 1, -1 do
				local size = 2 ^ s.list[i].order
				if math.ceil(s.own_mark / size) * size == s.list[i].index then
					return s.list[i].index
				end
			end
		end,
		["next-orders"] = function(s)
			-- As large as wished, as the page number allows, not past the end; no order 1 then.
			local list, index = {}, s.w.start
			while index <= s.last do
				local k = s.marked.order + 2
				while k > 0 and (index % 2 ^ k ~= 0 or index + 2 ^ k - 1 > s.last) do
					k = k - 1
				end
				k = k == 1 and 0 or k
				list[#list + 1] = k
				index = index + (1 << k)
			end
			return list
		end,
		["window-mod"] = function(s) return s.w.start % s.ra end,
		["why-stuck"] = 1,
		["which-cure"] = function(s)
			for i, k in ipairs(s.knobs) do
				if k == "END_ALIGN" then
					return i
				end
			end
		end,
		["saved"] = computed,
		["equal"] = function(s) return ("read 64k %d"):format(s.pages // 16) end,
	},
	wrong = {
		["guilty"] = {
			-- Any kernel without folios of order 5 is taken: falls for the decoy in one order of the list.
			function(try, knobs)
				for _, k in ipairs(knobs) do
					if (try("v6.7+" .. k)[5] or 0) == 0 then
						return k
					end
				end
			end,
			function(try, knobs) return knobs[1] end,
			function(try, knobs) return "ab4443fe3ca6" end,
		},
		["marked"] = {
			function(mark, folios, up) return { mark } end,
			-- Rounds to the first folio's size only.
			function(mark, folios, up)
				local size = 1 << folios[1].order
				return { up and (mark + size - 1) // size * size or mark // size * size }
			end,
		},
		["equal"] = {
			"read 4k 320",
			function(s) return ("read 4k %d"):format(s.pages) end,
			function(s) return ("fadvise random 0 0; read 64k %d"):format(s.pages // 16) end,
			"read 64k 2",
		},
	},
}
