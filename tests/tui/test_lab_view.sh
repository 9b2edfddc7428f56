#!/bin/bash
# tui/test_lab_view.sh - labs in the terminal view, with the sanitized program in a real terminal.
#
# Proves that the menu leads to a lab and back, that lab 01 can be done from start to finish by
# what the screen says, that the machines of a step can be travelled, that a script without an end
# holds up nothing, and that whatever ends the view leaves the progress and the terminal in order.
# shellcheck disable=SC2016,SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/tui/screen.sh
. "$(dirname "$0")/screen.sh"

export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state XDG_CONFIG_HOME=$TMPDIR/config
state=$XDG_STATE_HOME/foliolab

# lab SIZE WORDS...: 'lab run' with these words, settled.
lab()
{
	local size=$1

	shift
	start "$size" "'$FOLIOLAB' lab run --no-settings $* 2>errors"
	settle
}

typed()
{
	tm send-keys -t t -l "$1"
	press Enter
	settle
}

test_expect_success 'the menu: search, preview, a lab, back, quit' '
	start 100x30 "$FOLIOLAB 2>errors"
	see "18  When a large folio is worse"
	test_grep "^▶ 01  What a folio is" screen
	press / r e g r e s s Enter
	settle
	test_grep "^▶ 03  The regression" screen
	test_grep "In February 2024 a robot reported" screen
	! grep -q "01  What a folio" screen
	press Enter
	settle
	test_grep "step 1 of 6: Two columns of numbers" screen
	test_grep "answer >" screen
	press F10
	see "18  When"
	press q
	wait_for after
	test_grep "exit 0" status
	test_cmp before after
	test ! -s errors
'

test_expect_success 'a lab.lua without an end is listed as broken and holds up no key' '
	mkdir -p endless/01-endless
	cp -r "$FL_ROOT/labs/02-the-readahead-window" endless
	echo nothing >endless/01-endless/README.md
	printf "local s = (\"a\"):rep(9999)\nwhile true do pcall(string.find, s, s) end\n" \
		>endless/01-endless/lab.lua
	start 100x30 "FOLIOLAB_LABS=$PWD/endless $FOLIOLAB 2>errors"
	see "02  The readahead window"
	! grep -q broken screen
	press Down
	see "^▶ 02  The readahead window"
	! grep -q broken screen
	see "01  01-endless .*broken"
	press Up
	see "broken: "
	press q
	wait_for after
	test_grep "exit 0" status
	test ! -s errors
'

test_expect_success 'help begins with the keys of a lab' '
	lab 80x24 1
	press F1
	see "^ +Space  play or pause"
	test_grep "^ +R  in a lab: reveal" screen
	test_grep "^ +H  in a lab: a hint" screen
	press x
	press F10
	wait_for after
	"$FOLIOLAB" lab reset 1 --yes >/dev/null
'

test_expect_success 'the first question by hand: wrong, hint, right' '
	lab 80x40 1
	bytes=$(sed -n "s/^ Your file has \([0-9]*\) bytes.*/\1/p" screen)
	typed 999999
	test_grep "Not right. Try again" screen
	press H
	settle
	test_grep "Hint 1 of 1:" screen
	typed "$(((bytes + 4095) / 4096))"
	test_grep "Right. 1 of 2 points" screen
	test_grep "1 of 62 points" screen
	test_grep "Enter goes on >" screen
	press Enter
	settle
	test_grep "step 2 of 7" screen
	press F10
	wait_for after
	test_grep "steps_done.*1" "$state/01-what-a-folio-is/progress.json"
	test_grep "Go on with: foliolab lab run 01-what-a-folio-is" <(screen)
'

test_expect_success 'travelling the machine of a step, and back to its text' '
	lab 120x40 1
	press Tab
	settle
	press Home o
	settle
	cp screen there
	press . . . , , ,
	settle
	test_cmp there screen
	test_grep "^ *Space|Space play" screen
	press Escape
	settle
	test_grep "F10 save and quit" screen
	press "?"
	settle
	test_grep "in a lab: a hint" screen
	press Escape
	settle
	test_grep "step 2 of 7" screen
'

test_expect_success 'a line of Lua on the machine of the step' '
	lab 120x40 1
	press :
	typed "m:cached(), 3 / 7"
	test_grep "^ : m:cached\(\), 3 / 7" screen
	test_grep "^ [0-9]+  0.4286" screen
	events=$(sed -n "1s,.* [0-9]*/\([0-9]*\) .*,\1,p" screen)
	press :
	typed "m:play(\"read 4k 3\")"
	test_grep "during read 4k 3" screen
	test "$(sed -n "1s,.* [0-9]*/\([0-9]*\) .*,\1,p" screen)" -gt "$events"
	press :
	typed "x = = 1"
	test_grep "unexpected symbol" screen
	press :
	typed "print(\"\27[31mred\tx\")"
	test_grep "^ [?]\[31mred x" screen
	press :
	tm send-keys -t t -l "while true do end"
	press Enter
	see "instructions|answer >"
	alive
