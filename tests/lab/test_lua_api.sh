#!/bin/bash
# lab/test_lua_api.sh - Lua workloads: the documented API gives the numbers of `foliolab run`.
. "$(dirname "$0")/../lib.sh"

lua()
{
	cat >script.lua
	"$FOLIOLAB" run script.lua "$@"
}

test_expect_success 'fl.smallest: lists get shorter, numbers smaller, the reason is the last one' - <<'END'
lua >out <<'LUA'
local function big(l)
	for _, v in ipairs(l) do
		if v > 7 then return ("%d is big"):format(v) end
	end
end
local y, why = fl.smallest({ 5, 9, 30, 2 }, big)
print(#y, y[1], why)
y, why = fl.smallest({ at = -40, deep = { x = { 3, 3 } } }, function(t) return t.at < -10 and #t.deep.x > 0 end)
print(y.at, #y.deep.x, y.deep.x[1], why)
print(fl.smallest({ 1 }, big))
y = fl.smallest({ 1000 }, big, 1)
print(y[1])
LUA
printf '1\t8\t8 is big\n-11\t1\t0\ttrue\n' >want
sed -n 1,2p out | test_cmp want -
sed -n '3s/.*\t//p;4p' out | test_cmp <(printf 'nil\n1000\n') -
END

test_expect_success 'signals are those of run --format json, with and without early kill' - <<'END'
ops='mmap; touch 0; poison 0; touch 0; pwrite 8k 4k; poison 8k; touch 8k'
for early in false true; do
	set -- --fs tmpfs-always --size 1m --memory 256m
	[ $early = false ] || set -- "$@" --early-kill
	lua "$@" >out <<LUA
local m = fl.machine {}
assert(select("#", m:signals()) == 2 and #m:signals() == 0)
m:play("$ops")
local list, n = m:signals()
assert(n == #list and n == m:stats().memory_failure.nr_signals)
for _, s in ipairs(list) do
	print(s.op, s.off, s.code, s.lsb)
end
LUA
	"$FOLIOLAB" run -e "$ops" "$@" --format json |
		sed -n '/"signals"/,/]/s/^.*"\(op\|off\|code\|lsb\)":[^A-Za-z0-9]*\([a-zA-Z0-9_-]*\).*/\2/p' |
		paste - - - - >want
	test_cmp want out
	[ -s want ]
done
END

test_expect_success 'misses are calls of page_cache_sync_ra(); fl.ms prints milliseconds' - <<'END'
lua >out <<'LUA'
local m = fl.machine { size = "4m" }
assert(m:misses() == 0)
m:play("read 4k 8; pread 2m 4k")
assert(m:misses() == m:counters().page_cache_sync_ra and m:misses() == m:stats().windows.sync)
print(fl.ms(0), fl.ms(1234567), fl.ms(99999.0))
assert(not pcall(fl.ms, "x"))
LUA
printf '0.00\t1.23\t0.10\n' | test_cmp - out
END

test_expect_success '--trace records each machine as run records it, twins left out' - <<'END'
cat >two.lua <<'LUA'
fl.machine { kernel = "v6.12" }:play("read 4k 100")
local m = fl.machine { kernel = "v6.18" }
m:play("read 4k 100")
m:twin():play("read 4k 100")
fl.machine { kernel = "v6.7" }:play("pread 512k 64k")
LUA
"$FOLIOLAB" run two.lua --size 1m --trace t.flt --pack
rm -f w.flt
while read -r file kernel ops; do
	"$FOLIOLAB" run -e "$ops" --kernel "$kernel" --size 1m --trace w.flt >/dev/null
	"$FOLIOLAB" export w.flt --format csv >want
	"$FOLIOLAB" export "$file" --format csv | grep -v ,fl_op, >got
	grep -v ,fl_op, want | test_cmp - got
done <<LIST
t.flt v6.12 read 4k 100
t-2.flt v6.18 read 4k 100
t-3.flt v6.7 pread 512k 64k
LIST
[ ! -e t-4.flt ]
expect_exit 2 "$FOLIOLAB" struct --live inode t.flt 2>err
grep -q '^foliolab: t.flt: a recording of a Lua workload.*, expected one of FILE.wl' err
END

test_expect_success 'options that a Lua workload does not take are refused with the reason' - <<'END'
echo 'print(1)' >none.lua
refuse()
{
	local want=$1
	shift
	expect_exit 2 "$FOLIOLAB" run none.lua "$@" >out 2>err
	grep -q "^foliolab: none.lua: .*$want" err
	[ "$(wc -l <err)" = 1 ]
}
refuse 'boots no machine, expected one' --trace t.flt
refuse 'expected no --view and no --serve' --view tui
refuse 'expected no --view and no --serve' --serve socket
refuse 'expected no --trace-code' --trace t.flt --trace-code
refuse 'expected no --explore' --explore 3
refuse 'expected no --measure' --perf
END

test_expect_success 'operations, counters and stats agree with run --format json' - <<'END'
lua >out <<'LUA'
local m = fl.machine { kernel = "v6.12", size = "1m" }
assert(m:play("read 4k 64; pread 512k 64k") == 64 * 4096 + 65536)
local s = m:stats()
print(s.ios, s.pages.read, s.pages.wasted, s.folios_added[2], s.latency.p99, s.virtual_ns, s.locks.xa_lock)
assert(s.latency.p99 == m:latency(0.99))
assert(m:counters("mm_filemap_add_to_page_cache")[2] == s.folios_added[2])
LUA
"$FOLIOLAB" run -e 'read 4k 64; pread 512k 64k' --kernel v6.12 --size 1m --format json >json
for n in $(cat out); do grep -q "\b$n\b" json; done
END

test_expect_success 'perf says where the time went, and of which part of a run; the misses of a mapping' - <<'END'
lua >out <<'LUA'
local m = fl.machine { kernel = "v7.3", size = "16m" }
m:play("mmap; touch 4m; touch 8m")
assert(m:window().mmap_miss == 2)
m:play("madvise normal; munmap; pread 0 4m; mmap")
local before = m:perf()
m:play("touch 0 4k 1024")
local p, all = m:perf(before), m:perf()
assert(p.counts.PAGE_FAULT > 0 and p.counts.COPY_BYTE == 0 and all.counts.COPY_BYTE == 4 << 20)
assert(p.counts.PAGE_FAULT + before.counts.PAGE_FAULT == all.counts.PAGE_FAULT)
assert(all.functions.lruvec_stat_mod_folio and not all.functions.__lruvec_stat_mod_folio)
local sum = 0
for _, ns in pairs(p.functions) do
	sum = sum + ns
end
assert(math.abs(sum - p.ns) < 1 and p.ns < all.ns)
assert(not pcall(m.perf, m, {}) and not pcall(m.perf, m, { counts = { PAGE_FAULT = 1 << 40 } }))
print(p.counts.PAGE_FAULT)
LUA
END

test_expect_success 'every operation of the language is a method' - <<'END'
lua >out <<'LUA'
local m = fl.machine {}
for name in ("read pread seek fd reopen fadvise readahead mmap munmap madvise touch wtouch pwrite fsync ftruncate "
	.. "punch fallocate splice poison soft_offline unpoison defrag"):gmatch("[%w_]+") do
	assert(type(m[name]) == "function", name)
end
assert(m:read("8k", 2) == 16384 and m:seek(0) and m:fadvise("random", 0, 0) and m:splice(0, 4096) == 4096)
assert(not pcall(m.read, m, -1) and not pcall(m.read, m, 1.5) and not pcall(m.read, m) and not pcall(m.read, m, {}))
LUA
END

test_expect_success 'chattr and remount: orders as on real kernels, and part of a twin' - <<'END'
lua >out <<'LUA'
-- Spec 1.5: 64 KiB writes after each move, mounted nodelalloc, seen on Debian's kernels.
local seen = {
	["v6.12"] = { 0, 0, 0, 0, 0, 0 },
	["v6.16"] = { 4, 4, 4, 4, 0, 0 },
	["v6.18"] = { 4, 4, 4, 4, 0, 0 },
	["v7.3"] = { 4, 0, 4, 0, 0, 4 },
}
local function order(m, i)
	m:pwrite(i << 16, 64 << 10)
	return m:page(i * 16).folio.order
end
for kernel, want in pairs(seen) do
	local m = fl.machine { kernel = kernel, fs = "ext4", size = "0", mount_options = "nodelalloc" }
	for i, move in ipairs { "", "+j", "-j", "+j", "remount", "-j" } do
		if move == "remount" then
			assert(m:remount() and m:cached() == 0)
		elseif move ~= "" then
			assert(m:chattr(move))
		end
		local twin = m:twin()
		assert(order(m, i) == want[i], kernel .. " " .. i)
		assert(order(twin, i) == want[i], "twin " .. kernel .. " " .. i)
		assert(twin:cached() == m:cached())
	end
end
local m = fl.machine {}
local ok, why = m:chattr("+j")
assert(ok == nil and why == "EOPNOTSUPP")
ok, why = m:remount()
assert(ok == nil and why == "EOPNOTSUPP")
m = fl.machine { fs = "ext4" }
m:mmap()
ok, why = m:remount()
assert(ok == nil and why == "EBUSY")
m:play("munmap; read 4k")
assert(m:remount() and m:read(4096) == 4096 and m:page(0))
assert(not pcall(m.chattr, m, "+i") and not pcall(m.chattr, m))
assert(not pcall(fl.machine, { image = "x.img:y" }))
LUA
END

test_expect_success 'split_fails: a bad page stays in its large folio' - <<'END'
lua >out <<'LUA'
local function poisoned(fails)
	local m = fl.machine { kernel = "v6.12", fs = "tmpfs-always", size = "2m", split_fails = fails }
	m:pwrite(0, "2m")
	return m, m:poison(3 * 4096)
end
local m, ok, errno = poisoned(true)
assert(not ok and errno == "EHWPOISON" and m:orders()[9] == 1)
assert(m:pread(0, "64k") == 3 * 4096 and select(2, m:splice(0, "64k")) == "EIO")
m, ok = poisoned(false)
assert(ok and m:orders()[0] == 512 and m:splice(0, "64k") == 3 * 4096)
LUA
END

test_expect_success 'poison, soft_offline, unpoison: what they return' - <<'END'
lua >out <<'LUA'
local function answer(want, ok, errno)
	assert((ok or errno) == want, tostring(ok or errno) .. ", not " .. tostring(want))
end
for _, kernel in ipairs { "v6.1", "v6.12", "v6.18", "v7.3" } do
	local m = fl.machine { kernel = kernel, fs = "tmpfs-never", size = "1m", data = true, memory = "64m" }
	m:pwrite(0, "512k")
	answer(true, m:poison("8k"))
	answer("EFAULT", m:poison("8k"))
	answer("EINVAL", m:poison(100))
	answer("EINVAL", m:soft_offline(4097))
	answer("EFAULT", m:poison("1m"))
	answer("EFAULT", m:soft_offline("2m"))
	answer(8192, m:pread(0, "64k"))
	answer("EIO", m:pread("8k", 1))
	answer("EIO", m:pwrite("8k", 1))
	answer("EBUSY", m:unpoison("8k"))
	answer("EBUSY", m:unpoison("4k"))
	answer("ENXIO", m:unpoison("900k"))
	answer(true, m:punch("8k", "4k"))
	answer(true, m:unpoison("8k"))
	answer(65536, m:pread(0, "64k"))
	answer(true, m:soft_offline("16k"))
	answer(65536, m:pread(0, "64k"))
	answer(true, m:poison("900k"))
	answer("EIO", m:pread("900k", 1))
	local held = fl.machine { kernel = kernel, fs = "tmpfs-always", size = "2m", split_fails = true }
	held:pwrite(0, "2m")
	answer(kernel == "v6.1" and "EBUSY" or "EHWPOISON", held:poison("8k"))
	answer("EBUSY", held:soft_offline("16k"))
end
LUA
END

test_expect_success 'stop_before leaves the machine before the operation, a twin goes on alone' - <<'END'
lua >out <<'LUA'
local m = fl.machine { kernel = "v6.12", size = "4m" }
m:queue("read 4k 200")
local e = m:stop_before("fl_window", function(e) return e.start == 60 end)
assert(e.size == 32 and e.rule == "EXPECTED" and m:cached() == 60 and m:next_op() == "read 4k")
local t = m:twin()
t:step()
assert(t:cached() == 92 and m:cached() == 60 and m:left() == 200 - 28 and t:left() == m:left() - 1)
local orders = {}
for f in t:folios(60, 91) do orders[#orders + 1] = f.order end
assert(table.concat(orders, ",") == "2,4,3,2")
assert(m:wait_for("fl_window", { start = 92 }).start == 92)
assert(m:wait_for("fl_window", { start = 9999 }) == nil and m:left() == 0)
LUA
END

test_expect_success 'a policy that says what the kernel says changes nothing; others do' - <<'END'
lua >out <<'LUA'
local function play(policy)
	local m = fl.machine { kernel = "v6.12", size = "1m" }
	if policy then m:policy(policy) end
	m:read("4k", 256)
	return m:map {}, m
end
local calls = 0
local plain = play()
assert(plain == play { sync_ra = function() calls = calls + 1 end, async_ra = function() calls = calls + 1 end,
	order = function() calls = calls + 1 end })
assert(calls > 5)
local map, m = play { sync_ra = function(ra, req) return { size = 32, async_size = 32, order = 5 } end,
	async_ra = function(ra, req) return req.index + 32 < req.file_pages and { size = 32, async_size = 32, order = 5 } end }
assert(m:orders()[5] == 8 and m:cached() == 256, map)
map, m = play { sync_ra = function() return false end, async_ra = function() return false end }
assert(m:orders()[0] == 256)
for _, bad in ipairs { { size = 0 }, { size = 1 << 40 }, { size = 4, async_size = 5 }, { size = 4, start = 256 },
	{ size = 4, order = 10 }, { size = "x" }, {} } do
	local ok, err = pcall(play, { sync_ra = function() return bad end })
	assert(not ok and err:find("sync_ra: "), err)
end
local ok, err = pcall(function()
	local m = fl.machine {}
	m:policy { sync_ra = function() m:read("4k") end }
	m:read("4k")
end)
assert(not ok and err:find("not play on it"), err)
LUA
END

test_expect_success 'mistakes have file and line' '
	printf "print(1)\nprint(fl.machine{ kernle = 1 })\n" >bad.lua
	expect_exit 2 "$FOLIOLAB" run bad.lua >out 2>err
	test_grep "^foliolab: bad.lua:2: machine: unknown field .kernle.*did you mean .kernel" err
	printf "x = = 1\n" >bad.lua
	expect_exit 2 "$FOLIOLAB" run bad.lua 2>err
	test_grep "^foliolab: bad.lua:1: " err
	printf "fl.machine{ kernel = \"v6.13\" }" >bad.lua
	expect_exit 2 "$FOLIOLAB" run bad.lua 2>err
	test_grep "^foliolab: bad.lua:1: machine: .*v6.1" err
'

test_expect_success 'figures are saved as SVG, the same ones every time' '
	echo "figure(\"a\", plot.bars{ title = \"t\", values = { x = 1, y = 3 } })" >fig.lua
	"$FOLIOLAB" run fig.lua --figures one >out
	"$FOLIOLAB" run fig.lua --figures two >out2
	test_cmp out out2
	test_cmp one/a.svg two/a.svg
	test_grep "</svg>" one/a.svg
'

test_expect_success 'a twin has waited for the disk where its machine has' '
	cat > twin.lua <<-\EOF
	local m = fl.machine { disk = "nvme", size = "8m" }
	m:play("read 4k 192")
	local t = m:twin()
	assert(m:clock() == t:clock(), "the clocks differ")
	m:fadvise("dontneed", 0, 0)
	t:fadvise("dontneed", 0, 0)
	assert(m:cached() == t:cached(), "the caches differ")
	EOF
	"$FOLIOLAB" run twin.lua
'

test_expect_success 'the power goes out, the journal is replayed: what was fsynced is there; twins follow' - <<'END'
lua <<'LUA'
local m = fl.machine { fs = "ext4", size = 0, disk = "ram", data = true, memory = "64m", fs_size = "64m", journal = "4m", power_cut = true, record = true }
m:play("pwrite 0 64k; fsync; pwrite 64k 32k")
assert(m.size == 96 << 10 and m:bytes(64 << 10, 512) == fl.pattern(2, 64 << 10, 512))
-- One bio of data; then the log: its superblock, a descriptor, three blocks, the commit record.
local seen = {}
for e in m:events { name = "block_bio_queue" } do
	seen[#seen + 1] = (e.meta and "m" or "d") .. (e.flush and "F" or "") .. (e.fua and "U" or "") .. e.sectors
end
assert(seen[1] == "d128" and seen[2] == "mU8" and seen[#seen] == "mFU8", table.concat(seen, " "))
assert(m:disk_writes() == #seen and m:journal().transaction_max == 341 and m:journal().commits == 1)
local before = m:twin()
m:power_cut()
assert(m:power_is_out() and select(2, m:pwrite(0, 4096)) == "EIO" and m:play("pwrite 0 4k") == 0)
local r = m:replay()
assert(r.transactions == 1 and r.blocks == 3 and not m:power_is_out())
assert(m.size == 64 << 10 and m:cached() == 0 and m:bytes(0, "64k") == fl.pattern(1, 0, "64k"))
local after = m:twin()
assert(after.size == 64 << 10 and after:cached() == m:cached() and before.size == 96 << 10 and not before:power_is_out())
-- Six seconds later the time stamps' transaction is committed: with data=writeback the size, without the data.
for options, kept in pairs { ["data=ordered,nodelalloc"] = true, ["data=writeback,nodelalloc"] = false } do
	m = fl.machine { fs = "ext4", size = 0, disk = "ram", data = true, memory = "64m", fs_size = "64m", mount_options = options, power_cut = true }
	m:pwrite(0, "64k")
	m:sleep(6)
	assert(m:clock() > 6e9 and m:journal().commits == 1)
	m:power_cut()
	m = m:twin()
	m:replay()
	assert(m.size == 64 << 10 and (m:bytes(0, "64k") == fl.pattern(1, 0, "64k")) == kept)
end
-- With the first write of the disk: no transaction was whole.
m = fl.machine { fs = "ext4", size = 0, disk = "ram", data = true, memory = "64m", fs_size = "64m", power_cut = 1 }
m:play("pwrite 0 64k; fsync")
assert(m:power_is_out() and m:replay().transactions == 0 and m.size == 0)
for _, wrong in ipairs { function() m:replay() end, function() fl.machine {}:power_cut() end, function() fl.machine { power_cut = 1 } end,
	function() fl.machine { fs = "ext4" }:bytes(0, 1) end, function() m:bytes(0, "2m") end, function() fl.pattern(0, 0, 1) end } do
	local ok, why = pcall(wrong)
	assert(not ok and why:find("expected") or why:find("more than") or why:find("from 1"), why)
end
assert(fl.machine {}:journal() == nil)
LUA
END

test_expect_success 'handles, their credits and the kernel'"'"'s words' - <<'END'
lua <<'LUA'
-- 20 GB, 1K blocks, a journal of 1 MB, a block a group: before e2c4c49dee64 the credits run out.
local function famous(kernel)
	local m = fl.machine { kernel = kernel, fs = "ext4-1k", size = 0, fs_size = 20 << 30, journal = "1m", extent_blocks = 1, extent_gap = 8192, record = true }
	m:pwrite(0, "2m")
	return m, m:fsync()
end
local m, ok = famous("v6.16")
assert(not ok and m:journal().aborted and m:log():find("Aborting journal"))
assert(table.concat(m:stats().log, "\n") .. "\n" == m:log())
m, ok = famous("v6.18")
assert(ok and m:log() == "" and m:journal().extends > 100)
local e = m:events { name = "jbd2_handle_start", filter = { type = 2 } }()
assert(e.requested_blocks == 1 + 41 or e.requested_blocks == 41, e.text)
e = m:events { name = "ext4_ext_map_blocks_exit" }()
assert(e.lblk == 0 and e.wanted == 2048 and e.len == 1)
LUA
END

test_done
