#!/bin/bash
# soak/soak_faults.sh - every call of every command fails once, up to FL_FAULTS (3000) of a kind,
# and calls of every engine and lab test.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faults/faults.sh"

test_expect_success 'inputs' fault_inputs
fault_all "${FL_FAULTS:-3000}"
fault_programs 100 lib machine block mm fs trace lab
test_done
