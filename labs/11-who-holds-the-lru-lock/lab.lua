-- Lab 11: a spinlock's queue, lru_lock per folio, and tasks that meet in many schedules.

local function boot(s, kernel, more)
	local config = { kernel = kernel, fs = "xfs", size = s.mb << 20, memory = "1g", cpus = s.cpus }
	for k, v in pairs(more or {}) do
		config[k] = v
	end
	return fl.machine(config)
end

local function site(r, lock, func)
	for _, l in ipairs(r.locks) do
		if l.lock == lock and (not func or l.func == func) then
			return l
		end
	end
	return { taken = 0, contended = 0, wait = 0, hold = 0 }
end

-- When each CPU has the lock. Arrivals ascend.
local function handover(arrivals, hold, line)
	local times, free = {}, 0
	for i, t in ipairs(arrivals) do
		times[i] = math.max(t, free) + (i > 1 and line or 0)
		free = times[i] + hold
	end
	return times
end

local function spins(r)
	local spin, all = 0, 0
	for _, c in ipairs(r.cpus) do
		spin = spin + c.spin
		all = all + c.run + c.spin
	end
	return spin / all
end

-- One schedule of a reader and a truncation, on ext4, where reads do not take i_rwsem.
local function race(s, schedule)
	local m = fl.machine { kernel = "v6.18", fs = "ext4", size = s.pages * 4096, disk = "nvme", cpus = 2, ra_kb = 512 }
	local ops = ("pread 0 %dk; task 0; pread 0 4k; pread 0 4k; pread 0 %dk; task 1; pread 0 4k; pread 0 4k; ftruncate %d")
		:format(s.pages * 4, s.pages * 4, s.cut)
	return m:tasks(ops, { schedule = schedule, sharing = "same" })
end

