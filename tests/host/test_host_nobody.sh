#!/usr/bin/env bash
# What works without rights works, and the rest says which right is missing. Runs as nobody.
. "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" = 0 ]; then
	have setpriv || skip_all "needs setpriv to give up root"
	as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
else
	as_nobody() { "$@"; }
fi
# The trash folder is private, so a folder and a binary that nobody may reach.
open=$(mktemp -d /tmp/foliolab-nobody.XXXXXX)
trap 'cd /; rm -rf "$open"' EXIT
chmod 755 "$open"
cp "$FOLIOLAB_O2" "$open/foliolab"
FOLIOLAB_O2=$open/foliolab
cd "$open" || exit 1
mkdir n
[ "$(id -u)" != 0 ] || chown nobody n

dd if=/dev/urandom of=data bs=64k count=64 status=none
[ "$(id -u)" != 0 ] || chown nobody data
sync

test_expect_success 'orders: pages are counted, orders are called unknown' '
	cat data > /dev/null
	as_nobody "$FOLIOLAB_O2" host orders data > out
	test_grep "1024 of 1024 pages cached" out
	test_grep "needs root .CAP_SYS_ADMIN" out
	as_nobody "$FOLIOLAB_O2" host orders data --format json > json
	test_grep "\"exact\":.*false" json
'

test_expect_success 'diff: counts of cached pages are compared, the missing right is named' '
	as_nobody "$FOLIOLAB_O2" host diff -e "read 4k 3; fadvise dontneed 0 0" \
		--file data > out || test $? -eq 1
	test_grep "Only counts" out
	test_grep "expected root" out
	test_grep "miniature" out
'

test_expect_success 'a file of somebody else: nothing is told, and that is said' '
	[ "$(id -u)" = 0 ] || exit 0
	truncate -s 1m cold
	expect_exit 2 as_nobody "$FOLIOLAB_O2" host orders cold 2> err
	test_grep "foliolab: mincore: .*expected one that you own or may write" err
	expect_exit 2 as_nobody "$FOLIOLAB_O2" host diff -e "read 4k" --file cold 2> err
	test_grep "foliolab: mincore: " err
	chmod 666 cold
	as_nobody "$FOLIOLAB_O2" host orders cold > out
	test_grep "cold: 0 of 256 pages cached" out
'

test_expect_success 'trace and record name the right they lack' '
	expect_exit 2 as_nobody "$FOLIOLAB_O2" host trace -- true 2> err
	test_grep "foliolab: tracefs: .*expected root" err
	expect_exit 2 as_nobody "$FOLIOLAB_O2" host record -e "read 4k" --file data 2> err
	test_grep "foliolab: tracefs: .*expected root" err
'

test_expect_success 'import, export and replay need no rights' '
	cp "$TESTDATA/host/traces/linux-6.18.ftrace.txt" n/real.txt
	chmod 644 n/real.txt
	as_nobody "$FOLIOLAB_O2" import n/real.txt -o n/real.flt
	as_nobody "$FOLIOLAB_O2" export n/real.flt --format svg > picture
	test_grep "6.18.44" picture
	rm n/real.*
'

test_expect_success 'calibrate needs no rights; its table is used with --costs' '
	HOME=$PWD/n as_nobody env HOME="$PWD/n" "$FOLIOLAB_O2" calibrate --dir n --rounds 2 > cal
	test_grep "read 64k, cached" cal
	test_grep "a cache miss [0-9]" cal
	test "$(grep -c "%.*%$" cal)" -ge 12
	expect_exit 2 "$FOLIOLAB" calibrate --rounds 1 2> err
	test_grep "foliolab: --rounds: .1., expected 2 to 200" err
	"$FOLIOLAB" run -e "read 4k 64" --costs n/.config/foliolab/costs > run
	test_grep "virtual time" run
	test "$(ls -A n)" = .config
'

test_expect_success 'a damaged cost table is refused with its line' '
	printf "SYSCALL 100\nCOPY_BITE 5\n" > bad
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" --costs bad 2> err
	test_grep "foliolab: bad:2: unknown cost .COPY_BITE.*COPY_BYTE" err
	printf "SYSCALL many\n" > bad
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" --costs bad 2> err
	test_grep "foliolab: bad:1: .many. for SYSCALL" err
'

test_done
