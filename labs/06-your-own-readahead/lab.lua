-- Lab 06: a readahead policy of one's own, step by step, against the kernel's.

local TRIES = 40	-- to make a counterexample smaller
local PRICE = 5000	-- ns a wasted page costs

local function join(list)
	return table.concat(list, "; ")
end

-- Workloads: { name = , { size, ops }, ... }, one entry a file. The published set is that of PUBLISHED.
local PUBLISHED = 2026

local function workloads(seed)
	local r = fl.rng(seed)
	local set = { { name = "sequential", { 8 << 20, "read 16k 512" } } }
	local stride, ops = r:int(9, 19), {}
	for i = 0, 249 do
		ops[#ops + 1] = ("pread %dk 4k"):format((100 + i * stride) * 4)
	end
	set[2] = { name = "strided", stride = stride, { 64 << 20, join(ops) } }
	ops = {}
	for i = 1, 250 do
		ops[i] = ("pread %dk 4k"):format(r:int(0, 16383) * 4)
	end
	set[3] = { name = "random", { 64 << 20, join(ops) } }
	ops = {}
	local a, b = r:int(100, 2000), r:int(6000, 9000)
	for i = 0, 255 do
		ops[#ops + 1] = ("pread %dk 16k; pread %dk 16k"):format((a + i * 4) * 4, (b + i * 4) * 4)
	end
	set[4] = { name = "interleaved", { 64 << 20, join(ops) } }
	local small = { name = "small files" }
	for i = 1, 20 do
		local pages = r:int(2, 20)
		small[i] = { pages * 4096, ("read 4k %d"):format(pages) }
	end
	set[5] = small
	ops = {}
	for phase = 1, 4 do
		local base = r:int(0, 3) * 4000 + phase * 300
		for i = 0, 79 do
			ops[#ops + 1] = ("pread %dk 8k"):format((base + i * 2) * 4)
		end
		for i = 1, 40 do
			ops[#ops + 1] = ("pread %dk 4k"):format(r:int(0, 16383) * 4)
		end
	end
	set[6] = { name = "phases", { 64 << 20, join(ops) } }
	return set
end

local function boot(size)
	return fl.machine { kernel = "v6.18", fs = "xfs", size = size, disk = "nvme" }
end

-- What one workload costs under `policy` (nil: the kernel's).
local function cost(w, policy)
	local c = { ns = 0, wasted = 0, misses = 0 }
	for _, file in ipairs(w) do
		local m = boot(file[1])
		if policy then
			if policy.reset then
				policy.reset()
			end
			m:policy { sync_ra = policy.sync_ra, async_ra = policy.async_ra }
		end
		m:play(file[2])
		local st = m:stats()
		c.ns = c.ns + st.virtual_ns
		c.wasted = c.wasted + st.pages.wasted
		c.misses = c.misses + st.windows.sync
	end
	c.cost = c.ns + c.wasted * PRICE
	return c
end

-- Points a workload and the leaderboard value; `reference` is what the kernel costs.
local function score(set, reference, policy)
	local result, sum = { points = {}, cost = {} }, 0
	for i, w in ipairs(set) do
		local c = cost(w, policy)
		result.cost[i] = c
		result.points[i] = 100 * reference[i].cost / c.cost
		sum = sum + math.log(result.points[i])
	end
	result.value = math.exp(sum / #set)
	return result
end

local function reference(set)
	local list = {}
	for i, w in ipairs(set) do
		list[i] = cost(w)
	end
	return list
end

local SET = workloads(PUBLISHED)
local KERNEL = reference(SET)

local function points_text(set, result)
	local list = {}
	for i, w in ipairs(set) do
		list[i] = ("%s %.0f"):format(w.name, result.points[i])
	end
	return table.concat(list, ", ")
end

local function points_table(set, results)
	local head, line = "| policy", "|---"
	for _, w in ipairs(set) do
		head, line = head .. " | " .. w.name, line .. "|---"
	end
	local rows = { head .. " | **value** |", line .. "|---|" }
	for _, r in ipairs(results) do
		local row = "| " .. r[1]
		for i in ipairs(set) do
			row = row .. (" | %.0f"):format(r[2].points[i])
		end
		rows[#rows + 1] = row .. (" | %.0f |"):format(r[2].value)
	end
	return table.concat(rows, "\n")
end

-- The policies the steps build, as the lab's own.
local function fixed(size)
	return {
		sync_ra = function(ra, req) return { start = req.index, size = math.max(size, req.count) } end,
		async_ra = function() return false end,
	}
end

local function doubling(first, most, gate)
	return {
		sync_ra = function(ra, req)
			if gate and req.index ~= 0 and req.index ~= ra.prev_index and req.index ~= ra.prev_index + 1 then
				return false
			end
			local size = math.max(first, 2 * req.count)
			return { start = req.index, size = size, async_size = size - req.count }
		end,
		async_ra = function(ra, req)
			local start, size = ra.start + ra.size, math.min(2 * ra.size, most)
			return start < req.file_pages and { start = start, size = size, async_size = size } or false
		end,
	}
end

-- Reads `distance` strides ahead of a program whose stride is known, one page at a time.
local function strided(stride, distance)
	local function ahead(index, file_pages)
		local t = index + distance * stride
		return distance > 0 and t < file_pages and { start = t, size = 1, async_size = 1 } or false
	end
	return {
		sync_ra = function(ra, req) return ahead(req.index, req.file_pages) end,
		async_ra = function(ra, req) return ahead(req.index, req.file_pages) end,
	}
end

-- Windows for several streams at once, known by where each will go on.
local function streams(first, most)
	local list
	return {
		reset = function() list = {} end,
		sync_ra = function(ra, req)
			for _, st in ipairs(list) do
				if st.next == req.index then
					st.size = math.max(first, req.count + 1)
					st.from, st.next = req.index, req.index + st.size
					return { start = req.index, size = st.size, async_size = st.size - req.count }
				end
			end
			list[#list + 1] = { next = req.index + req.count }
			return false
		end,
		async_ra = function(ra, req)
			for _, st in ipairs(list) do
				if st.from and req.index >= st.from and req.index < st.next then
					local start = st.next
					st.size = math.min(2 * st.size, most)
					st.from, st.next = start, start + st.size
					return start < req.file_pages and { start = start, size = st.size, async_size = st.size } or false
				end
			end
			return false
		end,
	}
end

-- Plays `ops` under the student's policy, which gets the numbers `p`, and returns the machine and the
-- list of the decisions.
local function watch(f, ops, p)
	local m, list = boot("64m"), {}
	if type(f) ~= "table" then
		return nil, "expected a table with sync_ra and async_ra"
	end
	local function spy(kind)
		local decide = f[kind]
		if type(decide) ~= "function" then
			return nil
		end
		return function(ra, req)
			local w = decide(ra, req, p)
			local e = { kind = kind, index = req.index, count = req.count, window = w }
			if type(w) == "table" then
				e.start = w.start or kind == "sync_ra" and req.index or ra.start + ra.size
				e.size, e.async_size = w.size, w.async_size or 0
			end
			list[#list + 1] = e
			return w
		end
	end
	if f.reset then
		f.reset()
	end
	m:policy { sync_ra = spy("sync_ra"), async_ra = spy("async_ra") }
	m:play(ops)
	return m, list
end

-- Where what the student's policy decides is not what the lab's own decides.
local function first_difference(f, own, ops, p)
	local m, got = watch(f, ops, p)
	if not m then
		return got
	end
	local _, want = watch(own, ops)
	for i, w in ipairs(want) do
		local g = got[i]
		local at = ("%s for %d pages at page %d"):format(w.kind == "sync_ra" and "a miss" or "a mark", w.count, w.index)
		if not g or g.kind ~= w.kind or g.index ~= w.index then
			return ("expected %s there, but your windows lead to %s"):format(at,
				g and ("%s at page %d"):format(g.kind == "sync_ra" and "a miss" or "a mark", g.index) or "nothing more")
		end
		local function say(e)
			return e.size and ("start %s, size %s, async_size %s"):format(e.start, e.size, e.async_size)
				or e.window == false and "false" or "nothing (the kernel decides)"
		end
		if say(g) ~= say(w) then
			return ("%s: %s, expected %s"):format(at, say(g), say(w))
		end
	end
	if #got > #want then
		return ("your policy was asked %d times, expected %d"):format(#got, #want)
	end
end

-- "read 4k 3" is { "read", 1, 3 }, "pread 8m 4k" is { "pread", 2048, 1 }: pages, so that they can shrink.
local function parse(ops)
	local list = {}
	for text in ops:gmatch("[^;]+") do
		local op, a, b = text:match("(%a+) (%w+) ?(%w*)")
		b = b ~= "" and b or 1
		list[#list + 1] = op == "read" and { op, fl.size(a) // 4096, tonumber(b) } or { op, fl.size(a) // 4096, fl.size(b) // 4096 }
	end
	return list
end

local function unparse(list)
	local ops = {}
	for i, o in ipairs(list) do
		local read = o[1] == "read"
		if #o < 3 or o[3] < 1 or o[2] < (read and 1 or 0) then
			return nil
		end
		ops[i] = read and ("read %dk %d"):format(4 * o[2], o[3]) or ("pread %dk %dk"):format(4 * o[2], 4 * o[3])
	end
	return #ops > 0 and join(ops) or nil
end

-- Does the student's policy decide as the lab's own does? If not: where, with as few and small reads as can be.
local function same_decisions(f, own, ops, p)
	local why = first_difference(f, own, ops, p)
	if not why then
		return true
	end
	local smallest, less = fl.smallest(parse(ops), function(list)
		local text = unparse(list)
		return text and first_difference(f, own, text, p)
	end, TRIES)
	return false, ("%s (with '%s')"):format(less or why, less and unparse(smallest) or ops)
end

lab {
	title = "06 Your own readahead",
	summary = "A policy in Lua against the kernel's: six workloads, one value, and you must win.",
	minutes = 60,
	steps = {
		step {
			id = "score",
			title = "The kernel's score is 100",
			prepare = function(s)
				s.PRICE, s.KERNEL = PRICE, KERNEL
				s.rows = { "| workload | misses | wasted pages | ms | cost, ms |", "|---|---|---|---|---|" }
				for i, w in ipairs(SET) do
					local k = KERNEL[i]
					s.rows[#s.rows + 1] = ("| %s | %d | %d | %s | %s |"):format(w.name, k.misses, k.wasted, fl.ms(k.ns), fl.ms(k.cost))
				end
				s.rows = table.concat(s.rows, "\n")
				s.ns = KERNEL[1].ns * s.rng:int(50, 140) // 100
				s.wasted = s.rng:int(10, 300)
				s.times = s.rng:pick { 1.5, 2, 3, 4, 5, 8, 10 }
				s.which = s.rng:int(1, 6)
			end,
			brief = [[
Readahead is a bet. Who reads too little waits for the disk; who reads too much fills memory with pages that nobody wants. You will write a
**policy**: two Lua functions that take the kernel's place, one at each *miss*, one at each *mark*. A set of six workloads decides who bets better (`foliolab lab show 06` describes them).
This is the kernel's result, v6.18, `ra_pages` 32:

{{rows}}

The rules of the game:

- The **cost** of a workload is its virtual time, plus {{PRICE // 1000}} microseconds for each wasted page.
- Your **points** on it: 100 x the kernel's cost / your cost.
- Your **value**, the number for the leaderboard: the geometric mean of the six points (multiply them, take the sixth root). The kernel has 100.

A geometric mean has no favourites: to be twice as good on one workload is worth as much as on any other, and to be half as good costs that again.
]],
			questions = {
				ask.number {
					id = "points",
					percent = 2,
					unit = "points",
					text = "Some policy runs *sequential* in {{fl.ms(ns)}} ms and wastes {{wasted}} pages. How many points is that? (Within 2 %.)",
					answer = function(s) return 100 * KERNEL[1].cost / (s.ns + s.wasted * PRICE) end,
					hints = {
						"Its cost: {{fl.ms(ns)}} ms + {{wasted}} x {{PRICE / 1e6}} ms = {{fl.ms(ns + wasted * PRICE)}} ms. The kernel's: {{fl.ms(KERNEL[1].cost)}} ms.",
					},
				},
				ask.number {
					id = "value",
					percent = 2,
					text = "A policy is exactly as good as the kernel on five workloads and **{{times}} times** as good on the sixth. Its value?",
					answer = function(s) return 100 * s.times ^ (1 / #SET) end,
					hints = { "100 x the sixth root of {{times}}; in Lua, `100 * {{times}} ^ (1 / 6)`." },
				},
				ask.choice {
					id = "hopeless",
					text = "On one of the six no policy can do much better than the kernel. Which?",
					options = { "random", "strided", "interleaved", "small files" },
					answer = function(s)
						-- None of the policies of this lab beats the kernel there.
						local tries = { fixed(32), doubling(8, 64, false), streams(16, 64), strided(SET[2].stride, 8) }
						local found
						for option, i in ipairs { 3, 2, 4, 5 } do
							local best = math.huge
							for _, policy in ipairs(tries) do
								best = math.min(best, cost(SET[i], policy).cost)
							end
							if best > 0.97 * KERNEL[i].cost then
								assert(not found, SET[i].name)
								found = option
							end
						end
						return found
					end,
					hints = { "Where is the next page unforeseeable?" },
				},
			},
			reveal = [[
Look at the misses. *strided* misses at each of its reads: the kernel sees no stream there, though a child would foresee the next page. *interleaved* misses {{KERNEL[4].misses}} times (lab 05). *random*
misses, and must. There is something to win.
]],
		},

		step {
			id = "fixed",
			title = "A fixed window",
			prepare = function(s)
				s.w = s.rng:int(3, 12) * 4
				s.n = s.rng:int(150, 500)
				s.k = s.rng:int(20, 60)
				s.policy = fixed(s.w)
				s.seq = boot("64m")
				s.seq_ops = ("seek 4k; read 4k %d"):format(s.n)
				s.rand = boot("64m")
				local ops = {}
				for i = 1, s.k do
					ops[i] = ("pread %dk 4k"):format((i * 200 + s.rng:int(0, 100)) * 4)
				end
				s.rand_ops = join(s.rng:shuffle(ops))
				s.result = score(SET, KERNEL, s.policy)
				s.list = points_text(SET, s.result)
			end,
			brief = [[
A policy is a table of functions. `sync_ra(ra, req)` is called when a read misses. `req.index` is the first page wanted and `req.count` how many are; it returns the window:

    return { start = req.index, size = 16, async_size = 0 }

`async_size` is the tail; 0 means that no folio gets a mark. If it returns `false`, just the request is read; if it returns nothing, the kernel decides.

The simplest policy reads **{{w}} pages** at each miss (or the request, if that is larger), without a mark. Two programs try it on a cold file:

1. one reads {{n}} pages in order, one page at a time, starting at page 1;
2. one reads {{k}} single pages, all at least 100 pages apart.
]],
			questions = {
				ask.number {
					id = "fixed-misses",
					predict = true,
					unit = "misses",
					text = "How often does program 1 miss?",
					answer = function(s)
						local m = boot("64m")
						m:policy(s.policy)
						m:play(s.seq_ops)
						return m:misses()
					end,
					hints = { "Each miss brings {{w}} pages; {{n}} / {{w}}, rounded up." },
				},
				ask.number {
					id = "fixed-waste",
					predict = true,
					unit = "pages",
					text = "How many pages does program 2 waste?",
					answer = function(s)
						local m = boot("64m")
						m:policy(s.policy)
						m:play(s.rand_ops)
						return m:stats().pages.wasted
					end,
					hints = { "Of each {{w}} pages one is used." },
				},
				ask.func {
					id = "fixed",
					points = 6,
					budget = 60,
					text = "Write it: `fixed.sync_ra(ra, req, p)` for windows of `p.size` pages, without a mark. A request of more than `p.size` pages gets a window of its own size. (It is tried with {{w}} and with another number.)",
					check = function(s, f)
						for _, w in ipairs { s.w, s.w + 7 } do
							for _, ops in ipairs { s.seq_ops, s.rand_ops, ("read %dk; read 4k 40; pread 8m 4k"):format((w + 5) * 4) } do
								local ok, why = same_decisions(f, { sync_ra = fixed(w).sync_ra }, ops, { size = w })
								if not ok then
									return false, ("size %d: %s"):format(w, why)
								end
							end
						end
						return true
					end,
					hints = { "`math.max(p.size, req.count)` is the size." },
				},
			},
			run = function(s)
				s.seq:policy(s.policy)
				s.seq:play(s.seq_ops)
				s.rand:policy(s.policy)
				s.rand:play(s.rand_ops)
				print(("program 1: %d misses. Program 2: %d pages wasted."):format(s.seq:misses(), s.rand:stats().pages.wasted))
				figure("fixed", plot.bars {
					title = ("Points of the fixed window of %d pages (kernel: 100)"):format(s.w),
					labels = { SET[1].name, SET[2].name, SET[3].name, SET[4].name, SET[5].name, SET[6].name },
					values = s.result.points,
				})
			end,
			reveal = [[
Value {{("%.0f"):format(result.value)}}. It waits for the disk once every {{w}} pages, where the kernel reads the next window while the program is busy with this one, and on random reads it throws {{w - 1}} of {{w}} pages away. Both can be mended.
]],
		},

		step {
			id = "doubling",
			title = "A mark, and doubling",
			prepare = function(s)
				s.first = s.rng:pick { 4, 6, 8, 12 }
				s.most = s.rng:pick { 48, 64, 80, 96, 128 }
				s.policy = doubling(s.first, s.most, false)
				local m, list = watch(s.policy, "read 4k 900")
				s.sizes = {}
				for _, e in ipairs(list) do
					s.sizes[#s.sizes + 1] = e.size
				end
				s.asked = { s.sizes[2], s.sizes[3], s.sizes[4], s.sizes[5], s.sizes[6] }
				s.result = score(SET, KERNEL, s.policy)
				s.fixed = score(SET, KERNEL, fixed(s.first))
				s.table = points_table(SET, { { "fixed", s.fixed }, { "doubling", s.result } })
			end,
			brief = [[
The mark buys time: the folio where the tail begins carries it, and when a read meets it, `async_ra(ra, req)` is called: the program has the whole tail left. There `ra.start` and `ra.size` are the window
before. And windows should grow while the program keeps reading. So:

- at a **miss**: {{first}} pages from `req.index`, or twice the request, if that is larger; the tail is what is left behind the request;
- at a **mark**: the window starts where the last one ended, is **twice** as large, but never larger than {{most}} pages, and is all tail.
]],
			questions = {
				ask.list {
					id = "sizes",
					predict = true,
					text = "A program reads page by page from the front. The first window has {{first}} pages. Which sizes do the next **five** have?",
					answer = function(s) return s.asked end,
					hints = { "Double {{first}}, and cut at {{most}}." },
				},
				ask.func {
					id = "doubling",
					points = 8,
					budget = 60,
					text = "Write `doubling.sync_ra(ra, req, p)` and `doubling.async_ra(ra, req, p)`, with `p.first` in place of {{first}} and `p.most` in place of {{most}}.",
					check = function(s, f)
						for _, p in ipairs { { first = s.first, most = s.most }, { first = s.first + 3, most = 40 } } do
							for _, ops in ipairs { "read 4k 700", "read 16k 60", "read 100k 12; pread 8m 4k; pread 16m 64k" } do
								local ok, why = same_decisions(f, doubling(p.first, p.most, false), ops, p)
								if not ok then
									return false, ("first %d, most %d: %s"):format(p.first, p.most, why)
								end
							end
						end
						return true
					end,
					hints = {
						"sync: `local size = math.max(p.first, 2 * req.count)`, and `async_size = size - req.count`.",
						{ text = "async: `local size = math.min(2 * ra.size, p.most)`, `start = ra.start + ra.size`, `async_size = size`.", cost = 2 },
					},
				},
			},
			run = function(s)
				local points = {}
				for i = 1, math.min(12, #s.sizes) do
					points[i] = { i, s.sizes[i] }
				end
				figure("doubling", plot.line {
					title = "Pages a window", x = "window", y = "pages", series = { { name = "doubling", points = points } },
				})
			end,
			reveal = [[
Points on the set:

{{table}}

The mark and the growth are what makes *sequential* good. The price stands under *random*: a policy that opens a window at each miss.
]],
		},

		step {
			id = "gate",
			title = "No window without a reason",
			prepare = function(s)
				s.first = s.rng:pick { 4, 6, 8, 12 }
				s.most = s.rng:pick { 48, 64, 80, 96, 128 }
				s.policy = doubling(s.first, s.most, true)
				s.k, s.j = s.rng:int(15, 60), s.rng:int(3, 14)
				local ops, at = {}, {}
				for i = 1, s.k + s.j do
					at[i] = i * 200 + s.rng:int(0, 90)
				end
				for i, page in ipairs(s.rng:shuffle(at)) do
					ops[i] = ("pread %dk 4k"):format(page * 4)
					if i <= s.j then
						ops[i] = ops[i] .. ("; pread %dk 4k"):format(page * 4 + 4)
					end
				end
				s.ops = join(s.rng:shuffle(ops))
				s.open = doubling(s.first, s.most, false)
				s.results = { { "doubling", score(SET, KERNEL, s.open) }, { "gated", score(SET, KERNEL, s.policy) } }
				s.table = points_table(SET, s.results)
			end,
			brief = [[
A single read somewhere in a file says nothing about the next. Two reads, one behind the other, do. `ra.prev_index` is the page in which the last read of this descriptor *ended*. So a **gate** before the window:

- if the read is at page 0, or at `ra.prev_index`, or one page behind it, a window as before: {{first}} pages, or twice the request, and what is behind the request is tail;
- otherwise `false`: just the request.

(The end of a read that ended at a page border counts as the page behind it: after a read of page 5 alone, `prev_index` is 6.) Marks as before: twice the size, {{most}} pages at most.

A program reads **{{k + j}} records**, all far apart, in random order: {{k}} of one page, and {{j}} of two pages, these with two reads of a page each.
]],
			questions = {
				ask.number {
					id = "gate-waste",
					predict = true,
					unit = "pages",
					points = 6,
					text = "How many pages does the gated policy waste on it?",
					answer = function(s)
						local m = boot("64m")
						m:policy(s.policy)
						m:play(s.ops)
						return m:stats().pages.wasted
					end,
					hints = {
						"The records of one page waste nothing. The second read of the others opens a window of {{first}} pages, of which it uses one.",
						"It reads no further than the page with the mark's *predecessor*: the mark is behind the request, so no second window is read.",
					},
				},
				ask.func {
					id = "gated",
					points = 6,
					budget = 60,
					text = "Write `gated.sync_ra(ra, req, p)` and `gated.async_ra(ra, req, p)`, with `p.first` and `p.most`.",
					check = function(s, f)
						for _, p in ipairs { { first = s.first, most = s.most }, { first = s.first + 3, most = 40 } } do
							for _, ops in ipairs { s.ops, "read 4k 300", "pread 4m 16k; pread 4112k 16k; pread 4128k 16k; pread 8m 200k; pread 8392k 4k" } do
								local ok, why = same_decisions(f, doubling(p.first, p.most, true), ops, p)
								if not ok then
									return false, ("first %d, most %d: %s"):format(p.first, p.most, why)
								end
							end
						end
						return true
					end,
					hints = {
						"`if req.index ~= 0 and req.index ~= ra.prev_index and req.index ~= ra.prev_index + 1 then return false end`, and then as in `doubling`.",
					},
				},
			},
			run = function(s)
				for _, c in ipairs { { "doubling", s.open }, { "gated", s.policy } } do
					local m = boot("64m")
					m:policy(c[2])
					m:play(s.ops)
					local st = m:stats()
					print(("%-9s %3d misses, %4d pages wasted, %s ms"):format(c[1], m:misses(), st.pages.wasted, fl.ms(st.virtual_ns)))
				end
			end,
			reveal = [[
{{table}}

Now *random* is as good as the kernel's. This is, in essence, what the kernel does, too: its third rule (many cached pages before the read) is what you miss on *interleaved*. From here on it is your turn to see what it does not see.
]],
		},

		step {
			id = "stride",
			title = "Strides, and how far ahead",
			prepare = function(s)
				s.stride = s.rng:int(5, 40)
				s.distance = s.rng:int(3, 14)
				s.base = s.rng:int(10, 500)
				s.n = 200
				local ops = {}
				for i = 0, s.n - 1 do
					ops[#ops + 1] = ("pread %dk 4k"):format((s.base + i * s.stride) * 4)
				end
				s.ops = join(ops)
				s.size = (s.base + s.n * s.stride) * 4096
				s.play = function(distance)
					local m = boot(s.size)
					m:policy(strided(s.stride, distance))
					m:play(s.ops)
					return m
				end
				s.ns, s.points = {}, {}
				for _, k in ipairs { 0, 1, 2, 3, 4, 6, 8, 12, 16 } do
					s.ns[k] = s.play(k):clock()
					s.points[#s.points + 1] = { k, s.ns[k] / 1e6 }
				end
			end,
			brief = [[
A program reads every {{stride}}th page, {{n}} of them: a column of a table. The kernel sees single pages far apart and reads nothing ahead.

A policy that knows the stride can. Two facts make it easy:

- The window need not contain the request. If `sync_ra` returns `{ start = req.index + {{stride}}, size = 1, async_size = 1 }`, the page wanted is read by itself, *and* the page one stride on is fetched.
- A window that is all tail has its mark on its first page. When the program gets there, `async_ra` is called and can fetch the next one. The chain goes on by itself.

But the program is quick: one stride later it stands before a page that has only just been asked for. So look further ahead: at each miss and at each mark fetch the page **k strides** on. The first k reads find nothing prepared; after that, while the
program waits for one page, the k after it are on their way.
]],
			questions = {
				ask.number {
					id = "chain-misses",
					predict = true,
					unit = "misses",
					text = "With **k = {{distance}}**: how many of the {{n}} reads miss?",
					answer = function(s) return s.play(s.distance):misses() end,
					hints = { "Read number i fetches the page of read number i + k." },
				},
				ask.choice {
					id = "distance-one",
					predict = true,
					text = "And with k = 1, compared to reading nothing ahead: how long does the program take?",
					options = { "hardly less", "about half", "about a tenth" },
					answer = function(s)
						local share = s.ns[1] / s.ns[0]
						return share > 0.8 and 1 or share > 0.35 and 2 or 3
					end,
					hints = { "While the program waits for one page, how many are on their way? And without readahead?" },
				},
				ask.func {
					id = "stride",
					points = 8,
					text = "The policy must find the stride by itself. Write `stride(pages)`: `pages` lists the first pages of the last reads, oldest first (3 to 8 of them). If each is the same number of pages after the one before, and that is **more than 1**, "
						.. "return it; else 0.",
					valid = function(s, pages) return #pages >= 3 and math.min(table.unpack(pages)) >= 0 end,
					cases = function(s)
						local list = { { { 5, 6, 7 } }, { { 9, 9, 9 } }, { { 30, 20, 10 } }, { { 0, 2, 4 } }, { { 1, 5, 9, 14 } }, { { 1, 6, 10, 14 } } }
						for i = 1, 8 do
							local pages, page, d = {}, s.rng:int(0, 500), s.rng:int(2, 50)
							for k = 1, s.rng:int(3, 8) do
								pages[k] = page
								page = page + d
							end
							if i % 3 == 0 then
								pages[#pages] = pages[#pages] + 1
							end
							list[#list + 1] = { pages }
						end
						return list
					end,
					answer = function(s, pages)
						local d = pages[2] - pages[1]
						for i = 2, #pages do
							if pages[i] - pages[i - 1] ~= d then
								return 0
							end
						end
						return d > 1 and d or 0
					end,
					hints = {
						"`local d = pages[2] - pages[1]`; then a loop that returns 0 if `pages[i] - pages[i - 1] ~= d`.",
					},
				},
			},
			run = function(s)
				print(("k = %d: %d misses."):format(s.distance, s.play(s.distance):misses()))
				figure("distance", plot.line {
					title = ("%d reads, every %dth page: ms by distance k"):format(s.n, s.stride), x = "k", y = "ms",
					series = { { name = "ms", points = s.points } },
				})
			end,
			reveal = [[
{{fl.ms(ns[0])}} ms without, {{fl.ms(ns[1])}} ms with k = 1, {{fl.ms(ns[4])}} ms with 4, {{fl.ms(ns[16])}} ms with 16. The disk takes the same time for each page; what changes is how many it works on at once: k + 1.

Why does the kernel not do this? It would have to remember more for each open file, look at it at each miss, and be wrong for programs that look like a column and are none. Whoever knows their pattern can say `readahead()` (lab 04).
]],
		},

		step {
			id = "streams",
			title = "More than one stream",
			prepare = function(s)
				s.d = s.rng:int(2, 6)
				s.n = s.rng:int(60, 120)
				local starts, ops = {}, {}
				for i = 1, s.d do
					starts[i] = i * 2500 + s.rng:int(0, 500)
				end
				for i = 0, s.n - 1 do
					for _, start in ipairs(starts) do
						ops[#ops + 1] = ("pread %dk 16k"):format((start + 4 * i) * 4)
					end
				end
				s.ops = join(ops)
				s.play = function(policy)
					local m = boot("64m")
					if policy then
						if policy.reset then
							policy.reset()
						end
						m:policy { sync_ra = policy.sync_ra, async_ra = policy.async_ra }
					end
					m:play(s.ops)
					return m
				end
				s.kernel, s.gated, s.own = s.play(), s.play(doubling(8, 64, true)), s.play(streams(16, 64))
			end,
			brief = [[
**{{d}} streams** on one descriptor, by turns, {{n}} reads of 16 KiB each. The descriptor has one `prev_index` and one window; each stream overwrites them for the others (lab 05). But a policy may keep a memory of its own: Lua variables that live as long as
the policy. For example, a list of streams, each with the page at which it will go on:

    streams = { { next = 104 }, { next = 2304 }, ... }

At a miss for `count` pages at page `index`:

- if some stream has `next == index`, this is its second read: open a window, and set `next` to the window's end;
- otherwise remember a new stream with `next = index + count`, and read just the request.

At a mark, the stream is the one whose last window holds the marked page; its next window starts at its `next`.
]],
			questions = {
				ask.number {
					id = "stream-misses",
					predict = true,
					unit = "misses",
					text = "How often do the {{d}} streams miss under such a policy? (None starts at page 0. They never lose a mark.)",
					answer = function(s) return s.own:misses() end,
					hints = { "Each stream misses with its first read, which is remembered, and with its second, which opens its window." },
				},
				ask.func {
					id = "find",
					points = 4,
					text = "Write `find(streams, index)`: the place in the list (1, 2, ...) of the stream with `next == index`, or 0. If there are several, the first.",
					valid = function(s, streams, index) return index >= 0 end,
					cases = function(s)
						local list = {}
						for i = 1, 8 do
							local streams = {}
							for k = 1, s.rng:int(1, 6) do
								streams[k] = { next = s.rng:int(1, 60) * 4 }
							end
							list[i] = { streams, i % 3 == 0 and 1000 or streams[s.rng:int(1, #streams)].next }
						end
						list[9] = { {}, 7 }
						return list
					end,
					answer = function(s, streams, index)
						for i, st in ipairs(streams) do
							if st.next == index then
								return i
							end
						end
						return 0
					end,
					hints = { "`for i, st in ipairs(streams) do if st.next == index then return i end end`" },
				},
			},
			run = function(s)
				for _, c in ipairs { { "kernel", s.kernel }, { "gated", s.gated }, { "a list of streams", s.own } } do
					local st = c[2]:stats()
					print(("%-18s %4d misses, %4d pages wasted, %s ms"):format(c[1], c[2]:misses(), st.pages.wasted, fl.ms(st.virtual_ns)))
				end
				figure("streams", plot.bars {
					title = ("%d streams on one descriptor, ms"):format(s.d),
					labels = { "kernel", "gated", "a list of streams" },
					values = { s.kernel:clock() / 1e6, s.gated:clock() / 1e6, s.own:clock() / 1e6 },
				})
			end,
			reveal = [[
{{own:misses()}} misses against the kernel's {{kernel:misses()}}. You have all the parts now.
]],
		},

		step {
			id = "yours",
			title = "Yours",
			prepare = function(s)
				s.MARGIN, s.RANDOM, s.OWN = 140, 95, 120
				s.set = workloads(s.rng:int(1, 1 << 30))
				s.kernel = reference(s.set)
				s.table = points_table(SET, {
					{ "fixed 16", score(SET, KERNEL, fixed(16)) },
					{ "doubling", score(SET, KERNEL, doubling(8, 64, false)) },
					{ "gated", score(SET, KERNEL, doubling(8, 64, true)) },
					{ "streams", score(SET, KERNEL, streams(16, 64)) },
				})
			end,
			brief = [[
Write your policy. So far (the kernel has 100 everywhere):

{{table}}

It is called `mine`: `sync_ra`, `async_ra`, and `reset`, which is called before each file so that you can forget. Your variables go above the `return` of answers.lua (`local streams = {}`). A window must begin inside the file: where its start would not be below
`req.file_pages`, return `false`. It may have at most `req.limit` pages and may reach past the end. `foliolab lab watch 06` tells value and points after
each save, until it is enough; when it is, Enter here shows them once more.

To pass:

1. the **value** on the published set is at least **{{MARGIN}}**: {{MARGIN - 100}} % better than the kernel;
2. *random* has at least **{{RANDOM}}** points: it must not collapse where there is nothing to foresee;
3. on a second set, of the same six kinds with *your* numbers in place of the published ones, the value is at least **{{OWN}}**: a policy that has learned the published pages by heart does not pass.
]],
			questions = {
				ask.func {
					id = "mine",
					points = 20,
					budget = 200,
					text = "Write `mine`. No single idea of this lab is enough for {{MARGIN}}; two are.",
					check = function(s, f)
						if type(f) ~= "table" or type(f.sync_ra) ~= "function" then
							return false, "expected a table with sync_ra, async_ra and reset"
						end
						local r = score(SET, KERNEL, f)
						s.value, s.points = r.value, points_text(SET, r)
						local says = ("value %.1f (%s)"):format(r.value, s.points)
						if r.points[3] < s.RANDOM then
							return false, ("%s: random has fewer than %d points"):format(says, s.RANDOM)
						end
						if r.value < s.MARGIN then
							return false, ("%s, expected at least %d"):format(says, s.MARGIN)
						end
						local own = score(s.set, s.kernel, f)
						if own.value < s.OWN or own.points[3] < s.RANDOM then
							return false, ("%s; but on your own numbers it has %.1f (%s)"):format(says, own.value, points_text(s.set, own))
						end
						return true
					end,
					hints = {
						"Begin with *strided*: three reads at the same distance (step 5), and then one page 8 strides on, at misses and at marks. That alone brings most of what you need.",
						{
							text = "Then *small files*: if `req.file_pages` is small (32, say), read the whole file at its first miss. And windows of up to 64 pages "
								.. "for streams, found as in step 6.",
							cost = 2,
						},
						{
							text = "Do both in `sync_ra`: first ask whether a stream goes on here (`next == index`); then whether the last starts have a stride; else remember and return false. In `async_ra`: "
								.. "first the streams' windows, then the stride.",
							cost = 4,
						},
					},
					explain = "{{value and (\"Your leaderboard value: %.1f (%s).\"):format(value, points) or \"\"}}",
				},
			},
			reveal = [[
The kernel's policy has to be right for every program on every disk, with four numbers a file and no time to think. Yours has six workloads and a list. That is the honest size of the victory: on the patterns it knows, a policy with a
memory beats the kernel by far. A program that knows its own pattern can have the same without a new kernel: it reads ahead by itself (lab 04).
]],
		},
	},
}
