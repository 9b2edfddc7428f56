#!/bin/bash
# cli/test_kernels.sh - `foliolab kernels` lists what --kernel takes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'every profile of DESIGN.md, and every one can be played' '
	"$FOLIOLAB" kernels >out
	for kernel in v6.1 v6.1.y v6.7 ab4443fe3ca6 v6.12 v6.12.y v6.16 v6.16.y v6.17 v6.17.y \
		v6.18 v7.3; do
		grep -q "^$kernel  *[^ ]" out
		"$FOLIOLAB" run -e "read 4k" --kernel $kernel >run.out
		test_grep "^Linux $kernel: " run.out
	done
	test_line_count 12 out
'

test_expect_success '--knobs: commits, versions, the matrix' '
	"$FOLIOLAB" kernels --knobs >out
	test_grep "^MARK_ROUND_DOWN  ab4443fe3ca6, v6.8$" out
	test_grep "^MARK_ROUND_DOWN +- +y +- +y +y +y +y +y +y +y +y +y$" out
	test_grep "^CURSOR_DRIFT +y +y +y +y +y +y +y +y +y +y +y +y$" out
	test_grep "^NO_EOF_MARK +- +- +- +- +- +- +- +- +- +- +- +y$" out
	same "$(awk "length > 120" out)" ""
'

test_expect_success 'every knob can be toggled by name, and by commit where it has one' '
	"$FOLIOLAB" kernels --knobs | sed -n "/^[A-Z]/p" | sed "/ [y-] /d" >knobs
	[ "$(wc -l <knobs)" -ge 35 ]
	while read -r name commit since; do
		"$FOLIOLAB" run -e "read 4k" --kernel "v7.3+$name" >out
		case $since in
		v*) "$FOLIOLAB" run -e "read 4k" --kernel "v7.3+${commit%,}" >out ;;
		esac
	done <knobs
'

test_expect_success 'JSON' '
	"$FOLIOLAB" kernels --format json >out
	same "$(grep -c "\"base\":" out)" 12
	test_no_grep "\"commit\":" out
	"$FOLIOLAB" kernels --knobs --format json >out
	test_grep "\"commit\":.*\"ab4443fe3ca6\"" out
'

test_done
