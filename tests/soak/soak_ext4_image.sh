#!/bin/bash
# soak/soak_ext4_image.sh - ten minutes of damaged ext4 images; see host/test_ext4_fuzz.c.
. "$(dirname "$0")/../lib.sh"

test_expect_success 'ten minutes of damaged images: an answer or "damaged image", never a crash' '
	FL_FUZZ_SECONDS=${FL_FUZZ_SECONDS:-600} "$FL_BUILD/asan/tests/host/test_ext4_fuzz" >out 2>&1 ||
		{ tail -n 40 out; exit 1; }
	note "$(grep -o "[0-9]* images.*" out | tail -n 1)"
'

test_done