'

for size in 80x24 120x40; do
	test_expect_success "$size: lab 01 from start to finish" '
		"$FOLIOLAB" lab reset 1 --yes >/dev/null
		lab '$size' 1
		cp "$FL_ROOT/tests/solutions/01-what-a-folio-is.lua" "$state/01-what-a-folio-is/answers.lua"
		for ((i = 0; i < 90; i++)); do
			settle
			if grep -q "all 7 steps done" screen; then break; fi
			if grep -q "^ Enter goes on >" screen; then press Enter; continue; fi
			if grep -q "Press Enter when you saved\|take them from the file" screen; then
				press Enter
				settle
				grep -q "Right\." screen && continue
			fi
			grep -q "^ answer >" screen && press r Enter
		done
		test_grep "all 7 steps done" screen
		test_grep "All 7 steps are done: [0-9]+ of 62 points" screen
		press Enter
		wait_for after
		test_grep "exit 0" status
		test_cmp before after
		test ! -s errors
		test_grep "steps_done.*7" "$state/01-what-a-folio-is/progress.json"
	'
done

# A lab whose run never ends.
stuck_lab()
{
	mkdir -p 09-stuck
	cat >09-stuck/lab.lua <<-'END'
		lab {
			title = "Stuck", summary = "It never ends.", minutes = 1,
			steps = { step {
				id = "a", title = "Round and round", brief = "Press Enter, then wait.",
				prepare = function(s) s.m = fl.machine { size = "1m" } s.m:play("read 4k 3") end,
				questions = {
					ask.number { id = "n", predict = true, text = "One?", answer = function() return 1 end },
				},
				run = function(s) while true do s.m:play("pread 0 1m; fadvise dontneed 0 0") end end,
			} },
		}
	END
	echo '# Stuck' >09-stuck/README.md
	echo 'return {}' >09-stuck/answers.lua
}

test_expect_success 'a script without an end: keys work, Esc stops it' '
	stuck_lab
	lab 100x30 ./09-stuck
	typed 1
	sleep 1
	settle
	test_grep "working... \(Esc stops it\)" screen
	press Tab Home . .
	settle
	test_grep " 2/" screen
	press Escape "F1"
	settle
	test_grep "forward to the next readahead window" screen
	press Escape Escape
	settle
	test_grep "This lab cannot go on" screen
	press Enter
	wait_for status
	test_grep "exit 2" status
	test_cmp before after
	test_grep "foliolab: .*limit" errors
'

test_expect_success 'a signal while a script runs on: the terminal is restored, answers are kept' '
	for signal in TERM HUP INT; do
		rm -rf "$state/09-stuck"
		lab 80x24 ./09-stuck
		typed 1
		sleep 0.5
		tm list-panes -t t -F "#{pane_pid}" >pid
		pkill -"$signal" -P "$(cat pid)" foliolab
		wait_for after
		test_grep "exit 1(43|29|30)" status
		test_cmp before after
		test_grep "\"n\"" "$state/09-stuck/progress.json"
		test_grep "right" "$state/09-stuck/progress.json"
	done
'

test_expect_success 'sizes and keys at random, in menu and lab' '
	for what in "" "lab run --no-settings 3"; do
		start 100x30 "$FOLIOLAB $what 2>errors"
		settle
		for size in 1x1 200x60 3x50 79x5 40x10 41x23 100x30 12x3 2x2 119x30 120x24 80x24; do
			tm resize-window -t t -x "${size%x*}" -y "${size#*x}"
			sleep 0.05
		done
		alive
	done
	awk "BEGIN {
		srand(11)
		n = split(\". , o w Space + / n f b r m Up Down Left Right PPage NPage [ z F Enter Tab Tab BTab c t T : ? 1 2 a Home End H BSpace Escape\", k, \" \")
		for (i = 0; i < 500; i++)
			print k[int(rand() * n) + 1]
	}" >walk
	while mapfile -t -n 20 keys && [ ${#keys[@]} -gt 0 ]; do
		tm send-keys -t t "${keys[@]}"
		sleep 0.1
	done <walk
	sleep 1
	alive
'

test_expect_success 'text where there is no view: --plain, TERM=dumb, a tiny terminal' '
	start 80x24 "$FOLIOLAB lab run 3 --plain"
	settle
	test_grep "^Lab 03  The regression" screen
	start 30x9 "$FOLIOLAB lab run 3"
	see "^>$"
	term=dumb
	start 80x24 "$FOLIOLAB"
	see "Which lab\?"
'

test_expect_success 'LANG=C: the same in ASCII' '
	locale=C
	lab 120x30 3
	LC_ALL=C grep -q "[^ -~]" screen && { cat screen; false; }
	test_grep "answer >" screen
	start 120x30 "$FOLIOLAB"
	settle
	LC_ALL=C grep -q "[^ -~]" screen && { cat screen; false; }
	test_grep "^> 01  What a folio is" screen
'

test_done
