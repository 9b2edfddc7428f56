#!/bin/bash
# cli/test_sweep.sh - `foliolab sweep`: the grid, its points, resuming, merging, curves.
# What is used in the steps only looks unused.
# shellcheck disable=SC2034,SC2317
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

cat >g.grid <<'END'
# two workloads, two kernels
workload seq    read 4k 512
workload jumps  pread 1m 64k; pread 8m 64k
kernel   v6.7 ab4443fe3ca6   # the regression
ra-kb    64 256
seed     1..2
measure  pages.wasted folios_added.2 virtual_ns
END

# A grid of the line $1 beside a workload.
grid()
{
	printf 'workload w read 4k 16\n%s\n' "$1" >x.grid
}

# The cell of column $2 in row $1 (point) of the CSV file $3.
cell()
{
	awk -F, -v row="$1" -v name="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$1 == row { print $column }' "$3"
}

test_expect_success 'a row a combination; the last line turns fastest' '
	"$FOLIOLAB" sweep g.grid >out.csv
	test_line_count 17 out.csv
	same "$(head -n 1 out.csv)" point,workload,kernel,ra-kb,seed,pages.wasted,folios_added.2,virtual_ns
	cut -d, -f1-5 out.csv | sed -n 2,6p >got
	printf "%s\n" 1,seq,v6.7,64,1 2,seq,v6.7,64,2 3,seq,v6.7,256,1 4,seq,v6.7,256,2 \
		5,seq,ab4443fe3ca6,64,1 >want
	test_cmp want got
	same "$(cut -d, -f1-5 out.csv | tail -n 1)" 16,jumps,ab4443fe3ca6,256,2
'

test_expect_success 'the measures are those of foliolab run' '
	"$FOLIOLAB" run -e "read 4k 512" --kernel ab4443fe3ca6 --ra-kb 256 --seed 2 --format json >run.json
	same "$(cell 8 virtual_ns out.csv)" "$(json_get run.json virtual_ns)"
	same "$(cell 8 pages.wasted out.csv)" "$(json_get run.json wasted)"
	same "$(cell 8 folios_added.2 out.csv)" \
		"$(json_orders run.json folios_added | tr " " "\n" | sed -n "s/^2://p")"
'

test_expect_success 'points made apart and merged in any order are the same table' '
	"$FOLIOLAB" sweep g.grid --point 9-16 >b
	"$FOLIOLAB" sweep g.grid --point 1-8 >a
	"$FOLIOLAB" sweep g.grid --merge b a b >merged.csv
	test_cmp out.csv merged.csv
'

test_expect_success 'missing points are told, the others shown' '
	expect_exit 1 "$FOLIOLAB" sweep g.grid --merge b >half.csv 2>err
	test_line_count 9 half.csv
	test_grep "8 of 16 points are missing, the first is 1" err
'

test_expect_success '--commands: one a line, and a shell makes the same table of them' '
	cp g.grid "it'\''s a grid"
	"$FOLIOLAB" sweep "it'\''s a grid" --commands >commands
	test_line_count 16 commands
	mkdir bin && ln -s "$FOLIOLAB" bin/foliolab
	PATH=$PWD/bin:$PATH sh commands >rows
	"$FOLIOLAB" sweep g.grid --merge rows >merged.csv
	test_cmp out.csv merged.csv
'

test_expect_success '--results: what is there is not played again, what was lost is' '
	"$FOLIOLAB" sweep g.grid --results r >first.csv
	test_cmp out.csv first.csv
	rm r/point-000005.json
	sed "s/\"virtual_ns\": [0-9]*/\"virtual_ns\": 7/" r/point-000006.json >new && mv new r/point-000006.json
	"$FOLIOLAB" sweep g.grid --results r >second.csv
	same "$(cell 6 virtual_ns second.csv)" 7
	same "$(cell 5 virtual_ns second.csv)" "$(cell 5 virtual_ns out.csv)"
'

test_expect_success 'curves: the mean over seeds for each workload and kernel' '
	"$FOLIOLAB" sweep g.grid --svg c.svg --y virtual_ns -o /dev/null
	for name in "seq v6.7" "seq ab4443fe3ca6" "jumps v6.7" "jumps ab4443fe3ca6"; do
		test_grep ">$name<" c.svg
	done
	[ "$(grep -c "<polyline\|<path" c.svg)" -ge 4 ]
'

test_expect_success 'flags take on and off' '
	grid "data on off"
	"$FOLIOLAB" sweep x.grid >out
	test_grep "^1,w,on," out
	test_grep "^2,w,off," out
'

