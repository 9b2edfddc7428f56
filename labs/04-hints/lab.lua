-- Lab 04: what the kernel makes of advice: WILLNEED's cap, RANDOM, SEQUENTIAL, DONTNEED, and who owns it.

local function boot(kernel, size, ra_kb, io_kb, fs)
	return fl.machine {
		kernel = kernel, fs = fs or "xfs", size = size, disk = "nvme", ra_kb = ra_kb, io_kb = io_kb,
	}
end

-- Pages that one WILLNEED over the whole file caches.
local function willneed(kernel, ra_kb, io_kb)
	local m = boot(kernel, "32m", ra_kb, io_kb)
	m:fadvise("willneed", 0, "32m")
	m:drain()
	return m:cached()
end

-- The miniature's own answer to "which pages does DONTNEED drop", all cached in folios of one page.
local function dropped(off, len, size)
	local m = fl.machine { kernel = "v6.12", fs = "ext4", size = size }
	m:read(size)
	local before = m:cached()
	m:fadvise("dontneed", off, len)
	return before - m:cached()
end

local function window_of(m)
	local w = m:window()
	return ("start %d, size %d, async_size %d"):format(w.start, w.size, w.async_size)
end

lab {
	title = "04 Hints",
	summary = "fadvise and readahead: what each piece of advice does, to whom, and where it stops.",
	minutes = 50,
	steps = {
		step {
			id = "willneed-cap",
			title = "Ask for everything, get a piece",
			prepare = function(s)
				s.ra_kb = s.rng:pick { 64, 128, 256, 512, 1024, 2048, 4096 }
				s.io_kb = s.rng:pick { 96, 192, 384, 768, 1280, 1536, 3072 }
				s.mib = s.rng:int(17, 31)
				s.rows = { "| read_ahead_kb | largest request | cached |", "|---|---|---|" }
				for _, c in ipairs { { 128, 256 }, { 512, 256 }, { 128, 2048 } } do
					s.rows[#s.rows + 1] = ("| %d KiB | %d KiB | %d pages |"):format(c[1], c[2],
						willneed("v6.18", c[1], c[2]))
				end
				s.rows = table.concat(s.rows, "\n")
				s.old, s.new = willneed("v6.12", 128), willneed("v6.18", 128)
				s.m = boot("v6.18", s.mib << 20, s.ra_kb, s.io_kb)
				s.op = ("fadvise willneed 0 %dm"):format(s.mib)
			end,
			brief = [[
A program is about to need a file of 32 MiB, {{(32 << 20) // 4096}} pages. It says so:

    posix_fadvise(fd, 0, 32 << 20, POSIX_FADV_WILLNEED);

The call succeeds. Then this much is cached on v6.18, on three different disks:

{{rows}}

The kernel starts reading and stops early, without a word. Two numbers decide. `ra_pages` is
`read_ahead_kb` in pages: the most the kernel reads ahead for this descriptor. `io_pages` is the largest
single request the disk takes (`max_sectors_kb`), also in pages. `force_page_cache_ra()` reads at most **the larger of the two
for each call**, and it does not come back for the rest.

(`io_pages` entered with commit 9491ae4aade6 in 2016: a program that asks for 256 KiB at once should get one request of
256 KiB, whatever `read_ahead_kb` says.)
]],
			questions = {
				ask.number {
					id = "cap",
					predict = true,
					unit = "pages",
					text = "Your disk: `read_ahead_kb` is **{{ra_kb}}**, the largest request **{{io_kb}} KiB**. The file has "
						.. "{{mib}} MiB and is cold. How many pages does `{{op}}` bring into the cache?",
					answer = function(s)
						return s.m:twin():play(s.op) and willneed("v6.18", s.ra_kb, s.io_kb)
					end,
					hints = { "A page has 4 KiB: {{ra_kb // 4}} pages of readahead, {{io_kb // 4}} pages a request." },
				},
				ask.choice {
					id = "again",
					text = "It makes the very same call a second time. How many *more* pages are cached?",
					options = {
						"none: it counts from the first page again, whether that is cached or not",
						"as many as the first time: it goes on behind what is cached",
						"all the rest of the file",
					},
					answer = function(s)
						local m = s.m:twin()
						m:play(s.op)
						local before = m:cached()
						m:play(s.op)
						local more = m:cached() - before
						return more == 0 and 1 or more == before and 2 or 3
					end,
					hints = { "The cap limits how far the call walks through the file, and cached pages are steps, too." },
				},
			},
			run = function(s)
				s.m:play(s.op)
				print(("%s: %d of %d pages cached."):format(s.op, s.m:cached(), s.m.pages))
				s.m:play(s.op)
				print(("the same again: %d."):format(s.m:cached()))
			end,
			reveal = [[
{{math.max(ra_kb, io_kb) // 4}} pages, the larger of {{ra_kb // 4}} and {{io_kb // 4}}. With `read_ahead_kb` 128 and an
NVMe disk that names no limit, the same call reads {{old}} pages on v6.12 and {{new}} on v6.18: the largest request such a disk
takes rose from 1280 KiB to 4 MiB in v6.17 (recorded kernels, `foliolab golden`; the knob DEF_MAX_SECTORS_4M). A
program that was tuned on one kernel may prefetch far less on another.
]],
		},

		step {
			id = "prefetch",
			title = "Prefetch it all",
			prepare = function(s)
				s.cap = s.rng:pick { 48, 64, 96, 112, 160, 192 }
				s.first = s.rng:int(10, 300)
				s.n = s.rng:int(250, 900)
				s.last = s.first + s.n - 1
				s.m = boot("v6.18", "8m", 128, s.cap * 4)
				s.calls = (s.n + s.cap - 1) // s.cap
			end,
			brief = [[
`readahead(fd, offset, count)` is the same thing under an older name: it checks that the file is one that can be read ahead, then does what
`WILLNEED` does, cap and all. `madvise(MADV_WILLNEED)` on a mapped file ends there, too.

So a program that wants a long range asks piece by piece. Each call starts reading and returns; it does not wait for
the disk. With a cap of **{{cap}} pages**, somebody wants pages **{{first}} to {{last}}**.
]],
			questions = {
				ask.number {
					id = "calls",
					unit = "calls",
					text = "How many calls does that take at least?",
					answer = function(s)
						local m, calls, page = s.m:twin(), 0, s.first
						while page <= s.last do
							m:readahead(page * 4096, (s.last - page + 1) * 4096)
							calls = calls + 1
							while page <= s.last and m:page(page) do
								page = page + 1
							end
						end
						return calls
					end,
					hints = { "{{first}} to {{last}} are {{n}} pages; {{n}} / {{cap}}, rounded up." },
				},
				ask.func {
					id = "prefetch",
					points = 8,
					text = "Write `prefetch(first, last, cap)`: the list of calls, each `{ page, count }`, that caches pages `first` to "
						.. "`last` and no others, with as few calls as possible. In Lua `list[#list + 1] = x` appends.",
					check = function(s, f)
						local tries = { { s.first, s.last, s.cap }, { 0, 0, 32 }, { 5, 36, 32 }, { 5, 37, 32 } }
						for i = 1, 6 do
							local first = s.rng:int(0, 900)
							tries[#tries + 1] = { first, first + s.rng:int(1, 900), s.rng:pick { 32, 40, 100, 256 } }
						end
						for _, t in ipairs(tries) do
							local first, last, cap = t[1], t[2], t[3]
							local call = ("prefetch(%d, %d, %d)"):format(first, last, cap)
							local list = f(first, last, cap)
							if type(list) ~= "table" then
								return false, call .. " returned no list"
							end
							local m = boot("v6.18", "8m", 128, cap * 4)
							for i, c in ipairs(list) do
								if type(c) ~= "table" or math.type(c[1]) ~= "integer" or math.type(c[2]) ~= "integer"
									or c[1] < 0 or c[2] < 1 then
									return false, ("%s: entry %d is not { page, count }"):format(call, i)
								end
								m:fadvise("willneed", c[1] * 4096, c[2] * 4096)
							end
							if m:cached(first, last) < last - first + 1 then
								return false, ("%s cached %d of %d pages"):format(call, m:cached(first, last),
									last - first + 1)
							end
							if m:cached() > last - first + 1 then
								return false, ("%s cached %d pages too many"):format(call,
									m:cached() - (last - first + 1))
							end
							local least = (last - first + cap) // cap
							if #list > least then
								return false, ("%s takes %d calls, %d are enough"):format(call, #list, least)
							end
						end
						return true
					end,
					hints = {
						"`for page = first, last, cap do ... end` visits first, first + cap, first + 2 * cap, ...",
						{ text = "The last call is shorter: `math.min(cap, last - page + 1)`.", cost = 2 },
					},
				},
			},
			run = function(s)
				s.m:readahead(s.first * 4096, s.n * 4096)
				print(("One call for all %d pages cached %d of them, in folios of order 0:"):format(s.n, s.m:cached()))
				print(s.m:map { from = s.first - s.first % 32, to = s.first - s.first % 32 + 127 })
			end,
			reveal = [[
Look at the map. Pages that advice brings in come as single pages, without a mark: `force_page_cache_ra()` uses neither the window nor
large folios. If the program will read the range in order anyway, plain readahead with its large folios is often the better deal;
`WILLNEED` pays where the kernel *cannot* guess the next place.
]],
		},

		step {
			id = "random",
			title = "RANDOM: believe me, there is no stream",
			prepare = function(s)
				s.k = s.rng:int(15, 60)
				s.spots = {}
				for i = 1, s.k do
					s.spots[i] = i * 256 + s.rng:int(1, 200)
				end
				s.rng:shuffle(s.spots)
				local ops = {}
				for i, p in ipairs(s.spots) do
					ops[i] = ("pread %dk 4k; pread %dk 4k"):format(p * 4, p * 4 + 4)
				end
				s.ops = table.concat(ops, "; ")
				s.whole_ops = s.ops:gsub("4k; pread %d+k 4k", "8k")
				s.plain = boot("v6.18", "128m", 128)
				s.told = s.plain:twin()
				s.whole = s.plain:twin()
				s.n = s.rng:int(2, 9) * 128
				s.seq, s.seq_told = boot("v6.18", "8m", 128), boot("v6.18", "8m", 128)
				s.seq:play(("read 4k %d"):format(s.n))
				s.seq_told:play(("fadvise random 0 0; read 4k %d"):format(s.n))
				s.one = boot("v6.18", "128m", 128)
				s.one:play(("pread %dk 4k; pread %dk 4k"):format(s.spots[1] * 4, s.spots[1] * 4 + 4))
			end,
			brief = [[
A database fetches records from all over a file. A record is two pages; the program reads them with two `pread` calls of 4 KiB. To the kernel the
second call looks like the start of a stream: it begins where the last one ended. So it opens a window. After one record, at page
{{spots[1]}}:

```
{{one:map{ from = spots[1] - spots[1] % 16, to = spots[1] - spots[1] % 16 + 15 }}}
```

`POSIX_FADV_RANDOM` says that there is no stream: a miss reads exactly what was asked for, and nothing ahead.

The program fetches **{{k}} records** on v6.18, all far apart in a cold file.
]],
			questions = {
				ask.number {
					id = "records",
					predict = true,
					unit = "pages",
					text = "How many pages are cached afterwards, if it gives **no** advice?",
					answer = function(s)
						local m = s.plain:twin()
						m:play(s.ops)
						return m:cached()
					end,
					hints = {
						"Count the pages in the picture: one record cached {{one:cached()}}, {{one:stats().pages.used}} of them were read.",
					},
				},
				ask.number {
					id = "records-random",
					predict = true,
					unit = "pages",
					points = 2,
					text = "And if it says RANDOM first?",
					answer = function(s)
						local m = s.told:twin()
						m:play("fadvise random 0 0; " .. s.ops)
						return m:cached()
					end,
					hints = { "Just what is asked for: two pages a record." },
				},
				ask.number {
					id = "requests",
					predict = true,
					unit = "requests",
					text = "RANDOM has a price. A program that says RANDOM and then reads **{{n}} pages in order** from a cold file, 4 KiB "
						.. "at a time: how many requests does the disk serve?",
					answer = function(s) return s.seq_told:stats().ios end,
					hints = { "Each read misses, and each miss reads just its page." },
				},
			},
			run = function(s)
				s.plain:play(s.ops)
				s.told:play("fadvise random 0 0; " .. s.ops)
				s.whole:play("fadvise random 0 0; " .. s.whole_ops)
				local a, b = s.plain:stats(), s.told:stats()
				print(("%d records     pages read  wasted  requests  ms"):format(s.k))
				print(("no advice      %10d %7d %9d  %s"):format(a.pages.read, a.pages.wasted, a.ios, fl.ms(a.virtual_ns)))
				print(("RANDOM         %10d %7d %9d  %s"):format(b.pages.read, b.pages.wasted, b.ios, fl.ms(b.virtual_ns)))
				local c, d = s.seq:stats(), s.seq_told:stats()
				figure("random-in-order", plot.bars {
					title = ("%d pages in order, ms"):format(s.n),
					labels = { "no advice", "RANDOM" },
					values = { c.virtual_ns / 1e6, d.virtual_ns / 1e6 },
				})
			end,
			reveal = [[
For records, RANDOM saved {{plain:stats().pages.wasted}} pages of reading. It did not save requests: {{plain:stats().ios}} without,
{{told:stats().ios}} with. (With RANDOM and *one* `pread` of 8 KiB for each record: {{whole:stats().ios}} requests, {{fl.ms(whole:clock())}} ms.)

In order, RANDOM is a disaster: {{seq_told:stats().ios}} requests instead of {{seq:stats().ios}}, {{fl.ms(seq_told:clock())}} ms instead of
{{fl.ms(seq:clock())}} ms. Advice is not a wish that the kernel weighs. It is a switch.
]],
		},

		step {
			id = "sequential",
			title = "SEQUENTIAL: one number",
			prepare = function(s)
				s.ra = s.rng:pick { 16, 32, 64, 128, 256 }
				s.bs = s.rng:pick { 4, 8, 16 }
				s.m = boot("v6.12.y", "32m", s.ra * 4)
				s.before = s.rng:int(3, 5) * s.ra * 4 // s.bs
				s.m:play(("read %dk %d"):format(s.bs, s.before))
				s.old = s.m:window()
				s.m:queue(("fadvise sequential 0 0; read %dk 4000"):format(s.bs))
				s.next = s.m:stop_before("fl_window")
				s.io_kb = s.rng:pick { 128, 256, 512, 1280 }
				s.ra2 = s.rng:pick { 256, 512, 1024, 768 }
				local calls = { "sequential", "random", "sequential", "normal", "random", "noreuse" }
				s.rng:shuffle(calls)
				s.calls = { calls[1], calls[2], calls[3] }
				s.list = table.concat(s.calls, ", ")
				s.adv = boot("v6.18", "32m", s.ra2 * 4, s.io_kb)
				s.adv_ops = ("fadvise %s 0 0; fadvise %s 0 0; fadvise %s 0 0"):format(s.calls[1], s.calls[2], s.calls[3])
			end,
			brief = [[
`POSIX_FADV_SEQUENTIAL` does this, and nothing else: it sets the descriptor's `ra_pages` to **twice** `read_ahead_kb`, and it takes a RANDOM
back. It reads nothing. It turns nothing on: readahead is on anyway.

| advice | ra_pages of the descriptor | RANDOM |
|---|---|---|
| NORMAL | `read_ahead_kb` | taken back |
| SEQUENTIAL | 2 x `read_ahead_kb` | taken back |
| RANDOM | as it was | set |
| NOREUSE | as it was | as it was |

(mm/fadvise.c. NOREUSE marks the descriptor so that its reads do not count as uses when memory runs short, since 17e810229cb3, v6.3; before, it did nothing.)

Stop time. On {{m.kernel}}, `ra_pages` {{ra}}, a program has read {{before}} times {{bs}} KiB. Its window:
start {{old.start}}, size **{{old.size}}**. Now it says SEQUENTIAL and reads on until it meets the mark at page {{old.mark}}.
]],
			questions = {
				ask.number {
					id = "next-size",
					predict = true,
					unit = "pages",
					text = "Which size will the next window have? (Lab 02: a window up to half of `ra_pages` doubles, a larger one becomes `ra_pages`.)",
					answer = function(s) return s.next.size end,
					hints = { "`ra_pages` is now {{2 * ra}}. The window has {{old.size}} pages." },
				},
				ask.number {
					id = "ra-pages",
					points = 6,
					unit = "pages",
					text = "Another machine (v6.18): `read_ahead_kb` {{ra2 * 4}}, which is {{ra2}} pages, largest request {{io_kb}} KiB. A fresh descriptor gets, one after "
						.. "the other: **{{list}}**. Then `WILLNEED` for 32 MiB. How many pages does it cache?",
					answer = function(s)
						local m = s.adv:twin()
						m:play(s.adv_ops .. "; fadvise willneed 0 32m")
						return m:cached()
					end,
					hints = {
						"The cap of step 1 takes the `ra_pages` of the *descriptor*. Go through the table: NORMAL and SEQUENTIAL set it, "
							.. "the others leave it.",
					},
				},
			},
			run = function(s)
				print("Before the mark: " .. window_of(s.m))
				s.m:step()
				print("After it:        " .. window_of(s.m))
			end,
			reveal = [[
{{next.size}} pages. SEQUENTIAL does not jump to the new limit: the window grows towards it at the next mark. Larger windows mean fewer and
larger requests, and more waste if the program stops early; that is all there is to it. And a doubled `ra_pages` stays when
RANDOM comes after it.
]],
		},

		step {
			id = "owner",
			title = "Whose advice is it?",
			prepare = function(s)
				s.n = s.rng:int(2, 12)
				s.a = s.rng:int(20, 60) * 8
				s.w = s.rng:int(3, 25)
				s.k = s.rng:int(1, 9)
				s.m = boot("v6.18", "16m", 128)
				s.script = {
					("fd 0; fadvise random 0 0; fadvise willneed %dk %dk"):format(s.a * 4, s.w * 4),
					("fd 1; read %dk"):format(s.n * 4),
					("fd 0; pread 8m %dk"):format(s.k * 4),
					("reopen; pread %dk 4k; pread %dk 4k"):format(12 * 1024, 12 * 1024 + 4),
				}
				s.ops = table.concat(s.script, "; ")
				-- A window that belongs to fd 0, a RANDOM reader on fd 1 that runs into its mark.
				s.first = s.rng:int(1, 16)
				s.two = boot("v6.18", "16m", s.rng:pick { 128, 256, 512 })
				s.two:play(("fd 0; read %dk; fd 1; fadvise random 0 0"):format(s.first * 4))
				s.before = s.two:twin()
				s.two:queue("read 4k 300")
				s.next = s.two:stop_before("fl_window")
			end,
			brief = [[
A descriptor here is an *open file description*: what `open()` makes. `dup()` and `fork()` share it; a second `open()` makes another one. It holds the position,
the readahead window, `ra_pages`, and the RANDOM flag. The cached pages belong to the *file*. So:

| belongs to the descriptor | acts on the file's cache |
|---|---|
| NORMAL, SEQUENTIAL, RANDOM, NOREUSE | WILLNEED, `readahead()`, DONTNEED |

A script on v6.18, `ra_pages` 32 (`fd K` makes descriptor K the current one and opens it if needed; `reopen` closes the current one and opens it afresh):

```
{{table.concat(script, "\n")}}
```

Offsets and lengths: the WILLNEED covers {{w}} pages, the read of descriptor 1 asks for {{n}}, the `pread` of descriptor 0 for {{k}}, and the last two for one each, next to each other.
]],
			questions = {
				ask.number {
					id = "script",
					predict = true,
					points = 8,
					unit = "pages",
					text = "How many pages are cached at its end?",
					answer = function(s)
						local m = s.m:twin()
						m:play(s.ops)
						return m:cached()
					end,
					hints = {
						"Line by line. WILLNEED: {{w}}. Descriptor 1 never heard of RANDOM: its first window for {{n}} pages, by lab 02's rule. "
							.. "Descriptor 0 has: {{k}}.",
						"After `reopen` the descriptor is fresh, and RANDOM is gone: two neighbouring pages are a stream, 1 + 4 pages.",
					},
				},
				ask.choice {
					id = "seen",
					text = "A thread calls `posix_fadvise(fd0, ...)`. Which advice changes what a read through **another** descriptor of that file has to wait for?",
					options = { "WILLNEED", "RANDOM", "SEQUENTIAL", "NORMAL" },
					answer = function(s)
						local function misses(advice)
							local m = boot("v6.18", "1m", 128)
							m:play(("fd 0; fadvise %s 0 0; fd 1; pread 400k 4k; pread 404k 4k"):format(advice))
							return m:counters().page_cache_sync_ra or 0
						end
						local found
						for i, advice in ipairs { "willneed", "random", "sequential", "normal" } do
							if misses(advice) ~= misses("noreuse") then
								assert(not found)
								found = i
							end
						end
						return found
					end,
					hints = { "Only what is in the cache is seen by everybody." },
				},
				ask.number {
					id = "random-mark",
					predict = true,
					unit = "page",
					points = 6,
					text = "Another machine, `ra_pages` {{two:window(1).ra_pages}}. Descriptor 0 has read {{first * 4}} KiB from the front; the cache is "
						.. "below. Descriptor 1 has said RANDOM and will read the file from page 0, a page at a time. The kernel *will* read a window for "
						.. "it, at a mark. Which page will it start at?\n\n```\n{{before:map{}}}\n```",
					answer = function(s) return s.next.start end,
					hints = {
						"RANDOM is asked about at a miss, not at a mark. The mark is on descriptor 0's window, which descriptor 1 knows nothing of: the kernel "
							.. "looks for the first page behind it that is not cached.",
					},
				},
			},
			run = function(s)
				s.m:play(s.ops)
				print(("The script cached %d pages."):format(s.m:cached()))
				s.two:step()
				print("The other machine, one read later:")
				print(s.two:map {})
				print(("Window: start %d, size %d, because %s."):format(s.next.start, s.next.size, s.next.why))
			end,
			reveal = [[
RANDOM is looked at when a read *misses*. A mark that somebody else left still works, even for a reader that asked for nothing ahead
(`page_cache_async_ra()` does not look at FMODE_RANDOM). Library code that advises on its own descriptor cannot spoil yours; library code that advises on
a descriptor you *share* can.
]],
		},

		step {
			id = "dontneed",
			title = "DONTNEED: whole pages, whole folios",
			prepare = function(s)
				s.size = s.rng:int(20, 60) * 4096 + s.rng:int(1, 4000)
				s.off = s.rng:int(1, 8) * 4096 + s.rng:int(1, 4000)
				s.len = s.rng:int(3, 9) * 4096 + s.rng:int(1, 4000)
				s.small = fl.machine { kernel = "v6.12", fs = "ext4", size = s.size }
				s.small:read(s.size)
				s.bs = s.rng:pick { 4, 8, 16, 32, 64 }
				s.ra = s.rng:pick { 32, 64, 128 }
				s.m = fl.machine { kernel = "v6.18", fs = "xfs", size = "16m", ra_kb = s.ra * 4 }
				s.m:play(("read %dk %d"):format(s.bs, 6 * s.ra * 4 // s.bs))
				for f in s.m:folios() do
					if f.marked then
						s.mark = f
					end
				end
				s.w = s.m:window()
				s.m:queue(("fadvise dontneed %dk 0; read %dk 2000"):format(s.w.start * 4, s.bs))
				s.next = s.m:stop_before("fl_window")
				s.dropped = dropped
			end,
			brief = [[
`POSIX_FADV_DONTNEED` drops cached pages: those that lie *wholly* in the bytes given, are clean, and are in no use. The start is rounded up to a page. The end is
rounded down, with one exception: if the last byte is the last byte of the **file**, the last page goes as well, though the file fills only a part of it.
(A length of 0 means to the end.) This file on ext4 has {{size}} bytes, {{small.pages}} pages, all cached in folios of one page:

| call | pages dropped |
|---|---|
| DONTNEED off 0 len 4096 | {{dropped(0, 4096, size)}} |
| DONTNEED off 1 len 4095 | {{dropped(1, 4095, size)}} |
| DONTNEED off 1 len 8191 | {{dropped(1, 8191, size)}} |
| DONTNEED off 0 len 8191 | {{dropped(0, 8191, size)}} |
| DONTNEED off 0 len {{size}} | {{dropped(0, size, size)}} |
| DONTNEED off 0 len {{size - 1}} | {{dropped(0, size - 1, size)}} |

With large folios the same holds for folios: one that sticks out of the range stays whole (lab 01).

And a mark leaves with its folio. On v6.18 with `ra_pages` {{ra}} a program has read {{w.start}} pages in order, {{bs}} KiB at a time; its next window, {{w.size}} pages from page {{w.start}}, is already
cached, with the mark on folio {{mark.index}}. Now somebody drops everything from page {{w.start}} on. The program knows nothing of it and reads on.
]],
			questions = {
				ask.number {
					id = "bytes",
					predict = true,
					unit = "pages",
					text = "In the file on ext4: how many pages does DONTNEED with off **{{off}}** and len **{{len}}** drop?",
					answer = function(s) return dropped(s.off, s.len, s.size) end,
					hints = {
						"The first page that lies wholly in it is {{(off + 4095) // 4096}}; the first byte behind it is {{off + len}}, in page "
							.. "{{(off + len) // 4096}}.",
					},
				},
				ask.func {
					id = "dropped",
					points = 8,
					text = "Write `dropped(off, len, size)`: how many pages DONTNEED drops, `len` > 0, `off` inside the file, all pages cached as single pages. "
						.. "The range may reach past the end of the file.",
					valid = function(s, off, len, size) return off >= 0 and len >= 1 and off < size end,
					cases = function(s)
						local list = {
							{ 0, 4096, s.size }, { 0, s.size, s.size }, { 0, s.size - 1, s.size }, { 1, 4095, s.size },
							{ 4096, 8192, s.size }, { 4096, 8191, s.size }, { 1, s.size - 1, s.size }, { 0, 100, s.size },
							{ s.off, s.len, s.size }, { 100, 20000, s.size }, { 0, 40960, 40960 },
							{ 0, s.size + 40000 - (s.size % 4096) + 96 + 4096, s.size },
						}
						for i = 1, 10 do
							local off = s.rng:int(0, s.size - 1)
							list[#list + 1] = { off, s.rng:int(1, s.size - off), s.size }
						end
						-- Past the end, on a page boundary: everything behind off goes.
						local off = s.rng:int(0, s.size - 1)
						list[#list + 1] = { off, (s.size // 4096 + 3) * 4096 - off, s.size }
						return list
					end,
					answer = function(s, off, len, size) return dropped(off, len, size) end,
					hints = {
						"Let `stop` be the first byte behind the range: off + len. Then `first = (off + 4095) // 4096` and `last = stop // 4096`, "
							.. "exclusive, and the count is their difference, but not below 0.",
						{
							text = "The exception: if `stop == size`, `last` is `(size + 4095) // 4096`. And no page lies behind the file: cut "
								.. "`last` at that as well.",
							cost = 2,
						},
					},
				},
				ask.number {
					id = "start-over",
					predict = true,
					unit = "pages",
					text = "The stream on v6.18: how large is the next window the kernel reads for it?",
					answer = function(s) return s.next.size end,
					hints = {
						"No mark, no async hit: page {{w.start}} is a *miss*. The read follows the last one, so it is a stream, but a miss opens a "
							.. "**first** window (lab 02: `init_size`) for {{bs // 4}} {{bs == 4 and 'page' or 'pages'}} with `ra_pages` {{ra}}.",
					},
				},
			},
			run = function(s)
				s.small:fadvise("dontneed", s.off, s.len)
				print(("ext4: %d of %d pages left."):format(s.small:cached(), s.small.pages))
				print("v6.18: before the miss " .. window_of(s.m))
				s.m:wait_for("fl_window")
				print("       after it        " .. window_of(s.m))
			end,
			reveal = [[
The window shrank from {{w.size}} to {{next.size}} pages: DONTNEED leaves every descriptor's `ra` as it is, describing pages that are gone, and the stream
starts over. Drop what lies *behind* the reader, never what lies before it.
]],
		},

		step {
			id = "backup",
			title = "A backup that leaves no trace",
			prepare = function(s)
				s.pages = 2048
				s.hot = s.rng:int(4, 55) * 32
				s.hot_n = s.rng:int(2, 5) * 32
				s.hot_last = s.hot + s.hot_n - 1
				local function start()
					local m = boot("v6.18", s.pages * 4096, 128)
					m:play(("fd 0; fadvise random 0 0; pread %dk %dk; fd 1"):format(s.hot * 4, s.hot_n * 4))
					return m
				end
				s.start = start
				s.m = start()
				s.plain = start()
				s.since = s.plain:clock()
				s.plain:play("read 64k 128")
				s.plain_ns = s.plain:clock() - s.since
				s.limit_ns = s.plain_ns * 5 // 4
			end,
			brief = [[
Last, a program with manners. A nightly backup reads a file of {{pages}} pages (8 MiB) from front to back. Another program keeps pages **{{hot}} to {{hot_last}}** in the cache,
and wants to find them there in the morning. The backup's own pages are of no use to anybody.

A plain backup, `read 64k 128`, takes {{fl.ms(plain_ns)}} ms and leaves {{plain:cached()}} pages in the cache.

Write a better one. It runs on descriptor 1, which is open, at position 0, and current. (`read 64k 8` reads 8 times; `fadvise dontneed 0k 512k` drops pages 0 to 127 if their folios lie inside.
In `answers.lua` the text may be built by a program: `(function() local t = {} ... return table.concat(t, "; ") end)()`.)
]],
			questions = {
				ask.workload {
					id = "backup",
					points = 10,
					max_ops = 600,
					text = "A workload of at most 600 operations on v6.18 that reads all {{pages}} pages with `read`, after which pages **{{hot}} to {{hot_last}}** are cached and **nothing else** is. "
						.. "At no moment may more than **{{hot_n + 320}}** pages be cached, and it may take at most **{{fl.ms(limit_ns)}} ms**.",
					check = function(s, w)
						local m = s.start()
						local start = m:clock()
						m:queue(w)
						local most, read = 0, 0
						while m:left() > 0 do
							if m:left() > 600 then
								return false, ("%d operations, expected at most 600"):format(m:left())
							end
							local op = m:next_op()
							m:step()
							most = math.max(most, m:cached())
							if op:match("^read ") then
								read = read + 1
							end
						end
						m:drain()
						local ns = m:clock() - start
						local bytes = m:stats().bytes - s.hot_n * 4096
						if m:window(1) == nil or m:window(1).prev_pos ~= s.pages * 4096 then
							return false, "descriptor 1 has not read to the end of the file"
						end
						if bytes < s.pages * 4096 or read == 0 then
							return false, ("%d bytes were read, expected %d"):format(bytes, s.pages * 4096)
						end
						if most > s.hot_n + 320 then
							return false, ("at one moment %d pages were cached, at most %d may be"):format(most,
								s.hot_n + 320)
						end
						if m:cached(s.hot, s.hot_last) < s.hot_n then
							return false, ("only %d of the %d hot pages are left"):format(m:cached(s.hot, s.hot_last), s.hot_n)
						end
						if m:cached() > s.hot_n then
							return false, ("%d pages are left besides the hot ones"):format(m:cached() - s.hot_n)
						end
						if ns > s.limit_ns then
							return false, ("it took %s ms, at most %s are allowed"):format(fl.ms(ns), fl.ms(s.limit_ns))
						end
						return true
					end,
					hints = {
						"Read a piece, drop that piece, go on. Drop only what the reader has passed: what lies before it is its own next window.",
						"A piece must not contain hot pages: let it end at page {{hot}} ({{hot * 4}}k), read the hot pages without dropping them, and go on at page "
							.. "{{hot + hot_n}} ({{(hot + hot_n) * 4}}k). Pieces of 128k (32 pages) fit both.",
						{
							text = "Per 32 pages: `read 64k 2; fadvise dontneed OFFk 128k`, with OFF = 128, 256, ... one piece *behind*, so "
								.. "that the folio is not in use any more. Leave the hot ones out. The first folios are small: `dontneed 0 128k` "
								.. "takes them together.",
							cost = 2,
						},
					},
				},
			},
			reveal = [[
The pages of the other program survive because no DONTNEED covers them. The backup drops a piece behind its reader, so its own windows and marks live on and it
is about as fast as the plain one. With large folios, a border in the middle of a folio would have kept some of its pages (step 6): a reason to cut at
large round offsets.
]],
		},
	},
}
