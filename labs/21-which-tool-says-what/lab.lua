-- Lab 21: one moment of one cache, seen by fincore, cachestat(2), bcc's cachestat and readahead, and /proc/meminfo.

local function total(orders)
	local n = 0
	for _, c in pairs(orders) do
		n = n + c
	end
	return n
end

-- Calls of filemap_add_folio(), and folios that went to an LRU list.
local function added(m)
	return total(m:counters("mm_filemap_add_to_page_cache"))
end

local function listed(m)
	return total(m:counters("mm_lru_insertion"))
end

-- Calls of folio_mark_accessed().
local function accessed(m)
	return m:perf().counts.MARK_ACCESSED or 0
end

-- What mincore(2) calls resident: pages of folios whose bytes have arrived.
local function resident(m)
	local n = 0
	for f in m:folios() do
		if f.uptodate then
			n = n + f.pages
		end
	end
	return n
end

-- Pages of which a reader got bytes.
local function used(m)
	local n = 0
	for i = 0, m.pages - 1 do
		local p = m:page(i)
		if p and p.used then
			n = n + 1
		end
	end
	return n
end

local function boot(kernel, fs, size)
	return fl.machine { kernel = kernel, fs = fs or "ext4", size = size or "16m", disk = "nvme", ra_kb = 128 }
end

-- tools/cachestat.py, in its own order of steps.
local function bcc(add, dirtied, access, buffers)
	local all, misses = access - buffers, add - dirtied
	misses, all = math.max(misses, 0), math.max(all, 0)
	local hits = all - misses
	if hits < 0 then
		misses, hits = all, 0
	end
	return { hits, misses, all > 0 and 100 * hits / all or 0 }
end

local function bcc_text(c)
	return ("%8s %8s %8s\n%8d %8d %7.2f%%"):format("HITS", "MISSES", "HITRATIO", c[1], c[2], c[3])
end

