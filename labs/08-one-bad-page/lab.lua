-- Lab 08: a poisoned page in a large folio of tmpfs: reads, splices, writes at every stage; the fallback.

local PAGE = 4096
local FOLIO = 512 * PAGE

-- The stages of the read path, on top of v6.12. Its writes make folios of 2 MiB on huge=always.
local BEFORE = "v6.12"
local V1 = "v6.12+f3650ef89b87+SHMEM_READ_V1"
local FINAL = "v6.12+f3650ef89b87+a284cb8472ec"
local SPLICE = FINAL .. "+729881ffd390"
local WRITE = SPLICE .. "+SHMEM_WRITE_FALLBACK"

-- A file of `n` folios of 2 MiB with bad pages; `held`: somebody holds the folios, so they stay whole.
local function file(kernel, n, bad, held)
	local m = fl.machine { kernel = kernel, fs = "tmpfs-always", size = n * FOLIO, split_fails = held }
	m:pwrite(0, n * FOLIO)
	assert(m:orders()[9] == n, "other folios than asked for")
	for _, page in ipairs(bad) do
		m:poison(page * PAGE)
	end
	return m
end

-- What the call returns: bytes, or -5 for EIO.
local function call(m, op, off, len)
	local bytes, errno
	if op == "write" then
		m:queue(("pwrite %d %d"):format(off, len))
		bytes = m:wait_for("fl_write").bytes
		if bytes == 0 then
			bytes, errno = m:pwrite(off, len)
		end
	else
		bytes, errno = m[op == "read" and "pread" or "splice"](m, off, len)
	end
	assert(bytes or errno == "EIO", errno)
	return bytes or -5
end

local function calls(machine, op, list)
	local m, results = machine:twin(), {}
	for i, x in ipairs(list) do
		results[i] = call(m, op, x.off, x.len)
	end
	return results
end

