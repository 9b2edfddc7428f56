-- Lab 13: eras, the predicate of v6.16, the flag j on a live file, what v6.19 changed, large blocks, the limit in blocks,
-- real images, one function.

-- Real images, made by images.sh, and what dumpe2fs, lsattr and images.sh say about a file of each. The miniature mounts
-- the image, so what it answers comes from there.
local IMAGES = {
	{ image = "plain.img.xz:report" },
	{ image = "plain.img.xz:table", journal_flag = true },
	{ image = "small-blocks.img.xz:report", block_size = 1024 },
	{ image = "journalled.img.xz:report", data = "journal", delalloc = false, default_data = true },
	{ image = "verity.img.xz:table", features = { verity = true, ["^has_journal"] = true } },
	{ image = "encrypt.img.xz:report", features = { encrypt = true, ["^has_journal"] = true } },
	{ image = "clusters.img.xz:table", features = { bigalloc = true, ["^has_journal"] = true } },
	{ image = "inline.img.xz:note", features = { inline_data = true, ["^has_journal"] = true } },
	{ image = "no-journal.img.xz:report", features = { ["^has_journal"] = true } },
	{ image = "ext2.img.xz:table", features = { ext2 = true }, block_size = 2048 },
	{ image = "large-blocks.img.xz:report", block_size = 16384, features = { ["^has_journal"] = true } },
	{ image = "large-encrypt.img.xz:note", block_size = 16384, features = { encrypt = true, ["^has_journal"] = true } },
}

