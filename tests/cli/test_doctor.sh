#!/bin/bash
# cli/test_doctor.sh - `foliolab doctor` answers everywhere, one "name: value" a line.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'every line is a name and a value, the exit status is 0' '
	timeout 20 "$FOLIOLAB" doctor >out 2>err
	test_line_count 0 err
	test_no_grep "^$" out
	same "$(grep -vcE "^[^:]+: .+$" out)" 0
	for name in version compiler liblzma cjson openssl terminal "terminal size" colours utf-8 \
		kernel "kernel profile" "page size" memory cpus user tracefs /proc/kpageflags \
		/proc/self/pagemap cachestat; do
		test_grep "^$name: " out
	done
'

test_expect_success 'the kernel is the one that runs' '
	"$FOLIOLAB" doctor >out
	grep -qF "kernel: $(uname -s) $(uname -r)" out
	grep -qx "page size: $(getconf PAGESIZE)" out
'

test_expect_success 'tools of developers are those in PATH' '
	mkdir tools && printf "#!/bin/sh\n" >tools/gcovr && chmod +x tools/gcovr &&
	printf "#!/bin/sh\n" >tools/cppcheck &&
	PATH=$PWD/none:$PWD/tools "$FOLIOLAB" doctor >out
	grep -qx "developer.s gcovr: yes" out
	grep -qx "developer.s cppcheck: no" out
	grep -qx "developer.s clang: no" out
'

test_expect_success 'nothing in the environment is too strange' '
	env -i "$FOLIOLAB" doctor >out
	test_grep "^terminal: unknown" out
	test_grep "^colours: 0 " out
	test_grep "^utf-8: no" out
	TERM=$(printf "x\033[2J") COLORTERM=truecolor NO_COLOR=1 LC_ALL=en_US.utf8 \
		"$FOLIOLAB" doctor >out
	test_no_grep "$(printf "\033")" out
	test_grep "^colours: 16777216 .*NO_COLOR" out
	test_grep "^utf-8: yes" out
'

test_expect_success 'without a terminal, without standard input' '
	"$FOLIOLAB" doctor <&- >out 2>&1
	test_grep "^terminal size: " out
'

test_done
