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

local function reread(mib, kib)
	return ("seek 0; read %dk %d"):format(kib, (mib << 10) // kib), ("pwrite 0 1m %d; fsync"):format(mib)
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
	minutes = 40,
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
				s.mib = 2 * s.rng:int(2, 5)
				s.kib = s.rng:pick { 16, 32, 64 }
				s.writes, s.reads = {}, {}
				for i, kib in ipairs { 4, s.kib, 1024 } do
					s.writes[i] = on_all(append(s.mib, kib))
					s.reads[i] = on_all(reread(s.mib, kib))
				end
				s.order = s.rng:shuffle { 1, 2, 3, 4 }
				local old, new = s.writes[2][1], s.writes[2][2]
				s.old_us, s.new_us = old.us, new.us
				s.cells = { gain(s.writes[1][1], s.writes[1][2]), gain(s.reads[2][1], s.reads[2][2]), gain(old, new), gain(s.writes[3][1], s.writes[3][2]) }
			end,
			brief = [[
Now whole cells. The published figures are throughput: how much more gets done in the same time. {{mib}} MiB appended in calls of **{{kib}} KiB** take ext4 **{{("%.0f"):format(old_us)}} us** of processor time with folios of a page and
**{{("%.0f"):format(new_us)}} us** with large ones.
]],
			questions = {
				ask.number {
					id = "percent",
					predict = true,
					tolerance = 1.5,
					unit = "percent",
					text = "What does the table say for this cell: how many percent more?",
					answer = function(s) return gain({ us = s.old_us }, { us = s.new_us }) end,
					hints = { "Throughput is one over time: divide the old time by the new one." },
				},
				ask.order {
					id = "cells-by-gain",
					predict = true,
					points = 6,
					text = "Bring these cells of ext4 large against ext4 into the order of what they gain, the least first.",
					items = function(s)
						local texts = {
							"append, calls of 4 KiB",
							("read what is cached, calls of %d KiB"):format(s.kib),
							("append, calls of %d KiB"):format(s.kib),
							"append, calls of 1 MiB",
						}
						local list = {}
						for i, cell in ipairs(s.order) do
							list[i] = texts[cell]
						end
						return list
					end,
					answer = function(s)
						local list = { 1, 2, 3, 4 }
						table.sort(list, function(a, b) return s.cells[s.order[a]] < s.cells[s.order[b]] end)
						return list
					end,
					hints = {
						"A cached read finds folios; it makes none, dirties none, has no buffer heads: there is less to save. And the copying stays.",
						"The longer the call, the larger the folio.",
					},
				},
			},
			run = function(s)
				local labels, values = {}, {}
				for i, kib in ipairs { "4k", s.kib .. "k", "1m" } do
					for n = 2, 3 do
						labels[#labels + 1] = ("append %s, %s"):format(kib, stacks[n].name)
						values[#values + 1] = math.floor(gain(s.writes[i][1], s.writes[i][n]) + 0.5)
					end
				end
				for i, kib in ipairs { "4k", s.kib .. "k", "1m" } do
					labels[#labels + 1] = ("read %s, %s"):format(kib, stacks[2].name)
					values[#values + 1] = math.floor(gain(s.reads[i][1], s.reads[i][2]) + 0.5)
				end
				local p = plot.bars { title = "gain over ext4 with folios of a page", labels = labels, values = values, unit = "%" }
				figure("gains", p)
			end,
			reveal = [[
{{("%.0f"):format(cells[1])}}, {{("%.0f"):format(cells[2])}}, {{("%.0f"):format(cells[3])}} and {{("%.0f"):format(cells[4])}} %. The published table has 2, 77 and 82 % for appends of 4 KiB, 64 KiB and 1 MiB, and 5, 144 and 167 % for iomap: another machine, the same order. Its reads are cold ones. Where a disk must be
waited for, gains shrink: `foliolab bench fio-ext4` plays all of its rows.
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
and that moves at least 1 MiB. Any operations of `foliolab run --help`; the file is empty at first.
]],
			questions = {
				ask.workload {
					id = "gain",
					points = 8,
					max_ops = 60,
					text = "The workload: at most {{calls}} calls, at least 1 MiB, at least {{goal}} % gain.",
					check = function(s, w)
						local small, large = machine(stacks[1]), machine(stacks[2])
						small:play(w)
						large:play(w)
						local stats = large:stats()
						local moved, calls = large.size, large:perf().counts.SYSCALL or 0
						if stats.bytes and stats.bytes > moved then
							moved = stats.bytes
						end
						if calls > s.calls then
							return false, ("%d calls, expected at most %d"):format(calls, s.calls)
						end
						if moved < 1 << 20 then
							return false, ("%d bytes are moved, expected at least 1 MiB"):format(moved)
						end
						local g = 100 * small:perf().ns / large:perf().ns - 100
						if g < s.goal then
							return false, ("the gain is %.0f %%, expected at least %d %%"):format(g, s.goal)
						end
						return true
					end,
					hints = {
						"Step 3 has cells that gain enough. Which have the largest folios and the most work for each?",
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
