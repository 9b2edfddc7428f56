#!/usr/bin/env bash
# Traces of real kernels as recordings. traces/linux-6.18.ftrace.txt is what a 6.18 kernel printed
# while a program read a file of 64 pages three ways, wrote to it and synced. Proves that every event
# of the file is kept with its numbers (counted here by awk), that dialects of the text are understood,
# that what is left out is told, and that damaged and hostile text is refused by file and line.
. "$(dirname "$0")/../lib.sh"

cp "$TESTDATA/host/traces/linux-6.18.ftrace.txt" real.txt

import() { "$FOLIOLAB" import "$@"; }
csv() { "$FOLIOLAB" export "$1" --format csv; }

# folios TEXT, folios_of RECORDING: "+ index order" and "- index order" in order.
folios() {
	awk '/mm_filemap_(add|delete)/ { match($0, /ofs=[0-9]+/); ofs = substr($0, RSTART + 4, RLENGTH - 4)
		match($0, /order=[0-9]+/); order = substr($0, RSTART + 6, RLENGTH - 6)
		print (/_add_/ ? "+" : "-"), ofs / 4096, order }' "$1"
}
folios_of() {
	csv "$1" | awk -F, '$4 ~ /mm_filemap_(add|delete)/ { print ($4 ~ /_add_/ ? "+" : "-"), $6, $7 }'
}

test_expect_success 'every event of the file is kept, with its numbers' '
	import real.txt -o real.flt 2>told
	test_grep "^[0-9]+ events of --ino 1066219 --dev 254:0, kernel 6.18.44" told
	want=$(grep -c -e "ino[= ]1044eb" -e "ino[= ]1066219" -e ": block_" real.txt)
	test_grep "^$want events" told
	folios real.txt >want
	folios_of real.flt >got
	test_cmp want got
'

test_expect_success 'exported again it is the text of the kernel' '
	"$FOLIOLAB" export real.flt >again.txt
	strip() { sed -n "s/^.*[0-9]: \([a-z0-9_]*: .*\)/\1/p" "$1" |
		sed "s/ RA / R /; s/ WS / W /; s/ WSM / W /; s/ FWS / W /; s/ FF / R /; s/be,0,4/none,0,0/; s/\[[^]]*\]$//"; }
	strip real.txt >want
	strip again.txt >got
	test_cmp want got
'

test_expect_success 'times count from the first event, to the microsecond' '
	first=$(sed -n "s/.* \([0-9]*\.[0-9]*\): mm_filemap.*/\1/p" real.txt | head -n 1)
	last=$(sed -n "s/.* \([0-9]*\.[0-9]*\): block_rq.*/\1/p" real.txt | tail -n 1)
	csv real.flt | sed 1d | sed -n "1p;\$p" | cut -d, -f2 >got
	awk -v a="$first" -v b="$last" "BEGIN { print 0; printf \"%.0f\n\", (b - a) * 1e6 * 1000 }" >want
	test_cmp want got
'

test_expect_success 'why a page was cached comes from the event before it' '
	csv real.flt | awk -F, "\$4 ~ /_add_/ { print \$6, \$9 }" >got
	test_grep "^0 1$" got    # the first read missed
	test_grep "^4 2$" got    # the second met the mark
	test_grep "^48 6$" got   # a fault
'

test_expect_success 'the view shows it: pages used, the window, where it comes from' '
	"$FOLIOLAB" export real.flt --format svg -o end.svg
	test_grep "6.18.44" end.svg
	test_grep "imported,.a.real.kernel" end.svg
'

test_expect_success 'trace-cmd report: no flags, padded names, its own first lines; nanoseconds' '
	{ echo "cpus=2"
	  sed -n "/^ /s/ [.d][^ ]* \( *[0-9]*\.\)/ \1/p" real.txt |
		sed "s/\([0-9]\{6\}\): /\1000: /; s/: mm_filemap_fault: /: mm_filemap_fault:     /"; } >report.txt
	import report.txt -o report.flt --kernel 6.18.44 2>told
	csv real.flt >want
	csv report.flt >got
	test_cmp want got
'

test_expect_success 'formats of older kernels' '
	cat >old.txt <<-END
	  cat-7 [000] .... 1.000001: mm_filemap_add_to_page_cache: dev 8:1 ino 80a3 page=00000000c8a8e8a5 pfn=1198327 ofs=4096
	  cat-7 [000] .... 1.000002: mm_filemap_add_to_page_cache: dev 8:1 ino 80a3 page=00000000c8a8e8a5 pfn=0x1248f7 ofs=16384 order=2
	  cat-7 [000] .... 1.000003: block_rq_issue: 8,0 RA 16384 () 34087936 + 32 [cat]
	  cat-7 [000] .... 1.000004: ext4_da_write_begin: dev 8,1 ino 32931 pos 40 len 90 flags 0
	END
	import old.txt -o old.flt 2>told
	test_grep "^3 events of --ino 32931 --dev 8:1, kernel unknown" told
	test_grep " 1  events of other files and devices" told
	csv old.flt | cut -d, -f4,6,7,8 >got
	cat >want <<-END
	event,index,order,a
	mm_filemap_add_to_page_cache,1,0,1198327
	mm_filemap_add_to_page_cache,4,2,1198327
	ext4_da_write_begin,40,0,90
	END
	test_cmp want got
	import old.txt -o old.flt --disk 8:0 2>told
	test_grep "^4 events" told
'

