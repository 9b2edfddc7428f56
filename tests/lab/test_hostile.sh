#!/bin/bash
# lab/test_hostile.sh - attacks on the grader: each fails for its own reason, the grader goes on.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

export FOLIOLAB_LABS=$FL_ROOT/labs

# The attack, and a right answer to the question after it.
cat >tail.lua <<'END'
end
local answers = submission()
rawset(answers, "marked", function(mark, folios, up)
	local list = {}
	for _, f in ipairs(folios) do
		local size = 1 << f.order
		if (up and -(-mark // size) or mark // size) * size == f.index then
			list[#list + 1] = f.index
		end
	end
	return list
end)
return answers
END

mkdir attacks
for file in "$TESTDATA"/hostile/*.lua; do
	name=${file##*/}
	if grep -aq '^-- guilty: ' "$file"; then
		{ echo 'local function submission()'; cat "$file" tail.lua; } >"attacks/$name"
	else
		cp "$file" "attacks/$name"
	fi
done

# The lines of submission $1.
part()
{
	awk -v want="Submission attacks/$1:" '
	/^Submission / { on = index($0, want) == 1 }
	on' all
}

test_expect_success 'all attacks in one batch: nothing stops it, nothing is touched' '
	ls -A . attacks >before
	expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission attacks/*.lua --jobs 2 >all 2>err
	[ ! -s err ]
	ls -A . attacks | grep -vx "all\|err\|after" >after
	test_cmp before after
	[ "$(grep -c "^Submission " all)" -ge 60 ]
	test_grep "submissions, 0 with full marks" all
	[ ! -e /tmp/hostile ]
'

for file in "$TESTDATA"/hostile/*.lua; do
	name=${file##*/}
	kind=$(sed -n '2s/^-- \([a-z]*\): .*/\1/p' "$file" 2>/dev/null | tr -d '\0')
	reason=$(sed -n '2s/^-- [a-z]*: //p' "$file" 2>/dev/null | tr -d '\0')
	if [ "$name" = file-bytecode.lua ]; then
		kind=file reason='attempt to load a binary chunk'
	fi
	title=$(sed -n '1s/^-- //p' "$file" 2>/dev/null | tr -d '\0')
	test_expect_success "${name%.lua}: ${title:-bytecode as a file}" '
		part $name >part
		if [ $kind = file ]; then
			test_grep "^    nothing could be graded: .*$reason" part
			test_grep "^Score: 0/" part
		else
			sed -n "/^guilty: /{p;n;p;q}" part >lines
			test_grep "^guilty: FAIL$" lines
			test_grep "^    .*$reason" lines
			[ $kind = alone ] || test_grep "^marked: OK$" part
		fi
		test_no_grep "^Score: 56" part
		expect_exit 1 grep -q "[[:cntrl:]]" part
	'
done

test_expect_success 'sanitizers find nothing while a stranger breaks every limit' '
	expect_exit 1 "$FOLIOLAB" grade 3 --jobs 2 --submission attacks/{loop,loop-close-coroutine,memory-table}.lua \
		attacks/{recursion-pcall,forge-markup,file-hoard,loop-nested-coroutines,globals}.lua >out
	test_no_grep "limit (system call|crash)" out
'

test_expect_success 'alone or with the others: the same bytes' '
	for name in loop forge-markup memory-table globals file-memory error-table; do
		expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission attacks/$name.lua >one
		part $name.lua | sed "/^$/d; /^[0-9]* submissions/d" >many
		test_cmp one many
	done
'

test_done
