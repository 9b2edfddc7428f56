-- Lab 07: the read loop of tmpfs before and after f3650ef89b87 and a284cb8472ec (v6.13): turns, their price, holes.

-- Writes make folios of the size of the write (acd7ccb284b8), so that a file can be laid out as a question needs it.
local BEFORE = "v6.12+acd7ccb284b8"
local PATCH1 = BEFORE .. "+f3650ef89b87"
local AFTER = PATCH1 .. "+a284cb8472ec"

-- A tmpfs file of `size` bytes; `folios`: { index = , order = }, all else is a hole.
local function file(kernel, size, folios)
	local m = fl.machine { kernel = kernel, fs = "tmpfs-always", size = size }
	for _, f in ipairs(folios) do
		m:pwrite(f.index * 4096, 4096 << f.order)
		assert(m:page(f.index).folio.order == f.order, "another folio than asked for")
	end
	return m
end

-- `n` folios of one order, from the file's start; the file is as long as they are.
local function even(kernel, order, n)
	local list = {}
	for i = 1, n do
		list[i] = { index = (i - 1) << order, order = order }
	end
	return file(kernel, n * (4096 << order), list)
end

-- What one pread() does: lookups, ns, and by turns the bytes asked for and copied.
local function look(machine, off, len)
	local m = machine:twin()
	m:record()
	local p, n = m:perf(), m:counters().fl_shmem_lookup or 0
	local r = { bytes = m:pread(off, len), asked = {}, copied = {} }
	r.turns = m:counters().fl_shmem_lookup - n
	r.perf = m:perf(p)
	r.ns = r.perf.ns
	for e in m:events { name = "fl_shmem_copy" } do
		r.asked[#r.asked + 1] = e.asked
		r.copied[#r.copied + 1] = e.copied
	end
	return r
end

-- The same without the list, on a machine that may be played on.
local function turns(m, off, len)
	local n = m:counters().fl_shmem_lookup or 0
	m:pread(off, len)
	return (m:counters().fl_shmem_lookup or 0) - n
end

-- How much faster reads of `len` bytes are than they were, in per cent; folios of `order`.
local function gain(order, len)
	local n = math.max(2, 2 * len // (4096 << order))
	local before, after = look(even(BEFORE, order, n), 0, len), look(even(AFTER, order, n), 0, len)
	return (before.ns / after.ns - 1) * 100
end

local function join(list)
	return table.concat(list, ", ")
end

-- The same with repeats counted: "100, 7 x 4096, 20".
local function runs(list)
	local parts, i = {}, 1
	while i <= #list do
		local n = 1
		while list[i + n] == list[i] do
			n = n + 1
		end
		parts[#parts + 1] = n == 1 and ("%d"):format(list[i]) or ("%d x %d"):format(n, list[i])
		i = i + n
	end
	return join(parts)
end

local function gib_s(bytes, ns)
	return bytes / (1 << 30) / (ns / 1e9)
end

lab {
	title = "Page by page or folio by folio",
	summary = "tmpfs reads before and after v6.13: turns of a loop, what each costs, where the 20 % come from.",
	minutes = 45,
	steps = {
		step {
			id = "pages",
			title = "A page a turn",
			prepare = function(s)
				s.off = s.rng:int(3, 200) * 4096 + s.rng:int(200, 3800)
				s.short = 8192 + s.rng:int(100, 3900)
				s.long = s.rng:int(60, 900) * 1000 + s.rng:int(1, 999)
				s.m = even(BEFORE, 9, 2)
				s.join, s.look = join, look
			end,
			brief = [[
**tmpfs** is a file system that lives in the page cache alone: `/dev/shm`, often `/tmp`, what `memfd_create()` returns. There
is no disk behind it. A read finds the page and copies it, and that is all; so every nanosecond of the loop around the copy shows.

Up to v6.12 that loop, `shmem_file_read_iter()` in mm/shmem.c, takes one **turn** a page. In each turn it

1. looks the page up in the cache (`shmem_get_folio()`: take a reference, lock, check, unlock),
2. marks it as used,
3. calls `copy_page_to_iter()` for what this page has of the request, and puts the reference back.

This file was written in two pieces of 2 MiB on a mount with `huge=always`. It is two folios of order 9:

```
{{m:map{ from = 0, to = 127 }}}
```

(and so on: page 511 is the last of the first.)
]],
			questions = {
				ask.list {
					id = "pieces",
					predict = true,
					text = "A program reads **{{short}} bytes at byte {{off}}**. How many bytes does each turn copy, in order?",
					answer = function(s) return look(s.m, s.off, s.short).copied end,
					hints = {
						"Byte {{off}} is byte {{off % 4096}} of page {{off // 4096}}. The first turn ends where that page ends.",
					},
				},
				ask.number {
					id = "turns-before",
					predict = true,
					unit = "turns",
					text = "Now **{{long}} bytes at byte {{off}}**. How many turns?",
					answer = function(s) return look(s.m, s.off, s.long).turns end,
					hints = {
						"Count the pages touched: the first byte is in page {{off // 4096}}, the last one is byte {{off + long - 1}}.",
					},
				},
			},
			run = function(s)
				local r = look(s.m, s.off, s.short)
				print(("read %d at %d: %d bytes in %d turns"):format(s.short, s.off, r.bytes, r.turns))
				print("copied:", join(r.copied))
				print("asked: ", join(r.asked))
				print(("read %d at %d: %d turns"):format(s.long, s.off, look(s.m, s.off, s.long).turns))
			end,
			reveal = [[
All of that for pages that lie in *one* folio: the same folio is looked up, locked, unlocked and let go in every turn.

Look at what the last turn of the short read **asked** for: more than was left of the request. The old loop always asks for the rest
of the page and leaves it to the copy to stop. That is the small untidiness the first patch of the series removes.
]],
		},

		step {
			id = "folios",
			title = "A folio a turn",
			prepare = function(s)
				s.border = 512 * 4096
				s.off = s.border - s.rng:int(5, 200) * 4096 + s.rng:int(100, 4000)
				s.len = s.border - s.off + s.rng:int(5, 150) * 4096 + s.rng:int(1, 4000)
				s.m = even(AFTER, 9, 2)
				s.order = s.rng:int(2, 6)
				s.small = even(AFTER, s.order, 512 >> s.order)
				s.small_off = s.rng:int(1, 60) * 4096 + s.rng:int(100, 4000)
				s.small_len = s.rng:int(150, 400) * 4096 + s.rng:int(1, 4000)
				s.look = look
			end,
			brief = [[
Baolin Wang's series (linux-mm, 16 Oct 2024, "[PATCH 0/2] Improve the tmpfs large folio read performance"; in v6.13) changes the loop in two steps:

- f3650ef89b87 keeps the position in one place and asks for no more than is wanted. Still a page a turn.
- a284cb8472ec lets a turn cover **all that the request wants of the folio**: one lookup, one `copy_folio_to_iter()`.

In this lab *before* is v6.12, *after* is v6.12 with these two commits. (Both also have acd7ccb284b8 of v6.14, whose writes make folios
of the write's size: without it a file could not be laid out in smaller folios here. It has nothing to do with reading.)

Again the file of two folios of order 9, with their border at byte {{border}}.
]],
			questions = {
				ask.list {
					id = "pieces-after",
					predict = true,
					text = "*After*, a program reads **{{len}} bytes at byte {{off}}**. How many bytes does each turn copy, in order?",
					answer = function(s) return look(s.m, s.off, s.len).copied end,
					hints = { "The first turn ends where the first folio ends, at byte {{border}}." },
				},
				ask.number {
					id = "turns-after",
					predict = true,
					unit = "turns",
					text = "Another file consists of folios of order {{order}} only. *After*, how many turns does a read of **{{small_len}} bytes at "
						.. "byte {{small_off}}** take?",
					answer = function(s) return look(s.small, s.small_off, s.small_len).turns end,
					hints = {
						"The sum of the first step, with {{4096 << order}} bytes instead of 4096.",
					},
				},
				ask.choice {
					id = "patch1",
					predict = true,
					text = "f3650ef89b87 *without* a284cb8472ec: what does it change about this read's turns?",
					options = {
						"nothing: as many turns as before",
						"half as many turns",
						"as many turns as with both",
						"one turn more",
					},
					answer = function(s)
						local m = even(PATCH1, 9, 2)
						local one, old = look(m, s.off, s.len).turns, look(even(BEFORE, 9, 2), s.off, s.len).turns
						local both = look(s.m, s.off, s.len).turns
						return one == old and 1 or one == both and 3 or one * 2 == old and 2 or 4
					end,
					hints = { "Which of the two makes a turn cover more than a page?" },
				},
			},
			run = function(s)
				for _, k in ipairs { { "before", BEFORE }, { "f3650ef89b87", PATCH1 }, { "after", AFTER } } do
					local r = look(even(k[2], 9, 2), s.off, s.len)
					print(("%-13s %4d turns, the last one asks for %d bytes and gets %d"):format(k[1], r.turns, r.asked[#r.asked],
						r.copied[#r.copied]))
				end
			end,
			reveal = [[
One *call* a folio does not mean one `memcpy` a folio: inside the call the copy still goes page by page, as memory may be mapped that way.
What is saved is the lookup, the lock, the reference and the call, for all pages of a folio but one.
]],
		},

		step {
			id = "holes",
			title = "Holes",
			prepare = function(s)
				local a, b = s.rng:int(2, 5), s.rng:int(2, 5)
				s.hole = s.rng:int(20, 60)
				-- a folio, a hole, a folio behind it at a multiple of its size, and the read's ends inside the two
				s.first = { index = 0, order = a }
				s.second = { index = ((1 << a) + s.hole + (1 << b) - 1) >> b << b, order = b }
				s.hole = s.second.index - (1 << a)
				s.size = (s.second.index + (1 << b)) * 4096
				s.from = s.rng:int(100, 4000)
				s.len = s.size - s.from - s.rng:int(100, 4000)
				s.before, s.m = file(BEFORE, s.size, { s.first, s.second }), file(AFTER, s.size, { s.first, s.second })
				s.pages = s.size // 4096
				s.look = look
				s.reserved = fl.machine { kernel = AFTER, fs = "tmpfs-always", size = "2m" }
				s.reserved:fallocate(0, "2m")
				s.reserved_turns = look(s.reserved, 0, 2 << 20).turns
			end,
			brief = [[
A file may have **holes**: ranges that were never written and take no memory. In tmpfs a hole has no folio at all. Reading it gives zeros,
which the kernel copies from a page of zeros that it keeps for everyone.

This file has {{pages}} pages, two folios and a hole of {{hole}} pages between them:

```
{{m:map{ from = 0, to = pages - 1 }}}
```
]],
			questions = {
				ask.number {
					id = "hole-turns",
					predict = true,
					points = 6,
					unit = "turns",
					text = "*After*, how many turns does a read of **{{len}} bytes at byte {{from}}** take? It starts in the file's first page and ends in its "
						.. "last one.",
					answer = function(s) return look(s.m, s.from, s.len).turns end,
					hints = {
						"Each of the two folios is one turn. How long is the thing that is copied for a hole?",
						"The zeros come from **one page**, so a turn over a hole covers a page, however long the hole is.",
					},
				},
				ask.number {
					id = "hole-saved",
					unit = "turns",
					text = "How many turns fewer is that than *before*?",
					answer = function(s) return look(s.before, s.from, s.len).turns - look(s.m, s.from, s.len).turns end,
					hints = { "Before, it took a turn a page: {{pages}}." },
				},
			},
			run = function(s)
				print(("before: %d turns, after: %d turns"):format(look(s.before, s.from, s.len).turns, look(s.m, s.from, s.len).turns))
				print("copied, after:  " .. runs(look(s.m, s.from, s.len).copied))
			end,
			reveal = [[
A hole gains nothing. Nor does a range that is only reserved: `fallocate()` makes folios whose content is not there yet (not *uptodate*), and the loop treats them as a
hole: a reserved folio of 2 MiB, read in one call, takes {{reserved_turns}} turns.
]],
		},

		step {
			id = "rule",
			title = "Foresee the turns",
			prepare = function(s)
				s.folios = {}
				local at = s.rng:int(0, 3)
				for i = 1, 9 do
					local order = s.rng:int(0, 5)
					at = (at + (1 << order) - 1) >> order << order
					s.folios[i] = { index = at, order = order }
					at = at + (1 << order) + (s.rng:int(0, 2) == 0 and s.rng:int(1, 12) or 0)
				end
				s.size = (at + s.rng:int(0, 6)) * 4096 + s.rng:int(1, 4000)
				s.before, s.after = file(BEFORE, s.size, s.folios), file(AFTER, s.size, s.folios)
			end,
			brief = [[
Everything together: this file has {{size}} bytes in folios and holes, and its last page is not full.

```
{{after:map{ from = 0, to = size // 4096 }}}
```

A read ends at the end of the file, whatever it asks for; at or behind the end it looks nothing up.
]],
			questions = {
				ask.func {
					id = "turns",
					points = 12,
					text = "Write `turns(folios, size, off, len, after)`: the turns that one read of `len` bytes (at least 1) at byte `off` takes. "
						.. "`folios` is a list of `{ index = , order = }` in ascending order (pages), all other pages are holes; `size` is the "
						.. "file's in bytes; `after` is true with the two commits, false before them.",
					valid = function(s, folios, size, off, len) return folios == s.folios and size == s.size and off >= 0 and len >= 1 end,
					cases = function(s)
						local list, size = {}, s.size
						local function add(off, len)
							list[#list + 1] = { s.folios, size, off, len, true }
							list[#list + 1] = { s.folios, size, off, len, false }
						end
						add(0, size)
						add(0, size + 100000)
						add(size, 4096)
						add(size + 5000, 10)
						add(size - 1, 5000)
						add(s.folios[2].index * 4096, 4096 << s.folios[2].order)
						add(4095, 2)
						for i = 1, 12 do
							add(s.rng:int(0, size - 1), s.rng:int(1, size))
						end
						return list
					end,
					answer = function(s, folios, size, off, len, after)
						return turns(after and s.after or s.before, off, len)
					end,
					hints = {
						"`last = math.min(off + len, size) - 1` is the last byte. If it is below `off`, the answer is 0. Before: `last // 4096 - off // 4096 + 1`.",
						{
							text = "After: walk from page `off // 4096` to page `last // 4096`. If a folio holds the page, go on behind the folio, else with "
								.. "the next page; count the steps.",
							cost = 3,
						},
					},
				},
				ask.number {
					id = "whole-file",
					unit = "turns",
					text = "How many turns does reading all of this file in one call take, after?",
					answer = function(s) return look(s.after, 0, s.size).turns end,
					hints = { "Groups of digits, plus dots. The file's last page counts, cached or not." },
				},
			},
			reveal = "Before, every map of this length gives the same number. After, the layout counts: {{#folios}} folios, and the holes page by page.",
		},

		step {
			id = "twenty",
			title = "Where the 20 % come from",
			prepare = function(s)
				s.n = s.rng:int(5, 14)
				s.q = s.rng:int(18, 120)
				s.p = s.rng:int(18, 120)
				s.one, s.two = look(even(BEFORE, 9, 1), 0, 4096), look(even(BEFORE, 9, 1), 0, s.n * 4096)
				s.before, s.after = look(even(BEFORE, 9, 1), 0, s.q * 4096), look(even(AFTER, 9, 1), 0, s.q * 4096)
				s.old64, s.new64 = look(even(BEFORE, 9, 1), 0, 65536), look(even(AFTER, 9, 1), 0, 65536)
				s.rows = {}
				for _, f in ipairs { "shmem_get_folio_gfp", "copy_folio_to_iter", "folio_mark_accessed", "rep_movs_alternative" } do
					s.rows[#s.rows + 1] = ("| `%s` | %.0f | %.0f |"):format(f, s.one.perf.functions[f], s.two.perf.functions[f])
				end
				s.rows = table.concat(s.rows, "\n")
				s.rest = s.one.ns
				for _, f in ipairs { "shmem_get_folio_gfp", "copy_folio_to_iter", "folio_mark_accessed", "rep_movs_alternative" } do
					s.rest = s.rest - s.one.perf.functions[f]
				end
				s.gib_s, s.gain, s.look, s.even, s.AFTER, s.BEFORE = gib_s, gain, look, even, AFTER, BEFORE
			end,
			brief = [[
Wang measured with fio: sequential reads of a tmpfs file of 1 GiB in folios of 2 MiB, `bs=64k`: 10.0 GiB/s before, 12.0 GiB/s after; at `bs=4k` no
change. The miniature's cost table was fitted to those figures. In it, reading **before** takes, in virtual ns:

| | a read of 1 page | a read of {{n}} pages |
|---|---|---|
{{rows}}
| the call itself: entry, checks, exit | {{("%.0f"):format(rest)}} | {{("%.0f"):format(rest)}} |
| all | {{("%.0f"):format(one.ns)}} | {{("%.0f"):format(two.ns)}} |

`rep_movs_alternative` is what moves the bytes.
]],
			questions = {
				ask.number {
					id = "before-ns",
					predict = true,
					percent = 1,
					unit = "ns",
					text = "How long does a read of **{{q}} pages** take before?",
					answer = function(s) return math.floor(s.before.ns + 0.5) end,
					hints = {
						"{{n - 1}} pages more are {{('%.0f'):format(two.ns - one.ns)}} ns more.",
					},
				},
				ask.number {
					id = "after-ns",
					predict = true,
					points = 6,
					percent = 1,
					unit = "ns",
					text = "And after? It starts at a folio's first page and stays inside that folio.",
					answer = function(s) return math.floor(s.after.ns + 0.5) end,
					hints = {
						"The call once, the bytes of {{q}} pages, but lookup, copy call and mark only once.",
						{ text = "A turn costs what the first three lines of the middle column add up to; {{q - 1}} of them are saved.", cost = 2 },
					},
				},
				ask.number {
					id = "gain",
					predict = true,
					points = 6,
					tolerance = 0.3,
					unit = "%",
					text = "How much faster did reads of **{{p}} pages** become? (Time before / time after - 1, in per cent, to three tenths.)",
					answer = function(s) return gain(9, s.p * 4096) end,
					hints = { "The same two sums for {{p}} pages, and their quotient." },
				},
				ask.choice {
					id = "untouched",
					predict = true,
					text = "Which of these takes **the same** time before and after?",
					options = { "looking the folio up", "the copy calls", "marking the folio as used", "moving the bytes" },
					answer = function(s)
						local found
						for i, f in ipairs { "shmem_get_folio_gfp", "copy_folio_to_iter", "folio_mark_accessed", "rep_movs_alternative" } do
							if s.before.perf.functions[f] == s.after.perf.functions[f] then
								assert(not found, "two of them are the same")
								found = i
							end
						end
						return found
					end,
					hints = { "The program gets as many bytes as ever." },
				},
			},
			run = function(s)
				print(("%d pages: before %.0f ns in %d turns, after %.0f ns in %d"):format(s.q, s.before.ns, s.before.turns, s.after.ns,
					s.after.turns))
				print(("64k:       before %.0f ns, %.1f GiB/s; after %.0f ns, %.1f GiB/s"):format(s.old64.ns, gib_s(65536, s.old64.ns),
					s.new64.ns, gib_s(65536, s.new64.ns)))
			end,
			reveal = [[
A saved turn is {{("%.0f"):format((old64.ns - new64.ns) / (old64.turns - new64.turns))}} ns. A read of 64 KiB saves
{{old64.turns - new64.turns}} of them: {{("%.0f"):format(old64.ns - new64.ns)}} of {{("%.0f"):format(old64.ns)}} ns, and the throughput rises by
{{("%.1f"):format(gain(9, 65536))}} %. The bytes still have to be moved, and no folio makes that cheaper: it is the floor.

Virtual time agrees with the mail because it was fitted to it; the *counts* of turns are what real kernels were seen to do. What your own processor says:
`foliolab bench tmpfs --measure`. Do not be surprised if it says less. Where memory is slow, the copy is a larger part of the whole.
]],
		},

		step {
			id = "vanish",
			title = "Where it vanishes",
			prepare = function(s)
				s.order = s.rng:int(2, 8)
				s.off = s.rng:int(2, 3) * 4096 + s.rng:int(100, 4000)
				s.target = 4096 << s.rng:int(1, 5)
				s.low, s.high = gain(9, s.target // 2), gain(9, s.target)
				s.wish = s.low + (s.high - s.low) * 0.6
				s.k4 = gain(9, 4096)
				s.sizes = { 4, 8, 16, 32, 64, 128, 256, 512, 1024 }
			end,
			brief = [[
At `bs=4k` the mail reports no change: a request of one page is one turn in either kernel. Between "nothing" and "a fifth" lie all the block
sizes. All of this follows from the table of the last step, so foresee it.
]],
			questions = {
				ask.number {
					id = "longest",
					predict = true,
					unit = "bytes",
					text = "The folio is large, the read starts at byte **{{off}}**. What is the **longest** read that gains nothing?",
					answer = function(s)
						local len = 4096 - s.off % 4096
						local a, b = even(BEFORE, 9, 1), even(AFTER, 9, 1)
						assert(turns(a, s.off, len) == turns(b, s.off, len) and turns(a, s.off, len + 1) > turns(b, s.off, len + 1))
						return len
					end,
					hints = { "Nothing is gained as long as the old loop needs only one turn. Where does page {{off // 4096}} end?" },
				},
				ask.number {
					id = "first-gain",
					predict = true,
					points = 6,
					unit = "bytes",
					text = "A program reads an order-9 folio front to back in blocks of 4k, 8k, 16k, ... Which is the **smallest** block size that is at least "
						.. "**{{('%.1f'):format(wish)}} %** faster after? (`8k` is understood.)",
					answer = function(s)
						local len = 4096
						while gain(9, len) < s.wish do
							len = len * 2
						end
						return len
					end,
					hints = { "`gain` of the last step for 2, 4, 8, ... pages." },
				},
				ask.number {
					id = "plateau",
					predict = true,
					unit = "bytes",
					text = "Another file consists of folios of order **{{order}}**. From which block size on does the number of turns for the whole file not fall any "
						.. "more, after?",
					answer = function(s)
						local n = 4
						local whole = n * (4096 << s.order)
						local function all(bs)
							local m, sum = even(AFTER, s.order, n), 0
							for off = 0, whole - 1, bs do
								sum = sum + turns(m, off, bs)
							end
							return sum
						end
						local bs = 4096
						while all(bs) > all(whole) do
							bs = bs * 2
						end
						return bs
					end,
					hints = { "A turn never covers more than a folio." },
				},
				ask.choice {
					id = "order0",
					predict = true,
					text = "A file in folios of order 0, read with `bs=64k`. What do the two commits gain?",
					options = { "nothing", "half of what they gain on large folios", "as much as on large folios", "less than nothing: it becomes slower by a tenth" },
					answer = function(s)
						local g, large = gain(0, 65536), gain(9, 65536)
						return math.abs(g) < 0.5 and 1 or g < 0 and 4 or g > 0.9 * large and 3 or 2
					end,
					hints = { "How many folios does a request of 64 KiB touch then?" },
				},
			},
			run = function(s)
				local series = {}
				for _, order in ipairs { 9, 4, 0 } do
					local points = {}
					for i, kib in ipairs(s.sizes) do
						points[i] = { i + 1, gain(order, kib << 10) }
					end
					series[#series + 1] = { name = ("order %d"):format(order), points = points }
				end
				figure("gain", plot.line { title = "Gain by block size", x = "log2 of the block size in KiB", y = "%", series = series })
			end,
			reveal = [[
4 KiB: {{("%.1f"):format(k4)}} %. The rest of the page is the size at which it vanishes, the folio is the size at which it is all there. With large folios on
tmpfs being rare up to v6.13 (2 MiB or nothing), acd7ccb284b8 in v6.14 mattered as much for readers as these two: it gave the loop folios to go by.
]],
		},

		step {
			id = "reader",
			title = "Be the reader",
			prepare = function(s)
				s.first = s.rng:int(1, 6) * 16 + s.rng:int(1, 15)
				s.last = s.first + s.rng:int(12, 25) * 16 + s.rng:int(0, 30)
				if s.last % 16 == 15 then
					s.last = s.last - 1
				end
				s.m = even(AFTER, 4, 40)
				s.folios = 0
				for f in s.m:folios(s.first, s.last) do
					s.folios = s.folios + 1
				end
				local m, pos, sum = even(AFTER, 4, 40), s.first * 4096, 0
				while pos < (s.last + 1) * 4096 do
					local len = math.min(65536, (s.last + 1) * 4096 - pos)
					sum = sum + turns(m, pos, len)
					pos = pos + len
				end
				s.naive = sum
				s.judge = function(w)
					local m2 = even(AFTER, 4, 40)
					m2:record()
					local before = m2:counters().fl_shmem_lookup
					m2:play(w)
					local at = s.first * 4096
					for e in m2:events { name = { "fl_read", "fl_write" } } do
						if e.name == "fl_write" then
							return false, "it writes, expected reads only"
						elseif e.bytes > 65536 then
							return false, ("a read of %d bytes, expected at most 65536"):format(e.bytes)
						elseif e.bytes > 0 and e.pos ~= at then
							return false, ("a read at byte %d, expected at %d"):format(e.pos, at)
						end
						at = at + e.bytes
					end
					if at ~= (s.last + 1) * 4096 then
						return false, ("the last byte read is %d, expected %d"):format(at - 1, (s.last + 1) * 4096 - 1)
					end
					local n = m2:counters().fl_shmem_lookup - before
					if n > s.folios then
						return false, ("%d turns, expected at most %d"):format(n, s.folios)
					end
					return true
				end
			end,
			brief = [[
You write the program now. Its buffer is **64 KiB**, so no read may be longer. The file's folios are of order 4, 64 KiB each, and it wants the pages
**{{first}} to {{last}}**:

```
{{m:map{ from = first - first % 16, to = first - first % 16 + 47, width = 64 }}}
...
```

Seeking to page {{first}} and reading 64 KiB at a time takes {{naive}} turns. That is almost twice as many as there are folios ({{folios}}).
]],
			questions = {
				ask.workload {
					id = "aligned",
					points = 8,
					max_ops = 1000,
					text = "Write a workload that reads pages {{first}} to {{last}}, in ascending order, every byte once and nothing else, no read longer than 64 KiB, in at "
						.. "most **{{folios}} turns**.",
					check = function(s, w) return s.judge(w) end,
					hints = {
						"Page {{first}} is page {{first % 16}} of its folio. Every read that crosses a border of folios takes two turns.",
						{
							text = "First a short read to the border, {{16 - first % 16}} pages, then 64k each, last the rest: {{(last + 1) % 16}} pages.",
							cost = 3,
						},
					},
				},
			},
			reveal = [[
The first read is short, all others are aligned. It is the same advice as for disks, for another reason: a request that straddles pays twice.
]],
		},
	},
}
