#!/bin/bash
# debuginfo/test_where.sh - --trace-code, `foliolab where` and `foliolab names`.
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

# source_line FILE:LINE: that line of the source.
source_line()
{
	sed -n "${1##*:}p" "$FL_ROOT/${1%:*}"
}

# event_number NAME FILE: the number of the first event of that name in a recording.
event_number()
{
	"$FOLIOLAB" export "$2" --format csv -o events.csv
	awk -F, -v name="$1" '$4 == name { print $1; exit }' events.csv
}

test_expect_success 'a recording with code positions is the same recording, and longer' '
	"$FOLIOLAB" run -e "read 4k 200; pread 1m 64k" --trace plain >out1
	"$FOLIOLAB" run -e "read 4k 200; pread 1m 64k" --trace code --trace-code >out2
	test_cmp out1 out2
	size=$(stat -c %s plain)
	cmp -n "$size" plain code
	[ "$(stat -c %s code)" -gt "$size" ]
	"$FOLIOLAB" export plain --format csv >plain.csv
	"$FOLIOLAB" export code --format csv >code.csv
	cmp plain.csv code.csv
'

test_expect_success 'where: every caller stands on the line that calls' '
	nr=$(event_number page_cache_ra_order code)
	"$FOLIOLAB" where "$nr" code >out
	test_grep "^event $nr: page_cache_ra_order " out
	test_grep "^#[0-9]+ +page_cache_ra_order +engine/mm/readahead.c:[0-9]+" out
	test_grep "^#[0-9]+ +main +engine/cli/main.c:[0-9]+$" out
	sed -n "s/^#[0-9]* *\([^ ]*\) *\([^ ]*\).*/\1 \2/p" out >frames
	[ "$(wc -l <frames)" -ge 8 ]
	found=0
	while read -r function place; do
		case $function in
		filemap_get_pages) source_line "$place" | grep -q page_cache_sync_ra; found=$((found + 1)) ;;
		filemap_read) source_line "$place" | grep -q filemap_get_pages; found=$((found + 1)) ;;
		ksys_read) source_line "$place" | grep -q vfs_read; found=$((found + 1)) ;;
		esac
	done <frames
	same "$found" 3
'

# With optimisation a call that is the last thing a function does is a jump, and leaves no trace.
test_expect_success 'where: the program with optimisation names the same calls in the same order' '
	"$FOLIOLAB_O2" run -e "read 4k 200; pread 1m 64k" --trace code2 --trace-code >out2
	"$FOLIOLAB_O2" where "$(event_number page_cache_ra_order code2)" code2 >out2
	"$FOLIOLAB" where "$(event_number page_cache_ra_order code)" code >out1
	for f in out1 out2; do
		sed -n "s/^#[0-9]* *\([^ ]*\) .*/\1/p" $f >$f.names
	done
	[ "$(wc -l <out2.names)" -ge 12 ]
	diff out1.names out2.names | awk "/^>/ { exit 1 }"
'

test_expect_success 'where: JSON' '
	"$FOLIOLAB" where 3 code --format json | tr -d " \t\n" >out
	test_grep "^\{\"event\":3,\"name\":\"[a-z_]+\",\"text\":\".*\",\"frames\":\[\{\"function\":" out
'

test_expect_success 'where: what is not there' '
	refuse()
	{
		local pattern=$1
		shift
		expect_exit 2 "$FOLIOLAB" "$@" >out 2>err
		[ ! -s out ]
		test_line_count 1 err
		test_grep "$pattern" err
	}
	refuse "no code positions" where 3 plain
	refuse "no event 99999999" where 99999999 code
	refuse "of another build" where 3 code2
	refuse "number of an event" where x code
	refuse "number of an event and a recording" where 3
	refuse "No such file" where 3 missing
	refuse "expected --trace too" run -e "read 4k" --trace-code
'

test_expect_success 'where: damaged code positions' '
	size=$(stat -c %s plain) whole=$(stat -c %s code)
	for at in 0 4 8 12 16 24 32 40 60; do
		cp code broken
		printf "\377\376\375\374" | dd of=broken bs=1 seek=$((size + at)) conv=notrunc status=none
		expect_exit 2 "$FOLIOLAB" where 3 broken 2>err
		test_grep "cut off or damaged" err
	done
	for cut in $((size + 1)) $((size + 40)) $((whole - 1)); do
		head -c "$cut" code >broken
		expect_exit 2 "$FOLIOLAB" where 3 broken 2>err
		test_grep "cut off or damaged" err
	done
	head -c $((size - 10)) code >broken
	expect_exit 2 "$FOLIOLAB" where 3 broken
'

test_expect_success 'names: every function stands where it is said to' '
	printf "%s\n" "ffffffff81000000 T filemap_read" "ffffffff81000010 t page_cache_ra_order.constprop.0" \
		"ffffffff81000020 D nr_file_pages" >map
	"$FOLIOLAB" names --system-map map >out
	test_grep "^y filemap_read +engine/mm/filemap_read.c:[0-9]+$" out
	test_grep "^y page_cache_ra_order +engine/mm/readahead.c:[0-9]+$" out
	test_grep "^2 of [0-9]+ functions are in map$" out
	sed -n "s/^[y-] \([^ ]*\) *\([^ ]*\)$/\1 \2/p" out >list
	[ "$(wc -l <list)" -ge 500 ]
	cd "$FL_ROOT"
	while read -r name place; do
		echo "$name $place $(source_line "$place")"
	done <"$OLDPWD/list" >"$OLDPWD/lines"
	cd "$OLDPWD"
	# Or a macro that makes several: FOLIO_FLAG(dirty).
	awk "{ name = \$1; \$1 = \$2 = \"\"; sub(/^ +/, \"\") }
		!index(\$0, name \"(\") && !/^[A-Z_]+\(/ { print name, \$0 }" lines >wrong
	test_line_count 0 wrong
'

test_expect_success 'names: --missing, JSON, bad maps' '
	"$FOLIOLAB" names --system-map map --missing >out
	test_no_grep "^y " out
	"$FOLIOLAB" names --system-map map --format json | tr -d " \t\n" >out
	test_grep "\"in_kernel\":2,\"all\":[0-9]+\}$" out
	echo text >bad
	expect_exit 2 "$FOLIOLAB" names --system-map bad 2>err
	test_grep "bad:1: no symbol" err
	: >bad
	expect_exit 2 "$FOLIOLAB" names --system-map bad 2>err
	test_grep "empty" err
	expect_exit 2 "$FOLIOLAB" names --system-map map --vmlinux x 2>err
	test_grep "a second kernel" err
'

test_expect_success 'names: symbols and inlined functions of a vmlinux' '
	echo "static inline __attribute__((always_inline)) int filemap_read(int a) { return a * 2; }
		__attribute__((noinline)) int vfs_read(int a) { return filemap_read(a); }
		int main(int n, char **v) { return vfs_read(n) + (v == 0); }" >k.c
	gcc -O2 -g -o k k.c
	"$FOLIOLAB" names --vmlinux k >out
	test_grep "^y filemap_read " out
	test_grep "^y vfs_read " out
	test_grep "^2 of " out
'

test_done
