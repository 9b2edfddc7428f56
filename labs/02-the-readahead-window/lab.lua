-- Lab 02: the readahead window: its first size, its mark, its growth, what opens none, versions.

local function boot(s, kernel, ra_pages, size)
	return fl.machine { kernel = kernel, fs = "xfs", size = size or "8m", ra_kb = ra_pages * 4 }
end

-- The window that one cold read of `n` pages at the start of the file opens.
local function first_size(ra_pages, n)
	local m = fl.machine { kernel = "v6.18", fs = "xfs", size = "8m", ra_kb = ra_pages * 4, record = true }
	m:read(n * 4096)
	for e in m:events { name = "fl_window" } do
		return e.size
	end
end

-- Sizes of the windows a program meets that reads page by page.
local function window_sizes(kernel, ra_pages, n)
	local m = fl.machine { kernel = kernel, fs = "xfs", size = "16m", ra_kb = ra_pages * 4, record = true }
	m:read("4k", 2048)
	local list = {}
	for e in m:events { name = "fl_window" } do
		if #list < n then
			list[#list + 1] = e.size
		end
	end
	return list
end

-- How the next window follows from the one before, as the miniature does it at a mark.
local function grown(ra_pages, size)
	local m = fl.machine { kernel = "v6.12", fs = "xfs", size = "64m", ra_kb = ra_pages * 4 }
	m:policy {
		sync_ra = function(ra, req)
			return { start = 0, size = size, async_size = size }
		end,
	}
	m:read("4k")
	return m:window().size
end

lab {
	title = "02 The readahead window",
	summary = "Four numbers decide what is read before it is asked for: first size, growth, mark.",
	minutes = 50,
	steps = {
		step {
			id = "first-window",
			title = "One page asked, a window read",
			prepare = function(s)
				s.n = s.rng:int(2, 24)
				s.ra = s.rng:pick { 32, 64, 96, 128, 192, 256 }
				s.example = boot(s, "v6.18", 32)
				s.example:read("4k")
				s.m = boot(s, "v6.18", s.ra)
				s.table = { "| pages asked | window at ra_pages = 32 |", "|---|---|" }
				for _, n in ipairs { 1, 2, 3, 5, 9 } do
					s.table[#s.table + 1] = ("| %d | %d |"):format(n, first_size(32, n))
				end
				s.table = table.concat(s.table, "\n")
			end,
			brief = [[
A program opens a file and reads its first page. Nothing is cached, so this is a **miss**, and the kernel
must read. It could read one page. On {{example.kernel}} it reads this:

```
{{example:map{ to = 31 }}}
```

{{example:cached()}} pages: a **window** that starts at page {{example:window().start}} and is {{example:window().size}} pages long. The kernel bets that
a program that starts at the front will go on.

How large the first window is depends on two numbers: how many pages were **asked** for, and `ra_pages`,
the most the kernel will read ahead for this file (128 KiB, so {{example:window().ra_pages}} pages, unless somebody set `read_ahead_kb`). The rule
(`get_init_ra_size()`): round the request up to a power of two; if that is at most `ra_pages`/32, take four times as
much; else if it is at most `ra_pages`/4, take twice as much; else take `ra_pages`.

{{table}}
]],
			questions = {
				ask.number {
					id = "first",
					predict = true,
					unit = "pages",
					text = "Now `ra_pages` is **{{ra}}**, and the first read asks for **{{n}} pages**. How large is the window?",
					answer = function(s) return first_size(s.ra, s.n) end,
					hints = {
						"Round {{n}} up to a power of two first. "
							.. "{{ra}}/32 is {{ra // 32}}, {{ra}}/4 is {{ra // 4}}.",
					},
				},
				ask.func {
					id = "init_size",
					points = 8,
					text = "Write `init_size(asked, max)`: the size of the first window for a request of `asked` pages with "
						.. "`ra_pages` = `max`. Division is whole-numbered, as `//` in Lua.",
					valid = function(s, asked, max) return max >= 32 and max % 32 == 0 and asked >= 1 and asked <= max end,
					cases = function(s)
						local list = {}
						for _, max in ipairs { 32, 64, 128, 256 } do
							for i = 1, 5 do
								list[#list + 1] = { s.rng:int(1, max), max }
							end
							list[#list + 1] = { 1, max }
							list[#list + 1] = { max // 4, max }
							list[#list + 1] = { max // 4 + 1, max }
						end
						return list
					end,
					answer = function(s, asked, max) return first_size(max, asked) end,
					hints = {
						"First a loop: `local p = 1; while p < asked do p = p * 2 end`.",
						{ text = "Then three cases on `p`: `p <= max // 32`, `p <= max // 4`, and the rest.", cost = 2 },
					},
				},
			},
			run = function(s)
				s.m:read(s.n * 4096)
				print(("read %dk with ra_pages = %d:"):format(s.n * 4, s.ra))
				print(s.m:map { to = math.max(31, s.ra - 1) })
			end,
			reveal = [[
{{m:window().size}} pages. Small requests get a small first window: the kernel risks little before it has seen more.
]],
		},

		step {
			id = "mark",
			title = "The mark",
			prepare = function(s)
				s.n = s.rng:int(1, 8)
				s.m = boot(s, "v6.18", s.rng:pick { 32, 64 }, "16m")
				s.m:queue(("read %dk 400"):format(s.n * 4))
				s.m:step()
				-- Some reads already met marks: go on to a quiet moment, by the student's number.
				for i = 1, s.rng:int(1, 3) do
					s.m:stop_before("fl_mark_hit")
					s.m:step()
				end
				s.w = s.m:window()
				local hit = s.m:twin():stop_before("fl_mark_hit")
				s.hit = hit
				s.read_to = s.w.prev_pos // 4096
			end,
			brief = [[
When should the next window be read? If the kernel waits until the program has eaten this one, the program
waits for the disk. So the window has a **tail** of `async_size` pages, and the page where the tail begins
bears a **mark** (PG_readahead):

> mark = start + size - async_size

Reading on, the program will touch the marked page; that is an *async hit*: the kernel takes the mark off, reads the next
window, and returns to the program, which has the whole tail left.

On {{m.kernel}} (`ra_pages` {{w.ra_pages}}) a program reads pieces of {{n * 4}} KiB. It has read {{read_to}} pages:

```
{{m:map{ to = 127 }}}
```

The descriptor's window now: start **{{w.start}}**, size **{{w.size}}**, async_size **{{w.async_size}}**.
]],
			questions = {
				ask.number {
					id = "mark",
					unit = "page",
					predict = true,
					text = "Which page is the mark meant for? (The folio that holds that page carries it.)",
					answer = function(s) return s.w.start + s.w.size - s.w.async_size end,
					hints = { "start + size - async_size." },
				},
				ask.number {
					id = "which-read",
					predict = true,
					points = 6,
					text = "The program goes on reading {{n * 4}} KiB at a time. After how many **more** reads has the next window been "
						.. "asked for? (Type 1 if the very next read does it.)",
					answer = function(s)
						local m, count = s.m:twin(), 0
						local before = m:counters().fl_mark_hit
						repeat
							m:step()
							count = count + 1
						until m:counters().fl_mark_hit > before
						return count
					end,
					hints = {
						"The next read begins at page {{read_to}} and takes {{n}} pages. The marked folio starts at page "
							.. "{{hit.index}}.",
					},
				},
			},
			run = function(s)
				s.m:stop_before("fl_mark_hit")
				print("Just before the mark is met:")
				print(s.m:map { to = 127 })
				s.m:step()
				print("and after that read:")
				print(s.m:map { to = 127 })
			end,
			reveal = [[
The mark sat on the folio at page {{hit.index}}. Afterwards the window is start {{m:window().start}}, size {{m:window().size}},
async_size {{m:window().async_size}}: **a window read at a mark is all tail**, so its mark is on its very first page. From now on the
kernel is always a whole window ahead.
]],
		},

		step {
			id = "growth",
			title = "How windows grow",
			prepare = function(s)
				s.ra = s.rng:pick { 64, 128, 256 }
				s.sizes = window_sizes("v6.12", s.ra, 7)
				s.shown = s.rng:int(1, 2)
				s.rest = {}
				for i = s.shown + 1, s.shown + 4 do
					s.rest[#s.rest + 1] = s.sizes[i]
				end
			end,
			brief = [[
A program that keeps reading earns larger windows. At each mark (`get_next_ra_size()`): a window smaller than `ra_pages`/16 is
multiplied by **four**, one up to `ra_pages`/2 by **two**, and any larger one becomes `ra_pages`.

With `ra_pages` = {{ra}}, a program reads a large file page by page on v6.12. Its first window has {{sizes[1]}}
pages{{shown == 2 and (", the second " .. sizes[2]) or ""}}.
]],
			questions = {
				ask.list {
					id = "sizes",
					predict = true,
					points = 6,
					text = "Which sizes do the next **four** windows have?",
					answer = function(s) return s.rest end,
					hints = {
						"{{ra}}/16 is {{ra // 16}}, {{ra}}/2 is {{ra // 2}}. The window before the first of the four has "
							.. "{{sizes[shown]}} pages.",
					},
				},
				ask.func {
					id = "next_size",
					points = 6,
					text = "Write `next_size(size, max)`: the size of the window after one of `size` pages.",
					valid = function(s, size, max) return max >= 32 and max % 16 == 0 and size >= 1 and size <= max end,
					cases = function(s)
						local list = {}
						for _, max in ipairs { 32, 64, 96, 256 } do
							for i = 1, 6 do
								list[#list + 1] = { s.rng:int(1, max), max }
							end
							list[#list + 1] = { max // 16, max }
							list[#list + 1] = { max // 2, max }
						end
						return list
					end,
					answer = function(s, size, max) return grown(max, size) end,
					hints = { "Three cases: `size < max // 16`, `size <= max // 2`, and the rest. Mind `<` and `<=`." },
				},
			},
			run = function(s)
				local labels, values = {}, {}
				for i, size in ipairs(s.sizes) do
					labels[i], values[i] = ("window %d"):format(i), size
				end
				figure("growth", plot.bars { title = "Pages a window", labels = labels, values = values })
			end,
			reveal = [[
{{table.concat(sizes, ", ")}}: a few windows are enough to reach {{ra}} pages and stay there. Since v6.13 (commit 158cdce87c8c) a
window also never *shrinks* at a mark; before, one that a single large read had opened beyond `ra_pages` fell back.
]],
		},

		step {
			id = "streams",
			title = "What is a stream?",
			prepare = function(s)
				s.a = s.rng:int(200, 900)
				s.b = s.rng:int(1000, 1900)
				s.m = boot(s, "v6.18", 32)
				s.lone = s.m:twin()
				s.lone:pread(s.a * 4096, "4k")
				s.j, s.k, s.l = s.rng:int(1, 7), s.rng:int(1, 5), s.rng:int(1, 12)
				s.ops = ("pread %dk %dk; pread %dk %dk; pread %dk %dk"):format(s.a * 4, s.j * 4, s.b * 4,
					s.k * 4, (s.b + s.k) * 4, s.l * 4)
			end,
			brief = [[
Not every miss opens a window. On a miss the kernel asks, in this order (`page_cache_sync_ra()`):

1. Is it page 0, or is the request larger than `ra_pages`? Then it is a stream.
2. Does it begin where this descriptor's last read ended (`prev_pos`), on the same page or the next one? A stream.
3. Are enough pages just *before* it cached, more than it asks for? Somebody reads in order here. A stream.
4. Otherwise it is **random**: read what was asked, nothing more, and leave the window as it is.

One page read in the middle of a cold file, page {{a}}:

```
{{lone:map{ from = a - a % 32, to = a - a % 32 + 31 }}}
```

{{lone:cached()}} page, and no mark. Now a program on a fresh descriptor does this:

    {{ops}}

(from page {{a}} {{j}}, from page {{b}} {{k}}, and from page {{b + k}} {{l}}).
]],
			questions = {
				ask.number {
					id = "three-reads",
					predict = true,
					unit = "pages",
					points = 6,
					text = "How many pages are cached after these three reads (v6.18, `ra_pages` 32)?",
					answer = function(s)
						local m = s.m:twin()
						m:play(s.ops)
						return m:cached()
					end,
					hints = {
						"The first two reads are random: just what they ask for. The third begins right behind the second.",
						"The third asks for {{l}}: its window is `init_size({{l}}, 32)`.",
					},
				},
				ask.choice {
					id = "which-rule",
					text = "A file's pages 100 to 131 are cached, the descriptor is fresh, and a program reads 8 pages at page 132. Why does that open a window?",
					options = {
						"because 32 cached pages in a row lie before it, more than the 8 it asks for",
						"because a fresh descriptor always opens one",
						"because 8 pages are more than one",
						"because page 132 follows the end of this descriptor's last read",
					},
					answer = function(s)
						local m = boot(s, "v6.18", 32)
						m:record()
						m:fadvise("willneed", 100 * 4096, 32 * 4096)
						m:reopen()
						m:pread(132 * 4096, 8 * 4096)
						for e in m:events { name = "fl_window" } do
							if e.rule == "HISTORY" then
								return 1
							end
						end
						return 0
					end,
					hints = { "`prev_pos` of a fresh descriptor is -1: it follows nothing. Go through the four questions." },
				},
			},
			run = function(s)
				s.m:play(s.ops)
				print(s.m:map { from = s.a - s.a % 32, to = s.a - s.a % 32 + 31 })
				print(s.m:map { from = s.b - s.b % 32, to = s.b - s.b % 32 + 63 })
			end,
			reveal = [[
{{m:cached()}} pages. Reading two neighbouring pages somewhere in a file is enough to be taken for a stream; databases that do not
want this say `POSIX_FADV_RANDOM` (lab 04).
]],
		},

		step {
			id = "large-reads",
			title = "When one read is larger than the first window's half",
			prepare = function(s)
				s.n = s.rng:int(9, 31)
				s.reads = s.rng:int(2, 6)
				s.m = boot(s, "v6.18", 32)
				s.m:record()
			end,
			brief = [[
A first window is larger than the request where it can be, and what is too much is the tail: `async_size` = size - asked. If
the request takes the whole window, the tail is half of it (since v6.11; before, all of it).

On {{m.kernel}} with `ra_pages` 32 a program's first read asks for **{{n}} pages** at once.
]],
			questions = {
				ask.number {
					id = "tail",
					predict = true,
					unit = "pages",
					text = "The first window has 32 pages. How long is its tail?",
					answer = function(s)
						local m = boot(s, "v6.18", 32)
						m:record()
						m:read(s.n * 4096)
						for e in m:events { name = "fl_window" } do
							return e.async_size
						end
					end,
					hints = { "32 - {{n}}." },
				},
				ask.number {
					id = "after-large",
					predict = true,
					unit = "page",
					points = 6,
					text = "It goes on reading {{n}} pages at a time. Which is the largest cached page after **{{reads}}** reads?",
					answer = function(s)
						local m = boot(s, "v6.18", 32)
						m:read(s.n * 4096, s.reads)
						local last = 0
						for f in m:folios() do
							last = f.index + f.pages - 1
						end
						return last
					end,
					hints = {
						"{{reads}} reads take pages 0 to {{reads * n - 1}}. The first mark is at page {{n}}; after that windows of 32 pages "
							.. "follow each other, each with its mark on the first page: how many marks are met?",
					},
				},
			},
			run = function(s)
				s.m:read(s.n * 4096, s.reads)
				print(s.m:map {})
				for e in s.m:events { name = "fl_window" } do
					print(("window: start %d, size %d, async_size %d, because %s"):format(e.start, e.size, e.async_size, e.why))
				end
			end,
			reveal = [[
{{reads}} reads, {{m:counters().fl_window}} windows. A read that meets two marks opens two windows.
]],
		},

		step {
			id = "versions",
			title = "The same reads, another kernel",
			prepare = function(s)
				s.pages = s.rng:int(3, 12) * 32
				local function windows(kernel)
					local m = fl.machine { kernel = kernel, fs = "xfs", size = "16m", record = true }
					m:read("4k", s.pages)
					return m
				end
				s.old, s.new = windows("ab4443fe3ca6"), windows("v6.12")
				local function first(m)
					local list = {}
					for e in m:events { name = "fl_window" } do
						if #list < 5 then
							list[#list + 1] = ("| %d | %d | %d | %s |"):format(e.start, e.size, e.async_size, e.why)
						end
					end
					return "| start | size | tail | because |\n|---|---|---|---|\n" .. table.concat(list, "\n")
				end
				s.first = first
				s.eof_old = fl.machine { kernel = "v6.18", fs = "xfs", size = s.pages * 4096 }
				s.eof_new = fl.machine { kernel = "v7.3", fs = "xfs", size = s.pages * 4096 }
				s.eof_old:read("4k", s.pages)
				s.eof_new:read("4k", s.pages)
				s.calls_old = s.eof_old:counters().page_cache_async_ra
				s.calls_new = s.eof_new:counters().page_cache_async_ra
			end,
			brief = [[
Up to v6.10 one function, `ondemand_readahead()`, decided for misses and marks alike. It had a special case: if a read met the mark of the window
it had *just* set up, the next window was merged into it. Since v6.11 (commits 8051b82a0be0, 0b1efc3e78d1, 3a7a11a57e46, a6eccd5be3e9) misses
and marks have a function each.

A program reads page by page from the start. The kernel of March 2024 ({{old.kernel}}):

{{first(old)}}

v6.12:

{{first(new)}}

Another change, from v7.2 on: a window that reaches the **end of the file** gets no mark, for there is nothing behind it to read.
The file here has {{pages}} pages; both kernels read it to its end, page by page. v6.18 met {{calls_old}} marks.
]],
			questions = {
				ask.number {
					id = "marks-met",
					predict = true,
					unit = "marks",
					text = "How many does v7.3 meet?",
					answer = function(s) return s.calls_new end,
					hints = { "One window of that file reaches its end." },
				},
				ask.choice {
					id = "what-changed",
					text = "Which of the two tables shows the merged window?",
					options = {
						"the first: a window of 24 pages right behind one of 4",
						"the second: windows of 4, 8 and 16 pages",
						"both",
						"neither",
					},
					answer = function(s)
						for e in s.old:events { name = "fl_window" } do
							if e.size == 24 then
								return 1
							end
						end
						return 0
					end,
					hints = { "8 pages and the 16 after them, read as one window." },
				},
			},
			run = function(s)
				print(("marks met: v6.18 %d, v7.3 %d"):format(s.calls_old, s.calls_new))
			end,
			reveal = [[
One less. A mark at the end of a file makes the kernel compute a window that holds nothing: harmless, and a call for nothing for every small file read.
]],
		},

		step {
			id = "place-a-mark",
			title = "Put a mark where you want it",
			prepare = function(s)
				s.p = s.rng:int(50, 400)
				s.try = boot(s, "v6.18", 32)
				s.try:pread(s.p * 4096, "4k")
			end,
			brief = [[
Now use the rules backwards. The machine is {{try.kernel}}, `ra_pages` 32, the file cold and 8 MiB long. A single read of page {{p}} leaves no mark:

```
{{try:map{ from = p - p % 32, to = p - p % 32 + 31 }}}
```
]],
			questions = {
				ask.workload {
					id = "place",
					points = 8,
					max_ops = 6,
					text = "Write a workload of at most **6** operations after which the folio that holds page **{{p}}** carries the mark, and at most **40** pages are cached.",
					check = function(s, w)
						local m = boot(s, "v6.18", 32)
						m:play(w)
						local page = m:page(s.p)
						if not page then
							return false, ("page %d is not cached"):format(s.p)
						end
						if m:cached() > 40 then
							return false, ("%d pages are cached, expected at most 40"):format(m:cached())
						end
						if not page.folio.marked then
							return false, ("page %d is cached, but its folio bears no mark"):format(s.p)
						end
						return true
					end,
					hints = {
						"Make yourself a stream that begins just before the page: two neighbouring pages are enough (step 4). "
							.. "A first window of 4 pages for a request of 1 has its mark on its second page.",
						"`pread {{(p - 2) * 4}}k 4k; pread {{(p - 1) * 4}}k 4k`: the window starts at page {{p - 1}}.",
					},
				},
			},
			reveal = [[
You have driven the kernel's readahead by hand. One bit in one folio, and where it is rounded to, is all that lab 03's regression of a fifth of
a benchmark is about.
]],
		},
	},
}
