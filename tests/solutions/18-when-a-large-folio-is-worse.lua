-- Lab 18: derived from disk addresses: file block b lies at b plus one for each extent before it.
local function bios(folios, extent)
	local function disk(block) return block + block // extent end
	local count, last = 0, nil
	for _, f in ipairs(folios) do
		local pages = 2 ^ f.order
		local first = disk(f.index)
		if disk(f.index + pages - 1) == first + pages - 1 then
			if first - 1 ~= last then
				count = count + 1
			end
			last = first + pages - 1
		else
			count, last = count + pages, nil
		end
	end
	return count
end

-- Folios of a file that one fault reads: the binary digits of its pages.
local function digits(pages)
	local list, at = {}, 0
	for order = 9, 0, -1 do
		if pages & (1 << order) ~= 0 then
			list[#list + 1] = { index = at, order = order }
			at = at + (1 << order)
		end
	end
	return list
end

return {
	solution = {
		["small"] = function(s) return math.ceil(s.pages / s.extent) end,
		["confused"] = function(s) return 2 ^ s.order end,
		["xfs"] = function(s) return math.ceil(256 / s.cut) end,
		["some"] = function(s) return bios(digits(s.pages), s.extent) end,
		["bios"] = bios,
		["broken"] = function(s)
			local n, from = 0, 1024 - 32 * s.fives
			for at = s.extent, 1023, s.extent do
				if at > from and at % 32 ~= 0 then
					n = n + 1
				end
			end
			return n
		end,
		["harmless"] = function(s)
			for i, n in ipairs(s.lengths) do
				if n % 32 == 0 then
					return i
				end
			end
		end,
		["fewer"] = "readahead 0 4m; read 64k 64",
	},
	wrong = {
		["bios"] = {
			function(folios, extent) return #folios end,
			-- One an extent, as xfs does.
			function(folios, extent)
				local last = folios[#folios]
				return (last.index + (1 << last.order) + extent - 1) // extent
			end,
			-- One bio for each unbroken folio.
			function(folios, extent)
				local n = 0
				for _, f in ipairs(folios) do
					local size = 1 << f.order
					n = n + (f.index // extent == (f.index + size - 1) // extent and 1 or size)
				end
				return n
			end,
			-- Leaves the bio open across a confused folio and a break.
			function(folios, extent)
				local n, open = 0, false
				for _, f in ipairs(folios) do
					local size = 1 << f.order
					if f.index // extent ~= (f.index + size - 1) // extent then
						n = n + size
					elseif not open then
						n, open = n + 1, true
					end
				end
				return n
			end,
			function() error("no idea") end,
		},
		["fewer"] = {
			"read 64k 64",
			"fadvise random 0 0; read 64k 64",
			"fadvise sequential 0 0; read 64k 64",
			"pread 0 4m",
			"fadvise willneed 0 0; read 64k 63",
		},
		["small"] = { function(s) return s.pages end },
	},
}
