-- Lab 05: streams that share a descriptor, marks and windows, lost windows, drift, threads.

local function boot(kernel, size, ra_kb, fs)
	return fl.machine { kernel = kernel, fs = fs or "xfs", size = size or "64m", disk = "nvme", ra_kb = ra_kb }
end

-- Several readers by turns, `n` reads of `pages` pages each, from the pages in `starts`; each on a
-- descriptor of its own if `own`.
local function turns(starts, n, pages, own)
	local ops = {}
	for i = 0, n - 1 do
		for k, start in ipairs(starts) do
			if own then
				ops[#ops + 1] = ("fd %d"):format(k - 1)
			end
			ops[#ops + 1] = ("pread %dk %dk"):format((start + i * pages) * 4, pages * 4)
		end
	end
	return table.concat(ops, "; ")
end

-- Marks that were met and after which nothing was read.
local function lost(m)
	local n, open = 0, false
	for e in m:events { name = { "fl_mark_hit", "fl_read", "mm_filemap_add_to_page_cache" } } do
		if e.name == "mm_filemap_add_to_page_cache" then
			open = false
		else
			if open then
				n = n + 1
			end
			open = e.name == "fl_mark_hit"
		end
	end
	return n
end

local function play(kernel, ops, fs)
	local m = boot(kernel, "64m", 128, fs)
	m:record()
	m:play(ops)
	return m
end

-- The first page from `page` on that is not cached.
local function hole(m, page)
	while m:page(page) do
		page = page + 1
	end
	return page
end

local function marked_in(m, first, last)
	for f in m:folios(first, last) do
		if f.marked then
			return f
		end
	end
end

-- The first mark that a reader of `starts` (by turns, one descriptor, `pages` pages at a time) meets
-- without the descriptor expecting it: { op, index, req, start, size, hole, folio, before }, where
-- `before` is the machine just before that read. Nil if `good` likes none.
local function first_unexpected(kernel, starts, n, pages, good)
	local m, ops = boot(kernel), {}
	for i = 0, n - 1 do
		for _, start in ipairs(starts) do
			local page = start + i * pages
			local f, w = marked_in(m, page, page + pages - 1), m:window()
			local h = f and hole(m, f.index)
			local windows = m:counters().fl_window
			m:pread(page * 4096, pages * 4096)
			local op = ("pread %dk %dk"):format(page * 4, pages * 4)
			if f and (w.mark < f.index or w.mark >= f.index + f.pages) and m:counters().fl_window == windows + 1 then
				local new = m:window()
				local e = {
					op = op, index = f.index, req = page + pages - f.index, start = new.start, size = new.size, hole = h,
					folio = f, first = start,
				}
				if good(e) then
					e.before = boot(kernel)
					e.before:play(table.concat(ops, "; "))
					return e
				end
			end
			ops[#ops + 1] = op
		end
	end
end

-- What the miniature decides at a marked folio of one page that the descriptor did not expect. No drift
-- in it, and no rounding of the window's end.
local function unexpected(index, req, max, cached)
	local m = fl.machine {
		kernel = "v6.12.y-CURSOR_DRIFT", fs = "ext4", size = "4m", ra_kb = max * 4, io_kb = max * 4, record = true,
	}
	m:policy { sync_ra = function(ra) return { start = index - 1, size = 2, async_size = 1 } end }
	m:pread((index - 1) * 4096, 1)
	m:policy(nil)
	m:fd(1)
	for page in pairs(cached) do
		if page ~= index then
			m:fadvise("willneed", page * 4096, 4096)
		end
	end
	assert(m:page(index).folio.marked)
	m:fd(2)
	local last = m:counters().fl_window or 0
	m:pread(index * 4096, req * 4096)
	local found = false
	for e in m:events { name = "fl_window" } do
		if e.rule == "NOT_EXPECTED" then
			found = { e.start, e.size }
			break
		end
	end
	return found
end

-- The smallest request at page 2 * ra for which the two kernels disagree whether it is a stream, with
-- `ra` and more pages cached before it.
local function disagree(ra)
	for r = 1, ra do
		local sizes = {}
		for i, kernel in ipairs { "v6.18", "v7.3" } do
			local m = fl.machine { kernel = kernel, fs = "xfs", size = "8m", ra_kb = ra * 4, io_kb = 4096 }
			m:fadvise("willneed", 0, 2 * ra * 4096)
			m:fd(1)
			m:pread(2 * ra * 4096, r * 4096)
			sizes[i] = m:window().size
		end
		if sizes[1] ~= sizes[2] then
			return r
		end
	end
end

lab {
	title = "05 Interleaved readers",
	summary = "Streams that share a descriptor, marks that others eat, windows that get lost, and the price.",
	minutes = 55,
	steps = {
		step {
			id = "two-readers",
			title = "Each with a descriptor of its own",
			prepare = function(s)
				s.d = s.rng:pick { 2, 3, 4 }
				s.front = s.rng:pick { true, false }
				s.pages = s.rng:pick { 4, 8, 16 }
				s.n = 768 // s.pages
				s.starts = {}
				for i = 1, s.d do
					s.starts[i] = (i - 1) * 4096 + s.rng:int(1, 60) * 16
				end
				if s.front then
					s.starts[1] = 0
				end
				s.list = table.concat(s.starts, ", ")
				s.own = play("v6.18", turns(s.starts, s.n, s.pages, true))
				s.shared = play("v6.18", turns(s.starts, s.n, s.pages, false))
				s.alone = play("v6.18", turns({ s.starts[2] }, s.n, s.pages, false))
			end,
			brief = [[
**{{d}} readers** go through one file at the same time: they start at pages {{list}}, read {{pages * 4}} KiB at a time, and take turns. Each does
{{n}} reads, so {{n * pages}} pages. On v6.18, file cold, `ra_pages` 32.

First each reader has a **descriptor of its own** (its own `open()`). A descriptor holds one readahead window and one `prev_pos`, the end of its last read. So each
window sees one stream, and it is as if each reader were alone.

Remember when a miss is a stream (lab 02): at page 0, or at the end of this descriptor's last read, or behind enough cached pages. A fresh descriptor's
first read elsewhere is *random*: it reads what was asked and opens no window.
]],
			questions = {
				ask.number {
					id = "own-misses",
					predict = true,
					unit = "misses",
					text = "How many of the {{d * n}} reads **miss** the cache and have to wait for the disk from the start?",
					answer = function(s) return s.own:misses() end,
					hints = {
						"After its first window, a reader meets marks, not misses.",
						"A reader that starts at page 0 misses once. Another one misses twice: its first read is random, its second opens the window.",
					},
				},
				ask.choice {
					id = "shared",
					predict = true,
					text = "Now all {{d}} use **one descriptor** with `pread()`, as threads do. The same reads in the same order. What will that cost?",
					options = {
						"many more misses, and much more time",
						"the same misses and the same time",
						"fewer misses: the window is larger for all of them together",
						"many more pages read, but the same misses",
					},
					answer = function(s)
						local a, b = s.own, s.shared
						if b:misses() > 2 * a:misses() and b:clock() > a:clock() * 1.3 then
							return 1
						elseif b:misses() == a:misses() then
							return 2
						end
						return b:misses() < a:misses() and 3 or 4
					end,
					hints = { "One window, and the reader whose turn it is overwrites it." },
				},
			},
			run = function(s)
				print("                 misses  requests  pages read  wasted  ms")
				for _, c in ipairs { { "own descriptors", s.own }, { "one descriptor", s.shared } } do
					local st = c[2]:stats()
					print(("%-15s %7d %9d %11d %7d  %s"):format(c[1], c[2]:misses(), st.ios, st.pages.read,
						st.pages.wasted, fl.ms(st.virtual_ns)))
				end
				figure("shared-descriptor", plot.bars {
					title = ("%d readers, ms"):format(s.d),
					labels = { "own descriptors", "one descriptor" },
					values = { s.own:clock() / 1e6, s.shared:clock() / 1e6 },
				})
			end,
			reveal = [[
{{own:misses()}} misses became {{shared:misses()}}, {{fl.ms(own:clock())}} ms became {{fl.ms(shared:clock())}} ms. The pages that nobody used (`wasted`)
hardly tell: {{own:stats().pages.wasted}} and {{shared:stats().pages.wasted}}. What is lost is not reading too much but reading too **late**. The rest of this lab finds out where.
]],
		},

		step {
			id = "torn",
			title = "A window torn apart",
			prepare = function(s)
				-- Take numbers for which the cursor of step 5 does not drift.
				repeat
					s.n = s.rng:int(1, 10)
					s.a, s.b = s.rng:int(30, 100) * 32, s.rng:int(200, 300) * 32
					local nth = s.rng:int(1, 2)
					s.next = first_unexpected("v6.12", { s.a, s.b }, 16, s.n, function(e)
						nth = nth - (e.first == s.a and e.start == e.hole and 1 or 0)
						return e.first == s.a and e.start == e.hole and nth <= 0
					end)
				until s.next
				s.probe = s.next.before
				s.m = boot("v6.12")
				s.m:play(turns({ s.a, s.b }, 2, s.n, false))
				s.m:queue(("pread %dk %dk"):format((s.a + 2 * s.n) * 4, s.n * 4))
				s.first = boot("v6.12")
				s.first:play(turns({ s.a, s.b }, 2, s.n, false))
				s.first:pread((s.a + 2 * s.n) * 4096, s.n * 4096)
				s.first = s.first:window()
				s.shown = s.a
				s.last = math.max(s.a + 63, s.next.hole + 15)
			end,
			brief = [[
Two readers on one descriptor, v6.12, `ra_pages` 32: one reads from page {{a}}, the other from page {{b}}, **{{n}} {{n == 1 and 'page' or 'pages'}}** at a time, by turns.

Neither starts at page 0. Neither ever begins where the *descriptor's* last read ended, for that was the other reader's. So two of the three ways to be a stream are closed. The third
stays: are there, just before the read, more cached pages than it asks for? (`page_cache_prev_miss()` counts them.) After two reads of each reader:

```
{{m:map{ from = shown, to = shown + 31 }}}
```

The descriptor's window: size {{m:window().size}}. The next operation is `{{m:next_op()}}`, and it will open a window, for
{{2 * n}} cached pages lie before it. Such a window has as many pages as *lie before it* plus as many as are *asked for*, `ra_pages` at most, and its mark on its
**last** page: a small bet.
]],
			questions = {
				ask.number {
					id = "history-size",
					predict = true,
					unit = "pages",
					text = "How large will it be?",
					answer = function(s) return s.first.size end,
					hints = { "{{2 * n}} + {{n}}, at most 32." },
				},
				ask.number {
					id = "unexpected-start",
					predict = true,
					unit = "page",
					points = 6,
					text = "The other reader opens such a window as well, and so it *overwrites* this one, and so on by turns. Some reads later the first reader meets a mark of its own. Its region then "
						.. "looks like this:\n\n```\n{{probe:map{ from = shown, to = last }}}\n```\n\nThe descriptor's window is at page {{probe:window().start}}: the kernel did not expect "
						.. "this mark. It looks for the first page behind the mark that is not cached and starts the next window there. Which page?",
					answer = function(s) return s.next.start end,
					hints = { "Every sign of the map that is not a blank, a dot or `>` is a cached page. Count them from page {{shown}} on." },
				},
				ask.number {
					id = "unexpected-size",
					predict = true,
					unit = "pages",
					points = 6,
					text = "The marked folio starts at page {{next.index}}, and {{next.req}} {{next.req == 1 and 'page is' or 'pages are'}} asked for from there on. The new window's size is `next_size` (lab 02) of "
						.. "(new start - marked page + pages asked for), with `ra_pages` 32. How large is it?",
					answer = function(s) return s.next.size end,
					hints = {
						"{{next.start}} - {{next.index}} + {{next.req}} = {{next.start - next.index + next.req}}.",
						"`next_size` with 32: below 2 four times as much, up to 16 twice as much, else 32.",
					},
				},
			},
			run = function(s)
				s.m:step()
				local w = s.m:window()
				print(("The window: start %d, size %d, async_size %d."):format(w.start, w.size, w.async_size))
				s.probe:play(s.next.op)
				w = s.probe:window()
				print(("The later one: start %d, size %d, async_size %d."):format(w.start, w.size, w.async_size))
			end,
			reveal = [[
So the kernel does rescue interleaved readers: the cached pages themselves say that somebody reads in order here. It costs two random reads for each reader first,
and a window that starts small. If all went as in this step, sharing a descriptor would cost little.
]],
		},

		step {
			id = "mark-and-window",
			title = "The mark is the folio's, the window the descriptor's",
			prepare = function(s)
				s.n = s.rng:int(1, 16)
				s.ra = s.rng:pick { 32, 64, 128 }
				s.m = boot("v6.18", "16m", s.ra * 4)
				s.m:play(("fd 0; read %dk; fd 1"):format(s.n * 4))
				s.before = s.m:twin()
				s.w0 = s.m:window(0)
				s.m:queue("read 4k 400")
				s.next = s.m:stop_before("fl_window")
				s.after = s.m:twin()
				s.after:step()
				s.later = s.after:twin()
				s.later:play(("fd 0; read 4k %d"):format(s.w0.size - s.n))
			end,
			brief = [[
The other way round: two descriptors, one place. On v6.18, `ra_pages` {{ra}}, descriptor 0 reads {{n * 4}} KiB from the front. Descriptor 1 then reads the same file from the front, a page at a time.

```
{{before:map{}}}
```

| | start | size | mark meant for |
|---|---|---|---|
| descriptor 0 | {{w0.start}} | {{w0.size}} | page {{w0.mark}} |
| descriptor 1 | 0 | 0 | none |

Everything descriptor 1 wants is cached, until it reaches the folio with the mark. The mark is a bit *in the folio*. It does not say whose it is. The window is
a record *in the descriptor*.
]],
			questions = {
				ask.list {
					id = "window-zero",
					predict = true,
					points = 4,
					text = "Descriptor 1 reads the marked page. What are start and size of descriptor **0**'s window afterwards? (Two numbers.)",
					answer = function(s)
						local w = s.after:window(0)
						return { w.start, w.size }
					end,
					hints = { "Who read?" },
				},
				ask.list {
					id = "window-one",
					predict = true,
					points = 6,
					text = "And start and size of descriptor **1**'s? (It did not expect the mark, so start is the first page that is not cached; v6.18 rounds the end of the window *down* to a "
						.. "multiple of 4 here. The marked page is {{w0.mark}}, one page is asked for.)",
					answer = function(s)
						local w = s.after:window(1)
						return { w.start, w.size }
					end,
					hints = {
						"Start: {{w0.size}}. Size before rounding: `next_size` of ({{w0.size}} - {{w0.mark}} + 1) = "
							.. "{{w0.size - w0.mark + 1}} with `ra_pages` {{ra}}.",
					},
				},
				ask.choice {
					id = "mark-gone",
					text = "Now descriptor 0 goes on, a page at a time, to the end of its window at page {{w0.size - 1}}. What does it meet at page {{w0.mark}}, where its own mark was?",
					options = {
						"nothing: the mark is used up, it just reads a cached page",
						"its mark: each descriptor sees its own marks",
						"a miss: the page was dropped with the mark",
					},
					answer = function(s)
						local hits = s.later:counters().fl_mark_hit - s.after:counters().fl_mark_hit
						local more = s.later:misses() - s.after:misses()
						return hits == 0 and more == 0 and 1 or hits > 0 and 2 or 3
					end,
					hints = { "One bit, and the kernel takes it off before it reads." },
				},
			},
			run = function(s)
				s.m:step()
				print(s.m:map {})
				print(("Descriptor 1's window came of this: %s."):format(s.next.why))
			end,
			reveal = [[
Two readers in the *same* place help each other: whoever comes first eats the mark and reads on for both. Descriptor 0 will find descriptor 1's mark at page {{after:window(1).start}},
which *it* does not expect, and so on. Readers in the same place and readers in different places need opposite things.
]],
		},

		step {
			id = "lost",
			title = "A mark is met, and nothing is read",
			prepare = function(s)
				s.lost = lost
				s.n = s.rng:int(60, 120)
				repeat
					s.a, s.b = s.rng:int(1, 30) * 64, s.rng:int(70, 200) * 64
					s.ops = turns({ s.a, s.b }, s.n, 16, false)
					-- The first mark in vain that need not have been.
					s.next = first_unexpected("v6.12", { s.a, s.b }, 40, 16, function(e)
						return e.start == e.index and e.hole == e.index + 32
					end)
				until s.next
				s.m, s.hole = s.next.before, s.next.hole
				s.rows = { "| kernel | marks met | in vain | misses | folios added | ms |", "|---|---|---|---|---|---|" }
				s.ran = {}
				for _, kernel in ipairs { "v6.12", "v6.12.y", "v6.17", "v7.3" } do
					local m = play(kernel, s.ops)
					s.ran[kernel] = m
					local c = m:counters()
					s.rows[#s.rows + 1] = ("| %s | %d | %d | %d | %d | %s |"):format(kernel, c.fl_mark_hit, lost(m), m:misses(),
						c.mm_filemap_add_to_page_cache, fl.ms(m:clock()))
				end
				s.rows = table.concat(s.rows, "\n")
				s.own = play("v6.18", turns({ s.a, s.b }, s.n, 16, true))
				s.page = s.next.index
				s.w = s.m:window()
			end,
			brief = [[
Larger reads. Two readers on one descriptor, from page {{a}} and from page {{b}}, {{16 * 4}} KiB at a time, {{n}} reads each:

{{rows}}

(With a descriptor each, on v6.18: {{own:misses()}} misses, {{fl.ms(own:clock())}} ms.) Many marks are met **in vain**: the mark is taken off, and nothing is read. The reader runs to the end of what is cached, misses,
and waits. That is where the time went.

What the kernel does at a mark that it did not expect (`page_cache_async_ra()`), F being the marked folio's first page, *m* being `ra_pages`:

1. g = the first page that is not cached, among the *m* pages F + 1, F + 2, ..., F + m (`page_cache_next_miss()`).
2. If there is none: read nothing. So much is cached that there is no hurry.
3. Else start a window at g, of `next_size`(g - F + pages asked for).

v6.12 in the middle of it: a reader has come to the mark at page {{page}}; the descriptor's window is at page {{w.start}}.

```
{{m:map{ from = page - 32, to = page + 63 }}}
```
]],
			questions = {
				ask.number {
					id = "true-hole",
					predict = true,
					unit = "page",
					text = "By this rule, where should the next window start?",
					answer = function(s) return s.hole end,
					hints = { "Which page behind page {{page}} is the first that is not cached? It must be among pages {{page + 1}} to {{page + 32}}." },
				},
				ask.choice {
					id = "which-knob",
					points = 6,
					text = "v6.12.y differs from v6.12 in a few commits. Which of them makes the difference in the table? (`foliolab run --kernel v6.12+KNOB` tries one.)",
					options = {
						"NEXT_MISS_FIX: without a hole, page_cache_next_miss() returns the page after the range",
						"KEEP_BIG_WINDOW: a mark never makes the window smaller",
						"taking FALLBACK_SHORTEN back: the fallback reads the whole window again",
					},
					answer = function(s)
						local found
						for i, knob in ipairs { "+NEXT_MISS_FIX", "+KEEP_BIG_WINDOW", "-FALLBACK_SHORTEN" } do
							local m = play("v6.12" .. knob, s.ops)
							if m:clock() == s.ran["v6.12.y"]:clock() then
								assert(not found, "two knobs do it")
								found = i
							end
						end
						return found
					end,
					hints = { "The question at such a mark is: where is the next page that is not cached?" },
				},
				ask.func {
					id = "unexpected",
					points = 10,
					text = "Write the rule. `unexpected(index, req, max, cached)`: the marked folio is the one page `index`, `req` pages are asked for, `max` is `ra_pages` (`req` is not larger), and `cached[p]` is true for "
						.. "a page p in the cache. Return `{ start, size }`, or `false` if nothing is read.",
					valid = function(s, index, req, max, cached) return req >= 1 and req <= max and (max == 32 or max == 64) and cached[index] end,
					cases = function(s)
						local list = {}
						local function case(index, req, max, ahead, gap)
							local cached = {}
							for p = index, index + ahead do
								cached[p] = true
							end
							if gap then
								for p = index + ahead + 2, index + ahead + 6 do
									cached[p] = true
								end
							end
							list[#list + 1] = { index, req, max, cached }
						end
						for _, max in ipairs { 32, 64 } do
							case(100, 1, max, 0)
							case(100, 1, max, max - 1)
							case(100, 1, max, max)
							case(100, 1, max, max + 3)
							case(s.rng:int(40, 300), s.rng:int(1, max), max, s.rng:int(1, max - 2), true)
						end
						for i = 1, 6 do
							case(s.rng:int(40, 300), s.rng:int(1, 12), 32, s.rng:int(0, 14), i % 2 == 0)
						end
						return list
					end,
					answer = function(s, index, req, max, cached) return unexpected(index, req, max, cached) end,
					hints = {
						"`for g = index + 1, index + max do if not cached[g] then ... end end`, then `return false`.",
						{
							text = "Inside: `local n = g - index + req`; then `next_size`: `n < max // 16` gives 4n, `n <= max // 2` gives 2n, "
								.. "else max.",
							cost = 2,
						},
					},
				},
			},
			run = function(s)
				s.m:play(s.next.op)
				print("What v6.12 does:")
				print(("window: start %d, size %d; it is %d pages that are cached already."):format(s.next.start, s.next.size,
					s.m:cached(s.next.start, s.next.start + s.next.size - 1)))
				print(s.m:map { from = s.page - 32, to = s.page + 63 })
			end,
			reveal = [[
The hole is at page {{hole}}, and it is among the pages the kernel looks at. It should have found it. It started the window at page {{next.start}} instead, the marked page itself: it wants to read what is there
already, gets nothing, and the mark is gone.

There are two errors on top of each other. The first is what `page_cache_next_miss()` returns when it finds *no* hole in F + 1 to F + m. Up to v6.10, F + m. From v6.11 on it means to return F + m + 1, one past the range, but the counter
it uses has run out: it returns F (901a269ff3d5). The kernel takes that for a hole at F. Fixed by NEXT_MISS_FIX (v6.17; on recorded kernels 6.12.117 and 6.16.12 as well): now "no hole" is understood, and nothing is read, knowingly.

But there *was* a hole. Why did it not see it? That is the second one.
]],
		},

		step {
			id = "drift",
			title = "The cursor drifts",
			prepare = function(s)
				repeat
					s.a, s.b = s.rng:int(10, 60) * 100 + s.rng:int(0, 99), s.rng:int(80, 150) * 100 + s.rng:int(0, 99)
					s.next = first_unexpected("v6.18", { s.a, s.b }, 100, 1, function(e)
						return e.folio.order > 0 and e.start > e.hole and e.start <= e.hole + 8
					end)
				until s.next
				s.before, s.folio, s.hole = s.next.before, s.next.folio, s.next.hole
				s.from = s.next.index - s.next.index % 32
				local ops = turns({ s.rng:int(1, 30) * 64, s.rng:int(70, 200) * 64 }, 100, 16, false)
				s.with = play("v6.18", ops)
				s.without = play("v6.18-CURSOR_DRIFT", ops)
				s.small = play("v6.12", ops, "ext4")
				s.small_lost = lost(s.small)
				s.large_lost = lost(play("v6.12", ops))
			end,
			brief = [[
`page_cache_next_miss()` walks through the cache's tree with a cursor that has two parts: a *page number*, and a *slot* of the tree. A folio of several pages is found at its **first** slot. If the walk begins in
the middle of such a folio, the slot jumps back to the folio's first page, and the page number stays. From then on both go up by one each step. The page number is ahead: it *says* page 105 and *looks* at page 104.

The walk begins at F + 1. If the marked folio has more than one page, that is in its middle, one page in. So:

> the kernel finds the first hole **one page too late**, as long as the walk stays in this part of the tree.

On v6.18, two readers a page at a time, from page {{a}} and from page {{b}}. One of them is about to read page {{next.index}}, whose folio of {{folio.pages}} pages carries the mark; the descriptor does not expect it.

```
{{before:map{ from = from, to = from + 95 }}}
```
]],
			questions = {
				ask.number {
					id = "drift-hole",
					predict = true,
					unit = "page",
					points = 2,
					text = "Which is the first page behind the mark that is not cached?",
					answer = function(s) return s.hole end,
					hints = { "Each line has 32 or 64 pages, and begins with the number of its first page." },
				},
				ask.number {
					id = "drift-start",
					predict = true,
					unit = "page",
					text = "And where does the kernel start the window?",
					answer = function(s) return s.next.start end,
					hints = {
						"The walk begins {{next.start - hole}} {{next.start - hole == 1 and 'page' or 'pages'}} inside the folio.",
					},
				},
				ask.choice {
					id = "small-folios",
					text = "Step 4's readers ({{16 * 4}} KiB at a time) on v6.12 met {{large_lost}} marks in vain, on xfs. How many on **ext4** of v6.12, which has folios of one page only?",
					options = { "none", "about as many", "twice as many" },
					answer = function(s)
						return s.small_lost == 0 and 1 or s.small_lost < 1.5 * s.large_lost and 2 or 3
					end,
					hints = { "Can a walk begin in the middle of a folio of one page?" },
				},
			},
			run = function(s)
				s.before:play(s.next.op)
				print(s.before:map { from = s.from, to = s.from + 95 })
				print(("The window: start %d, size %d. Page %d stays out of the cache."):format(s.next.start, s.next.size, s.hole))
				print(("\nStep 4's readers on v6.18:      %3d marks met in vain, %2d misses, %s ms"):format(lost(s.with), s.with:misses(),
					fl.ms(s.with:clock())))
				print(("without the drift (no kernel):  %3d                    %2d         %s ms"):format(lost(s.without),
					s.without:misses(), fl.ms(s.without:clock())))
			end,
			reveal = [[
A page is left out, a reader will miss it, alone, and wait for the disk. And step 4's riddle is solved: with exactly 32 pages cached from F on, the hole is the *last* page of the walk, F + 32; the drifting cursor says "F + 32" and looks at F + 31,
which is cached. No hole found.

The drift is in `xas_next()` and `xas_load()` of all six recorded kernels (`foliolab golden`; the knob CURSOR_DRIFT takes it away in the miniature only). A curiosity of one step, and it costs this workload
{{fl.ms(with:clock() - without:clock())}} of {{fl.ms(with:clock())}} ms.
]],
		},

		step {
			id = "versions",
			title = "The other direction: v7.3",
			prepare = function(s)
				s.ra = s.rng:pick { 24, 32, 48, 64, 80, 96, 128 }
				s.disagree = disagree
				s.demo = fl.machine { kernel = "v6.18", fs = "xfs", size = "1m" }
				s.demo:play("fadvise willneed 400k 40k; fd 1; pread 440k 16k")
				s.b = s.rng:int(40, 200) * 64
				s.ops = turns({ 0, s.b }, 600, 1, false)
				s.ran = { ["v6.12"] = play("v6.12", s.ops), ["v6.17"] = play("v6.17", s.ops) }
				s.own = play("v6.17", turns({ 0, s.b }, 600, 1, true))
			end,
			brief = [[
There is a function for the other direction, too. Step 2's rule counts cached pages *before* a read: `page_cache_prev_miss()` walks back from the page before it, `ra_pages` pages at most. If it finds a hole, the pages between are the
history. If the history is **longer than the request**, it is a stream. Pages 100 to 109 cached by somebody, then a fresh descriptor reads 4 pages at page 110:

```
{{demo:map{ from = 96, to = 127 }}}
```

10 pages of history, 4 asked for: a window of {{demo:window().size}}.

If the walk finds no hole, up to v7.1 the function returns the *last page it looked at*: the history counts one page short, `ra_pages` - 1. Since v7.2 it returns the page after that: `ra_pages`. (Recorded on 7.3.4, `foliolab golden`; the knob
PREV_MISS_FIX.) This differs in one case only.
]],
			questions = {
				ask.number {
					id = "prev-miss",
					predict = true,
					unit = "pages",
					points = 6,
					text = "`ra_pages` is **{{ra}}**, and more pages than that are cached just before a read. For which size of the request (at most `ra_pages`) do v6.18 and v7.3 **differ**: one takes it for a stream, the other does not?",
					answer = function(s) return disagree(s.ra) end,
					hints = {
						"v6.18 counts {{ra - 1}} pages of history, v7.3 counts {{ra}}. A stream needs a history longer than the request.",
					},
				},
				ask.choice {
					id = "slower",
					text = "Two readers by turns on one descriptor, **a page at a time**, from page 0 and from page {{b}}: v6.12 takes {{fl.ms(ran[\"v6.12\"]:clock())}} ms, v6.17 {{fl.ms(ran[\"v6.17\"]:clock())}} ms. (A descriptor each, v6.17: "
						.. "{{fl.ms(own:clock())}} ms.) Which of the changes of v6.17 costs most of it? That is: which one, taken back, makes v6.17 fastest?",
					options = {
						"END_ALIGN: the end of a window read at a mark is rounded down to the folio size",
						"RA_ORDER_FIELD: the folio order is remembered in the descriptor, so the readers share it",
						"NEXT_MISS_FIX: without a hole, page_cache_next_miss() returns the page after the range",
					},
					answer = function(s)
						local best, found
						for i, knob in ipairs { "END_ALIGN", "RA_ORDER_FIELD", "NEXT_MISS_FIX" } do
							local ns = play("v6.17-" .. knob, s.ops):clock()
							if not best or ns < best then
								best, found = ns, i
							end
						end
						return found
					end,
					hints = {
						"`foliolab run --kernel v6.17-KNOB` tries one. Windows of a slow start have a few pages; which change makes *small* windows smaller still?",
					},
				},
			},
			run = function(s)
				local function sizes(kernel)
					local t = {}
					for _, r in ipairs { s.ra - 2, s.ra - 1, s.ra } do
						local m = fl.machine { kernel = kernel, fs = "xfs", size = "8m", ra_kb = s.ra * 4, io_kb = 4096 }
						m:fadvise("willneed", 0, 2 * s.ra * 4096)
						m:fd(1)
						m:pread(2 * s.ra * 4096, r * 4096)
						t[#t + 1] = ("%d pages: %s"):format(r, m:window().size == 0 and "random" or "a stream")
					end
					return table.concat(t, ", ")
				end
				print("v6.18: " .. sizes("v6.18"))
				print("v7.3:  " .. sizes("v7.3"))
			end,
			reveal = [[
So in short, for readers that share a descriptor:

| | v6.12 | v6.17 | v7.3 |
|---|---|---|---|
| "no hole" ahead | a hole at the mark | nothing read | nothing read |
| "no hole" behind | one page short | one page short | right |
| window's end | as it comes | rounded | rounded |
| folio order from | the marked folio | descriptor | descriptor |
| the cursor drifts | yes | yes | yes |

(901a269ff3d5; recorded kernels and `foliolab kernels --knobs`: NEXT_MISS_FIX, PREV_MISS_FIX, END_ALIGN, RA_ORDER_FIELD, CURSOR_DRIFT.)
]],
		},

		step {
			id = "threads",
			title = "Threads with pread",
			prepare = function(s)
				s.t = s.rng:pick { 3, 4 }
				s.kernel = s.rng:pick { "v6.12", "v6.17", "v7.3" }
				s.each = s.rng:int(160, 320)
				local starts = {}
				for i = 1, s.t do
					starts[i] = i * 3000 + s.rng:int(0, 500)
				end
				-- Who runs when is up to the scheduler: a random order, the same for all runs.
				local left, order = {}, {}
				for i = 1, s.t do
					for _ = 1, s.each // 4 do
						order[#order + 1] = i
					end
				end
				s.rng:shuffle(order)
				local function ops(how)
					local list, at = {}, {}
					if how == "random" then
						list[1] = "fadvise random 0 0"
					end
					for _, i in ipairs(order) do
						at[i] = at[i] or starts[i]
						if how == "own" then
							list[#list + 1] = ("fd %d"):format(i - 1)
						elseif how == "willneed" and (at[i] - starts[i]) % 64 == 0 then
							-- The next 64 pages, one piece ahead; at the start the first piece as well.
							local from = at[i] == starts[i] and at[i] or at[i] + 64
							local to = math.min(at[i] + 128, starts[i] + s.each // 4 * 4)
							if to > from then
								list[#list + 1] = ("readahead %dk %dk"):format(from * 4, (to - from) * 4)
							end
						end
						list[#list + 1] = ("pread %dk 16k"):format(at[i] * 4)
						at[i] = at[i] + 4
					end
					return table.concat(list, "; ")
				end
				s.ran = {}
				for _, how in ipairs { "shared", "own", "random", "willneed" } do
					s.ran[how] = play(s.kernel, ops(how))
				end
			end,
			brief = [[
Real threads do not take turns: the scheduler decides. On {{kernel}}, **{{t}} threads** each read {{each // 4 * 4}} pages of their own part of a file, 16 KiB at a time with `pread()`, and the next read is any thread's.
(The miniature has one CPU, so the reads come one after the other, in a random order that is the same for each line below.) Three programs:

- *shared*: all threads use one descriptor;
- *own*: each thread opens the file itself;
- *told*: one descriptor, and it says POSIX_FADV_RANDOM first, "because the accesses are random".
]],
			questions = {
				ask.choice {
					id = "by-time",
					predict = true,
					text = "Which is the order by time, **fastest first**?",
					options = {
						"own, shared, told", "own, told, shared", "shared, own, told", "told, own, shared",
					},
					answer = function(s)
						local own, shared, told = s.ran.own:clock(), s.ran.shared:clock(), s.ran.random:clock()
						for i, order in ipairs {
							{ own, shared, told }, { own, told, shared }, { shared, own, told }, { told, own, shared },
						} do
							if order[1] < order[2] and order[2] < order[3] then
								return i
							end
						end
					end,
					hints = { "One of them reads nothing ahead at all. One of them sees {{t}} clean streams." },
				},
				ask.number {
					id = "told-misses",
					predict = true,
					unit = "misses",
					text = "How many of its {{t * (each // 4)}} reads miss in the program that says RANDOM?",
					answer = function(s) return s.ran.random:misses() end,
					hints = { "Nothing is read ahead, and no page is read twice." },
				},
			},
			run = function(s)
				print("                misses  pages read  wasted  waste ms  ms")
				for _, c in ipairs { { "shared", "shared" }, { "own", "own" }, { "told RANDOM", "random" },
					{ "readahead()", "willneed" } } do
					local m = s.ran[c[2]]
					local st = m:stats()
					print(("%-15s %6d %11d %7d  %8.2f  %s"):format(c[1], m:misses(), st.pages.read, st.pages.wasted, st.waste_ms,
						fl.ms(st.virtual_ns)))
				end
				figure("threads", plot.bars {
					title = ("%d threads on %s, ms"):format(s.t, s.kernel),
					labels = { "shared", "own", "told RANDOM", "readahead()" },
					values = {
						s.ran.shared:clock() / 1e6, s.ran.own:clock() / 1e6, s.ran.random:clock() / 1e6,
						s.ran.willneed:clock() / 1e6,
					},
				})
			end,
			reveal = [[
A descriptor for each thread is the simple cure: {{fl.ms(ran.own:clock())}} ms instead of {{fl.ms(ran.shared:clock())}}. It wastes some pages at each stream's end, {{ran.own:stats().pages.wasted}} here, worth {{("%.2f"):format(ran.own:stats().waste_ms)}} ms of disk and CPU.
The last line is another cure, on the shared descriptor: each thread calls `readahead()` for its own next 256 KiB, one piece ahead of itself (lab 04): {{fl.ms(ran.willneed:clock())}} ms, {{ran.willneed:stats().pages.wasted}} pages wasted. The thread knows where it will stop; the kernel cannot.
]],
		},

		step {
			id = "one-descriptor",
			title = "With one descriptor after all",
			prepare = function(s)
				s.a = s.rng:int(10, 90) * 8
				s.b = s.rng:int(200, 400) * 8
				s.n = s.rng:int(20, 40) * 8
				s.own = play("v6.18", turns({ s.a, s.b }, s.n // 8, 8, true))
				s.shared = play("v6.18", turns({ s.a, s.b }, s.n // 8, 8, false))
				s.limit = s.own:clock() * 11 // 10
				s.switches = 16
				s.max_waste = s.own:stats().pages.wasted
			end,
			brief = [[
Last, a merge: it needs two runs of one file by turns, pages **{{a}} to {{a + n - 1}}** and pages **{{b}} to {{b + n - 1}}**, {{n}} pages each, on v6.18. A library opened the file, and there is *one* descriptor.

| {{8 * 4}} KiB from each by turns | ms | wasted pages |
|---|---|---|
| one descriptor | {{fl.ms(shared:clock())}} | {{shared:stats().pages.wasted}} |
| two descriptors | {{fl.ms(own:clock())}} | {{own:stats().pages.wasted}} |

Do better, on the one descriptor.
]],
			questions = {
				ask.workload {
					id = "one_descriptor",
					points = 10,
					max_ops = 400,
					text = "A workload of at most 400 operations, without `fd` and `reopen`, that reads all {{2 * n}} pages with `pread` or `read`, changes from one run to the other at least **{{switches}} times**, takes at most **{{fl.ms(limit)}} ms** and "
						.. "leaves at most **{{max_waste}}** pages unread in the cache.",
					check = function(s, w)
						local m = boot("v6.18")
						m:record()
						m:queue(w)
						while m:left() > 0 do
							local op = m:next_op()
							if op:match("^fd") or op:match("^reopen") then
								return false, ("'%s': only the descriptor that is open, please"):format(op)
							elseif not (op:match("^p?read ") or op:match("^seek") or op:match("^fadvise") or op:match("^readahead")) then
								return false, ("'%s': only read, pread, seek, fadvise and readahead"):format(op)
							end
							m:step()
						end
						m:drain()
						local side, switches = nil, 0
						for e in m:events { name = "fl_read" } do
							local page = e.pos // 4096
							local now = page >= s.b and page < s.b + s.n and "b" or page >= s.a and page < s.a + s.n and "a"
							if now and side and now ~= side then
								switches = switches + 1
							end
							side = now or side
						end
						for _, start in ipairs { s.a, s.b } do
							for page = start, start + s.n - 1 do
								local p = m:page(page)
								if not p or not p.used then
									return false, ("page %d was not read"):format(page)
								end
							end
						end
						if switches < s.switches then
							return false, ("it changed from one run to the other %d times, expected %d"):format(switches, s.switches)
						end
						local st = m:stats()
						if st.pages.wasted > s.max_waste then
							return false, ("%d pages were read for nothing, at most %d may be"):format(st.pages.wasted, s.max_waste)
						end
						if m:clock() > s.limit then
							return false, ("it took %s ms, at most %s are allowed"):format(fl.ms(m:clock()), fl.ms(s.limit))
						end
						return true
					end,
					hints = {
						"The kernel cannot know. You do. What reads pages into the cache without asking the window (lab 04)?",
						"`readahead OFF LEN` for both runs first; the disk's largest request is 4 MiB on v6.18, so one call each is enough. Then the `pread`s find everything cached or on its way.",
						{
							text = "Offsets: page {{a}} is {{a * 4}}k, page {{b}} is {{b * 4}}k; {{n}} pages are {{n * 4}}k. At least {{switches + 1}} pieces by turns: for example "
								.. "`pread {{a * 4}}k 32k; pread {{b * 4}}k 32k; pread {{a * 4 + 32}}k 32k; ...`, built in a loop in answers.lua: "
								.. "`(function() local t = {} ... return table.concat(t, \"; \") end)()`.",
							cost = 3,
						},
					},
				},
			},
			reveal = [[
Readahead guesses from what one descriptor did. Give each stream a descriptor, or tell the kernel what you know; do not hope that it sees through your pattern.
How good could a better guesser be? Lab 06: write one.
]],
		},
	},
}
