#!/bin/bash
# lab/test_grade.sh - `foliolab grade`: what a class, an autograder and a cheat get to see.
. "$(dirname "$0")/../lib.sh"

export FOLIOLAB_LABS=$FL_ROOT/labs XDG_STATE_HOME=$TMPDIR/state
grade()
{
	"$FOLIOLAB" grade "$@"
}

cat >half.lua <<'END'
local function same(a, b)
	for order = 0, 5 do
		if (a[order] or 0) ~= (b[order] or 0) then return false end
	end
	return true
end
return {
	student = "ada",
	guilty = function(try, knobs)
		local bad = try("ab4443fe3ca6")
		for _, k in ipairs(knobs) do
			if same(try("v6.7+" .. k), bad) then return k end
		end
	end,
	marked = function() while true do end end,
	equal = "read 4k 10",
}
END
echo 'return {' >syntax.lua

test_expect_success 'text: a line of name and OK or FAIL, the reason, parts and the sum' '
	expect_exit 1 grade 3 --submission half.lua >out
	test_grep "^Submission half.lua: student ada, seed [0-9a-f]{8}$" out
	test_grep "^== Test guilty ==$" out
	test_grep "^guilty: OK$" out
	test_grep "^Part bisect score: 10/10$" out
	test_grep "^marked: FAIL$" out
	test_grep "^    limit instructions: answers.lua:[0-9]+: .*, at question marked, after event [0-9]+ \(fl_[a-z]+\), in .read 4k" out
	test_grep "^Score: 10/56$" out
'

# 0 is the smallest page of order 9, 4 pages the smallest first window of ra_pages 32 (lab 02).
test_expect_success 'a wrong program is shown the smallest case in which it is wrong' '
	cat >wrong.lua <<-\END
	return {
		biggest = function(i)
			local o = 0
			while o < 8 and i % 2 == 0 do i, o = i // 2, o + 1 end
			return o
		end,
		init_size = function() end,
		equal = "read 4k 10; seek 32k; read 4k 300; pread 0 4k; read 4k 3",
	}
	END
	expect_exit 1 grade 1 --submission wrong.lua >out
	test_grep "^    called with \(0\) it returns 8, expected 9$" out
	expect_exit 1 grade 2 --submission wrong.lua >out
	test_grep "^    called with \(1, 32\) it returns nil, expected 4$" out
	expect_exit 1 grade 3 --submission wrong.lua >out
	test_grep "^    a read at byte [0-9]+, expected [0-9]+, after event [0-9]+ \(fl_read\), of as little as .(seek|pread) [0-9k]+( [0-9]+)?; read [^;]*.$" out
'

# A window smaller than its request: the least request that shows it has a page more than the window.
test_expect_success 'a wrong policy is shown the fewest reads in which it is wrong' '
	cat >policy.lua <<-\END
	return { fixed = { sync_ra = function(ra, req, p) return { size = p.size } end } }
	END
	expect_exit 1 grade 6 --submission policy.lua >out
	size=$(sed -n "s/^    size \([0-9]*\): a miss for .*/\1/p" out)
	test_grep "^    size $size: a miss for $((size + 1)) pages at page 0: .*expected start 0, size $((size + 1)), async_size 0 \(with .read $((4 * (size + 1)))k 1.\)$" out
'

test_expect_success 'the hand-out gets nothing; a broken file says where and the next one counts' '
	expect_exit 1 grade 3 --submission "$FOLIOLAB_LABS"/03-*/answers.lua --submission syntax.lua half.lua >out
	test_grep "^    nothing could be graded: answers.lua:[0-9]+: " out
	[ "$(grep "^Score" out | tr "\n" " ")" = "Score: 0/56 Score: 0/56 Score: 10/56 " ]
	test_grep "^3 submissions, 0 with full marks$" out
'

test_expect_success 'the student: field, option, file, folder' '
	mkdir -p eve
	echo "return {}" | tee eve/answers.lua >bob.lua
	expect_exit 1 grade 3 --submission half.lua bob.lua eve eve/answers.lua >out
	[ "$(sed -n "s/^Submission .* student \([^,]*\),.*/\1/p" out | tr "\n" " ")" = "ada bob eve eve " ]
	expect_exit 1 grade 3 --student zoe --submission half.lua bob.lua >out
	[ "$(sed -n "s/^Submission .* student \([^,]*\),.*/\1/p" out | tr "\n" " ")" = "ada zoe " ]
	expect_exit 1 "$FOLIOLAB" lab watch 1 --once --student kim >out
	"$FOLIOLAB" lab package 1 -o packed.lua
	expect_exit 1 grade 1 --submission packed.lua >out
	test_grep "student kim, seed" out
'

