#!/bin/bash
# bench/bench_struct.sh - how soon `foliolab struct` answers: its own structs, BTF, a vmlinux.
#
# FL_VMLINUX=FILE names a vmlinux with debug information (of linux-image-*-dbg); without it that
# part is skipped.
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

export XDG_CACHE_HOME=$PWD/cache

# seconds COMMAND...: how long it takes.
seconds()
{
	local start=${EPOCHREALTIME/[.,]/}

	"$@" >out
	awk -v us=$((${EPOCHREALTIME/[.,]/} - start)) 'BEGIN { printf "%.3f", us / 1e6 }'
}

# median_seconds COMMAND...: of five.
median_seconds()
{
	local all=() i

	for i in 1 2 3 4 5; do
		all+=("$(seconds "$@")")
	done
	median "${all[@]}"
}

test_expect_success 'the miniature'\''s own structs' '
	check_ratio "own struct, seconds" "$(median_seconds "$FOLIOLAB_O2" struct folio)" le 0.05
'

if [ -r /sys/kernel/btf/vmlinux ]; then
	test_expect_success 'structs of the running kernel' '
		check_ratio "BTF, seconds" \
			"$(median_seconds "$FOLIOLAB_O2" struct folio --kernel-btf)" le 0.3
	'
else
	test_skip 'structs of the running kernel' 'it shows no BTF'
fi

if [ -n "${FL_VMLINUX-}" ]; then
	test_expect_success 'a vmlinux: the first answer, and the next ones' '
		check_ratio "vmlinux, first answer, seconds" \
			"$(seconds "$FOLIOLAB_O2" struct folio --vmlinux "$FL_VMLINUX")" le 5
		check_ratio "vmlinux, then, seconds" \
			"$(median_seconds "$FOLIOLAB_O2" struct folio --vmlinux "$FL_VMLINUX")" le 0.3
	'
else
	test_skip 'a vmlinux' 'FL_VMLINUX names none'
fi

test_done
