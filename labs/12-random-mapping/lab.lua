-- Lab 12: read-around's waste, mmap_miss, the repair, MADV_RANDOM and when it harms.

local function machine(kernel, ra, disk)
	return fl.machine { kernel = kernel, fs = "ext4", size = "2g", disk = disk or "nvme", ra_kb = (ra or 32) * 4 }
end

-- `n` touches far apart: none meets a window of another.
local function jump(m, first, gap, n)
	m:touch(first * 4096, gap * 4096, n)
end

local function jumping(kernel, ra, advice, first, gap, n)
	local m = machine(kernel, ra)
	m:mmap()
	if advice then
		m:madvise(advice)
	end
	jump(m, first, gap, n)
	m:drain()
	local st = m:stats()
	return { m = m, read = st.pages.read, used = st.pages.used, wasted = st.pages.wasted, ms = m:clock() / 1e6, miss = m:window().mmap_miss, ios = st.ios }
end

-- A mapped file with `hits` cached pages, each in a fault-around window of its own, from page 262144 on.
-- They are read one by one through another descriptor, so that they bear no mark.
local HITS = 262144

local function with_cached(kernel, hits)
	local m = machine(kernel, 32, "hole")
	m:mmap()
	m:fd(1)
	m:fadvise("random", 0, 0)
	for i = 0, hits - 1 do
		m:pread((HITS + 64 * i) * 4096, 4096)
	end
	m:fd(0)
	return m
end

-- Plays runs of misses and hits; returns read-around windows, and at which miss the first single page was read.
local function play_runs(kernel, runs)
	local hits, misses, first = 0, 0, nil
	for _, r in ipairs(runs) do
		hits = hits + (r.kind == "hit" and r.n or 0)
	end
	local m = with_cached(kernel, hits)
	local windows, at = 0, 0
	for _, r in ipairs(runs) do
		for i = 1, r.n do
			if r.kind == "miss" then
				local before = m:cached()
				misses = misses + 1
				m:touch((100 * misses) * 4096)
				if m:cached() - before > 1 then
					windows = windows + 1
				else
					first = first or misses
				end
			else
				m:touch((HITS + 64 * at) * 4096)
				at = at + 1
			end
		end
	end
	return windows, first, m:window().mmap_miss
end

local function row(name, r)
	return ("| %s | %d | %d | %d | %.1f |"):format(name, r.read, r.used, r.wasted, r.ms)
end

