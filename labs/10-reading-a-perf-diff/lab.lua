-- Lab 10: shares and times, one-sided baselines, renamed functions, counts, real growth.

-- The profile of mmap, an access every `step` bytes of a cached file, munmap, for one access.
local function profile(kernel, fs, order, mib, op, step)
	local m = fl.machine { kernel = kernel, fs = fs, size = (2 * mib) << 20, disk = "ram" }
	local len, n = 4096 << order, (mib << 20) // step
	m:pwrite(0, len, (mib << 20) // len)
	m:fsync()
	m:mmap()
	local before = m:perf()
	m[op](m, 0, step, n)
	m:munmap()
	local p = m:perf(before)
	local r = { ns = p.ns / n, time = {}, share = {}, counts = {}, kernel = kernel }
	for name, ns in pairs(p.functions) do
		r.time[name] = ns / n
		r.share[name] = 100 * ns / p.ns
	end
	for name, units in pairs(p.counts) do
		r.counts[name] = units / n
	end
	return r
end

local function reading(kernel, order, mib, fs)
	return profile(kernel, fs or "ext4", order, mib, "touch", 4096)
end

local function storing(kernel, order, mib)
	return profile(kernel, "ext4", order, mib, "wtouch", 16384)
end

-- Functions of at least a percent before or after, by share after.
local function names_of(a, b)
	local list = {}
	for name, share in pairs(b.share) do
		if share >= 1 or (a.share[name] or 0) >= 1 then
			list[#list + 1] = name
		end
	end
	for name, share in pairs(a.share) do
		if share >= 1 and not b.share[name] then
			list[#list + 1] = name
		end
	end
	table.sort(list, function(x, y)
		local sx, sy = b.share[x] or 0, b.share[y] or 0
		return sx ~= sy and sx > sy or sx == sy and x < y
	end)
	return list
end

-- What perf diff prints. one_sided: it found no symbols of the old kernel.
local function perf_diff(a, b, one_sided)
	local rows = { "# Baseline  Delta Abs  Symbol" }
	for _, name in ipairs(names_of(a, b)) do
		local old, new = a.share[name], b.share[name]
		if one_sided or name == "user_access" then
			old = name == "user_access" and old or nil
		end
		if new then
			rows[#rows + 1] = ("%s  %+8.2f%%  %s"):format(old and ("%9.2f%%"):format(old) or (" "):rep(10), new - (old or 0), name)
		elseif not one_sided then
			rows[#rows + 1] = ("%9.2f%%  %9s  %s"):format(old, "", name)
		end
	end
	return table.concat(rows, "\n")
end

-- The same with times, as foliolab compare --perf.
local function real_diff(a, b, names)
	local rows = { "# ns before   ns after    growth  Symbol" }
	for _, name in ipairs(names_of(a, b)) do
		local old, new = a.time[(names or {})[name] or name], b.time[name]
		if new then
			rows[#rows + 1] = ("%11.2f %10.2f %9s  %s"):format(old or 0, new, old and ("%+.1f%%"):format(100 * (new / old - 1)) or "new", name)
		end
	end
	return table.concat(rows, "\n")
end

local function shares(p)
	local rows = { "# Overhead  Symbol" }
	for _, name in ipairs(names_of(p, p)) do
		rows[#rows + 1] = ("%9.2f%%  %s"):format(p.share[name], name)
	end
	return table.concat(rows, "\n")
end

-- Pairs of kernels: file system, orders, functions renamed between them.
local PAIRS = {
	{ "v6.18", "v7.3", "ext4", { 0, 1, 2, 3 }, { lruvec_stat_mod_folio = "__lruvec_stat_mod_folio", __zap_vma_range = "unmap_page_range" } },
	{ "v6.7", "v6.12", "xfs", { 2, 3 }, { __lruvec_stat_mod_folio = "__mod_lruvec_page_state", folio_add_file_rmap_ptes = "page_add_file_rmap",
		folio_remove_rmap_ptes = "page_remove_rmap", __tlb_remove_folio_pages = "__tlb_remove_page_size" } },
}

lab {
	title = "Reading a perf diff",
	summary = "Which plus sign is growth? Shares, one-sided baselines, counts.",
	minutes = 50,
	steps = {
		step {
			id = "shares",
			title = "A share is not a time",
			prepare = function(s)
				s.mib = s.rng:int(4, 16)
				s.k = s.rng:int(2, 4)
				s.a = reading("v6.16-EXT4_LARGE", 0, s.mib)
				s.b = reading("v6.16", s.k, s.mib)
				s.f = s.rng:pick { "asm_exc_page_fault", "__handle_mm_fault", "do_fault" }
				s.options = { s.f, "folio_remove_rmap_ptes", "unmap_page_range", "__lruvec_stat_mod_folio" }
				s.perf_diff, s.real_diff = perf_diff, real_diff
			end,
			brief = [[
A profile says what share of all samples fell into each function. `perf diff` compares two: its column *Baseline* is the share in the old profile, *Delta* the share in the
new one minus that.

A program reads one byte of every page of a mapped, cached file of {{mib}} MiB on ext4, v6.16. Before: without large folios (`v6.16-EXT4_LARGE`). After: with folios of order
{{k}}. It got faster:

| | before | after |
|---|---|---|
| ns an access | {{("%.1f"):format(a.ns)}} | {{("%.1f"):format(b.ns)}} |
| share of `{{f}}` | {{("%.2f"):format(a.share[f])}} % | ? |

The number of faults is the same in both, and a fault costs `{{f}}` the same time.
]],
			questions = {
				ask.number {
					id = "share-after",
					predict = true,
					points = 6,
					percent = 2,
					unit = "%",
					text = "What share does `{{f}}` have **after**, in percent?",
					answer = function(s) return s.b.share[s.f] end,
					hints = {
						"Before, it takes {{(\"%.2f\"):format(a.share[f])}} % of {{(\"%.1f\"):format(a.ns)}} ns. How many ns are that? "
							.. "They are the same after; divide by {{(\"%.1f\"):format(b.ns)}}.",
					},
				},
				ask.choice {
					id = "really-grew",
					points = 6,
					text = "Which of these functions takes **more time** an access than before? (Its share before is *Baseline*, its share after "
						.. "*Baseline + Delta*; the ns of an access stand in the table above.)",
					options = function(s) return s.options end,
					answer = function(s)
						local found
						for i, name in ipairs(s.options) do
							if s.b.time[name] > s.a.time[name] * 1.001 then
								assert(not found, "two of them grew")
								found = i
							end
						end
						return found
					end,
					hints = { "Two of them have a minus sign in *Delta*, in a program that got faster: these cannot have grown." },
				},
			},
			run = function(s)
				print(perf_diff(s.a, s.b))
			end,
			reveal = [[
The same in times of one access:

```
{{real_diff(a, b)}}
```

`{{f}}` has {{("%+.2f"):format(b.share[f] - a.share[f])}} % and did not change by a nanosecond. All shares add up to 100 %: **if much gets faster, all the rest gets a plus sign.** `foliolab compare --perf` prints
both columns.
]],
		},

		step {
			id = "one-sided",
			title = "A baseline with one side",
			prepare = function(s)
				s.mib = 2 * s.rng:int(4, 12)
				s.k = s.rng:int(1, 3)
				s.a = storing("v6.16-EXT4_LARGE", 0, s.mib)
				s.b = storing("v6.16", s.k, s.mib)
				s.f = s.rng:pick { "__lruvec_stat_mod_folio", "unmap_page_range", "set_pte_range", "filemap_fault", "block_dirty_folio" }
				s.perf_diff, s.real_diff, s.shares = perf_diff, real_diff, shares
				s.lines = {
					{ base = "22.22 %", delta = "-1.78 %", name = "bread" },
					{ base = "12.45 %", delta = "-0.65 %", name = "mem_benchmark_0" },
					{ base = "", delta = "+4.34 %", name = "__lruvec_stat_mod_folio" },
					{ base = "", delta = "+1.33 %", name = "do_anonymous_page" },
				}
			end,
			brief = [[
In June 2025 Suneeth D of AMD reported that 7ac67301e82f, large folios for ext4, made lmbench's MMAP test slower: 94.2K us one commit before, 103.5K at it. The mail has a `perf
diff`. Some of its lines:

| Baseline | Delta | symbol |
|---|---|---|
| 22.22 % | -1.78 % | `bread` (of the benchmark) |
| 12.45 % | -0.65 % | `mem_benchmark_0` (of the benchmark) |
| | +4.34 % | `__lruvec_stat_mod_folio` (kernel) |
| | +1.33 % | `do_anonymous_page` (kernel) |
| | +1.01 % | `get_page_from_freelist` (kernel) |
| | +0.77 % | `clear_page_erms` (kernel) |

**Every** kernel symbol has an empty baseline, and perf had warned that it found no symbols for the old kernel. A function that perf cannot pair has no old share to subtract: *Delta* is then
its **whole share** in the new profile.

The miniature plays that test: a byte stored every 16 KiB of {{mib}} MiB. The old kernel's report (v6.16 without the commit, {{("%.1f"):format(a.ns)}} ns a store):

```
{{shares(a)}}
```

Then the kernel with the commit, folios of order {{k}} ({{("%.1f"):format(b.ns)}} ns a store), compared by a perf that has lost the old kernel's symbols:
]],
			run = function(s)
				print(perf_diff(s.a, s.b, true))
			end,
			questions = {
				ask.number {
					id = "paired",
					points = 6,
					tolerance = 0.015,
					unit = "%",
					text = "Had perf paired the symbols, which *Delta* would `{{f}}` have? (In percent, with its sign.)",
					answer = function(s) return s.b.share[s.f] - s.a.share[s.f] end,
					hints = { "The one-sided figure is its share after; the report above has its share before." },
				},
				ask.choice {
					id = "real",
					text = "And the **time** of `{{f}}` for one store?",
					keep = true,
					options = { "it grew", "it did not change", "it fell" },
					answer = function(s)
						local d = s.b.time[s.f] / s.a.time[s.f] - 1
						return d > 0.005 and 1 or d < -0.005 and 3 or 2
					end,
					hints = { "Share times ns a store, before and after. Both are printed with two digits: a difference below one percent is rounding." },
				},
				ask.choice {
					id = "proof",
					points = 6,
					text = "Which line of AMD's report shows that a plus sign there is **no growth**, since no folio of any file system is part of that work?",
					options = function(s)
						local list = {}
						for i, l in ipairs(s.lines) do
							list[i] = ("`%s`"):format(l.name)
						end
						return list
					end,
					answer = function(s)
						-- One-sided, and storing into a mapped file does not call it.
						local found
						for i, l in ipairs(s.lines) do
							if l.base == "" and not s.a.time[l.name] and not s.b.time[l.name] then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "Anonymous memory (heap, stack) belongs to no file. Did it start to be used with the commit?" },
				},
			},
			reveal = [[
Paired, and as times:

```
{{real_diff(a, b)}}
```

`do_anonymous_page`, `clear_page_erms`: code for memory of no file, which surely ran before, too. A plus in a one-sided line says *this function exists*. What grew in fact are the walks over a
folio's buffers and the count of its mappings, lines that nothing in the one-sided list sets apart.
]],
		},

		step {
			id = "renamed",
			title = "The same function, another name",
			prepare = function(s)
				s.mib = s.rng:int(4, 16)
				s.pair = s.rng:pick(PAIRS)
				s.k = s.rng:pick(s.pair[4])
				s.a = reading(s.pair[1], s.k, s.mib, s.pair[3])
				s.b = reading(s.pair[2], s.k, s.mib, s.pair[3])
				local list = {}
				for new in pairs(s.pair[5]) do
					if math.abs(s.b.time[new] / s.a.time[s.pair[5][new]] - 1) > 0.01 then
						list[#list + 1] = new
					end
				end
				s.f = s.rng:pick(list)
				s.was = s.pair[5][s.f]
				s.perf_diff, s.real_diff = perf_diff, real_diff
				local rows = {}
				for new, old in pairs(s.pair[5]) do
					rows[#rows + 1] = ("| `%s` | `%s` |"):format(old, new)
				end
				s.renames = table.concat(rows, "\n")
			end,
			brief = [[
Kernels rename their functions, split them and inline them. perf pairs by name, so that every renaming gives one line that is gone and one that is one-sided. Between {{pair[1]}} and
{{pair[2]}} these were renamed (or their work moved):

| {{pair[1]}} | {{pair[2]}} |
|---|---|
{{renames}}

A byte is read of every page of a mapped, cached file on {{pair[3]}}, in folios of order {{k}}: {{("%.2f"):format(a.ns)}} ns an access on {{pair[1]}}, {{("%.2f"):format(b.ns)}} on
{{pair[2]}}. perf finds all symbols of both kernels:
]],
			run = function(s)
				print(perf_diff(s.a, s.b))
			end,
			questions = {
				ask.number {
					id = "renamed-growth",
					points = 6,
					tolerance = 1,
					unit = "%",
					text = "By how many percent did the **time** of `{{f}}` for one access grow (or fall: minus)?",
					answer = function(s) return 100 * (s.b.time[s.f] / s.a.time[s.was] - 1) end,
					hints = {
						"On {{pair[1]}} it was called `{{was}}`; that line has its old share in *Baseline*.",
						"{{(\"%.2f\"):format(a.share[was])}} % of {{(\"%.2f\"):format(a.ns)}} ns before, {{(\"%.2f\"):format(b.share[f])}} % of {{(\"%.2f\"):format(b.ns)}} ns after.",
					},
				},
			},
			reveal = [[
`{{f}}` is shown as {{("%+.2f"):format(b.share[f])}} %, and in truth went from {{("%.2f"):format(a.time[was])}} ns to {{("%.2f"):format(b.time[f])}}:
{{("%+.1f"):format(100 * (b.time[f] / a.time[was] - 1))}} %. An empty baseline may mean three things: no symbols, another name, or a function that was really not called. Only the third is news.
`foliolab compare --perf` says which it is.
]],
		},

		step {
			id = "counts",
			title = "Count the work",
			prepare = function(s)
				s.mib = 2 * s.rng:int(4, 12)
				s.k = s.rng:int(1, 5)
				s.a = storing("v6.16-EXT4_LARGE", 0, s.mib)
				s.b = storing("v6.16", s.k, s.mib)
				s.what = {
					{ "page faults", function(c) return c.PAGE_FAULT end },
					{ "PTEs written", function(c) return c.PTE_STORE end },
					{ "statistics updates", function(c) return c.STAT_MAP + c.STAT_UNMAP end },
					{ "buffers visited", function(c) return c.BUFFER_VISIT + c.BUFFER_DIRTY end },
				}
				s.walks = { "block_commit_write", "block_dirty_folio", "block_page_mkwrite" }
				s.walk_growth = 0
				for _, name in ipairs(s.walks) do
					s.walk_growth = s.walk_growth + s.b.time[name] - s.a.time[name]
				end
			end,
			brief = [[
Times tell that something grew; **counts** tell why. A function takes longer because it is called more often, because a call has more to do, or because each piece became slower (cold
caches, locks). The first two can be counted, with tracepoints or probes, and counts have no noise.

Again storing a byte every 16 KiB of {{mib}} MiB, page by page before, folios of order {{k}} after; v6.16.
]],
			questions = {
				ask.choice {
					id = "which-count",
					predict = true,
					text = "Which count of one store is **not** the same before and after?",
					options = function(s)
						local list = {}
						for i, w in ipairs(s.what) do
							list[i] = w[1]
						end
						return list
					end,
					answer = function(s)
						local found
						for i, w in ipairs(s.what) do
							if w[2](s.a.counts) ~= w[2](s.b.counts) then
								assert(not found, "two of them")
								found = i
							end
						end
						return found
					end,
					hints = { "v6.16 maps one page a store, before and after. What does ext4 walk through in `page_mkwrite`? (Lab 09.)" },
				},
				ask.number {
					id = "explained",
					points = 6,
					percent = 3,
					unit = "%",
					text = "What part of the **growth** of a store do the three functions that walk over buffers explain, in percent?",
					answer = function(s) return 100 * s.walk_growth / (s.b.ns - s.a.ns) end,
					hints = {
						"Add what `block_commit_write`, `block_dirty_folio` and `block_page_mkwrite` take more; divide by what the whole store takes more.",
					},
				},
			},
			run = function(s)
				print(("%-22s %9s %9s"):format("for one store", "before", "after"))
				for _, w in ipairs(s.what) do
					print(("%-22s %9.2f %9.2f"):format(w[1], w[2](s.a.counts), w[2](s.b.counts)))
				end
				print()
				for _, name in ipairs(s.walks) do
					print(("%-22s %9.2f %9.2f  ns"):format(name, s.a.time[name], s.b.time[name]))
				end
				print(("%-22s %9.2f %9.2f  ns"):format("all functions", s.a.ns, s.b.ns))
			end,
			reveal = [[
The statistics that the report's plus signs accuse are updated as often as before: twice a store, once mapping, once unmapping. What is left of the growth is the count of mappings that a large
folio keeps, page by page and in one place (05c5323b2a34, 6af8cb80d3a9): dear for a folio of which only one page is mapped.
]],
		},

		step {
			id = "growth",
			title = "The comparison you wanted",
			prepare = function(s)
				s.cases = {}
				local function add(a, b, names, what)
					s.cases[#s.cases + 1] = { a = a, b = b, names = names, what = what }
				end
				local mib = s.rng:int(4, 8)
				add(storing("v6.16-EXT4_LARGE", 0, mib), storing("v6.16", s.rng:int(1, 3), mib), {}, "stores, v6.16")
				add(reading("v6.16-EXT4_LARGE", 0, mib), reading("v6.16", s.rng:int(1, 3), mib), {}, "reads, v6.16")
				for _, p in ipairs(PAIRS) do
					local k = s.rng:pick(p[4])
					add(reading(p[1], k, mib, p[3]), reading(p[2], k, mib, p[3]), p[5], ("reads, %s and %s"):format(p[1], p[2]))
				end
				-- Stores against reads: functions that are new in earnest.
				add(reading("v6.16", 0, mib), storing("v6.16", 0, mib), {}, "reads before, stores after")
			end,
			brief = [[
Now write what `perf diff` does not print. A profile is given as perf has it: the time of one operation, and shares.
]],
			questions = {
				ask.func {
					id = "growth",
					points = 10,
					text = "Write `growth(before, after, names)`. `before` and `after` are `{ ns = , share = { [function] = percent } }`, `ns` the time of one "
						.. "operation; `names` is `{ [name after] = name before }` for functions that were renamed. Return `{ [name after] = growth }` for **every** "
						.. "function of `after`: the growth of its time for one operation in percent (0 if it did not change, -50 if it halved), or the string "
						.. "`\"new\"` if it did not run before under either name.",
					check = function(s, f)
						for _, c in ipairs(s.cases) do
							local got = f({ ns = c.a.ns, share = c.a.share }, { ns = c.b.ns, share = c.b.share }, c.names)
							if type(got) ~= "table" then
								return false, "it returned no table"
							end
							for name, ns in pairs(c.b.time) do
								local old = c.a.time[c.names[name] or name]
								local want = old and 100 * (ns / old - 1) or "new"
								local g = got[name]
								local ok = want == "new" and g == "new" or type(want) == "number" and type(g) == "number" and math.abs(g - want) < 0.01
								if not ok then
									return false, ("%s: %s is %s, expected %s"):format(c.what, name, tostring(g),
										type(want) == "number" and ("%.2f"):format(want) or want)
								end
							end
							for name in pairs(got) do
								if not c.b.time[name] then
									return false, ("%s: %s did not run after"):format(c.what, tostring(name))
								end
							end
						end
						return true
					end,
					hints = {
						"A function's time is `share * ns / 100`. The old name is `names[name] or name`.",
						{ text = "`for name, share in pairs(after.share) do local old = before.share[names[name] or name] ... end`; then "
							.. "`100 * (share * after.ns / (old * before.ns) - 1)`.", cost = 3 },
					},
				},
			},
			reveal = [[
Three lines of arithmetic; what they need is the one number that `perf diff` does not have, the time of an *operation*. Keep it with every profile: a rate, a count of
operations, a fixed amount of work.
]],
		},

		step {
			id = "sort",
			title = "Which plus is growth?",
			prepare = function(s)
				s.mib = s.rng:int(4, 16)
				s.k = s.rng:int(2, 3)
				s.a = reading("v6.16-EXT4_LARGE", 0, s.mib)
				s.b = reading("v6.16", s.k, s.mib)
				s.items = s.rng:shuffle { "unmap_page_range", "set_pte_range", "asm_exc_page_fault", "folio_add_file_rmap_ptes" }
				s.perf_diff, s.real_diff, s.shares = perf_diff, real_diff, shares
			end,
			brief = [[
The last one is yours. A byte of every page of {{mib}} MiB is read; before, in folios of order 0, {{("%.2f"):format(a.ns)}} ns an access:

```
{{shares(a)}}
```

After, in folios of order {{k}}, {{("%.2f"):format(b.ns)}} ns, as a one-sided perf diff:

```
{{perf_diff(a, b, true)}}
```
]],
			questions = {
				ask.order {
					id = "by-growth",
					points = 8,
					text = "Sort these functions by what their **time** for one access did: the largest growth (in ns) first, the largest saving last.",
					items = function(s) return s.items end,
					answer = function(s)
						local list = { 1, 2, 3, 4 }
						table.sort(list, function(x, y)
							local function d(i)
								return s.b.time[s.items[i]] - s.a.time[s.items[i]]
							end
							return d(x) > d(y)
						end)
						return list
					end,
					hints = { "For each: share after * ns after - share before * ns before. Your `growth` helps." },
				},
			},
			reveal = [[
```
{{real_diff(a, b)}}
```

By plus signs the list would begin with `asm_exc_page_fault`, which did not change, and end with `folio_add_file_rmap_ptes`, the only one of the four that grew. Before you believe a plus sign, ask: **share of what? is there
a baseline? per operation? and what does the count say?**
]],
		},
	},
}
