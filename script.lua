local function play(policy)
	local m = fl.machine { kernel = "v6.12", size = "1m" }
	if policy then m:policy(policy) end
	m:read("4k", 256)
	return m:map {}, m
end
local calls = 0
local plain = play()
assert(plain == play { sync_ra = function() calls = calls + 1 end, async_ra = function() calls = calls + 1 end,
	order = function() calls = calls + 1 end })
assert(calls > 5)
local map, m = play { sync_ra = function(ra, req) return { size = 32, async_size = 32, order = 5 } end,
	async_ra = function(ra, req) return req.index + 32 < req.file_pages and { size = 32, async_size = 32, order = 5 } end }
assert(m:orders()[5] == 8 and m:cached() == 256, map)
map, m = play { sync_ra = function() return false end, async_ra = function() return false end }
assert(m:orders()[0] == 256)
for _, bad in ipairs { { size = 0 }, { size = 1 << 40 }, { size = 4, async_size = 5 }, { size = 4, start = 256 },
	{ size = 4, order = 10 }, { size = "x" }, {} } do
	local ok, err = pcall(play, { sync_ra = function() return bad end })
	assert(not ok and err:find("sync_ra: "), err)
end
local ok, err = pcall(function()
	local m = fl.machine {}
	m:policy { sync_ra = function() m:read("4k") end }
	m:read("4k")
end)
assert(not ok and err:find("not play on it"), err)
