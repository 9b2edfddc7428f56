#!/bin/bash
# cli/test_recording.sh - run --trace, export and replay from the command line.
#
# Proves that the same command records the same bytes, that a recording is there completely or not
# at all, that ftrace text has the tracepoints of the recorded kernel only, and that damaged and
# wrong files are told apart.
# Steps are strings.
# shellcheck disable=SC2016,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

ops='read 4k 200; pread 8m 300k; pwrite 2m 40k; fsync'

test_expect_success 'the same command records the same bytes, packed or not' '
	"$FOLIOLAB" run -e "$ops" --trace a.flt >report
	"$FOLIOLAB" run -e "$ops" --trace b.flt >/dev/null
	test_cmp a.flt b.flt
	"$FOLIOLAB" run -e "$ops" >plain
	test_cmp plain report
	"$FOLIOLAB" run -e "$ops" --trace packed.flt --pack >/dev/null
	"$FOLIOLAB" export a.flt --format csv >a.csv
	"$FOLIOLAB" export packed.flt --format csv >packed.csv
	test_cmp a.csv packed.csv
	test "$(stat -c %s packed.flt)" -lt "$(stat -c %s a.flt)"
'

test_expect_success 'pieces of a long operation are one operation' '
	"$FOLIOLAB_O2" run -e "read 1 300000" --trace long.flt >/dev/null
	"$FOLIOLAB_O2" export long.flt --format csv | grep -c ",fl_op," >n
	test "$(cat n)" -eq 1
'

test_expect_success 'ftrace: header, and only what the kernel has' '
	"$FOLIOLAB" export a.flt >a.txt
	head -n 1 a.txt | grep -q "^# tracer: nop"
	test_grep "page_cache_ra_order: dev=259:0 ino=" a.txt
	test_no_grep "fl_" a.txt
	"$FOLIOLAB" run -e "$ops" --kernel v6.12 --trace old.flt >/dev/null
	"$FOLIOLAB" export old.flt >old.txt
	test_grep "mm_filemap_add_to_page_cache: dev 259:0 ino c pfn=0x" old.txt
	test_no_grep "page_cache_ra_order" old.txt
	"$FOLIOLAB" export old.flt --all | grep -q "fl_window"
'

test_expect_success 'a range; csv numbers are those of the file' '
	"$FOLIOLAB" export a.flt --format csv --from 10 --to 12 >range.csv
	test_line_count 4 range.csv
	sed -n "12,14p" a.csv >want
	tail -n 3 range.csv >got
	test_cmp want got
	expect_exit 2 "$FOLIOLAB" export a.flt --from 12 --to 10
'

test_expect_success 'svg: a picture of any moment' '
	"$FOLIOLAB" export a.flt --format svg --at 100 -o at.svg
	head -c 4 at.svg | grep -q "<svg"
	test_grep "FolioLab" at.svg
	"$FOLIOLAB" export a.flt --format svg --theme light >light.svg
	test_grep "#ffffff" light.svg
	expect_exit 2 "$FOLIOLAB" export a.flt --format svg --theme lihgt 2>err
	test_grep "light" err
'

test_expect_success 'cut and damaged files open up to a whole block and say so' '
	"$FOLIOLAB_O2" run -e "read 4k 4000" --trace big.flt >/dev/null
	size=$(stat -c %s big.flt)
	head -c $((size * 2 / 3)) big.flt >cut.flt
	"$FOLIOLAB" export cut.flt --format csv >cut.csv 2>err
	test_grep "cut off after event [1-9]" err
	test "$(wc -l <cut.csv)" -gt 1000
	"$FOLIOLAB" export big.flt --format csv | head -n "$(wc -l <cut.csv)" >want
	test_cmp want cut.csv
'

test_expect_success 'no recording, no file, no name' '
	expect_exit 2 "$FOLIOLAB" export report 2>err
	test_grep "report: no recording, expected" err
	expect_exit 2 "$FOLIOLAB" export nowhere.flt 2>err
	test_grep "nowhere.flt: No such file" err
	expect_exit 2 "$FOLIOLAB" export 2>err
	test_grep "no recording" err
	expect_exit 2 "$FOLIOLAB" export a.flt --format ftrase 2>err
	test_grep "ftrace" err
	expect_exit 2 "$FOLIOLAB" replay a.flt --from x 2>err
	test_grep "number of an event" err
'

test_expect_success 'a run that fails leaves no recording' '
	expect_exit 2 "$FOLIOLAB" run -e "poison 0; read 4k" --fs nonesuch --trace no.flt
	test ! -e no.flt
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" --trace missing/no.flt 2>err
	test_grep "missing/no.flt" err
	expect_exit 2 "$FOLIOLAB" compare -e "read 4k" --kernel v6.7 --kernel v6.12 \
		--trace missing/no.flt 2>err
	test ! -e missing
	echo "print(1)" >w.lua
	expect_exit 2 "$FOLIOLAB" run w.lua --trace no.flt 2>err
	expect_exit 2 "$FOLIOLAB" run w.lua --view tui 2>err
	test ! -e no.flt
'

test_done
