-- Lab 03: ab4443fe3ca6: the table, a bisection, two marks, why folios stayed small, the cure.

-- Folio allocation calls by order when a file of `mib` MiB is read in pieces of `bytes`.
local function calls(kernel, mib, bytes)
	local m = fl.machine { kernel = kernel, fs = "xfs", size = mib << 20 }
	m:read(bytes or 4096, (mib << 20) // (bytes or 4096))
	return m:counters("fl_folio_alloc")
end

local function total(orders)
	local n = 0
	for _, count in pairs(orders) do
		n = n + count
	end
	return n
end

local function same(a, b)
	for order = 0, 15 do
		if (a[order] or 0) ~= (b[order] or 0) then
			return false
		end
	end
	return true
end

local function row(name, orders)
	local cells = {}
	for order = 0, 5 do
		cells[#cells + 1] = tostring(orders[order] or 0)
	end
	return ("| %s | %s | %d |"):format(name, table.concat(cells, " | "), total(orders))
end

local HEAD = "| kernel | order 0 | 1 | 2 | 3 | 4 | 5 | all |\n|---|---|---|---|---|---|---|---|"

-- The same as plain text, for what a run prints: { { name, orders }, ... }.
local function print_table(rows)
	print("                        order 0      1      2      3      4      5     all")
	for _, r in ipairs(rows) do
		local o = r[2]
		print(("%-22s %8d %6d %6d %6d %6d %6d %7d"):format(r[1], o[0] or 0, o[1] or 0, o[2] or 0, o[3] or 0, o[4] or 0,
			o[5] or 0, total(o)))
	end
end

-- The window that starts at or behind page `from`, and the machine just after it was read.
local function window_at(kernel, from)
	local m = fl.machine { kernel = kernel, fs = "xfs", size = "4m" }
	m:queue("read 4k 1024")
	local w = m:stop_before("fl_window", function(e) return e.start >= from and e.size == 32 end)
	m:step()
	return w, m
end

local function orders_in(m, first, last)
	local list = {}
	for f in m:folios(first, last) do
		list[#list + 1] = f.order
	end
	return list
end

-- Folios of a window of `size` pages from `start` when orders up to `order` are wished for.
local function fill(start, size, order)
	local list, index, last = {}, start, start + size - 1
	while index <= last do
		local k = order
		while k > 0 and (index % (1 << k) ~= 0 or index + (1 << k) - 1 > last) do
			k = k - 1
		end
		if k == 1 then
			k = 0
		end
		list[#list + 1] = { index = index, order = k }
		index = index + (1 << k)
	end
	return list
end

lab {
	title = "03 The regression",
	summary = "Find the one-line commit that cost a benchmark a fifth, and explain it.",
	minutes = 60,
	steps = {
		step {
			id = "the-table",
			title = "Two columns of numbers",
			prepare = function(s)
				s.mib = s.rng:int(5, 40)
				s.before = calls("v6.7", s.mib)
				s.after = calls("ab4443fe3ca6", s.mib)
				s.row, s.total = row, total
				s.HEAD = HEAD
			end,
			brief = [[
The program reads a file from front to back, a page at a time: `dd bs=4k`. The file is sparse, so no disk is involved; it is all
page cache. The kernel's readahead fetches it in windows of 32 pages (128 KiB).

Yin Fengwei counted the folios that two kernels allocate for that (linux-kernel, 4 Mar 2024, Message-ID
dee823ca-7100-4289-8670-95047463c09d@intel.com). Your file has **{{mib}} MiB**; the miniature's counts, for the commit before (its profile is
called v6.7):

{{HEAD}}
{{row("v6.7", before)}}

A window of 32 pages is one folio of order 5. The few small ones come from the first windows.
]],
			questions = {
				ask.number {
					id = "expect",
					predict = true,
					points = 2,
					percent = 2,
					unit = "folios",
					text = "If every folio had 32 pages, how many would {{mib}} MiB take?",
					answer = function(s) return (s.mib << 20) // 4096 // 32 end,
					hints = { "{{mib}} MiB are {{mib * 256}} pages." },
				},
			},
			run = function(s)
				print_table { { "v6.7", s.before }, { "ab4443fe3ca6", s.after } }
				print()
				figure("orders", plot.bars {
					title = "Folio allocation calls, v6.7 and ab4443fe3ca6",
					labels = { "v6.7", "ab4443fe3ca6" },
					values = { total(s.before), total(s.after) },
				})
			end,
			reveal = [[
With the commit not one folio of order 5 is left. {{total(before)}} folios became {{total(after)}}:
{{("%.1f"):format(total(after) / total(before))}} times as many records to allocate, to insert under `xa_lock`, to put on the LRU under `lru_lock`. With
one reader that costs little; Yin's two `dd` runs took about the same time. With many readers on many CPUs it
costs the locks: the report's vm-scalability lost 21.4 % (202402201642.c8d6bbc3-oliver.sang@intel.com).
]],
		},

		step {
			id = "bisect",
			title = "Which change was it?",
			prepare = function(s)
				s.candidates = s.rng:shuffle {
					"MARK_ROUND_DOWN", "ORDER1", "BATCH31", "KEEP_BIG_WINDOW", "XAS_ORDER_CLAMP", "RA_SPLIT",
				}
				s.mib = 4
				s.good = calls("v6.7", s.mib)
				s.bad = calls("ab4443fe3ca6", s.mib)
				s.what = {}
				for _, k in ipairs(fl.knobs()) do
					for _, name in ipairs(s.candidates) do
						if k.name == name then
							s.what[#s.what + 1] = ("| %s | %s | %s |"):format(k.name, k.commit ~= "" and k.commit or "-", k.what)
						end
					end
				end
				s.rows = table.concat(s.what, "\n")
			end,
			brief = [[
A kernel of this miniature is a set of **knobs**, each of them one change. `v6.7+ORDER1` is v6.7 with one change put on. So one can try changes alone,
which a real bisection cannot. Six suspects:

| knob | commit | what changes |
|---|---|---|
{{rows}}

You want the one that, put on v6.7, gives the counts of the regressed kernel.
]],
			questions = {
				ask.func {
					id = "guilty",
					predict = true,
					points = 10,
					text = "Write `guilty(try, knobs)`. `try(kernel)` plays the program on a kernel such as `\"v6.7+ORDER1\"` and returns its "
						.. "allocation calls as a table by order; `knobs` is a list of names. Return the name of the **one** knob that turns v6.7's "
						.. "counts into those of `ab4443fe3ca6`.",
					check = function(s, f)
						local tried = 0
						local function try(kernel)
							tried = tried + 1
							assert(tried <= 40, "more than 40 kernels were tried")
							return calls(kernel, s.mib)
						end
						for round = 1, 2 do
							local knobs = {}
							for i, k in ipairs(s.candidates) do
								knobs[round == 1 and i or #s.candidates + 1 - i] = k
							end
							tried = 0
							local got = f(try, knobs)
							if got ~= "MARK_ROUND_DOWN" then
								local shown = tostring(got)
								if type(got) == "string" and pcall(calls, "v6.7+" .. got, 1) then
									local o = calls("v6.7+" .. got, s.mib)
									return false, ("%s: v6.7+%s allocates %d folios, the regressed kernel %d"):format(shown, shown,
										total(o), total(s.bad))
								end
								return false, ("it returned %s, expected one of the names"):format(shown)
							end
						end
						return true
					end,
					hints = {
						"`local bad = try(\"ab4443fe3ca6\")`, then a loop over `knobs` with `try(\"v6.7+\" .. k)`; compare two tables for all "
							.. "orders from 0 to 5, where a missing entry counts as 0.",
						{ text = "One suspect also destroys order 5, but leaves other counts: compare *all* orders, not one.", cost = 2 },
					},
				},
			},
			run = function(s)
				local rows = { { "v6.7", s.good } }
				for _, k in ipairs(s.candidates) do
					rows[#rows + 1] = { "v6.7+" .. k, calls("v6.7+" .. k, s.mib) }
				end
				rows[#rows + 1] = { "ab4443fe3ca6", s.bad }
				print_table(rows)
			end,
			reveal = [[
MARK_ROUND_DOWN, the commit itself. RA_SPLIT is a decoy: put on v6.7 alone it also ruins the orders, but differently. Counts that are
*equal* in every order are evidence; counts that are merely bad are not.
]],
		},

		step {
			id = "two-marks",
			title = "Two marks in one window",
			prepare = function(s)
				s.w, s.m = window_at("v6.7", 28)
				s.mark = s.w.start + s.w.size - s.w.async_size
				-- A window of this student's own in which two folios bear the mark.
				local function marked_up(list, mark)
					local last, n = nil, 0
					for _, f in ipairs(list) do
						local size = 1 << f.order
						if (mark + size - 1) // size * size == f.index then
							last, n = f.index, n + 1
						end
					end
					return last, n
				end
				s.marked_up = marked_up
				repeat
					s.start = 4 * s.rng:int(8, 500)
					s.list = fill(s.start, 32, 4)
					s.own_mark = s.start + s.rng:int(1, 12)
					local _, n = marked_up(s.list, s.own_mark)
				until n >= 2
				s.folios = {}
				for i, f in ipairs(s.list) do
					s.folios[i] = ("%d (order %d)"):format(f.index, f.order)
				end
				s.folios = table.concat(s.folios, ", ")
			end,
			brief = [[
What did the commit mend? On v6.7, stop right after the window that starts at page {{w.start}} was read:

```
{{m:map{ to = 63 }}}
```

Its mark is meant for page {{mark}}. A folio gets it when its first page *is* the mark, **rounded up to a multiple of the folio's own size**
(`ra_alloc_folio()`; rounding up came with b9ff43dd2743, v5.18). For the folio of order 2 at page 28, {{mark}} rounds up to
{{(mark + 3) // 4 * 4}}: marked. For the folio of order 4 at page 32, {{mark}} rounds up to {{(mark + 15) // 16 * 16}}: marked as well! Look at the two `>`.

Two marks mean that the window is extended twice, and the second time the kernel does not find what it expects. Worse, with other numbers *no* folio is
marked and the stream dries up. The commit's idea: round **down**. Then exactly the folio that contains the mark bears it.

Another window, of 32 pages from page {{start}}; its mark is meant for page **{{own_mark}}**. Its folios: {{folios}}.
]],
			questions = {
				ask.func {
					id = "marked",
					points = 8,
					text = "Write `marked(mark, folios, up)`: the list of the `index`es of the folios that bear the mark. `folios` is a list of "
						.. "`{ index = ..., order = ... }` in ascending order; `up` is true for rounding up, false for rounding down.",
					check = function(s, f)
						local function want(mark, folios, up)
							local list = {}
							for _, x in ipairs(folios) do
								local size = 1 << x.order
								local at = up and (mark + size - 1) // size * size or mark // size * size
								if at == x.index then
									list[#list + 1] = x.index
								end
							end
							return list
						end
						for i = 1, 12 do
							local start = 4 * s.rng:int(4, 90)
							local folios = fill(start, s.rng:pick { 16, 24, 32 }, s.rng:int(2, 4))
							local mark = start + s.rng:int(0, 12)
							for _, up in ipairs { true, false } do
								local w, got = want(mark, folios, up), f(mark, folios, up)
								if type(got) ~= "table" then
									return false, "it returned no list"
								end
								local a, b = table.concat(w, " "), {}
								for j, v in ipairs(got) do
									b[j] = tostring(v)
								end
								if a ~= table.concat(b, " ") then
									return false, ("mark %d, folios from %d, rounding %s: it returned {%s}, expected {%s}"):format(mark, start,
										up and "up" or "down", table.concat(b, " "), a)
								end
							end
						end
						return true
					end,
					hints = {
						"A folio of order k has `1 << k` pages. Round `mark` up: `(mark + size - 1) // size * size`; down: `mark // size * size`.",
					},
				},
				ask.number {
					id = "last-marked",
					unit = "page",
					text = "Rounding **up**, more than one folio of that other window bears the mark. At which page does the **last** of them start?",
					answer = function(s)
						local last = s.marked_up(s.list, s.own_mark)
						return last
					end,
					hints = { "Try the folios from the right: round {{own_mark}} up to a multiple of the folio's size; is that its first page?" },
				},
			},
			reveal = [[
Rounding up is not wrong because it is *up*; it is wrong because every folio rounds to its own size, so folios of different sizes disagree about where the mark is.
]],
		},

		step {
			id = "stuck",
			title = "Why the folios stay small",
			prepare = function(s)
				s.ra = s.rng:pick { 32, 48, 64, 80, 96, 128 }
				s.nth = s.rng:int(3, 8)
				s.m = fl.machine { kernel = "ab4443fe3ca6", fs = "xfs", size = "16m", ra_kb = s.ra * 4 }
				s.m:queue("read 4k 4096")
				s.w = s.m:stop_before("fl_window", function(e) return e.size == s.ra and e.start > 100 end)
				for i = 1, s.nth do
					s.m:step()
					s.w = s.m:stop_before("fl_window", function(e) return e.size == s.ra end)
				end
				s.next = s.m:twin()
				s.next:step()
				s.orders_in = orders_in
				s.last = s.w.start + s.ra - 1
				s.marked = s.m:page(s.w.start - s.ra).folio
			end,
			brief = [[
So rounding down marks the right folio. Why did the folios become small? Two rules meet.

1. Up to v6.16 the order wished for in a new window is that of the **folio that bore the mark, plus 2**.
2. The folios of a window begin where the window begins, with natural alignment (lab 01).

On ab4443fe3ca6, with `ra_pages` = {{ra}}, the program is about to meet a mark; the next window is page {{w.start}} to {{last}}:

```
{{m:map{ from = (w.start - ra) // 64 * 64, to = last }}}
```
]],
			questions = {
				ask.list {
					id = "next-orders",
					predict = true,
					points = 6,
					text = "Which orders will the folios of pages {{w.start}} to {{last}} have, from left to right?",
					answer = function(s) return orders_in(s.next, s.w.start, s.last) end,
					hints = {
						"The marked folio has order {{marked.order}}, so order {{marked.order + 2}} is wished for. How often can {{w.start}} be halved?",
					},
				},
				ask.number {
					id = "window-mod",
					unit = "pages",
					text = "By how much does this window miss a multiple of {{ra}}? (Its start, modulo {{ra}}.)",
					answer = function(s) return s.w.start % s.ra end,
					hints = { "{{w.start}} divided by {{ra}} leaves what?" },
				},
				ask.choice {
					id = "why-stuck",
					text = "Why does the next window look just the same?",
					options = {
						"its first folio, which bears the mark, is again small, because the window again starts just as askew",
						"because xfs allows no larger folios",
						"because the window has become too small for larger folios",
						"because memory is fragmented",
					},
					answer = function(s)
						local m = s.next:twin()
						local w = m:stop_before("fl_window", function(e) return e.start == s.w.start + s.ra end)
						m:step()
						local a = orders_in(s.next, s.w.start, s.last)
						local b = orders_in(m, w.start, w.start + s.ra - 1)
						return table.concat(a, " ") == table.concat(b, " ") and w.start % s.ra == s.w.start % s.ra and 1 or 0
					end,
					hints = { "What decides the order wished for, and what decides the order of the first folio?" },
				},
			},
			run = function(s)
				s.m:step()
				print(s.m:map { from = (s.w.start - s.ra) // 64 * 64, to = s.last })
			end,
			reveal = [[
{{table.concat(orders_in(m, w.start, last), ", ")}}, for ever: a *fixed point*. The first folio must be small because the window starts askew, and the window's orders
follow its first folio. Before the commit the second, wrong mark broke the pattern: its windows came to start at multiples of their size, where the first folio may be
large. The mistake had hidden the flaw.
]],
		},

		step {
			id = "cure",
			title = "The cure",
			prepare = function(s)
				s.mib = s.rng:int(5, 30)
				s.knobs = { "KEEP_BIG_WINDOW", "END_ALIGN", "ORDER1", "RA_ORDER_FIELD" }
				s.v612, s.v618 = calls("v6.12", s.mib), calls("v6.18", s.mib)
				s.row, s.HEAD = row, HEAD
			end,
			brief = [[
The flaw outlived several releases. v6.11 wrote readahead anew (8051b82a0be0 and the three commits that follow it), v6.13 kept large windows (158cdce87c8c), and still, for {{mib}} MiB:

{{HEAD}}
{{row("v6.12", v612)}}
{{row("v6.18", v618)}}

In v6.17 a series by Ryan Roberts changed how orders and windows go together. The knobs that might matter:

| knob | what |
|---|---|
| KEEP_BIG_WINDOW | a window never shrinks at a mark |
| END_ALIGN | the *end* of a window is rounded down to a multiple of the folio size |
| ORDER1 | folios of order 1 exist |
| RA_ORDER_FIELD | the wish is remembered with the descriptor, not taken from the marked folio |
]],
			questions = {
				ask.choice {
					id = "which-cure",
					predict = true,
					points = 6,
					text = "Take one of them off v6.18, and order 5 is gone again for this program. Which?",
					options = function(s) return s.knobs end,
					answer = function(s)
						local found
						for i, k in ipairs(s.knobs) do
							if (calls("v6.18-" .. k, s.mib)[5] or 0) < 2 then
								assert(not found, "two cures")
								found = i
							end
						end
						return found
					end,
					hints = { "The fixed point needs windows that start askew. What makes the next window start straight?" },
				},
				ask.number {
					id = "saved",
					predict = true,
					percent = 5,
					unit = "folios",
					text = "How many folios fewer than v6.12 does v6.18 allocate for this file?",
					answer = function(s) return total(s.v612) - total(s.v618) end,
					hints = { "The last column of the table." },
				},
			},
			run = function(s)
				local rows = {}
				for _, k in ipairs(s.knobs) do
					rows[#rows + 1] = { "v6.18-" .. k, calls("v6.18-" .. k, s.mib) }
				end
				print_table(rows)
			end,
			reveal = [[
END_ALIGN. Where a window ends the next one starts, so rounding its end is enough to get out of the fixed point. Neither the commit of 2024 nor the code it touched
had to change: **ab4443fe3ca6 was where the loss showed, not where the fault was.**
]],
		},

		step {
			id = "harmless",
			title = "Who was not hit?",
			prepare = function(s)
				s.pages = s.rng:int(20, 60) * 16
				s.a = fl.machine { kernel = "v6.7", fs = "xfs", size = "8m" }
				s.b = fl.machine { kernel = "ab4443fe3ca6", fs = "xfs", size = "8m" }
				s.a:read("4k", s.pages)
				s.b:read("4k", s.pages)
				s.total_a, s.total_b = total(s.a:counters("fl_folio_alloc")), total(s.b:counters("fl_folio_alloc"))
			end,
			brief = [[
The regression needs a start that goes askew: windows of 4, then 24 pages. A program that begins otherwise never falls into the fixed point. Reading {{pages}} pages one by one
allocates {{total_a}} folios on v6.7 and {{total_b}} with the commit.
]],
			questions = {
				ask.workload {
					id = "equal",
					points = 8,
					max_ops = 3000,
					text = "Write a workload that reads **all {{pages}} first pages** of a cold file of 8 MiB, in ascending order and no byte twice, for which both "
						.. "kernels make **exactly the same** folio allocation calls, at most {{pages // 8}} of them.",
					check = function(s, w)
						local seen = {}
						for i, kernel in ipairs { "v6.7", "ab4443fe3ca6" } do
							local m = fl.machine { kernel = kernel, fs = "xfs", size = "8m", record = true }
							m:play(w)
							local at = 0
							for e in m:events { name = "fl_read" } do
								if e.bytes > 0 and e.pos ~= at then
									return false, ("a read at byte %d, expected %d"):format(e.pos, at)
								end
								at = at + e.bytes
							end
							if at < s.pages * 4096 then
								return false, ("%d pages were read, expected %d"):format(at // 4096, s.pages)
							end
							seen[i] = m:counters("fl_folio_alloc")
							if total(seen[i]) > s.pages // 8 then
								return false, ("%s makes %d calls, expected at most %d"):format(kernel, total(seen[i]), s.pages // 8)
							end
						end
						if not same(seen[1], seen[2]) then
							return false, ("v6.7 makes %d calls, ab4443fe3ca6 %d"):format(total(seen[1]), total(seen[2]))
						end
						return true
					end,
					hints = {
						"Which size of read makes the first window 32 pages, so that it starts straight and stays so? `init_size` of lab 02.",
						{ text = "`read 64k {{pages // 16}}`: 16 pages at a time.", cost = 3 },
					},
				},
			},
			reveal = [[
`dd bs=64k` was never slower. When you measure a change, ask which programs it *cannot* touch: it is the quickest test of an explanation.
]],
		},
	},
}
