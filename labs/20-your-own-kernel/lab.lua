-- Lab 20: counts of cached pages, recorded on a real kernel; what they tell and what they hide; your own kernel.

-- Cached pages after each of 16 reads of so many KiB: Linux 6.18.44, ext4 on a loop device, read_ahead_kb 128, a written
-- file of 16 MiB, counted by an ordinary user (foliolab host diff).
local RECORDED = {
	[4] = { 4, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 16, 24, 24, 24, 24 },
	[8] = { 4, 12, 16, 16, 16, 16, 24, 24, 32, 32, 32, 32, 48, 48, 48, 48 },
	[12] = { 8, 24, 48, 48, 48, 48, 48, 48, 64, 64, 64, 64, 64, 64, 64, 64 },
	[16] = { 8, 24, 48, 48, 48, 48, 64, 64, 64, 64, 64, 64, 96, 96, 96, 96 },
	[20] = { 16, 48, 48, 80, 80, 80, 80, 80, 80, 96, 96, 96, 96, 96, 96, 96 },
	[24] = { 16, 48, 80, 80, 80, 80, 80, 80, 96, 96, 96, 96, 96, 128, 128, 128 },
	[28] = { 16, 48, 80, 80, 80, 80, 96, 96, 96, 96, 96, 128, 128, 160, 160, 160 },
	[32] = { 16, 48, 80, 80, 80, 80, 96, 96, 96, 96, 128, 128, 160, 160, 160, 160 },
	[40] = { 32, 64, 64, 96, 96, 96, 128, 128, 128, 160, 160, 160, 192, 192, 192, 192 },
	[48] = { 32, 64, 96, 96, 96, 128, 128, 128, 160, 160, 192, 192, 192, 224, 224, 224 },
	[64] = { 32, 64, 96, 96, 128, 128, 160, 160, 192, 192, 224, 224, 256, 256, 288, 288 },
	[80] = { 32, 96, 96, 128, 160, 160, 192, 192, 224, 256, 256, 288, 320, 320, 352, 352 },
	[96] = { 32, 96, 128, 128, 160, 192, 224, 224, 256, 288, 320, 320, 352, 384, 416, 416 },
	[100] = { 32, 96, 128, 160, 160, 192, 224, 256, 288, 288, 320, 352, 384, 384, 416, 448 },
	[120] = { 32, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 512 },
}
local SIZES = { 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 100, 120 }
local READS = 16

local function boot(kernel, size)
	return fl.machine { kernel = kernel, fs = "ext4", size = size or "16m", disk = "nvme", ra_kb = 128 }
end

-- The miniature's counts for the same reads.
local function counts(kernel, kib)
	local m, list = boot(kernel), {}
	for i = 1, READS do
		m:play(("read %dk"):format(kib))
		list[i] = m:cached()
	end
	return list
end

-- What the real kernel counted; the lab is void if the miniature says anything else.
local function recorded(kib)
	local list = counts("v6.18", kib)
	for i = 1, READS do
		assert(list[i] == RECORDED[kib][i], ("reads of %d KiB: the recording and the miniature differ"):format(kib))
	end
	return list
end

