# shellcheck shell=bash
#
# tests/lib.sh - what shell suites are written in. A suite:
#
#     #!/bin/bash
#     # cli/test_run.sh - what `foliolab run` promises about its exit status and output.
#     . "$(dirname "$0")/../lib.sh"
#
#     test_expect_success 'an unknown kernel is refused, the nearest is named' '
#             expect_exit 2 "$FOLIOLAB" run -e "read 4k" --kernel v6.8 2>err
#             test_grep "v6.7" err
#     '
#     test_done
#
# Invariant  Each step runs in a subshell under `set -eu`: any failing command fails the step, no
#            && chain is needed; variables and cd do not outlive the step, files do. (As always
#            with set -e, a command before && or || or after ! cannot fail a step by itself.)
# In         FOLIOLAB, FOLIOLAB_O2, FL_ROOT, FL_BUILD, TESTDATA from scripts/run-suites; a suite
#            started by hand (bash tests/cli/test_run.sh) takes those of build/ and a folder of
#            its own. The current folder is empty at the start and thrown away at the end.
# Out        TAP on standard output. What a step prints is shown only if it fails; all of it with
#            TEST_VERBOSE=1.

# The library looks at every status itself; only steps run under set -e.
set +e -u

if [ -z "${FL_ROOT-}" ]; then
	FL_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	FL_BUILD=$(realpath -m "$FL_ROOT/${BUILD:-build}")
	export FL_ROOT FL_BUILD TESTDATA=$FL_ROOT/tests
	export FOLIOLAB=$FL_BUILD/asan/foliolab FOLIOLAB_O2=$FL_BUILD/foliolab
	export ASAN_OPTIONS="detect_leaks=1:halt_on_error=1:exitcode=86:${ASAN_OPTIONS-}"
	export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:exitcode=86:${UBSAN_OPTIONS-}"
	export LC_ALL=C.UTF-8 TZ=UTC
	TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/foliolab-test.XXXXXX")
	export TMPDIR HOME=$TMPDIR
	unset NO_COLOR
	cd "$TMPDIR" || exit 1
	trap 'cd /; rm -rf "$TMPDIR"' EXIT
fi

test_count=0
test_failures=0
test_log=$TMPDIR/.step-output
# Descriptor 5 is the TAP stream, for note; 4 is the step's own output, whatever it redirects.
exec 5>&1

# Runs the text $1 as a step; output to $test_log, status in $test_rc. Must not be called with || or
# in a condition: bash would then ignore set -e in the step.
test_run_()
{
	(
		exec 4>&1
		set -eu +o pipefail
		eval "$1"
	) >"$test_log" 2>&1 </dev/null
	test_rc=$?
	if [ "$test_rc" -ne 0 ] || [ -n "${TEST_VERBOSE-}" ]; then
		[ "$test_rc" -eq 0 ] || echo "[exit status $test_rc]" >>"$test_log"
		sed 's/^/#   /' "$test_log"
	fi
}

# The step's text: $1, or standard input where that is "-".
test_text_()
{
	if [ "$1" = - ]; then cat; else printf '%s\n' "$1"; fi
}

# test_expect_success TITLE COMMANDS: COMMANDS must succeed; "-" reads them from a here document.
test_expect_success()
{
	test_count=$((test_count + 1))
	test_run_ "$(test_text_ "$2")"
	if [ "$test_rc" -eq 0 ]; then
		echo "ok $test_count - $1"
	else
		test_failures=$((test_failures + 1))
		echo "not ok $test_count - $1"
	fi
}

# test_skip TITLE REASON: what cannot be tested here, and why.
test_skip()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $2"
}

# skip_all REASON: the whole suite cannot run here. Before the first step only.
skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# test_done: the last line of every suite.
test_done()
{
	echo "1..$test_count"
	[ "$test_failures" -eq 0 ]
	exit
}

# note TEXT: a line for the reader; `make bench` and `make soak` show it.
note()
{
	printf '# %s\n' "$*" >&5
}

# have NAME...: are these programs there?
have()
{
	local p

	for p; do
		command -v "$p" >/dev/null || return 1
	done
}

# Below: for use inside a step. Their complaints reach the log even under a redirection.

# expect_exit N COMMAND...: the exit status must be exactly N.
expect_exit()
{
	local want=$1 rc=0

	shift
	"$@" || rc=$?
	[ "$rc" -eq "$want" ] && return
	printf 'exit status %d, expected %d: %s\n' "$rc" "$want" "$*" >&4
	return 1
}

# test_cmp EXPECTED ACTUAL: two files must be the same; the difference is shown.
test_cmp()
{
	diff -u "$1" "$2" >&4
}

# test_grep PATTERN FILE: the file must have a line that matches the extended expression.
test_grep()
{
	grep -Eq -e "$1" "$2" && return
	printf 'no line matches %s in %s:\n' "$1" "$2" >&4
	head -n 40 "$2" >&4
	return 1
}

# test_no_grep PATTERN FILE: the file must be there and have no such line.
test_no_grep()
{
	local rc=0

	grep -E -e "$1" "$2" >&4 || rc=$?
	[ "$rc" -eq 1 ] && return
	printf 'unexpected in %s: %s\n' "$2" "$1" >&4
	return 1
}

# test_line_count N FILE: the file must have N lines.
test_line_count()
{
	local n

	n=$(wc -l <"$2") || return 1
	[ "$n" -eq "$1" ] && return
	printf '%d lines in %s, expected %d\n' "$n" "$2" "$1" >&4
	return 1
}

# check_ratio NAME VALUE ge|le LIMIT: a promised number, shown to the reader and enforced.
check_ratio()
{
	local rc=0

	awk -v v="$2" -v op="$3" -v want="$4" 'BEGIN {
		if (v !~ /^[0-9.]+(e[-+]?[0-9]+)?$/)
			exit 1
		exit !(op == "ge" ? v + 0 >= want + 0 : op == "le" ? v + 0 <= want + 0 : 0)
	}' || rc=1
	note "$(printf '%-40s %10s  (%s %s)%s' "$1" "$2" \
		"$([ "$3" = ge ] && echo 'at least' || echo 'at most')" "$4" \
		"$([ "$rc" -eq 0 ] || echo '  MISSED')")"
	return "$rc"
}

# median NUMBER...: the middle one (of an even count, the lower middle).
median()
{
	printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"
}
