-- Lab 15: rounds played by hand, credits by the formula.

-- The blocks asked for: all of a round's, then the rest of the folio that is half mapped.
local function wanted(folios, piece)
	local list, at, total = {}, 1, 0
	for _, n in ipairs(folios) do
		total = total + n
	end
	while at <= #folios do
		local ask, got = total, 0
		local stop = 0
		repeat
			list[#list + 1] = ask
			got = got + math.min(piece, ask)
			while stop < got do
				stop = stop + folios[at]
				at = at + 1
			end
			ask = stop - got
		until ask == 0
		total = total - stop
	end
	return list
end

local function credits(groups)
	local bitmaps, blocks = math.min(12, groups), (groups + 63) // 64
	return 11 + bitmaps + (blocks < bitmaps and blocks or 12) + 6
end

return {
	solution = {
		["wanted"] = function(s) return wanted({ s.pages }, s.piece) end,
		["bios"] = function(s) return (s.pages + s.piece - 1) // s.piece end,
		["all-wanted"] = function(s) return wanted(s.folios, s.piece) end,
		["handles"] = function(s) return 2 * #s.rounds + 1 end,
		["credits-here"] = function(s) return credits(s.groups) end,
		["credits"] = credits,
		["sent"] = function(s) return s.first * s.piece end,
		["rounds-needed"] = function(s) return (s.extents + s.first - 1) // s.first end,
		["why"] = 1,
		["mapped"] = function(s) return (s.maps - 1) * s.piece end,
		["then"] = 1,
		["careful"] = function(s) return ("pwrite 0 %dk %d; fsync"):format(s.limit, s.most) end,
	},
	wrong = {
		["credits"] = {
			function() return 30 end,
			-- Takes the descriptors' limit for a cap.
			function(groups) return 11 + math.min(12, groups) + math.min(12, (groups + 63) // 64) + 6 end,
		},
		["careful"] = {
			"pwrite 0 2m; fsync",
			"pwrite 0 4k 512; fsync",
			function(s) return ("pwrite 0 %dk %d"):format(s.limit, s.most) end,
			function(s) return ("pwrite 0 %dk %d; fsync; pwrite 1m 4k; fsync"):format(s.limit, s.most) end,
		},
	},
}
