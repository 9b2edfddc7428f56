-- Lab 15: collect, map, submit; rounds; credits of the journal; running out of them mid-folio, after and before the mend.

local GROUP = 128 << 20

-- A file of 2 MiB on blocks of 1 KiB, @piece of them together, the next in another block group.
local function fragmented(kernel, piece, journal)
	return fl.machine {
		kernel = kernel, fs = "ext4-1k", size = 0, disk = "ram", memory = "256m", fs_size = "20g", journal = journal,
		extent_blocks = piece, extent_gap = 8192, record = true,
	}
end

-- What a writeback did: { first page, wanted = { blocks... }, mapped = blocks, sent = blocks } a round.
local function rounds_of(m)
	local rounds = {}
	for e in m:events { name = { "ext4_da_write_pages", "ext4_ext_map_blocks_exit", "fl_bio_write_folio" } } do
		local r = rounds[#rounds]
		if e.name == "ext4_da_write_pages" then
			rounds[#rounds + 1] = { first = e.first_page, wanted = {}, mapped = 0, sent = 0 }
		elseif e.name == "ext4_ext_map_blocks_exit" then
			r.wanted[#r.wanted + 1] = e.wanted
			r.mapped = r.mapped + e.len
		else
			r.sent = r.sent + e.blocks
		end
	end
	return rounds
end

-- The same as text, a line a round.
local function rounds_text(rounds)
	local list = {}
	for i, r in ipairs(rounds) do
		list[i] = ("round %2d, from page %3d: %4d extents, %4d blocks mapped, %4d sent"):format(i, r.first, #r.wanted, r.mapped, r.sent)
	end
	return table.concat(list, "\n")
end

local function wanted_of(rounds)
	local list = {}
	for _, r in ipairs(rounds) do
		table.move(r.wanted, 1, #r.wanted, #list + 1, list)
	end
	return list
end

-- A file of @pages pages, written in one call, on free space in pieces of @piece blocks of 4 KiB.
local function written(pages, piece)
	local m = fl.machine {
		kernel = "v6.18", fs = "ext4", size = 0, disk = "ram", memory = "64m", fs_size = "64m", journal = "4m", extent_blocks = piece, record = true,
	}
	m:pwrite(0, pages * 4096)
	return m
end

local function flushed(pages, piece)
	local m = written(pages, piece)
	m:fsync()
	return m, rounds_of(m)
end

-- The credits of the first round on a file system of so many block groups.
local function credits(groups)
	local m = fl.machine {
		kernel = "v6.18", fs = "ext4", size = 0, disk = "ram", memory = "64m", fs_size = groups * GROUP, record = true,
	}
	m:play("pwrite 0 4k; fsync")
	for e in m:events { name = "jbd2_handle_start", filter = { type = 2 } } do
		return e.requested_blocks - 1
	end
end

local function text(list)
	return table.concat(list, " ")
end

lab {
	title = "Inside ext4_writepages",
	summary = "Collect, map, submit: a writeback in rounds, its credits, and a folio that is too large for them.",
	minutes = 50,
	steps = {
		step {
			id = "map",
			title = "Collect, map, submit",
			prepare = function(s)
				s.pages = s.rng:pick { 32, 64 }
				s.piece = s.rng:int(9, 15)
				s.m, s.rounds = flushed(s.pages, s.piece)
				s.example, s.example_rounds = flushed(16, 6)
				s.text = text
			end,
			brief = [[
A program has written; its folios are dirty, but nobody has chosen blocks yet (*delayed allocation*). Now `fsync()` calls `ext4_writepages()`:

1. **Collect** (`mpage_prepare_extent_to_map()`): dirty blocks that follow each other, over as many folios as there are, become one extent.
2. **Map** (`ext4_map_blocks()`): the allocator is asked for so many blocks in a row. It may give fewer; then it is asked again, for what is left.
3. **Submit** (`ext4_bio_write_folio()`): a folio whose blocks all have a place is sent to the disk.

Our free space is fragmented: never more than a few blocks in a row. In pieces of 6, a folio of 16 pages is asked for as **{{text(example_rounds[1].wanted)}}** blocks:
16 wanted and 6 given, 10 wanted and 6 given, 4 wanted and given.
]],
			questions = {
				ask.list {
					id = "wanted",
					predict = true,
					points = 5,
					text = "One `pwrite` of **{{pages}} pages** at offset 0 made a single folio. Free space comes in pieces of **{{piece}} blocks**, a block is a page. "
						.. "How many blocks is the allocator asked for, call after call?",
					answer = function(s) return s.rounds[1].wanted end,
					hints = { "The first call wants {{pages}}; each gets {{piece}} until less is left." },
				},
				ask.number {
					id = "bios",
					points = 2,
					unit = "writes",
					text = "How many writes of data does the disk get? Bios are joined only where both memory and disk go on without a gap, and there is a gap behind each piece.",
					answer = function(s)
						local n = 0
						for _ in s.m:events { name = "block_bio_queue", filter = { write = true, meta = false } } do
							n = n + 1
						end
						return n
					end,
					hints = { "One for each extent of the file." },
				},
			},
			run = function(s)
				print(rounds_text(s.rounds))
				print("wanted: " .. text(s.rounds[1].wanted))
			end,
			reveal = [[
{{text(rounds[1].wanted)}}: the folio is one, its extents are {{#rounds[1].wanted}}. Large folios save locks, look-ups and calls; they do not make free space less fragmented.
]],
		},

		step {
			id = "rounds",
			title = "Rounds",
			prepare = function(s)
				local rounds = s.rng:int(2, 4)
				repeat
					s.pages = s.rng:int(21, 63)
					s.piece = s.rng:int(5, 12)
					s.m, s.rounds = flushed(s.pages, s.piece)
				until #s.rounds == rounds
				s.wanted = wanted_of(s.rounds)
				s.folios = {}
				for f in s.m:folios() do
					s.folios[#s.folios + 1] = f.pages
				end
				s.example, s.example_rounds = flushed(100, 12)
				s.text = text
				s.lists = rounds_text
			end,
			brief = [[
Several folios, one extent: 100 pages are folios of 64, 32 and 4 (lab 14), and the first call wants all 100 blocks. If it is given fewer, the kernel maps on only **to the end of the folio that is
now half mapped**, for only a whole folio is sent off without further ado. Then the round is over: the handle is closed, and the next round collects anew, from the first folio that is still dirty. In pieces of 12:

```
{{lists(example_rounds)}}
```

It asked for {{text(example_rounds[1].wanted)}} in the first round: 100, then what is left of the 64.
]],
			questions = {
				ask.list {
					id = "all-wanted",
					predict = true,
					points = 6,
					text = "**{{pages}} pages** in one call are folios of {{text(folios)}}. Pieces of **{{piece}} blocks**. How many blocks is the allocator asked for, call after call, in all rounds?",
					answer = function(s) return s.wanted end,
					hints = {
						"The first call wants {{pages}}. If {{piece}} do not fill the folio of {{folios[1]}}, the next wants {{folios[1]}} less {{piece}}.",
						"A round that begins behind {{folios[1]}} pages wants {{pages - folios[1]}}. There are {{#rounds}} rounds and {{#wanted}} calls.",
					},
				},
				ask.number {
					id = "handles",
					points = 3,
					unit = "handles",
					text = "Each round has a handle of its own, and the end of I/O one more for each round (unwritten extents become written ones). The inode's time stamp took one as well, when the "
						.. "program wrote. How many handles were started?",
					answer = function(s) return s.m:journal().handles end,
					hints = { "Twice the rounds, and one." },
				},
			},
			run = function(s)
				print(rounds_text(s.rounds))
				print("wanted: " .. text(s.wanted))
			end,
			reveal = [[
{{text(wanted)}}, in {{#rounds}} rounds. With folios of a page a round maps piece after piece as well; what is new is that the unit which must be whole before it leaves has grown.
]],
		},

		step {
			id = "credits",
			title = "Credits",
			prepare = function(s)
				s.groups = s.rng:int(2, 11)
				s.gib = s.groups / 8
				s.credits = credits(s.groups)
				s.big = credits(16)
			end,
			brief = [[
Before a round changes metadata it starts a *handle* and says how many blocks of the journal it may dirty at most: its **credits** (`ext4_chunk_trans_extent()`). On v6.18, for one extent:

- **11** for the extent tree: twice the greatest depth of 5, and a new leaf.
- *b* bitmaps: 12, for each of these and the data may lie in a group of its own, but not more than there are groups.
- *d* blocks of group descriptors: all that the file system has, if that is less than *b*; else 12, without a limit.
- **6** for the superblock, the inode and their like.

A block group has 128 MiB at 4 KiB a block, and a block holds the descriptors of 64 groups. 2 GiB: 16 groups, 1 block of descriptors; 11 + 12 + 1 + 6 = **{{big}}**, as real kernels of 6.16.12 and 6.18 ask for.
]],
			questions = {
				ask.number {
					id = "credits-here",
					predict = true,
					unit = "credits",
					text = "How many credits does a round ask for on a file system of **{{gib}} GiB**?",
					answer = function(s) return s.credits end,
					hints = { "{{groups}} groups, so b = {{groups}}; one block of descriptors is less than that." },
				},
				ask.func {
					id = "credits",
					points = 8,
					text = "Write `credits(groups)`: the credits for any number of block groups from 1 on.",
					cases = function(s)
						local cases = { { 1 }, { 2 }, { 12 }, { 64 }, { 65 } }
						for _ = 1, 6 do
							cases[#cases + 1] = { s.rng:int(3, 600) }
						end
						return cases
					end,
					answer = function(_, groups) return credits(groups) end,
					hints = {
						"`math.min(12, groups)`, and `(groups + 63) // 64` blocks of descriptors.",
						{ text = "With a single group, b is 1 and so is the number of descriptor blocks: not less, so d is 12. The kernel itself overestimates there.", cost = 2 },
					},
				},
			},
			run = function(s)
				for _, groups in ipairs { 1, s.groups, 16, 160 } do
					print(("%4d groups: %d credits"):format(groups, credits(groups)))
				end
			end,
			reveal = [[
{{credits}}. It is an upper bound, and a cheap one: what is not used goes back when the handle is closed. But it is for **one** extent, and a folio may need many.
]],
		},

		step {
			id = "run-out",
			title = "In the middle of a folio",
			prepare = function(s)
				s.piece = s.rng:int(1, 4)
				s.blocks = s.rng:pick { 1024, 1280, 1536, 1792 }
				s.m = fragmented("v6.18", s.piece, s.blocks << 10)
				s.m:pwrite(0, "2m")
				s.after = fragmented("v6.18", s.piece, s.blocks << 10)
				s.after:play("pwrite 0 2m; fsync")
				s.rounds = rounds_of(s.after)
				s.first = #s.rounds[1].wanted
				s.extents = (2048 + s.piece - 1) // s.piece
				s.max = s.after:journal().transaction_max
				s.lists = rounds_text
			end,
			brief = [[
The worst case: 20 GiB in blocks of 1 KiB, a journal of only **{{blocks}} blocks**, one dirty folio of **2 MiB**, and free space in pieces of **{{piece}} KiB, each in another block group**. That is {{extents}} extents
for one folio, and each dirties a bitmap of its own.

Since v6.17 (and 6.16.3) a round asks for the credits of one extent, and before each further one makes sure that there are enough for it: if not, the handle is *extended*. jbd2 refuses that when the whole transaction would
exceed **a third of the journal**, here {{max}} blocks. Then the round ends where it is, in the middle of the folio. What is mapped is sent, the transaction is committed, and a new round goes on.

Here the first round was refused after **{{first}} extents**.
]],
			questions = {
				ask.number {
					id = "sent",
					predict = true,
					unit = "KiB",
					text = "How many KiB of the folio did the first round send to the disk?",
					answer = function(s) return s.rounds[1].sent end,
					hints = { "What is mapped is sent: {{first}} extents of {{piece}} KiB." },
				},
				ask.number {
					id = "rounds-needed",
					predict = true,
					tolerance = 1,
					unit = "rounds",
					text = "How many rounds will the folio take? Later ones get about as far as the first; one more or less counts as right.",
					answer = function(s) return #s.rounds end,
					hints = { "{{extents}} extents, {{first}} a round." },
				},
				ask.choice {
					id = "why",
					text = "Why not let the transaction grow to the whole journal?",
					options = {
						"A transaction must fit into the log next to others that are not checkpointed yet; a third keeps commits possible while the next one fills",
						"A commit must be a single bio",
						"Two thirds are reserved for the superuser",
						"The bitmaps would not fit into memory",
					},
					answer = function() return 1 end,
				},
			},
			run = function(s)
				s.m:fsync()
				print(rounds_text(s.rounds))
				print(("Credits were extended %d times; %d commits; the kernel's log is %s."):format(s.m:journal().extends, s.m:journal().commits,
					s.m:log() == "" and "empty" or s.m:log()))
			end,
			reveal = [[
```
{{lists(rounds)}}
```

{{#rounds}} rounds, and nothing is lost. What is not mapped keeps its dirty buffers, and the folio its tag in the page cache, so that the next round finds it.
]],
		},

		step {
			id = "before",
			title = "The same on v6.16",
			prepare = function(s)
				s.piece = s.rng:int(1, 5)
				s.m = fragmented("v6.16", s.piece, "1m")
				s.m:pwrite(0, "2m")
				s.after = fragmented("v6.16", s.piece, "1m")
				s.after:pwrite(0, "2m")
				s.result = select(2, s.after:fsync())
				s.rounds = rounds_of(s.after)
				for e in s.after:events { name = "jbd2_handle_start", filter = { type = 2 } } do
					s.asked = e.requested_blocks
				end
				s.maps = #s.rounds[1].wanted
				s.limit = 1
				while 2 * s.limit <= (s.maps - 1) * s.piece do
					s.limit = 2 * s.limit
				end
				s.most = 2048 // s.limit
			end,
			brief = [[
v6.16 brought large folios and only one estimate for a round: {{asked}} credits here. It counted the blocks of the extent tree for the largest folio, but neither the bitmaps nor the descriptors of its extents
(0e32d8617012), and it never extended a handle. The same file system, a journal of 1024 blocks, the folio of 2 MiB, pieces of **{{piece}} KiB**:

The handle had no credit left when it came to extent number **{{maps}}**: that one failed.
]],
			questions = {
				ask.number {
					id = "mapped",
					predict = true,
					points = 2,
					unit = "KiB",
					text = "How many KiB of the folio had got blocks on the disk by then?",
					answer = function(s) return s.rounds[1].mapped end,
					hints = { "{{maps - 1}} extents of {{piece}} KiB." },
				},
				ask.choice {
					id = "then",
					predict = true,
					text = "And what became of them?",
					options = {
						"None of the folio was sent: the kernel warned, aborted the journal, and fsync failed with {{result}}",
						"They were sent; the rest stayed dirty and went out later",
						"The kernel split the folio and wrote the pieces",
						"The whole folio was sent, but the file system's bitmaps were wrong",
					},
					answer = function() return 1 end,
				},
				ask.workload {
					id = "careful",
					points = 8,
					max_ops = 600,
					text = "On **that** kernel and disk, write 2 MiB from offset 0 with `pwrite OFFSET LENGTH [N]` and a single `fsync` as the last call, so that all of it reaches the disk and nothing is logged. "
						.. "Use large folios as well as you can: at most **{{most}}** in the cache.",
					check = function(s, w)
						local m = fragmented("v6.16", s.piece, "1m")
						m:play(w)
						if m:log() ~= "" then
							return false, "the kernel says: " .. m:log():match("[^\n]*")
						end
						local n, dirty = 0, 0
						for f in m:folios() do
							n = n + 1
							dirty = dirty + (f.dirty and 1 or 0)
						end
						if m:cached() ~= 512 then
							return false, ("%d pages are in the cache, expected 512"):format(m:cached())
						end
						if dirty > 0 then
							return false, ("%d folios are still dirty"):format(dirty)
						end
						local _, fsyncs = w:gsub("fsync", "")
						if fsyncs ~= 1 then
							return false, ("%d times fsync, expected 1"):format(fsyncs)
						end
						if n > s.most then
							return false, ("%d folios, expected at most %d"):format(n, s.most)
						end
						return true
					end,
					hints = {
						"A round has {{asked}} credits whatever the folio, and ends with the folio that it began. So a folio may have at most so many extents as the credits last.",
						{ text = "Extent number {{maps}} of {{piece}} KiB is the end of a handle. The largest folio below that has {{limit}} KiB; the length of a write decides (lab 14).", cost = 3 },
					},
				},
			},
			run = function(s)
				local _, error = s.m:fsync()
				print("fsync: " .. error)
				print(s.m:log())
			end,
			reveal = [[
The application was told, by `fsync()`; who does not call it is not. The mend was not to guess better but to be able to stop: submit part of a folio, restart, go on. Until then, {{most}} folios of {{limit}} KiB
were safe where one of 2 MiB was not.
]],
		},
	},
}
