#!/bin/bash
# scripts/test_harness.sh - the harness counts rightly: nothing that failed passes for a success.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# A tree of its own with the suites a step writes; "run ARGS" runs them, output in ./out.
mkdir -p tree/scripts tree/tests/a
cp "$FL_ROOT/scripts/run-suites" tree/scripts/
cp "$FL_ROOT/tests/lib.sh" tree/tests/

# shellcheck disable=SC2317 # called from the steps
suite()
{
	cat - >"tree/tests/a/$1"
}

# shellcheck disable=SC2317
run()
{
	local rc=0

	env -u FL_ROOT -u BUILD -u JOBS tree/scripts/run-suites "$@" >out 2>&1 || rc=$?
	rm -f tree/tests/a/*
	cat out
	return "$rc"
}

test_expect_success 'passed, failed and skipped steps are counted' - <<'STEP'
suite test_mixed.sh <<'END'
. "$(dirname "$0")/../lib.sh"
test_expect_success 'good' 'true'
test_expect_success 'a failing command in the middle counts' '
	false
	true
'
test_skip 'needs a moon' 'no moon tonight'
test_done
END
expect_exit 1 run
test_grep '^FAIL a/test_mixed +1 passed, 1 failed, 1 skipped' out
test_grep 'failed: a failing command in the middle counts' out
test_grep 'skipped: needs a moon: no moon tonight' out
tail -n 1 out >last
echo '1 passed, 1 failed, 1 skipped' >want
test_cmp want last
STEP

test_expect_success 'a suite skipped as a whole is one skip, not a failure' - <<'STEP'
suite test_all.sh <<'END'
. "$(dirname "$0")/../lib.sh"
skip_all 'not root'
END
run
test_grep 'skipped: all: not root' out
test_grep '^0 passed, 0 failed, 1 skipped$' out
STEP

test_expect_success 'a suite without a plan fails' - <<'STEP'
suite test_noplan.sh <<'END'
echo 'ok 1 - fine so far'
END
expect_exit 1 run
test_grep 'ended without a plan' out
test_grep '^1 passed, 1 failed, 0 skipped$' out
STEP

test_expect_success 'a suite that stops before its plan is fulfilled fails' - <<'STEP'
suite test_short.sh <<'END'
echo 1..3
echo 'ok 1 - fine so far'
END
expect_exit 1 run
test_grep 'planned 3 tests, ran 1' out
STEP

test_expect_success 'a suite that tests nothing fails' - <<'STEP'
suite test_empty.sh <<'END'
. "$(dirname "$0")/../lib.sh"
test_done
END
expect_exit 1 run
test_grep 'tested nothing' out
STEP

test_expect_success 'a suite killed by a signal fails' - <<'STEP'
suite test_dies.sh <<'END'
echo 1..1
echo 'ok 1 - fine'
kill -SEGV $$
END
expect_exit 1 run
test_grep 'killed by signal 11' out
STEP

test_expect_success 'a bad exit status alone fails' - <<'STEP'
suite test_status.sh <<'END'
echo 1..1
echo 'ok 1 - fine'
exit 3
END
expect_exit 1 run
test_grep 'exit status 3' out
STEP

test_expect_success 'a suite that hangs is ended and fails' - <<'STEP'
suite test_hangs.sh <<'END'
sleep 1000
END
expect_exit 1 run --timeout 1
test_grep 'no end within 1 s' out
STEP

test_expect_success 'a sanitizer report fails the suite though the status was lost' - <<'STEP'
suite test_lost.sh <<'END'
. "$(dirname "$0")/../lib.sh"
report=${ASAN_OPTIONS#*log_path=}
echo 'ERROR: AddressSanitizer: made up' >"${report%%:*}.123"
test_expect_success 'good' 'true'
test_done
END
expect_exit 1 run
test_grep 'a sanitizer found something' out
test_grep 'AddressSanitizer: made up' out
STEP

test_expect_success "cmocka's skip takes the reason printed before it" - <<'STEP'
suite test_cm.sh <<'END'
echo 1..2
echo '# SKIP no tracefs'
echo 'not ok 1 # SKIP test_trace'
echo 'ok 2 - test_rest'
END
run
test_grep 'skipped: test_trace: no tracefs' out
test_grep '^1 passed, 0 failed, 1 skipped$' out
STEP

test_expect_success 'every suite starts in an empty folder of its own' - <<'STEP'
for i in 1 2 3; do
	suite "test_$i.sh" <<'END'
. "$(dirname "$0")/../lib.sh"
test_expect_success 'empty' '
	test "$(ls)" = ""
	test "$PWD" = "$TMPDIR"
	test "$PWD" = "$HOME"
	touch mine
'
test_done
END
done
run --jobs 2
test_grep '^3 passed, 0 failed, 0 skipped$' out
STEP

test_expect_success 'suites are chosen by folder, name, file and pattern; none is an error' - <<'STEP'
choose()
{
	touch tree/tests/a/test_one.sh tree/tests/a/test_two.sh
	run --list "$@"
}
for which in a/test_one tests/a/test_one.sh test_one '*_one'; do
	choose "$which"
	echo a/test_one >want
	test_cmp want out
done
choose a
test_line_count 2 out
expect_exit 2 choose b
STEP

test_expect_success 'the helpers of a step complain where they should' - <<'STEP'
echo one >one
echo two >two
expect_exit 1 test_cmp one two
expect_exit 1 test_grep three one
expect_exit 1 test_no_grep one one
expect_exit 1 test_no_grep one no-such-file
expect_exit 1 test_line_count 2 one
expect_exit 1 expect_exit 0 false
expect_exit 1 check_ratio 'made up' 19.9 ge 20 5>/dev/null
expect_exit 1 check_ratio 'made up' nan ge 20 5>/dev/null
check_ratio 'made up' 20 ge 20 5>/dev/null
test "$(median 9 1 5)" = 5
STEP

test_expect_success 'every script explains itself' '
	for s in setup run test run-suites; do
		"$FL_ROOT/scripts/$s" --help >help
		test_grep "^usage: scripts/$s" help
	done
'

test_expect_success 'what the set-up needs is there once it ran' '
	"$FL_ROOT/scripts/setup" --check >out
	test_line_count 0 out
	expect_exit 2 "$FL_ROOT/scripts/setup" --frobnicate
'

if have shellcheck; then
	test_expect_success 'the scripts are clean to shellcheck' '
		cd "$FL_ROOT"
		shellcheck -x scripts/setup scripts/run scripts/test scripts/run-suites .ci/run \
			tests/lib.sh
	'
else
	test_skip 'the scripts are clean to shellcheck' 'no shellcheck here'
fi

test_done
