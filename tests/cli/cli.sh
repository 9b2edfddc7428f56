# shellcheck shell=bash
#
# tests/cli/cli.sh - what the suites of the commands share. Sourced after tests/lib.sh.

# json_get FILE KEY: the value of the first "KEY" as `--format json` prints it, one key a line.
json_get()
{
	sed -n "s/^[[:space:]]*\"$2\":[[:space:]]*\"\{0,1\}\([^\",{]*\)\"\{0,1\},\{0,1\}\$/\1/p" \
		"$1" | head -n 1
}

# json_orders FILE KEY: {order: n} of KEY as "0:36 2:20".
json_orders()
{
	awk -v key="\"$2\":" '
		$1 == key { inside = 1; next }
		inside && /}/ { exit }
		inside { gsub(/[",]/, ""); printf "%s%s%s", sep, $1, $2; sep = " " }
	' "$1"
}

# same TEXT TEXT: two words must be the same.
same()
{
	[ "$1" = "$2" ] && return
	printf "'%s', expected '%s'\n" "$1" "$2" >&4
	return 1
}

# bad PATTERN ARGUMENT...: one line on stderr that matches, nothing on stdout, exit status 2.
bad()
{
	local pattern=$1

	shift
	expect_exit 2 timeout 60 "$FOLIOLAB" "$@" >bad.out 2>bad.err
	[ ! -s bad.out ] || {
		echo "output beside the error: $*" >&4
		return 1
	}
	test_line_count 1 bad.err
	test_grep '^foliolab: ' bad.err
	test_grep "$pattern" bad.err
}
