#!/bin/bash
# cli/test_run.sh - what `foliolab run` says: its numbers, its two formats, the same every time;
# and the program around it (overview, help, version).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'no arguments: what this is, the commands, three examples' '
	"$FOLIOLAB" >out 2>err
	test_line_count 0 err
	for command in run compare golden bench kernels doctor grade; do
		test_grep "^  $command +[A-Z]" out
	done
	same "$(grep -c "^  foliolab " out)" 3
	"$FOLIOLAB" --help >help
	test_cmp out help
'

test_expect_success 'every command has a help; help COMMAND is the same' '
	for command in run compare golden bench kernels doctor grade; do
		"$FOLIOLAB" $command --help >out
		"$FOLIOLAB" help $command >out2
		test_cmp out out2
		test_grep "^Usage: foliolab $command" out
		test_grep "^Exit status:" out
		same "$(awk "length > 100" out)" ""
	done
'

test_expect_success 'the examples of the overview work' '
	"$FOLIOLAB" | sed -n "s/^  foliolab //p" >examples
	while read -r line; do
		eval "\"\$FOLIOLAB\" $line" >out
		test_grep . out
	done <examples
'

test_expect_success 'the version, with that of every library' '
	"$FOLIOLAB" --version >out
	test_grep "^foliolab [0-9]+\.[0-9]+" out
	for name in compiler liblzma cjson openssl; do
		test_grep "^$name: .*[0-9]" out
	done
'

test_expect_success 'the dd of the regression report, as JSON' '
	"$FOLIOLAB_O2" run -e "read 4k 3145728" --fs xfs --size 12G --ra-kb 128 --kernel v6.7 \
		--format json >out
	same "$(json_orders out folio_alloc_calls)" "0:36 2:20 3:2 4:4 5:98300"
	same "$(json_get out kernel)" v6.7
	same "$(json_get out fs)" xfs
	same "$(json_get out size)" 12884901888
	same "$(json_get out ops)" 3145728
	same "$(json_get out reads)" 3145728
	same "$(json_get out bytes)" 12884901888
	same "$(json_get out errors)" 0
	same "$(json_get out ios)" 0
	same "$(json_get out wasted)" 0
'

test_expect_success 'the same with a short file, every kernel, in the sanitized build' '
	while read -r kernel calls; do
		"$FOLIOLAB" run -e "read 4k 8192" --size 32m --kernel $kernel --format json >out
		same "$kernel $(json_orders out folio_alloc_calls)" "$kernel $calls"
	done <<-END
		v6.1 0:36 2:20 3:2 4:4 5:252
		v6.7 0:36 2:20 3:2 4:4 5:252
		v6.1.y 2:519 3:255 4:255
		ab4443fe3ca6 2:519 3:255 4:255
		v6.12 2:516 3:256 4:255
		v6.12.y 2:516 3:256 4:255
		v6.16 2:516 3:256 4:255
		v6.16.y 2:516 3:256 4:255
		v6.17 0:4 2:3 3:2 4:2 5:254
		v6.17.y 0:4 2:3 3:2 4:2 5:254
		v6.18 0:4 2:3 3:2 4:2 5:254
		v7.3 0:4 2:3 3:2 4:2 5:254
	END
'

test_expect_success 'text: orders in the style of bcc, latency, windows, I/O, waste' '
	"$FOLIOLAB" run -e "read 4k 64; pread 8m 4k" --disk nvme >out
	test_grep "^Linux v6.18: xfs, file of 16m on disk nvme, readahead 128k, pages of 4k" out
	test_grep "^ +0 : [0-9]+ +\|\** *\|$" out
	test_grep "^ +[0-9]+ -> [0-9]+ +: [0-9]+ +\|\** *\|$" out
	test_grep "^p50 .*, p90 .*, p99 .*, p99.9 .*, max " out
	test_grep "^Windows: +2 sync and [0-9]+ async calls" out
	test_grep "^I/O: +[0-9]+ bios, [0-9]+ requests" out
	test_grep "^Waste: +read [0-9]+ pages, used 65, wasted [0-9]+ = [0-9.]+ MB, [0-9.]+ ms$" out
	test_no_grep "Measured" out
	test_no_grep "$(printf "\033")" out
'

test_expect_success '--measure adds the time of the host, and only that' '
	"$FOLIOLAB" run -e "read 4k 64" --format json --measure >out
	test_grep "\"wall_ns\":" out
	"$FOLIOLAB" run -e "read 4k 64" --format json >plain
	test_no_grep "wall_ns" plain
	grep -v wall_ns out | sed "s/,$//" >a
	sed "s/,$//" plain >b
	test_cmp b a
	"$FOLIOLAB" run -e "read 4k 64" --measure | test_grep "^Measured: .* on the host, .* a read$" -
'

test_expect_success 'a workload file, standard input and -e are the same' '
	printf "# a comment\nread 4k 100\n\nseek 1m; read 8k\n" >w.wl
	"$FOLIOLAB" run w.wl >a
	"$FOLIOLAB" run - <w.wl >b
	"$FOLIOLAB" run -e "read 4k 100; seek 1m; read 8k" >c
	test_cmp a b
	test_cmp a c
'

test_expect_success 'the same command twice gives the same bytes' '
	ops="read 4k 300; fadvise random 0 0; pread 3m 5000; fadvise normal 0 0; fd 1
		readahead 8m 1m; seek 7m; read 100k 30; splice 2m 64k; reopen; read 1 4097
		fadvise dontneed 0 0; read 64k 300"
	for options in "--disk nvme" "--disk ram --memory 1m" "--disk nvme --data --memory 2m" \
		"--fs ext4-1k --kernel v6.1 --fragment 2:50 --seed 7" "--page-size 64k"; do
		for format in text json; do
			"$FOLIOLAB" run -e "$ops" $options --format $format >a
			"$FOLIOLAB" run -e "$ops" $options --format $format >b
			test_cmp a b
			"$FOLIOLAB_O2" run -e "$ops" $options --format $format >b
			test_cmp a b
		done
	done