test_expect_success 'what cannot be read is told, links of strangers are not followed' '
	mkdir -p none link
	ln -sf /etc/passwd link/answers.lua
	expect_exit 1 grade 3 --submission none link >out
	test_grep "no answers.lua in this folder" out
	test_grep "answers.lua is a symbolic link" out
	expect_exit 2 grade 3 --submission nowhere.lua 2>err
	test_grep "^foliolab: nowhere.lua: " err
	expect_exit 2 grade 3 2>err
	test_grep "submission: is missing" err
	expect_exit 2 grade 3 --submission half.lua bob.lua --format gradescope 2>err
	test_grep "2 submissions, expected one" err
	expect_exit 2 grade 3 --submission half.lua --jobs 0 2>err
	expect_exit 2 grade 3 --submission half.lua --format yaml 2>err
	test_grep "unknown format .yaml." err
'

test_expect_success 'a lab that is broken stops with file and line, not with grades' '
	"$FOLIOLAB" lab new 09-mine >out
	echo "return { student = \"x\" }" >x.lua
	sed "s/prepare = function(s)/&\n\t\t\t\terror(\"oops\")/" 09-mine/lab.lua >lab.lua
	! cmp -s lab.lua 09-mine/lab.lua
	cp lab.lua 09-mine/
	expect_exit 2 grade ./09-mine --submission x.lua >out 2>err
	[ ! -s out ]
	test_grep "the lab fails without any submission.*oops" err
'

test_expect_success 'csv: a header, a line a submission, numbers; no formula' '
	cp half.lua "=1+1,\"x.lua"
	expect_exit 1 grade 3 --submission half.lua "=1+1,\"x.lua" syntax.lua --format csv >out.csv
	test_line_count 4 out.csv
	test_grep "^submission,student,score,max,expect,guilty,marked,.*,equal,error$" out.csv
	test_grep "^\"half.lua\",\"ada\",10,56,0,10,0,0,0,0,0,0,0,0,\"\"$" out.csv
	test_grep "^\".=1\+1,\"\"x.lua\",\"ada\",10,56," out.csv
	test_grep "^\"syntax.lua\",\"syntax\",0,56,.*,\"answers.lua:" out.csv
'

if have python3; then
	test_expect_success 'csv: a parser finds as many fields in every line' '
		python3 -c "
import csv
rows = list(csv.reader(open(\"out.csv\", newline=\"\"), strict=True))
assert len(rows) == 4 and len(set(map(len, rows))) == 1, rows
assert [r[2] for r in rows[1:]] == [\"10\", \"10\", \"0\"]
"
	'
else
	test_skip 'csv: a parser finds as many fields in every line' 'no python3'
fi

test_expect_success 'junit: suites, cases, counts' '
	printf "return { student = \"<&\\\\\">\", guilty = function() error(\"<b>]]>&\") end }" >markup.lua
	expect_exit 1 grade 3 --submission half.lua syntax.lua markup.lua --format junit -o out.xml
	test_grep "<testsuite name=\"ada\" tests=\"10\" failures=\"9\" errors=\"0\" skipped=\"0\">" out.xml
	test_grep "<testsuite name=\"syntax\" tests=\"10\" failures=\"0\" errors=\"10\" skipped=\"0\">" out.xml
	test_grep "<testsuite name=\"&lt;&amp;&quot;&gt;\"" out.xml
	test_grep "type=\"instructions\"" out.xml
'

if have xmllint; then
	test_expect_success 'junit: the schema holds' '
		xmllint --noout --schema "$TESTDATA/schema/junit.xsd" out.xml
	'
else
	test_skip 'junit: the schema holds' 'no xmllint'
fi

# Fields and types of the JSON formats are tests/cli/test_schema.c's.
test_expect_success 'gradescope and prairielearn: the numbers' '
	expect_exit 1 grade 3 --submission half.lua --format gradescope -o results.json
	test_grep "\"score\":	10,$" results.json
	[ "$(grep -c "\"status\":	\"passed\"" results.json)" = 1 ]
	test_grep "\"number\":	\"2.1\"" results.json
	expect_exit 1 grade 3 --submission half.lua --format prairielearn -o results.json
	test_grep "\"score\":	0.178571" results.json
	test_grep "\"gradable\":	true" results.json
	expect_exit 1 grade 3 --submission syntax.lua --format prairielearn -o results.json
	test_grep "\"gradable\":	false" results.json
	test_grep "\"format_errors\":	\"answers.lua:" results.json
'

# tests/bench/bench_grade.sh promises the time.
test_expect_success '300 submissions: the bytes of each are those it gets alone' '
	mkdir class
	for i in $(seq 300); do sed "s/\"ada\"/\"s$i\"/" half.lua >class/$i.lua; done
	start=$(date +%s.%N)
	expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission class/*.lua --jobs 2 --format csv >all.csv
	note "$(awk -v a="$start" -v b="$(date +%s.%N)" "BEGIN { printf \"300 submissions: %.1f s\", b - a }")"
	test_line_count 301 all.csv
	for i in 1 77 300; do
		expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission class/$i.lua --format csv >one.csv
		sed -n 2p one.csv >one
		grep "^\"class/$i.lua\"" all.csv >many
		test_cmp one many
	done
	expect_exit 1 "$FOLIOLAB" grade 3 --submission class/7.lua --format json >asan.json
	expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission class/7.lua --format json >o2.json
	test_cmp asan.json o2.json
'

test_done
