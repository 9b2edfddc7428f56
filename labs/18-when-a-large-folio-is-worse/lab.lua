-- Lab 18: one bio an extent; one a block; which folios break; what the disk sees; small folios on purpose.

local PAGE = 4096
-- A huge mapping's fault reads the whole of a small file in one window, in folios as large as can be.
local WHOLE = "mmap; madvise hugepage; touch 0"

local function machine(kernel, fs, pages, extent)
	return fl.machine { kernel = kernel, fs = fs, size = pages * PAGE, disk = "ram", extent_blocks = extent, ra_kb = 128 }
end

local function whole(kernel, fs, pages, extent)
	local m = machine(kernel, fs, pages, extent)
	m:play(WHOLE)
	return m, m:stats().bios
end

local function folios(m)
	local list = {}
	for f in m:folios() do
		list[#list + 1] = { index = f.index, order = f.order }
	end
	return list
end

local function orders_text(m)
	local list = {}
	for f in m:folios() do
		list[#list + 1] = f.order
	end
	return table.concat(list, " ")
end

-- A cold file of 4 MiB, read in pieces of 64 KiB.
local function stream(kernel, extent)
	local m = machine(kernel, "ext4", 1024, extent)
	m:play("read 64k 64")
	return m, m:stats()
end

lab {
	title = "When a large folio is worse",
	summary = "One break in a large folio, and ext4 reads it block by block: count, predict, avoid.",
	minutes = 40,
	steps = {
		step {
			id = "extents",
			title = "One bio an extent",
			prepare = function(s)
				s.pages = s.rng:int(60, 250)
				s.extent = s.rng:int(5, 22)
				s.m = fl.machine { kernel = "v6.12", fs = "ext4", size = s.pages * PAGE, disk = "ram", extent_blocks = s.extent,
					ra_kb = 1024, io_kb = 1024 }
				s.done = s.m:twin()
				s.done:pread(0, s.pages * PAGE)
				s.example = fl.machine { kernel = "v6.12", fs = "ext4", size = 100 * PAGE, disk = "ram", extent_blocks = 40,
					ra_kb = 1024, io_kb = 1024 }
				s.example:pread(0, 100 * PAGE)
			end,
			brief = [[
A file's blocks lie on the disk in **extents**: runs of blocks that follow each other in the file and on the disk. A fresh file on an empty disk is one extent. A file that grew
slowly on a full disk is many.

The file system asks the disk by **bios**. A bio reads one run of blocks into any number of folios. So the reader keeps a bio open and adds folio after folio, as long as the next one
lies right behind on the disk; where it does not, a *break*, it sends the bio and opens another.

All files in this lab have blocks of 4 KiB, the size of a page, and are cut into extents of equal length that lie a block apart. A file of 100 pages with extents
of 40 blocks (40, 40, 20), read at once on v6.12, where every folio on ext4 is one page, takes {{example:stats().bios}} bios.
]],
			questions = {
				ask.number {
					id = "small",
					predict = true,
					unit = "bios",
					text = "Your file has **{{pages}} pages** and extents of **{{extent}} blocks**. It is read in one call and one window on v6.12. How many bios?",
					answer = function(s) return s.done:stats().bios end,
					hints = { "{{pages}} / {{extent}}, rounded up: the last extent may be shorter." },
				},
			},
			run = function(s)
				s.m:pread(0, s.pages * PAGE)
				print(("%d folios, %d bios."):format(s.m:cached(), s.m:stats().bios))
			end,
			reveal = [[
{{m:cached()}} folios, {{m:stats().bios}} bios. Folios of one block cannot be broken: a break is always *between* two of them.
]],
		},

		step {
			id = "one-break",
			title = "One break in one folio",
			prepare = function(s)
				s.order = s.rng:int(4, 8)
				s.pages = 1 << s.order
				s.extent = s.rng:int(s.pages // 4 + 1, s.pages - 2)
				s.ext4, s.ext4_bios = whole("v6.18", "ext4", s.pages, s.extent)
				s.xfs, s.xfs_bios = whole("v6.18", "xfs", s.pages, s.extent)
				s.one, s.one_bios = whole("v6.18", "ext4", s.pages, s.pages)
				s.wide = s.pages < 64 and s.pages or 64
				-- A wide file for the second question: many extents in one folio.
				s.cut = s.rng:int(3, 30)
				s.many, s.many_bios = whole("v6.18", "xfs", 256, s.cut)
			end,
			brief = [[
Since v6.16 regular files on ext4 get large folios (7ac67301e82f), and `ext4_mpage_readpages()` goes by the folio (fdbd0df9d4a3). A file of {{pages}} pages in **one folio of order {{order}}**
(this kernel is v6.18; a page fault in a mapping with MADV_HUGEPAGE reads it so):

```
{{one:map{ to = wide - 1 }}}
```

If the file is one extent, that is {{one_bios}} bio. For each folio the kernel looks up where its first block lies and how far the extent goes. If that does not cover the folio, it looks up the next
block. If *that* does not lie right behind the first run, or the folio has data behind a hole, the kernel gives up: the folio is **confused**, and goes to
`block_read_full_folio()` (fs/buffer.c), which is older than bios of many blocks. It sends **one bio for every block**.

Your file of {{pages}} pages has extents of **{{extent}} blocks**.
]],
			questions = {
				ask.number {
					id = "confused",
					predict = true,
					unit = "bios",
					text = "How many bios fill the folio on **ext4**?",
					answer = function(s) return s.ext4_bios end,
					hints = { "The extents end inside the folio. All of its {{pages}} blocks must be read." },
				},
				ask.number {
					id = "xfs",
					predict = true,
					unit = "bios",
					text = "xfs reads by iomap, which keeps for each folio how many bytes are still to come and adds it to *several* bios, one an extent. A file of 256 pages, one folio of "
						.. "order 8, with extents of **{{cut}} blocks** on **xfs**: how many bios?",
					answer = function(s) return s.many_bios end,
					hints = { "One an extent: 256 / {{cut}}, rounded up." },
				},
			},
			run = function(s)
				print(("%d pages, extents of %d blocks: ext4 sends %d bios, xfs %d."):format(s.pages, s.extent, s.ext4_bios, s.xfs_bios))
				print(("256 pages, extents of %d blocks: xfs sends %d."):format(s.cut, s.many_bios))
			end,
			reveal = [[
{{ext4_bios}} on ext4, {{xfs_bios}} on xfs, for the same layout and the same folio. On ext4 it does not matter how many breaks there are: one is enough.
]],
		},

		step {
			id = "which",
			title = "Which folios break",
			prepare = function(s)
				repeat
					s.pages = s.rng:int(40, 250)
					s.extent = s.rng:int(s.pages // 3, s.pages - 4)
					s.m, s.bios = whole("v6.18", "ext4", s.pages, s.extent)
					s.all = folios(s.m)
				until #s.all >= 3 and s.bios > 3
				s.orders = orders_text(s.m)
				s.breaks = {}
				for at = s.extent, s.pages - 1, s.extent do
					s.breaks[#s.breaks + 1] = tostring(at)
				end
				s.breaks = table.concat(s.breaks, " and ")
				s.cold = machine("v6.18", "ext4", s.pages, s.extent)
			end,
			brief = [[
Only the folio that has the break *inside* is confused. Others go into bios as before: a bio stays open from folio to folio, as long as the next lies right behind it, and is sent before a confused
folio, at a break between folios, and at the end.

A file of **{{pages}} pages**, read in one window into folios of orders **{{orders}}**:

```
{{m:map{ to = (pages + 63) // 64 * 64 - 1 }}}
```

Its extents have **{{extent}} blocks**, so there are breaks right before page {{breaks}}.
]],
			questions = {
				ask.number {
					id = "some",
					predict = true,
					points = 5,
					unit = "bios",
					text = "How many bios does ext4 send for this file?",
					answer = function(s) return s.bios end,
					hints = {
						"Which folio holds both the page before a break and the page behind it? It costs a bio for each of its pages.",
						"Count the runs of unbroken folios before, between and behind the confused ones; each run is one bio, or two if a break lies between two of its folios.",
					},
				},
				ask.func {
					id = "bios",
					points = 10,
					text = "Write `bios(folios, extent)`: the number of bios ext4 sends for one window. `folios` is a list of `{ index = ..., order = ... }` in ascending order and without gaps, "
						.. "from page 0; the extents have `extent` blocks each.",
					check = function(s, f)
						local cases = { { 256, 256 }, { 256, 125 }, { 96, 64 }, { 100, 1000 }, { 192, 128 }, { 250, 1 } }
						for i = 1, 24 do
							cases[#cases + 1] = { s.rng:int(5, 500), s.rng:int(2, 300) }
							cases[#cases + 1] = { 2 * s.rng:int(20, 250), s.rng:pick { 16, 32, 64, 128, 48, 96 } }
						end
						for _, c in ipairs(cases) do
							local m, want = whole("v6.18", "ext4", c[1], c[2])
							local got = f(folios(m), c[2])
							if got ~= want then
								return false, ("folios of orders %s, extents of %d blocks: it returned %s, ext4 sends %d bios"):format(orders_text(m), c[2], tostring(got), want)
							end
						end
						return true
					end,
					hints = {
						"Page p is in extent `p // extent`. A folio is confused if its first and its last page are in different extents.",
						"Keep the extent of the open bio in a variable, nil if none is open. An unbroken folio needs a new bio if that is not its own extent; a confused one leaves none open.",
						{ text = "So: confused: `n = n + (1 << order)`, `open = nil`; else: `if open ~= e then n = n + 1 end`, `open = e`.", cost = 3 },
					},
				},
			},
			run = function(s)
				print(("%d folios, %d bios."):format(#s.all, s.bios))
			end,
			reveal = [[
{{bios}} bios for {{#all}} folios. The larger the folio, the more likely it is that a break falls into it, and the dearer it is then.
]],
		},

		step {
			id = "disk",
			title = "What the disk sees",
			prepare = function(s)
				s.extent = s.rng:int(33, 90)
				if s.extent == 64 then
					s.extent = 65
				end
				s.old, s.old_stats = stream("v6.12", s.extent)
				s.new, s.new_stats = stream("v6.18", s.extent)
				s.lengths = s.rng:shuffle {
					32 * s.rng:int(1, 4), s.rng:int(5, 15), 2 * s.rng:int(10, 15), 32 * s.rng:int(1, 3) + 2 * s.rng:int(1, 15),
				}
				s.fives, s.broken = 0, 0
				for f in s.new:folios() do
					if f.order == 5 then
						s.fives = s.fives + 1
						if f.index // s.extent ~= (f.index + 31) // s.extent then
							s.broken = s.broken + 1
						end
					end
				end
				s.ms = function(ns) return ("%.2f"):format(ns / 1e6) end
			end,
			brief = [[
Now the everyday case: a program reads a cold file of 4 MiB, 64 KiB a call, with windows of 32 pages. On v6.18 the first windows have small folios, all others are one folio of order 5, that starts at a multiple of 32:

```
{{new:map{ to = 255 }}}
```

(and so on to page 1023; there are {{fives}} folios of order 5.) The extents have **{{extent}} blocks**.
]],
			questions = {
				ask.number {
					id = "broken",
					predict = true,
					points = 5,
					unit = "folios",
					text = "How many of the {{fives}} folios of order 5 have a break inside?",
					answer = function(s) return s.broken end,
					hints = {
						"Breaks lie right before the multiples of {{extent}} below 1024. A break at a multiple of 32 falls between folios; those below page {{1024 - 32 * fives}} hit the small ones.",
						"An extent is longer than a folio, so no folio has two breaks: count the breaks that hit one.",
					},
				},
				ask.choice {
					id = "harmless",
					predict = true,
					text = "For one of these extent lengths v6.18 sends no bio more than v6.12. Which?",
					options = function(s)
						local list = {}
						for i, n in ipairs(s.lengths) do
							list[i] = ("%d blocks"):format(n)
						end
						return list
					end,
					answer = function(s)
						local found
						for i, n in ipairs(s.lengths) do
							local _, a = stream("v6.12", n)
							local _, b = stream("v6.18", n)
							if b.bios <= a.bios then
								assert(not found, "two of them are harmless")
								found = i
							end
						end
						return found
					end,
					hints = { "All breaks must fall between folios, and those of order 5 start at multiples of 32." },
				},
			},
			run = function(s)
				print("                    v6.12        v6.18")
				print(("folios         %10d   %10d"):format(s.old:counters().mm_filemap_add_to_page_cache, s.new:counters().mm_filemap_add_to_page_cache))
				print(("bios           %10d   %10d"):format(s.old_stats.bios, s.new_stats.bios))
				print(("disk requests  %10d   %10d"):format(s.old_stats.ios, s.new_stats.ios))
				print(("virtual ms     %10s   %10s"):format(s.ms(s.old_stats.virtual_ns), s.ms(s.new_stats.virtual_ns)))
			end,
			reveal = [[
{{broken}} of {{fives}} are broken: {{old_stats.bios}} bios became {{new_stats.bios}}. But the disk got {{new_stats.ios}} requests, where v6.12 sent {{old_stats.ios}}: the block layer holds bios back in the
submitter's *plug* for a moment and merges neighbours into one request. So a broken folio costs no seeks. It costs the CPU a buffer head, a bio, a merge and a completion for each block.

In virtual time the file took {{ms(old_stats.virtual_ns)}} ms on v6.12 and {{ms(new_stats.virtual_ns)}} ms on v6.18. Whether large folios win depends on how many are broken: what they save by the page
against what they lose by the block.
]],
		},

		step {
			id = "small-again",
			title = "Small folios on purpose",
			prepare = function(s)
				s.extent = s.rng:int(9, 31)
				s.m, s.stats = stream("v6.18", s.extent)
				s.extents = (1024 + s.extent - 1) // s.extent
				s.limit = s.extents + 8
				s.old, s.old_stats = stream("v6.12", s.extent)
			end,
			brief = [[
A badly fragmented file: 4 MiB in {{extents}} extents of {{extent}} blocks. Read by a program in pieces of 64 KiB it takes {{stats.bios}} bios on v6.18, and {{old_stats.bios}} on v6.12. There is no switch for large folios
on a file. But not every way to read ahead asks for them: advice from the program (lab 04) is carried out by the old code, which fills its windows with single pages.
]],
			questions = {
				ask.workload {
					id = "fewer",
					points = 8,
					max_ops = 400,
					text = "Read all 4 MiB of this file on v6.18, in ascending order, no byte twice and with no `read` or `pread` longer than 64 KiB, with at most **{{limit}} bios** in all. "
						.. "Any advice is allowed.",
					check = function(s, w)
						local m = fl.machine { kernel = "v6.18", fs = "ext4", size = "4m", disk = "ram", extent_blocks = s.extent, record = true }
						m:play(w)
						local at = 0
						for e in m:events { name = "fl_read" } do
							if e.bytes > 65536 then
								return false, ("a read of %d bytes, expected at most 65536"):format(e.bytes)
							end
							if e.bytes > 0 and e.pos ~= at then
								return false, ("a read at byte %d, expected %d"):format(e.pos, at)
							end
							at = at + e.bytes
						end
						if at ~= 4 << 20 then
							return false, ("%d bytes were read, expected %d"):format(at, 4 << 20)
						end
						local bios = m:stats().bios
						if bios > s.limit then
							return false, ("%d bios, expected at most %d"):format(bios, s.limit)
						end
						return true
					end,
					hints = {
						"`fadvise random 0 0` gives single pages, but each read then ends its bios. Which advice reads far ahead *before* the first read?",
						{ text = "`fadvise willneed 0 0`, or `readahead 0 4m`; then `read 64k 64`.", cost = 3 },
					},
				},
			},
			reveal = [[
{{extents}} extents, and little more than as many bios. It is no advice for everyday files: whole folios in whole extents are read in fewer steps than single pages. Measure first; `filefrag -v FILE` shows a real file's
extents, and `foliolab run --file FILE` on a mounted ext4 plays them.
]],
		},
	},
}
