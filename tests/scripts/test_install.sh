#!/bin/bash
# scripts/test_install.sh - `make install`: what it puts where is complete, valid, runs from
# anywhere, says the same as the program's --help, and goes again.
# What follows is used in the steps, as texts.
# shellcheck disable=SC2034,SC2317
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# The binary is copied as it is (-o all): nothing is compiled here.
install_to()
{
	make -s -C "$FL_ROOT" -o all BUILD="$FL_BUILD" DESTDIR="$1" PREFIX=/usr/local "$2"
}

root=$TMPDIR/root
share=$root/usr/local/share
program=$root/usr/local/bin/foliolab
unset FOLIOLAB_LABS XDG_STATE_HOME

# The commands of the overview, one a line.
commands()
{
	"$FOLIOLAB_O2" help | awk '/^Commands:/ { inside = 1; next } inside && !NF { exit }
		inside { print $1 }'
}

# Every option that `foliolab ARGUMENT...` knows, found without looking at columns: what follows
# a comma or two blanks or more at the start of a line between "Options:" and the next blank line.
options_of()
{
	"$FOLIOLAB_O2" "$@" --help | sed -n '/^Options:/,/^$/p' | grep -E '^ {2,6}-' |
		grep -oE '^ +-[A-Za-z]\b|^ +--[a-z-]+|, --[a-z-]+' | tr -d ', ' | LC_ALL=C sort
}

# The commands with options of their own: host's are two words.
with_options()
{
	commands | grep -v '^host$'
	printf 'host %s\n' orders diff record trace
}

test_expect_success 'program, labs, manual pages, completions, desktop entry and icon' '
	install_to "$root" install
	test -x "$program"
	for f in foliolab/labs/README.md man/man1/foliolab.1 man/man5/foliolab-workload.5 \
		man/man5/foliolab-lab.5 bash-completion/completions/foliolab \
		zsh/site-functions/_foliolab fish/vendor_completions.d/foliolab.fish \
		applications/foliolab.desktop icons/hicolor/scalable/apps/foliolab.svg; do
		test -s "$share/$f"
	done
'

test_expect_success 'labs are found beside the program from any folder, through links too' '
	mkdir -p "with blank" && cd "with blank"
	"$program" lab list >out
	test_grep "What a folio is" out
	ln -s "$program" link
	(cd / && "$OLDPWD/link" lab list) >out2
	test_cmp out out2
'

test_expect_success 'FOLIOLAB_LABS is preferred; progress goes where XDG_STATE_HOME says' '
	mkdir own && cp -r "$share"/foliolab/labs/01-* own/
	FOLIOLAB_LABS=$PWD/own "$program" lab list >out
	[ "$(grep -c "about .* minutes" out)" -eq 1 ]
	XDG_STATE_HOME=$PWD/state expect_exit 1 "$program" lab watch 1 --once </dev/null >/dev/null
	test -f state/foliolab/01-what-a-folio-is/answers.lua
	HOME=$PWD/home expect_exit 1 "$program" lab watch 1 --once </dev/null >/dev/null
	test -f home/.local/state/foliolab/01-what-a-folio-is/answers.lua
'

test_expect_success 'solutions are not installed' '
	find "$root" -path "*solution*" >out
	test_line_count 0 out
'

test_expect_success '--version names the libraries it runs with' '
	"$program" --version >out
	test_grep "^foliolab [0-9]+\.[0-9]+\.[0-9]+$" out
	for lib in liblzma cjson openssl libext2fs libseccomp ncursesw libpng zlib; do
		test_grep "^$lib: [0-9]+\.[0-9]" out
	done
	test_grep "^libdwarf: [0-9.]+$" out
'

