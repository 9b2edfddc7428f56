-- Lab 19: what write() promised, what fsync() writes, the three data modes, an update that survives.

local SECTOR = 512

local function machine(options)
	local o = { kernel = "v6.18", fs = "ext4", size = 0, disk = "ram", data = true, memory = "64m", fs_size = "64m", journal = "4m", power_cut = true }
	for k, v in pairs(options or {}) do
		o[k] = v
	end
	return fl.machine(o)
end

-- Of a range: the number of the write whose bytes all its sectors hold, or nil.
local function whole(m, off, len, writes)
	if m.size < off + len then
		return nil
	end
	local bytes = m:bytes(off, len)
	for nr = 1, writes do
		if bytes == fl.pattern(nr, off, len) then
			return nr
		end
	end
end

-- KiB of the file that hold what its only write put there.
local function kept(m)
	local n = 0
	for off = 0, m.size - 1, SECTOR do
		if m:bytes(off, SECTOR) == fl.pattern(1, off, SECTOR) then
			n = n + SECTOR
		end
	end
	return n // 1024
end

-- The writes of the disk, in order, as lines.
local function disk_lines(m)
	local list = {}
	for e in m:events { name = "block_bio_queue", filter = { write = true } } do
		list[#list + 1] = ("%3d  %-4s %4d KiB%s%s"):format(#list + 1, e.meta and "log" or "data", e.sectors // 2, e.flush and "  flush before it" or "",
			e.fua and "  past the disk's cache" or "")
	end
	return list
end

local function cut_and_replay(m)
	m:power_cut()
	m:replay()
	return m
end

