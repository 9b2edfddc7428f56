-- Lab 17: the same calls on ext4 without and with large folios and on XFS; times, and the counts behind them.

-- A file system with fs-verity gets no large folios in v6.18: ext4_should_enable_large_folio().
local stacks = {
	{ name = "ext4", fs = "ext4", features = "verity" },
	{ name = "ext4 large", fs = "ext4" },
	{ name = "xfs large", fs = "xfs" },
}

local function machine(stack)
	return fl.machine { kernel = "v6.18", fs = stack.fs, features = stack.features, size = 0, disk = "ram", memory = "256m" }
end

-- What @ops cost on @stack after @before: { us, counts }.
local function cost(stack, ops, before)
	local m = machine(stack)
	if before then
		m:play(before)
	end
	local start = m:perf()
	m:play(ops)
	local p = m:perf(start)
	return { us = p.ns / 1000, counts = p.counts }
end

local function on_all(ops, before)
	local list = {}
	for i, stack in ipairs(stacks) do
		list[i] = cost(stack, ops, before)
	end
	return list
end

-- Percent that the second gets done more than the first in the same time.
local function gain(from, to)
	return 100 * from.us / to.us - 100
end

local function append(mib, kib)
	return ("pwrite 0 %dk %d"):format(kib, (mib << 10) // kib)
end

local function read(mib, kib)
	return ("read %dk %d"):format(kib, (mib << 10) // kib)
end

-- The rows of the table: what is played and measured, and what happens between laying out the file and that.
local kinds = {
	{ name = "append", ops = append },
	{ name = "overwrite", ops = append, between = "fsync" },
	{ name = "cold read", ops = read, between = "fsync; fadvise dontneed 0 0; seek 0" },
	{ name = "cached read", ops = read, between = "fsync; seek 0" },
}

-- A cell on all stacks. A file that must be there is laid out before in calls of the same size, as fio does.
local function cell(kind, mib, kib)
	return on_all(kind.ops(mib, kib), kind.between and append(mib, kib) .. "; " .. kind.between)
end

-- Which of @names is counted less on ext4 large than on ext4.
local function fell(costs, names)
	local found
	for i, n in ipairs(names) do
		if (costs[2].counts[n] or 0) < (costs[1].counts[n] or 0) then
			assert(not found, "two of them fell")
			found = i
		end
	end
	return found
end

local function whole(x)
	return math.floor(x + 0.5)
end

local function times_lines(rows)
	local list = { ("%-18s %10s %10s %6s %10s %6s"):format("us", stacks[1].name, stacks[2].name, "gain", stacks[3].name, "gain") }
	for _, r in ipairs(rows) do
		local c = r.costs
		list[#list + 1] = ("%-18s %10.0f %10.0f %5d%% %10.0f %5d%%"):format(r.name, c[1].us, c[2].us, whole(gain(c[1], c[2])), c[3].us, whole(gain(c[1], c[3])))
	end
	return table.concat(list, "\n")
end

-- Counts beside each other, a line a name.
local function count_lines(costs, names)
	local list = { ("%-18s %10s %10s %10s"):format("", stacks[1].name, stacks[2].name, stacks[3].name) }
	for _, n in ipairs(names) do
		list[#list + 1] = ("%-18s %10d %10d %10d"):format(n, costs[1].counts[n] or 0, costs[2].counts[n] or 0, costs[3].counts[n] or 0)
	end
	return table.concat(list, "\n")
end

lab {
	title = "Three stacks, one table",
	summary = "The table of fio runs of ext4's large folios in miniature: which cells gain, and the counts that say why.",
	minutes = 45,
	steps = {
		step {
			id = "turns",
			title = "What a call is made of",
			prepare = function(s)
				s.mib = s.rng:int(2, 7)
				s.kib = s.rng:pick { 32, 64, 128, 256 }
				s.calls = (s.mib << 10) // s.kib
				s.costs = on_all(append(s.mib, s.kib))
				s.example = on_all(append(1, 16))
				s.lines = count_lines
				s.names = { "ALLOC_FOLIO", "WRITE_TURN", "LRU_ADD", "COPY_FOLIO" }
			end,
			brief = [[
Three stacks, all on v6.18: **ext4** as it was before v6.16 (with `-O verity` it still gets folios of one page), **ext4 large**, and **xfs large**, which goes through iomap. A write is a loop:
find or make a folio, copy into it, mark it dirty, go on (lab 14). 1 MiB appended to an empty file in calls of 16 KiB:

```
{{lines(example, names)}}
```

Folios made, turns of the loop, entries on the LRU lists, copies. A call of 16 KiB is four pages, or one folio.
]],
			questions = {
				ask.number {
					id = "turns-small",
					predict = true,
					points = 3,
					unit = "turns",
					text = "Now **{{mib}} MiB** are appended in calls of **{{kib}} KiB**. How many turns of the loop on **ext4** with folios of a page?",
					answer = function(s) return s.costs[1].counts.WRITE_TURN end,
					hints = { "One a page: {{mib}} MiB of 4 KiB each." },
				},
				ask.number {
					id = "turns-large",
					predict = true,
					points = 3,
					unit = "turns",
					text = "And on **ext4 large**?",
					answer = function(s) return s.costs[2].counts.WRITE_TURN end,
					hints = { "Each call is a power of two and begins at a multiple of it: one folio." },
				},
				ask.number {
					id = "turns-four",
					points = 3,
					unit = "turns",
					text = "And on **ext4 large** if the same {{mib}} MiB come in calls of **4 KiB**?",
					answer = function(s) return cost(stacks[2], append(s.mib, 4)).counts.WRITE_TURN end,
					hints = { "The hint of a write is its own length (lab 14). The kernel does not know that more will follow." },
				},
			},
			run = function(s)
				print(count_lines(s.costs, s.names))
			end,
			reveal = [[
{{costs[1].counts.WRITE_TURN}} and {{costs[2].counts.WRITE_TURN}}. With calls of 4 KiB nothing changes at all: that ext4's appends of 4 KiB gain next to nothing in the published table (2 %) is not bad luck but arithmetic.

Where XFS has a few folios more: it reserves blocks ahead of an append, and a call that runs over the end of such an extent is done in two parts, each with folios of its own.
]],
		},

		step {
			id = "blocks",
			title = "What stays one a block",
			prepare = function(s)
				s.mib = s.rng:int(2, 9)
				s.kib = s.rng:pick { 16, 32, 64 }
				s.calls = (s.mib << 10) // s.kib
				s.costs = on_all(append(s.mib, s.kib))
				s.pages = s.mib * 256
				s.lines = count_lines
			end,
			brief = [[
ext4 keeps a **buffer head** for each block of a cached folio: where it is on the disk, whether it is up to date, dirty, delayed. XFS has iomap: one question to the file system for a whole call (`iomap_begin`), and two bits a
block beside the folio. Neither changed with large folios.

{{mib}} MiB in calls of {{kib}} KiB: that is {{calls}} calls, and {{pages}} blocks of 4 KiB.
]],
			questions = {
				ask.number {
					id = "buffers",
					predict = true,
					points = 3,
					unit = "buffer heads",
					text = "How many buffer heads does **ext4 large** allocate (BUFFER_ALLOC)?",
					answer = function(s) return s.costs[2].counts.BUFFER_ALLOC end,
					hints = { "One a block, however large the folio." },
				},
				ask.number {
					id = "begins",
					predict = true,
					points = 3,
					unit = "calls",
					text = "How often does iomap ask **xfs** where the bytes go (IOMAP_BEGIN)?",
					answer = function(s) return s.costs[3].counts.IOMAP_BEGIN end,
					hints = { "Once a call of write(2), as long as one extent is enough for it." },
				},
				ask.choice {
					id = "lesson",
					text = "The published table has iomap ahead of ext4 with large folios in nearly all write rows. Which of these explains it best?",
					options = {
						"Work of a block - buffer heads, reservations, look-ups of extents - is still done block by block on ext4",
						"XFS makes larger folios than ext4",
						"ext4 copies the bytes twice",
						"XFS does not put its folios on the LRU lists",
					},
					answer = function() return 1 end,
				},
			},
			run = function(s)
				print(count_lines(s.costs, { "WRITE_TURN", "COPY_FOLIO", "BUFFER_ALLOC", "MARK_BUFFER_DIRTY", "DA_RESERVE", "ES_LOOKUP", "IOMAP_BEGIN" }))
				print(("%.0f us, %.0f us, %.0f us of processor time"):format(s.costs[1].us, s.costs[2].us, s.costs[3].us))
			end,
			reveal = [[
Large folios save what is done for a *folio*. What is done for a *block* stays: on ext4 that is most of what is left.
]],
		},

		step {
			id = "table",
			title = "The table",
			prepare = function(s)
				s.mib = 2 * s.rng:int(1, 4)
				s.kib = s.rng:pick { 16, 32, 64 }
				s.rows, s.own = {}, {}
				for _, kind in ipairs(kinds) do
					for i, kib in ipairs { 4, s.kib, 1024 } do
						local row = { name = ("%s %dk"):format(kind.name, kib), costs = cell(kind, s.mib, kib) }
						s.rows[#s.rows + 1] = row
						if i == 2 then
							s.own[#s.own + 1] = row
						end
					end
				end
				local lines = { ("%-18s %10s %10s %8s"):format("us", stacks[1].name, stacks[2].name, "gain") }
				for _, r in ipairs(s.own) do
					lines[#lines + 1] = ("%-18s %10d %10d %8s"):format(r.name, whole(r.costs[1].us), whole(r.costs[2].us), "?")
				end
				s.form = table.concat(lines, "\n")
				-- Append 4k, cached read, append, append 1m.
				s.cells = { s.rows[1], s.own[4], s.own[1], s.rows[3] }
				s.order = s.rng:shuffle { 1, 2, 3, 4 }
				s.gain = function(r) return gain(r.costs[1], r.costs[2]) end
				s.percent = function(r) return whole(s.gain(r)) end
			end,
			brief = [[
Now whole cells: **{{mib}} MiB** are *appended* to an empty file; *overwritten* in the cache; read *cold*; read again from the cache (*cached*). The file of the last three was laid out before, in calls of the same size, as fio does. The
published figures are throughput: how much **more gets done in the same time**. Processor time for calls of **{{kib}} KiB**:

```
{{form}}
```
]],
			questions = {
				ask.list {
					id = "column",
					predict = true,
					points = 6,
					text = "Fill in the last column: four whole percentages, from top to bottom.",
					answer = function(s)
						local list = {}
						for i, r in ipairs(s.own) do
							list[i] = whole(gain({ us = whole(r.costs[1].us) }, { us = whole(r.costs[2].us) }))
						end
						return list
					end,
					hints = { "Throughput is one over time: 100 times the old time, divided by the new one, less 100. Round to the nearest." },
				},
				ask.order {
					id = "cells-by-gain",
					predict = true,
					points = 6,
					text = "Bring these cells of ext4 large against ext4 into the order of what they gain, the least first.",
					items = function(s)
						local list = {}
						for i, cell in ipairs(s.order) do
							list[i] = s.cells[cell].name
						end
						return list
					end,
					answer = function(s)
						local list = { 1, 2, 3, 4 }
						table.sort(list, function(a, b) return s.gain(s.cells[s.order[a]]) < s.gain(s.cells[s.order[b]]) end)
						return list
					end,
					hints = {
						"Two of them are in your table. Step 1 says what the third gains.",
						"The longer the call, the larger the folio.",
					},
				},
			},
			run = function(s)
				print(times_lines(s.rows))
				local labels, values = {}, {}
				for _, r in ipairs(s.rows) do
					for n = 2, 3 do
						labels[#labels + 1] = ("%s, %s"):format(r.name, stacks[n].name)
						values[#values + 1] = whole(gain(r.costs[1], r.costs[n]))
					end
				end
				figure("gains", plot.bars { title = "gain over ext4 with folios of a page", labels = labels, values = values, unit = "%" })
			end,
			reveal = [[
Appends gain {{percent(rows[1])}} % (4k), {{percent(own[1])}} % ({{kib}}k) and {{percent(rows[3])}} % (1m). The published table has 2, 77 and 82 % for appends of 4 KiB, 64 KiB and 1 MiB, and 5, 144 and
167 % for iomap: another machine, the same order. Cold reads gain even with calls of 4 KiB ({{percent(rows[7])}} %): readahead, not the call, chooses the folio. `foliolab bench fio-ext4` plays all rows, those that wait for a disk too.
]],
		},

		step {
			id = "why",
			title = "Which count explains which cell",
			prepare = function(s)
				s.mib = s.rng:int(2, 5)
				s.kib = s.rng:pick { 16, 32, 64 }
				s.cold_names = { "ALLOC_FOLIO", "SUBMIT_BIO", "COPY_BYTE", "RAM_BYTE" }
				s.over_names = { "BUFFER_VISIT", "WRITE_TURN", "MARK_BUFFER_DIRTY", "COPY_BYTE" }
				s.cold = cell(kinds[3], s.mib, s.kib)
				s.over = cell(kinds[2], s.mib, s.kib)
				s.syncs = s.rng:int(3, 40)
				local ops = {}
				for i = 0, s.syncs - 1 do
					ops[#ops + 1] = ("pwrite %dk %dk; fsync"):format(i * s.kib, s.kib)
				end
				s.sync = on_all(table.concat(ops, "; "))
				s.plain = on_all(("pwrite 0 %dk %d"):format(s.kib, s.syncs))
			end,
			brief = [[
A gain is explained by a count that fell. Three cells, calls of **{{kib}} KiB**: a cold read of {{mib}} MiB, an overwrite of {{mib}} MiB, and **{{syncs}} times** an append of {{kib}} KiB *and an fsync after it*.

fsync writes the folios back: the file system maps the delayed blocks to real ones (`EXT_MAP`) in a *handle* of the journal (`JOURNAL_START`), sends the data, and has the transaction *committed*: written to the disk and flushed.
]],
			questions = {
				ask.choice {
					id = "cold",
					predict = true,
					text = "Which of these counts is lower on ext4 large in the **cold read**?",
					options = {
						"ALLOC_FOLIO: folios made",
						"SUBMIT_BIO: requests sent to the block layer",
						"COPY_BYTE: bytes copied to the program",
						"RAM_BYTE: bytes moved by the disk, which is a RAM disk",
					},
					answer = function(s) return fell(s.cold, s.cold_names) end,
				},
				ask.choice {
					id = "overwrite",
					predict = true,
					text = "And in the **overwrite**?",
					options = {
						"BUFFER_VISIT: buffer heads looked at",
						"WRITE_TURN: turns of the loop",
						"MARK_BUFFER_DIRTY: buffer heads made dirty",
						"COPY_BYTE: bytes copied from the program",
					},
					answer = function(s) return fell(s.over, s.over_names) end,
				},
				ask.number {
					id = "commits",
					predict = true,
					points = 3,
					unit = "commits",
					text = "How many commits of the journal do the {{syncs}} appends with fsync need on **ext4 large**?",
					answer = function(s) return s.sync[2].counts.JOURNAL_COMMIT end,
					hints = { "Nothing may be waiting when fsync returns, and the next append begins only then." },
				},
			},
			run = function(s)
				print("Cold read:\n" .. count_lines(s.cold, s.cold_names) .. "\n")
				print("Overwrite:\n" .. count_lines(s.over, s.over_names) .. "\n")
				print("Appends with fsync (the miniature prices no log of XFS, so look at ext4 only):")
				print(count_lines(s.sync, { "WRITE_TURN", "EXT_MAP", "JOURNAL_START", "JOURNAL_COMMIT", "SUBMIT_BIO" }))
				print(("gain of ext4 large: %.0f %%, without the fsyncs %.0f %%"):format(gain(s.sync[1], s.sync[2]), gain(s.plain[1], s.plain[2])))
			end,
			reveal = [[
Folios made, turns of the loop: what is counted by the folio falls. Bytes, requests and the journal do not: handles and commits are the same {{sync[1].counts.JOURNAL_START}} and {{sync[1].counts.JOURNAL_COMMIT}} on both, and
where they are most of the time a large folio changes little.
]],
		},

		step {
			id = "trap",
			title = "A cell that the table leaves out",
			prepare = function(s)
				s.calls = s.rng:int(20, 250)
				s.costs = on_all(("pwrite 0 4k %d"):format(s.calls), "pwrite 0 1m; fsync")
			end,
			brief = [[
In the table every file was laid out in calls of its own size. Now a file of 1 MiB is written in **one** call, so it is one folio of 256 blocks on ext4 large, and then **{{calls}}** of its pages are overwritten in calls of **4 KiB**.

For each turn of the loop, v6.18 walks the buffer heads of the *whole* folio twice: `ext4_block_write_begin()` before the copy, `block_write_end()` after it.
]],
			questions = {
				ask.number {
					id = "visits",
					predict = true,
					unit = "visits",
					text = "How many buffer heads are looked at (BUFFER_VISIT) on **ext4 large**?",
					answer = function(s) return s.costs[2].counts.BUFFER_VISIT end,
					hints = { "256 buffer heads, two walks, {{calls}} turns." },
				},
			},
			run = function(s)
				print(count_lines(s.costs, { "WRITE_TURN", "COPY_FOLIO", "BUFFER_VISIT", "MARK_BUFFER_DIRTY", "IOMAP_BEGIN" }))
				print(("%.0f us, %.0f us, %.0f us of processor time"):format(s.costs[1].us, s.costs[2].us, s.costs[3].us))
			end,
			reveal = [[
{{costs[1].counts.BUFFER_VISIT}} visits became {{costs[2].counts.BUFFER_VISIT}}; ext4 large is the *slowest* of the three. iomap keeps its bits beside the folio and walks nothing. No turn was saved, for a call of 4 KiB is one turn on every stack.
]],
		},

		step {
			id = "goal",
			title = "Your own cell",
			prepare = function(s)
				s.goal = s.rng:int(85, 115)
				s.calls = s.rng:int(12, 60)
			end,
			brief = [[
A benchmark shows what its author chose to measure. Choose well: write a workload of at most **{{calls}} calls** that ext4 with large folios gets done with at least **{{goal}} %** more throughput (processor time, waiting for the disk left out),
and that copies at least 1 MiB between program and cache. Any operations of `foliolab run --help`; the file is empty at first.
]],
			questions = {
				ask.workload {
					id = "gain",
					points = 8,
					max_ops = 60,
					text = "The workload: at most {{calls}} calls, at least 1 MiB copied, at least {{goal}} % gain.",
					check = function(s, w)
						local small, large = machine(stacks[1]), machine(stacks[2])
						small:play(w)
						large:play(w)
						local counts = large:perf().counts
						local moved, calls = counts.COPY_BYTE or 0, counts.SYSCALL or 0
						if calls > s.calls then
							return false, ("%d calls, expected at most %d"):format(calls, s.calls)
						end
						if moved < 1 << 20 then
							return false, ("%d bytes are copied, expected at least 1 MiB"):format(moved)
						end
						local g = 100 * small:perf().ns / large:perf().ns - 100
						if g < s.goal then
							return false, ("the gain is %.0f %%, expected at least %d %%"):format(g, s.goal)
						end
						return true
					end,
					hints = {
						"The table has cells that gain enough. Which have the largest folios and the most work for each?",
						{ text = "Appends in calls of 1 MiB.", cost = 3 },
					},
				},
			},
			reveal = [[
Long appends that nobody waits for. An honest table has the 4 KiB row as well.
]],
		},
	},
}
