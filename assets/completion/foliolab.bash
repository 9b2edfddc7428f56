# shellcheck shell=bash
# bash completion for foliolab. What there is to complete is read off the program's own --help, so
# that it is always what the installed version understands.

# The options in `foliolab COMMAND... --help`.
_foliolab_options()
{
	"$@" --help 2>/dev/null | awk '
		/^Options:/ { inside = 1; next }
		inside && !NF { exit }
		inside && /^  (-|    -)/ {
			for (i = 1; i <= 2; i++)
				if ($i ~ /^-/) { sub(/,$/, "", $i); print $i }
		}'
}

# The words of `foliolab help`: the commands.
_foliolab_commands()
{
	"$1" help 2>/dev/null | awk '/^Commands:/ { inside = 1; next } inside && !NF { exit } inside { print $1 }'
}

# What may follow the command $2.
_foliolab_words()
{
	case $2 in
	lab)
		"$1" lab --help 2>/dev/null | awk '!NF { exit } { print $(NR == 1 ? 4 : 1) }'
		;;
	host)
		"$1" host --help 2>/dev/null | awk '/^  host / { print $2 }'
		;;
	bench)
		"$1" bench --help 2>/dev/null |
			awk '/^Benches:/ { inside = 1; next } inside && !NF { exit } inside && /^  [a-z]/ { print $1 }'
		;;
	grade)
		"$1" lab list 2>/dev/null | awk '/^ +[0-9]+  / { print $1 }'
		;;
	esac
}

# What may follow the option $2.
_foliolab_values()
{
	case $2 in
	--kernel) "$1" kernels 2>/dev/null | awk 'NF { print $1 }' ;;
	--page-size) printf '%s\n' 4k 16k 64k ;;
	--disk) printf '%s\n' hole ram nvme host ;;
	--view) printf '%s\n' none tui gui ;;
	--fs)
		printf '%s\n' xfs ext4 ext4-1k hostfs \
			tmpfs-default tmpfs-always tmpfs-within tmpfs-never tmpfs-advise
		;;
	esac
}

_foliolab()
{
	local program=$1 word=$2 before=$3 command=${COMP_WORDS[1]-} words
	local -a call=("$program" "$command")

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_foliolab_commands "$program") help --version"
	else
		words=$(_foliolab_values "$program" "$before")
		if [ -z "$words" ] && [[ $word == -* ]]; then
			[ "$command" != host ] || call+=("${COMP_WORDS[2]-}")
			words=$(_foliolab_options "${call[@]}")
		elif [ -z "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then
			words=$(_foliolab_words "$program" "$command")
		elif [ -z "$words" ] && [ "$COMP_CWORD" -eq 3 ] && [ "$command" = lab ]; then
			words=$(_foliolab_words "$program" grade)
		fi
	fi
	[ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Where nothing of ours fits, file names do.
complete -o bashdefault -o default -F _foliolab foliolab
