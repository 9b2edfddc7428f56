-- Lab 21: from the numbers in the texts.
return {
	solution = {
		["mincore"] = function(s) return s.there - s.way end,
		["later"] = 1,
		["misses"] = function(s) return math.min(s.first.old.added, s.first.old.accessed) end,
		["hits"] = function(s)
			-- Folios that begin before the first page that was not asked for.
			local n = 0
			for f in s.new:folios() do
				if f.index < s.pages then
					n = n + 1
				end
			end
			return n
		end,
		["cachestat"] = function(added, dirtied, accessed, buffers)
			local total, misses = math.max(accessed - buffers, 0), math.max(added - dirtied, 0)
			local hits = total - misses
			if hits < 0 then
				hits, misses = 0, total
			end
			return { hits, misses, total == 0 and 0 or hits / total * 100 }
		end,
		["vain"] = function(s) return s.alloc_old - math.ceil(s.n * s.kib / 4) end,
		["blind"] = 1,
		["vain-new"] = function(s) return s.new:cached() - math.ceil(s.n * s.kib / 4) end,
		["cached"] = function(s) return s.n * 4 + s.tmp_kib end,
		["inactive"] = function(s) return s.n // s.batch * s.batch end,
		["listed"] = function(n, batch) return n // batch * batch end,
		["which"] = computed,
		["pick"] = 3,
	},
	wrong = {
		["cachestat"] = {
			-- Does not cut at 0.
			function(added, dirtied, accessed, buffers)
				local total, misses = accessed - buffers, added - dirtied
				return { total - misses, misses, total == 0 and 0 or 100 * (total - misses) / total }
			end,
			-- Forgets that hits may be below 0.
			function(added, dirtied, accessed, buffers)
				local total, misses = math.max(accessed - buffers, 0), math.max(added - dirtied, 0)
				return { math.max(total - misses, 0), misses, total == 0 and 0 or 100 * math.max(total - misses, 0) / total }
			end,
			function() return { 0, 0, 100 } end,
		},
		["listed"] = {
			function(n) return n end,
			function(n, batch) return n // batch end,
			-- The one that comes next makes the batch move.
			function(n, batch) return math.max(0, (n - 1) // batch * batch) end,
		},
		["mincore"] = { function(s) return s.there end },
	},
}
