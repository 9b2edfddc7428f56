# shellcheck shell=bash
#
# faults/faults.sh - any command, repeated while its n-th allocation, I/O call or fork fails.
#
# fault_command NAME MAX COMMAND...   counts the calls COMMAND makes, then fails MAX of them (all
#     where MAX is 0), one a run, spread evenly from a start that FL_FAULT_SEED moves. Whatever
#     fails, the command ends by itself with 0, 1 or 2 and frees everything; with 0 after failed
#     I/O it has said all that it says otherwise.
# fault_test PROGRAM MAX              the same for a cmocka program; its assertions may fail, and
#     what they leave behind is no leak.

FAULT_SHIM=$FL_BUILD/asan/faults.so

# What the shim and the sanitizers need to see each other.
fault_env()
{
	env LD_PRELOAD="$FAULT_SHIM" FL_FAULT="$1" FL_FAULT_FIRED="$PWD/fired" \
		FL_FAULT_COUNT="$PWD/count" \
		ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0:${FAULT_ASAN-}:log_path=$PWD/san" \
		UBSAN_OPTIONS="$UBSAN_OPTIONS:log_path=$PWD/san" \
		LSAN_OPTIONS="print_suppressions=0:suppressions=$TESTDATA/faults/lsan.supp" \
		timeout 120 "${@:2}" >out 2>err </dev/null
}

# fault_numbers TOTAL MAX: which calls to fail.
fault_numbers()
{
	awk -v total="$1" -v max="$2" -v seed="${FL_FAULT_SEED:-1}" 'BEGIN {
		if (!max || total <= max) { max = total; step = 1 } else step = total / max
		srand(seed)
		at = step > 1 ? rand() * step : 0
		for (i = 0; i < max; i++) print 1 + int(at + i * step)
	}'
}

# fault_ended STATUS: a command ended by itself; a cmocka program may count its failures, or be -1.
fault_ended()
{
	[ "$1" -le 2 ] || { [ -z "${FAULT_WHOLE-}" ] && { [ "$1" -lt 86 ] || [ "$1" -eq 255 ]; }; }
}

# fault_check NAME STATUS FAULT: what a run with a fault left.
fault_check()
{
	# A sanitizer that runs out of memory itself is none of ours.
	grep -qs 'CHECK failed: sanitizer_' san.* && return
	if [ -n "$(find . -maxdepth 1 -name 'san.*' -print -quit)" ] || ! fault_ended "$2" ||
		grep -q 'failed with exception' out; then
		printf '%s, %s: exit status %s\n' "$1" "$3 ($(cat fired))" "$2" >&4
		cat err san.* 2>/dev/null | head -n 60 >&4
		return 1
	fi
	# Out of memory, a machine's own calls may fail and be counted as the kernel's.
	if [ -n "${FAULT_WHOLE-}" ] && [ "$2" -eq 0 ] && [ "${3%%:*}" != alloc ] && ! cmp -s out whole; then
		printf '%s, %s: status 0, but not the whole output\n' "$1" "$3 ($(cat fired))" >&4
		return 1
	fi
}

# Counts, then fails one call after the other.
fault_loop()
{
	local name=$1 max=$2 kind total n status failed=0 runs=0

	shift 2
	rm -f count fired san.*
	status=0
	fault_env none:0 "$@" || status=$?
	if [ "$status" -gt 2 ] || ! [ -s count ]; then
		printf '%s: exit status %s without any fault\n' "$name" "$status" >&4
		cat err >&4
		return 1
	fi
	mv out whole
	for kind in alloc io fork; do
		total=$(sed -n "s/.*$kind \([0-9]*\).*/\1/p" count | sort -n | tail -n 1)
		for n in $(fault_numbers "$total" "$max"); do
			rm -rf fired san.* count.1 o
			status=0
			fault_env "$kind:$n" "$@" || status=$?
			[ -s fired ] || continue
			runs=$((runs + 1))
			fault_check "$name" "$status" "$kind:$n" || failed=$((failed + 1))
		done
	done
	[ -z "${FL_SOAK-}" ] || note "$name: $runs faults"
	[ "$failed" -eq 0 ]
}

fault_command()
{
	FAULT_WHOLE=1 fault_loop "$@"
}

fault_test()
{
	FAULT_ASAN=detect_leaks=0 fault_loop "$1" "$2" "$FL_BUILD/asan/tests/$1"
}

# ---- what is tried ----

# Inputs of the scenes, made without any fault.
fault_inputs()
{
	"$FOLIOLAB" run -e 'read 4k 9; pwrite 0 9000 2; fsync' --fs ext4 --trace t.flt >out
	"$FOLIOLAB" export t.flt --format ftrace >t.txt
	head -c 100000 "$FOLIOLAB" >data
	printf 'local m = fl.machine{ size = "1m" }\nm:read(4096)\nprint(m:stats())\n' >s.lua
	printf 'read 4k 9\nmmap; touch 0 4k 9\n' >w.wl
	xz -dc "$TESTDATA/golden/linux-6.18.public.txt.xz" | sed '/^=== /{x;s/^/x/;/^x\{3\}/{x;q;};x;}' >g.txt
}

# Every scene: NAME | arguments of foliolab.
fault_scenes()
{
	cat <<'END'
run | run w.wl
run json | run w.wl --format json
run with data | run -e 'read 4k 9; pwrite 4k 8k 3; fsync; read 64k' --fs ext4 --data
run a host file | run -e 'read 4k 9' --file data --data
run on tmpfs | run -e 'pwrite 0 64k; poison 8k; read 4k 5; punch 0 8k' --fs tmpfs-always
run a script | run s.lua
run --trace | run w.wl --trace o
run --trace-code | run -e 'read 4k' --trace o --trace-code
compare | compare w.wl --kernel v6.1 --kernel v6.18
golden | golden g.txt
export ftrace | export t.flt --format ftrace
export csv | export t.flt --format csv
export perfetto | export t.flt --format perfetto
export svg | export t.flt --format svg
export png | export t.flt --format png -o o
export html | export t.flt --format html -o o
import | import t.txt -o o
kernels | kernels --knobs
lab list | lab list
lab check | lab check 01
grade | grade 01 --submission tests/solutions/01-what-a-folio-is.lua
struct | struct folio
where | where mm_filemap_add_to_page_cache
END
}

# fault_all MAX: a step a scene.
fault_all()
{
	local name arguments

	while IFS='|' read -r name arguments; do
		name=${name% }
		arguments=${arguments//tests\//\"$TESTDATA\"/}
		test_expect_success "$name: any call may fail" "
			fault_command '$name' $1 \"\$FOLIOLAB\" $arguments
		"
	done < <(fault_scenes)
}

# fault_programs MAX PATTERN...: a step a cmocka program.
fault_programs()
{
	local max=$1 program

	shift
	for program in $(cd "$TESTDATA" && find "$@" -name 'test_*.c' | LC_ALL=C sort); do
		test_expect_success "$program: any call may fail" "fault_test ${program%.c} $max"
	done
}
