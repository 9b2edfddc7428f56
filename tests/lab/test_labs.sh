#!/bin/bash
# lab/test_labs.sh - labs as students and instructors use them.
# Steps are strings.
# shellcheck disable=SC2034
. "$(dirname "$0")/../lib.sh"

export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state
lab()
{
	"$FOLIOLAB" lab "$@"
}

# All students in the soak, some of them else.
students=30
[ -z "${FL_SOAK-}" ] || students=200

test_expect_success 'every lab holds: unsolved fails, solution passes' '
	"$FOLIOLAB_O2" lab check --seeds "$students" >out
	test_grep "^01-.*$students students: all holds" out
'

test_expect_success 'a newcomer does the first step of lab 01 by what is printed' '
	lab list >list
	test_grep "^  1  What a folio is" list
	test_grep "foliolab lab run NUMBER" list
	echo q | lab run 1 >screen
	bytes=$(sed -n "s/^Your file has \([0-9]*\) bytes.*/\1/p" screen)
	printf "%s\n\nq\n" "$(((bytes + 4095) / 4096))" | lab run 1 >screen
	test_grep "Right.* 2 of 2 points" screen
	test_grep "step 2 of 7" screen
	test_grep "Saved. Go on with: foliolab lab run 01-what-a-folio-is" screen
'

test_expect_success 'where one left, one goes on; reset forgets but keeps the programs' '
	echo q | lab run 1 >screen
	test_grep "Welcome back: 1 of 7" screen
	test_grep "seed 06f77ac0, 2 of" screen
	echo no | expect_exit 1 lab reset 1 >out
	lab reset 1 --yes
	[ -f state/foliolab/01-what-a-folio-is/answers.lua.old ]
	echo q | lab run 1 >screen
	test_grep "0 of .* points, step 1 of 7" screen
'

test_expect_success 'another student: refused until reset, other numbers' '
	expect_exit 2 lab run 1 --student ada 2>err </dev/null
	test_grep "began this lab" err
	cp screen guest
	lab reset 1 --yes
	echo q | lab run 1 --student ada >screen
	grep "^Your file" guest >a
	grep "^Your file" screen >b
	expect_exit 1 cmp -s a b
	test_grep "student ada, seed 5cda7990" screen
'

test_expect_success 'the same student sees the same bytes' '
	for i in 1 2; do
		XDG_STATE_HOME=$TMPDIR/same lab reset 1 --yes
		yes r | head -n 60 | XDG_STATE_HOME=$TMPDIR/same lab run 1 --student eve >all$i
	done
	test_cmp all1 all2
	test_grep "All 7 steps are done" all1
'

test_expect_success 'new makes a lab that works' '
	lab new 09-mine
	lab check ./09-mine --seeds 40
	expect_exit 2 lab new 09-mine 2>err
	test_grep "File exists" err
'

test_expect_success 'watch: unsolved is told, solved is told' '
	expect_exit 1 lab watch ./09-mine --once >out
	test_grep "0 of 1 right" out
	echo "return { pages = function(b) return math.ceil(b / 4096) end }" >state/foliolab/09-mine/answers.lua
	lab watch ./09-mine --once >out
	test_grep "All done" out
	lab package ./09-mine >out
	test_grep "^return answers" out
'

test_expect_success 'watch sees a save' '
	echo "return {}" >state/foliolab/09-mine/answers.lua
	lab watch ./09-mine >out &
	pid=$!
	for i in $(seq 100); do grep -q "every save is checked" out && break; sleep 0.1; done
	echo "return { pages = function(b) return (b + 4095) // 4096 end }" >new
	mv new state/foliolab/09-mine/answers.lua
	wait $pid
	test_grep "All done" out
'

# broken NAME SED MESSAGE: a lab with one thing wrong is refused with file and line.
broken()
{
	rm -rf "08-$1"
	cp -r 09-mine "08-$1"
	sed -i "$2" "08-$1/lab.lua"
	expect_exit 2 "$FOLIOLAB" lab check "./08-$1" --seeds 2 >out 2>err
	test_grep "^foliolab: .*/08-$1/lab.lua:[0-9]+: .*$3" err
}

test_expect_success 'bad labs: file and line' '
	broken missing "/title = \"How/d" "step: field .title. is missing"
	broken unknown "s/minutes/minuts/" "unknown field .minuts.*did you mean .minutes"
	broken kind "s/ask.number/ask.nunber/" "unknown question kind .nunber.*number"
	broken lua "s/s.m:finish/s.m:finsh/" "finsh"
	broken syntax "s/run = function/run = functoin/" ""
	broken text "s/{{n}} pages\*\*/{{n.x}} pages/" "index"
	broken twice "s/id = \"pages\"/id = \"cached\"/" "id used before"
	broken solution "s/id = \"cached\"/id = \"cashed\"/" "has no solution"
	rm -rf 08-gone && cp -r 09-mine 08-gone && rm 08-gone/solution.lua
	expect_exit 2 "$FOLIOLAB" lab check ./08-gone 2>err
	test_grep "missing solution" err
'

test_expect_success 'labs that prove nothing fail their check' '
	rm -rf 07-flat && cp -r 09-mine 07-flat
	sed -i "s/answer = function(s) return s.m:cached() end/answer = function(s) return 7 end/" 07-flat/lab.lua
	expect_exit 1 "$FOLIOLAB" lab check ./07-flat --seeds 20 >out
	test_grep "the answer is .7. for 20 of 20 students" out
	sed -i "s/return 7 end/return 0 end/" 07-flat/lab.lua
	expect_exit 1 "$FOLIOLAB" lab check ./07-flat --seeds 20 >out
	test_grep "the answer is 0 for student" out
	rm -rf 07-open && cp -r 09-mine 07-open
	sed -i "s/return nil/return (bytes + 4095) \/\/ 4096/" 07-open/answers.lua
	expect_exit 1 "$FOLIOLAB" lab check ./07-open --seeds 20 >out
	test_grep "the untouched answers.lua passes" out
	rm -rf 07-lax && cp -r 09-mine 07-lax
	sed -i "s/function(bytes) return bytes \/\/ 4096 end/function(bytes) return -(-bytes \/\/ 4096) end/" 07-lax/solution.lua
	expect_exit 1 "$FOLIOLAB" lab check ./07-lax --seeds 20 >out
	test_grep "wrong submission 1 passes" out
'

test_expect_success 'without arguments in a pipe: the overview' '
	"$FOLIOLAB" >out </dev/null
	test_grep "^  lab  " out
'

test_done