test_expect_success 'several files: the one with the most events, or the one that is named' '
	sed "s/ino 1044eb/ino 77/; s/ino=1044eb/ino=77/" real.txt | grep mm_filemap_fault >two.txt
	cat real.txt >>two.txt
	import two.txt -o two.flt 2>told
	test_grep "events of --ino 1066219" told
	test_grep "about 2 files" told
	test_grep " 1  --ino 119 --dev 254:0" told
	import two.txt --ino 0x77 -o two.flt 2>told
	test_grep "events of --ino 119 --dev 254:0" told
	expect_exit 2 "$FOLIOLAB" import two.txt --ino 5 -o none.flt 2>err
	test_grep "^foliolab: --ino: no event in two.txt is about that file, expected one of its 2" err
	expect_exit 2 "$FOLIOLAB" import two.txt --dev 8:1 -o none.flt 2>err
	test_grep "^foliolab: --dev: " err
	test ! -e none.flt
'

test_expect_success 'unknown and lost events are counted and told' '
	{ cat real.txt
	  echo "  sh-9 [001] d..2. 12005.600000: sched_switch: prev_comm=sh prev_pid=9"
	  echo "  sh-9 [001] d..2. 12005.600001: sched_switch: prev_comm=sh prev_pid=9"
	  echo "CPU:1 [LOST 23 EVENTS]"
	  echo "  sh-9 [001] d..2. 12005.600002: mm_lru_insertion: folio=0 pfn=0x1 lru=2 flags=   "; } >more.txt
	import more.txt -o more.flt 2>told
	test_grep "^ +2  events that FolioLab does not know" told
	test_grep "^ +2  sched_switch" told
	test_grep "^ +23  events the kernel lost" told
	test_grep "^ +1  events in a form" told
'

# refused LINE PATTERN: bad.txt is refused there, in one line.
refused() {
	expect_exit 2 "$FOLIOLAB" import bad.txt -o bad.flt 2>err
	test_grep "^foliolab: bad.txt:$1: .*$2" err
	test_line_count 1 err
	test ! -e bad.flt
}

test_expect_success 'damaged text: file and line' '
	head -c 3000 real.txt >bad.txt
	refused 23 "expected .dev {dev}"
	import bad.txt -o cut.flt --skip-damaged 2>told
	test_grep " 1  events in a form" told
	sed "5s/order=0/order=99/" real.txt >bad.txt
	refused 5 "order=99"
	sed "6s/ofs=[0-9]*/ofs=99999999999999999/" real.txt >bad.txt
	refused 6 "ofs=9"
	sed "7s/1044eb/10zz/" real.txt >bad.txt
	refused 7 "10zz"
	{ cat real.txt; printf "a\000b\n"; } >bad.txt
	refused "$(($(wc -l <real.txt) + 1))" "byte 0x00"
	{ cat real.txt; head -c 5000 /dev/zero | tr "\000" x; } >bad.txt
	refused "$(($(wc -l <real.txt) + 1))" "more than 4095 bytes"
	printf "\027\010Dtracing6" >bad.txt
	refused 1 "trace-cmd report bad.txt"
	echo "nothing to see" >bad.txt
	refused 1 "no event that names a file"
	: >bad.txt
	expect_exit 2 "$FOLIOLAB" import bad.txt -o bad.flt 2>err
	test_grep "^foliolab: bad.txt: " err
	expect_exit 2 "$FOLIOLAB" import gone.txt -o bad.flt 2>err
	test_grep "^foliolab: gone.txt: No such file" err
'

test_expect_success 'bad options' '
	for option in "--ino 0" "--ino x" "--dev 8" "--dev 8:1:2" "--disk 9999:1" "--page-size 5k"; do
		expect_exit 2 "$FOLIOLAB" import real.txt -o x.flt $option 2>err
		test_grep "^foliolab: ${option%% *}: .*expected" err
	done
	expect_exit 2 "$FOLIOLAB" import real.txt real.txt -o x.flt 2>err
	expect_exit 2 "$FOLIOLAB" import -o x.flt 2>err
	test_grep "expected the text of one" err
'

test_expect_success 'standard input, also a pipe' '
	cat real.txt | import - -o - >piped.flt 2>told
	csv real.flt >want
	csv piped.flt >got
	test_cmp want got
'

# Bytes are replaced, dropped and doubled by a generator of awk; the result is read or refused.
test_expect_success 'hostile text: 60 mutations are read or refused, nothing else' '
	for seed in $(seq 60); do
		awk -v seed="$seed" "BEGIN { srand(seed); FS = \"\" }
		{ line = \$0
		  if (rand() < 0.1) { at = int(rand() * length(line)) + 1; c = sprintf(\"%c\", 32 + int(rand() * 95))
			line = substr(line, 1, at - 1) c substr(line, at + 1 + int(rand() * 3)) }
		  if (rand() < 0.05) gsub(/[0-9]/, int(rand() * 10), line)
		  if (rand() < 0.03) line = line line
		  print line }" real.txt >m.txt
		rc=0
		import m.txt --skip-damaged -o m.flt 2>err || rc=$?
		[ "$rc" = 0 ] || [ "$rc" = 2 ]
		[ "$rc" = 2 ] || "$FOLIOLAB" export m.flt --format svg -o m.svg 2>>err
		test_no_grep "AddressSanitizer|runtime error" err
	done
'

test_expect_success 'a miniature, exported and imported, has the same folios' '
	"$FOLIOLAB" run -e "read 4k 300; pread 3m 64k; fadvise dontneed 0 1m; mmap; touch 5m" --fs ext4 \
		--kernel v6.18 --trace mini.flt >/dev/null
	"$FOLIOLAB" export mini.flt >mini.txt
	import mini.txt -o back.flt 2>told
	"$FOLIOLAB" export back.flt | sed -n "s/^.*[0-9]: \([a-z0-9_]*: .*\)/\1/p" >got
	sed -n "s/^.*[0-9]: \([a-z0-9_]*: .*\)/\1/p" mini.txt | grep -v "^mm_lru\|^mm_vmscan" >want
	test_cmp want got
'

test_done
