#!/bin/bash
# soak/soak_debuginfo.sh - ten minutes of damaged debug information; see debuginfo/test_fuzz.c.
. "$(dirname "$0")/../lib.sh"

test_expect_success 'ten minutes of damaged ELF, DWARF and BTF: an answer or one line, never a crash' '
	FL_FUZZ_SECONDS=${FL_FUZZ_SECONDS:-600} "$FL_BUILD/asan/tests/debuginfo/test_fuzz" >out 2>&1 ||
		{ tail -n 40 out; exit 1; }
	note "$(grep -o "[0-9]* files: .*" out | tail -n 1)"
'

test_done