local function config(c)
	local features, options = {}, {}
	for name in pairs(c.features or {}) do
		features[#features + 1] = name
	end
	if c.data then
		options[#options + 1] = "data=" .. c.data
	end
	if c.delalloc == false then
		options[#options + 1] = "nodelalloc"
	end
	if c.dioread_lock then
		options[#options + 1] = "dioread_lock"
	end
	if c.image then
		-- The image says the rest itself.
		return { kernel = c.kernel, image = c.image, page_size = c.page_size, mount_options = c.nodelalloc and "nodelalloc" or nil }
	end
	return {
		kernel = c.kernel, fs = "ext4", size = "0", page_size = c.page_size, block_size = c.block_size,
		features = #features > 0 and table.concat(features, ",") or nil,
		mount_options = #options > 0 and table.concat(options, ",") or nil,
		dir_flags = c.journal_flag and "journal_data" or nil,
	}
end

-- The machine, or nil if its kernel refuses the file system.
local function boot(c)
	local ok, m = pcall(fl.machine, config(c))
	if not ok and not tostring(m):find("larger than a page", 1, true) then
		error(m)
	end
	return ok and m or nil
end

-- The largest order a file may have: what a write as long as the largest folio there is gets, behind the first page,
-- which an attempt to keep the file in its inode may have taken.
local function largest(c)
	local m = boot(c)
	if not m then
		return -1
	end
	local pages = m.page_size == 4096 and 512 or 2048
	if not c.image then
		m:pwrite(0, 1)
	end
	m:pwrite(pages * m.page_size, pages * m.page_size)
	return m:page(pages).folio.order
end

local function copy(c)
	local t = {}
	for k, v in pairs(c) do
		t[k] = v
	end
	return t
end

local function with(c, kernel)
	local t = copy(c)
	t.kernel = kernel
	return t
end

-- How an administrator would say it.
local function describe(c)
	local list = {}
	for name in pairs(c.features or {}) do
		list[#list + 1] = "`mke2fs -O " .. name .. "`"
	end
	if c.block_size and c.block_size ~= 4096 then
		list[#list + 1] = ("`mke2fs -b %d`"):format(c.block_size)
	end
	if c.default_data then
		list[#list + 1] = "`tune2fs -o journal_data`, mounted without options"
	elseif c.data and c.data ~= "ordered" then
		list[#list + 1] = "`mount -o data=" .. c.data .. "`"
	end
	if c.delalloc == false and not c.default_data then
		list[#list + 1] = "`mount -o nodelalloc`"
	end
	if c.dioread_lock then
		list[#list + 1] = "`mount -o dioread_lock`"
	end
	if c.journal_flag then
		list[#list + 1] = c.image and "`chattr +j` on the file, before it was mounted"
			or "`chattr +j` on the directory, before the file was made"
	end
	return #list > 0 and table.concat(list, ", ") or "nothing special"
end

local function rows(list, column)
	local lines = { "| | file system, mount, file |", "|---|---|" }
	for i, c in ipairs(list) do
		lines[#lines + 1] = ("| %d | %s |"):format(i, describe(c))
	end
	return table.concat(lines, "\n")
end

local SMALL = {
	{ features = { verity = true } }, { features = { encrypt = true } }, { data = "journal" }, { journal_flag = true },
	{ journal_flag = true, delalloc = false }, { features = { encrypt = true }, data = "writeback" },
}
local LARGE = {
	{}, { delalloc = false }, { data = "writeback" }, { features = { ["^has_journal"] = true } }, { features = { bigalloc = true } },
	{ features = { ext2 = true } }, { dioread_lock = true }, { features = { inline_data = true } }, { block_size = 1024 },
	{ features = { ["^extent"] = true } },
}

lab {
	title = "Who gets large folios",
	summary = "Features, mount options, a flag and the kernel's version: which files on ext4 get large folios.",
	minutes = 50,
	steps = {
		step {
			id = "eras",
			title = "Two kernels, one write",
			prepare = function(s)
				s.order = s.rng:int(3, 8)
				s.kib = 4 << s.order
				local old = s.rng:shuffle { "v6.1", "v6.7", "v6.12", "v6.12.y" }
				local new = s.rng:shuffle { "v6.16", "v6.17", "v6.18", "v7.3" }
				s.kernels = s.rng:shuffle { old[1], old[2], s.rng:pick { old[3], new[3] }, new[1], new[2] }
				s.write = function(kernel, fs)
					local m = fl.machine { kernel = kernel, fs = fs or "ext4", size = "0" }
					m:pwrite(0, s.kib << 10)
					return m
				end
				s.a, s.b = s.write("v6.12"), s.write("v6.18")
				s.names = table.concat(s.kernels, ", ")
			end,
			brief = [[
A file system must tell the page cache, for every file, how large its folios may be: `mapping_set_large_folios()`, or a range of orders. If it does not, all folios of that file are single pages, whatever readahead
or a write may wish for. The code of ext4 had to learn folio by folio not to take one for a page; since **v6.16** it sets the range for regular files (7ac67301e82f).

The simplest way to see it is to write, for a write asks for the folio that fits it (lab 14). {{kib}} KiB at the beginning of an empty file, v6.12 and v6.18:

```
{{a:map{ to = 63, width = 32 }}}

{{b:map{ to = 63, width = 32 }}}
```
]],
			questions = {
				ask.list {
					id = "kernels",
					points = 3,
					text = "The same write on ext4, on five kernels: {{names}}. Type the order of the **first folio** on each, in this order.",
					answer = function(s)
						local list = {}
						for i, k in ipairs(s.kernels) do
							list[i] = s.write(k):page(0).folio.order
						end
						return list
					end,
					hints = { "All before v6.16: order 0. All others: order {{order}}. (v6.12.y is the stable tree of v6.12.)" },
				},
				ask.number {
					id = "folios",
					points = 2,
					unit = "folios",
					text = "By how many folios did v6.18 get away with fewer than v6.12?",
					answer = function(s)
						return s.a:counters().mm_filemap_add_to_page_cache - s.b:counters().mm_filemap_add_to_page_cache
					end,
					hints = { "{{kib}} KiB are {{kib // 4}} pages." },
				},
			},
			reveal = "What follows is about the exceptions: files that have single pages on v6.18, too.",
		},

		step {
			id = "who-not",
			title = "Who does not",
			prepare = function(s)
				local small, large = s.rng:shuffle { 1, 2, 3, 4, 5, 6 }, s.rng:shuffle { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }
				s.list = {}
				local n = s.rng:int(2, 4)
				for i = 1, 6 do
					s.list[i] = with(i <= n and SMALL[small[i]] or LARGE[large[i]], "v6.18")
				end
				s.rng:shuffle(s.list)
				s.table = rows(s.list)
				s.harmless = with(s.rng:pick { LARGE[2], LARGE[3], LARGE[4], LARGE[5], LARGE[6], LARGE[9] }, "v6.18")
				s.four = { s.harmless, with(SMALL[1], "v6.18"), with(SMALL[2], "v6.18"), with(SMALL[s.rng:int(3, 4)], "v6.18") }
			end,
			brief = [[
`ext4_should_enable_large_folio()` of v6.16 goes through a list; the first point that applies decides:

1. Is it something else than a regular file? Then **no** large folios.
2. Is its **data journalled**: mounted with `data=journal`, or the file has the flag `j`? Then no. It does not ask whether the flag has any effect, and with delayed allocation, the default, it has none.
3. Has the file *system* the feature **verity**? Then no. The feature, not the file: no file need be verified.
4. Has the file system the feature **encrypt**? Then no. Again the feature.
5. None of these? Then **yes**.

Nothing else is asked: not for a journal, for delayed allocation, for the way blocks are mapped or their size. It is asked twice in a file's life: when it is made, after it inherited the flags of its directory, and when its inode is read from disk.

Six files on **v6.18**:

{{table}}
]],
			questions = {
				ask.list {
					id = "six",
					predict = true,
					points = 6,
					text = "Which of the six get large folios? Type `1` for yes, `0` for no, six times.",
					answer = function(s)
						local list = {}
						for i, c in ipairs(s.list) do
							list[i] = largest(c) > 0 and 1 or 0
						end
						return list
					end,
					hints = { "Four things count: data=journal, the flag j, verity, encrypt." },
				},
				ask.choice {
					id = "harmless",
					predict = true,
					text = "A colleague sees only single pages in the cache and names four suspects. Which one is innocent?",
					options = function(s)
						local list = {}
						for i, c in ipairs(s.four) do
							list[i] = describe(c)
						end
						return list
					end,
					answer = function(s)
						local found
						for i, c in ipairs(s.four) do
							if largest(c) > 0 then
								assert(not found, "two are innocent")
								found = i
							end
						end
						return found
					end,
					hints = { "Three of them are on the list above." },
				},
			},
			run = function(s)
				for i, c in ipairs(s.list) do
					local m = boot(c)
					m:pwrite(64 << 10, 64 << 10)
					print(("%d  %s"):format(i, m:page(16).folio.order > 0 and "large folios" or "single pages"))
				end
			end,
			reveal = [[
A file with `inline_data` is among the large ones, with a scar: the attempt to keep it in its inode takes page 0 as a single page, for good.

]],
		},

		step {
			id = "flips",
			title = "The flag on a live file",
			prepare = function(s)
				s.delalloc = s.rng:int(0, 1) == 1
				local r = s.rng
				s.moves = r:pick {
					{ "+j", "-j", "+j", "remount", "-j" },
					{ "+j", "remount", "-j", "remount", "+j" },
					{ "+j", "remount", "-j", "+j", "-j" },
					{ "-j", "+j", "remount", "-j", "remount" },
				}
				s.play = function(kernel, moves)
					local m = fl.machine { kernel = kernel, fs = "ext4", size = "0", mount_options = s.delalloc and "delalloc" or "nodelalloc" }
					local orders = {}
					m:pwrite(0, 64 << 10)
					for i, move in ipairs(moves) do
						if move == "remount" then
							assert(m:remount())
						else
							assert(m:chattr(move))
						end
						m:pwrite(i * 64 << 10, 64 << 10)
						orders[i] = m:page(i * 16).folio.order
					end
					return orders, m
				end
				s.old, s.new = s.play("v6.18", s.moves), s.play("v7.3", s.moves)
				s.text = table.concat(s.moves, ", ")
				s.mount = s.delalloc and "delalloc" or "nodelalloc"
				s.first, s.second = s.rng:int(20, 90), s.rng:int(3, 15)
				s.cached = function(kernel)
					local m = fl.machine { kernel = kernel, fs = "ext4", size = "0" }
					m:pwrite(0, s.first * 4096)
					assert(m:chattr("+j"))
					m:pwrite(s.first * 4096, s.second * 4096)
					return m:cached()
				end
				s.kept, s.left = s.cached("v6.18"), s.cached("v7.3")
			end,
			brief = [[
The flag `j` has a catch. `chattr +j` and `chattr -j` can be applied to a file **in use**: `ext4_change_inode_journal_flag()`. Before it sets the flag it writes the file back. And then:

- up to **v6.18** it asks nothing again. The file keeps the range of orders it has, until its inode is *read from disk anew*, for example because the file system was unmounted and mounted. That goes for both directions: who lost the large folios does not get
  them back by `-j` either;
- **v7.3** drops the whole cache of the file and decides at once (knob EXT4_JFLAG_LIVE).

A file on a file system mounted with `{{mount}}`. A program writes 64 KiB behind the end of the file, then an administrator makes a move, and so on; `remount` is unmounting and mounting:

    write, {{table.concat(moves, ", write, ")}}, write
]],
			questions = {
				ask.list {
					id = "flips-old",
					predict = true,
					points = 5,
					text = "On **v6.18**: the order of the first folio of each of the five writes that *follow a move* ({{text}}).",
					answer = function(s) return s.old end,
					hints = { "An aligned write of 64 KiB gets a folio of order 4 or single pages, order 0.", "Ask after each move: was the inode read from disk? If not, nothing changes." },
				},
				ask.list {
					id = "flips-new",
					predict = true,
					points = 5,
					text = "And on **v7.3**?",
					answer = function(s) return s.new end,
					hints = { "Here every move decides: with the flag order 0, without it order 4." },
				},
				ask.number {
					id = "dropped",
					predict = true,
					unit = "pages",
					text = "On **v7.3** a program writes {{first * 4}} KiB to an empty file, then comes `chattr +j`, then it appends {{second * 4}} KiB. How many pages of the file are in the cache now?",
					answer = function(s) return s.left end,
					hints = { "On v6.18 it is all of them: {{kept}}. v7.3 must not leave a large folio in a mapping that may have none." },
				},
			},
			run = function(s)
				print("move      v6.18   v7.3")
				for i, move in ipairs(s.moves) do
					print(("%-8s  o%-5d   o%d"):format(move, s.old[i], s.new[i]))
				end
			end,
			reveal = [[
{{delalloc and "With delayed allocation the flag journals nothing, and costs the large folios all the same." or "Without delayed allocation the flag journals the data, but not as long as the file has large folios: v6.18 vetoes that until the inode is read again."}} The moves were
compared with Debian's 6.12.117, 6.16.12, 6.18.15 and 7.3.4.
]],
		},

		step {
			id = "later",
			title = "Later kernels",
			prepare = function(s)
				local pool = s.rng:shuffle {
					{ features = { verity = true } }, { features = { verity = true }, data = "writeback" }, { features = { verity = true }, delalloc = false },
					{ features = { encrypt = true } }, { data = "journal" }, { journal_flag = true }, { features = { verity = true }, journal_flag = true },
					{ block_size = 16384 }, { block_size = 65536 }, { block_size = 16384, features = { encrypt = true } }, {}, { features = { bigalloc = true } },
				}
				s.list, s.changed = {}, 0
				for i = 1, 6 do
					s.list[i] = pool[i]
				end
				s.table = rows(s.list)
				s.state = function(c, kernel)
					local order = largest(with(c, kernel))
					return order < 0 and 2 or order > 0 and 1 or 0
				end
				s.block = 8192 << s.rng:int(0, 3)
				s.one = boot { kernel = "v7.3", block_size = s.block }
				s.one:pwrite(0, 1)
				s.folio = s.one:page(0).folio
				s.kib = s.rng:int(100, 900)
				s.journal = boot { kernel = "v7.3", block_size = s.block, data = "journal" }
				s.journal:pwrite(0, s.kib << 10)
				s.nr = 0
				for _ in s.journal:folios() do
					s.nr = s.nr + 1
				end
			end,
			brief = [[
v6.19 brought ext4 blocks that are **larger than a page** (cab8cbcb923a). A block must not be torn, so a folio is at least a block: the mapping has a *smallest* order, too. The code for that decides once, at mount, and differently:

- **verity** is no obstacle (1a3e9e8aa4f7);
- **encrypt** still is; and if blocks are larger than a page, such a file system is refused;
- with `data=journal` or the flag `j` the largest order is the smallest one: a folio of one block if blocks are larger than a page (58fd191f99f3), else a page.

Kernels before v6.19 refuse to mount blocks larger than a page. Six files, pages of 4 KiB, and v7.3 as the kernel that has all this:

{{table}}
]],
			questions = {
				ask.list {
					id = "new",
					predict = true,
					points = 6,
					text = "On **v7.3**: `1` for large folios, `0` for single pages, `2` if the mount is refused. Six times.",
					answer = function(s)
						local list = {}
						for i, c in ipairs(s.list) do
							list[i] = s.state(c, "v7.3")
						end
						return list
					end,
					hints = { "Blocks of 16 KiB are folios of at least four pages: those are large folios." },
				},
				ask.list {
					id = "old",
					predict = true,
					points = 3,
					text = "And on **v6.18**, the same six?",
					answer = function(s)
						local list = {}
						for i, c in ipairs(s.list) do
							list[i] = s.state(c, "v6.18")
						end
						return list
					end,
					hints = { "Blocks larger than a page are refused; verity, encrypt and journalled data mean single pages." },
				},
				ask.number {
					id = "smallest",
					predict = true,
					unit = "pages",
					text = "A file system with blocks of **{{block // 1024}} KiB** on v7.3. A program writes *one byte* to an empty file. How many pages has the folio?",
					answer = function(s) return s.folio.pages end,
					hints = { "A block is {{block // 4096}} pages." },
				},
				ask.number {
					id = "journal",
					predict = true,
					unit = "folios",
					text = "The same blocks, mounted with `data=journal`. A program writes **{{kib}} KiB** to an empty file. How many folios?",
					answer = function(s) return s.nr end,
					hints = { "Every folio is one block: {{kib}} / {{block // 1024}}, rounded up." },
				},
			},
			run = function(s)
				local words = { [0] = "single pages", [1] = "large folios", [2] = "refused" }
				print("   v6.18         v7.3")
				for i, c in ipairs(s.list) do
					print(("%d  %-12s  %s"):format(i, words[s.state(c, "v6.18")], words[s.state(c, "v7.3")]))
				end
			end,
			reveal = [[
Verity changed sides; encryption and journalled data did not. With large blocks even journalled data comes in large folios, for a block is the least there is: {{nr}} folios of {{folio.pages}} pages here. So ask for the *version* before you ask for the
reason.
]],
		},

		step {
			id = "images",
			title = "Real images",
			prepare = function(s)
				local pool = s.rng:shuffle { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }
				s.list = {}
				for i = 1, 6 do
					s.list[i] = IMAGES[pool[i]]
				end
				s.lines = { "| | image and file | made with |", "|---|---|---|" }
				for i, c in ipairs(s.list) do
					s.lines[#s.lines + 1] = ("| %d | `%s` | %s |"):format(i, c.image, describe(c))
				end
				s.list_text = table.concat(s.lines, "\n")
				s.state = function(c, kernel)
					local order = largest(with(c, kernel))
					return order < 0 and 2 or order > 0 and 1 or 0
				end
				s.nodelalloc = s.rng:int(0, 1) == 1
				s.file = s.rng:pick { "report", "table" }
				s.kernel = s.rng:pick { "v6.18", "v7.3" }
				s.moves = s.rng:pick { { "+j", "remount", "-j", "remount" }, { "-j", "+j", "remount", "-j" }, { "remount", "-j", "remount", "+j" } }
				s.text = table.concat(s.moves, ", write, ")
				s.orders = function()
					local m = fl.machine { kernel = s.kernel, image = "plain.img.xz:" .. s.file, mount_options = s.nodelalloc and "nodelalloc" or nil }
					local list = {}
					for i = 0, 4 do
						if i > 0 then
							assert(s.moves[i] == "remount" and m:remount() or s.moves[i] ~= "remount" and m:chattr(s.moves[i]))
						end
						m:pwrite(1 << 20 | i << 16, 64 << 10)
						list[i + 1] = m:page(256 + i * 16).folio.order
					end
					return list
				end
				s.options = s.nodelalloc and "`nodelalloc`" or "no options"
			end,
			brief = [[
What the kernel asks stands on the disk: the features in the super block, the flags in the inode. In this lab's folder there are images of real ext4 file systems, packed with xz. `images.sh` made them with mke2fs and debugfs; they were never mounted. The
miniature reads them, mounts them and asks. (To look yourself: `xz -dk verity.img.xz`, then `dumpe2fs -h verity.img` and `debugfs -R 'stat table' verity.img`.)

Six files in them, pages of 4 KiB:

{{list_text}}
]],
			questions = {
				ask.list {
					id = "images-old",
					predict = true,
					points = 6,
					text = "On **v6.18**: `1` for large folios, `0` for single pages, `2` if the mount is refused. Six times.",
					answer = function(s)
						local list = {}
						for i, c in ipairs(s.list) do
							list[i] = s.state(c, "v6.18")
						end
						return list
					end,
					hints = { "The list of step two. Blocks larger than a page are refused." },
				},
				ask.list {
					id = "images-new",
					predict = true,
					points = 6,
					text = "And on **v7.3**?",
					answer = function(s)
						local list = {}
						for i, c in ipairs(s.list) do
							list[i] = s.state(c, "v7.3")
						end
						return list
					end,
					hints = { "Verity is no obstacle any more, and blocks larger than a page are mounted, unless the file system can encrypt." },
				},
				ask.list {
					id = "image-flips",
					predict = true,
					points = 5,
					text = "The file `{{file}}` of `plain.img.xz` (its `table` has the flag `j`), mounted with {{options}} on **{{kernel}}**: write 64 KiB, {{text}}, write. The orders of the five writes' folios?",
					answer = function(s) return s.orders() end,
					hints = { "The writes are aligned to 64 KiB and on pages that nobody read before.", "v6.18 decides only when the inode is read from disk, v7.3 at every move, too." },
				},
			},
			run = function(s)
				local words = { [0] = "single pages", [1] = "large folios", [2] = "refused" }
				print("   v6.18         v7.3")
				for i, c in ipairs(s.list) do
					print(("%d  %-12s  %-12s  %s"):format(i, words[s.state(c, "v6.18")], words[s.state(c, "v7.3")], c.image))
				end
			end,
			reveal = [[
`foliolab ext4 IMAGE` asks the same questions for every file of an image of yours and names the obstacle (this lab's README has the commands).
]],
		},

		step {
			id = "limit",
			title = "How large, and a function",
			prepare = function(s)
				s.block = 1024 << s.rng:int(0, 6)
				s.top = largest { kernel = "v6.16", page_size = 65536, block_size = s.block }
				s.new = largest { kernel = "v6.18", page_size = 65536, block_size = s.block }
				s.small = largest { kernel = "v6.18", block_size = 1024 }
				s.kernels = { "v6.12", "v6.16", "v6.18", "v7.3" }
			end,
			brief = [[
How large is large? The page cache has a limit of its own: order {{small}} with pages of 4 KiB (2 MiB), order {{top}} with pages of 64 KiB ({{(65536 << top) >> 20}} MiB). v6.16 took that for the limit of ext4, too.

But ext4 writes a folio back block by block, and must reserve room in the journal before it knows where the blocks will lie. So since b12f423d598f (v6.17, and stable 6.16) a folio has **at most 2048 blocks**. With pages of 4 KiB one does
not notice: 2048 blocks of 1 KiB are 2 MiB. With pages of 64 KiB one does.
]],
			questions = {
				ask.number {
					id = "order",
					predict = true,
					text = "Pages of 64 KiB, blocks of **{{block // 1024}} KiB**, v6.18. What is the largest **order**?",
					answer = function(s) return s.new end,
					hints = { "2048 blocks are {{2048 * block // 1024}} KiB, that is {{2048 * block // 65536}} pages of 64 KiB." },
				},
				ask.func {
					id = "largest",
					points = 12,
					text = "Put it all together: write `largest(c)`: the largest order that a regular file's folios may have, or -1 if the mount is refused. It is asked about the real images, too. `answers.lua` says what `c` holds; the kernels are "
						.. "v6.12, v6.16, v6.18 and v7.3, where v6.16 does not have the limit of 2048 blocks.",
					check = function(s, f)
						local r = s.rng
						for _, image in ipairs(IMAGES) do
							local c = with(image, r:pick(s.kernels))
							c.page_size, c.block_size, c.data = r:pick { 4096, 65536 }, c.block_size or 4096, c.data or "ordered"
							c.delalloc, c.journal_flag = c.delalloc ~= false, c.journal_flag or false
							local want, seen = largest(c), copy(c)
							seen.features, seen.image, seen.default_data = copy(c.features or {}), nil, nil
							local got = f(seen)
							if got ~= want then
								return false, ("%s, pages of %d, the real image %s: it returned %s, expected %d"):format(c.kernel, c.page_size, c.image,
									tostring(got), want)
							end
						end
						for i = 1, 120 do
							local c = {
								kernel = i <= 16 and s.kernels[(i - 1) % 4 + 1] or r:pick { "v6.12", "v6.16", "v6.18", "v6.18", "v7.3", "v7.3", "v7.3" },
								page_size = r:pick { 4096, 4096, 65536 },
								block_size = r:pick { 1024, 2048, 4096, 4096, 4096, 8192, 16384, 32768, 65536 },
								features = {}, data = "ordered", delalloc = r:int(1, 4) > 1, journal_flag = r:int(1, 6) == 1,
							}
							if i <= 16 then
								c.block_size = 1024 << (i - 1) % 7
							end
							if r:int(1, 3) == 1 then
								c.features[r:pick { "verity", "verity", "encrypt", "bigalloc", "inline_data" }] = true
							end
							if r:int(1, 4) == 1 then
								c.data = r:pick { "journal", "writeback" }
							end
							if c.data == "journal" then
								c.delalloc = false
							end
							local want = largest(c)
							local seen = copy(c)
							seen.features = copy(c.features)
							local got = f(seen)
							if got ~= want then
								return false, ("%s, pages of %d, blocks of %d, %s: it returned %s, expected %d"):format(c.kernel, c.page_size, c.block_size,
									describe(c):gsub("`", ""), tostring(got), want)
							end
						end
						return true
					end,
					hints = {
						"First the refusals: blocks larger than a page, before v7.3 or with encrypt. Then v6.12. Then who gets none. Then the limit.",
						"The order of a block is 0 if it is not larger than a page, else the log of `c.block_size // c.page_size`. v7.3 with journalled data: that is the answer.",
						{ text = "The limit since v6.17: with `n = 2048 * c.block_size // c.page_size` pages, the largest order k with `1 << k <= n`, but at most 9 (4 KiB) or 11 (64 KiB).", cost = 2 },
					},
				},
			},
			run = function(s)
				print(("pages of 64 KiB, blocks of %d KiB:  v6.16 order %d,  v6.18 order %d"):format(s.block // 1024, s.top, s.new))
			end,
			reveal = [[
Order {{new}}: {{(65536 << new) >> 20}} MiB. Now ask about files of your own: `foliolab ext4 IMAGE` (this lab's README has the commands) prints for each file of an image what your function computes, and why.
]],
		},
	},
}
