#!/bin/bash
# debuginfo/test_struct.sh - `foliolab struct`: what it prints, and what it says of files that are none.
# What steps call looks unreachable to shellcheck.
# shellcheck disable=SC2317,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

here=$(cd "$(dirname "$0")" && pwd)
export XDG_CACHE_HOME=$PWD/cache

# refused PATTERN ARGS: `struct ARGS` ends with 2, no output and one line that matches.
refused()
{
	local pattern=$1

	shift
	expect_exit 2 "$FOLIOLAB" struct "$@" >out 2>err
	[ ! -s out ]
	test_line_count 1 err
	test_grep "$pattern" err
}

test_expect_success 'a struct of this program: offsets, sizes, sums' '
	"$FOLIOLAB" struct folio file_ra_state >out
	test_grep "^struct folio \{$" out
	test_grep "^	struct list_head +lru; +/\* +8 +16 \*/$" out
	test_grep "^	/\* size: 64, cachelines: 1, members: 11 \*/$" out
	test_grep "^struct file_ra_state \{$" out
'

test_expect_success '--expand unfolds, an enum shows its values' '
	"$FOLIOLAB" struct folio --expand >out
	test_grep "^		struct list_head \* +prev; +/\* +16 +8 \*/$" out
	"$FOLIOLAB" struct trace_rule >out
	test_grep "^enum trace_rule \{$" out
'

test_expect_success 'typedefs lead to their struct, flags are hexadecimal' '
	echo "typedef struct { int a, b; } pair; typedef struct named { long c; } named;
		enum f { X = 1, Y = 2, Z = 16 } f; pair p; named n; int main(void) { return 0; }" >t.c
	gcc -g -o t t.c
	"$FOLIOLAB" struct pair --vmlinux t >out
	test_grep "int +b; +/\* +4 +4 \*/" out
	"$FOLIOLAB" struct named --vmlinux t >out
	same "$(grep -c "^struct named" out)" 1
	"$FOLIOLAB" struct "enum f" --vmlinux t >out
	test_grep "^	Z = 0x10,$" out
	refused "no .int_least. here" int_least --vmlinux t
'

test_expect_success 'JSON: bit-fields have their bit' '
	gcc -g -gdwarf-5 -o odd "$here/odd.c"
	"$FOLIOLAB" struct bits --vmlinux odd --format json | tr -d " \t\n" >out
	test_grep "^\{\"name\":\"bits\",\"size\":24,\"members\":\[\{\"name\":\"a\"," out
	test_grep "\"name\":\"c\",\"type\":\"int\",\"offset\":4,\"size\":4,\"bit_offset\":0,\"bit_size\":27\}" out
	test_grep "\"name\":\"f\",\"type\":\"long(int)?\",\"offset\":8,\"size\":8,\"bit_offset\":9,\"bit_size\":40\}" out
'

test_expect_success '--diff with BTF of our own making' '
	have pahole || exit 0
	echo "struct folio { unsigned long flags; char other[72]; int _refcount; } f;
		struct mm_struct { long mm_mt; } m; int main(void) { return 0; }" >k.c
	gcc -g -gdwarf-4 -o k k.c
	pahole -J k
	"$FOLIOLAB" struct folio --diff --kernel-btf k >out
	test_grep "^  flags +0 +8 +flags +0 +8$" out
	test_grep "^  _refcount +52 +4 +_refcount +80 +4$" out
	test_grep "^< _pfn " out
	test_grep "^> +other +8 +72$" out
	test_grep "^2 same, ~ 0 renamed, < 9 only here, > 1 only there$" out
	"$FOLIOLAB" struct mm_struct --diff --vmlinux k >out
	test_grep "^~ mmap .* mm_mt " out
'

test_expect_success 'the index of a file with a build id is kept, and a broken one is not believed' '
	export XDG_CACHE_HOME=$PWD/index
	gcc -g -Wl,--build-id=sha1 -o odd "$here/odd.c"
	"$FOLIOLAB" struct bits --vmlinux odd >out1
	index=$(echo index/foliolab/*.index)
	[ -s "$index" ]
	"$FOLIOLAB" struct bits --vmlinux odd >out2
	test_cmp out1 out2
	size=$(stat -c %s "$index")
	for at in 0 9 20 70 $((size / 2)) $((size - 1)); do
		printf "\377\376" | dd of="$index" bs=1 seek=$at conv=notrunc status=none
		"$FOLIOLAB" struct bits --vmlinux odd >out2
		test_cmp out1 out2
	done
'

test_expect_success 'bad usage' '
	refused "no name, expected the name" --expand
	refused "no .nope. here, expected the name of a struct" nope
	refused "did you mean .folio." folo
	refused "together" folio --kernel-btf x --vmlinux y
	refused "No such file" folio --vmlinux missing
	refused "No such file" folio --kernel-btf missing
	refused "--all and something else" folio --all
	refused "option .--vmlinux. has no value" folio --vmlinux
'

test_expect_success 'files that are none: one line' '
	: >empty
	echo text >text
	gcc -g -o whole "$here/odd.c"
	strip -o stripped whole
	head -c 300 whole >short
	head -c 9000 whole >cut
	refused "the file is empty" bits --vmlinux empty
	refused "too short" bits --vmlinux text
	refused "no debug information" bits --vmlinux stripped
	refused "cut off or damaged" bits --vmlinux short
	refused "cut off or damaged" bits --vmlinux cut
	refused "not a regular file" bits --vmlinux .
	refused "no BTF|too short" bits --kernel-btf text
	refused "no section .BTF" bits --kernel-btf whole
	cp whole other
	printf "\001" | dd of=other bs=1 seek=4 conv=notrunc status=none
	refused "a 32-bit ELF file" bits --vmlinux other
	printf "\002\002" | dd of=other bs=1 seek=4 conv=notrunc status=none
	refused "a big-endian ELF file" bits --vmlinux other
'

test_expect_success 'types that are made of each other without end' '
	for f in "$here"/corpus/*.btf; do
		timeout 60 "$FOLIOLAB" struct s --expand --kernel-btf "$f" >out 2>err || [ $? -eq 2 ]
		[ "$(wc -l <err)" -le 1 ]
		[ ! -s out ] || [ ! -s err ]
	done
	refused "a struct inside itself" s --expand --kernel-btf "$here/corpus/struct-in-itself.btf"
	refused "more than 100000 fields" s --kernel-btf "$here/corpus/doubling.btf"
'

test_expect_success 'split debug information is said not to be there' '
	gcc -g -gsplit-dwarf -o split "$here/odd.c"
	refused "no .bits. here" bits --vmlinux split
'

test_done
