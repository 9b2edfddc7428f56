#!/bin/bash
# cli/test_bench.sh - `foliolab bench dd` is the published table, call by call.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'both columns of the mail and the count on a real 6.18' '
	"$FOLIOLAB_O2" bench dd >out
	while read -r line; do
		grep -qE "^ +$line +\|" out || {
			echo "missing: $line" >&4
			exit 1
		}
	done <<-END
		order 0 : +57 +21 +36  agrees
		order 2 : +20 +0 +20  agrees
		order 5 : +98300 +0 +98300  agrees
		order 0 : +21 +21 +0  agrees
		order 2 : +196615 +0 +196615  agrees
		order 3 : +98303 +0 +98303  agrees
		order 4 : +98303 +0 +98303  agrees
		order 5 : +98302 +0 +98302  agrees
	END
	test_no_grep "DIFFERS|MISS" out
	test_grep "dee823ca-7100-4289-8670-95047463c09d@intel.com" out
	tail -n 1 out | test_grep "^All 18 checks hold. .*agree" -
	same "$(awk "length > 100" out)" ""
'

test_expect_success 'JSON: rows and checks, all of them ok' '
	"$FOLIOLAB_O2" bench dd --format json >out
	test_grep "\"name\":.\"v6.7, order 0\"" out
	same "$(grep -c "\"published\":" out)" 18
	same "$(grep -c "\"ok\":.true" out)" 18
	test_no_grep "\"ok\":.false" out
'

test_expect_success 'the same bytes every time' '
	"$FOLIOLAB_O2" bench dd >a
	"$FOLIOLAB_O2" bench dd -o b
	test_cmp a b
'

test_done
