#!/bin/bash
# bench/bench_copy.sh - data on, everything cached: reads of 64 KiB and more reach 0.95 of what
# memcpy() moves, same pieces, same source, same destination.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

copy=$FL_BUILD/tests/bench/copy

for piece in 65536 131072 1048576; do
	test_expect_success "cached reads of $((piece / 1024)) KiB" '
		read -r ours theirs ratio < <("$copy" $piece 401)
		note "reads $ours MB/s, memcpy $theirs MB/s (medians of 401)"
		check_ratio "reads of $((piece / 1024)) KiB / memcpy" "$ratio" ge 0.95
	'
done

test_done
