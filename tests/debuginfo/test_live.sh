#!/bin/bash
# debuginfo/test_live.sh - `foliolab struct --live`: values of a run, at its end and at any event.
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

# value FIELD FILE: what a listing says of a field.
value()
{
	sed -n "s/^	$1  *//p" "$2"
}

# refused PATTERN ARGS: `struct ARGS` ends with 2, no output and one line that matches.
refused()
{
	local pattern=$1

	shift
	expect_exit 2 "$FOLIOLAB" struct "$@" >out 2>err
	[ ! -s out ]
	test_line_count 1 err
	test_grep "$pattern" err
}

test_expect_success 'the end of a run: what the operations add up to' '
	"$FOLIOLAB" struct --live file -e "read 4k 100" --size 1m >out
	same "$(value f_pos out)" 409600
	"$FOLIOLAB" struct --live file_ra_state -e "read 4k 100" --ra-kb 256 >out
	same "$(value ra_pages out) $(value prev_pos out)" "64 409600"
	"$FOLIOLAB" struct --live inode -e "read 4k" --size 300k >out
	same "$(value i_size out)" 307200
	"$FOLIOLAB" struct --live machine -e "read 4k" --kernel v6.7 --page-size 16k --seed 7 >out
	same "$(value kernel out) $(value page_size out) $(value seed out)" "\"v6.7\" 16384 7"
'

test_expect_success 'pointers lead on, functions have their names' '
	"$FOLIOLAB" struct --live "folio[2].mapping->host.i_size" -e "read 64k" --size 2m >out
	test_grep "^	i_size +2097152$" out
	"$FOLIOLAB" struct --live mapping.a_ops -e "read 4k" --fs ext4 >out
	same "$(value readahead out)" ext4_readahead
	"$FOLIOLAB" struct --live "folio[2]" -e "read 64k" >out
	same "$(value mapping out)" mapping
	"$FOLIOLAB" struct --live "folio[2].flags" -e "read 4k" >out
	test_grep "PG_uptodate" out
	test_no_grep "PG_dirty" out
	"$FOLIOLAB" struct --live "folio[0].flags" -e "pwrite 0 4k" >out
	test_grep "PG_dirty" out
	"$FOLIOLAB" struct --live "zone._watermark[0]" -e "read 4k" >out
	test_line_count 2 out
'

test_expect_success 'at every window of a recording: the file has what the event says' '
	"$FOLIOLAB" run -e "read 4k 300; pread 4m 4k" --trace t >run.out
	"$FOLIOLAB" export t --format csv -o t.csv
	awk -F, "\$4 == \"fl_window\" { print \$1 + 1, \$6, \$8, \$9 }" t.csv >windows
	[ "$(wc -l <windows)" -ge 4 ]
	awk "NR % 3 == 1" windows >some
	while read -r nr start size async; do
		"$FOLIOLAB" struct --live file_ra_state t --at "$nr" >out
		same "$(value start out) $(value size out) $(value async_size out)" "$start $size $async"
	done <some
'

test_expect_success 'at the end of a recording as at the end of the run' '
	"$FOLIOLAB" struct --live "folio[4]" t | sed 1d >out1
	"$FOLIOLAB" struct --live "folio[4]" -e "read 4k 300; pread 4m 4k" | sed 1d >out2
	test_cmp out1 out2
'

test_expect_success 'machines of every kind are played once more' '
	for options in "--fs ext4" "--fs ext4-1k --disk nvme" "--fs tmpfs-always" \
		"--page-size 16k --memory 1m" "--page-size 64k --disk ram --seed 9" \
		"--kernel v6.1 --ra-kb 512" "--cpus 3" "--io-kb 64 --disk nvme --size 123456"; do
		# The options are words.
		# shellcheck disable=SC2086
		"$FOLIOLAB" run -e "read 4k 20; pwrite 8k 9000; mmap; touch 0 4k 9; wtouch 8k; fsync" \
			$options --trace kind >run.out
		"$FOLIOLAB" struct --live machine kind >out
	done
'

test_expect_success 'JSON' '
	"$FOLIOLAB" struct --live file_ra_state t --at 10 --format json | tr -d " \t\n" >out
	test_grep "^\{\"expression\":\"file_ra_state\",\"type\":\"structfile_ra_state\",\"event\":10,\"fields\":\[\{\"name\":\"start\",\"type\":\"pgoff_t\",\"value\":\"[0-9]+\"\}" out
'

test_expect_success 'recordings that cannot be played once more say so' '
	"$FOLIOLAB" run -e "read 4k 300" --fragment 1 --trace f >run.out
	refused "differs from event [0-9]+ on: it was made with options the recording does not name" \
		--live file f
	printf "# tracer: nop\n  cat-1 [000] ..... 1.000001: mm_filemap_add_to_page_cache: dev 8:1 ino c pfn=0x1 ofs=0 order=0\n" >ftrace
	"$FOLIOLAB" import ftrace -o imported >import.out 2>&1
	refused "of a real kernel .imported.: its structs cannot be seen" --live file imported
'

test_expect_success 'bad expressions, bad usage' '
	refused "unknown object .folo., expected one of machine" --live "folo[1]" t
	refused "page 4000 is not in the cache" --live "folio[4000]" t
	refused "which folio" --live folio t
	refused "there is one mapping" --live "mapping[1]" t
	refused "there is no vma at this moment" --live vma t
	refused "struct folio has no .x., expected one that" --live "folio[0].x" t
	refused "no struct at" --live "folio[0].index.x" t
	refused "an index outside the array" --live "zone._watermark[99]" t
	refused "an index of what is no array" --live "folio[0].index[1]" t
	refused "a NULL pointer" --live "machine.ra_policy.x" t
	refused "something else than" --live "folio[0]+1" t
	refused "no number" --live "folio[x]" t
	refused "no name" --live "" t
	refused "event 99999999" --live file t --at 99999999
	refused "either a recording or -e OPS" --live file
	refused "either a recording or -e OPS" --live file t -e "read 4k"
	refused "expected a recording beside it" --live file -e "read 4k" --at 3
	refused "expected --live beside it" folio --at 3
	refused "values are the miniature" --live file t --diff
'

test_done
