#!/bin/bash
# cli/test_bench.sh - `foliolab bench dd` is the published table, call by call.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'both columns of the mail and the count on a real 6.18' '
	"$FOLIOLAB_O2" bench dd >out
	while read -r line; do
		grep -qE "^ +$line +\|" out || {
			echo "missing: $line" >&4
			exit 1
		}
	done <<-END
		order 0 : +57 +21 +36  agrees
		order 2 : +20 +0 +20  agrees
		order 5 : +98300 +0 +98300  agrees
		order 0 : +21 +21 +0  agrees
		order 2 : +196615 +0 +196615  agrees
		order 3 : +98303 +0 +98303  agrees
		order 4 : +98303 +0 +98303  agrees
		order 5 : +98302 +0 +98302  agrees
	END
	test_no_grep "DIFFERS|MISS" out
	test_grep "dee823ca-7100-4289-8670-95047463c09d@intel.com" out
	tail -n 1 out | test_grep "^All 18 checks hold. .*agree" -
	same "$(awk "length > 100" out)" ""
'

test_expect_success 'JSON: rows and checks, all of them ok' '
	"$FOLIOLAB_O2" bench dd --format json >out
	test_grep "\"name\":.\"v6.7, order 0\"" out
	same "$(grep -c "\"published\":" out)" 18
	same "$(grep -c "\"ok\":.true" out)" 18
	test_no_grep "\"ok\":.false" out
'

test_expect_success 'the same bytes every time' '
	"$FOLIOLAB_O2" bench dd >a
	"$FOLIOLAB_O2" bench dd -o b
	test_cmp a b
'

test_expect_success 'mmap: reads fall with the order, stores rise, the account of the perf diff' '
	"$FOLIOLAB_O2" bench mmap >out
	test_grep "^  store, order 1 : +103500 +1[0-9]{5}  \|" out
	test_grep "__lruvec_stat_mod_folio at \+4.34 % with an empty Baseline" out
	test_grep "calls 524288 and 262144:" out
	test_grep "expected more than 49$" out
	test_grep "expected less than 198$" out
	test_no_grep "MISS" out
	tail -n 1 out | test_grep "^All 54 checks hold\." -
	same "$(awk "length > 100" out)" ""
'

test_expect_success 'mmap: JSON' '
	"$FOLIOLAB_O2" bench mmap --format json >out
	same "$(grep -c "\"ok\":.true" out)" 54
	test_no_grep "\"ok\":.false" out
'

test_expect_success 'mmap --measure walks real mappings' '
	"$FOLIOLAB_O2" bench mmap --measure >out
	test_grep "^This host, 256 MiB in TMPDIR" out
	same "$(grep -cE "^ +[0-9]+k +[0-9]+\.[0-9] +[0-9]+\.[0-9]$" out)" 10
	bad "nothing to measure" bench dd --measure
'

test_expect_success 'tmpfs: turns of the read loop by stage, 10.0 and 12.0 GiB/s at 64k' '
	"$FOLIOLAB_O2" bench tmpfs >out
	test_grep "64k before, tenths of a GiB/s: 100, expected 100" out
	test_grep "64k as merged, tenths of a GiB/s: 120, expected 120" out
	test_grep "^ +o9 64k : +16384 +16384 " out
	test_no_grep "MISS" out
	test_grep "^Fitted, not foretold" out
	tail -n 1 out | test_grep "^All 99 checks hold\." -
	"$FOLIOLAB_O2" bench tmpfs --format json >out
	same "$(grep -c "\"ok\":.true" out)" 99
'

test_expect_success 'vm-scalability: lru_lock four times as often, a tenth to a third of the throughput' '
	"$FOLIOLAB_O2" bench vm-scalability >out
	test_no_grep "MISS" out
	tail -n 1 out | test_grep "^All 7 checks hold\." -
	test_grep "^ +folios/GiB : +32770 +3[23][0-9]{3} " out
	test_grep "^ +56 readers : +786 +[678][0-9]{2} " out
	same "$(awk "length > 100" out)" ""
'

test_expect_success 'fio-ext4: gains are ranked as the published ones' '
	expect_exit 1 "$FOLIOLAB_O2" bench fio-ext4 >out
	test_grep "ok   Spearman.s rank correlation of the percentages" out
	test_grep "ok   largest change of a 4K append" out
	test_grep "^  All of them are writes of 4K while the flusher runs" out
	same "$(awk "length > 130" out)" ""
	# Rows of 4K whose published gains the published counts do not explain either.
	grep "^Another sign:" out | grep -Ev "write [a-z]+ [-O]-W 4K, base.LF: .*, ours .0$" >others || true
	test_line_count 0 others
	"$FOLIOLAB_O2" bench fio-ext4 --format json >json || test $? -eq 1
	test "$(grep -o "\"measure\"" json | wc -l)" -eq 117
	test "$(sed -n "s/^Weights chosen by looking at this table://p" out | wc -w)" -le 7
'

test_expect_success 'fio-ext4 --measure moves real bytes through the three stacks' '
	expect_exit 1 "$FOLIOLAB_O2" bench fio-ext4 --measure >out
	sed -n "/^This host: 32 MiB/,\$p" out >host
	for row in "cached read" "write cache ---" "write cache O--"; do
		same "$(grep -cE "^$row +(4K|64K|1M)( +[0-9]+\.[0-9]+){2}( +([-+][0-9]+|-) +[-+][0-9]+){2}$" host)" 3
	done
	# Beside the writes stands what was published, beside the reads nothing.
	test_grep "^write cache --- +64K .* \+77 .* \+144 " host
	test_grep "^write cache O-- +1M .* \+82 .* \+137 " host
	expect_exit 2 "$FOLIOLAB_O2" bench fio-ext4 --measure --format json 2>err
	test_grep "nothing to measure" err
'

test_done
