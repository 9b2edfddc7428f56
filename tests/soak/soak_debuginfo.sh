#!/bin/bash
# soak/soak_debuginfo.sh - ten minutes of damaged debug information (debuginfo/test_fuzz.c), and the
# layouts of all structs of the program, built in every way, beside pahole's.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/debuginfo/layouts.sh
. "$(dirname "$0")/../debuginfo/layouts.sh"

test_expect_success 'ten minutes of damaged ELF, DWARF and BTF: an answer or one line, never a crash' '
	FL_FUZZ_SECONDS=${FL_FUZZ_SECONDS:-600} "$FL_BUILD/asan/tests/debuginfo/test_fuzz" >out 2>&1 ||
		{ tail -n 40 out; exit 1; }
	note "$(grep -o "[0-9]* files: .*" out | tail -n 1)"
'

for cc in gcc clang; do
	for version in 4 5; do
		for level in 0 2; do
			title="the program, $cc -O$level -gdwarf-$version"
			if ! have pahole $cc; then
				test_skip "$title" "no pahole or $cc here"
				continue
			fi
			test_expect_success "$title" "
				make -s -C '$FL_ROOT' BUILD=\"\$PWD/build\" CC=$cc WERROR= \
					CFLAGS='-O$level -g' DEBUG_CFLAGS=-gdwarf-$version all
				same_layouts build/foliolab 300
				rm -rf build
			"
		done
	done
done

test_done
