# shellcheck shell=bash
# tui/screen.sh - a real terminal (tmux) for tests of the view: sourced after lib.sh.
#
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2034

have tmux || skip_all 'no tmux here'

export TMUX_TMPDIR=$TMPDIR
unset TMUX

# Every view has a server of its own; its name is in the file "server".
tm()
{
	tmux -L "$(cat server)" "$@"
}

stop()
{
	[ ! -e server ] || tm kill-server 2>/dev/null || :
	rm -f server status before after
}
trap stop EXIT

# start WxH COMMAND...: a window of that size with a shell that runs the command.
start()
{
	local size=$1

	shift
	stop
	echo "t$BASHPID.$RANDOM" >server
	tm -f /dev/null new-session -d -s t -x "${size%x*}" -y "${size#*x}" \
		"export TERM=${term:-tmux-256color} LC_ALL=${locale:-C.UTF-8} PS1='shell> '
		stty -a >before; $*; echo \"exit \$?\" >status; stty -a >after; exec sleep 600"
}

screen()
{
	tm capture-pane -t t -p
}

# settle: wait until the screen has not changed for a while; leaves it in the file "screen".
settle()
{
	local i before='' now same=0

	for ((i = 0; i < 200; i++)); do
		now=$(screen)
		same=$((same + 1))
		[ "$now" = "$before" ] && [ -n "${now//[[:space:]]/}" ] || same=0
		if [ "$same" -ge 4 ]; then
			printf '%s\n' "$now" >screen
			return 0
		fi
		before=$now
		sleep 0.1
	done
	echo 'the screen does not come to rest'
	return 1
}

# see REGEX: wait until the screen shows it; leaves the screen in the file "screen".
see()
{
	local i now

	for ((i = 0; i < 300; i++)); do
		now=$(screen)
		printf '%s\n' "$now" >screen
		! grep -Eq -- "$1" screen || return 0
		sleep 0.1
	done
	echo "the screen does not show $1:"
	cat screen
	return 1
}

# wait_for FILE: until the shell in the window has written it.
wait_for()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ -s "$1" ] && return
		sleep 0.1
	done
	echo "no $1"
	return 1
}

press()
{
	local k

	for k; do tm send-keys -t t "$k"; done
}

alive()
{
	settle
	test ! -e status || { cat status errors; return 1; }
}
