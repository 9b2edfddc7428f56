#!/bin/bash
# cli/test_run_ext4.sh - the options of ext4 on the command line, and a kernel that dies.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# refused WORDS OPTION...: exit status 2 and a line on stderr with WORDS in it.
refused()
{
	local words=$1

	shift
	expect_exit 2 "$FOLIOLAB" run -e 'pwrite 0 4m' --fs ext4 "$@" 2>err
	test_grep "^foliolab: .*$words" err
	same "$(wc -l <err)" 1
}

# added OPTION...: folios of 2 MiB and of a page that a write of 4 MiB adds.
added()
{
	"$FOLIOLAB" run -e 'pwrite 0 4m' --fs ext4 --size 0 --format json "$@" >out
	jq -r '"\(.folios_added["9"] // 0) \(.folios_added["0"] // 0)"' out
}

test_expect_success 'features, options and flags decide who gets large folios' '
	same "$(added)" "2 0"
	same "$(added --mount-options nodelalloc)" "2 0"
	same "$(added --mount-options data=journal)" "0 1024"
	same "$(added --mount-options data=writeback,nodelalloc)" "2 0"
	same "$(added --features verity)" "0 1024"
	same "$(added --features verity --kernel v7.3)" "2 0"
	same "$(added --features encrypt,^has_journal)" "0 1024"
	same "$(added --features ext2)" "2 0"
	same "$(added --dir-flags journal_data)" "0 1024"
'

test_expect_success 'what cannot be is refused in one line' '
	refused "unknown feature .verty.*did you mean .verity." --features verty
	refused "unknown feature" --features ^ext2
	refused "unknown mount option .nodelaloc.*did you mean .nodelalloc." --mount-options nodelaloc
	refused "unknown flag" --dir-flags append
	refused "data=journal with delalloc" --mount-options delalloc,data=journal
	refused "data= without a journal" --mount-options data=ordered --features ^has_journal
	refused "larger than a page" --block-size 16k
	refused "encrypt" --block-size 16k --kernel v7.3 --features encrypt
	refused "expected --fs ext4" --features verity --fs xfs
	refused "a number from 1" --extent-blocks 0
	echo >file
	refused "extent-blocks: .*expected no --file" --extent-blocks 3 --file file
'

test_expect_success 'the assertion of block_read_full_folio: message, chain, layout, exit status 1' '
	expect_exit 1 "$FOLIOLAB" run -e "read 1m" --fs ext4 --disk ram --page-size 64k \
		--extent-blocks 3 --kernel v6.18+ASSERT_NO_LARGE_FULL_READ >out 2>err
	test_grep "^page dumped because: VM_BUG_ON_FOLIO\(folio_test_large\(folio\)\)$" err
	test_grep "^kernel BUG at fs/buffer.c!$" err
	test_grep "^ block_read_full_folio$" err
	test_grep "^ ext4_mpage_readpages$" err
	test_grep "^Layout: 64 blocks of 4096 bytes in a folio of 4 pages$" err
	test_grep "^foliolab: -e:1: the kernel hit a BUG" err
	same "$(cat out)" ""
	expect_exit 1 "$FOLIOLAB" run -e "read 1m" --fs ext4 --disk ram --block-size 1k \
		--extent-blocks 30 --kernel v6.18+ASSERT_NO_LARGE_FULL_READ 2>err
	test_grep "^kernel BUG" err
'

test_expect_success 'without it the same file is read, one bio a block' '
	"$FOLIOLAB" run -e "read 1m" --fs ext4 --disk ram --page-size 64k --extent-blocks 3 >out
	test_grep "^I/O: .* 512 bios" out
'

test_done
