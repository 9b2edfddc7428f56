#!/bin/bash
# cli/test_compare.sh - `foliolab compare` plays the same on every kernel and shows where they
# differ.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'two kernels side by side' '
	"$FOLIOLAB" compare -e "read 4k 4096" --fs xfs --size 16M --kernel v6.7 \
		--kernel ab4443fe3ca6 >out
	test_grep "^ +v6.7 +ab4443fe3ca6$" out
	test_grep "^  reads +4096 +4096$" out
	test_grep "^\* sync calls +3 +2$" out
	test_grep "^\* +2 : +20 \|\** *\| +263 \|\*+ *\|$" out
	test_grep "^\* +5 : +124 \|\*+ *\| +0 \| *\|$" out
	test_grep "^From v6.7 to ab4443fe3ca6:" out
	test_grep "^  \+MARK_ROUND_DOWN \(ab4443fe3ca6, v6.8\)" out
	same "$(grep -c "^  [+-]" out)" 1
	test_no_grep "$(printf "\033")" out
'

test_expect_success 'a kernel beside itself differs nowhere' '
	"$FOLIOLAB" compare -e "read 4k 64" --kernel v6.12 --kernel v6.12 >out
	test_no_grep "^\* .*[0-9]" out
	test_grep "^  nothing$" out
'

test_expect_success 'more than two, and knobs taken off' '
	"$FOLIOLAB" compare -e "read 4k 64" --kernel v6.1 --kernel v6.12-ORDER1 --kernel v6.18 \
		--kernel v7.3 >out
	same "$(grep -c "^From " out)" 3
	test_grep "^From v6.12-ORDER1 to v6.18:" out
	test_grep "^  \+ORDER1 " out
'

test_expect_success 'JSON: the objects of run' '
	"$FOLIOLAB" compare -e "read 4k 64" --kernel v6.1 --kernel v6.18 --format json >out
	same "$(grep -c "\"kernel\":" out)" 2
	for kernel in v6.1 v6.18; do
		"$FOLIOLAB" run -e "read 4k 64" --kernel $kernel --format json
	done | tr -d "\t\n" | sed "s/}{/}, {/" >want
	tr -d "\t\n" <out | sed "s/^{\"runs\":\[//; s/\]}$//" >got
	test_cmp want got
'

test_expect_success 'the same command twice gives the same bytes' '
	for format in text json; do
		for i in 1 2; do
			"$FOLIOLAB" compare -e "read 10000 300" --disk nvme --kernel v6.1 \
				--kernel v6.12 --kernel v7.3 --format $format >out.$i
		done
		test_cmp out.1 out.2
	done
'

test_expect_success 'the bytes are the same on all kernels' '
	seq 100000 >file
	"$FOLIOLAB" compare -e "read 5000 200" --file file --data --kernel v6.1 --kernel v6.7 \
		--kernel v6.18 --format json | grep sha256 | sort -u >out
	test_line_count 1 out
	test_grep "$(sha256sum <file | cut -d " " -f 1)" out
'

test_expect_success '--trace records every kernel, as run does' '
	mkdir out.d
	"$FOLIOLAB" compare -e "read 4k 300" --kernel v6.7 --kernel v6.18 --trace out.d/t.flt >/dev/null
	for k in v6.7 v6.18; do
		"$FOLIOLAB" run -e "read 4k 300" --kernel $k --trace alone.flt >/dev/null
		cmp alone.flt "out.d/t-$k.flt"
	done
	expect_exit 2 "$FOLIOLAB" compare -e "read 4k" --kernel v6.7 --kernel v6.18 --trace none/t 2>err
	test_grep "none/t-v6.7: No such file" err
'

test_done
