#!/bin/bash
# bench/bench_trace.sh - an event that is recorded into the ring costs less than 15 ns, one that is
# only counted less than 5.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

test_expect_success 'counting and recording' '
	read -r counted recorded < <("$FL_BUILD/tests/bench/events" 51)
	check_ratio "counting an event, ns" "$counted" le 5
	check_ratio "recording an event, ns" "$recorded" le 15
'

test_done
