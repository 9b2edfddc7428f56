#!/bin/bash
# debuginfo/test_layouts.sh - struct layouts are those that pahole reads, whoever compiled.
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/debuginfo/layouts.sh
. "$(dirname "$0")/layouts.sh"

have pahole || skip_all "no pahole here (Debian package dwarves)"

here=$(cd "$(dirname "$0")" && pwd)

# Every header of the engine, and what is hard.
for dir in lib trace machine block mm fs debuginfo; do
	find "$FL_ROOT/engine/$dir" -name '*.h'
done | sed 's/.*/#include "&"/' >headers.c
printf '#include "%s/odd.c"\n' "$here" >>headers.c

test_expect_success 'this program, with optimisation' '
	same_layouts "$FOLIOLAB_O2" 300
'

test_expect_success 'this program, with sanitizers' '
	same_layouts "$FOLIOLAB" 300
'

for cc in gcc clang; do
	for version in 4 5; do
		for level in 0 2; do
			title="the headers, $cc -O$level -gdwarf-$version"
			if ! have $cc; then
				test_skip "$title" "no $cc here"
				continue
			fi
			test_expect_success "$title" "
				$cc -std=gnu11 -D_GNU_SOURCE -O$level -g -gdwarf-$version \
					-fno-eliminate-unused-debug-types -I'$FL_ROOT/engine' \
					-I'$FL_ROOT/assets' -w -c -o headers.o headers.c
				same_layouts headers.o 150
			"
		done
	done
done

test_expect_success 'a linked program, packed debug information' '
	gcc -g -gz -o odd "$here/odd.c"
	readelf -SW odd | grep -q "debug_info.* C "
	same_layouts odd 6
'

if objcopy=$(command -v objcopy) && [ -n "$objcopy" ]; then
	test_expect_success 'BTF says what DWARF says' '
		gcc -g -gdwarf-4 -o odd "$here/odd.c"
		pahole -J odd
		"$FOLIOLAB_O2" struct --all --kernel-btf odd | layouts >btf
		"$FOLIOLAB_O2" struct --all --vmlinux odd | layouts >dwarf
		test_cmp dwarf btf
		test_line_count 6 btf
	'
else
	test_skip 'BTF says what DWARF says' 'no objcopy here'
fi

if [ -r /sys/kernel/btf/vmlinux ] && pahole -F btf /sys/kernel/btf/vmlinux >kernel 2>/dev/null; then
	test_expect_success 'BTF of the running kernel' '
		layouts <kernel >theirs
		"$FOLIOLAB_O2" struct --all --kernel-btf | layouts >ours
		test_cmp theirs ours
		[ "$(wc -l <ours)" -ge 1000 ]
	'
else
	test_skip 'BTF of the running kernel' 'none that pahole could read'
fi

test_done
