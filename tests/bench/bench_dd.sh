#!/bin/bash
# bench/bench_dd.sh - the miniature against the host: dd of a 12 GiB sparse file with 4 KiB reads at
# least 20 times faster than the host's own from a warm cache, in less than 250 MB; and every
# public golden run played in less than 20 seconds.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

measure=$FL_BUILD/tests/bench/measure
reads=3145728 # 12 GiB
rounds=5

# Fields of what measure wrote.
seconds()
{
	cut -d ' ' -f 1 "$1"
}

peak_mb()
{
	cut -d ' ' -f 2 "$1"
}

ours()
{
	"$measure" "$1" "$FOLIOLAB_O2" run -e "read 4k $reads" --fs xfs --size 12G --ra-kb 128 \
		--kernel v6.18 --format json >ours.json
}

# The host's page cache must hold the file. Where memory is short a part of it is read as often as
# makes 12 GiB: a read from a warm cache costs the same everywhere in the file.
available_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
times=1
[ "$available_kb" -gt $((14 << 20)) ] || times=12
[ "$available_kb" -gt $((2 << 20)) ] || skip_all 'less than 2 GiB of memory available'

host_reads()
{
	local i

	for ((i = 0; i < times; i++)); do
		dd if=sparse of=/dev/null bs=4k count=$((reads / times)) 2>dd.err
	done
}

host()
{
	local start

	start=$(date +%s%N)
	host_reads
	awk -v ns="$(($(date +%s%N) - start))" 'BEGIN { printf "%.6f 0\n", ns / 1e9 }' >"$1"
}

test_expect_success 'set-up: a sparse file, read once' '
	truncate -s $((reads / times * 4096)) sparse
	host warm
	ours first
	grep -q "\"reads\":.*$reads" ours.json
	[ $times -eq 1 ] || note "memory is short: the host reads 1 GiB 12 times"
'

test_expect_success 'dd of 12 GiB: 20 times faster than the host' '
	host_times= our_times= ratios=
	for ((i = 0; i < rounds; i++)); do
		host h
		ours o
		host_times+=" $(seconds h)"
		our_times+=" $(seconds o)"
		ratios+=" $(awk -v h="$(seconds h)" -v o="$(seconds o)" "BEGIN { printf \"%.1f\", h / o }")"
	done
	note "host $(median $host_times) s, miniature $(median $our_times) s (medians of $rounds)"
	check_ratio "dd 12 GiB, host time / ours" "$(median $ratios)" ge 20
'

test_expect_success 'dd of 12 GiB: memory' '
	ours o
	check_ratio "dd 12 GiB, peak memory in MB" "$(peak_mb o)" le 250
'

rm -f sparse

test_expect_success 'every public golden run' '
	set -- "$TESTDATA"/golden/*.public.txt.xz
	[ -f "$1" ]
	"$measure" g "$FOLIOLAB_O2" golden "$@" >golden.out
	note "$(tail -n 1 golden.out)"
	check_ratio "golden, all public files, seconds" "$(seconds g)" le 20
'

test_done