local function first_difference(a, b)
	for i = 1, math.max(#a, #b) do
		if a[i] ~= b[i] then
			return i
		end
	end
end

local function grown(list)
	local result, before = {}, 0
	for _, n in ipairs(list) do
		if n > before then
			result[#result + 1] = n - before
		end
		before = n
	end
	return result
end

local function folios(m)
	local n = 0
	for _ in m:folios() do
		n = n + 1
	end
	return n
end

-- As `foliolab host diff` prints counts.
local function side_by_side(kib, host, mini)
	local lines = {}
	for i = 1, READS do
		lines[i] = ("%s read %-5s host %5d  miniature %5d"):format(host[i] == mini[i] and " " or "!", kib .. "k", host[i], mini[i])
	end
	return table.concat(lines, "\n")
end

-- Kernels to tell apart in step 4.
local KERNELS = { "v6.1", "v6.12", "v6.16", "v6.18" }
local READING = { read = true, pread = true, seek = true, fd = true, reopen = true, fadvise = true, readahead = true, mmap = true,
	munmap = true, madvise = true, touch = true }

local function same_list(a, b)
	if type(a) ~= "table" or #a ~= #b then
		return false
	end
	return not first_difference(a, b)
end

lab {
	title = "Your own kernel",
	summary = "What anybody may count in the page cache of a running kernel, and what the counts give away.",
	minutes = 50,
	steps = {
		step {
			id = "count",
			title = "What anybody may ask",
			prepare = function(s)
				s.kib = s.rng:pick(SIZES)
				s.counts = recorded(s.kib)
				-- A read after which something is cached that nobody has asked for.
				local some = {}
				for i = 2, READS do
					if s.counts[i] > (s.kib * i + 3) // 4 then
						some[#some + 1] = i
					end
				end
				s.j = s.rng:pick(some)
				s.asked = (s.kib * s.j + 3) // 4
				s.example = RECORDED[4]
			end,
			brief = [[
Two system calls tell any user what is cached of a file that he owns or may write to (of other files `mincore()` says that all is there, whatever is: 134fca9063ad, v5.2):

- `mincore()` on a mapping of the file: for each page, whether it is there (and whether its bytes have arrived);
- `cachestat()` (since 6.5): how many pages are cached, dirty, being written back, evicted.

Neither reads anything in. `foliolab host orders FILE` asks both. To follow a program one asks after *every* read; that is what `foliolab host diff` does for somebody without
root. It drops the file from the cache first (`posix_fadvise(DONTNEED)` may be called by anybody, too) and waits after each read until the disk is idle.

On a 6.18 kernel, with `read_ahead_kb` 128, a program read a cold file of 16 MiB in pieces of 4 KiB. Cached pages after each of the first 16 reads:

```
{{table.concat(example, " ")}}
```

Now **your** run: the same file, in pieces of **{{kib}} KiB**. Counted after each read:

```
{{table.concat(counts, " ")}}
```
]],
			questions = {
				ask.number {
					id = "ahead",
					unit = "pages",
					text = "After read number **{{j}}**: how many pages are cached that no read has asked for yet?",
					answer = function(s) return s.counts[s.j] - s.asked end,
					hints = { "{{j}} reads of {{kib}} KiB have asked for {{asked}} pages of 4 KiB." },
				},
				ask.choice {
					id = "rights",
					text = "Which of these can an ordinary user **not** learn about his own file?",
					options = {
						"which pages are cached, by `mincore()`",
						"how many of them are dirty, by `cachestat()`",
						"which of them belong to one folio, by `/proc/kpageflags`",
						"how far a `read()` of his own moved the count",
					},
					answer = function() return 3 end,
					hints = { "Where is a page number of physical memory needed? Since 4.2 `/proc/self/pagemap` hides it from all but CAP_SYS_ADMIN." },
				},
			},
			reveal = [[
{{counts[j] - asked}} of {{counts[j]}} pages: read ahead, in the hope that the program goes on. `/proc/kpageflags` is for root alone: it tells what lies in every page of memory, whoever's it is.
]],
		},

		step {
			id = "windows",
			title = "Windows from counts",
			prepare = function(s)
				s.kib = s.rng:pick(SIZES)
				s.counts = recorded(s.kib)
				s.grown = grown(s.counts)
			end,
			brief = [[
A count that stays says: this read found everything. A count that grows says: a window was read, and how large it was. (Two windows for one read add up.) So the row

```
{{table.concat(counts, " ")}}
```

(reads of {{kib}} KiB, recorded) holds the sizes of the windows, without any right to see a tracepoint.
]],
			questions = {
				ask.list {
					id = "sizes",
					text = "By how many pages did the cache grow, each time it grew? (It was empty before the first read.)",
					answer = function(s) return s.grown end,
					hints = { "The first number is {{counts[1]}}; go on with the differences, leaving out the zeros." },
				},
				ask.func {
					id = "grown",
					points = 6,
					text = "Write `grown(counts)`, which does that for any row.",
					cases = function(s)
						local list = { { { 4 } }, { { 4, 4, 4 } }, { { 1, 2, 3 } } }
						for _, kib in ipairs(SIZES) do
							list[#list + 1] = { RECORDED[kib] }
						end
						return list
					end,
					answer = function(s, list) return grown(list) end,
					hints = { "Keep the count before, beginning with 0; `result[#result + 1] = n - before` where it is larger." },
				},
			},
			reveal = [[
A first window, larger ones up to `read_ahead_kb` (32 pages here), and none while the reader is inside. Large folios bend the sizes a little: a window ends where its last folio ends (v6.17, lab 02).
]],
		},

		step {
			id = "blind",
			title = "What counts hide",
			prepare = function(s)
				-- Sizes for which both kernels count the same after every read.
				local same = {}
				for _, kib in ipairs(SIZES) do
					if not first_difference(counts("v6.12", kib), counts("v6.16", kib)) then
						same[#same + 1] = kib
					end
				end
				s.kib = s.rng:pick(same)
				s.n = s.rng:int(5, READS)
				s.small, s.large = boot("v6.12"), boot("v6.16")
				s.small:play(("read %dk %d"):format(s.kib, s.n))
				s.large:play(("read %dk %d"):format(s.kib, s.n))
				s.folios = folios(s.large)
				s.last = math.min(s.large:cached() - 1, 255)
			end,
			brief = [[
Two kernels, v6.12 and v6.16, read {{n}} pieces of {{kib}} KiB from the same file on ext4. After every read both count the same. At the end: **{{small:cached()}}** pages here, **{{large:cached()}}** there.
An ordinary user cannot tell them apart. Root can; this is what `host orders` shows of v6.16 (each page bears the order of its folio):

```
{{large:map{ to = last }}}
```
]],
			questions = {
				ask.number {
					id = "folios",
					unit = "folios",
					text = "How many folios are cached on **v6.16**{{last == 255 and large:cached() > 256 and ' (the map shows the first 256 of ' .. large:cached() .. ' pages; after that they go on in the same way)' or ''}}?",
					answer = function(s) return s.folios end,
					hints = {
						"A folio of order k has 2^k pages. Count the groups of the map.",
						{ text = "By order: {{(function() local t = {} for o = 0, 9 do if large:orders()[o] > 0 then t[#t + 1] = ('%d of order %d'):format(large:orders()[o], o) end end return table.concat(t, ', ') end)()}}.", cost = 2 },
					},
				},
				ask.number {
					id = "folios-old",
					unit = "folios",
					text = "And on **v6.12**?",
					answer = function(s) return folios(s.small) end,
					hints = { "Regular files on ext4 have large folios since v6.16 (7ac67301e82f)." },
				},
			},
			reveal = [[
{{folios}} folios against {{small:cached()}}: the same pages, with {{("%.0f"):format(small:cached() / folios)}} times fewer locks, look-ups and entries on the lists. The commit that did it changed nothing that a count can see.
]],
		},

		step {
			id = "tell",
			title = "Which kernel is this?",
			prepare = function(s)
				s.kernels = table.concat(KERNELS, ", ")
				s.kib = s.rng:int(64, 400) * 4
				s.rows = { "| kernel | cached after `read " .. s.kib .. "k` |", "|---|---|" }
				for _, k in ipairs(KERNELS) do
					local m = boot(k)
					m:play(("read %dk"):format(s.kib))
					s.rows[#s.rows + 1] = ("| %s | %d |"):format(k, m:cached())
				end
				s.rows = table.concat(s.rows, "\n")
				s.cap_old, s.cap_new = boot("v6.12"), boot("v6.18")
				s.cap_old:fadvise("willneed", 0, "16m")
				s.cap_new:fadvise("willneed", 0, "16m")
				s.cap_old:drain()
				s.cap_new:drain()
			end,
			brief = [[
Large folios hide from counts; readahead's decisions do not. Between {{kernels}} the rules changed several times: where the mark stands, how a large read continues, how a window grows, the cap of
`readahead()` and `WILLNEED`. So a *workload* can be a fingerprint. One read of {{kib}} KiB from a cold file:

{{rows}}

and `fadvise willneed 0 16m` brings in {{cap_old:cached()}} pages on v6.12 but {{cap_new:cached()}} on v6.18 (lab 04).
]],
			questions = {
				ask.workload {
					id = "tell",
					points = 10,
					max_ops = 200,
					text = "Write a workload that only reads (read, pread, seek, fd, reopen, fadvise, readahead, mmap, madvise, touch) on a cold file of 16 MiB, after which the number of cached pages is "
						.. "**different on each of {{kernels}}**. At least **{{kib // 4}}** pages must be cached on each of them.",
					check = function(s, w)
						local seen = {}
						for op in w:gmatch("[^;\n]+") do
							local word = op:match("^%s*([%a-]+)")
							if word and not READING[word] then
								return false, ("'%s' does more than read"):format(word)
							end
						end
						for _, k in ipairs(KERNELS) do
							local m = boot(k)
							m:play(w)
							m:drain()
							local n = m:cached()
							if n < s.kib // 4 then
								return false, ("%d pages on %s, expected at least %d"):format(n, k, s.kib // 4)
							end
							if seen[n] then
								return false, ("%d pages on %s and on %s"):format(n, seen[n], k)
							end
							seen[n] = k
						end
						return true
					end,
					hints = {
						"One operation tells some of them apart, another tells others. Put both into one workload, at places that do not touch: the counts add up.",
						{ text = "`read 1m` tells v6.1 from v6.12 from the rest; `readahead 8m 4m` tells v6.18 from the rest. Read more first if you need more pages.", cost = 3 },
					},
				},
			},
			reveal = [[
This is how a monitoring tool without rights could know what it runs on, and why a benchmark should print its kernel.
]],
		},

		step {
			id = "difference",
			title = "The first difference",
			prepare = function(s)
				local usable = {}
				for _, kib in ipairs(SIZES) do
					local d = first_difference(RECORDED[kib], counts("v6.12", kib))
					if d then
						usable[#usable + 1] = kib
					end
				end
				s.kib = s.rng:pick(usable)
				s.host, s.mini = recorded(s.kib), counts("v6.12", s.kib)
				s.first = first_difference(s.host, s.mini)
				s.pages = (s.first * s.kib + 3) // 4
				s.text = side_by_side(s.kib, s.host, s.mini)
				s.more = math.abs(s.host[READS] - s.mini[READS])
			end,
			brief = [[
`foliolab host diff` plays the same operations on the running kernel and on the miniature, with the profile that `uname -r` asks for, and the disk's real `read_ahead_kb` and largest request. Where they agree it says *identical*.
Here somebody told it the wrong kernel, `--kernel v6.12`, on the 6.18 machine. The two rows of counts, reads of {{kib}} KiB:

```
host       {{table.concat(host, " ")}}
miniature  {{table.concat(mini, " ")}}
```
]],
			questions = {
				ask.number {
					id = "where",
					predict = true,
					unit = "pages",
					text = "Find the first read after which the two differ. How many pages of the file has the program asked for by then (that read included)?",
					answer = function(s) return s.pages end,
					hints = { "Reads count from 1; n reads of {{kib}} KiB are {{kib}} n / 4 pages, rounded up." },
				},
				ask.func {
					id = "first",
					points = 4,
					text = "Write `first(host, mini)`: the number of the first operation after which two lists of counts differ, or `nil` if they are equal. They may differ in length: what is missing differs.",
					check = function(s, f)
						local tries = {
							{ s.host, s.mini }, { s.mini, s.host }, { s.host, s.host }, { { 1 }, { 1, 2 } }, { { 1, 2, 3 }, { 1, 2 } }, { {}, {} },
							{ { 5 }, { 6 } },
						}
						for _, kib in ipairs(SIZES) do
							tries[#tries + 1] = { RECORDED[kib], counts("v6.12", kib) }
						end
						for i, t in ipairs(tries) do
							local want, got = first_difference(t[1], t[2]), f(t[1], t[2])
							if got ~= want then
								return false, ("first({ %s }, { %s }) is %s, expected %s"):format(table.concat(t[1], ", "), table.concat(t[2], ", "),
									tostring(got), tostring(want))
							end
						end
						return true
					end,
					hints = { "`for i = 1, math.max(#host, #mini) do if host[i] ~= mini[i] then return i end end`" },
				},
			},
			run = function(s)
				print(s.text)
				print("the counts differ")
			end,
			reveal = [[
Only the *first* difference means something: what follows starts from different caches. With root the same command compares folio by folio, tracepoints included, and shows the window after the operation
that went another way.
]],
		},

		step {
			id = "yours",
			title = "Now your own",
			prepare = function(s)
				s.kib = s.rng:pick(SIZES)
				s.counts = table.concat(recorded(s.kib), " ")
			end,
			brief = [[
Nobody checks this step: no two machines are alike. Take a file of your own, of some MiB, on ext4 or xfs, that nobody else uses; it is only read.

1. `foliolab host orders FILE`. Is it cached? `cat FILE > /dev/null`, and again.
2. `cat /sys/block/*/queue/read_ahead_kb`. The recordings of this lab had 128. Does yours?
3. `foliolab host diff -e 'read {{kib}}k 16' --file FILE`. With `read_ahead_kb` 128 on 6.18 the counts, if you write the 16 reads one by one, are

```
{{counts}}
```

4. Your own `tell`: play it with `host diff -e '...' --file FILE` on a file of 16 MiB or more. Which of the four kernels does it take yours for?
5. With root, the same commands show folios instead of counts; `foliolab host trace --file FILE -o t.flt -- cat FILE` and `foliolab replay t.flt` show what your kernel did, step by step.

**If it says identical**, the miniature's rules are your kernel's, for this workload. **If not**, find out why before you blame either: is there a profile for your kernel (`foliolab kernels`)? Is the file on a file system with a
miniature? Does somebody else read it? Was it still being written? A distribution may also have taken a later commit back: `foliolab host diff --kernel P+COMMIT` tries that.
]],
			reveal = "What you have seen is a running kernel's page cache, with no more rights than anybody has.",
		},
	},
}
