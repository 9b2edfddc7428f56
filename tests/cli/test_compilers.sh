#!/bin/bash
# cli/test_compilers.sh - a build by the other compiler (clang where this one is gcc's, gcc where it
# is clang's) says the same, byte for byte.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

case $("$FOLIOLAB_O2" doctor | sed -n 's/^compiler: //p') in
*clang*) other=gcc ;;
*) other=clang ;;
esac
have "$other" || skip_all "no $other here"
have make || skip_all 'no make here'

# Kept in the build folder, so that only what changed is compiled again.
other_build=$FL_BUILD/$other
theirs=$other_build/foliolab

test_expect_success "$other builds it without a warning" '
	make -C "$FL_ROOT" -j2 BUILD="$other_build" CC=$other "$theirs"
	"$theirs" doctor >out
	test_grep "^compiler: .*$other" out
'

# alike ARGUMENT...: both builds, same output, same errors, same status.
alike()
{
	local a=0 b=0

	"$FOLIOLAB_O2" "$@" >a.out 2>a.err || a=$?
	"$theirs" "$@" >b.out 2>b.err || b=$?
	cmp a.out b.out && cmp a.err b.err && [ "$a" -eq "$b" ] && return
	echo "differs: $*" >&4
	return 1
}

mixed="read 4k 300; pread 3m 100000; fadvise willneed 5m 300000; seek 5m; read 777 2000; fd 1
	read 64k 40; fadvise random 0 0; pread 1 1; fadvise dontneed 1m 2m; fd 0; read 100k 50
	readahead 9m 1m; splice 9m 300k; reopen; read 1m 20; read 4k 10"

test_expect_success "reads on every kernel, in text and JSON" "
	\"\$FOLIOLAB_O2\" kernels | sed 's/ .*//' >kernels
	while read -r kernel; do
		alike run -e '$mixed' --kernel \$kernel
		alike run -e '$mixed' --kernel \$kernel --format json --disk nvme --memory 2m
	done <kernels
"

test_expect_success 'file systems, page sizes, disks, windows, fragmented memory' "
	for options in '--fs ext4' '--fs ext4-1k --kernel v6.1' '--fs hostfs --disk ram' \\
		'--page-size 16k --memory 3m' '--page-size 64k --kernel v6.12 --memory 16m' \\
		'--disk nvme --ra-kb 4096 --io-kb 4' '--disk ram --data --memory 1m' \\
		'--fragment 2:37 --seed 7 --ra-kb 1024 --memory 64m' '--block-size 16k'; do
		alike run -e '$mixed' --format json \$options
		alike run -e '$mixed' \$options
	done
"

test_expect_success 'writes, a mapping, advice on it' '
	ops="mmap; touch 0 4k 500; touch 8m -64k 100; madvise random; touch 3m 12k 90; munmap
		pwrite 1m 4k 300; pwrite 100 777 50; punch 2m 100000; ftruncate 3m; fallocate 8m 1m; fsync"
	for fs in xfs ext4 ext4-1k; do
		for kernel in v6.1 v6.12.y v7.3; do
			alike run -e "$ops" --fs $fs --kernel $kernel --format json
		done
	done
'

test_expect_success 'the other commands, and errors' '
	alike compare -e "read 4k 4096" --kernel v6.7 --kernel ab4443fe3ca6
	alike compare -e "read 64k 200" --kernel v6.1 --kernel v6.18 --kernel v7.3 --format json
	alike golden "$TESTDATA/golden/linux-6.18.public.txt.xz"
	alike golden --format json "$TESTDATA/golden/linux-6.1.public.txt.xz"
	alike bench dd
	alike bench dd --format json
	alike kernels --knobs
	alike kernels --knobs --format json
	alike run --help
	alike run -e "reed 4k"
	alike run -e "read 4k" --kernel v6.8
'

test_expect_success 'grades of strangers, the limits they hit' '
	set -- "$TESTDATA"/hostile/{error,file,forge,gc,io,len,machine}*.lua \
		"$TESTDATA"/hostile/{loop,loop-close,loop-machine,memory-table,memory-concat,recursion-pcall}.lua
	FOLIOLAB_LABS=$FL_ROOT/labs alike grade 3 --submission "$@" --format json
'

test_done
