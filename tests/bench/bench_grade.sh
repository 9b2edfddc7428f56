#!/bin/bash
# bench/bench_grade.sh - a class of 300: lab 03 graded in less than a minute on two processors.
# Functions and variables are used from steps, which are strings.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

export FOLIOLAB_LABS=$FL_ROOT/labs

cat >one.lua <<'END'
local function total(o)
	local n = 0
	for _, count in pairs(o) do n = n + count end
	return n
end
return {
	expect = 320,
	guilty = function(try, knobs)
		local bad = total(try("ab4443fe3ca6"))
		for _, k in ipairs(knobs) do
			if total(try("v6.7+" .. k)) == bad then return k end
		end
	end,
	marked = function(mark, folios, up) return { mark } end,
	["last-marked"] = 100, ["next-orders"] = "2 3 4", ["window-mod"] = 4, ["why-stuck"] = "a",
	["which-cure"] = "a", saved = 100,
	equal = "read 64k 80",
}
END

test_expect_success '300 submissions of lab 03, two at a time' '
	mkdir class
	for i in $(seq 300); do cp one.lua class/$i.lua; done
	start=$(date +%s.%N)
	expect_exit 1 "$FOLIOLAB_O2" grade 3 --submission class/*.lua --jobs 2 --format csv >all.csv
	end=$(date +%s.%N)
	test_line_count 301 all.csv
	check_ratio "seconds for 300 submissions" "$(awk "BEGIN { print $end - $start }")" le 60
'

test_done