lab {
	title = "Which tool says what",
	summary = "fincore, cachestat, bcc's tools and /proc/meminfo at the same moment, and why they differ.",
	minutes = 45,
	steps = {
		step {
			id = "arrived",
			title = "There, and there already",
			prepare = function(s)
				-- A moment at which a window is still on its way from the disk.
				repeat
					s.kib = s.rng:int(1, 12) * 4
					s.n = s.rng:int(2, 40)
					s.m = boot("v6.18")
					s.m:play(("read %dk %d"):format(s.kib, s.n - 1))
					s.m:read(s.kib * 1024)
					s.there, s.arrived = s.m:cached(), resident(s.m)
				until s.there > s.arrived
				s.way = s.there - s.arrived
			end,
			brief = [[
A program on v6.18 has read {{n}} pieces of {{kib}} KiB. The last read returned a moment ago; it met a readahead mark, so the kernel has sent the next window to the disk, **{{way}} pages**, and did not wait for it. Those pages have their
folios, they stand in the file's mapping, and they are locked until their bytes arrive.

- `cachestat(2)` walks over the mapping and counts **what is there**.
- `mincore(2)` says of each page whether a reader would find it **without waiting**: the folio must be uptodate.
- `fincore` is both: up to util-linux 2.39 it asks `mincore`, from 2.40 on `cachestat`.

All {{there}} pages behind the readers and before them are there, so `cachestat(2)` says `nr_cache` = {{there}}.
]],
			questions = {
				ask.number {
					id = "mincore",
					unit = "pages",
					predict = true,
					text = "What does `fincore` of util-linux **2.38** print in its column PAGES at this moment?",
					answer = function(s) return s.arrived end,
					hints = { "{{there}} are there, {{way}} of them have not arrived." },
				},
				ask.choice {
					id = "later",
					predict = true,
					text = "The program sleeps for a second. Both tools are asked again. What do they say?",
					options = {
						"the same number: what was on its way has arrived",
						"still different numbers: locked folios stay locked until they are read",
						"different numbers: mincore counts bytes, cachestat counts folios",
					},
					answer = function(s)
						local m = s.m:twin()
						m:drain()
						return resident(m) == m:cached() and 1 or 2
					end,
				},
			},
			run = function(s)
				print(("now:            there %4d  arrived %4d"):format(s.m:cached(), resident(s.m)))
				s.m:drain()
				print(("a second later: there %4d  arrived %4d"):format(s.m:cached(), resident(s.m)))
			end,
			reveal = [[
{{arrived}} and {{there}}. On a quiet file they agree, which is why nobody notices; on a busy one, the difference is the I/O under way. (`fincore` 2.38 also says that *everything* of a file is cached that belongs to somebody else: lab 20.)
]],
		},

		step {
			id = "bcc",
			title = "Hits and misses",
			prepare = function(s)
				s.pages = s.rng:int(20, 60) * 16
				s.old, s.new = boot("v6.12"), boot("v6.18")
				s.first, s.again = {}, {}
				for name, m in pairs { old = s.old, new = s.new } do
					m:play(("read 4k %d"):format(s.pages))
					m:drain()
					local a, b = added(m), accessed(m)
					s.first[name] = { added = a, accessed = b, shows = bcc(a, 0, b, 0) }
					m:play(("seek 0; read 4k %d"):format(s.pages))
					m:drain()
					s.again[name] = { added = added(m) - a, accessed = accessed(m) - b }
					s.again[name].shows = bcc(s.again[name].added, 0, s.again[name].accessed, 0)
				end
				s.waits = total(s.old:counters("page_cache_sync_ra"))
				s.bcc_text = bcc_text
			end,
			brief = [[
bcc's `cachestat` knows nothing of files. It counts calls of four kernel functions, each second:

- *added*: `filemap_add_folio()`, a folio enters the cache;
- *dirtied*: `folio_account_dirtied()`;
- *accessed*: `folio_mark_accessed()`, a reader has touched a folio (a sequential reader calls it once for each folio);
- *buffers*: `mark_buffer_dirty()`.

From these it takes *total* = accessed - buffers and *misses* = added - dirtied, neither below 0, and *hits* = total - misses. If that is below 0, it takes all of total for misses and 0 hits. The ratio is hits / total, or 0 without any.

A program reads {{pages}} pages of a cold file on ext4, 4 KiB at a time, then all of it once more. Nobody writes. On **v6.12**, where every folio on ext4 is one page, the functions were called so often:

| | added | accessed |
|---|---|---|
| first time | {{first.old.added}} | {{first.old.accessed}} |
| second time | {{again.old.added}} | {{again.old.accessed}} |

In the first pass the program waited {{waits}} {{waits == 1 and "time" or "times"}} for the disk because a page was missing; readahead brought everything else before it was asked for.
]],
			questions = {
				ask.number {
					id = "misses",
					predict = true,
					unit = "misses",
					text = "What stands under MISSES for the first pass on v6.12?",
					answer = function(s) return s.first.old.shows[2] end,
					hints = { "Is added larger than accessed? Then hits would be below 0, and *accessed* are taken for misses." },
				},
				ask.number {
					id = "hits",
					predict = true,
					unit = "hits",
					text = "On **v6.18** the file comes in large folios: {{first.new.added}} of them. What stands under HITS for the *second* pass there?",
					answer = function(s) return s.again.new.shows[1] end,
					hints = {
						"Nothing is added in the second pass. How often does a sequential reader call `folio_mark_accessed()`?",
						"Once for each folio, and all that was read ahead beyond page {{pages - 1}} is not touched: of the {{first.new.added}} folios {{first.new.added - again.new.accessed}} lie there.",
					},
				},
				ask.func {
					id = "cachestat",
					points = 8,
					text = "Write `cachestat(added, dirtied, accessed, buffers)`: `{ hits, misses, ratio }`, the ratio in percent.",
					check = function(s, f)
						local tries = {
							{ 0, 0, 0, 0 }, { 100, 0, 100, 0 }, { 0, 0, 55, 0 }, { 130, 0, 100, 0 }, { 10, 40, 50, 0 }, { 10, 4, 50, 20 },
							{ 0, 0, 5, 20 }, { 30, 10, 5, 20 }, { 7, 0, 160, 3 },
						}
						for _, p in ipairs { s.first, s.again } do
							for _, k in ipairs { "old", "new" } do
								tries[#tries + 1] = { p[k].added, 0, p[k].accessed, 0 }
							end
						end
						for i = 1, 20 do
							tries[#tries + 1] = { s.rng:int(0, 200), s.rng:int(0, 50), s.rng:int(0, 400), s.rng:int(0, 50) }
						end
						for _, t in ipairs(tries) do
							local want, got = bcc(table.unpack(t)), f(table.unpack(t))
							local ok = type(got) == "table"
							for i = 1, 3 do
								ok = ok and type(got[i]) == "number" and math.abs(got[i] - want[i]) < 1e-6
							end
							if not ok then
								return false, ("cachestat(%d, %d, %d, %d): expected { %d, %d, %.2f }"):format(t[1], t[2], t[3], t[4], want[1], want[2], want[3])
							end
						end
						return true
					end,
					hints = {
						"Cut misses and total at 0 *before* you subtract them.",
						{ text = "`local total, misses = math.max(accessed - buffers, 0), math.max(added - dirtied, 0)`; then the case hits < 0; last the ratio, 0 if total is 0.", cost = 2 },
					},
				},
			},
			run = function(s)
				for _, k in ipairs { "old", "new" } do
					print((k == "old" and "v6.12" or "v6.18") .. ", first pass")
					print(bcc_text(s.first[k].shows))
					print((k == "old" and "v6.12" or "v6.18") .. ", second pass")
					print(bcc_text(s.again[k].shows))
				end
			end,
			reveal = [[
The first pass is all misses, {{("%.0f"):format(first.old.shows[3])}} %, though the program waited {{waits}} {{waits == 1 and "time" or "times"}} in {{pages}} reads: for `cachestat` what readahead brings is a miss. The second pass shows {{again.old.shows[1]}} hits on v6.12 and {{again.new.shows[1]}} on v6.18
for the same {{pages}} reads: the tool counts folios. The ratio still means something; the numbers before it only if all folios have one size.
]],
		},

		step {
			id = "readahead",
			title = "Read ahead in vain",
			prepare = function(s)
				repeat
					s.n = s.rng:int(3, 60)
					s.kib = s.rng:pick { 4, 8, 12, 16, 20, 24 }
					s.old, s.new = boot("v6.12"), boot("v6.18")
					for _, m in ipairs { s.old, s.new } do
						m:play(("read %dk %d"):format(s.kib, s.n))
						m:drain()
					end
					s.vain_old, s.vain_new = s.old:cached() - used(s.old), s.new:cached() - used(s.new)
				until s.vain_old > 0 and s.vain_new > 0 and s.vain_old ~= s.vain_new
				s.asked = used(s.old)
				s.alloc_old = s.old:cached()
				s.fallback = total(s.new:counters("page_cache_ra_unbounded"))
			end,
			brief = [[
bcc's `readahead` wants to know how much is read ahead in vain. It sets a flag while a task is inside of `do_page_cache_ra()`, counts the cache pages allocated under that flag, and takes one off for each that is then accessed for
the first time. What is left it calls *Read-ahead unused pages*.

On **v6.12**, ext4, a program has read {{n}} pieces of {{kib}} KiB from the start of a cold file, {{asked}} pages, and stopped. {{alloc_old}} pages were allocated, all of them inside of `do_page_cache_ra()`: windows of single pages are filled there.
]],
			questions = {
				ask.number {
					id = "vain",
					unit = "pages",
					text = "What does `readahead` print as unused pages on v6.12?",
					answer = function(s) return s.vain_old end,
					hints = { "{{alloc_old}} came in, {{asked}} of them were asked for." },
				},
				ask.choice {
					id = "blind",
					text = "The same on **v6.18**. There {{new:cached()}} pages are cached, {{vain_new}} of them unused. The windows were filled by `page_cache_ra_order()`, which allocates large folios itself and called "
						.. "`do_page_cache_ra()` {{fallback == 0 and 'not once' or 'for a few only'}}. What does the tool print?",
					options = {
						"0: it never sees the allocations, because they are made outside of the function it watches",
						"the unused pages, but in folios instead of pages",
						"all {{new:cached()}} pages as unused, because large folios are never marked accessed",
						"the same as on v6.12: the name of the function does not matter",
					},
					answer = function(s)
						assert(s.fallback == 0)
						return 1
					end,
					hints = { "Which function is on the stack when a folio is allocated? The flag is only set in one." },
				},
				ask.number {
					id = "vain-new",
					unit = "pages",
					text = "`cachestat(2)` counts on both. A program knows that it asked for {{asked}} pages. Which number of unused pages does it compute on **v6.18**?",
					answer = function(s) return s.vain_new end,
					hints = { "nr_cache is {{new:cached()}} there." },
				},
			},
			reveal = [[
{{vain_old}} on v6.12; on v6.18 the tool says 0 where {{vain_new}} pages were read in vain. A tool that watches functions must follow when the work moves to another function: since large folios (on xfs v5.18, on ext4 v6.16) it moved. The tracepoints `mm_filemap_*` and
`page_cache_*_ra` (v6.18) are made to stay.
]],
		},

		step {
			id = "meminfo",
			title = "All files together",
			prepare = function(s)
				s.kernel = s.rng:pick { "v6.1", "v6.12" }
				s.batch = s.kernel == "v6.1" and 15 or 31
				repeat
					s.n = s.rng:int(40, 400)
					s.m = boot(s.kernel, "ext4")
					s.m:fadvise("random", 0, 0)
					s.m:play(("read 4k %d"):format(s.n))
					s.listed = listed(s.m)
				until s.listed < s.n
				s.tmp_kib = s.rng:int(10, 90) * 4
				s.tmp = fl.machine { kernel = s.kernel, fs = "tmpfs-never", size = "4m" }
				s.tmp:play(("pwrite 0 %dk"):format(s.tmp_kib))
				s.kb = (s.m:cached() + s.tmp:cached()) * 4
				s.wait = s.n - s.listed
			end,
			brief = [[
`/proc/meminfo` knows no files at all. `Cached` is the number of *all* pages in *all* mappings, tmpfs files and shared memory included (swap cache and the buffers of block devices are told apart). `Active(file)` and `Inactive(file)` are pages on
the lists that reclaim works on.

A folio of one page does not go to its list at once. It waits in a small batch of its CPU until **{{batch}}** folios have come together ({{kernel}}; 31 instead of 15 since 9cecde80aae0, v6.9); then all of them move. A large folio does not wait.

An idle machine with {{kernel}}. One program, on one CPU, reads **{{n}} pages** of a file on ext4 by single pages (POSIX_FADV_RANDOM). Another writes **{{tmp_kib}} KiB** to a file in /tmp, which is a tmpfs.
]],
			questions = {
				ask.number {
					id = "cached",
					unit = "kB",
					text = "By how many kB does `Cached` grow?",
					answer = function(s) return s.kb end,
					hints = { "Both files count: {{n}} pages and {{tmp_kib // 4}} pages of 4 kB." },
				},
				ask.number {
					id = "inactive",
					unit = "pages",
					text = "How many of the {{n}} pages of the ext4 file are on a list, active or inactive, when the program has read the last one?",
					answer = function(s) return s.listed end,
					hints = { "Full batches of {{batch}} have moved: {{n}} // {{batch}} of them." },
				},
				ask.func {
					id = "listed",
					points = 4,
					text = "Write `listed(n, batch)`: how many of `n` folios of one page, added by one CPU to a cold cache, are on a list.",
					cases = function(s)
						local list = { { 0, 31 }, { 30, 31 }, { 31, 31 }, { 32, 31 }, { 62, 31 }, { 15, 15 }, { 14, 15 }, { 1000, 15 } }
						for i = 1, 10 do
							list[#list + 1] = { s.rng:int(0, 2000), s.rng:pick { 15, 31 } }
						end
						return list
					end,
					answer = function(s, n, batch) return n - n % batch end,
					hints = { "`n - n % batch`." },
				},
			},
			reveal = [[
`Cached` grew by {{kb}} kB, which no tool that looks at one file says. {{listed}} of {{n}} pages are on a list; {{wait}} wait on their CPU. On a machine of 64 CPUs, up to {{64 * (batch - 1)}} pages may be in the cache and on no list. (The kernel also sums up its counters lazily, CPU by CPU: small differences
between two reads of `/proc/meminfo` mean nothing.)
]],
		},

		step {
			id = "moment",
			title = "One moment, five answers",
			prepare = function(s)
				local distinct
				repeat
					s.kib, s.passes, s.single = s.rng:pick { 4, 8, 16, 32, 64 }, s.rng:int(1, 3), s.rng:int(3, 29)
					s.n = s.rng:int(10, 640 // s.kib)
					s.m = boot("v6.18")
					-- A stream, whose large folios go to their list at once; then single pages, which wait.
					for _ = 1, s.passes do
						s.m:play(("seek 0; read %dk %d"):format(s.kib, s.n))
					end
					s.m:fadvise("random", 0, 0)
					for i = 1, s.single do
						s.m:pread((1024 + 8 * i) * 4096, 4096)
					end
					s.values = { s.n * s.passes + s.single, s.m:cached(), added(s.m), accessed(s.m), listed(s.m) }
					local seen = {}
					distinct = true
					for _, v in ipairs(s.values) do
						distinct = distinct and not seen[v] and v > 0
						seen[v] = true
					end
				until distinct
				s.sorted = { table.unpack(s.values) }
				table.sort(s.sorted)
			end,
			brief = [[
v6.18, ext4, a cold file. A program has read {{n}} pieces of {{kib}} KiB from the start{{passes == 1 and "" or passes == 2 and ", all of it twice" or ", all of it three times"}}; then, after `fadvise(RANDOM)`, {{single}} single pages here and there. At this moment five numbers are taken, and sorted:

    {{table.concat(sorted, "   ")}}
]],
			questions = {
				ask.order {
					id = "which",
					predict = true,
					points = 10,
					text = "Which number is whose? Order these from the **smallest to the largest** number.",
					items = {
						"the program's own count: its calls of `read()`",
						"`cachestat(2)`: pages in the mapping",
						"calls of `filemap_add_folio()`, what bcc's `cachestat` calls added",
						"calls of `folio_mark_accessed()`, what it calls accessed",
						"folios that have gone to an LRU list",
					},
					answer = function(s)
						local list = { 1, 2, 3, 4, 5 }
						table.sort(list, function(a, b) return s.values[a] < s.values[b] end)
						return list
					end,
					hints = {
						"The program made {{n * passes + single}} calls. Pages are more than folios. The {{single}} single pages are added, but wait in a batch before they are listed.",
						"A sequential reader marks each folio accessed once in each pass, {{passes}} in all here; folios read ahead that nobody has reached are added and listed, but not accessed.",
					},
				},
				ask.choice {
					id = "pick",
					text = "You want to know whether a database's reads *wait for the disk*. Which of these answers that?",
					options = {
						"the hit ratio of bcc's `cachestat`",
						"`Cached` in `/proc/meminfo`",
						"the sync misses: `page_cache_sync_ra` events (v6.18), or the latency of its reads",
						"`fincore` of its files",
					},
					answer = function() return 3 end,
					hints = { "Three of them count what is cached, or how it came there. Who counts the *waiting*?" },
				},
			},
			run = function(s)
				local names = { "calls of read()", "cachestat(2)", "filemap_add_folio()", "folio_mark_accessed()", "on a list" }
				for i, name in ipairs(names) do
					print(("%-22s %5d"):format(name, s.values[i]))
				end
			end,
			reveal = [[
Ask of every tool: **pages or folios? there or arrived? one file or all? a state or calls?** Then the five answers fit together.

On your own machine: run `cat FILE > /dev/null`, then `fincore FILE`, `foliolab host orders FILE` and `grep Cached /proc/meminfo` one after the other; with bcc installed, `cachestat-bpfcc 1` beside it.
]],
		},
	},
}
