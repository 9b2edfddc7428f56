#!/bin/bash
# cli/test_tasks.sh - several processors: `run --cpus`, `--tasks`, `--schedule`, `task` lines; who
# waited for which lock; the same every time.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# pages_read FILE: "read" of "pages"; ops_of FILE: every "ops", the whole run's first.
pages_read()
{
	sed -n '/"pages"/,/}/s/.*"read":[[:space:]]*\([0-9]*\).*/\1/p' "$1" | head -n 1
}

ops_of()
{
	sed -n 's/^[[:space:]]*"ops":[[:space:]]*\([0-9]*\).*/\1/p' "$1" | tr '\n' ' '
}

test_expect_success 'one processor is what it always was' '
	"$FOLIOLAB" run -e "read 4k 300; pread 1m 64k" --format json >out
	"$FOLIOLAB" run -e "read 4k 300; pread 1m 64k" --format json --cpus 1 --tasks same >out2
	test_cmp out out2
	test_no_grep "tasks" out
'

test_expect_success 'every processor plays the whole workload on a file of its own' '
	"$FOLIOLAB" run -e "read 4k 100" --cpus 5 --format json >out
	same "$(json_get out reads)" 500
	same "$(json_get out bytes)" 2048000
	same "$(json_get out cpus)" 5
	same "$(grep -c "\"ops\":" out)" 6
'

test_expect_success 'same: one file, so that most pages are read once' '
	"$FOLIOLAB" run -e "read 64k 64" --size 4m --cpus 4 --tasks same --format json >out
	same "$(json_get out bytes)" 16777216
	"$FOLIOLAB" run -e "read 64k 64" --size 4m --cpus 4 --format json >own
	same "$(pages_read out)" 1024
	same "$(pages_read own)" 4096
'

test_expect_success 'threads share the position: together they read the file once' '
	"$FOLIOLAB" run -e "read 4k 256" --size 4m --cpus 4 --tasks threads --data --disk ram \
		--format json >out
	same "$(json_get out bytes)" 4194304
	grep -A 1 "\"lock\":.*\"f_pos_lock\"" out >lock
	test_grep "\"function\":.*\"ksys_read\"" lock
'

test_expect_success 'task lines: what stands before them comes first, the rest belongs to its task' '
	printf "%s\n" "pread 0 1m" "task 1" "pread 1m 4k" "task 0" "pread 2m 4k" "pread 3m 4k" \
		"task 1" "pread 4m 4k" >w.wl
	"$FOLIOLAB" run w.wl --format json >out
	same "$(json_get out ops)" 5
	same "$(json_get out cpus)" 2
	same "$(ops_of out)" "5 2 2 "
'

test_expect_success 'the same command, the same bytes; another schedule, other times' '
	for schedule in 0 7 8; do
		"$FOLIOLAB" run -e "read 4k 200" --cpus 6 --tasks same --schedule $schedule >a
		"$FOLIOLAB" run -e "read 4k 200" --cpus 6 --tasks same --schedule $schedule >b
		test_cmp a b
		mv a run.$schedule
	done
	expect_exit 1 cmp -s run.0 run.7
	expect_exit 1 cmp -s run.7 run.8
'

test_expect_success 'gcc -O2 and the sanitized build agree' '
	"$FOLIOLAB" run -e "read 4k 500" --cpus 9 --memory 8m --schedule 3 >a
	"$FOLIOLAB_O2" run -e "read 4k 500" --cpus 9 --memory 8m --schedule 3 >b
	test_cmp a b
'

test_expect_success 'perf names the slow path and who waits in it' '
	"$FOLIOLAB_O2" run -e "read 4k 4096" --cpus 40 --memory 256m --kernel ab4443fe3ca6 --perf >out
	test_grep "%.* \[k\] native_queued_spin_lock_slowpath$" out
	test_grep "%-- folio_batch_move_lru \(lru_lock\): [0-9]+ of [0-9]+ waited, [0-9]+ ns each$" out
	test_grep "%-- isolate_lru_folios \(lru_lock\): " out
	awk "/^ +[0-9.]+%/ { sum += \$1 } END { exit !(sum > 99.5 && sum < 100.05) }" out
'

test_expect_success 'a recording has the processors of its events' '
	"$FOLIOLAB" run -e "read 4k 64" --cpus 3 --trace out.fl >/dev/null
	"$FOLIOLAB" export out.fl --format csv >csv
	same "$(tail -n +2 csv | cut -d, -f3 | sort -u | tr "\n" " ")" "0 1 2 3 "
	test_grep "fl_lock_taken" csv
	# On each processor time goes forward.
	tail -n +2 csv | awk -F, "\$2 < last[\$3] { exit 1 } { last[\$3] = \$2 }"
'

test_expect_success 'explore: many schedules, none broken; --schedule plays one of them again' '
	ops="read 4k 64; punch 64k 64k; read 64k 20; ftruncate 1m; fadvise dontneed 0 0; pread 0 1m"
	"$FOLIOLAB" run --cpus 3 --tasks same --size 4m --disk nvme --data --explore 12 -e "$ops" >out
	test_grep "^Linux v6.18: 12 schedules, 0 broken$" out
	"$FOLIOLAB" run --cpus 3 --tasks same --size 4m --disk nvme --data --explore 12 -e "$ops" \
		--format json >json
	slowest=$(json_get json schedule)
	test_grep "^slowest: .*--schedule $slowest$" out
	"$FOLIOLAB" run --cpus 3 --tasks same --size 4m --disk nvme --data --schedule "$slowest" \
		-e "$ops" --format json >one
	sed -n "/\"tasks\"/,\$ p" one >tasks
	same "$(json_get tasks virtual_ns)" "$(json_get json virtual_ns)"
'

test_expect_success 'explore: two processes give the bytes of one' '
	for jobs in 1 2 5; do
		"$FOLIOLAB" run --cpus 3 --tasks same --explore 9 --jobs $jobs -e "read 4k 100" \
			--format json >jobs.$jobs
	done
	test_cmp jobs.1 jobs.2
	test_cmp jobs.1 jobs.5
'

test_expect_success 'explore: what does not go together' '
	bad "one processor has one schedule" run -e "read 4k" --explore 3
	bad "expected a number from 1 to 1000000" run -e "read 4k" --cpus 2 --explore 0
	bad "expected a number from 1 to 256" run -e "read 4k" --cpus 2 --explore 3 --jobs x
	bad "expected no --trace" run -e "read 4k" --cpus 2 --explore 3 --perf
	bad "several processors are watched afterwards" run -e "read 4k" --cpus 2 --serve socket
'

test_done