test_expect_success 'a wrong grid is told with file and line' '
	grid "foo 1" && bad "x.grid:2: unknown word .foo., expected one of workload" sweep x.grid
	grid "kernel v6.8" && bad "x.grid:2: kernel: .*v6\.7" sweep x.grid
	grid "ra-kb 5 5" && bad "x.grid:2: .5. is there twice" sweep x.grid
	grid "ra-kb" && bad "x.grid:2: ra-kb has no value" sweep x.grid
	grid "seed 9..1" && bad "x.grid:2: .9\.\.1., expected" sweep x.grid
	grid "data 1" && bad "x.grid:2: data: .1., expected on or off" sweep x.grid
	grid "workload a reed 4k" && bad "x.grid:2: unknown operation" sweep x.grid
	grid "workload a" && bad "x.grid:2: no operations" sweep x.grid
	grid "measure nope" && bad "point 1: measure .nope. is no number" sweep x.grid
	grid "fs what" && bad "point 1: " sweep x.grid
	printf "seed 1\n" >x.grid && bad "no workload" sweep x.grid
'

test_expect_success 'a grid has its bounds' '
	{ echo "workload w read 1"; echo "seed 1..1000"; echo "ra-kb 1..1000"; } >x.grid
	bad "more than 100000 combinations" sweep x.grid
	grid "seed 1..1001" && bad "x.grid:2: .1\.\.1001." sweep x.grid
	head -c 70000 /dev/zero | tr "\0" " " >x.grid
	bad "x.grid" sweep x.grid
	printf "workload w read 1\n\0seed 1\n" >x.grid
	bad "NUL" sweep x.grid
	bad "expected" sweep missing.grid
	bad "expected" sweep .
'

test_expect_success 'rows that are none, of another grid, damaged or contradicting are refused' '
	echo "no row" >rows && bad "rows:1: no row of a sweep" sweep g.grid --merge rows
	{ cat a; echo "[[[["; } >rows && bad "rows:9: " sweep g.grid --merge rows
	grid "seed 3" && "$FOLIOLAB" sweep x.grid --point 1 >rows
	bad "rows:1: a row of another grid" sweep g.grid --merge rows
	sed -n 1p a | sed "s/\"point\": 1/\"point\": 17/" >rows
	bad "rows:1: a damaged row, expected a point from 1 to 16" sweep g.grid --merge rows
	sed -n 1p a | sed "s/\"virtual_ns\": /&1/" >rows
	bad "rows:1: point 1 was measured otherwise" sweep g.grid --merge a rows
'

test_expect_success 'options that do not go together' '
	bad "no grid" sweep
	bad "unexpected argument" sweep g.grid other
	bad "no files" sweep g.grid --merge
	bad "expected 1 to 16" sweep g.grid --point 17
	bad "--point: .0." sweep g.grid --point 0
	bad "expected one" sweep g.grid --commands --point 1
	bad "expected csv or json" sweep g.grid --format xml
	bad "is no axis of numbers" sweep g.grid --svg x.svg --x kernel -o /dev/null
	bad "unknown measure" sweep g.grid --svg x.svg --y ios -o /dev/null
'

test_expect_success 'a Slurm array: every task its share, then nothing is missing' '
	for task in 3 4 5; do
		FOLIOLAB=$FOLIOLAB SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=3 \
			SLURM_ARRAY_TASK_ID=$task "$FL_ROOT/scripts/sweep-slurm" g.grid slurm
	done
	"$FOLIOLAB" sweep g.grid --merge slurm/*.json >merged.csv
	test_cmp out.csv merged.csv
'

if have parallel && parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
	test_expect_success 'GNU parallel: resumed after a loss, the table is the same' '
		"$FL_ROOT/scripts/sweep-parallel" g.grid p.rows --jobs 2
		test_line_count 16 p.rows
		sed -i 3,7d p.rows
		"$FL_ROOT/scripts/sweep-parallel" g.grid p.rows
		test_line_count 16 p.rows
		"$FOLIOLAB" sweep g.grid --merge p.rows >merged.csv
		test_cmp out.csv merged.csv
	'
	test_expect_success 'GNU parallel grades a class: the table foliolab grade makes, resumed' '
		export FOLIOLAB_LABS=$FL_ROOT/labs
		mkdir -p class/eve
		cp "$FOLIOLAB_LABS"/03-*/answers.lua class/eve/
		cp "$FOLIOLAB_LABS"/03-*/answers.lua "class/bob b.lua"
		expect_exit 1 "$FOLIOLAB" grade 3 class/* --format csv >want
		"$FL_ROOT/scripts/grade-parallel" 3 grades class/* -- --jobs 2 >got
		test_cmp want got
		rm grades/eve.csv
		FOLIOLAB=$FOLIOLAB "$FL_ROOT/scripts/grade-parallel" 3 grades class/* >got
		test_cmp want got
		# Killed with one whole and one half table: the whole one is kept.
		mv grades/eve.csv grades/eve.new
		head -c 40 "grades/bob b.lua.csv" >"grades/bob b.lua.new"
		rm "grades/bob b.lua.csv"
		sed -i "2s/,[^,]*$/,kept/" grades/eve.new
		"$FL_ROOT/scripts/grade-parallel" 3 grades class/* >got
		sed "/eve/s/,[^,]*$/,kept/" want >kept
		test_cmp kept got
	'
else
	test_skip 'sweeps and grades with GNU parallel' 'no GNU parallel here'
fi

test_done
