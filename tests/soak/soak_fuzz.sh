#!/bin/bash
# soak/soak_fuzz.sh - ten minutes of libFuzzer on every reader of input; see tests/fuzz/fuzz.h.
. "$(dirname "$0")/../lib.sh"

for target in $("$FL_ROOT/scripts/fuzz" --list); do
	rc=0
	BUILD=$FL_BUILD FL_FUZZ_SECONDS=${FL_FUZZ_SECONDS:-600} "$FL_ROOT/scripts/fuzz" \
		"$target" >"out.$target" 2>&1 || rc=$?
	if [ "$rc" -eq 77 ]; then
		test_skip "$target: nothing is found" "$(tail -n 1 "out.$target")"
		continue
	fi
	test_expect_success "$target: nothing is found" "
		cat 'out.$target'
		note \"\$(tail -n 1 'out.$target')\"
		[ $rc -eq 0 ]
	"
done
test_done