lab {
	title = "The power cut",
	summary = "What write() and fsync() promised: a disk that loses its power, and a journal that is replayed.",
	minutes = 40,
	steps = {
		step {
			id = "promise",
			title = "What write() promised",
			prepare = function(s)
				s.first, s.second = 4 * s.rng:int(3, 60), 4 * s.rng:int(3, 60)
				s.m = machine()
				s.m:play(("pwrite 0 %dk; fsync; pwrite %dk %dk"):format(s.first, s.first, s.second))
				s.before = s.m.size // 1024
			end,
			brief = [[
A log file on ext4 (v6.18, data=ordered). A program appends **{{first}} KiB**, calls `fsync()`, and appends **{{second}} KiB** more. Every call succeeded, `stat` says {{before}} KiB. Then the power goes out.

`write()` made dirty folios and, with *delayed allocation*, only reserved space for them: blocks are chosen at writeback (`ext4_writepages()`). The inode's size on the disk, `i_disksize`, does not grow before that.
]],
			questions = {
				ask.number {
					id = "left",
					predict = true,
					unit = "KiB",
					text = "The machine is switched on again and replays the journal. How large is the file?",
					answer = function(s) return cut_and_replay(s.m:twin()).size // 1024 end,
					hints = { "Nobody has asked for the second piece to be written." },
				},
			},
			run = function(s)
				s.m:power_cut()
				local r = s.m:replay()
				print(("Replayed: %d transaction, %d blocks brought home. The file has %d KiB."):format(r.transactions, r.blocks, s.m.size // 1024))
			end,
			reveal = [[
{{m.size // 1024}} KiB: what was fsynced, to the byte, and nothing else. `write()` promises that other *processes* see the data. It says nothing about power.
]],
		},

		step {
			id = "fsync",
			title = "What fsync() writes",
			prepare = function(s)
				s.kib = 4 * s.rng:int(2, 120)
				s.pre = 4 * s.rng:int(1, 30)
				s.ops = ("pwrite 0 %dk; fsync; pwrite %dk %dk; fsync"):format(s.pre, s.pre, s.kib)
				s.m = machine { record = true }
				s.m:play(s.ops)
				s.lines = disk_lines(s.m)
				s.last = s.m:disk_writes()
			end,
			brief = [[
`ext4_sync_file()` first writes the data and waits. Then it commits the transaction that has the file's metadata (`jbd2_journal_commit_transaction()`): a *descriptor* block, a copy of each block that changed, and last the **commit record**.
A disk answers before its platters or cells have the data: it has a cache of its own. So the commit record is sent with two flags: *flush* everything before it, and write it *past the cache* (FUA).

The program appends {{pre}} KiB, fsyncs, appends {{kib}} KiB, fsyncs. All that the disk got:

```
{{table.concat(lines, "\n")}}
```
]],
			questions = {
				ask.number {
					id = "data",
					points = 2,
					unit = "KiB",
					text = "How many KiB of these writes are the file's data, both fsyncs together?",
					answer = function(s)
						local n = 0
						for e in s.m:events { name = "block_bio_queue", filter = { write = true, meta = false } } do
							n = n + e.sectors // 2
						end
						return n
					end,
					hints = { "With data=ordered the log has no data in it; each byte is written once." },
				},
				ask.number {
					id = "just-before",
					unit = "KiB",
					text = "The power goes out with write number **{{last - 1}}**, the last one before the second commit record. How large is the file after the replay?",
					answer = function(s)
						local m = machine { power_cut = s.last - 1 }
						m:play(s.ops)
						m:replay()
						return m.size // 1024
					end,
					hints = { "A transaction without its commit record is none: `jbd2_journal_recover()` stops in front of it." },
				},
				ask.choice {
					id = "durable",
					text = "After which moment is the second append certain to be there?",
					options = {
						"When the commit record is on the disk, past its cache",
						"When the disk has completed the data's write",
						"When the descriptor block is in the log",
						"When the blocks of the log were copied to their home (checkpoint)",
					},
					answer = function(s)
						local m = machine { power_cut = s.last }
						m:play(s.ops)
						m:replay()
						assert(m.size == (s.pre + s.kib) * 1024)
						return 1
					end,
					hints = { "Replay makes up for the checkpoint. What makes a transaction count?" },
				},
			},
			reveal = [[
All or nothing hangs on one block of 4 KiB. Without the flush the disk could have the commit record and not yet the data it vouches for.
]],
		},

		step {
			id = "modes",
			title = "ordered, writeback, journal",
			prepare = function(s)
				s.kib = 4 * s.rng:int(4, 50)
				s.modes = {}
				for _, mode in ipairs { "ordered", "writeback", "journal" } do
					local m = machine { mount_options = "nodelalloc,data=" .. mode, record = true }
					m:pwrite(0, s.kib << 10)
					m:sleep(6)
					local row = { writes = m:disk_writes(), data = 0 }
					for e in m:events { name = "block_bio_queue", filter = { write = true, meta = false } } do
						row.data = row.data + e.sectors // 2
					end
					cut_and_replay(m)
					row.size, row.kept = m.size // 1024, kept(m)
					s.modes[mode] = row
				end
				s.stale = s.modes.writeback.size - s.modes.writeback.kept
			end,
			brief = [[
Nobody has to call `fsync()` for a transaction to be committed: kjournald2 does it every 5 seconds. What then about the *data* of the files in it? That is what `data=` decides.

- **data=ordered** (the default): data of newly allocated blocks is written before the commit.
- **data=writeback**: data goes when it goes.
- **data=journal**: data is in the log, like metadata.

With `nodelalloc`, so that blocks are allocated within the write: **{{kib}} KiB** are written to an empty file, no fsync. Six seconds later the power goes out.
]],
			questions = {
				ask.number {
					id = "size",
					predict = true,
					points = 2,
					unit = "KiB",
					text = "How large is the file afterwards, with data=writeback?",
					answer = function(s) return s.modes.writeback.size end,
					hints = { "The commit has the inode and its size; only the data is missing." },
				},
				ask.number {
					id = "stale",
					predict = true,
					unit = "KiB",
					text = "And how many KiB of it are **not** what the program wrote, but what was on the disk before, perhaps somebody else's mail?",
					answer = function(s) return s.stale end,
					hints = { "No page of it was written back in six seconds; the flusher waits for 30." },
				},
				ask.number {
					id = "ordered",
					predict = true,
					points = 2,
					unit = "KiB",
					text = "With data=ordered, how many KiB hold what the program wrote?",
					answer = function(s) return s.modes.ordered.kept end,
					hints = { "The commit waits for the data (`jbd2_inode`, `journal_submit_data_buffers()`)." },
				},
			},
			run = function(s)
				print("data=        size   as written   disk writes")
				for _, mode in ipairs { "ordered", "writeback", "journal" } do
					local r = s.modes[mode]
					print(("%-9s %4d KiB   %6d KiB   %11d"):format(mode, r.size, r.kept, r.writes))
				end
			end,
			reveal = [[
data=writeback is no danger to the *file system*: its structure is whole. It is a danger to contents, and to secrets. data=journal pays with its log: every byte is written there, and once more at home.

With delayed allocation even data=writeback would have left an empty file here, for the size waits for writeback; no promise, only luck.
]],
		},

		step {
			id = "careful",
			title = "An update that survives",
			prepare = function(s)
				s.kib = 4 * s.rng:int(2, 6)
				s.copy = 64 * s.rng:int(1, 3)
				s.len, s.at = s.kib << 10, s.copy << 10
				s.setup = ("pwrite 0 %dk; fsync"):format(s.kib)
				local m = machine()
				m:play(s.setup)
				s.writes = m:disk_writes()
			end,
			brief = [[
A record of **{{kib}} KiB** lies at the beginning of a file, fsynced. It is to be replaced *in place*. A power cut in the middle of the overwrite leaves sectors of both: the journal guards metadata, not your record.

The way out is older than journals: write the new record somewhere else first, so that at any moment **one of the two places is whole**. A program that starts again can then see from a checksum which one to take.
]],
			questions = {
				ask.workload {
					id = "careful",
					points = 10,
					max_ops = 12,
					text = "Write a new record of {{kib}} KiB at byte 0, with `pwrite` and `fsync` only. The copy is at **{{copy}}k**. The power goes out at every write of the disk in turn: each time the record at 0 or the copy "
						.. "must be whole (all of one write). When your program has ended, the new record must be at 0, come what may.",
					check = function(s, w)
						local m = machine { record = true }
						m:play(s.setup)
						m:play(w)
						local writes = 0
						for _ in m:events { name = "fl_write" } do
							writes = writes + 1
						end
						local last = m:disk_writes()
						cut_and_replay(m)
						local nr = whole(m, 0, s.len, writes)
						if not nr or nr == 1 then
							return false, "the program has ended, the power goes out, and the new record is not at 0"
						end
						for cut = s.writes + 1, last do
							for seed = 1, 4 do
								local c = machine { power_cut = cut, seed = seed }
								c:play(s.setup)
								c:play(w)
								c:replay()
								if not whole(c, 0, s.len, writes) and not whole(c, s.at, s.len, writes) then
									return false, ("power cut at write %d of the disk: neither the record nor the copy is whole"):format(cut)
								end
							end
						end
						return true
					end,
					hints = {
						"Four operations: write the copy, and make sure of it; write the record, and make sure of that.",
						{ text = "`pwrite {{copy}}k {{kib}}k; fsync; pwrite 0 {{kib}}k; fsync`.", cost = 4 },
					},
				},
			},
			reveal = [[
Two fsyncs: the first keeps the overwrite from beginning before the copy is safe, the second is the promise to the user. Databases call the copy a *double-write buffer* or a *write-ahead log*; for whole files the
usual way is a new file, `fsync()`, and `rename()` over the old one. See what each write of the disk leaves:

```
foliolab run -e 'pwrite 0 64k; fsync; pwrite 64k 64k'
  --fs ext4 --disk ram --size 0 --fs-size 64m --power-cut 5
```
]],
		},
	},
}