lab {
	title = "11 Who holds the lru lock",
	summary = "A lock's queue, one list for all, and tasks that meet in many orders.",
	minutes = 45,
	steps = {
		step {
			id = "queue",
			title = "First come, first served",
			prepare = function(s)
				s.line, s.hold = 64, s.rng:int(8, 40) * 10
				s.arrivals, s.n = { 0 }, s.rng:int(4, 6)
				for i = 2, s.n do
					s.arrivals[i] = s.arrivals[i - 1] + s.rng:int(2, 14) * 10
				end
				s.list = table.concat(s.arrivals, ", ")
				s.times = handover(s.arrivals, s.hold, s.line)
			end,
			brief = [[
`lru_lock` guards the LRU lists of one node: every CPU of the node takes the same one. It is a *queued spinlock*: who finds it taken gets into
a queue and spins, in `native_queued_spin_lock_slowpath()`; whoever releases it hands it to the first in the queue. First come, first served.

A lock is a word in a cache line, and the line is in the cache of the CPU that wrote it last. A CPU that gets the lock from another one waits for the line,
too: **{{line}} ns** here, measured on a Xeon of 2023.

{{n}} CPUs come for the lock at {{list}} ns. The first finds it free and in its own cache. Each one that has lock and line holds them for **{{hold}} ns**.
]],
			questions = {
				ask.number {
					id = "last-gets",
					unit = "ns",
					text = "When has the **last** of them lock and line?",
					answer = function(s) return s.times[s.n] end,
					hints = { "Every hand-over costs the line once; who comes to a free lock that another CPU had pays it, too." },
				},
				ask.number {
					id = "first-waits",
					unit = "ns",
					text = "How long after its arrival has the **second** CPU lock and line?",
					answer = function(s) return s.times[2] - s.arrivals[2] end,
				},
				ask.func {
					id = "handover",
					points = 8,
					text = [[
Write `handover(arrivals, hold, line)` in `answers.lua`: when has each CPU lock and line? `arrivals` ascend; a lock that was free for long still comes
from the CPU that had it last.
]],
					cases = function(s)
						local cases = { { s.arrivals, s.hold, s.line }, { { 0, 10000 }, 50, 64 }, { { 5 }, 10, 64 } }
						for i = 1, 4 do
							local t = { s.rng:int(0, 50) }
							for k = 2, s.rng:int(3, 9) do
								t[k] = t[k - 1] + s.rng:int(0, 600)
							end
							cases[#cases + 1] = { t, s.rng:int(1, 300), s.rng:int(1, 100) }
						end
						return cases
					end,
					answer = function(s, ...) return handover(...) end,
				},
			},
			reveal = "They have it at {{table.concat(times, \", \")}} ns: a hand-over every {{hold + line}} ns as soon as there is a queue.",
		},
		step {
			id = "four-times",
			title = "The same bytes, four times the folios",
			prepare = function(s)
				s.cpus, s.mb = s.rng:int(6, 12), s.rng:int(2, 4)
				s.old, s.new = boot(s, "v6.7"), boot(s, "ab4443fe3ca6")
				s.ops = ("read 4k %d"):format(s.mb * 256)
				s.a, s.b = s.old:tasks(s.ops), s.new:tasks(s.ops)
				s.site, s.spins = site, spins
			end,
			brief = [[
**{{cpus}} readers**, each on a CPU of its own, read a sparse file of {{mb}} MiB each, 4 KiB at a time. v6.7 fills the cache with folios of order 5; with
ab4443fe3ca6 a window of 32 pages becomes folios of order 2, 2, 3 and 4 (lab 03).

A folio that is new in the cache goes to the LRU through a batch of its CPU. A batch of small folios takes `lru_lock` once for all of them. But a **large** folio does not
wait in a batch: `folio_add_lru()` moves it at once (mm/swap.c, `folio_batch_add_and_move()`).
]],
			questions = {
				ask.number {
					id = "adds-old",
					predict = true,
					percent = 10,
					unit = "times",
					text = "How often does `folio_batch_move_lru()` take `lru_lock` on v6.7, all readers together?",
					answer = function(s) return site(s.a, "lru_lock", "folio_batch_move_lru").taken end,
					hints = {
						"{{mb}} MiB are {{mb * 256}} pages, 32 of them a folio.",
						"The first windows have small folios: about 27 takes for the first 200 pages of each file.",
					},
				},
				ask.number {
					id = "adds-new",
					predict = true,
					percent = 6,
					unit = "times",
					text = "And on ab4443fe3ca6?",
					answer = function(s) return site(s.b, "lru_lock", "folio_batch_move_lru").taken end,
				},
				ask.choice {
					id = "which-lock",
					predict = true,
					text = "All readers have files of their own. Which lock do they still share?",
					options = {
						"`lru_lock`: the LRU lists belong to the node, not to the file",
						"`xa_lock`: all page cache trees have one lock",
						"`i_rwsem`: reads of one file system exclude each other",
						"none: nothing is shared without a common file",
					},
					answer = function() return 1 end,
				},
			},
			run = function(s)
				print("kernel         lru_lock taken  waited  spinning  ns")
				for _, c in ipairs { { "v6.7", s.a }, { "ab4443fe3ca6", s.b } } do
					local l = site(c[2], "lru_lock", "folio_batch_move_lru")
					print(("%-14s %14d %7d %8.2f%%  %d"):format(c[1], l.taken, l.contended, 100 * spins(c[2]), c[2].ns))
				end
			end,
			reveal = [[
{{site(a, "lru_lock", "folio_batch_move_lru").taken}} became {{site(b, "lru_lock", "folio_batch_move_lru").taken}}. With {{cpus}} readers the queue is short. With 56 on one
node's lists it is not: `foliolab bench vm-scalability`.
]],
		},
		step {
			id = "one-descriptor",
			title = "Two threads, one descriptor",
			prepare = function(s)
				s.n, s.far = s.rng:int(40, 90), s.rng:int(8, 24)
				local ops = ("task 0; %s; task 1; %s")
				local function stream(start)
					local t = {}
					for i = 0, s.n - 1 do
						t[#t + 1] = ("pread %dk 16k"):format(start * 1024 + i * 16)
					end
					return table.concat(t, "; ")
				end
				s.ops = ops:format(stream(0), stream(s.far))
				local function play(sharing)
					local m = fl.machine { kernel = "v6.18", fs = "ext4", size = "32m", disk = "nvme", cpus = 2 }
					return m, m:tasks(s.ops, { sharing = sharing, schedule = s.seed % 1000 + 1 })
				end
				s.own, s.own_r = play("same")
				s.shared, s.shared_r = play("threads")
				s.misses = function(m) return m:counters().page_cache_sync_ra or 0 end
			end,
			brief = [[
Two tasks read two places of one file, {{n}} times 16 KiB each: one from the start on, one from {{far}} MiB on. First each has a descriptor of its own; then
they are **threads** that `pread()` through one descriptor. Both run at the same time, on two CPUs.

The descriptor has one `file_ra_state` and no lock around it: whoever misses overwrites the window (lab 05).
]],
			questions = {
				ask.choice {
					id = "shared-window",
					predict = true,
					text = "What becomes of the misses (`page_cache_sync_ra`) when they share the descriptor?",
					options = {
						"more: each finds the other's window and `prev_pos`",
						"as many: the marks in the cache belong to the file, not to the descriptor",
						"fewer: one window serves both",
					},
					answer = function(s)
						local a, b = s.misses(s.own), s.misses(s.shared)
						return b > a and 1 or b == a and 2 or 3
					end,
				},
				ask.number {
					id = "shared-misses",
					text = "How many misses are there, both threads together, when they share it? The run above counts them.",
					answer = function(s) return s.misses(s.shared) end,
				},
			},
			run = function(s)
				print(("own descriptors: %d misses, %d ns"):format(s.misses(s.own), s.own_r.ns))
				print(("one descriptor:  %d misses, %d ns"):format(s.misses(s.shared), s.shared_r.ns))
			end,
		},
		step {
			id = "truncate",
			title = "A reader and a truncation",
			prepare = function(s)
				s.pages = s.rng:pick { 64, 96, 128 }
				s.cut = s.rng:int(3, s.pages - 4) * 4096 + s.rng:int(100, 4000)
				s.total = s.rng:int(24, 36)
				s.short, s.broken = 0, 0
				for schedule = 1, 80 do -- until both have been seen
					local r = race(s, schedule)
					if not r then
						s.broken = s.broken + 1
					elseif r.cpus[1].bytes < s.pages * 4096 + 8192 then
						s.short = s.short + 1
					end
					if schedule >= s.total and s.short < schedule then
						s.total = schedule
						break
					end
				end
			end,
			brief = [[
A file of {{pages}} pages is cached in large folios. Both tasks read its first page twice; then task 0 reads all of it in one `pread()`, task 1 cuts it to {{cut}} bytes, inside a folio. On ext4 a read takes no
`i_rwsem`: the two meet wherever the schedule lets them. **{{total}} schedules** were played; each draws other interrupts.

Two results are right: the reader gets everything (it was first) or what is left. Bytes behind the new end that are neither the old ones nor zeros, a folio that stays
behind the end of the file, a lock that nobody releases: these would be bugs.
]],
			questions = {
				ask.choice {
					id = "either",
					predict = true,
					text = "What do you expect of the {{total}} schedules?",
					options = {
						"some reads are short and some are not; nothing breaks",
						"every read is short: the truncation holds `i_rwsem`",
						"every read is whole: it has references to its folios",
						"some schedules break an invariant",
					},
					answer = function(s)
						if s.broken > 0 then
							return 4
						end
						return s.short == s.total and 2 or s.short == 0 and 3 or 1
					end,
				},
			},
			run = function(s)
				print(("%d schedules: %d reads were short, %d schedules broke something"):format(s.total, s.short, s.broken))
			end,
			reveal = [[
`filemap_read()` looks at `i_size` again *after* it has its folios, and copies no further. Who has a reference keeps the folio's memory, not its place in the file:
after the wait for a folio's lock, `folio->mapping` says whether it is still the file's.
]],
		},
		step {
			id = "split-and-reclaim",
			title = "A split, a fault, reclaim",
			prepare = function(s)
				s.cut, s.total = s.rng:int(5, 90), s.rng:int(20, 40)
				s.whole, s.gone, s.bad = 0, 0, 0
				for schedule = 1, s.total do
					local m = fl.machine { kernel = "v6.18", fs = "ext4", size = "1m", disk = "nvme", cpus = 3, ra_kb = 512 }
					local r = m:tasks(("pread 0 1m; task 0; mmap; touch 0 8k 100; task 1; punch %dk 4k; task 2; mmap; "
						.. "touch %dk; madvise pageout; touch %dk"):format(s.cut * 4, s.cut * 4, s.cut * 4 + 8),
						{ schedule = schedule, sharing = "same" })
					if not r then
						s.bad = s.bad + 1
					elseif not m:page(s.cut) then
						s.gone = s.gone + 1
					else
						s.whole = s.whole + 1
					end
				end
			end,
			brief = [[
Three tasks on one file of 1 MiB: the first touches every second page through a mapping, the second punches out page {{cut}}, the third touches that page, sends its
folios out with `MADV_PAGEOUT` and comes back. {{total}} schedules.

A large folio that is punched in the middle is split, and only a folio that nobody else holds can be split: a fault that waits for the folio's lock has a reference. Then the
split fails with `-EAGAIN`, and the folio leaves the cache as a whole (mm/truncate.c, `truncate_inode_partial_folio()`).
]],
			questions = {
				ask.number {
					id = "page-back",
					text = "In how many of the {{total}} schedules is page {{cut}} cached at the end? The run above says so for the other case.",
					answer = function(s) return s.whole + 0 end,
				},
				ask.choice {
					id = "old-index",
					text = "A fault looked up the folio over page {{cut}}, then slept for its lock while it was split. What must it check with the lock in hand?",
					options = {
						"that the folio is still in this mapping and still covers the page",
						"that the folio is uptodate; the rest cannot change while it has a reference",
						"nothing: a folio with a reference cannot be split",
						"that the page table entry is still empty",
					},
					answer = function() return 1 end,
					explain = [[
Without it the wrong page gets mapped: `VM_BUG_ON_FOLIO(!folio_contains(folio, index))` in `filemap_fault()` is what machines with large folios on xfs and little
memory hit on 6.18.7 (Chris Arges, linux-mm, 4 Feb 2026, `aYN3JC_Kdgw5G2Ik@861G6M3`).
]],
				},
				ask.choice {
					id = "stale-node",
					text = [[
A folio that was reclaimed leaves a shadow entry of its size. Whoever adds a smaller folio there must split that entry; `xas_split_alloc()` makes the tree nodes for it and
fills them with the entry it *finds*, before `xa_lock` is taken. Up to v6.9 nobody looked again. What if it found the folio, and the shadow came only then?
]],
					options = {
						"the nodes put the freed folio back into the tree: who looks it up gets no reference, and tries again for ever",
						"the split fails with `-ENOMEM`, and the read falls back to single pages",
						"the new folio is lost: the next read misses again",
						"two folios cover the page, and the later one wins",
					},
					answer = function() return 1 end,
					explain = [[
Data loss and endless loops on xfs since 6.1 (Chris Mason, linux-mm, 24 Sep 2024, "Known and unfixed active data loss bug in MM + XFS with large folios"). 6758c1128ceb (v6.10) looks
again under the lock: knob ADD_SPLIT_RECHECK; `tests/mm/test_smp_races.c` plays it.
]],
				},
			},
			run = function(s)
				print(("%d schedules, page %d absent at the end in %d, %d broke something"):format(s.total, s.cut, s.gone, s.bad))
			end,
		},
	},
}
