#!/bin/bash
# cli/test_pictures.sh - what `export` promises of pictures, pages and perfetto files.
#
# Proves that each format is what it says, at the size asked for, the same bytes every time; that
# --at, --range and --theme change the picture and only where they should; and that values that are
# none are refused in one line.
# Steps are strings.
# shellcheck disable=SC2016,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# png_size FILE: "WIDTH HEIGHT" from the header.
png_size()
{
	od -An -tu1 -j16 -N8 "$1" | awk '{ print $1 * 16777216 + $2 * 65536 + $3 * 256 + $4,
		$5 * 16777216 + $6 * 65536 + $7 * 256 + $8 }'
}

# Not the same file.
differ()
{
	! cmp -s "$1" "$2" || {
		echo "$1 and $2 are the same" >&4
		return 1
	}
}

test_expect_success 'a recording to draw' '
	"$FOLIOLAB" run -e "read 4k 100; pread 4m 64k" --disk nvme --kernel v6.12 --trace t.flt \
		>/dev/null
	"$FOLIOLAB" export t.flt --format csv -o events.csv
'

test_expect_success 'png: a picture of the size asked for' '
	"$FOLIOLAB" export t.flt --format png -o a.png
	test "$(head -c 8 a.png | od -An -tx1 | tr -d " ")" = 89504e470d0a1a0a
	test "$(png_size a.png)" = "1280 800"
	"$FOLIOLAB" export t.flt --format png --size 1920x1080 >b.png
	test "$(png_size b.png)" = "1920 1080"
	"$FOLIOLAB" export t.flt --format png --size 160x160 >small.png
	test "$(png_size small.png)" = "160 160"
'

test_expect_success 'svg: text that can be searched, of the size asked for' '
	"$FOLIOLAB" export t.flt --format svg --size 1000x700 -o a.svg
	test_grep "<svg [^>]*width=\"1000\" height=\"700\"" a.svg
	test_grep ">cached folios by order<" a.svg
	test_no_grep "href=\"[^d]|url\\(" a.svg
	tail -n 1 a.svg | grep -q "</svg>"
'

test_expect_success 'the same moment is the same bytes, another is not' '
	for format in png svg html perfetto; do
		"$FOLIOLAB" export t.flt --format $format --at 50 >1.$format
		"$FOLIOLAB" export t.flt --format $format --at 50 -o 2.$format
		test_cmp 1.$format 2.$format
		test -s 1.$format
	done
	for format in png svg html; do
		"$FOLIOLAB" export t.flt --format $format --at 120 >3.$format
		differ 1.$format 3.$format
	done
'

test_expect_success '--at beyond the end is the end, as without it' '
	"$FOLIOLAB" export t.flt --format svg --at 99999999 >end.svg
	"$FOLIOLAB" export t.flt --format svg >default.svg
	test_cmp end.svg default.svg
	last=$(($(wc -l <events.csv) - 1))
	test_grep ">[^<]*event $last of $last" end.svg
	"$FOLIOLAB" export t.flt --format svg --at 0 >begin.svg
	test_grep ">[^<]*event 0 of $last" begin.svg
'

test_expect_success 'every theme is another picture; print is on white, light is light' '
	for theme in dark light contrast mono print; do
		"$FOLIOLAB" export t.flt --format svg --theme $theme --at 80 >$theme.svg
		differ $theme.svg a.svg
	done
	test_grep "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"" print.svg
	test_no_grep "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"" dark.svg
	"$FOLIOLAB" export t.flt --format svg --theme dark --at 80 >again.svg
	test_cmp dark.svg again.svg
	"$FOLIOLAB" export t.flt --format svg --at 80 >default.svg
	test_cmp dark.svg default.svg
'

test_expect_success '--range says which events are summed up, and sums up those' '
	"$FOLIOLAB" export t.flt --format svg --range 20-90 >range.svg
	differ range.svg end.svg
	awk -F, "FNR == NR { if (\$1 == 20) a = \$2; if (\$1 == 90) b = \$2; next }
		\$2 >= a && \$2 <= b && \$4 == \"mm_filemap_add_to_page_cache\" { n[\$7]++ }
		END { for (o = 0; o < 5; o++) print o, n[o] + 0 }" events.csv events.csv >want
	for order in 0 1 2 3 4; do
		echo "$order $(grep -A 3 "> $order</text>" range.svg | grep "<text" |
			sed -n "2s/.*>\([0-9]*\)<.*/\1/p")"
	done >have
	test_cmp want have
	test_no_grep "2 0" want
'

test_expect_success 'a part of a recording keeps its numbers' '
	"$FOLIOLAB" export t.flt --format svg --from 60 --at 100 >part.svg
	test_grep ">[^<]*event 100 of" part.svg
	"$FOLIOLAB" export t.flt --format svg --at 100 >whole.svg
	test_grep ">[^<]*event 100 of" whole.svg
'

test_expect_success 'nothing is left where nothing could be made' '
	expect_exit 2 "$FOLIOLAB" export none.flt --format png -o none.png 2>err
	test ! -e none.png
	expect_exit 2 "$FOLIOLAB" export events.csv --format html -o none.html 2>err
	test ! -e none.html
'

test_expect_success 'values that are none are refused in one line' '
	for size in "" 0x0 1280 1280x 1280x800x2 -1x5 159x800 1280x8193 1e3x800 "1280 x 800"; do
		bad "size.*expected WIDTHxHEIGHT" export t.flt --format png --size "$size"
	done
	for range in "" 5 5- -5 9-5 5-5 a-b 1-2-3 1--2; do
		bad "range.*expected two events" export t.flt --format png "--range=$range"
	done
	for at in "" -1 x 1.5 99999999999999999999999; do
		bad "at.*expected the number of an event" export t.flt --format png "--at=$at"
	done
	bad "unknown theme .darc., .*did you mean .dark." export t.flt --format svg --theme darc
	bad "unknown format|expected" export t.flt --format gif
	bad "no recording" export --format png
'
test_done
