-- Lab 09: fault-around, read-around, the mapped read by folio order, page_mkwrite, whole-folio mapping.

local AROUND = 16 -- pages

-- A file on ext4 whose first `mib` MiB are cached in folios of that order, and clean; twice as large, so
-- that no folio looked at is the file's last one.
local function cached(kernel, order, mib)
	local m = fl.machine { kernel = kernel, fs = "ext4", size = (2 * mib) << 20, disk = "ram" }
	local len = 4096 << order
	m:pwrite(0, len, (mib << 20) // len)
	m:fsync()
	assert(m:orders()[order] == (mib << 20) // len, "other folios than asked for")
	return m
end

-- mmap, an access every `step` bytes, munmap; what the accesses and the munmap cost.
local function pass(kernel, order, mib, op, step)
	local m = cached(kernel, order, mib)
	m:mmap()
	local before = m:perf()
	m[op](m, 0, step, (mib << 20) // step)
	m:munmap()
	local p = m:perf(before)
	local c = p.counts
	return {
		us = p.ns / 1000,
		faults = c.PAGE_FAULT,
		folios = c.NEXT_FOLIO,
		calls = c.SET_PTE,
		ptes = c.PTE_STORE,
		stats = c.STAT_MAP + c.STAT_UNMAP,
		visits = c.BUFFER_VISIT + c.BUFFER_DIRTY,
	}
end

local function read_pass(kernel, order, mib)
	return pass(kernel, order, mib, "touch", 4096)
end

-- lmbench's lat_mmap: a byte every 16 KiB.
local function store_pass(kernel, order, mib)
	return pass(kernel, order, mib, "wtouch", 16384)
end

local function read_row(order, r)
	return ("| %d | %d | %d | %d | %d | %d | %.0f |"):format(order, r.faults, r.folios, r.calls, r.ptes, r.stats, r.us)
end

-- First and last of the pages whose PTEs were written; folios of one page only.
local function mapped(m)
	local first, last
	for e in m:events { name = "fl_set_pte_range" } do
		first = math.min(first or e.index, e.index)
		last = math.max(last or e.index, e.index)
	end
	return first, last
end

lab {
	title = "The mapped read and the shared write",
	summary = "Page faults: why large folios make mapped reads cheap and shared stores dear.",
	minutes = 60,
	steps = {
		step {
			id = "around",
			title = "One fault, sixteen pages",
			prepare = function(s)
				s.around = AROUND
				s.p = s.rng:int(20, 900)
				s.a = s.rng:int(20, 500)
				s.n = s.rng:int(50, 400)
				s.m = cached("v6.18", 0, 4)
				s.m:record()
				s.m:mmap()
			end,
			brief = [[
A program maps a file. Nothing is read by that, and no page table entry (**PTE**) is written: the
addresses are there, but the first access to one raises a **page fault**. The kernel looks into the page cache; if
the page is there, it writes the PTE and the program goes on.

A fault costs about a microsecond, most of it for getting in and out. So the kernel also maps cached pages
around the one that was wanted: **fault-around** (`do_fault_around()` in mm/memory.c). Its window is
64 KiB, that is {{around}} pages, **aligned**: it starts at a multiple of {{around}} pages. (Aligned in
*addresses*; xfs and ext4 place large mappings so that this is the same in the file.)

This file is cached in folios of one page and has just been mapped.
]],
			questions = {
				ask.list {
					id = "window",
					predict = true,
					text = "The program reads one byte of page **{{p}}**. Which pages does this one fault map? Give the first and the last.",
					answer = function(s)
						local m = s.m:twin()
						m:record()
						m:touch(s.p * 4096)
						return { mapped(m) }
					end,
					hints = { "Round {{p}} down to a multiple of 16; the window has 16 pages." },
				},
				ask.number {
					id = "in-order",
					predict = true,
					unit = "faults",
					text = "On a fresh mapping, another program reads a byte of each of the **{{n}}** pages {{a}} to {{a + n - 1}}, in order. "
						.. "How many faults?",
					answer = function(s)
						local m = s.m:twin()
						m:touch(s.a * 4096, 4096, s.n)
						return m:stats().faults
					end,
					hints = {
						"A page that is mapped already raises no fault. How many windows of 16 pages do the {{n}} pages touch? "
							.. "The first one starts at page {{a - a % 16}}.",
					},
				},
			},
			run = function(s)
				s.m:touch(s.p * 4096)
				print(("touch of page %d: mapped pages %d to %d"):format(s.p, mapped(s.m)))
			end,
			reveal = [[
{{n}} pages, {{n}} first accesses, and only one in about 16 of them is a fault. The neighbours' PTEs are even marked
*accessed*, though nobody has accessed them: fault-around is a guess, as readahead is.
]],
		},

		step {
			id = "stride",
			title = "Count the faults",
			prepare = function(s)
				s.step = s.rng:int(3, 15)
				s.first = s.rng:int(1, 60)
				s.n = s.rng:int(20, 120)
				s.m = cached("v6.18", 0, 8)
				s.m:mmap()
				s.count = function(first, step, n)
					local m = s.m:twin()
					m:touch(first * 4096, step * 4096, n)
					return m:stats().faults
				end
			end,
			brief = [[
Few programs read every page. A database index, a symbol table, a picture's column: they touch a page here and
a page there, and then the same window may serve several touches, or none but one.

The file of this step is cached in folios of one page, too, and freshly mapped.
]],
			questions = {
				ask.func {
					id = "faults",
					predict = true,
					points = 8,
					text = "Write `faults(first, step, n)`: how many faults a program takes that touches the `n` pages `first`, "
						.. "`first + step`, `first + 2 * step`, ... (`step` is at least 1; nothing is mapped before).",
					valid = function(s, first, step, n) return first >= 0 and step >= 1 and n >= 1 end,
					cases = function(s)
						local list = { { 0, 1, 1 }, { 0, 1, 17 }, { 15, 1, 2 }, { 0, 16, 20 }, { 5, 40, 20 }, { s.first, s.step, s.n } }
						for i = 1, 8 do
							list[#list + 1] = { s.rng:int(0, 200), s.rng:int(1, 20), s.rng:int(1, 80) }
						end
						return list
					end,
					answer = function(s, first, step, n) return s.count(first, step, n) end,
					hints = {
						"Page i is in window `i // 16`. Count how many *different* windows there are.",
						{ text = "The windows only go up: remember the last one, add 1 whenever `i // 16` differs from it.", cost = 3 },
					},
				},
				ask.number {
					id = "stride-faults",
					unit = "faults",
					text = "How many are they for {{n}} touches, one every {{step}} pages, from page {{first}} on?",
					answer = function(s) return s.count(s.first, s.step, s.n) end,
					hints = { "The last page touched is {{first + (n - 1) * step}}; with a step below 16 no window between is left out." },
				},
			},
			reveal = [[
With steps of 16 pages and more every touch is a fault, and 15 of 16 PTEs are written for nothing.
]],
		},

		step {
			id = "read-around",
			title = "A miss reads around",
			prepare = function(s)
				s.ra = s.rng:pick { 16, 32, 64, 128 }
				s.p = s.rng:int(200, 3000)
				s.new = fl.machine { kernel = "v6.18", fs = "ext4", size = "16m", disk = "nvme", ra_kb = s.ra * 4 }
				s.old = fl.machine { kernel = "v6.16", fs = "ext4", size = "16m", disk = "nvme", ra_kb = s.ra * 4 }
				for _, m in ipairs { s.new, s.old } do
					m:mmap()
				end
				s.mark_of = function(m)
					for f in m:folios() do
						if f.marked then
							return f.index
						end
					end
				end
			end,
			brief = [[
Now nothing is cached. The fault finds no page, so `filemap_fault()` reads, and waits: a **major** fault. Nobody has
told the kernel where the program goes from here. A `read()` says how many bytes it wants; an
access through a mapping says only: this address. So the kernel reads *around* it
(`do_sync_mmap_readahead()` in mm/filemap.c). Of `ra_pages` pages

- the first half lies before the page wanted, which is thus the first one of the second half;
- the last quarter begins with the mark.

`ra_pages` is **{{ra}}** here, and page **{{p}}** is touched.
]],
			questions = {
				ask.list {
					id = "read-window",
					predict = true,
					points = 6,
					text = "On v6.18: the first page read, the last page read, and the page that carries the mark?",
					answer = function(s)
						local m = s.new:twin()
						m:touch(s.p * 4096)
						local first, last
						for f in m:folios() do
							first = first or f.index
							last = f.index + f.pages - 1
						end
						return { first, last, s.mark_of(m) }
					end,
					hints = { "It starts at {{p}} - {{ra}} / 2. The mark is {{ra // 4}} pages before the end." },
				},
			},
			run = function(s)
				for _, m in ipairs { s.new, s.old } do
					m:touch(s.p * 4096)
					local from = (s.p - s.ra // 2) // 64 * 64
					print(m.kernel)
					print(m:map { from = from, to = s.p + s.ra // 2 })
				end
			end,
			reveal = [[
Up to v6.16 the same pages come in folios of order 2, from v6.17 on in single pages: `page_cache_ra_order()` now takes the order it is given
(knob HONOUR_NEW_ORDER, of the v6.17 readahead series by Ryan Roberts), and read-around asks for none. Here {{old:cached()}} pages in
{{old:counters().mm_filemap_add_to_page_cache}} folios, then in {{new:counters().mm_filemap_add_to_page_cache}}.

Whoever meets the mark starts the next window, and from there on larger folios come: a mapped file that is read in order is soon
read like any other (lab 02). Whoever jumps about pays for {{ra}} pages and uses one: lab 12.
]],
		},

		step {
			id = "order",
			title = "What a larger folio saves",
			prepare = function(s)
				s.mib = s.rng:int(3, 24)
				s.pages = s.mib * 256
				s.k = s.rng:int(2, 4)
				s.zero = read_pass("v6.16", 0, s.mib)
				s.by = { [0] = s.zero }
				for order = 1, 5 do
					s.by[order] = read_pass("v6.16", order, s.mib)
				end
				s.read_row = read_row
			end,
			brief = [[
Back to cached files. A program reads one byte of each of the {{pages}} pages of **{{mib}} MiB**, in order, then calls `munmap`. On v6.16, cached in folios of
order 0:

| order | faults | folios | calls | PTEs | updates | virtual us |
|---|---|---|---|---|---|---|
{{read_row(0, zero)}}

Fault-around (`filemap_map_pages()`) visits each **folio** in its window: looks it up and locks it; **calls** `set_pte_range()` for those of its pages that lie in the
window, all at once since v6.6 (617c28ecab22), which writes their **PTEs**; and **updates** the statistics of mapped pages (`__lruvec_stat_mod_folio()`). Unmapping
updates them again.
]],
			questions = {
				ask.number {
					id = "calls",
					predict = true,
					unit = "calls",
					text = "How many `set_pte_range()` calls if the file is cached in folios of order **{{k}}**?",
					answer = function(s) return s.by[s.k].calls end,
					hints = { "One call a folio and window. A folio of order {{k}} has {{1 << k}} pages, a window 16." },
				},
				ask.number {
					id = "order-5",
					predict = true,
					unit = "folios",
					text = "And how many *folios visited* with folios of order **5**, still on v6.16?",
					answer = function(s) return s.by[5].folios end,
					hints = { "A folio of order 5 has 32 pages, but the window ends after 16. The next fault visits the same folio again." },
				},
				ask.choice {
					id = "constant",
					predict = true,
					text = "Which of these does **not** fall from order 0 to order 4?",
					options = { "folios visited", "`set_pte_range()` calls", "PTEs written", "statistics updates" },
					answer = function(s)
						local found
						for i, key in ipairs { "folios", "calls", "ptes", "stats" } do
							if s.by[4][key] == s.by[0][key] then
								assert(not found, "two of them stay")
								found = i
							end
						end
						return found
					end,
					hints = { "The processor's page tables know nothing of folios." },
				},
			},
			run = function(s)
				print("order   faults  folios   calls    PTEs  updates  virtual us")
				for order = 0, 5 do
					local r = s.by[order]
					print(("%5d  %7d %7d %7d %7d  %7d  %10.0f"):format(order, r.faults, r.folios, r.calls, r.ptes, r.stats, r.us))
				end
				figure("read", plot.bars {
					title = "Reading a byte of every page, v6.16, virtual us by order",
					labels = { "0", "1", "2", "3", "4", "5" },
					values = { s.by[0].us, s.by[1].us, s.by[2].us, s.by[3].us, s.by[4].us, s.by[5].us },
				})
			end,
			reveal = [[
Everything that is done once a folio falls with the order. What is done once a page (a PTE, a count in each page's record) and
once a fault stays. A folio larger than the window saves little more on this kernel: the window cuts it. **None of these counts rises**: a cached
mapped read does not get slower with large folios.
]],
		},

		step {
			id = "whole",
			title = "v6.18 maps the whole folio",
			prepare = function(s)
				s.mib = 2 * s.rng:int(2, 12)
				s.pages = s.mib * 256
				s.small = s.rng:int(1, 3)
				s.large = s.rng:int(5, 8)
				s.old = read_pass("v6.17", s.large, s.mib)
				s.old_small = read_pass("v6.17", s.small, s.mib)
				s.new = read_pass("v6.18", s.large, s.mib)
				s.new_small = read_pass("v6.18", s.small, s.mib)
				s.knobs = { "WHOLE_FOLIO_AROUND", "MAP_RMW_ORDER0", "MISS_SKIP_LOCKED", "MAP_EOF_GUARD" }
			end,
			brief = [[
Why should a window of 64 KiB cut a folio in two that is in memory as one piece? Since v6.18 (357b92761d94) it does not: fault-around maps every folio
that it finds in its window **whole**, also beyond the window, if the folio fits into the mapping and into one page table.

The same read of {{mib}} MiB ({{pages}} pages) on v6.17:

| folios of order | faults |
|---|---|
| {{small}} | {{old_small.faults}} |
| {{large}} | {{old.faults}} |
]],
			questions = {
				ask.list {
					id = "whole-faults",
					predict = true,
					points = 6,
					text = "How many faults on **v6.18**, with folios of order {{small}} and of order {{large}}?",
					answer = function(s) return { s.new_small.faults, s.new.faults } end,
					hints = {
						"A folio of order {{small}} is smaller than the window: nothing changes. One of order {{large}} has "
							.. "{{1 << large}} pages, and one fault maps them all.",
					},
				},
				ask.choice {
					id = "which-knob",
					predict = true,
					text = "Take one of these changes off v6.18, and order {{large}} takes the old number of faults. Which?",
					options = function(s) return s.knobs end,
					answer = function(s)
						local found
						for i, k in ipairs(s.knobs) do
							if read_pass("v6.18-" .. k, s.large, s.mib).faults > s.new.faults then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "Which name speaks of folios and of fault-around?" },
				},
			},
			run = function(s)
				for _, k in ipairs(s.knobs) do
					print(("v6.18-%-20s %6d faults"):format(k, read_pass("v6.18-" .. k, s.large, s.mib).faults))
				end
				print(("v6.18%-21s %6d faults"):format("", s.new.faults))
			end,
			reveal = [[
{{old.faults}} faults became {{new.faults}}, and {{("%.0f"):format(old.us)}} virtual us became {{("%.0f"):format(new.us)}}. There is one exception that you may meet
in traces: a folio that reaches the *last* page of the file is not mapped whole by fault-around, nor by one large entry (74207de2ba10): pages beyond the end of the
file must stay out of reach.
]],
		},

		step {
			id = "store",
			title = "The shared store asks the file system",
			prepare = function(s)
				s.mib = 2 * s.rng:int(3, 16)
				s.stores = (s.mib << 20) // 16384
				s.k = s.rng:int(1, 4)
				s.by = {}
				for order = 0, 5 do
					s.by[order] = store_pass("v6.16", order, s.mib)
				end
				s.before = store_pass("v6.16-EXT4_LARGE", 0, s.mib)
			end,
			brief = [[
Storing is another matter. In a *shared* mapping a store must reach the file, so before a page becomes writable the kernel asks the file
system: `page_mkwrite`. There is no fault-around: one fault, one page.

ext4 keeps a record (a **buffer**) for every block of a folio. `block_page_mkwrite()` works on the **whole folio**, whichever page is stored to: it walks
all its buffers to prepare them, to commit them, and to mark them dirty; then the fault marks the folio dirty once more. Those are
**4 walks**. When the dirty PTE is unmapped, the folio is marked dirty again: a **5th walk**.

lmbench's `lat_mmap` stores a byte every 16 KiB and unmaps. Here it does so over {{mib}} MiB of cached file, that is **{{stores}} stores**, on
v6.16, with blocks of 4 KiB: one buffer a page. With folios of order 0 they are {{stores}} faults and {{by[0].visits}} visits of a buffer.
]],
			questions = {
				ask.number {
					id = "visits",
					predict = true,
					points = 6,
					unit = "visits",
					text = "How many buffer visits with folios of order **{{k}}**?",
					answer = function(s) return s.by[s.k].visits end,
					hints = {
						"v6.16 maps one page a store, so there are {{stores}} faults again, also where several stores fall into one folio.",
						"Each fault makes 4 walks over {{1 << k}} buffers, each PTE unmapped another.",
					},
				},
				ask.number {
					id = "growth",
					percent = 5,
					unit = "%",
					text = "By how many percent is the pass dearer with order {{k}} than with order 0? (From the table.)",
					answer = function(s) return 100 * (s.by[s.k].us / s.by[0].us - 1) end,
					hints = { "100 * (new / old - 1)." },
				},
			},
			run = function(s)
				print("order   faults   buffer visits  virtual us")
				for order = 0, 5 do
					local r = s.by[order]
					print(("%5d  %7d  %14d  %10.1f"):format(order, r.faults, r.visits, r.us))
				end
				figure("store", plot.bars {
					title = "A byte stored every 16 KiB, v6.16, virtual us by order",
					labels = { "0", "1", "2", "3", "4", "5" },
					values = { s.by[0].us, s.by[1].us, s.by[2].us, s.by[3].us, s.by[4].us, s.by[5].us },
				})
			end,
			reveal = [[
This is the best-supported explanation of the report. The benchmark's file is written by lmbench's `lmdd`, 8 KiB at a time: with ext4's large folios (7ac67301e82f) these
are folios of **order 1**, before it single pages. The report has 94.2K us before and 103.5K at the commit: {{("%+.1f"):format(100 * (103.5 / 94.2 - 1))}} %. Here, for {{mib}} MiB:
{{("%.0f"):format(before.us)}} us before, {{("%.0f"):format(by[1].us)}} with order 1: {{("%+.1f"):format(100 * (by[1].us / before.us - 1))}} %. The metric is called "MMAP.read.latency", but
its unit and size fit only the tool that stores. What a metric is called is not what it measures.
]],
		},

		step {
			id = "store-618",
			title = "v6.18 pays once a folio",
			prepare = function(s)
				s.mib = 2 * s.rng:int(3, 16)
				s.stores = (s.mib << 20) // 16384
				s.old, s.new = {}, {}
				for order = 1, 5 do
					s.old[order] = store_pass("v6.16", order, s.mib)
					s.new[order] = store_pass("v6.18", order, s.mib)
				end
			end,
			brief = [[
v6.18 also maps the whole folio where a fault ends (19773df031bc, `finish_fault()`): after *one* store **all pages of the folio** are mapped, writable and dirty. The
walks do not get shorter, but the next store to the same folio raises no fault.

Again a store every 16 KiB (every 4th page), {{stores}} of them. v6.16 made {{stores}} faults whatever the order.
]],
			questions = {
				ask.list {
					id = "store-visits",
					predict = true,
					points = 6,
					text = "How many **buffer visits** on v6.18 with folios of order 1, 2, 3 and 4? (Four numbers; 5 walks over the folio each time it is faulted in.)",
					answer = function(s)
						local list = {}
						for order = 1, 4 do
							list[order] = s.new[order].visits
						end
						return list
					end,
					hints = {
						"First the faults: with order 1 and 2 each store meets a folio of its own; a folio of order 3 (8 pages) takes 2 stores, order 4 takes 4.",
					},
				},
				ask.choice {
					id = "worse",
					predict = true,
					text = "At which of these orders is v6.18 *dearer* than v6.16 for this program?",
					options = { "order 2", "order 3", "order 4", "order 5" },
					answer = function(s)
						local found
						for i = 1, 4 do
							if s.new[i + 1].us > s.old[i + 1].us then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "Where it saves no fault, but writes more PTEs for each." },
				},
			},
			run = function(s)
				print("            v6.16                          v6.18")
				print("order  faults   visits        us     faults   visits        us")
				for order = 1, 5 do
					local a, b = s.old[order], s.new[order]
					print(("%5d  %6d %8d  %8.0f     %6d %8d  %8.0f"):format(order, a.faults, a.visits, a.us, b.faults, b.visits, b.us))
				end
			end,
			reveal = [[
From order 2 on the visits stay the same: each buffer of the file is walked 5 times, whatever the folios. (With order 1 and 2 v6.18 writes more PTEs for the same faults, and that is all its loss.) The price is elsewhere: after one stored byte all {{1 << 5}} pages of a folio of order 5 are dirty and
will be written to the disk.
]],
		},

		step {
			id = "choose",
			title = "Folios for sparse stores",
			prepare = function(s)
				s.n = s.rng:int(20, 100)
				s.gap = s.rng:pick { 16, 24, 32, 40, 48, 64 }
				s.first = s.rng:int(1, 40)
				s.play = function(w)
					local m = fl.machine { kernel = "v6.16", fs = "ext4", size = "32m", disk = "nvme", record = true }
					m:play(w)
					local c = m:counters()
					local p = m:perf().counts
					return m, p.BUFFER_VISIT + p.BUFFER_DIRTY, c.fl_page_mkwrite
				end
				s.naive = ("mmap; wtouch %dk %dk %d; munmap"):format(s.first * 4, s.gap * 4, s.n)
				s.naive_m, s.naive_visits = s.play(s.naive)
			end,
			brief = [[
A program keeps a hash table in a file of 32 MiB on ext4, v6.16. Nothing is cached. It stores one byte in each of **{{n}}** pages: pages {{first}}, {{first + gap}},
{{first + 2 * gap}}, ... (every {{gap}} pages), through a shared mapping, and unmaps:

    {{naive}}

Read-around brings folios of order 2, so that this visits {{naive_visits}} buffers and reads {{naive_m:stats().pages.read}} pages.
]],
			questions = {
				ask.workload {
					id = "sparse",
					points = 8,
					max_ops = 3000,
					text = "Write a workload that stores to exactly these pages through a mapping (`wtouch`) and unmaps (`munmap`), with at most "
						.. "**{{5 * n}}** buffer visits, and reads no more than {{n}} pages.",
					check = function(s, w)
						local m, visits, stores = s.play(w)
						local seen, want = {}, 0
						for e in m:events { name = "fl_page_mkwrite" } do
							seen[e.index] = true
						end
						for i = 0, s.n - 1 do
							local page = m:page(s.first + i * s.gap)
							if not page or not page.folio.dirty then
								return false, ("page %d is not dirty"):format(s.first + i * s.gap)
							end
							want = want + 1
						end
						if m:counters().fl_page_mkwrite ~= want then
							return false, ("%d pages became writable, expected %d"):format(stores, want)
						end
						if m:stats().pages.read > s.n then
							return false, ("%d pages were read, expected at most %d"):format(m:stats().pages.read, s.n)
						end
						if visits > 5 * s.n then
							return false, ("%d buffers were visited, expected at most %d"):format(visits, 5 * s.n)
						end
						if visits < 5 * s.n then
							return false, ("%d buffers were visited: munmap is missing"):format(visits)
						end
						return true
					end,
					hints = {
						"Folios of one page would do. How does one tell the kernel that read-around is of no use? (`madvise`, on the mapping.)",
						{ text = "`madvise random` between `mmap` and `wtouch`.", cost = 3 },
					},
				},
			},
			reveal = [[
`MADV_RANDOM` makes each miss read one page into a folio of its own: fewer buffers, no page read in vain, and no neighbour. What it costs, and when the
kernel finds out by itself, is lab 12.
]],
		},
	},
}
