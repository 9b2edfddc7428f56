-- Lab 16: blocks, pages and folios; the report; what is confused; which reads die; the fix; tidy writes.

local PAGE, BLOCK = 65536, 4096
local OLD = "v6.18+ASSERT_NO_LARGE_FULL_READ"
local NEW = "v6.18"
local PER_PAGE = PAGE // BLOCK
local READ = "read 64k 32"

local function machine(kernel, options)
	local o = { kernel = kernel, fs = "ext4", page_size = PAGE, size = "0", disk = "ram" }
	for k, v in pairs(options or {}) do
		o[k] = v
	end
	return fl.machine(o)
end

-- A file of 2 MiB, preallocated, then written in pieces { block, blocks }, and no longer cached.
local function pieces(kernel, list)
	local m = machine(kernel)
	m:fallocate(0, 2 << 20)
	for _, p in ipairs(list) do
		m:pwrite(p[1] * BLOCK, p[2] * BLOCK)
	end
	m:play("fsync; fadvise dontneed 0 0")
	return m
end

-- Play; false and the message if the kernel died.
local function survives(m, ops)
	local ok, err = pcall(m.play, m, ops)
	if not ok and not tostring(err):find("BUG", 1, true) then
		error(err)
	end
	return ok, err
end

-- Bios that reading takes.
local function bios_of(m, ops)
	local before = m:stats().bios
	m:play(ops)
	return m:stats().bios - before
end

