# debuginfo/layouts.sh - sourced by suites that hold FolioLab's struct layouts against pahole's.
# shellcheck shell=bash
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317

layouts_awk=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/layouts.awk

# All structs of a listing, one a line.
layouts()
{
	awk -f "$layouts_awk" | grep '^struct' | LC_ALL=C sort -u
}

# same_layouts FILE MIN: FolioLab and pahole see the same structs in FILE, at least MIN. Those with
# an _Atomic member are left out: pahole 1.24 does not know clang's DW_TAG_atomic_type.
same_layouts()
{
	"$FOLIOLAB_O2" struct --all --vmlinux "$1" >listing
	awk '/^struct .* \{$/ { name = $2 } /_Atomic/ { print "^struct " name ":" }' listing |
		sort -u >atomic
	layouts <listing | grep -v -f atomic >ours
	pahole -F dwarf "$1" 2>/dev/null | layouts | grep -v -f atomic >theirs
	test_cmp theirs ours
	[ "$(wc -l <ours)" -ge "$2" ]
}
