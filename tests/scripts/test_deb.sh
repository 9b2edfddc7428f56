#!/bin/bash
# scripts/test_deb.sh - the Debian package agrees with the rest of the tree.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

test_expect_success 'it needs for building what scripts/setup installs for building' '
	sed -n "/^cmd:make/,/^END/p" "$FL_ROOT/scripts/setup" |
		awk -F"|" "/^(pkg|header|cmd:pkg-config)/ && !/cmocka|stdio/ { print \$3 }" |
		tr -d " " | LC_ALL=C sort >want
	[ "$(wc -l <want)" -gt 10 ]
	sed -n "/^Build-Depends/,/^[A-Z]/s/^ \([^ ,]*\).*/\1/p" "$FL_ROOT/scripts/debian/control" |
		grep -v debhelper | LC_ALL=C sort >got
	test_cmp want got
'

test_expect_success 'its version is the program'\''s' '
	sed -n "1s/.*(\(.*\)-[0-9]*).*/foliolab \1/p" "$FL_ROOT/scripts/debian/changelog" >want
	"$FOLIOLAB_O2" --version | head -n 1 >got
	test_cmp want got
'

if have dh dpkg-buildpackage; then
	test_expect_success 'the source package holds the sources and nothing else, byte for byte' '
		BUILD=$PWD/one "$FL_ROOT/scripts/make-deb" --source >out
		test_grep "foliolab_.*\.dsc$" out
		tar -tJf one/deb/*.orig.tar.xz >names
		test_grep "/engine/mm/readahead\.c$" names
		test_grep "/scripts/setup$" names
		test_no_grep "/\.|/build/|\.o$" names
		BUILD=$PWD/two "$FL_ROOT/scripts/make-deb" --source >out
		cmp one/deb/*.orig.tar.xz two/deb/*.orig.tar.xz
	'
else
	test_skip 'the source package holds the sources and nothing else' 'no debhelper here'
fi

test_done
