#!/bin/bash
# bench/bench_tmpfs.sh - the read loop of tmpfs with real bytes and locked instructions: from
# folios of order 9 a folio a turn beats a page a turn at 64 KiB and costs nothing at 4 KiB.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# figure ORDER BS WHO COLUMN: of the table of --measure
figure()
{
	awk -v order="$1" -v bs="$2" -v who="$3" -v column="$4" \
		'$1 == order && $2 == bs && $3 == who {print $column}' out
}

test_expect_success 'the table' '
	"$FOLIOLAB_O2" bench tmpfs --measure >out
	sed -n "/^This host/,/^Order/p" out | while read -r line; do note "$line"; done
'

test_expect_success '64 KiB: merged / before' '
	check_ratio "64 KiB from order 9, merged / before" "$(figure 9 64k merged 5)" ge 1.10
'

test_expect_success '4 KiB: merged / before' '
	check_ratio "4 KiB from order 9, merged / before" "$(figure 9 4k merged 5)" ge 0.97
	check_ratio "4 KiB from order 9, merged / before" "$(figure 9 4k merged 5)" le 1.03
'

test_expect_success '64 KiB: merged / memcpy of the same pieces' '
	check_ratio "64 KiB from order 9, merged / memcpy" "$(figure 9 64k merged 6)" ge 0.90
'

test_expect_success 'every row and check is there, whatever the figures are' '
	rate="( +[0-9]+\.[0-9]+){3}"
	test "$(grep -cE "^ +(9|0) +(4k|64k|1m) +(before|v1|merged)$rate( +[0-9]+){2}$" out)" = 18
	test "$(grep -cE "^ +(9|0) +(4k|64k|1m) +(memcpy|read\(2\))$rate( +-){2}$" out)" = 12
	test "$(grep -cE "expected (at least [0-9.]+|[0-9.]+ to [0-9.]+)  (holds|MISS)$" out)" = 3
'

test_expect_success 'lookups and copies stand beside: a page a turn, or a folio' '
	test "$(figure 9 64k before 7)" = 262144
	test "$(figure 9 64k merged 7)" = 16384
	test "$(figure 9 64k merged 8)" = 16384
	test "$(figure 0 64k merged 8)" = 262144
'

test_done
