#!/bin/bash
# cli/test_power_cut.sh - run --power-cut: what survives, and what fsync promised.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

ops='pwrite 0 64k; fsync; ftruncate 256k; pwrite 128k 64k; pwrite 0 4k; fsync'

# cut N OPTION...: the JSON of a run whose power goes out with write N.
cut()
{
	local nr=$1

	shift
	"$FOLIOLAB" run --fs ext4 --size 0 --fs-size 256m --power-cut "$nr" --format json \
		-e "$ops" "$@"
}

test_expect_success 'wherever the power goes out, what was fsynced is there' '
	total=$(cut 100000 | jq .writes)
	test "$total" -gt 8
	for mode in data=ordered data=journal data=writeback; do
		for nr in $(seq 1 "$total"); do
			cut "$nr" --mount-options $mode >out
			same "$(jq "[.rows[]? | select(.fsynced and .bytes > .survived)] | length" out)" 0
		done
	done
'

test_expect_success 'before the first commit nothing is there, after the last everything' '
	cut 2 >out
	same "$(jq -r "\"\(.out) \(.size_after) \(.transactions)\"" out)" "true 0 0"
	cut "$(cut 100000 | jq .writes)" >out
	same "$(jq -r ".size_after" out)" 262144
	same "$(jq "[.rows[].bytes] == [.rows[].survived]" out)" true
	cut 100000 >out
	same "$(jq -r "\"\(.out) \(.rows)\"" out)" "false null"
'

test_expect_success 'one seed, one rest; another seed may leave another' '
	cut 3 --mount-options data=writeback,nodelalloc >a
	cut 3 --mount-options data=writeback,nodelalloc >b
	test_cmp a b
'

test_expect_success 'text says the same' '
	"$FOLIOLAB" run --fs ext4 --size 0 --fs-size 256m --power-cut 2 -e "$ops" >out
	test_grep "^Power:    went out in line 1, fsync" out
	"$FOLIOLAB" run --fs ext4 --size 0 --fs-size 256m --power-cut 9999 -e "$ops" >out
	test_grep "never went out" out
'

# refused WORDS OPTION...: exit status 2 and a line on stderr with WORDS in it.
refused()
{
	local words=$1

	shift
	expect_exit 2 "$FOLIOLAB" run -e "pwrite 0 4k" --power-cut 1 "$@" 2>err
	test_grep "^foliolab: .*$words" err
	same "$(wc -l <err)" 1
}

test_expect_success 'what has no journal, or no other machine to mount it, is refused' '
	refused "expected ext4 with journal" --fs xfs
	refused "expected ext4 with journal" --fs ext4 --features ^has_journal
	refused "expected ext4 with journal" --fs ext4 --features ext2
	refused "inline_data" --fs ext4 --features inline_data
	refused "expected no --trace" --fs ext4 --trace t
	refused "expected at most" --fs ext4 --size 1g
	expect_exit 2 "$FOLIOLAB" run -e "" --fs ext4 --power-cut 0 2>err
	refused "expected at least 1024" --fs ext4 --journal 1m
'

test_done
