-- Lab 01: pages, folios, orders, alignment; what large folios save; what leaves with what.

-- The kernel's own answer to "how large a folio may start here": a policy wishes for the largest
-- order, the code that fills a window decides what fits.
local function biggest(index)
	local m = fl.machine { kernel = "v6.18", size = "64m", ra_kb = 4096 }
	m:policy {
		sync_ra = function(ra, req)
			return { start = index, size = 1024, order = 9 }
		end,
	}
	m:pread(index * 4096, 4096)
	return m:page(index).folio.order
end

local function folios(m)
	local list = {}
	for f in m:folios() do
		list[#list + 1] = f
	end
	return list
end

local function orders_of(m, first, last)
	local list = {}
	for f in m:folios(first, last) do
		list[#list + 1] = f.order
	end
	return list
end

-- "2 folios of order 0, 1 of order 3"
local function order_table(m)
	local rows = { "| order | pages each | folios |", "|---|---|---|" }
	for order, n in pairs(m:orders()) do
		rows[#rows + 1] = ("| %d | %d | %d |"):format(order, 1 << order, n)
	end
	return table.concat(rows, "\n")
end

lab {
	title = "What a folio is",
	summary = "Pages, folios, orders: how the kernel keeps a file in memory, and what it saves.",
	minutes = 45,
	steps = {
		step {
			id = "pages",
			title = "A file in pages",
			prepare = function(s)
				s.size = s.rng:int(9, 60) * 1000 + s.rng:int(1, 999)
				s.m = fl.machine { kernel = "v6.12", fs = "ext4", size = s.size }
				s.example = fl.machine { kernel = "v6.12", fs = "ext4", size = 10000 }
				s.example:play("read 10000")
			end,
			brief = [[
When a program calls `read()`, the kernel first brings the bytes into memory of its own, the **page
cache**, and copies them from there to the program. Whoever reads the same bytes again gets them from
memory and waits for no disk.

Memory is managed in **pages** of {{page_size}} bytes. Page 0 of a file holds its bytes 0 to 4095, page
1 holds 4096 to 8191, and so on. The last page is rarely full, but it is a whole page of memory all
the same. So a file of {{example.size}} bytes takes {{example.size}} / 4096, rounded up:
{{example.pages}} pages. This is its cache after all of it was read:

```
{{example:map{ to = 9 }}}
```

The number at the left is the first page of the line; then comes a sign for each page, where a dot is
a page that is not cached. (What the digits mean comes next.)
]],
			questions = {
				ask.number {
					id = "pages",
					predict = true,
					points = 2,
					unit = "pages",
					text = "Your file has **{{size}} bytes**. How many pages does it take?",
					answer = function(s)
						local m = s.m:twin()
						m:read(s.size)
						return m:cached()
					end,
					hints = {
						"Divide {{size}} by 4096 and round up: {{size // 4096}} pages are full, "
							.. "{{size % 4096}} bytes are left over.",
					},
				},
			},
			run = function(s)
				s.m:read(s.size)
				print("All of your file was read. Its cache:")
				print(s.m:map { to = 63 })
			end,
			reveal = [[
{{m:cached()}} pages, and {{m:cached() * 4096 - size}} bytes of the last one hold nothing of the file: they
are zeros. That waste is why pages are not larger than they are, and the bookkeeping below is why one
wishes they were.
]],
		},

		step {
			id = "folios",
			title = "Pages in folios",
			prepare = function(s)
				s.first = s.rng:int(2, 30)
				s.n = s.rng:int(24, 70)
				s.m = fl.machine { kernel = "v6.12", fs = "xfs", size = "1m" }
				s.m:play(("seek %d; read 4k %d"):format(s.first * 4096, s.n))
				s.all = folios(s.m)
				s.large = {}
				for _, f in ipairs(s.all) do
					if f.order >= 2 then
						s.large[#s.large + 1] = f
					end
				end
				s.one = s.rng:pick(s.large)
				s.from = #s.all - 4
				s.order_table = order_table(s.m)
			end,
			brief = [[
For every page the kernel keeps a small record: whether it is locked, dirty, up to date, who uses it,
where it stands in the list of what to throw away next. Reading 1 GiB meant {{(1 << 30) // 4096}} records to
allocate, insert, lock, look up, age and free again. So pages that live and die together get *one*
record. That is a **folio**: a block of 1, 2, 4, 8, ... pages, next to each other in memory and in
the file.

The exponent is its **order**: order 0 is one page, order 1 two, order 2 four; order *k* is 2 to the
*k* pages. The largest in this cache is order 9: {{1 << 9}} pages, {{(1 << 9) * 4096 // 1024}} KiB.

This machine plays Linux v6.12 on xfs. A program skipped {{first}} pages and then read {{n}} pages, one
after the other:

```
{{m:map{ to = 127 }}}
```

Every page shows the *order of the folio it belongs to*, and a blank parts two folios: `2222` is one
folio of four pages. The `>` is a mark that readahead leaves for itself; lab 02 is about it. More is
cached than was read: the kernel reads **ahead**.
]],
			questions = {
				ask.number {
					id = "last-page",
					unit = "page",
					text = "A folio of order {{one.order}} starts at page {{one.index}}. Which is its **last** page?",
					answer = function(s)
						local last = s.one.index
						while s.m:page(last + 1) and s.m:page(last + 1).folio.index == s.one.index do
							last = last + 1
						end
						return last
					end,
					hints = {
						"Order {{one.order}} means {{1 << one.order}} pages, and page {{one.index}} is the first of them.",
					},
				},
				ask.number {
					id = "folios",
					unit = "folios",
					text = "How many folios are in the cache?",
					answer = function(s) return #folios(s.m) end,
					hints = {
						"Count the groups. A folio of order 2 is always four digits, one of order 3 eight, "
							.. "even if they go on in the next line. Single zeros are folios, too.",
					},
				},
				ask.list {
					id = "last-orders",
					text = "What are the orders of the last five folios, from left to right?",
					answer = function(s)
						local list = {}
						for i = s.from, #s.all do
							list[#list + 1] = s.all[i].order
						end
						return list
					end,
					hints = { "The digit is the order. The last five begin at page {{all[from].index}}." },
				},
			},
			reveal = [[
{{m:cached()}} pages in {{#all}} folios:

{{order_table}}

The small ones come from where the reading began; the next step shows why.
]],
		},

		step {
			id = "alignment",
			title = "Where a folio may start",
			prepare = function(s)
				-- Four pages whose largest folios differ, so that there is one right order.
				s.pages = {}
				local shifts = s.rng:shuffle { 0, 1, 2, 3, 4, 5, 6 }
				for i = 1, 4 do
					s.pages[i] = (2 * s.rng:int(1, 20) + 1) << shifts[i]
				end
				s.biggest = biggest
				s.cut = 2 * s.rng:int(3, 12) + 1
				s.m = fl.machine { kernel = "v6.12", fs = "xfs", size = "1m" }
				s.m:play(("seek %d; read 4k 48"):format(s.cut * 4096))
			end,
			brief = [[
A folio of order *k* starts at a page number that is a **multiple of 2 to the *k***. A folio of four
pages may start at page 0, 4, 8, 12 but never at 5 or 6. This is called natural alignment, and it is
what makes folios cheap: from any page one finds its folio by clearing *k* bits of the number, and the
tree that holds the cache (an XArray, 64 slots a node) needs no lengths.

Reading that begins at an odd page such as {{cut}} therefore cannot begin with a large folio. On v6.12:

```
{{m:map{ from = cut - cut % 8, to = cut - cut % 8 + 63, width = 64 }}}
```

The kernel climbs: at each page it takes the largest folio that (1) it wishes for, (2) the page number
allows, and (3) does not reach past the end of what it is about to read. (`page_cache_ra_order()` in
mm/readahead.c; order 1 is taken only since v6.9, commit 8897277acfef: until then those two pages became
two folios.)
]],
			questions = {
				ask.order {
					id = "by-size",
					text = "Sort these page numbers by the largest folio that may start there, smallest first.",
					items = function(s)
						local list = {}
						for i, p in ipairs(s.pages) do
							list[i] = ("page %d"):format(p)
						end
						return list
					end,
					answer = function(s)
						local list = { 1, 2, 3, 4 }
						table.sort(list, function(a, b) return biggest(s.pages[a]) < biggest(s.pages[b]) end)
						return list
					end,
					hints = {
						"How often can each number be halved before it is odd? Page {{pages[1]}}: "
							.. "{{biggest(pages[1])}} times.",
					},
				},
				ask.func {
					id = "biggest",
					points = 8,
					text = "Now a rule. Write `biggest(index)`: the largest order a folio may have that starts at "
						.. "page `index`. No folio is larger than order 9, so for page 0 it is 9, as it is for "
						.. "page 512. Lua's operators are those of C (`index % 2`, `index // 2`, `index & 1`).",
					valid = function(s, index) return index >= 0 end,
					cases = function(s)
						local list = { { 0 }, { 1 }, { 512 }, { 1024 }, { 768 } }
						for i, p in ipairs(s.pages) do
							list[#list + 1] = { p }
						end
						for i = 1, 10 do
							list[#list + 1] = { s.rng:int(2, 4000) }
						end
						return list
					end,
					answer = function(s, index) return biggest(index) end,
					hints = {
						"Count how often `index` can be halved without a remainder; stop at 9.",
						{
							text = "`local order = 0`, then `while order < 9 and index % 2 == 0 do ... end`: in the "
								.. "loop, halve `index` and add 1 to `order`.",
							cost = 3,
						},
					},
					explain = "The kernel writes it `__ffs(index)`, *find first set bit*, one machine instruction, "
						.. "and cuts it at the order it wishes for.",
				},
			},
			reveal = "Page {{pages[2]}}: order {{biggest(pages[2])}}; page {{pages[3]}}: order {{biggest(pages[3])}}.",
		},

		step {
			id = "savings",
			title = "What large folios save",
			prepare = function(s)
				s.mib = s.rng:int(3, 40)
				local function read(kernel)
					local m = fl.machine { kernel = kernel, fs = "ext4", size = s.mib << 20, disk = "nvme" }
					m:read("64k", s.mib * 16)
					m:drain()
					return m
				end
				s.old, s.new = read("v6.12"), read("v6.16")
				s.old_stats, s.new_stats = s.old:stats(), s.new:stats()
				s.n_old = s.old:counters().mm_filemap_add_to_page_cache
				s.n_new = s.new:counters().mm_filemap_add_to_page_cache
				s.plot = plot.bars {
					title = "Acquisitions of xa_lock, which guards the cache's tree",
					labels = { "ext4, v6.12", "ext4, v6.16" },
					values = { s.old_stats.locks.xa_lock, s.new_stats.locks.xa_lock },
				}
			end,
			brief = [[
A file system must say that it can deal with large folios. xfs does; ext4 does so for regular files
since v6.16 (commit 7ac67301e82f). So the same program on the same disk, reading **{{mib}} MiB** in pieces
of 64 KiB from ext4, is a fair comparison:

| | v6.12 | v6.16 |
|---|---|---|
| pages cached | {{old:cached()}} | {{new:cached()}} |
| folios added to the cache | {{n_old}} | ? |
| median read, virtual ns | {{old:latency(0.5)}} | {{new:latency(0.5)}} |
]],
			questions = {
				ask.number {
					id = "saved",
					predict = true,
					percent = 50,
					unit = "folios",
					text = "Foresee the ?: about how many folios does v6.16 add? (Within a half is fine. On v6.12 every "
						.. "folio is one page; the new kernel soon reads windows of 32 pages, each a folio of order 5.)",
					answer = function(s) return s.n_new end,
					hints = { "{{new:cached()}} pages / 32 pages a folio is the right size of number." },
				},
				ask.choice {
					id = "the-same",
					text = "One of these is *the same* in both runs. Which?",
					options = {
						"folios added to the cache",
						"acquisitions of xa_lock",
						"bytes the program got",
						"time of the whole run",
					},
					answer = function(s)
						local function same(f)
							return f(s.old, s.old_stats) == f(s.new, s.new_stats)
						end
						local looks = {
							function(m) return m:counters().mm_filemap_add_to_page_cache end,
							function(m, stats) return stats.locks.xa_lock end,
							function(m, stats) return stats.bytes end,
							function(m, stats) return stats.virtual_ns end,
						}
						local found
						for i, look in ipairs(looks) do
							if same(look) then
								assert(not found, "two of them are the same")
								found = i
							end
						end
						return found
					end,
					hints = { "A cache may be faster or slower. What must it never change?" },
				},
			},
			run = function(s)
				print(("v6.16 added %d folios for %d pages, v6.12 %d."):format(s.n_new, s.new:cached(), s.n_old))
				figure("xa-lock", s.plot)
			end,
			reveal = [[
{{n_old}} folios became {{n_new}}: {{("%.0f"):format(n_old / n_new)}} times fewer records to allocate, insert under a
lock, look up and age, for the same {{old_stats.bytes}} bytes. In the miniature's cost table the whole run
took {{("%.1f"):format(old_stats.virtual_ns / 1e6)}} ms on v6.12 and {{("%.1f"):format(new_stats.virtual_ns / 1e6)}} ms on
v6.16 (virtual time: comparable, not your computer's).

The published counterpart: for a 12 GiB sparse file on xfs read with `dd bs=4k`, Yin Fengwei counted folio
orders on two real kernels (linux-kernel, 4 Mar 2024, Message-ID
dee823ca-7100-4289-8670-95047463c09d@intel.com). `foliolab bench dd` prints that table beside the miniature's; lab 03
explains it.
]],
		},

		step {
			id = "next-window",
			title = "Foresee a window",
			prepare = function(s)
				s.bs = s.rng:pick { 4, 8, 12, 16, 20, 24, 28, 36 }
				s.nth = s.rng:int(1, 4)
				s.m = fl.machine { kernel = s.rng:pick { "v6.12", "v6.18" }, fs = "xfs", size = "4m" }
				s.m:queue(("read %dk 200"):format(s.bs))
				-- The first window that an operation of its own causes, by meeting the mark.
				for i = 1, s.nth do
					s.m:step()
					s.next = s.m:stop_before("fl_window", { rule = "EXPECTED" })
				end
				s.orders_of = orders_of
				s.after = s.m:twin()
				s.after:step()
				s.last = s.next.start + s.next.size - 1
			end,
			brief = [[
Now stop time. On {{m.kernel}} a program reads pieces of {{bs}} KiB, one after the other. The kernel has
read this much:

```
{{m:map{ to = 127 }}}
```

Its next operation is `{{m:next_op()}}`. It will touch the folio with the mark, and before it returns the
kernel will read another **window**: it starts at page {{next.start}} and has {{next.size}} pages, so it ends with
page {{last}}. The folios of a window start where the window starts, keep to natural alignment and end with
the window's last page. The kernel wishes for orders that grow by 2: over that of the marked folio in v6.12, over that of
the window before since v6.17 (`foliolab kernels --knobs`: RA_ORDER_FIELD). Here the largest it can use is order
{{math.max(table.unpack(orders_of(after, next.start, last)))}}.
]],
			questions = {
				ask.list {
					id = "window-orders",
					predict = true,
					points = 6,
					text = "Which folios will fill pages {{next.start}} to {{last}}? Type their orders from left to right.",
					answer = function(s) return orders_of(s.after, s.next.start, s.last) end,
					hints = {
						"At each page: as large as you may wish, as the page number allows (see step 3), and not "
							.. "past page {{last}}.",
						"The first folio, at page {{next.start}}, has order {{after:page(next.start).folio.order}}; "
							.. "there are {{#orders_of(after, next.start, last)}} in all.",
					},
				},
				ask.number {
					id = "window-end",
					predict = true,
					text = "And which will be the largest cached page number after that operation?",
					answer = function(s)
						local last = 0
						for f in s.after:folios() do
							last = f.index + f.pages - 1
						end
						return last
					end,
					hints = { "An operation of {{bs}} KiB may meet the mark of the new window as well." },
				},
			},
			run = function(s)
				s.m:step()
				print("One operation later:")
				print(s.m:map { to = 127 })
				print(("Why: %s."):format(s.next.why))
			end,
			reveal = [[
The window's own event says: start {{next.start}}, size {{next.size}}, and its tail of {{next.async_size}} pages begins with
the next mark. Why windows grow, stop growing and get lost is lab 02.
]],
		},

		step {
			id = "leaving",
			title = "What leaves with what",
			prepare = function(s)
				s.m = fl.machine { kernel = "v6.18", fs = "xfs", size = "1m" }
				s.m:play("read 64k 16")
				s.total = s.m:cached()
				s.off = s.rng:int(70, 100)
				s.len = s.rng:int(40, 110)
				s.last = s.off + s.len - 1
				s.op = ("fadvise dontneed %d %d"):format(s.off * 4096, s.len * 4096)
			end,
			brief = [[
One record, one fate: a folio is locked, written and thrown away as a whole. This file was read to its end on
{{m.kernel}}, {{total}} pages are cached:

```
{{m:map{}}}
```

A program can say that it will not need a part of the file again: `posix_fadvise(fd, offset, length,
POSIX_FADV_DONTNEED)`. The kernel then drops the cached folios of that part, as far as they are clean,
idle, and lie **wholly inside** it. A folio that sticks out on either side stays, all of it: it is not split
(`mapping_try_invalidate()` in mm/truncate.c).

The program says it of pages **{{off}} to {{last}}** ({{len}} pages).
]],
			questions = {
				ask.number {
					id = "left",
					predict = true,
					points = 6,
					unit = "pages",
					text = "How many of the {{total}} pages are cached afterwards?",
					answer = function(s)
						local m = s.m:twin()
						m:play(s.op)
						return m:cached()
					end,
					hints = {
						"Which folios contain page {{off}} and page {{last}}? Their pages stay, unless a folio starts or "
							.. "ends exactly there.",
						"Page {{off}} lies in the folio that starts at {{m:page(off).folio.index}}, page {{last}} in the one "
							.. "that starts at {{m:page(last).folio.index}}; both have order {{m:page(last).folio.order}}.",
					},
				},
				ask.choice {
					id = "why-whole",
					text = "With folios of one page (ext4 on v6.12, say), how many pages would the same call drop?",
					options = {
						"all {{len}}",
						"none",
						"only page {{off}} and page {{last}}",
						"as many as here",
					},
					answer = function(s)
						local m = fl.machine { kernel = "v6.12", fs = "ext4", size = "1m" }
						m:play("read 64k 16")
						local before = m:cached()
						m:play(s.op)
						local dropped = before - m:cached()
						local here = s.total - s.m:cached()
						for i, n in ipairs { s.len, 0, 2 } do
							if dropped == n then
								return i
							end
						end
						return dropped == here and 4 or 0
					end,
					hints = { "A folio of one page cannot stick out of a range of whole pages." },
				},
			},
			run = function(s)
				s.m:play(s.op)
				print(s.m:map {})
			end,
			reveal = [[
{{total - m:cached()}} of {{len}} pages went. Large folios save work and cost precision: memory is given back, written
and read in larger pieces than were asked for. The kernel's art is in choosing the size.
]],
		},

		step {
			id = "exactly",
			title = "Just these pages",
			prepare = function(s)
				s.first = s.rng:int(20, 200)
				s.n = s.rng:int(3, 14)
				s.last = s.first + s.n - 1
				s.plain = fl.machine { kernel = "v6.18", fs = "xfs", size = "1m" }
				s.plain:play(("pread %d %d; pread %d 4k"):format(s.first * 4096, (s.n - 1) * 4096, s.last * 4096))
			end,
			brief = [[
Last, be the program. You know these operations (`foliolab run --help` has all):

| operation | what |
|---|---|
| `read LEN [N]` | read LEN bytes at the file position, N times |
| `pread OFF LEN` | read LEN bytes at OFF |
| `seek OFF` | set the file position |
| `fadvise ADVICE OFF LEN` | `0 0` is the whole file |

ADVICE is `normal`, `random`, `sequential`, `willneed` or `dontneed`. Sizes take `k` and `m`: `pread 80k 12k` reads pages 20, 21 and 22. Page {{first}} is at {{first * 4}}k.

Reading carelessly caches more than is wanted. Here somebody wanted pages {{first}} to {{last}} and got
{{plain:cached()}} pages, because two reads in a row look like the start of a stream:

```
{{plain:map{ from = first - first % 16, to = first - first % 16 + 63 }}}
```
]],
			questions = {
				ask.workload {
					id = "exactly",
					points = 8,
					max_ops = 20,
					text = "Write a workload of at most 20 operations after which pages **{{first}} to {{last}}** of a cold file of "
						.. "1 MiB are cached and **no other page** (v6.18, xfs), and in which the program has read all of "
						.. "their bytes with at least **two** read operations.",
					check = function(s, w)
						local m = fl.machine { kernel = "v6.18", fs = "xfs", size = "1m" }
						local bytes = m:play(w)
						local stats = m:stats()
						if m:cached(s.first, s.last) < s.n then
							return false, ("only %d of the %d pages are cached"):format(m:cached(s.first, s.last), s.n)
						end
						if m:cached() > s.n then
							return false, ("%d pages are cached, %d too many"):format(m:cached(), m:cached() - s.n)
						end
						for i = s.first, s.last do
							if not m:page(i).used then
								return false, ("page %d was cached, but not read"):format(i)
							end
						end
						if stats.reads < 2 then
							return false, "one read operation, expected at least two"
						end
						if bytes < s.n * 4096 then
							return false, ("%d bytes were read, expected %d"):format(bytes, s.n * 4096)
						end
						return true
					end,
					hints = {
						"The kernel reads ahead when it believes in a stream. Which advice says that there is none?",
						"`fadvise random 0 0` first, then `pread {{first * 4}}k ...` twice. Dropping what is too much "
							.. "with `dontneed` works as well.",
					},
				},
			},
			reveal = [[
That is all there is to a folio: some pages with one record, aligned, with one fate. What decides *how many* pages are
read, and *when*, is the readahead window: lab 02.
]],
		},
	},
}
