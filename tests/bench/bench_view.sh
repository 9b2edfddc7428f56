#!/bin/bash
# bench/bench_view.sh - what is promised of recording and of the terminal view.
# Steps are strings.
# shellcheck disable=SC2016
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

test_expect_success 'recording, redrawing a million folios, stepping back, jumping, first screen' '
	export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state
	"$FL_BUILD/tests/bench/view_cost" "$FOLIOLAB_O2" >cost
	ok=0
	check_ratio "recording, ns an event" "$(sed -n "s/record_ns //p" cost)" le 15 || ok=1
	check_ratio "redraw of a million folios, ms" "$(sed -n "s/redraw_ms //p" cost)" le 16 || ok=1
	check_ratio "a step back, ms" "$(sed -n "s/back_ms //p" cost)" le 16 || ok=1
	check_ratio "a jump in ten million events, ms" "$(sed -n "s/jump_ms //p" cost)" le 100 || ok=1
	check_ratio "a step back after it, ms" "$(sed -n "s/far_back_ms //p" cost)" le 16 || ok=1
	check_ratio "memory of it, MB" "$(sed -n "s/memory_mb //p" cost)" le 1000 || ok=1
	check_ratio "first screen, ms" "$(sed -n "s/first_ms //p" cost)" le 150 || ok=1
	check_ratio "the lab menu, ms" "$(sed -n "s/menu_ms //p" cost)" le 150 || ok=1
	check_ratio "idle in lab 03, % of a core" "$(sed -n "s/idle_percent //p" cost)" le 1 || ok=1
	check_ratio "playing lab 03, % of a core" "$(sed -n "s/play_percent //p" cost)" le 25 || ok=1
	exit $ok
'

test_done
