-- Lab 14: the order hint, alignment, odd bytes, a function, folios in the way, writes laid out well.

local PAGE = 4096

local function orders_of(m)
	local list = {}
	for f in m:folios() do
		list[#list + 1] = f.order
	end
	return list
end

-- What one write makes: the machine, the orders, the turns of the write loop.
local function write(off, len, kernel)
	local m = fl.machine { kernel = kernel or "v6.18", fs = "ext4", size = "64k" }
	m:pwrite(off, len)
	return m, orders_of(m), m:counters().ext4_da_write_begin
end

local function text(list)
	return table.concat(list, " ")
end

lab {
	title = "One write, many orders",
	summary = "How a write's length and place become folios, what is in the way, and how to write well.",
	minutes = 45,
	steps = {
		step {
			id = "hint",
			title = "A length becomes an order",
			prepare = function(s)
				repeat
					s.pages = s.rng:int(5, 250)
				until s.pages & (s.pages - 1) ~= 0
				s.m, s.orders, s.turns = write(0, s.pages * PAGE)
				s.old = write(0, s.pages * PAGE, "v6.12")
				s.example, s.example_orders = write(0, 100 << 10)
				s.text = text
			end,
			brief = [[
`pwrite()` without O_DIRECT copies the program's bytes into the page cache; the disk comes later. For pages that are
not cached the kernel must make folios first, and it knows how long the write is. So `generic_perform_write()` (mm/filemap.c)
goes round a loop:

1. *n* = the bytes that are left.
2. Look for the folio at this place. If there is none, make one. Wish: the order of the **largest power of two that is not
   larger than *n***, in pages; 0 below two pages. Never more than order 9 (2 MiB).
3. Copy until the folio or the write ends. Go on behind it.

The wish is called the *hint*: `fgf_set_order()` packs it into the flags of the look-up. ext4 passes it since
v6.16 (16705e52e629), xfs, by way of iomap, since v6.6 (d6bb59a9444d).

100 KiB at the start of an empty file on ext4, v6.18: 25 pages are left, so 16; then 9 are left, so 8; then one:

```
{{example:map{ to = 31 }}}
```
]],
			questions = {
				ask.list {
					id = "at-zero",
					predict = true,
					text = "A program writes **{{pages}} pages** ({{pages * 4}} KiB) at offset 0 in one call. Which orders do the folios have, "
						.. "from left to right?",
					answer = function(s) return s.orders end,
					hints = {
						"The largest power of two in {{pages}} is {{1 << orders[1]}}: order {{orders[1]}}. It leaves {{pages - (1 << orders[1])}} pages.",
						"Write {{pages}} in binary: there is a folio for each 1, {{#orders}} in all.",
					},
				},
				ask.number {
					id = "old",
					predict = true,
					points = 2,
					unit = "folios",
					text = "And how many folios does v6.12 make, where ext4 has no large ones?",
					answer = function(s) return s.old:counters().mm_filemap_add_to_page_cache end,
					hints = { "Order 0 is one page." },
				},
			},
			run = function(s)
				print(s.m:map { to = (s.pages + 63) // 64 * 64 - 1 })
				print(("v6.18: %d turns of the loop; v6.12: %d."):format(s.turns, s.old:counters().ext4_da_write_begin))
			end,
			reveal = [[
{{text(orders)}}: at offset 0 the orders are the binary digits of the number of pages. Each is one turn of the loop: one look-up,
one lock, one copy.
]],
		},

		step {
			id = "place",
			title = "The place decides",
			prepare = function(s)
				s.at = 2 * s.rng:int(1, 30) + 1
				if s.rng:int(0, 1) == 1 then
					s.at = 2 * s.at
				end
				s.pages = s.rng:int(18, 70)
				s.m, s.orders, s.turns = write(s.at * PAGE, s.pages * PAGE)
				s.last = s.at + s.pages - 1
				s.example, s.example_orders, s.example_turns = write(PAGE, 64 << 10)
				s.text = text
			end,
			brief = [[
A folio of order *k* starts at a multiple of 2 to the *k* (lab 01). If the place does not allow the order that was wished for, the kernel
takes the largest that it allows: as often as the page number can be halved. The hint is then made anew, from what is left.

64 KiB at offset 4 KiB. The first folio gets page 1 alone, for 1 is odd. Then 15 pages are left, wish 8, but page 2 allows 2, and so on:

```
{{example:map{ to = 31 }}}
```

{{#example_orders}} folios ({{text(example_orders)}}) and {{example_turns}} turns of the loop, for a write that takes one at offset 0.
]],
			questions = {
				ask.list {
					id = "at-place",
					predict = true,
					points = 6,
					text = "Now **{{pages}} pages at page {{at}}** of an empty cache (pages {{at}} to {{last}}). Which orders, from left to right?",
					answer = function(s) return s.orders end,
					hints = {
						"At each page: no more than it allows, and no more than the largest power of two in what is left.",
						"The first folio, at page {{at}}, has order {{orders[1]}}; there are {{#orders}} in all.",
					},
				},
				ask.number {
					id = "tail",
					predict = true,
					points = 2,
					unit = "page",
					text = "At which page does the last of these folios start?",
					answer = function(s) return s.last + 1 - (1 << s.orders[#s.orders]) end,
					hints = { "The write ends with page {{last}}, and so does the last folio." },
				},
			},
			run = function(s)
				print(s.m:map { from = s.at // 32 * 32, to = (s.last + 64) // 64 * 64 - 1 })
				print(("%d turns."):format(s.turns))
			end,
			reveal = [[
{{text(orders)}}. Up as the place allows, then down as the rest demands: a staircase at either end.
]],
		},

		step {
			id = "bytes",
			title = "Odd bytes, and a function",
			prepare = function(s)
				s.page = 1 << s.rng:int(3, 6)
				s.shift = s.rng:int(1, 7) * 512
				s.kib = s.rng:pick { 16, 24, 32, 48, 64, 96, 128, 160 } * s.rng:pick { 1, 2 }
				s.off = s.page * PAGE + s.shift
				s.m, s.orders = write(s.off, s.kib << 10)
				s.example, s.example_orders = write(2048, 64 << 10)
				s.text = text
				s.fmt = text
			end,
			brief = [[
Writes need not start at a page. The hint is made of the **whole length** that is left; it is not reduced by the bytes of the
first page that lie before the write. 64 KiB at byte 2048 of an empty file:

```
{{example:map{ to = 31 }}}
```

The hint says order 4, page 0 allows it. The folio has 64 KiB, but the write starts 2048 bytes into it; the last 2048 bytes need another, a folio of one page.

One more rule, for long writes: a turn never goes past a multiple of the largest folio, 2 MiB, since 9aac777aaf94 (v6.11) made a turn that long. So *n* is at most
what is left to the next multiple of 2 MiB (bytes {{2 << 20}}, {{4 << 20}}, ...).
]],
			questions = {
				ask.list {
					id = "at-byte",
					predict = true,
					points = 5,
					text = "A program writes **{{kib}} KiB at byte {{off}}**: that is page {{page}}, {{shift}} bytes into it. Which orders, from left to right?",
					answer = function(s) return s.orders end,
					hints = {
						"{{kib}} KiB are {{kib // 4}} pages, and page {{page}} may be halved {{math.tointeger(math.log(page, 2))}} times. After the first folio, "
							.. "{{(kib << 10) - (4096 << orders[1]) + shift}} bytes are left.",
					},
				},
				ask.func {
					id = "orders",
					points = 10,
					text = "Write `orders(off, len)`: the orders, first to last, of the folios that a write of `len` bytes at byte `off` makes in an empty cache "
						.. "on v6.18. Any offset, any length from 1 byte to some MiB.",
					check = function(s, f)
						local cases = {
							{ 0, 1 }, { 4095, 2 }, { 0, 8192 }, { 0, 5000 }, { 1, 2 << 20 }, { (2 << 20) - 4096, 3 << 20 }, { 0, 3 << 20 }, { 2048, 1 << 20 },
						}
						for i = 1, 24 do
							cases[#cases + 1] = { s.rng:int(0, 900) * s.rng:pick { 1, 512, 4096, 16384 }, s.rng:int(1, 600) * s.rng:pick { 1, 700, 4096 } }
						end
						cases[#cases + 1] = { s.rng:int(0, 4 << 20), s.rng:int(3 << 20, 6 << 20) }
						for _, c in ipairs(cases) do
							local got = f(c[1], c[2])
							if type(got) ~= "table" then
								return false, ("orders(%d, %d) returned no list"):format(c[1], c[2])
							end
							local shown = {}
							for i, v in ipairs(got) do
								shown[i] = type(v) == "number" and ("%.14g"):format(v) or tostring(v)
							end
							local _, want = write(c[1], c[2])
							if text(shown) ~= text(want) then
								return false, ("orders(%d, %d) returned {%s}, the kernel makes {%s}"):format(c[1], c[2], text(shown), text(want))
							end
						end
						return true
					end,
					hints = {
						"A loop while `len > 0`. In it: `n`, the smaller of `len` and what is left to the next multiple of 2 MiB; the hint of `n`; the page `off // 4096`; the "
							.. "order; then the end of that folio, `(page + (1 << order)) * 4096`, says how much this turn writes.",
						{ text = "Page 0 and other multiples of 512 allow 9. `while order > 0 and page % (1 << order) ~= 0 do order = order - 1 end` does it for all.", cost = 2 },
						{ text = "This turn writes `math.min(n, folio_end - off)` bytes, which may be less than the folio: it may start in the middle of a page.", cost = 2 },
					},
				},
			},
			run = function(s)
				print(s.m:map { from = s.page // 32 * 32 })
			end,
			reveal = [[
{{text(orders)}}. Half a page too late costs a folio at the end of every such write, in the kernel's own way of counting: one that the next write will find there.
]],
		},

		step {
			id = "in-the-way",
			title = "A folio in the way",
			prepare = function(s)
				s.order = s.rng:int(4, 6)
				s.pages = 1 << s.order
				s.base = s.pages * s.rng:int(0, 3)
				s.inside = s.rng:int(3, s.pages - 2)
				s.there = s.base + s.inside
				s.m = fl.machine { kernel = "v6.18", fs = "ext4", size = "64k" }
				s.m:pwrite(s.there * PAGE, PAGE)
				s.after = s.m:twin()
				s.after:pwrite(s.base * PAGE, s.pages * PAGE)
				s.orders = orders_of(s.after)
				s.clean = select(2, write(s.base * PAGE, s.pages * PAGE))
				s.failed = 0
				for _, n in pairs(s.after:counters("fl_add_failed")) do
					s.failed = s.failed + n
				end
				s.text = text
				s.first = s.orders[1]
			end,
			brief = [[
The cache is seldom empty. A folio that is already there is used as it is, whatever its order. And a new folio that would *overlap* one cannot be put into the tree: the insertion fails,
the kernel frees the folio, takes **one order less** and tries again, down to order 0 (`__filemap_get_folio()`, mm/filemap.c).

Some program has written page {{there}}:

```
{{m:map{ from = base // 64 * 64, to = base // 64 * 64 + 63, width = 64 }}}
```

Now **{{pages}} pages from page {{base}}** are written in one call. In an empty cache that is a single folio of order {{text(clean)}}.
]],
			questions = {
				ask.list {
					id = "around",
					predict = true,
					points = 6,
					text = "Which orders will pages {{base}} to {{base + pages - 1}} have afterwards, from left to right, that of page {{there}} included?",
					answer = function(s) return s.orders end,
					hints = {
						"At page {{base}} the wish is order {{order}}. It overlaps page {{there}}; so does every order above {{first}}.",
						"Behind page {{there}} it is again the rules of step 2: what page {{there + 1}} allows, what is left.",
					},
				},
				ask.number {
					id = "most",
					predict = true,
					points = 3,
					unit = "pages",
					text = "How many pages does the folio at page {{base}} get?",
					answer = function(s) return s.after:page(s.base).folio.pages end,
					hints = { "The largest power of two that is not larger than {{inside}}, the pages in front of page {{there}}." },
				},
			},
			run = function(s)
				s.m:pwrite(s.base * PAGE, s.pages * PAGE)
				print(s.m:map { from = s.base // 64 * 64, to = s.base // 64 * 64 + 63, width = 64 })
				print(("%d insertions failed on the way."):format(s.failed))
			end,
			reveal = [[
{{text(orders)}}: one page turned one folio into {{#orders}}. Nothing puts them together again while they are cached: the folios of a file remember the order in which it was written.
]],
		},

		step {
			id = "layout",
			title = "Writing well",
			prepare = function(s)
				s.header = s.rng:int(1, 7) * 2 + 1
				s.full = s.rng:int(10, 30)
				s.total = s.full * 16 + (16 - s.header)
				s.naive = fl.machine { kernel = "v6.18", fs = "ext4", size = "64k" }
				s.naive:pwrite(s.header * PAGE, 64 << 10, s.full)
				s.naive_folios = #orders_of(s.naive)
				local best = fl.machine { kernel = "v6.18", fs = "ext4", size = "64k" }
				best:pwrite(s.header * PAGE, (16 - s.header) * PAGE)
				best:pwrite(64 << 10, 64 << 10, s.full)
				s.best = #orders_of(best)
				s.limit = s.best + 2
			end,
			brief = [[
A log begins with a header of {{header}} pages, which is written last. Behind it the program appends, 64 KiB a call. The beginning of its cache, after {{full}} calls:

```
{{naive:map{ to = 127 }}}
```

{{naive_folios}} folios for {{full * 16}} pages. The program has a buffer of 64 KiB, so **no call may write more than 64 KiB**. It can do better all the same.
]],
			questions = {
				ask.workload {
					id = "aligned",
					points = 8,
					max_ops = 400,
					text = "Write {{total}} pages from page {{header}} on (bytes {{header * 4096}} to {{(header + total) * 4096 - 1}}) with `pwrite OFFSET LENGTH [N]` "
						.. "(N calls, one behind the other): in ascending order, no byte twice, no call longer than 64 KiB, and at most **{{limit}} folios** in the cache.",
					check = function(s, w)
						local m = fl.machine { kernel = "v6.18", fs = "ext4", size = "64k", record = true }
						m:play(w)
						local at, last = s.header * PAGE, (s.header + s.total) * PAGE
						for e in m:events { name = "fl_write" } do
							if e.pos ~= at then
								return false, ("a write at byte %d, expected %d"):format(e.pos, at)
							end
							if e.bytes > 65536 then
								return false, ("a write of %d bytes, expected at most 65536"):format(e.bytes)
							end
							at = at + e.bytes
						end
						if at ~= last then
							return false, ("the writes end at byte %d, expected %d"):format(at, last)
						end
						local n = #orders_of(m)
						if n > s.limit then
							return false, ("%d folios, expected at most %d"):format(n, s.limit)
						end
						if m:cached() ~= s.total then
							return false, ("%d pages are cached, expected %d"):format(m:cached(), s.total)
						end
						return true
					end,
					hints = {
						"64 KiB make one folio if they start at a multiple of 64 KiB. What must the first call write so that all others do?",
						{ text = "The first call: from page {{header}} up to page 16, {{16 - header}} pages. Then 64 KiB, {{full}} times.", cost = 3 },
					},
				},
			},
			reveal = [[
{{best}} folios are enough for {{total}} pages: one short write to reach a multiple of 64 KiB, then only whole folios. A program with a buffer of its own loses nothing by it, and the kernel
looks up, locks, dirties and later writes back one folio a call.
]],
		},
	},
}