-- One folio of a written file with extents of `extent` blocks, without the blocks in `holes`, all around it is hole.
local function folio_case(rng)
	local place = rng:pick { { 128, 1, 6 }, { 128, 1, 20 }, { 512, 2, 4 }, { 512, 3, 8 } }
	local c = { ra_kb = place[1], page = place[3], n = PER_PAGE << place[2], holes = {} }
	c.first = c.page * PER_PAGE
	c.extent = rng:pick { 1000, 1000, c.first, c.n // 2, 3 * c.n // 4, rng:int(5, c.n) }
	for i = 1, rng:int(0, 2) do
		local at, len = rng:int(0, c.n - 1), rng:int(1, c.n // 2)
		local where = rng:int(1, 4)
		if where == 1 then
			at = 0
		elseif where >= 3 or at + len > c.n then
			at = c.n - len
		end
		c.holes[#c.holes + 1] = { at, len }
	end
	c.blocks = {}
	for i = 0, c.n - 1 do
		local b = c.first + i
		c.blocks[i + 1] = 1 + b + b // c.extent
	end
	for _, h in ipairs(c.holes) do
		for i = h[1], h[1] + h[2] - 1 do
			c.blocks[i + 1] = false
		end
	end
	return c
end

local function folio_dies(c)
	local m = machine(OLD, { size = 2 << 20, extent_blocks = c.extent, ra_kb = c.ra_kb })
	m:punch(0, c.first * BLOCK)
	m:punch((c.first + c.n) * BLOCK, (2 << 20) - (c.first + c.n) * BLOCK)
	for _, h in ipairs(c.holes) do
		m:punch((c.first + h[1]) * BLOCK, h[2] * BLOCK)
	end
	m:play("fsync")
	return not survives(m, READ)
end

local function blocks_text(blocks)
	local list, i = {}, 1
	while i <= #blocks do
		local j = i
		while blocks[j + 1] ~= nil and (blocks[i] and blocks[j + 1] == blocks[i] + j + 1 - i or not blocks[i] and not blocks[j + 1]) do
			j = j + 1
		end
		list[#list + 1] = blocks[i] and ("%d..%d"):format(blocks[i], blocks[j]) or ("%d x false"):format(j - i + 1)
		i = j + 1
	end
	return table.concat(list, ", ")
end

lab {
	title = "The assertion on 64 KiB pages",
	summary = "The ext4/046 report: which files and which reads make an old assertion fail, and what mends it.",
	minutes = 40,
	steps = {
		step {
			id = "units",
			title = "Blocks, pages, folios",
			prepare = function(s)
				s.byte = s.rng:int(5, 31) * PAGE + s.rng:int(5000, 60000)
				s.m = machine(NEW, { size = 2 << 20 })
				s.m:play(READ)
				s.folio = s.m:page(s.byte // PAGE).folio
				s.PAGE, s.per = PAGE, PER_PAGE
			end,
			brief = [[
On most machines a page has 4 KiB, and so has a block of the file system. arm64 and powerpc may be built for pages of 64 KiB. File systems keep their blocks of 4 KiB, so a **page has {{per}} blocks**, and a folio of order 1 has
{{2 * per}}.

This machine has such pages. A file of 2 MiB on ext4, v6.18, was read from front to back, 64 KiB a call. A page is {{PAGE // 1024}} KiB, so readahead's window of 128 KiB is {{131072 // PAGE}} pages:

```
{{m:map{ to = 31 }}}
```
]],
			questions = {
				ask.number {
					id = "page",
					points = 2,
					unit = "page",
					text = "A program wants **byte {{byte}}**. At which page does the folio start that holds it?",
					answer = function(s) return s.folio.index end,
					hints = { "It is in page {{byte // PAGE}}, and folios of order 1 start at even pages." },
				},
				ask.number {
					id = "block",
					points = 2,
					unit = "block",
					text = "Which is the **last block** of the file in that folio? (Count the file's blocks from 0.)",
					answer = function(s) return (s.folio.index + s.folio.pages) * PER_PAGE - 1 end,
					hints = { "The folio ends with page {{folio.index + folio.pages - 1}}; page p holds the blocks 16 p to 16 p + 15." },
				},
			},
			reveal = "Pages {{folio.index}} to {{folio.index + folio.pages - 1}}, {{folio.pages * per}} blocks. With pages of 4 KiB the blocks of a page are always together on the disk: there is only one. Here {{per}} have to be.",
		},

		step {
			id = "report",
			title = "The report",
			prepare = function(s)
				s.index = 2 * s.rng:int(3, 14)
				s.first = s.index * PER_PAGE
				s.len = s.rng:int(1, 6)
				s.within = s.rng:int(1, 24)
				s.at = s.first + s.within
				s.m = pieces(OLD, { { s.at, s.len } })
				s.fixed = pieces(NEW, { { s.at, s.len } })
				s.fixed:play(READ)
				s.places = { s.first, s.first + PER_PAGE, s.first + 2 * PER_PAGE - s.len, s.first + 8 }
			end,
			brief = [[
The test ext4/046 preallocates files and writes them in pieces. Preallocated blocks are **unwritten**: they have a place on the disk, but what is there is not the file's; a reader must get zeros, and the disk is not asked.

The kernel under test had large folios for ext4, and still an assertion in `block_read_full_folio()`: *this folio must not be large* (e59e97d42b05 in v6.15 removed it; that tree lacked it). Here it is v6.18 with the knob
ASSERT_NO_LARGE_FULL_READ.

`fallocate 0 2m`, then a write of **{{len}} blocks at block {{at}}**, `fsync`, and all of it is dropped from the cache. Then a program reads the file from front to back. ext4 fills each folio in one of two ways:

- **The fast way**: the blocks are one run on the disk, from the folio's *first* block on; behind it there may be a hole or unwritten blocks up to the folio's end. One bio.
- Otherwise the folio is **confused** and goes to `block_read_full_folio()`.
]],
			questions = {
				ask.number {
					id = "dies-at",
					predict = true,
					unit = "page",
					text = "The kernel dies. At which page does the folio start that it dies on?",
					answer = function(s)
						for f in s.fixed:folios() do
							if f.index * PER_PAGE <= s.at and s.at < (f.index + f.pages) * PER_PAGE then
								return f.index
							end
						end
					end,
					hints = { "Block {{at}} is in page {{at // 16}}. Step 1's picture shows the folios, which are the same here." },
				},
				ask.choice {
					id = "better-place",
					predict = true,
					text = "Had the {{len}} blocks been written elsewhere in the same folio, the kernel would have survived. Where?",
					options = function(s)
						local list = {}
						for i, b in ipairs(s.places) do
							list[i] = ("at block %d"):format(b)
						end
						return list
					end,
					answer = function(s)
						local found
						for i, b in ipairs(s.places) do
							if survives(pieces(OLD, { { b, s.len } }), READ) then
								assert(not found, "two places are safe")
								found = i
							end
						end
						return found
					end,
					hints = { "The fast way needs the run to begin with the folio's first block, not the page's." },
				},
			},
			run = function(s)
				local ok, err = survives(s.m, READ)
				assert(not ok)
				print("The reader's call: the kernel hit a BUG().")
				print("")
				print("The same without the assertion:")
				print(s.fixed:map { to = 31 })
			end,
			reveal = [[
The folio at page {{index}} begins with {{within}} unwritten blocks; data behind them is what confuses. The calls, innermost first: `block_read_full_folio`, `ext4_mpage_readpages`, `ext4_readahead`, `read_pages`.

See the message itself, with the layout that caused it:

```
foliolab run -e 'fallocate 0 2m; pwrite {{at * 4}}k 4k; fsync;
  fadvise dontneed 0 0; read 64k 32' --fs ext4 --page-size 64k
  --disk ram --size 0 --kernel v6.18+ASSERT_NO_LARGE_FULL_READ
```
]],
		},

		step {
			id = "confused",
			title = "Confused, as a rule",
			prepare = function(s)
				s.extent = s.rng:int(33, 70)
				if s.extent % 32 == 0 then
					s.extent = s.extent + 3
				end
				s.m = machine(NEW, { size = 2 << 20, extent_blocks = s.extent })
				s.m:play(READ)
				s.large, s.broken = 0, 0
				for f in s.m:folios() do
					if f.order > 0 then
						s.large = s.large + 1
						local first = f.index * PER_PAGE
						if first // s.extent ~= (first + f.pages * PER_PAGE - 1) // s.extent then
							s.broken = s.broken + 1
						end
					end
				end
				s.dies = not survives(machine(OLD, { size = 2 << 20, extent_blocks = s.extent }), READ)
			end,
			brief = [[
Holes are not the only mess. If the file is fragmented, a folio's blocks may lie in two places. `ext4_mpage_readpages()` (fs/ext4/readpage.c) goes through a folio's blocks in order, and gives up when

1. a block has a place on the disk, and one *before* it in the folio has none (hole or unwritten), or
2. a block's place is not right behind that of the block before it.

A written file of 2 MiB without holes has extents of **{{extent}} blocks** that lie apart. It is read as in step 1: {{large}} of its folios have order 1, from page 2 on, 32 blocks each.
]],
			questions = {
				ask.number {
					id = "broken",
					predict = true,
					unit = "folios",
					text = "How many of the {{large}} large folios are confused?",
					answer = function(s) return s.broken end,
					hints = { "An extent ends right before each multiple of {{extent}}. If that is no multiple of 32, and is not below 32, it is inside one of the large folios. The file has 512 blocks." },
				},
				ask.func {
					id = "confused",
					points = 10,
					text = "Write `confused(blocks)`: `true` if the folio is confused, else `false`. `blocks` has an entry for each block of the folio: the disk block's number, or `false` for hole and unwritten.",
					check = function(s, f)
						local seen = { [true] = 0, [false] = 0 }
						for i = 1, 60 do
							local c = folio_case(s.rng)
							local want = folio_dies(c)
							seen[want] = seen[want] + 1
							local got = f(c.blocks)
							if type(got) ~= "boolean" then
								return false, ("it returned %s, expected true or false"):format(tostring(got))
							end
							if got ~= want then
								return false, ("for the blocks %s it returned %s, but the kernel with the assertion %s"):format(blocks_text(c.blocks), tostring(got),
									want and "dies" or "lives")
							end
						end
						assert(seen[true] > 5 and seen[false] > 5, "the cases are one-sided")
						return true
					end,
					hints = {
						"Go through the list with a variable `hole`, false at first. Meeting `false`, set it. Meeting a number when it is set: confused.",
						{ text = "The other rule: `i > 1 and blocks[i] ~= blocks[1] + i - 1`.", cost = 2 },
					},
				},
			},
			run = function(s)
				print(("%d of %d large folios are confused. With the assertion the kernel %s."):format(s.broken, s.large, s.dies and "dies" or "lives"))
			end,
			reveal = [[
{{broken}} of {{large}}. Note what is *not* confused: a folio that is all hole, and data with a hole behind it up to the folio's end.
]],
		},

		step {
			id = "which-reads",
			title = "Which reads die, and the fix",
			prepare = function(s)
				s.pairs = s.rng:int(12, 30)
				s.holes = s.rng:int(1, 12)
				s.index = 2 * s.rng:int(2, 10)
				s.first = s.index * PER_PAGE
				s.at = s.first + s.rng:int(3, 15)
				s.reads = { "read 64k 64", "read 4k 1024", "fadvise sequential 0 0; read 64k 64", "fadvise random 0 0; read 64k 64" }
				s.build = function(kernel)
					local m = machine(kernel, { size = 2 * s.pairs * PAGE })
					m:punch(s.at * BLOCK, s.holes * BLOCK)
					m:play("fsync")
					return m
				end
				s.whole = bios_of(machine(NEW, { size = 2 * s.pairs * PAGE }), "read 64k 64")
				s.fixed = s.build(NEW)
				s.bios = bios_of(s.fixed, "read 64k 64")
			end,
			brief = [[
A written file of {{2 * pairs}} pages, one extent, of which **{{holes}} blocks from block {{at}}** were punched out: a hole inside the folio at page {{index}}. Whether that is fatal depends on the reader, too: the folio must be *large*, and readahead makes it so or not.

`block_read_full_folio()` is there for a reason. Without the assertion it does its work: it looks up each block by itself and sends **one bio for each block that has data**; the others are zeroed. Every other window of {{131072 // 65536}} pages is one bio, {{whole}} in all if there is no hole.
]],
			questions = {
				ask.choice {
					id = "lives",
					predict = true,
					text = "The kernel has the assertion. One of these workloads it survives. Which?",
					options = function(s)
						local list = {}
						for i, r in ipairs(s.reads) do
							list[i] = "`" .. r .. "`"
						end
						return list
					end,
					answer = function(s)
						local found
						for i, r in ipairs(s.reads) do
							if survives(s.build(OLD), r) then
								assert(not found, "two of them live")
								found = i
							end
						end
						return found
					end,
					hints = { "Which of them reads without windows, so in folios of order 0? (Lab 04.)" },
				},
				ask.number {
					id = "bios",
					predict = true,
					points = 5,
					unit = "bios",
					text = "With the assertion gone (v6.18), how many bios does `read 64k 64` send for the whole file?",
					answer = function(s) return s.bios end,
					hints = { "The confused folio has 32 blocks, {{holes}} of them holes: one bio for each of the others. All other windows: {{whole - 1}} bios." },
				},
			},
			run = function(s)
				print(s.fixed:map { to = 2 * s.pairs - 1 })
				print(("%d bios; without the hole %d."):format(s.bios, s.whole))
			end,
			reveal = [[
So four things must come together: large folios on, a folio whose blocks are untidy, a reader that makes it large, and a kernel that checks (CONFIG_DEBUG_VM) before e59e97d42b05. Pages of 64 KiB are not among them: with `--page-size 4k` step 2's command
dies, too, on the same {{2 * 16}} blocks, which are a folio of order 5 there. The mails do not say why other machines' tests had not met one; *where it was seen* is not *what it takes*.
]],
		},

		step {
			id = "tidy",
			title = "Tidy writes",
			prepare = function(s)
				s.a = 2 * s.rng:int(2, 7)
				s.b = s.a + 2 * s.rng:int(1, 7)
				s.list = {
					{ s.a * PER_PAGE + s.rng:int(2, 14), s.rng:int(1, 10) },
					{ s.b * PER_PAGE + s.rng:int(2, 20), s.rng:int(1, 10) },
				}
				s.limit = 0
				for _, p in ipairs(s.list) do
					s.limit = s.limit + p[1] % (2 * PER_PAGE) + p[2]
				end
			end,
			brief = [[
Suppose you cannot change the kernel. Your program preallocates 2 MiB and has data for two places:

- {{list[1][2]}} blocks at block {{list[1][1]}} (byte {{list[1][1] * 4096}}),
- {{list[2][2]}} blocks at block {{list[2][1]}} (byte {{list[2][1] * 4096}}).

Later somebody reads the file from front to back on the kernel with the assertion. What else the program writes into the file does not matter (zeros, say), but disks are slow.
]],
			questions = {
				ask.workload {
					id = "tidy",
					points = 8,
					max_ops = 100,
					text = "Give the program's `pwrite OFFSET LENGTH`s, and nothing else: both pieces written, at most **{{limit}} blocks** ({{limit * 4}} KiB) in all, so that the reader survives. (`fallocate`, "
						.. "`fsync`, dropping the cache and reading are done for you.)",
					check = function(s, w)
						for op in w:gmatch("[^;\n]+") do
							if op:find("%S") and not op:find("^%s*pwrite%s") then
								return false, ("`%s`, expected only pwrite"):format(op)
							end
						end
						local m = machine(OLD, { record = true })
						m:fallocate(0, 2 << 20)
						m:play(w)
						local written, total = {}, 0
						for e in m:events { name = "fl_write" } do
							if e.pos % BLOCK ~= 0 or e.bytes % BLOCK ~= 0 then
								return false, "whole blocks of 4096 bytes are expected"
							end
							total = total + e.bytes // BLOCK
							for b = e.pos // BLOCK, (e.pos + e.bytes) // BLOCK - 1 do
								written[b] = true
							end
						end
						for _, p in ipairs(s.list) do
							for b = p[1], p[1] + p[2] - 1 do
								if not written[b] then
									return false, ("block %d is not written"):format(b)
								end
							end
						end
						if total > s.limit then
							return false, ("%d blocks were written, expected at most %d"):format(total, s.limit)
						end
						m:play("fsync; fadvise dontneed 0 0")
						if not survives(m, READ) then
							return false, "the reader died"
						end
						return true
					end,
					hints = {
						"In which folio is each piece, and which of its blocks lie before the piece? They must have data too. What lies behind may stay unwritten.",
						{ text = "The first: `pwrite {{a * 64}}k {{(list[1][1] % 32 + list[1][2]) * 4}}k`.", cost = 3 },
					},
				},
			},
			reveal = [[
From the folio's first block to the end of the data, no further. That works for folios of order 1; a reader with larger windows makes larger folios, and the program cannot know. It is no way to write programs, but it shows what the kernel wants: the remedy was e59e97d42b05, which
took the assertion out.
]],
		},
	},
}