'

test_expect_success 'fragmented memory: no folio above the order, the same for one seed' '
	"$FOLIOLAB" run -e "read 4k 4096" --fragment 2 --format json >out
	same "$(json_orders out folios_added | tr " " "\n" | sed "s/:.*//" | sort -n | tail -n 1)" 2
	same "$(json_get out read)" 4096
'

test_expect_success 'pages: what was read, used and wasted, by what brought it in' '
	"$FOLIOLAB" run -e "pread 0 1; readahead 1m 64k; pread 1m 32k" --format json >out
	same "$(json_get out read)" 20
	same "$(json_get out used)" 9
	same "$(json_get out wasted)" 11
	same "$(json_get out waste_mb)" 0.045056
	awk "/\"willneed\"/ { getline a; getline b; print a b }" out >willneed
	test_grep "\"read\":.16,.*\"used\":.8" willneed
'

test_expect_success 'memory that is too small: pages are evicted and read again' '
	"$FOLIOLAB" run -e "read 4k 4096; seek 0; read 4k 4096" --memory 4m --format json >out
	same "$(json_get out bytes)" 33554432
	[ "$(json_get out evicted)" -gt 4096 ]
	[ "$(json_get out read)" -ge 8192 ]
'

test_expect_success 'what fails inside the miniature is counted, and is no error' '
	options="--memory 4m --block-size 64k --fragment 0"
	"$FOLIOLAB" run -e "read 4k 10" $options --format json >out
	same "$(json_get out errors)" 10
	same "$(json_get out bytes)" 0
	"$FOLIOLAB" run -e "read 4k 10" $options >out
	test_grep "^10 calls failed, the last one with: ENOMEM, Cannot allocate memory$" out
'

test_expect_success 'what the kernel warned of stands in the report; a kernel without the fault says nothing' '
	# 20 GB, 1K blocks, a journal of 1 MB, a folio in 2048 pieces: before e2c4c49dee64 the credits run out.
	options="--fs ext4-1k --size 0 --fs-size 20g --journal 1m --extent-blocks 1:8192"
	"$FOLIOLAB" run -e "pwrite 0 2m; fsync" $options --kernel v6.16 >out
	sed -n "/^Kernel log$/,\$p" out >log
	test_grep "^  WARNING: fs/jbd2/transaction.c jbd2_journal_dirty_metadata$" log
	test_grep "^  Aborting journal\.$" log
	"$FOLIOLAB" run -e "pwrite 0 2m; fsync" $options --kernel v6.16 --format json >out
	same "$(jq -r ".log[]" out)" "$(sed -n "s/^  //p" log)"
	"$FOLIOLAB" run -e "pwrite 0 2m; fsync" $options --kernel v6.18 >out
	test_no_grep "Kernel log" out
	"$FOLIOLAB" run -e "pwrite 0 2m; fsync" $options --kernel v6.18 --format json >out
	same "$(jq ".log" out)" null
'

test_expect_success 'a long log is cut short in the text, not in JSON' '
	options="--fs ext4-1k --size 0 --fs-size 20g --journal 1m --extent-blocks 1:8192 --kernel v6.16"
	ops="pwrite 0 2m; fsync$(printf "; pwrite 4m 4k; fsync%.0s" 1 2 3 4 5 6 7 8)"
	"$FOLIOLAB" run -e "$ops" $options >out
	"$FOLIOLAB" run -e "$ops" $options --format json >json
	nr=$(jq ".log | length" json)
	test "$nr" -gt 10
	test_grep "^  and $((nr - 10)) more$" out
'

test_expect_success 'extremes: no operation, reads past the end, huge counts, no readahead' '
	"$FOLIOLAB" run -e "" --format json >out
	same "$(json_get out ops)" 0
	same "$(json_get out max)" 0
	"$FOLIOLAB" run -e "# nothing" >out
	test_grep "^0 operations" out
	"$FOLIOLAB" run -e "read 1g 9000000000" --size 1m --format json >out
	same "$(json_get out bytes)" 1048576
	same "$(json_get out reads)" 9000000000
	"$FOLIOLAB" run -e "read 0 9000000000" --format json >out
	same "$(json_get out bytes)" 0
	"$FOLIOLAB" run -e "read 4k 64" --ra-kb 0 --format json >out
	same "$(json_orders out folio_alloc_calls)" 0:64
	"$FOLIOLAB" run -e "read 4k" --size 0 --format json >out
	same "$(json_get out bytes)" 0
	"$FOLIOLAB" run -e "pread 9223372036854775806 1" --size 9223372036854775807 >out
'

test_expect_success 'readahead windows of up to 1 GiB' '
	"$FOLIOLAB_O2" run -e "read 1m 3000" --size 4g --ra-kb 1048576 --io-kb 1048576 \
		--format json >out
	same "$(json_get out bytes)" 3145728000
'

test_expect_success 'names that are no UTF-8 or hold control characters' '
	name=$(printf "a\033[2Jb\377c")
	seq 1000 >"$name"
	"$FOLIOLAB" run -e "read 4k" --file "$name" >out
	test_no_grep "$(printf "\033")" out
	"$FOLIOLAB" run -e "read 4k" --file "$name" --format json >out
	iconv -f utf-8 -t utf-8 out >/dev/null
'

test_done
