#!/bin/bash
# tui/test_attach.sh - one session in two terminals, with the sanitized program.
#
# Proves that a second view shows what the first does and leads it back; that the socket is the
# owner's alone and is gone however the session ends; that a second server takes only a socket
# whose server is dead; that who looks on is told when the session ends; and that neither a view
# without a display nor one in a build without SDL stays without a reason.
# Steps are strings.
# shellcheck disable=SC2016,SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/tui/screen.sh
. "$(dirname "$0")/screen.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

# Each terminal has a folder with the files of screen.sh.
mkdir first second
stop_both()
{
	(cd "$TMPDIR/first" && stop)
	(cd "$TMPDIR/second" && stop)
}
trap stop_both EXIT

# at FOLDER COMMAND...: in that terminal.
at()
{
	(cd "$1" && shift && "$@")
}

begin()
{
	at first start 100x30 "\"$FOLIOLAB\" run -e 'read 4k 60' --view tui --no-settings" \
		"--serve $TMPDIR/socket 2>errors"
	at first see "window"
	at second start 100x30 "\"$FOLIOLAB\" attach $TMPDIR/socket --no-settings 2>errors"
	at second see "attached"
}

test_expect_success 'the second view follows the first, and leads it' '
	begin
	test "$(stat -c %a socket)" = 600
	at first press g 2 5 Enter
	at first see "▶ +25 "
	at second see "▶ +25 "
	at second press . .
	at second see "▶ +27 "
	at first see "▶ +27 "
	at second press End
	at second see "([0-9]+)/\\1"
	at first see "([0-9]+)/\\1"
'

test_expect_success 'a third view may come later and stands where the others are' '
	at second press g 3 1 Enter
	at first see "▶ +31 "
	at second press q
	at second wait_for status
	test "$(cat second/status)" = "exit 0"
	at second start 100x30 "\"$FOLIOLAB\" attach $TMPDIR/socket --no-settings"
	at second see "▶ +31 "
'

test_expect_success 'nobody else may serve there' '
	bad "socket: Address already in use" run -e "read 4k" --serve socket
	: >file
	bad "file: Address already in use" run -e "read 4k" --serve file
	bad "Connection refused|No such file|not a socket" attach file
	bad "No such file" attach none
	bad "no SOCKET" attach
'

test_expect_success 'the end of the session takes the socket along; who looks on is told' '
	at first press q
	at first wait_for status
	test "$(cat first/status)" = "exit 0"
	test ! -e socket
	at second see "the session has ended|▶ +31 "
	at second press q
	at second wait_for status
	test "$(cat second/status)" = "exit 0"
'

test_expect_success 'a signal takes the socket along, with a view and without' '
	begin
	pkill_me=$(at first tm list-panes -F "#{pane_pid}")
	kill -TERM "$(ps -o pid= --ppid "$pkill_me" | head -n 1)"
	at first wait_for status
	test "$(cat first/status)" = "exit 143"
	test ! -e socket
	"$FOLIOLAB" run -e "read 4k 60" --serve alone 2>alone.err &
	for ((i = 0; i < 100; i++)); do
		[ ! -S alone ] || break
		sleep 0.1
	done
	test -S alone
	kill -TERM $!
	wait $!
	test ! -e alone
	test_grep "look on with: foliolab attach alone" alone.err
'

test_expect_success 'the socket of a killed session is replaced' '
	"$FOLIOLAB" run -e "read 4k 60" --serve killed 2>/dev/null &
	for ((i = 0; i < 100; i++)); do
		[ ! -S killed ] || break
		sleep 0.1
	done
	kill -KILL $!
	wait $! || :
	test -S killed
	bad "Connection refused" attach killed
	"$FOLIOLAB" run -e "read 4k 60" --serve killed 2>again.err &
	for ((i = 0; i < 100; i++)); do
		[ ! -s again.err ] || break
		sleep 0.1
	done
	at second start 100x30 "\"$FOLIOLAB\" attach $TMPDIR/killed --no-settings"
	at second see "attached"
	kill -TERM $!
	wait $!
	test ! -e killed
'

test_expect_success 'a window needs a display, and says so' '
	unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER
	"$FOLIOLAB" run -e "read 4k 60" --trace t.flt >/dev/null
	bad "no display for a window, expected DISPLAY" replay t.flt --view gui
	bad "no display for a window, expected DISPLAY" run -e "read 4k" --view gui
	DISPLAY=:4094 expect_exit 2 timeout 60 "$FOLIOLAB_O2" replay t.flt --view gui 2>err
	test_grep "no display for a window" err
'
test_done
