#!/bin/bash
# bench/bench_gui.sh - frames of the window at 1920x1080 on the software renderer: half of them within
# a 60th of a second; the slowest hundredth is told.
# Steps are strings.
# shellcheck disable=SC2016
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

[ -x "$FL_BUILD/tests/bench/gui_cost" ] || skip_all 'built without a window (NO_GUI=1)'

test_expect_success 'a frame with a thousand to a million folios keeps to 60 a second' '
	"$FL_BUILD/tests/bench/gui_cost" >cost
	ok=0
	for folios in 1000 10000 100000 1000000; do
		check_ratio "frame, $folios folios, ms, median" \
			"$(sed -n "s/median_$folios //p" cost)" le 16.7 || ok=1
		note "frame, $folios folios, ms, 99 %: $(sed -n "s/p99_$folios //p" cost)"
	done
	exit $ok
'

test_done
