#!/bin/bash
# soak/soak_no_gui.sh - built without a window: nothing of SDL is linked, everything else works, and
# --view gui says what is missing.
# Steps are strings.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

program=build/foliolab

test_expect_success 'make NO_GUI=1 links no SDL' "
	make -s -C '$FL_ROOT' BUILD=\"\$PWD/build\" NO_GUI=1 all
	ldd $program >libraries
	test_no_grep SDL libraries
"

test_expect_success 'all recorded runs are identical, pictures are drawn' "
	$program golden '$TESTDATA'/golden/*.public.txt.xz >golden
	test_grep 'runs identical, 0 skipped' golden
	$program run -e 'read 4k 60' --trace t.flt >report
	for format in png svg html perfetto; do
		$program export t.flt --format \$format -o t.\$format
	done
"

test_expect_success '--view gui says what is missing' "
	expect_exit 2 $program run -e 'read 4k' --view gui >out 2>errors
	test ! -s out
	test_grep 'built without SDL' errors
	test_line_count 1 errors
"

test_done
