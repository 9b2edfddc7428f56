#!/bin/bash
# faults/test_faults.sh - a few of the calls of every command and of some unit tests fail; all of
# them do in soak/soak_faults.sh.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/faults.sh"

[ -e "$FAULT_SHIM" ] || skip_all "no faults.so"

test_expect_success 'inputs' fault_inputs
fault_all "${FL_FAULTS:-2}"
fault_programs 1 lib lab/test_workload.c mm/test_page_alloc.c fs/test_buffer.c block
test_done
