#!/bin/bash
# cli/test_run_data.sh - `run --file PATH --data` returns the host file's exact bytes, whatever the
# workload, the kernel and the memory.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

have sha256sum || skip_all 'no sha256sum'

digest()
{
	sha256sum | cut -d ' ' -f 1
}

# data_sha OPS OPTION...: what the miniature read.
data_sha()
{
	local ops=$1

	shift
	"$FOLIOLAB" run -e "$ops" --data --format json "$@" >data.json
	json_get data.json sha256
}

# region FILE OFF LEN: those bytes, as far as there are any.
region()
{
	tail -c "+$(($2 + 1))" "$1" | head -c "$3"
}

# 3 MiB and some, different everywhere.
test_expect_success 'set-up' '
	seq 1 600000 | head -c 3333333 >file
	same "$(wc -c <file)" 3333333
'

test_expect_success 'the whole file: every kernel, file system and page size' '
	want=$(digest <file)
	"$FOLIOLAB" kernels | sed "s/ .*//" >kernels
	while read -r kernel; do
		for fs in xfs ext4 ext4-1k hostfs; do
			same "$kernel $fs $(data_sha "read 64k 64" --file file --kernel $kernel \
				--fs $fs)" "$kernel $fs $want"
		done
		for page in 16k 64k; do
			same "$kernel $page $(data_sha "read 4k 1000" --file file \
				--kernel $kernel --page-size $page)" "$kernel $page $want"
		done
	done <kernels
'

test_expect_success 'the command of the README: reads in a row, then one elsewhere' '
	seq 1 1400000 | head -c 9000001 >big
	want=$({
		region big 0 $((64 * 65536))
		region big 1048576 4096
	} | digest)
	same "$(data_sha "read 64k 64; pread 1m 4k" --fs ext4 --file big --kernel v6.18)" "$want"
	same "$(json_get data.json bytes)" $((64 * 65536 + 4096))
'

test_expect_success 'odd sizes of files and reads' '
	for size in 1 511 512 513 1023 4095 4096 4097 65535 65537 131071 1000003; do
		head -c $size file >odd
		want=$(digest <odd)
		for read in 4k 4097 100k; do
			same "$size $read $(data_sha "read $read 300" --file odd)" "$size $read $want"
		done
		same "$size $(data_sha "read 777 1400" --file odd --fs ext4-1k --kernel v6.1)" \
			"$size $want"
	done
'

test_expect_success 'an empty file' '
	: >empty
	same "$(data_sha "read 4k; pread 0 1; pread 1m 4k; splice 0 4k" --file empty)" \
		"$(digest </dev/null)"
	same "$(json_get data.json bytes)" 0
	same "$(json_get data.json reads)" 4
'

test_expect_success 'a memory so small that reclaim runs all the time' '
	want=$(cat file file | digest)
	for memory in 256k 300k 1m 2m; do
		for kernel in v6.1 v6.12 v6.18 v7.3; do
			same "$memory $kernel $(data_sha "read 10000 400; seek 0; read 64k 60" \
				--file file --memory $memory --kernel $kernel)" "$memory $kernel $want"
		done
		[ "$(json_get data.json evicted)" -gt 0 ]
	done
	for page in 16k 64k; do
		same "$page $(data_sha "read 10000 400; seek 0; read 64k 60" --file file \
			--memory 4m --page-size $page)" "$page $want"
	done
	same "$(data_sha "read 10000 400; seek 0; read 64k 60" --file file --memory 512k \
		--disk nvme --ra-kb 1024 --fragment 1)" "$want"
'

# Seeded, so that a failure can be repeated.
test_expect_success 'random preads, with advice in between, small memory' '
	for seed in 1 2 3; do
		awk -v seed=$seed "BEGIN {
			srand(seed)
			for (i = 0; i < 250; i++)
				print int(rand() * 3400000), int(rand() * rand() * 200000)
		}" >where
		awk "{ print \"pread\", \$1, \$2 }
			NR % 40 == 0 { print \"fadvise random 0 0\" }
			NR % 40 == 20 { print \"fadvise sequential 0 0\" }
			NR % 50 == 0 { print \"fadvise dontneed\", \$1, \$2 }
			NR % 30 == 0 { print \"readahead\", \$1, \$2; print \"fd\", NR }" \
			<where >random.wl
		want=$(while read -r off len; do region file "$off" "$len"; done <where | digest)
		for options in "" "--memory 1m --kernel v6.1" "--memory 512k --fs ext4-1k" \
			"--memory 4m --page-size 64k --kernel v6.12"; do
			"$FOLIOLAB" run random.wl --file file --data --format json $options >out
			same "$seed $options $(json_get out sha256)" "$seed $options $want"
		done
	done
'

test_expect_success 'a sparse file of 4 GiB and one byte, its last byte too' '
	truncate -s 4294967297 sparse
	printf "the very end" | dd of=sparse bs=1 seek=4294967285 conv=notrunc 2>dd.err
	printf "around 2 GiB" | dd of=sparse bs=1 seek=2147483640 conv=notrunc 2>dd.err
	want=$({
		region sparse 0 8192
		region sparse 2147479552 65536
		region sparse 4294967200 4096
		region sparse 4294967296 1
	} | digest)
	ops="read 8k; pread 2147479552 64k; pread 4294967200 4k; pread 4294967296 1
		pread 4294967297 1"
	for kernel in v6.1 v6.18; do
		same "$(data_sha "$ops" --file sparse --kernel $kernel)" "$want"
		same "$(data_sha "$ops" --file sparse --kernel $kernel --memory 1m)" "$want"
	done
	same "$(json_get data.json size)" 4294967297
'

test_expect_success 'the bytes of a made-up file are the same on every kernel' '
	want=$(data_sha "read 64k 64" --disk ram --size 1000001)
	for options in "--kernel v6.1" "--fs ext4-1k" "--page-size 64k" "--memory 1m --disk nvme"; do
		same "$options $(data_sha "read 4k 300" --disk ram --size 1000001 $options)" \
			"$options $want"
	done
	same "$(data_sha "read 64k 64" --size 1000001)" "$(head -c 1000001 /dev/zero | digest)"
'

test_done