lab {
	title = "Random mapping",
	summary = "MADV_RANDOM and 100 misses: when the kernel stops reading around, and when it should.",
	minutes = 45,
	steps = {
		step {
			id = "waste",
			title = "What a jump costs",
			prepare = function(s)
				s.ra = s.rng:pick { 16, 32, 64 }
				s.n = s.rng:int(40, 200)
				s.gap = s.rng:int(100, 900)
				s.first = s.rng:int(100, 400)
				s.normal = jumping("v6.18", s.ra, nil, s.first, s.gap, s.n)
				s.random = jumping("v6.18", s.ra, "random", s.first, s.gap, s.n)
			end,
			brief = [[
A program has mapped a file and jumps about in it: it touches **{{n}}** pages, none of them cached, at least 100 pages apart. On v6.18, with `ra_pages` = **{{ra}}**, each
touch is a fault that finds nothing, and `do_sync_mmap_readahead()` reads around it (lab 09): `ra_pages` pages, half of them before the page.
]],
			questions = {
				ask.number {
					id = "wasted",
					predict = true,
					unit = "pages",
					text = "How many pages are read for **nothing** (nobody touches them)?",
					answer = function(s) return s.normal.wasted end,
					hints = { "{{n}} windows of {{ra}} pages; one page of each is used." },
				},
			},
			run = function(s)
				print(("read %d pages, used %d, %.1f ms"):format(s.normal.read, s.normal.used, s.normal.ms))
				print(("with MADV_RANDOM: read %d pages, used %d, %.1f ms"):format(s.random.read, s.random.used, s.random.ms))
			end,
			reveal = [[
{{("%.1f"):format(normal.wasted * 4096 / 1e6)}} MB of disk traffic and of memory, for {{n}} pages. With `madvise(MADV_RANDOM)` a miss reads one page. It takes
{{("%.0f"):format(100 * random.ms / normal.ms)}} % of the time, not {{("%.0f"):format(100 / ra)}} %: a disk answers a small request hardly faster than a larger one. What a
program pays for read-around is less its own time than everybody's memory and disk.
]],
		},

		step {
			id = "retry",
			title = "Up by one, down by sixteen",
			prepare = function(s)
				s.p = s.rng:int(300, 5000)
				s.ra = 16
				s.m = machine("v6.18", s.ra, "hole")
				s.m:mmap()
				s.start = s.p - s.ra // 2
				s.visited = function(m)
					local first, n
					for e in m:events { name = "fl_set_pte_range" } do
						first = math.min(first or e.index, e.index)
						n = (n or 0) + 1
					end
					return { first, n }
				end
				s.m:record()
			end,
			brief = [[
The kernel counts. A miss adds 1 to the open file's `mmap_miss`; when it is above `MMAP_LOTSAMISS`, that is 100, the miss reads one page only. When a fault finds its page
cached, the counter goes down: guessing pays again.

Where does it go down? In fault-around, among other places, which maps up to 16 cached pages around the fault (its window starts at a multiple of 16). Up to v6.18 it took 1 off **for every page it visited**. And
a fault that had to wait for the disk is *retried*, from the start: now the pages are there, so that fault-around maps them.

Page **{{p}}** is touched. `ra_pages` is {{ra}}: pages {{start}} to {{start + ra - 1}} are read, the page with the mark is {{start + ra - ra // 4}}. Fault-around visits the cached pages of its window,
**except** the one that bears the mark.
]],
			questions = {
				ask.list {
					id = "visits",
					predict = true,
					points = 6,
					text = "Which is the first page that the retried fault's fault-around visits, and how many does it visit?",
					answer = function(s)
						local m = s.m:twin()
						m:record()
						m:touch(s.p * 4096)
						return s.visited(m)
					end,
					hints = {
						"Its window is pages {{p - p % 16}} to {{p - p % 16 + 15}}. Which of them were read? Is the marked page among them?",
					},
				},
			},
			run = function(s)
				s.m:touch(s.p * 4096)
				print(s.m:map { from = s.start // 32 * 32, to = s.start // 32 * 32 + 63 })
				print(("mmap_miss is %d"):format(s.m:window().mmap_miss))
			end,
			reveal = [[
One miss: up by 1, and then down by {{visited(m)[2]}}, but not below 0. The very read-around that might have been wrong is taken for a success. So `mmap_miss` never grew, and **up to v6.18 random reads through a mapping never
stopped read-around**: 6.1.192 to 6.18.15 read a window for every miss in all recordings.
]],
		},

		step {
			id = "repair",
			title = "The repair",
			prepare = function(s)
				s.n = s.rng:int(130, 600)
				s.ra = s.rng:pick { 16, 32, 64 }
				s.first, s.gap = s.rng:int(100, 300), s.rng:int(100, 800)
				s.a, s.b = s.rng:int(3, 9), s.rng:int(1, 2)
				s.runs = {}
				for i = 1, 200 do
					s.runs[#s.runs + 1] = { kind = "miss", n = s.a }
					s.runs[#s.runs + 1] = { kind = "hit", n = s.b }
					if i * (s.a - s.b) > 110 then
						break
					end
				end
				s.old = jumping("v6.18", s.ra, nil, s.first, s.gap, s.n)
				s.new = jumping("v7.3", s.ra, nil, s.first, s.gap, s.n)
				s.knobs = { "MISS_DEC_UNIT", "NO_EOF_MARK", "HUGE_MISS_GATE", "STAT_PRIMITIVE" }
				s.row = row
			end,
			brief = [[
Two commits that v7.3 has changed the count (0b9c0aeba938, 9b0fcac3cfe7). A fault takes **1** off, if fault-around mapped the page that was wanted, and only in its **first** try: a retried
fault was a miss. So now a miss is +1, a fault on a cached page -1 (not below 0; the counter stops at 1000).

A miss first adds its 1, then compares: above 100, one page is read. A program jumps to **{{n}}** pages, none cached, with `ra_pages` = {{ra}}. v6.18 reads {{old.read}} pages for that.
]],
			questions = {
				ask.number {
					id = "read-73",
					predict = true,
					points = 6,
					unit = "pages",
					text = "How many pages does **v7.3** read?",
					answer = function(s) return s.new.read end,
					hints = { "100 misses still read {{ra}} pages each. And the other {{n - 100}}?" },
				},
				ask.number {
					id = "first-single",
					predict = true,
					points = 6,
					text = "Another program on v7.3 repeats: {{a}} misses, then {{b}} faults on cached pages (each in a part of the file where nothing is mapped). "
						.. "Counting its misses from 1, which one is the first that reads a single page?",
					answer = function(s)
						local _, first = play_runs("v7.3", s.runs)
						return first
					end,
					hints = {
						"Each round adds {{a}} and takes off {{b}}. After how many whole rounds is the counter close to 100? Then go on by single misses: the "
							.. "first that brings it to 101.",
					},
				},
				ask.choice {
					id = "knob",
					predict = true,
					text = "Which of these changes, taken off v7.3, brings the old behaviour back?",
					options = function(s) return s.knobs end,
					answer = function(s)
						local found
						for i, k in ipairs(s.knobs) do
							if jumping("v7.3-" .. k, s.ra, nil, s.first, s.gap, s.n).read == s.old.read then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "The *unit* in which misses are *dec*remented." },
				},
			},
			run = function(s)
				local old, new = {}, {}
				local x, y = machine("v6.18", s.ra), machine("v7.3", s.ra)
				for _, m in ipairs { x, y } do
					m:mmap()
				end
				for i = 1, s.n do
					for list, m in pairs { [old] = x, [new] = y } do
						m:touch((s.first + (i - 1) * s.gap) * 4096)
					end
					old[i], new[i] = { i, x:cached() }, { i, y:cached() }
				end
				figure("read", plot.line {
					title = "Pages read", x = "touches", y = "pages",
					series = { { name = "v6.18", points = old }, { name = "v7.3", points = new } },
				})
				print(("mmap_miss at the end: v6.18 %d, v7.3 %d"):format(s.old.miss, s.new.miss))
			end,
			reveal = [[
| kernel | read | used | wasted | ms |
|---|---|---|---|---|
{{row("v6.18", old)}}
{{row("v7.3", new)}}

Nothing was broken for the programs' results, and no error was ever reported: a heuristic that does nothing is quiet. It shows in counts only.
]],
		},

		step {
			id = "count",
			title = "Follow the counter",
			prepare = function(s)
				s.cases = {
					{ { kind = "miss", n = 100 } },
					{ { kind = "miss", n = 101 } },
					{ { kind = "hit", n = 30 }, { kind = "miss", n = 120 } },
					{ { kind = "miss", n = s.rng:int(120, 160) }, { kind = "hit", n = s.rng:int(65, 90) }, { kind = "miss", n = s.rng:int(30, 90) } },
					-- The counter stops at 1000.
					{ { kind = "miss", n = 1100 }, { kind = "hit", n = s.rng:int(910, 960) }, { kind = "miss", n = 120 } },
				}
				for i = 1, 3 do
					local runs = {}
					for j = 1, s.rng:int(3, 6) do
						runs[j] = { kind = j % 2 == 1 and "miss" or "hit", n = j % 2 == 1 and s.rng:int(40, 140) or s.rng:int(5, 70) }
					end
					s.cases[#s.cases + 1] = runs
				end
				s.say = function(runs)
					local list = {}
					for i, r in ipairs(runs) do
						list[i] = ("%d %s"):format(r.n, r.kind)
					end
					return table.concat(list, ", ")
				end
			end,
			brief = [[
Real programs mix: some jumps hit, some miss, and there are phases. The counter then tells, roughly, by how much the misses lead. Three rules are enough:

1. a miss adds 1, but never beyond 1000; *then*, if the counter is above 100, one page is read, otherwise a window;
2. a fault on a cached page takes 1 off, never below 0;
3. the counter belongs to the open file and outlives everything but that.
]],
			questions = {
				ask.func {
					id = "windows",
					points = 10,
					text = "Write `windows(runs)`: how many **windows** v7.3 reads in all. `runs` is a list of `{ kind = \"miss\", n = 70 }` (n touches of pages that are "
						.. "not cached) and `{ kind = \"hit\", n = 20 }` (n faults on pages that are cached). The counter is 0 at first.",
					check = function(s, f)
						for _, runs in ipairs(s.cases) do
							local want, got = play_runs("v7.3", runs), f(runs)
							if got ~= want then
								return false, ("%s: it returned %s, expected %d"):format(s.say(runs), tostring(got), want)
							end
						end
						return true
					end,
					hints = {
						"Two numbers: `miss`, the counter, and the windows so far. Loop over the runs, and in each over 1 to `r.n`.",
						{ text = "On a miss: `miss = math.min(miss + 1, 1000)`, then `if miss <= 100 then windows = windows + 1 end`. On a hit: `miss = math.max(miss - 1, 0)`.",
							cost = 3 },
					},
				},
			},
			reveal = [[
The miniature played {{#cases}} programs against your function, such as: {{say(cases[4])}}.
]],
		},

		step {
			id = "phases",
			title = "When the program changes its mind",
			prepare = function(s)
				s.jumps = s.rng:int(130, 300)
				s.pages = s.rng:int(300, 1200)
				local function scan(jumps, between)
					local m = machine("v7.3")
					m:mmap()
					if jumps > 0 then
						jump(m, 200000, 500, jumps)
					end
					if between then
						m:play(between)
					end
					local t, ios = m:clock(), m:stats().ios
					m:touch(0, 4096, s.pages)
					m:drain()
					return { ios = m:stats().ios - ios, ms = (m:clock() - t) / 1e6 }
				end
				s.fresh = scan(0)
				s.after = scan(s.jumps)
				s.with_random = scan(0, "madvise random")
				s.ways = { "madvise normal", "madvise sequential", "fadvise sequential 0 0", "munmap; mmap" }
				s.by = {}
				for i, w in ipairs(s.ways) do
					s.by[i] = scan(s.jumps, w)
				end
			end,
			brief = [[
Having stopped, will the kernel start again? On v7.3 a program makes {{jumps}} jumps that all miss, and then reads **{{pages}}** pages of another part of the file in order, from page 0 on. Nothing of it is
cached. A program that had made no jumps before would need {{fresh.ios}} requests to the disk for these pages.
]],
			questions = {
				ask.number {
					id = "scan-ios",
					predict = true,
					points = 6,
					unit = "requests",
					text = "How many requests does it take after the jumps?",
					answer = function(s) return s.after.ios end,
					hints = { "Every page of the scan is again a miss, if no window is read. What does a miss do to the counter?" },
				},
				ask.choice {
					id = "way-out",
					predict = true,
					text = "Which of these, called between the jumps and the scan, brings the windows back?",
					options = function(s)
						local list = {}
						for i, w in ipairs(s.ways) do
							list[i] = ("`%s`"):format(w)
						end
						return list
					end,
					answer = function(s)
						local found
						for i in ipairs(s.ways) do
							if s.by[i].ios < s.pages // 4 then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "Advice for a mapping is given with `madvise`, and one of the two sets a flag that is looked at *before* the counter." },
				},
			},
			run = function(s)
				local function say(what, r)
					print(("%-40s %5d requests, %6.1f ms"):format(what, r.ios, r.ms))
				end
				say("no jumps", s.fresh)
				say("no jumps, madvise random", s.with_random)
				say("after the jumps", s.after)
				for i, w in ipairs(s.ways) do
					say("after the jumps, " .. w, s.by[i])
				end
			end,
			reveal = [[
A page read alone leaves no neighbours, so that the next page misses, too: the counter only rises. v7.3 is exposed to a mistake that v6.18 could not make. `MADV_SEQUENTIAL` is looked at
before the counter, and since 9b0fcac3cfe7 such a mapping neither counts nor uncounts. `MADV_RANDOM` on a program that
scans does the same harm at once, on every kernel: {{("%.0f"):format(with_random.ms / fresh.ms)}} times the time. **Advice is a promise; take it back when it no longer holds.**
]],
		},

		step {
			id = "both",
			title = "Two phases, one mapping",
			prepare = function(s)
				s.n = s.rng:int(150, 400)
				s.gap = s.rng:int(100, 600)
				s.first = s.rng:int(100000, 150000)
				s.pages = s.rng:int(8, 30) * 64
				s.limit_read = s.n + s.pages + 64
				s.limit_ios = s.n + s.pages // 16 + 8
				s.jumps = ("touch %dk %dk %d"):format(s.first * 4, s.gap * 4, s.n)
				s.scan = ("touch 0 4k %d"):format(s.pages)
				s.play = function(kernel, w)
					local m = machine(kernel)
					m:record()
					m:play(w)
					local st = m:stats()
					return m, st.pages.read, st.ios
				end
				local _, read18, ios18 = s.play("v6.18", ("mmap; %s; %s"):format(s.jumps, s.scan))
				local _, read73, ios73 = s.play("v7.3", ("mmap; %s; %s"):format(s.jumps, s.scan))
				s.read18, s.ios18, s.read73, s.ios73 = read18, ios18, read73, ios73
			end,
			brief = [[
A program looks up {{n}} records in an index, then scans a table, through one mapping:

    mmap; {{jumps}}; {{scan}}

| | pages read | requests |
|---|---|---|
| v6.18 | {{read18}} | {{ios18}} |
| v7.3 | {{read73}} | {{ios73}} |

v6.18 reads too much for the jumps, v7.3 too little at a time for the scan. The program knows better than either.
]],
			questions = {
				ask.workload {
					id = "two_phases",
					points = 8,
					max_ops = 5000,
					text = "Write a workload that touches the same pages through a mapping, jumps first, and on **both** kernels reads at most **{{limit_read}}** "
						.. "pages with at most **{{limit_ios}}** requests.",
					check = function(s, w)
						for _, kernel in ipairs { "v6.18", "v7.3" } do
							local m, read, ios = s.play(kernel, w)
							for i = 0, s.n + s.pages - 1 do
								local page = i < s.n and s.first + i * s.gap or i - s.n
								local p = m:page(page)
								if not p or not p.used then
									return false, ("%s: page %d was not touched"):format(kernel, page)
								end
							end
							if m:stats().touches < s.n + s.pages or m:stats().reads > 0 then
								return false, ("%s: %d touches and %d reads, expected %d touches and no read"):format(kernel, m:stats().touches,
									m:stats().reads, s.n + s.pages)
							end
							if read > s.limit_read then
								return false, ("%s: %d pages were read, expected at most %d"):format(kernel, read, s.limit_read)
							end
							if ios > s.limit_ios then
								return false, ("%s: %d requests, expected at most %d"):format(kernel, ios, s.limit_ios)
							end
						end
						return true
					end,
					hints = {
						"Which advice suits the jumps, which the scan? Both are given between two `touch` lines.",
						{ text = "`mmap; madvise random; ...; madvise sequential; ...`", cost = 3 },
					},
				},
			},
			reveal = [[
`madvise normal` for the scan would do as well: under `MADV_RANDOM` a miss is not counted, so that the counter is still 0. Two system calls make a program independent of a heuristic that
stood still up to v6.18 and is strict in v7.3.
]],
		},
	},
}
