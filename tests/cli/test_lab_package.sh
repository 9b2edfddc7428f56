#!/bin/bash
# cli/test_lab_package.sh - `foliolab lab package --for`: what an instructor uploads is complete,
# grades as the command line does, and gives nothing away.
# What is used in the steps only looks unused.
# shellcheck disable=SC2034,SC2317
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

have unzip || skip_all 'no unzip here'
export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state
echo 'a package' >foliolab.deb
echo 'return { equal = "read 4k 10" }' >half.lua
mkdir bin && ln -s "$FOLIOLAB" bin/foliolab
PATH=$PWD/bin:$PATH

pack()
{
	"$FOLIOLAB" lab package 3 --for "$1" --program foliolab.deb -o "$1.zip"
}

# The scripts speak of /autograder and /grade; here these are folders of the step.
here()
{
	sed -i "s,/autograder\b,$PWD/autograder,g; s,/grade/,$PWD/grade/,g" "$@"
}

test_expect_success 'gradescope: set-up, runner, lab and program; sound, the same bytes each time' '
	pack gradescope
	unzip -qt gradescope.zip
	unzip -Z1 gradescope.zip >names
	for f in setup.sh run_autograder foliolab.deb lab/03-the-regression/lab.lua; do
		test_grep "^$f\$" names
	done
	mv gradescope.zip once.zip
	pack gradescope
	cmp once.zip gradescope.zip
'

test_expect_success 'gradescope: unpacked as it is there, it grades; the account says whose it is' '
	mkdir -p autograder/submission
	unzip -q gradescope.zip -d autograder/source
	test -x autograder/source/setup.sh
	cp autograder/source/run_autograder autograder/
	here autograder/run_autograder
	cp half.lua autograder/submission/answers.lua
	echo "{\"users\": [{\"email\": \"ada@school\", \"name\": \"A\"}]}" >autograder/submission_metadata.json
	autograder/run_autograder
	expect_exit 1 "$FOLIOLAB" grade 3 --submission half.lua --student ada@school --format gradescope >want
	test_cmp want autograder/results/results.json
'

test_expect_success 'gradescope: a broken lab is the autograder'\''s fault' '
	echo "lab {" >autograder/source/lab/03-the-regression/lab.lua
	expect_exit 1 autograder/run_autograder 2>err
	test_grep "lab.lua:[0-9]+:" err
'

test_expect_success 'prairielearn: a question of a course and the image it is graded in' '
	pack prairielearn
	unzip -q prairielearn.zip -d course
	q=course/questions/03-the-regression
	test -s $q/info.json
	test_grep "\"uuid\": \"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}\"" $q/info.json
	test_grep "answers.lua" $q/question.html
	test -s course/docker/Dockerfile
	cmp foliolab.deb course/docker/foliolab.deb
'

test_expect_success 'prairielearn: it grades; a broken lab takes no attempt' '
	mkdir -p grade/student
	cp -r course/questions/03-the-regression/tests grade/
	here grade/tests/run.sh
	cp half.lua grade/student/answers.lua
	grade/tests/run.sh
	expect_exit 1 "$FOLIOLAB" grade 3 --submission grade/student --format prairielearn >want
	test_cmp want grade/results/results.json
	echo "lab {" >grade/tests/lab/03-the-regression/lab.lua
	grade/tests/run.sh 2>/dev/null
	test_grep "\"gradable\": false" grade/results/results.json
'

test_expect_success 'no solution goes out, of no lab; images do' '
	cp -r "$FOLIOLAB_LABS"/13-* mine
	echo "return {}" >mine/solution.lua
	"$FOLIOLAB" lab package ./mine --for gradescope --program foliolab.deb -o mine.zip
	unzip -Z1 mine.zip >names
	test_no_grep solution names
	test_grep "lab/mine/plain.img.xz" names
'

test_expect_success 'what is missing or unknown is told, and nothing is left behind' '
	bad "unknown platform .canvas., expected one of gradescope, prairielearn" \
		lab package 3 --for canvas --program foliolab.deb -o x.zip
	bad "--program: is missing" lab package 3 --for gradescope -o x.zip
	bad "nothing.deb" lab package 3 --for gradescope --program nothing.deb -o x.zip
	bad "unknown lab" lab package 99 --for gradescope --program foliolab.deb -o x.zip
	test ! -e x.zip
'

test_done
