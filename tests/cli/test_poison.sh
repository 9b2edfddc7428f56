#!/bin/bash
# cli/test_poison.sh - memory errors by hand: what each operation answers, on every page size.
# Functions are used from steps, which are strings.
# shellcheck disable=SC2317
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# answer ERRNO OPS [OPTION...]: the last call failed so; ERRNO 0: none did.
answer()
{
	local want=$1 got
	shift
	"$FOLIOLAB" run -e "$@" >out || return 1
	got=$(sed -n "s/^[0-9]* calls\{0,1\} failed, the last one with: \([A-Z]*\), .*/\1/p" out)
	same "${got:-0}" "$want"
}

test_expect_success 'a page inside of the file, a hole, past the end, again, not at its start' '
	for kernel in v6.1.y v6.12.y v6.18 v7.3; do
		set -- --kernel $kernel --fs tmpfs-always --size 4m --memory 256m
		answer 0 "pwrite 0 2m; poison 4k" "$@"
		answer 0 "poison 4k" "$@"
		answer EIO "poison 4k; pread 4k 1" "$@"
		answer EFAULT "poison 4m" "$@"
		answer EFAULT "poison 1t" "$@"
		answer EFAULT "poison 4k; poison 4k" "$@"
		answer EINVAL "poison 4k; poison 4097" "$@"
		answer EFAULT "soft-offline 4m" "$@"
		answer EINVAL "soft-offline 1" "$@"
		answer 0 "pwrite 0 64k; soft-offline 4k; pread 0 64k" "$@"
	done
'

test_expect_success 'taking it back: never cached, not bad, still in the file, gone from it' '
	set -- --kernel v6.18 --fs tmpfs-always --size 4m --memory 256m
	answer ENXIO "unpoison 0" "$@"
	answer ENXIO "unpoison 1t" "$@"
	answer EBUSY "pwrite 0 64k; unpoison 0" "$@"
	answer EBUSY "poison 0; unpoison 0" "$@"
	answer 0 "poison 0; punch 0 4k; unpoison 0" "$@"
	answer EBUSY "poison 0; punch 0 4k; unpoison 0; unpoison 0; unpoison 4k" "$@"
'

test_expect_success 'on disk: holes and clean pages are read again, however often; dirty ones are lost' '
	for kernel in v6.1.y v6.12.y v6.18 v7.3; do
		for disk in hole ram; do
			set -- --kernel $kernel --fs ext4 --disk $disk --size 1m --memory 256m
			answer 0 "poison 4k; poison 4k; pread 0 64k" "$@"
			answer EFAULT "poison 1m" "$@"
			answer EINVAL "poison 4097" "$@"
			answer EINVAL "soft-offline 100" "$@"
			answer 0 "pread 0 64k; soft-offline 4k; pread 0 64k; unpoison 4k" "$@"
			answer EBUSY "pread 0 64k; unpoison 4k" "$@"
		done
		answer EIO "mmap; wtouch 4k; poison 4k; fsync" --kernel $kernel --fs ext4 \
			--disk ram --size 64k --memory 256m
	done
'

# block WORD: the report from its line of that word on
block()
{
	sed -n "/^$1:/,\$p" out
}

test_expect_success 'the report: HardwareCorrupted, outcomes, and who got which signal' '
	"$FOLIOLAB" run --kernel v6.18 --fs tmpfs-never --size 1m -e "pwrite 0 64k; poison 4k
mmap; touch 8k; touch 4k
soft-offline 8k" >out
	block Memory >got
	cat >want <<-END
	Memory:   HardwareCorrupted 8 kB, memory_failure/total 1: recovered 1, failed 0, ignored 0
	  line 1, poison 4k: dirty LRU page: Recovered
	  line 3, soft-offline 8k: moved away
	Signals:  2
	  line 1, poison 4k: SIGBUS, BUS_MCEERR_AR, lsb 12
	  line 2, touch 4k: SIGBUS, BUS_MCEERR_AR, lsb 12
	END
	same "$(cat got)" "$(cat want)"
	"$FOLIOLAB" run --fs tmpfs-never -e "pwrite 0 64k" >out
	same "$(block Memory)" ""
'

# signals KERNEL OPTION...: "code lsb" of each
signals()
{
	"$FOLIOLAB" run --fs tmpfs-always --size 2m --format json "$@" >out
	tr -d " \t\n" <out | grep -o "\"code\":\"[A-Z_]*\",\"lsb\":[0-9]*" |
		sed "s/.*MCEERR_\(A[RO]\).*:/\1 /" | tr "\n" ";"
}

test_expect_success 'a folio that cannot be split: the signal is about all of it, on v6.1 there is none' '
	ops="pwrite 0 2m; poison 4k"
	same "$(signals --kernel v6.1.y --split-fails -e "$ops")" ""
	same "$(signals --kernel v6.12.y --split-fails -e "$ops")" "AR 21;"
	same "$(signals --kernel v7.3 --split-fails -e "$ops; mmap; touch 4k")" "AR 21;AR 12;"
	same "$(signals --kernel v7.3 -e "$ops")" ""
'

test_expect_success '--early-kill: on v6.1 who injects an error is told like anybody else' '
	ops="pwrite 0 64k; poison 4k"
	same "$(signals --kernel v6.1.y --fs tmpfs-never -e "$ops")" ""
	same "$(signals --kernel v6.1.y --fs tmpfs-never --early-kill -e "$ops")" "AO 12;"
	same "$(signals --kernel v6.18 --fs tmpfs-never --early-kill -e "$ops")" "AR 12;"
'

test_expect_success 'a folio that cannot be split' '
	set -- --fs tmpfs-always --size 4m --memory 256m --split-fails
	answer EBUSY "pwrite 0 2m; poison 4k" --kernel v6.1.y "$@"
	answer EHWPOISON "pwrite 0 2m; poison 4k" --kernel v6.18 "$@"
	answer EBUSY "pwrite 0 2m; soft-offline 4k" --kernel v6.18 "$@"
'

test_expect_success 'offsets that cannot be meant are refused before anything runs' '
	for op in poison soft-offline unpoison; do
		bad "^foliolab: -e:1: " run -e "$op"
		bad "^foliolab: -e:1: .*-1" run -e "$op -1"
		bad "^foliolab: -e:1: .*x" run -e "$op x"
		bad "^foliolab: -e:1: .*2\^63" run -e "$op 9223372036854775808"
		bad "^foliolab: -e:1: " run -e "$op 0 4k"
	done
'

test_expect_success '16K and 64K pages: the page is the unit of all of it' '
	for size in 16k 64k; do
		for fs in tmpfs-always tmpfs-never tmpfs-within; do
			set -- --kernel v6.18 --fs $fs --page-size $size --size 0 --memory 1g
			answer 0 "pwrite 0 4m; poison 128k; pread 0 1m" "$@" --format text
			test_grep "1 read, 131072 bytes" out
			answer EIO "pwrite 0 4m; poison 128k; pread 128k 1" "$@"
			answer EINVAL "pwrite 0 4m; poison 4k" "$@"
			answer EFAULT "pwrite 0 4m; poison 4m" "$@"
			answer 0 "pwrite 0 4m; poison 128k; punch 128k 64k; unpoison 128k" "$@"
			answer 0 "pwrite 0 4m; soft-offline 128k; pread 0 1m" "$@"
		done
	done
'

test_done
