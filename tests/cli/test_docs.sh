#!/bin/bash
# cli/test_docs.sh - what README, labs/ and engine/ tell people to type works, and what they name
# is there.
# What is used in the steps only looks unused.
# shellcheck disable=SC2034,SC2317
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

docs=("$FL_ROOT/README.md" "$FL_ROOT/labs/README.md" "$FL_ROOT/labs/INSTRUCTOR.md" "$FL_ROOT/engine/README.md")
export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state

# What the documents' command lines find: the program by both of its names, the files they speak of.
mkdir -p world/build world/bin world/submissions world/tests
ln -s "$FOLIOLAB_O2" world/build/foliolab
ln -s "$FOLIOLAB_O2" world/bin/foliolab
ln -s "$FL_ROOT/tests/golden" world/tests/golden
ln -s "$FL_ROOT/scripts" world/scripts
cp "$FL_ROOT"/labs/03-*/answers.lua world/submissions/ada.lua
echo 'read 4k 16' >world/lecture.wl
echo 'a package' >world/foliolab.deb
printf 'workload w read 4k 64\nra-kb 64 128\n' >world/waste.grid

# The command lines of a document, in order: indented or fenced lines that begin with the program, with
# "$ " before it or without; what stands apart behind it (two blanks or more) is a remark.
commands_of()
{
	sed -nE 's/^ {4,}(\$ )?((sudo )?(build\/)?foliolab .*|scripts\/grade-parallel .*)/\2/p;
		s/^((build\/)?foliolab .*)/\1/p' "$1" |
		sed -E 's/ {2,}[^ ].*//; s/ \[[^]]*\]//g; s/ *\| PATH\]//'
}

# Not typed here: what waits for a person, needs a kernel of ours, or fills a suite of its own
# (lab/test_labs checks all labs).
needs_person()
{
	case $1 in
	*'--view '* | *' replay '* | *' attach '* | *' lab watch'* | *' lab run'* | *' lab reset'*) return 0 ;;
	sudo* | *'struct folio --diff'* | *' IMAGE'*) return 0 ;;
	*' FILES'* | *' lab check') return 0 ;;
	esac
	return 1
}

# Exit status 1 is an answer, too: less than full marks.
run_line()
{
	local rc=0

	# Several documents make it.
	[[ $1 != *' lab new '* ]] || rm -rf world/07-my-lab
	(cd world && PATH=$PWD/bin:$PATH timeout 120 bash -c "$1" </dev/null >../out 2>../err) || rc=$?
	[ "$rc" -eq 0 ] && return
	[ "$rc" -eq 1 ] && [[ $1 == *grade* ]] && return
	printf 'exit status %d: %s\n' "$rc" "$1" >&4
	cat err >&4
	return 1
}

for doc in "${docs[@]}"; do
	test_expect_success "every command line of ${doc#"$FL_ROOT/"} works" '
		commands_of "$doc" >lines
		test -s lines
		while IFS= read -r line; do
			needs_person "$line" || run_line "$line"
		done <lines
	'
done

test_expect_success 'what waits for a person is understood as far as it can be: options, labs, files' '
	cat "${docs[@]}" >all
	commands_of all | grep -oE "foliolab [a-z0-9]+( (orders|diff|record|trace))? " | sort -u >pairs
	while read -r _ command rest; do
		"$FOLIOLAB_O2" "$command" --help >help
	done <pairs
	while IFS= read -r line; do
		needs_person "$line" || continue
		command=$(sed -E "s/.*foliolab ([a-z0-9]+).*/\1/" <<<"$line")
		[ "$command" != host ] || command="host diff"
		# shellcheck disable=SC2086
		"$FOLIOLAB_O2" $command --help >help
		for option in $(grep -oE -- "--[a-z-]+" <<<"$line"); do
			test_grep "(^| )$option( |\$)" help
		done
	done < <(commands_of all)
'

test_expect_success 'the grid in labs/INSTRUCTOR.md is one' '
	sed -n "/^cat >waste.grid/,/^END/p" "$FL_ROOT/labs/INSTRUCTOR.md" | sed "1d;\$d" >doc.grid
	"$FOLIOLAB_O2" sweep doc.grid --svg doc.svg >doc.csv
	test_line_count 25 doc.csv
'

test_expect_success 'INSTRUCTOR.md has the titles and times of the labs that are there' '
	sed -nE "s/^\| [0-9]+ \| ([0-9]+) (.*) \| ([0-9]+) \|.*/\1 \3/p" "$FL_ROOT/labs/INSTRUCTOR.md" >plan
	test_line_count 10 plan
	while read -r nr minutes; do
		grep -qE "^[[:space:]]*minutes = $minutes," "$FL_ROOT"/labs/"$nr"-*/lab.lua
	done <plan
'

test_expect_success 'the README is short, names every command that is for newcomers, and has its picture' '
	[ "$(wc -l <"$FL_ROOT/README.md")" -lt 150 ]
	picture=$(sed -n "s/^!\[.*\](\(.*\))/\1/p" "$FL_ROOT/README.md")
	test_grep "<svg" "$FL_ROOT/$picture"
'

test_expect_success 'files and functions that engine/README.md names are there' '
	sed -n "/^## A reading/,/^Commands/p" "$FL_ROOT/engine/README.md" >order
	grep -oE "\`(lib|mm|fs|block|machine)/[a-z0-9_/.-]+\`" "$FL_ROOT/engine/README.md" | tr -d "\`" >files
	[ "$(wc -l <files)" -gt 20 ]
	while read -r f; do
		test -f "$FL_ROOT/engine/$f"
	done <files
	grep -oE "\`[a-z0-9_]+\(\)\`" "$FL_ROOT/engine/README.md" | tr -d "\`()" | sort -u >functions
	[ "$(wc -l <functions)" -gt 15 ]
	while read -r f; do
		grep -rqE "\b$f\(" "$FL_ROOT/engine/mm" "$FL_ROOT/engine/fs" "$FL_ROOT/engine/block"
	done <functions
	grep -oE "\b[0-9a-f]{12}\b" "$FL_ROOT/engine/README.md" | sort -u >commits
	while read -r c; do
		grep -qF "$c" "$FL_ROOT/engine/machine/knobs.def" "$FL_ROOT/engine/machine/profiles.def"
	done <commits
'

test_done