-- Lookups of one read, and by turns what was copied.
local function look(machine, off, len)
	local m = machine:twin()
	m:record()
	local n = m:counters().fl_shmem_lookup
	local r = { result = call(m, "read", off, len), copies = {} }
	r.turns = m:counters().fl_shmem_lookup - n
	for e in m:events { name = "fl_shmem_copy" } do
		r.copies[#r.copies + 1] = e.copied
	end
	return r
end

-- Four calls around page `bad` of the second folio. `step`: 1, or 4096 for whole pages (splice).
local function around(rng, bad, step)
	local function part()
		return step == 1 and rng:int(100, 4000) or 0
	end
	local function to_behind(off)
		return { off = off, len = (bad + rng:int(1, 4)) * PAGE + part() - off }
	end
	local list = {
		to_behind((512 - rng:int(2, 5)) * PAGE + part()),
		to_behind((bad - rng:int(1, 3)) * PAGE + part()),
		{ off = bad * PAGE + part(), len = rng:int(2, 6) * PAGE },
		{ off = (bad + rng:int(1, 5)) * PAGE + part(), len = rng:int(2, 9) * PAGE + part() },
	}
	return list
end

local function call_table(list)
	local rows = { "| call | offset | length | starts in page | last page wanted |", "|---|---|---|---|---|" }
	for i, x in ipairs(list) do
		rows[#rows + 1] = ("| %s | %d | %d | %d | %d |"):format(("ABCD"):sub(i, i), x.off, x.len, x.off // PAGE,
			(x.off + x.len - 1) // PAGE)
	end
	return table.concat(rows, "\n")
end

local function show(results)
	local words = {}
	for i, r in ipairs(results) do
		words[i] = ("%s: %s"):format(("ABCD"):sub(i, i), r == -5 and "-5 (EIO)" or tostring(r))
	end
	return table.concat(words, "   ")
end

-- ---- the hidden cases of step 7: folios of all sizes, holes, bad pages ----

local function hidden_file(rng)
	local folios, at = {}, rng:int(0, 2)
	for i = 1, rng:int(3, 6) do
		local order = rng:int(0, 4)
		at = (at + (1 << order) - 1) >> order << order
		folios[i] = { index = at, order = order }
		at = at + (1 << order) + (rng:int(0, 2) == 0 and rng:int(1, 4) or 0)
	end
	local size = at * PAGE - rng:int(0, 1) * rng:int(1, 4000)
	-- writes make folios of their size (acd7ccb284b8)
	local m = fl.machine { kernel = FINAL .. "+acd7ccb284b8", fs = "tmpfs-always", size = at * PAGE, split_fails = true }
	local pages = {}
	for _, f in ipairs(folios) do
		m:pwrite(f.index * PAGE, PAGE << f.order)
		for i = f.index, f.index + (1 << f.order) - 1 do
			pages[i] = { first = f.index, order = f.order, bad = false }
		end
	end
	m:ftruncate(size)
	for i = 1, rng:int(1, 3) do
		local f = rng:pick(folios)
		local page = f.index + rng:int(0, (1 << f.order) - 1)
		m:poison(page * PAGE)
		pages[page].bad = true
	end
	for i, p in pairs(pages) do
		local f = m:page(i).folio
		assert(f.index == p.first and f.order == p.order, "another folio than asked for")
	end
	return m, pages, size
end

local function join(list)
	return "{" .. table.concat(list, ", ") .. "}"
end

-- What is wrong with f's answer for a read of `len` bytes at `off`; nil if nothing is.
local function wrong_read(f, m, pages, size, off, len)
	local want, got = look(m, off, len), f(pages, size, off, len)
	local case = ("read %d bytes at %d: "):format(len, off)
	if type(got) ~= "table" or type(got.copies) ~= "table" then
		return case .. "it returned no { copies = , result = }"
	end
	local list = {}
	for k, v in ipairs(got.copies) do
		list[k] = tostring(v)
	end
	if join(list) ~= join(want.copies) then
		return ("%scopies %s, expected %s"):format(case, join(list), join(want.copies))
	end
	if got.result ~= want.result then
		return ("%sresult %s, expected %d"):format(case, tostring(got.result), want.result)
	end
end

local function check_read(s, f)
	local rng = fl.rng(s.case_seed)
	for i = 1, 8 do
		local m, pages, size = hidden_file(rng)
		local bad
		for page, p in pairs(pages) do
			bad = p.bad and page or bad
		end
		for j = 1, 5 do
			local off = rng:int(0, size - 1)
			local len = rng:int(1, size)
			if j == 1 then
				off, len = 0, size + 5000
			elseif j == 2 then
				off, len = bad * PAGE - (bad > 0 and rng:int(1, 4000) or 0), 3 * PAGE
			elseif j == 3 then
				off = pages[bad].first * PAGE + rng:int(0, PAGE << pages[bad].order) % size
				off = math.min(off, size - 1)
			end
			if wrong_read(f, m, pages, size, off, len) then
				local _, why = fl.smallest({ off = off, len = len }, function(c)
					return c.off >= 0 and c.len >= 1 and wrong_read(f, m, pages, size, c.off, c.len)
				end, 60)
				return false, ("case %d of 40, %s (page %d is bad)"):format(5 * i + j - 5, why, bad)
			end
		end
	end
	return true
end

-- ---- the repair of step 8 ----

-- The bytes an operation changes; nil, why for one that may not be used.
local function range_of(op)
	local name, rest = op:match("^%s*(%S+)%s*(.-)%s*$")
	local a, b, n = rest:match("^(%S+)%s*(%S*)%s*(%S*)$")
	if name == "read" or name == "pread" or name == "splice" then
		return 0, 0
	elseif name ~= "punch" and name ~= "pwrite" then
		return nil, ("'%s' is not allowed, expected punch, pwrite, read, pread, splice"):format(name)
	end
	local off, len = fl.size(a), fl.size(b)
	return off, off + len * (n ~= "" and fl.size(n) or 1)
end

local function check_repair(s, w)
	local m = file("v6.18", 2, s.bad, false)
	m:play(w)
	for op in w:gsub("#[^\n]*", ""):gsub("\n", ";"):gmatch("[^;]+") do
		if op:match("%S") then
			local first, last = range_of(op)
			if not first then
				return false, last
			end
			local inside = first == last
			for _, page in ipairs(s.bad) do
				inside = inside or first >= page * PAGE and last <= (page + 1) * PAGE
			end
			if not inside then
				return false, ("'%s' changes more than one bad page"):format(op)
			end
		end
	end
	local got = call(m, "read", 0, 2 * FOLIO)
	if got ~= 2 * FOLIO then
		return false, ("a read of all of the file returns %d, expected %d"):format(got, 2 * FOLIO)
	end
	if m:cached() ~= 1024 then
		return false, ("%d pages are there, expected 1024"):format(m:cached())
	end
	return true
end

lab {
	title = "One bad page",
	summary = "A poisoned page in a large folio: what reads, splices and writes around it return, a bug, its cure.",
	minutes = 60,
	steps = {
		step {
			id = "poison",
			title = "A page goes bad",
			prepare = function(s)
				s.n = s.rng:int(2, 9)
				s.page = s.rng:int(5, 480)
				s.off = (s.page - s.rng:int(2, 5)) * 4096 + s.rng:int(1, 4000)
				s.len = s.rng:int(6, 30) * 4096
				s.m, s.held = file(BEFORE, s.n, {}), file(BEFORE, s.n, {}, true)
				s.m:queue(("poison %d"):format(s.page * PAGE))
				s.held:queue(("poison %d"):format(s.page * PAGE))
				s.call = call
			end,
			brief = [[
Memory fails. When the hardware reports an error that it could not correct, the kernel marks the **page** as poisoned (`PG_hwpoison`), and nobody must be given
its bytes again: a read that needs it fails with `EIO`. Data in a file on disk can be read again into another page. In tmpfs there is no disk, so the bad page
stays in the file, as the place where data *was*.

If the page is part of a large folio, the kernel first tries to **split** the folio into single pages, so that one page is lost and not 512. Splitting needs that
nobody else holds a reference. If it fails, the folio stays as it is, and gets a mark of its own: *some page in here is bad* (`PG_has_hwpoisoned`).

This tmpfs file (v6.12, `huge=always`) consists of {{n}} folios of order 9, that is {{n * 512}} pages. The operation `poison {{page * 4096}}` lets page {{page}} go bad, as `madvise(MADV_HWPOISON)` does.
]],
			questions = {
				ask.number {
					id = "folios-split",
					predict = true,
					unit = "folios",
					text = "Nobody holds the folios. How many folios has the file afterwards?",
					answer = function(s)
						local n = 0
						for f in s.m:twin():finish():folios() do
							n = n + 1
						end
						return n
					end,
					hints = { "One of the {{n}} folios becomes 512 folios of one page; the bad one stays among them." },
				},
				ask.number {
					id = "first-read",
					predict = true,
					unit = "bytes",
					text = "Then a program reads **{{len}} bytes at byte {{off}}**; that is in page {{off // 4096}}. The loop copies what it can before it meets the bad "
						.. "page. If it copied something, it returns how much; the error is dropped. How many bytes?",
					answer = function(s) return call(s.m:twin():finish(), "read", s.off, s.len) end,
					hints = { "The bad page {{page}} starts at byte {{page * 4096}}." },
				},
				ask.choice {
					id = "who-holds",
					predict = true,
					text = "What could make the split fail?",
					options = {
						"a program spliced a page of the folio into a pipe and nobody has read the pipe yet",
						"the file is larger than 2 MiB",
						"another page of the folio was read a moment ago",
						"the file has no blocks on a disk",
					},
					answer = function(s)
						local _, errno = s.held:twin():poison(s.page * PAGE)
						return errno == "EHWPOISON" and 1 or 0
					end,
					hints = { "A reference lasts as long as somebody may still look at the page." },
				},
			},
			run = function(s)
				local function count(m)
					return ("%d folios of order 9, %d of order 0"):format(m:orders()[9], m:orders()[0])
				end
				s.m:finish()
				s.held:finish()
				print("nobody holds it:   " .. count(s.m))
				print("somebody holds it: " .. count(s.held))
				print(("read %d at %d returns %d; the next one, at %d, returns %d"):format(s.len, s.off, call(s.m, "read", s.off, s.len),
					s.page * PAGE, call(s.m, "read", s.page * PAGE, s.len)))
			end,
			reveal = [[
**Bytes win over errors**: a read that got something returns it. The program learns of the error from its next call, which starts at the bad page.

From here on *somebody holds the folios*: they stay whole. It is the rare case, and the one in which the code below differs.
]],
		},

		step {
			id = "before",
			title = "Page by page",
			prepare = function(s)
				s.bad = 512 + s.rng:int(10, 480)
				s.list = around(s.rng, s.bad, 1)
				s.m = file(BEFORE, 2, { s.bad }, true)
				s.call_table = call_table
			end,
			brief = [[
Two folios of order 9: pages 0 to 511 and 512 to 1023. Page **{{bad}}** is bad, the folio is not split. Up to v6.12 a read takes a turn a page (lab 07), and each
turn asks: is *this page* poisoned?

{{call_table(list)}}
]],
			questions = {
				ask.list {
					id = "reads-before",
					predict = true,
					points = 6,
					text = "What do these four **reads** return on v6.12? Bytes, or -5 for `EIO` (as the kernel has it): four numbers, A to D.",
					answer = function(s) return calls(s.m, "read", s.list) end,
					hints = {
						"A and B end at byte {{bad * 4096}}, where the bad page starts. C starts in it. Does D need it?",
					},
				},
				ask.number {
					id = "turns-before",
					predict = true,
					unit = "turns",
					text = "How many turns does A take, counting the one that meets the bad page?",
					answer = function(s) return look(s.m, s.list[1].off, s.list[1].len).turns end,
					hints = { "Pages {{list[1].off // 4096}} to {{bad}}." },
				},
			},
			run = function(s)
				print(show(calls(s.m, "read", s.list)))
			end,
			reveal = "Exactly the bad page cannot be read. That is what any faster loop has to keep.",
		},

		step {
			id = "v1",
			title = "The first posting",
			prepare = function(s)
				s.bad = 512 + s.rng:int(10, 480)
				s.list = around(s.rng, s.bad, 1)
				s.before, s.m, s.split = file(BEFORE, 2, { s.bad }, true), file(V1, 2, { s.bad }, true), file(V1, 2, { s.bad })
				s.many = {}
				local seen = {}
				for i = 1, s.rng:int(3, 8) do
					local page = s.rng:int(0, 2047)
					if not seen[page] then
						s.many[#s.many + 1] = page
						seen[page] = true
					end
				end
				table.sort(s.many)
				s.lost = file(V1, 4, s.many, true)
				s.call_table = call_table
			end,
			brief = [[
The first posting of the series of lab 07 (Baolin Wang, linux-mm, 16 Oct 2024) copies a folio a turn. Its loop, in our words:

```
1  while bytes are wanted
2      if pos >= i_size: stop
3      folio = look up the page at pos
4      if the folio has a bad page: error = EIO, stop
5      size = size of the folio; of a page, if it is a hole
6      nr = min(i_size - pos, wanted, size - pos % size)
7      copy nr bytes from byte pos % size of the folio
8      pos = pos + nr
9  return the bytes copied; if there are none, the error
```

The same file, but now page **{{bad}}** is bad:

{{call_table(list)}}
]],
			questions = {
				ask.list {
					id = "reads-v1",
					predict = true,
					points = 6,
					text = "What do the four **reads** return with this loop (A to D, -5 for `EIO`)?",
					answer = function(s) return calls(s.m, "read", s.list) end,
					hints = { "Folio 512 to 1023 cannot be read at all. A starts before it, in page {{list[1].off // 4096}}; where does that folio end?" },
				},
				ask.choice {
					id = "bug",
					keep = true,
					text = "Healthy data is lost. Which line is wrong?",
					options = { "line 2", "line 4", "line 6", "line 7", "line 9" },
					answer = function(s)
						local d = s.list[4]
						local lost = call(s.m:twin(), "read", d.off, d.len) == -5 and call(s.before:twin(), "read", d.off, d.len) == d.len
						return lost and 2 or 0
					end,
					hints = { "D wants pages {{list[4].off // 4096}} to {{(list[4].off + list[4].len - 1) // 4096}}, all of them healthy. At which line does it end?" },
				},
				ask.number {
					id = "lost",
					points = 6,
					unit = "pages",
					text = "A file of 4 folios (2048 pages, none split) has these bad pages: **{{table.concat(many, ', ')}}**. How many *healthy* pages can "
						.. "no longer be read?",
					answer = function(s)
						local n = 0
						for page = 0, 2047 do
							if not s.lost:pread(page * PAGE, PAGE) then
								n = n + 1
							end
						end
						return n - #s.many
					end,
					hints = { "Which of the folios 0-511, 512-1023, 1024-1535, 1536-2047 are hit? Each hit one loses 512 pages, bad ones included." },
				},
				ask.choice {
					id = "unseen",
					text = "Now a test of v1 in which *nobody* holds the folio when page {{bad}} goes bad. What does D return?",
					options = { "all its {{list[4].len}} bytes", "`EIO`", "0", "the bytes up to the next folio" },
					answer = function(s)
						local d = s.list[4]
						local r = call(s.split:twin(), "read", d.off, d.len)
						return r == d.len and 1 or r == -5 and 2 or r == 0 and 3 or 4
					end,
					hints = { "What becomes of the folio then?" },
				},
			},
			run = function(s)
				print("v6.12: " .. show(calls(s.before, "read", s.list)))
				print("v1:    " .. show(calls(s.m, "read", s.list)))
			end,
			reveal = [[
Line 4 asks about the folio where only a page is wanted. A test that poisons a page and reads around it passes: the split works, the folios are pages, and v1
agrees with all others. **To see this bug, the test must make the split fail.** It was found by reading, in review.
]],
		},

		step {
			id = "final",
			title = "Falling back to pages",
			prepare = function(s)
				s.bad = 512 + s.rng:int(3, 7)
				s.list = around(s.rng, s.bad, 1)
				s.m = file(FINAL, 2, { s.bad }, true)
				s.far = 512 + s.rng:int(40, 480)
				s.start = s.rng:int(1, 500) * 4096 + s.rng:int(1, 4000)
				s.m2 = file(FINAL, 2, { s.far }, true)
				s.bs = 4096 << s.rng:int(2, 7)
				s.folios = s.rng:int(2, 5)
				s.hit = s.rng:int(0, s.folios * 512 - 1)
				s.m3 = file(FINAL, s.folios, { s.hit }, true)
				s.show = show
				s.calls = calls
			end,
			brief = [[
The merged a284cb8472ec keeps the folio a turn, and falls back. In place of line 4:

```
4a     if the page at pos is bad: error = EIO, stop
4b     if the folio has a bad page: go by pages in this turn
```

and line 5 takes the size of a page also when it goes by pages. Page **{{bad}}** of the two folios is bad; call A reads **{{list[1].len}} bytes at byte {{list[1].off}}**,
page {{list[1].off // 4096}}.
]],
			questions = {
				ask.list {
					id = "copies",
					predict = true,
					points = 6,
					text = "How many bytes does A copy in each turn that copies something, in order?",
					answer = function(s) return look(s.m, s.list[1].off, s.list[1].len).copies end,
					hints = {
						"The first folio is healthy: one copy to its end, byte 2097152. Then a page a turn, up to page {{bad}}.",
					},
				},
				ask.choice {
					id = "simpler",
					predict = true,
					text = "Why not simply 4a alone, without 4b?",
					options = {
						"a turn that starts at a healthy page would copy the whole folio, the bad page with it",
						"it would return EIO for the healthy pages, as v1 does",
						"it would be slower than v6.12",
						"reads of holes would fail",
					},
					answer = function(s)
						-- with 4b no copy reaches into the bad page
						local pos = s.list[1].off
						for _, n in ipairs(look(s.m, s.list[1].off, s.list[1].len).copies) do
							pos = pos + n
						end
						return pos == s.bad * PAGE and 1 or 0
					end,
					hints = { "4a looks at one page. How many does line 7 copy?" },
				},
				ask.number {
					id = "turns-final",
					predict = true,
					unit = "turns",
					text = "In another file of two folios, page **{{far}}** is bad. How many turns does a read of all from byte **{{start}}** on take, counting the one "
						.. "that meets the bad page?",
					answer = function(s) return look(s.m2, s.start, 2 * FOLIO - s.start).turns end,
					hints = { "One for the first folio. Then pages 512 to {{far}}, one each." },
				},
				ask.number {
					id = "scan",
					points = 6,
					predict = true,
					unit = "turns",
					text = "A file of **{{folios}}** folios has one bad page, **{{hit}}**. A program reads the file in blocks of **{{bs // 1024}} KiB** from the start and leaves "
						.. "out the one block with that page. How many turns in all?",
					answer = function(s)
						local m, n = s.m3:twin(), s.m3:counters().fl_shmem_lookup
						for off = 0, s.folios * FOLIO - 1, s.bs do
							if off // s.bs ~= s.hit * PAGE // s.bs then
								m:pread(off, s.bs)
							end
						end
						return m:counters().fl_shmem_lookup - n
					end,
					hints = {
						"A healthy folio: {{2097152 // bs}} blocks, one turn each. In the folio with the bad page a block takes {{bs // 4096}} turns, and one block is left out.",
					},
				},
			},
			run = function(s)
				print("reads, final: " .. show(calls(s.m, "read", s.list)))
				print("copies of A:  " .. table.concat(look(s.m, s.list[1].off, s.list[1].len).copies, ", "))
			end,
			reveal = [[
The results are those of v6.12, the speed is that of the folios wherever they are sound. Only the hurt folio is slow, and that is a fair price: it is rare, and it is correct.
]],
		},

		step {
			id = "splice",
			title = "Splice",
			prepare = function(s)
				s.bad = 512 + s.rng:int(4, 9)
				s.list = around(s.rng, s.bad, PAGE)
				s.old, s.m = file(FINAL, 2, { s.bad }, true), file(SPLICE, 2, { s.bad }, true)
				s.call_table = call_table
			end,
			brief = [[
`splice()` moves pages of a file into a pipe without copying: the pipe gets references. (So does `sendfile()`; and it is how a pipe comes to hold a folio.) tmpfs has code of its own
for that since v6.5, `shmem_file_splice_read()`, and that code had line 4 of the first posting: *if the folio has a bad page: EIO*. The read series did not touch it at
first; 729881ffd390, merged with it in v6.13, gave it the same fallback.

Page **{{bad}}** is bad, the folio is not split. The pipe is empty before each call and has room for all that is asked.

{{call_table(list)}}
]],
			questions = {
				ask.list {
					id = "splices-before",
					predict = true,
					points = 6,
					text = "What do these four **splices** return *without* 729881ffd390 (A to D, -5 for `EIO`)?",
					answer = function(s) return calls(s.old, "splice", s.list) end,
					hints = { "As the reads of v1: the folio is lost. A gets what lies before page 512." },
				},
				ask.list {
					id = "splices-after",
					predict = true,
					points = 6,
					text = "And *with* it?",
					answer = function(s) return calls(s.m, "splice", s.list) end,
					hints = { "As the final reads: up to page {{bad}}, and D has nothing to do with it." },
				},
			},
			run = function(s)
				print("without: " .. show(calls(s.old, "splice", s.list)))
				print("with:    " .. show(calls(s.m, "splice", s.list)))
			end,
			reveal = [[
So v1's line was no slip of the pen: the same test had been in the splice code for a year. Copying a pattern copies its bugs.
]],
		},

		step {
			id = "write",
			title = "Write",
			prepare = function(s)
				s.bad = 512 + s.rng:int(10, 480)
				s.list = around(s.rng, s.bad, 1)
				s.v61, s.m, s.fixed = file("v6.1", 2, { s.bad }, true), file(SPLICE, 2, { s.bad }, true), file(WRITE, 2, { s.bad }, true)
				s.call_table = call_table
			end,
			brief = [[
A write asks, too. v6.1 asks about the page. Since 1da86618bdce (v6.12) `shmem_write_begin()` asks about the folio, and that is so in v7.3: the review of the series
asked for a fallback here as well, and none was merged.

Page **{{bad}}** is bad, the folio is not split.

{{call_table(list)}}
]],
			questions = {
				ask.list {
					id = "writes",
					predict = true,
					points = 6,
					text = "What do these four **writes** return with all commits so far, that is, on v6.13 (A to D, -5 for `EIO`)?",
					answer = function(s) return calls(s.m, "write", s.list) end,
					hints = { "The whole folio refuses; bytes win over errors for writes, too." },
				},
				ask.list {
					id = "writes-fallback",
					predict = true,
					points = 6,
					text = "And with the fallback that Linux does not have (the knob SHMEM_WRITE_FALLBACK)?",
					answer = function(s) return calls(s.fixed, "write", s.list) end,
					hints = { "Up to the bad page, which starts at byte {{bad * 4096}}." },
				},
				ask.choice {
					id = "still",
					predict = true,
					text = "On v7.3, which of these still fails at a *healthy* page of the hurt folio?",
					options = { "read()", "splice()", "write()", "none of them" },
					answer = function(s)
						local m, d, found = file("v7.3", 2, { s.bad }, true), s.list[4], 4
						for i, op in ipairs { "read", "splice", "write" } do
							if call(m:twin(), op, d.off, PAGE) == -5 then
								assert(found == 4, "two of them fail")
								found = i
							end
						end
						return found
					end,
					hints = { "Two of the three got their fallback in v6.13." },
				},
			},
			run = function(s)
				print("v6.1:          " .. show(calls(s.v61, "write", s.list)))
				print("v6.13:         " .. show(calls(s.m, "write", s.list)))
				print("with fallback: " .. show(calls(s.fixed, "write", s.list)))
			end,
			reveal = [[
A program that can read a page but not write it may be surprised. On the other hand: who writes to memory that has just failed nearby? Either can be defended; what counts is that somebody
decided it.
]],
		},

		step {
			id = "fallback",
			title = "Write the fallback",
			prepare = function(s)
				s.case_seed = s.rng:int(1, 1 << 40)
				s.m = fl.machine { kernel = FINAL .. "+acd7ccb284b8", fs = "tmpfs-always", size = 12 * PAGE, split_fails = true }
				s.m:pwrite(0, 4 * PAGE)
				s.m:pwrite(8 * PAGE, 4 * PAGE)
				s.bad = s.rng:int(9, 11)
				s.m:poison(s.bad * PAGE)
				s.off = s.rng:int(1, 4) * 1000
				s.r = look(s.m, s.off, 12 * PAGE)
				s.join = join
			end,
			brief = [[
You write the loop of step 4. An example: pages 0 to 3 are a folio, 4 to 7 a hole, 8 to 11 a folio whose page {{bad}} is bad.

```
{{m:map{ from = 0, to = 11 }}}
```

A read of {{12 * 4096}} bytes at byte {{off}} copies {{join(r.copies)}} and returns {{r.result}}. A hole is read a page a turn (lab 07).
]],
			questions = {
				ask.func {
					id = "read",
					points = 16,
					text = "Write `read(pages, size, off, len)`. `pages[i]`, for page i = 0, 1, 2, ..., is `{ first = , order = , bad = }`: the first page and the order of "
						.. "the folio it is in, and whether *this page* is bad; it is nil in a hole. `size` is the file's in bytes, off < size. Return "
						.. "`{ copies = { bytes of each copy }, result = what the read returns }`; the result is -5 if it ends at a bad page with nothing copied. "
						.. "40 hidden cases are tried.",
					check = check_read,
					hints = {
						"Cut the end first: `stop = math.min(off + len, size)`. Then `while off < stop do`, with the lines of steps 3 and 4.",
						{
							text = "In a turn: `p = pages[off // 4096]`. If p is bad, stop. The unit is a page if p is nil or some page of its folio is bad (look at "
								.. "`pages[p.first]` to `pages[p.first + (1 << p.order) - 1]`), else `4096 << p.order` bytes.",
							cost = 3,
						},
						{
							text = "Folios are aligned, so the unit ends at `(off // unit + 1) * unit`; copy up to there or to `stop`.",
							cost = 3,
						},
					},
					explain = "The kernel does not look at all pages: the folio's mark says it in one bit. That bit must be right: since 7460b470a131 (v6.15) it was lost when a folio was split into "
						.. "smaller ones that were still large, and poisoned bytes were handed out until fa5a06170036 (v6.18) put that right.",
				},
			},
			reveal = "Two questions a turn: may I read *this page*, and may I take *the whole folio*? v1 had but one.",
		},

		step {
			id = "repair",
			title = "Repair the file",
			prepare = function(s)
				s.bad = { s.rng:int(3, 500), 512 + s.rng:int(3, 500) }
				s.m = file("v6.18", 2, s.bad, false)
			end,
			brief = [[
The usual case, at last: nobody held the folios, they were split, and of this file on v6.18 exactly pages **{{bad[1]}}** and **{{bad[2]}}** are bad. A read of all of it returns
{{bad[1] * 4096}}. The data of those two pages is gone, but the program knows it and could compute it anew. The bad page must leave the file first: writing to it fails.
]],
			questions = {
				ask.workload {
					id = "mend",
					points = 8,
					max_ops = 100,
					text = "Write a workload after which the whole file can be read and all its 1024 pages are there, without changing a byte of a healthy page. `punch OFF LEN` makes a "
						.. "hole, `pwrite OFF LEN` writes.",
					check = check_repair,
					hints = {
						"Page {{bad[1]}} starts at byte {{bad[1] * 4096}} and has 4096.",
						{ text = "For each of the two: `punch`, then `pwrite`, both with that offset and 4096.", cost = 3 },
					},
				},
			},
			reveal = [[
The hole let the bad page go; since it is poisoned, it never returns to the allocator. The write got a healthy one. As long as somebody holds an unsplit folio this does not work: a hole in it
is only zeroed, and the page stays bad.
]],
		},
	},
}
