#!/bin/bash
# tui/test_tui.sh - the terminal view in a real terminal (tmux), with the sanitized program.
#
# UPDATE_GOLDEN=1 writes the golden screens anew.
#
# Proves what a person relies on: steps forward and back return to the identical screen, every key
# of the help can be pressed, sizes may change at any moment, the terminal is left as it was
# however the view ends, plain terminals get ASCII and no colour, no terminal gets a sentence.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2016,SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

ops='read 4k 60; pread 8m 300k; pwrite 2m 40k; reopen; read 64k 20'
golden=$TESTDATA/tui/golden

# shellcheck source=tests/tui/screen.sh
. "$(dirname "$0")/screen.sh"

# view SIZE: the view of the usual run, settled.
view()
{
	start "$1" "'$FOLIOLAB' run -e '$ops' --no-settings --view tui 2>errors"
	settle
	test_grep 'FolioLab|event' screen
}

for size in 80x24 120x40 200x60; do
	test_expect_success "$size: forward and back is the identical screen" "
		view $size
		press o o o o o o o o w
		settle
		cp screen first
		press . . . . . . . . . . .
		settle
		! cmp -s screen first
		press , , , , , , , , , , ,
		settle
		test_cmp first screen
	"
	test_expect_success "$size: the screen in the middle of a window" "
			view $size
		press o o o o o o o o o w . . .
		settle
		if [ -n \"\${UPDATE_GOLDEN-}\" ]; then cp screen '$golden/$size.txt'; fi
		test_cmp '$golden/$size.txt' screen
	"
done

test_expect_success 'every key of the table can be pressed, in every size' '
	sed -n "s/^KEY(\([A-Z_]*\),[^\"]*\"\([^\"]*\)\".*/\2/p" "$FL_ROOT/engine/view/tui/keys.def" |
		sed "s/^PgUp$/PPage/; s/^PgDn$/NPage/; s/^Shift-Tab$/BTab/; s/^q$//" >keys
	test "$(wc -l <keys)" -ge 35
	for size in 40x10 80x24 130x40; do
			view $size
		while read -r key; do
			[ -n "$key" ] || continue
			tm send-keys -t t "$key"
			tm send-keys -t t Escape
		done <keys
		alive
	done
'

test_expect_success 'help names every key; the text twin tells the moment' '
	view 130x50
	press "?"
	settle
	test_grep "forward to the next readahead window" screen
	test_grep "Shift-Tab" screen
	press "?" o o t
	settle
	test_grep "The read returned 4096 bytes from page 1" screen
	test_grep "Readahead window: start" screen
'

test_expect_success 'a storm of sizes, in the view, in help and in the prompt' '
	for mode in o "?" t /; do
			view 80x24
		press o o o "$mode"
		for size in 1x1 200x60 3x50 79x5 40x10 41x23 100x30 12x3 2x2 80x24; do
			tm resize-window -t t -x "${size%x*}" -y "${size#*x}"
			sleep 0.05
		done
		alive
	done
'

test_expect_success '500 random keys' '
	view 100x32
	awk "BEGIN {
		srand(7)
		n = split(\". , o O w W Space + - g / n N f b r m Up Down Left Right PPage NPage [ ] z F Enter Tab c t T : ? 1 2 0 a Home End\", k, \" \")
		for (i = 0; i < 500; i++)
			print k[int(rand() * n) + 1]
	}" >walk
	while mapfile -t -n 20 keys && [ ${#keys[@]} -gt 0 ]; do
		tm send-keys -t t "${keys[@]}"
		sleep 0.1
	done <walk
	tm send-keys -t t Escape Escape
	press Space
	sleep 0.5
	press .
	sleep 1
	tm resize-window -t t -x 101 -y 32
	alive
'

test_expect_success 'q leaves the terminal as it was' '
	view 80x24
	press q
	wait_for after
	test_grep "exit 0" status
	test_cmp before after
	test ! -s errors
'

test_expect_success 'TERM and INT restore the terminal and end the program' '
	for signal in TERM INT; do
			view 80x24
		tm list-panes -t t -F "#{pane_pid}" >pid
		pkill -"$signal" -P "$(cat pid)" foliolab
		wait_for after
		test_grep "exit 1(43|30)" status
		test_cmp before after
	done
'

test_expect_success 'stopped and continued, the screen is there again' '
	view 80x24
	press o o o
	settle
	cp screen first
	tm list-panes -t t -F "#{pane_pid}" >pid
	pkill -TSTP -P "$(cat pid)" foliolab
	sleep 0.5
	pkill -CONT -P "$(cat pid)" foliolab
	settle
	test_cmp first screen
	press .
	settle
	! cmp -s first screen
'

test_expect_success 'LANG=C: the same screen in ASCII' '
	locale=C
	view 80x24
	press o o o o o o w
	settle
	LC_ALL=C grep -q "[^ -~]" screen && { cat screen; false; }
	test_grep "2===" screen
'

test_expect_success 'NO_COLOR: no colour at all' '
	start 80x24 "NO_COLOR=1 $FOLIOLAB run -e \"$ops\" --no-settings --view tui"
	settle
	press o o
	settle
	tm capture-pane -t t -p -e >coloured
	! grep -q "38;5\|48;5" coloured
	grep -q FolioLab coloured
'

test_expect_success 'the screen goes to text and SVG files' '
	view 80x24
	press o o o
	settle
	cp screen before.txt
	rm -f foliolab-*
	press e
	settle
	head -n 23 before.txt | sed "s/ *$//" >want
	head -n 23 foliolab-*.txt | sed "s/ *$//" >got
	test_cmp want got
	press E
	settle
	head -c 4 foliolab-*.svg | grep -q "<svg"
	tail -n 1 foliolab-*.svg | grep -q "</svg>"
'

test_expect_success 'a run without an end is watched in step and left at once' '
	start 80x24 "$FOLIOLAB run -e \"read 4k 2000000000\" --size 8t --no-settings --view tui"
	settle
	test_grep " 0 live 0 %" screen
	press . . . o o
	settle
	test_grep "FolioLab .* [0-9]+ live 0 %" screen
	press / f l _ m a r k _ h i t Enter
	settle
	test_grep "^. *[0-9]+  fl_mark_hit" screen
	cp screen there
	press . . , ,
	settle
	test_cmp there screen
	press g 9 9 9 9 9 9 9 9 9 Enter
	sleep 1
	test_grep "running" <(screen)
	press q
	wait_for status
	test_grep "exit 0" status
'

test_expect_success 'replay shows a recording; a range is numbered as in the file' '
	"$FOLIOLAB" run -e "$ops" --trace t.flt >/dev/null
	start 80x24 "$FOLIOLAB replay --no-settings t.flt --from 100 --to 150"
	settle
	press .
	settle
	test_grep "101/151" screen
'

test_expect_success 'compare shows kernels side by side' '
	start 100x32 "$FOLIOLAB compare -e \"$ops\" --kernel v6.7 --kernel ab4443fe3ca6 --no-settings --view tui"
	settle
	press o o o o
	settle
	test_grep "v6.7 \(leads\).*ab4443fe3ca6" screen
'

test_expect_success 'settings and marked moments are remembered, also where a signal ends the view' '
	export XDG_CONFIG_HOME=$PWD/config XDG_STATE_HOME=$PWD/state
	"$FOLIOLAB" run -e "$ops" --trace s.flt >/dev/null
	start 80x24 "$FOLIOLAB replay s.flt"
	settle
	press T + G Tab o o o m
	settle
	tm list-panes -t t -F "#{pane_pid}" >pid
	pkill -TERM -P "$(cat pid)" foliolab
	wait_for after
	printf "theme light\nspeed 4\npanes memory\nmouse on\nglyphs ascii\n" >want
	test_cmp want config/foliolab/view
	at=$(cat state/foliolab/bookmarks/*)
	test "$at" -gt 10
	echo "theme nonsense" >>config/foliolab/view
	printf "\0\377junk" >>config/foliolab/view
	mv s.flt elsewhere.flt
	start 80x24 "$FOLIOLAB replay elsewhere.flt"
	settle
	test_grep "memory \(pages\)" screen
	tm send-keys -t t -H 27
	settle
	test_grep "$at/" screen
	press m q
	wait_for status
	test ! -e state/foliolab/bookmarks/*
	unset XDG_CONFIG_HOME XDG_STATE_HOME
'

test_expect_success 'without a home, or one that cannot be written, nothing is remembered and nothing said' '
	for home in "" /nonexistent /dev/null; do
		start 80x24 "HOME=$home $FOLIOLAB run -e \"$ops\" --view tui 2>errors"
		settle
		press T q
		wait_for after
		test_grep "exit 0" status
		test ! -s errors
	done
'

test_expect_success 'too small at the start: a message and exit 2' '
	start 39x9 "$FOLIOLAB run -e \"read 4k\" --no-settings --view tui 2>errors"
	wait_for status
	test_grep "exit 2" status
	test_grep "this terminal is 39x9, expected a terminal of at least 40x10" errors
'

test_expect_success 'TERM=dumb, an unknown TERM: a message and exit 2' '
	for term in dumb nonesuch; do
			start 80x24 "$FOLIOLAB run -e \"read 4k\" --no-settings --view tui 2>errors"
		wait_for status
		test_grep "exit 2" status
		test_grep "^foliolab: .*terminal.*expected" errors
	done
'

test_expect_success 'a pipe: exit 2, a message, and not one byte of output' '
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" --no-settings --view tui >out 2>errors
	test ! -s out
	test_grep "no terminal" errors
	expect_exit 2 "$FOLIOLAB" replay t.flt >out 2>errors
	test ! -s out
'

test_expect_success 'several processors: played, then watched from the beginning' '
	start 100x30 "$FOLIOLAB run -e \"read 4k 40\" --cpus 2 --tasks same --no-settings --view tui"
	see "0/[1-9][0-9]+ "
	press End
	see "([0-9]+)/\\1"
	press q
	wait_for status
	test_grep "exit 0" status
	printf "read 4k 4\ntask 1\nread 4k 8\n" >tasks.wl
	start 100x30 "$FOLIOLAB run tasks.wl --no-settings --view tui"
	see "0/[1-9][0-9]+ "
	press End
	see "([0-9]+)/\\1"
	test_no_grep "cannot be played" screen
	press q
'

test_done
