#!/bin/bash
# cli/test_run_io.sh - bios and requests as they were counted on a real 6.18 (readahead.md,
# section 5): 16 MiB read from the start of a longer file, so that the last window runs ahead.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# io OPS OPTION...: "BIOS REQUESTS" of v6.18.
io()
{
	local ops=$1

	shift
	"$FOLIOLAB" run -e "$ops" --kernel v6.18 --size 32m --disk ram --format json "$@" >out
	echo "$(json_get out bios) $(json_get out ios)"
}

for fs in xfs ext4; do
	test_expect_success "$fs: one bio a window, cut at the largest request" "
		same \"\$(io 'read 4k 4096' --fs $fs)\" '134 134'
		same \"\$(io 'read 1m 16' --fs $fs --io-kb 128)\" '129 129'
		same \"\$(io 'read 4k 4096' --fs $fs --ra-kb 1024 --io-kb 128)\" '25 138'
		same \"\$(io 'read 1m 16' --fs $fs --io-kb 1280)\" '17 17'
	"
done

test_expect_success 'a hole needs no I/O' '
	same "$(io "read 4k 4096" --disk hole)" "0 0"
'

test_expect_success 'all of a file is read exactly once' '
	"$FOLIOLAB" run -e "read 4k 4096" --disk ram >text
	test_grep "^I/O: .* 32768 sectors$" text
'

test_done
