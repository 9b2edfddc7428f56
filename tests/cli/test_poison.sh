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