test_expect_success 'the manual has every command, operation, advice and kind of question' '
	commands >list
	[ "$(wc -l <list)" -gt 10 ]
	while read -r c; do
		test_grep "^\.It Cm $c\$" "$share/man/man1/foliolab.1"
	done <list
	grep -o "^\.It Cm [a-z0-9]*\$" "$share/man/man1/foliolab.1" | sed "s/.* //" >there
	test_cmp list there

	"$FOLIOLAB_O2" run --help >help
	sed -n "/^Operations/,/^\$/s/^  \([a-z-]*\) .*/\1/p" help >ops
	[ "$(wc -l <ops)" -gt 20 ]
	sed -n "/^ADVICE/,/^\$/p" help | grep -oE "\b[a-z_]+\b" |
		grep -vxE "of|madvise|only" >advice
	while read -r w; do
		test_grep "^\.(It )?Cm $w( |\$)" "$share/man/man5/foliolab-workload.5"
	done < <(cat ops advice)

	grep -o "ask\.[a-z]*" "$FL_ROOT"/labs/*/lab.lua -h | sort -u >kinds
	while read -r w; do
		test_grep "^\.It Cm $w\$" "$share/man/man5/foliolab-lab.5"
	done <kinds
'

if have mandoc; then
	# Whether other manuals are installed is no matter of these.
	test_expect_success 'mandoc finds nothing wrong with the manual' '
		mandoc -T lint "$share"/man/man?/* 2>&1 |
			grep -v "referenced manual not found\|outdated mandoc.db" >out || true
		test_cmp /dev/null out
	'
else
	test_skip 'mandoc finds nothing wrong with the manual' 'no mandoc here'
fi

if have desktop-file-validate; then
	test_expect_success 'the desktop entry is valid' '
		desktop-file-validate "$share/applications/foliolab.desktop" >out
		test_cmp /dev/null out
	'
else
	test_skip 'the desktop entry is valid' 'no desktop-file-validate here'
fi

test_expect_success 'bash completes every option of every command' - <<'STEP'
. "$share/bash-completion/completions/foliolab"
complete_words()
{
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_foliolab "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
commands | LC_ALL=C sort >want
complete_words "$FOLIOLAB_O2" '' | grep -vx -e help -e --version >got
test_cmp want got
while read -ra words; do
	options_of "${words[@]}" >want
	complete_words "$FOLIOLAB_O2" "${words[@]}" - >got
	test_cmp want got
done < <(with_options)
"$FOLIOLAB_O2" kernels | awk '{ print $1 }' | LC_ALL=C sort >want
complete_words "$FOLIOLAB_O2" run --kernel '' >got
test_cmp want got
{ "$FOLIOLAB_O2" bench none 2>&1 || true; } | sed 's/.*expected one of //; s/ (.*//; s/, /\n/g' |
	LC_ALL=C sort >want
test_grep '^tmpfs$' want
complete_words "$FOLIOLAB_O2" bench '' >got
test_cmp want got
complete_words "$program" lab run 1 >got
test_grep '^10$' got
STEP

if have fish; then
	test_expect_success 'fish completes every option of every command' - <<'STEP'
mkdir bin && ln -s "$FOLIOLAB_O2" bin/foliolab
export PATH=$PWD/bin:$PATH
f=$share/fish/vendor_completions.d/foliolab.fish
while read -ra words; do
	options_of "${words[@]}" >want
	fish --no-config -c "source '$f'; complete -C 'foliolab ${words[*]} -'" |
		cut -f1 | LC_ALL=C sort -u >got
	test_cmp want got
done < <(with_options)
STEP
else
	test_skip 'fish completes every option of every command' 'no fish here'
fi

if have zsh; then
	test_expect_success 'zsh completes every option of every command' - <<'STEP'
cat >ask.zsh <<'END'
compadd() { shift; print -l -- "$@"; }
_files() { }
words=("$@")
CURRENT=$#
source $FILE
END
while read -ra words; do
	options_of "${words[@]}" >want
	FILE=$share/zsh/site-functions/_foliolab zsh -f ask.zsh "$FOLIOLAB_O2" "${words[@]}" - |
		LC_ALL=C sort >got
	test_cmp want got
done < <(with_options)
STEP
else
	test_skip 'zsh completes every option of every command' 'no zsh here'
fi

test_expect_success 'uninstall leaves nothing' '
	install_to "$root" uninstall
	find "$root" ! -type d >out
	test_cmp /dev/null out
'

test_done
