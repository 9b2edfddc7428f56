#!/bin/bash
# cli/test_perf.sh - `run --perf`, `run --folded`, `compare --perf`: shares, counts, growth.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# Used by the steps.
# shellcheck disable=SC2034
ops='pread 0 16m; mmap; touch 0 4k 4096; munmap'

test_expect_success 'run --perf: shares add up, counts are those of one operation' '
	"$FOLIOLAB" run --perf --fs ext4 --kernel v6.18 -e "$ops" >out
	awk "/^ +[0-9.]+%/ { sum += \$1 } END { exit !(sum > 99.5 && sum < 100.05) }" out
	test_grep "^ +[0-9.]+% +[0-9.]+ +\[kernel.kallsyms\] +\[k\] set_pte_range$" out
	test_grep "^ +[0-9.]+% +[0-9.]+ +workload +\[\.\] user_access$" out
	test_grep "^ +0.9993 x touch of 1.000 ns \(assumed\)$" out
	test_grep "Time on the processor: .* 4099 operations" out
	same "$(awk "length > 100" out)" ""
'

test_expect_success 'functions have the names of the kernel' '
	"$FOLIOLAB" run --perf --fs xfs --kernel v6.1 -e "$ops" >out
	test_grep "do_set_pte$" out
	test_grep "__mod_lruvec_page_state$" out
	test_no_grep "set_pte_range|__lruvec_stat_mod_folio" out
	"$FOLIOLAB" run --perf --kernel v7.3 -e "$ops" >out
	test_grep " lruvec_stat_mod_folio$" out
'

test_expect_success 'waiting for I/O is not time on the processor' '
	"$FOLIOLAB" run --perf --disk nvme -e "read 4k 256" >out
	test_grep "waiting for I/O: [0-9.]+ [mu]s; 256 operations" out
'

test_expect_success 'run --folded: one stack a line, the same total' '
	"$FOLIOLAB" run --folded --fs ext4 -e "$ops" >out
	same "$(grep -cvE "^[a-z]+(;[A-Za-z0-9_]+)+ [0-9]+$" out)" 0
	test_grep "^touch;asm_exc_page_fault;__handle_mm_fault;do_fault;filemap_map_pages;" out
	test_grep "^munmap;entry_SYSCALL_64;do_vmi_align_munmap;unmap_page_range [0-9]+$" out
	"$FOLIOLAB" run --fs ext4 -e "$ops" --format json >json
	total=$(json_get json virtual_ns)
	awk -v total="$total" "{ sum += \$NF } END { exit !(sum > total - 500 && sum <= total) }" out
'

test_expect_success 'compare --perf: a renamed symbol is named as one-sided, with its real growth' '
	"$FOLIOLAB" compare --perf --fs ext4 -e "$ops" --kernel v6.1 --kernel v6.18 >out
	test_grep "^ +\+[0-9.]+% +[0-9.]+ +[0-9.]+ +-[0-9.]+%  \[k\] __lruvec_stat_mod_folio$" out
	test_grep "one-sided: the baseline has it as __mod_lruvec_page_state, [0-9.]+%$" out
	test_grep "Warning: [0-9]+ symbols have no baseline under their name" out
	same "$(grep -c "one-sided" out)" "$(sed -n "s/.*Warning: \([0-9]*\) symbols.*/\1/p" out)"
'

test_expect_success 'a kernel beside itself: no delta, no growth, no warning' '
	"$FOLIOLAB" compare --perf --fs ext4 -e "$ops" --kernel v6.18 --kernel v6.18 >out
	test_no_grep "Warning|one-sided|Note" out
	test_no_grep "%  +[+-](0\.0*[1-9]|[1-9])" out
'

test_expect_success 'what does not go together' '
	bad "folded stacks are text of their own" run --folded --perf -e "read 4k"
	bad "folded stacks are of one kernel" compare --folded -e "read 4k" --kernel v6.1 \
		--kernel v6.18
'

test_expect_success 'the same bytes every time' '
	"$FOLIOLAB" run --perf -e "$ops" >a
	"$FOLIOLAB" run --perf -e "$ops" >b
	test_cmp a b
'

test_expect_success 'run says what touching took' '
	"$FOLIOLAB" run --fs ext4 --kernel v6.18 -e "pread 0 16m; mmap; touch 0 4k 4096" >out
	test_grep "^Mapped:   4096 touches took [0-9]+ faults, 0 of them major$" out
	"$FOLIOLAB" run -e "read 4k" >out
	test_no_grep "Mapped" out
'

test_done
