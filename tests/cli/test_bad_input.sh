#!/bin/bash
# cli/test_bad_input.sh - bad input gets one clear line and exit status 2, and nothing is left
# half written.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

test_expect_success 'an unknown command is refused, the nearest is named' '
	bad "unknown command .rnu., expected one of .*run, .*did you mean .run.\?" rnu
	bad "unknown command .frobnicate., expected one of lab" frobnicate
	bad "unknown command .rub." help rub
'

test_expect_success 'an unknown option is refused, the nearest is named' '
	bad "unknown option .--kernle.*did you mean .--kernel.\?" run -e "read 4k" --kernle v6.7
	bad "option .--kernel. has no value" run -e "read 4k" --kernel
	bad "option .--data. has a value" run -e "read 4k" --data=yes
	bad "unexpected argument .x." doctor x
	bad "unexpected argument .x." kernels x
'

test_expect_success 'an option that means nothing without another is refused' '
	bad "^foliolab: --pack: .*expected --trace" run -e "read 4k" --pack
	bad "^foliolab: --trace-code: .*expected --trace" run -e "read 4k" --trace-code
	bad "^foliolab: --jobs: .*expected --explore" run -e "read 4k" --jobs 2
	bad "^foliolab: --figures: .*expected FILE.lua" run -e "read 4k" --figures .
	bad "^foliolab: --explore: .*expected .foliolab run." compare -e "read 4k" \
		--kernel v6.1 --kernel v6.7 --explore 2
	bad "^foliolab: --view: none shows nothing, expected tui or gui" replay t.flt --view none
	bad "^foliolab: too few arguments, expected the number of an event" where 1
	bad "^foliolab: --lab: only pages have labs, expected --format html" export t.flt --lab 02
	bad "^foliolab: --student: .*, expected --lab too" export t.flt --format html --student ada
	bad "^foliolab: --student: no name, expected" export t.flt --format html --lab 02 --student ""
	bad "^foliolab: nowhere/t.flt: .*, expected a file" run -e "read 4k" --trace nowhere/t.flt
'

test_expect_success 'an unknown operation: place, nearest name' '
	bad "^foliolab: -e:1: unknown operation .reed.*did you mean .read.\?" run -e "reed 4k"
	printf "read 4k\n# fine\n  raed 4k\n" >bad.wl
	bad "^foliolab: bad.wl:3: unknown operation .raed." run bad.wl
	bad "^foliolab: bad.wl:3: unknown operation .raed." \
		compare bad.wl --kernel v6.1 --kernel v6.7
'

test_expect_success 'negative and overflowing lengths, offsets past 2^63' '
	bad "^foliolab: -e:1: .*-4096" run -e "read -4096"
	bad "^foliolab: -e:2: " run -e "read 4k
pread 0 -1"
	bad "^foliolab: -e:1: .*2\^63" run -e "read 9223372036854775808"
	bad "^foliolab: -e:1: .*2\^63" run -e "read 99999999999999999999999"
	bad "^foliolab: -e:1: .*2\^63" run -e "pread 9223372036854775808 1"
	bad "^foliolab: -e:1: .*2\^63" run -e "pread 9223372036854775807 2"
	bad "^foliolab: -e:1: .*2\^63" run -e "seek 8388608t"
	bad "^foliolab: -e:1: " run -e "read 4k -1"
	bad "^foliolab: -e:1: " run -e "read"
	bad "^foliolab: -e:1: " run -e "read 4k 1 1"
'

test_expect_success 'a workload that is not there, a directory, a FIFO' '
	mkdir folder
	mkfifo fifo
	bad "^foliolab: nowhere.wl: No such file" run nowhere.wl
	bad "^foliolab: folder: " run folder
	bad "^foliolab: fifo: " run fifo
	bad "no workload, expected FILE.wl or -e OPS" run
	bad "a second workload .b.wl., expected one" run a.wl b.wl
	bad "a second workload" run -e "read 4k" a.wl
	bad "^foliolab: x.lua: No such file" run x.lua
'

test_expect_success 'a file to read that is not there, a directory, a FIFO, a device' '
	bad "^foliolab: nowhere: No such file" run -e "read 4k" --file nowhere
	bad "^foliolab: folder: not a regular file" run -e "read 4k" --file folder
	bad "^foliolab: fifo: not a regular file" run -e "read 4k" --file fifo
	bad "^foliolab: /dev/zero: not a regular file" run -e "read 4k" --file /dev/zero
	bad "^foliolab: --file: " run -e "read 4k" --file ""
'

# Root may read everything, so it must become somebody else first.
as_nobody=()
if [ "$(id -u)" -eq 0 ]; then
	as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as_nobody[@]}" "$FOLIOLAB" --version >/dev/null 2>&1 || as_nobody=(false)
fi
if [ "${as_nobody[0]-}" = false ]; then
	test_skip 'an unreadable file' 'root, and nobody cannot run the program'
else
	test_expect_success 'an unreadable file' '
		seq 1000 >secret
		chmod 000 secret
		chmod 755 .
		expect_exit 2 "${as_nobody[@]}" "$FOLIOLAB" run "$PWD/secret" >out 2>err
		test_line_count 0 out
		test_line_count 1 err
		test_grep "^foliolab: .*/secret: Permission denied" err
		expect_exit 2 "${as_nobody[@]}" "$FOLIOLAB" run -e "read 4k" --file "$PWD/secret" 2>err
		test_line_count 1 err
		test_grep "^foliolab: .*/secret: Permission denied" err
	'
fi

test_expect_success 'an unknown kernel is refused, the nearest is named' '
	bad "^foliolab: --kernel: unknown kernel .v6.8.*did you mean .v6\.7.\?" \
		run -e "read 4k" --kernel v6.8
	bad "unknown kernel" compare -e "read 4k" --kernel v6.7 --kernel linux
	bad "unknown knob .ORDR1.*did you mean .ORDER1.\?" run -e "read 4k" --kernel v6.12-ORDR1
	bad "--kernel: .*expected both" run -e "read 4k" --kernel v6.1+END_ALIGN
	bad "--kernel: 1 kernel to compare, expected at least two" compare -e "read 4k" --kernel v6.7
	bad "--kernel: 2 kernels, expected one" run -e "read 4k" --kernel v6.7 --kernel v6.1
'

test_expect_success 'files whose size is made on reading' '
	bad "^foliolab: /proc/self/maps: not a regular file" run -e "read 4k" --file /proc/self/maps
	bad "^foliolab: /proc/cpuinfo: not a regular file" run -e "read 4k" --file /proc/cpuinfo
'

test_expect_success 'page size, memory, sizes' '
	bad "--page-size: page size 3000, expected 4k, 16k or 64k" \
		run -e "read 4k" --page-size 3000
	bad "--memory: memory of 0 bytes, expected at least" run -e "read 4k" --memory 0
	bad "--memory: .*expected a size" run -e "read 4k" --memory lots
	bad "--memory: .*expected less than 2\^32 pages" run -e "read 4k" --memory 16t
	bad "--size: .-1., expected a size" run -e "read 4k" --size -1
	bad "--size: .*past 2\^63-1" run -e "read 4k" --size 9223372036854775808
	bad "--size: .*past 2\^63-1" run -e "read 4k" --size 99999999t
	bad "--size: .., expected a size" run -e "read 4k" --size=
	bad "--block-size: .*power of two" run -e "read 4k" --block-size 3k
	bad "--block-size: .*larger than a page" run -e "read 4k" --block-size 64k --kernel v6.1
	bad "--size: the file of --file has its own size" run -e "read 4k" --file /etc/passwd --size 1m
'

test_expect_success 'every other option of the machine' '
	bad "--fs: unknown file system .xsf.*did you mean .xfs.\?" run -e "read 4k" --fs xsf
	bad "--disk: unknown disk .nvm.*did you mean .nvme.\?" run -e "read 4k" --disk nvm
	bad "--disk: .*expected --file" run -e "read 4k" --disk host
	bad "--disk: a hole has no bytes" run -e "read 4k" --disk hole --file /etc/passwd
	bad "--ra-kb: .1048577., expected a number from 0 to 1048576" \
		run -e "read 4k" --ra-kb 1048577
	bad "--ra-kb: .-1., expected a number" run -e "read 4k" --ra-kb -1
	bad "--io-kb: .0., expected a number from 4" run -e "read 4k" --io-kb 0
	bad "--seed: .x., expected a number" run -e "read 4k" --seed x
	bad "--cpus: .0., expected a number from 1 to 254" run -e "read 4k" --cpus 0
	bad "--cpus: .255., expected a number from 1 to 254" run -e "read 4k" --cpus 255
	bad "--tasks: .all., expected own, same or threads" run -e "read 4k" --tasks all
	bad "--cpus: several tasks on tmpfs cannot be played" run -e "read 4k" --cpus 2 \
		--fs tmpfs-always
	bad "-e:1: poison in a task" run -e "read 4k; task 0; poison 0" --cpus 2
	bad "-e:1: mmap in a task .threads share the mapping" run -e "mmap" --cpus 2 --tasks threads
	bad "-e: task 300 on a machine of 254 processors" run -e "task 300; read 4k"
	bad "--fragment: order 11, expected 0 to 10" run -e "read 4k" --fragment 11
	bad "--fragment: order 12, expected 0 to 11" run -e "read 4k" --fragment 12 --page-size 16k
	bad "--fragment: order 14, expected 0 to 13" run -e "read 4k" --page-size 64k --fragment 14
	bad "--fragment: .3:101., expected ORDER" run -e "read 4k" --fragment 3:101
	bad "--fragment: .:5., expected ORDER" run -e "read 4k" --fragment :5
	bad "--format: unknown format .jsn.*did you mean .json.\?" run -e "read 4k" --format jsn
'

test_expect_success 'an unknown bench is refused, the nearest is named' '
	bad "no bench is named" bench
	bad "unknown bench .ddd.*did you mean .dd.\?" bench ddd
'

test_expect_success 'hostile words reach the terminal without control characters' '
	bad "unknown operation" run -e "$(printf "\033[2Jread")"
	test_no_grep "$(printf "\033")" bad.err
	bad "unknown kernel" run -e "read 4k" --kernel "$(printf "v6\033]0;x\007")"
	test_no_grep "$(printf "\033")" bad.err
'

test_expect_success 'a closed pipe ends with an error line' '
	for format in text json; do
		{
			sleep 0.5
			rc=0
			"$FOLIOLAB" run -e "read 4k 64" --format $format 2>err || rc=$?
			echo $rc >rc
		} | true
		same "$(cat rc)" 2
		test_line_count 1 err
		test_grep "^foliolab: standard output: Broken pipe" err
	done
'

if [ -w /dev/full ]; then
	test_expect_success 'a full disk ends with an error line' '
		for args in "run -e read_4k" "kernels --knobs" doctor "bench dd" --version "" \
			"help run" "run --help" "run -e read_4k --format json"; do
			set --
			for word in $args; do set -- "$@" "${word//_/ }"; done
			expect_exit 2 "$FOLIOLAB" "$@" >/dev/full 2>err
			test_line_count 1 err
			test_grep "^foliolab: standard output: No space left" err
		done
		expect_exit 2 "$FOLIOLAB" run -e "read 4k" -o /dev/full 2>err
		test_grep "^foliolab: /dev/full: No space left" err
	'
else
	test_skip 'a full disk ends with an error line' 'no /dev/full'
fi

test_expect_success 'standard output that is closed is an error, not somebody else'"'"'s file' '
	seq 1000 >precious
	cp precious copy
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" --file precious >&- 2>err
	test_grep "^foliolab: standard output: " err
	test_cmp copy precious
'

test_expect_success 'nothing is left half written: a full disk' '
	mkdir half
	cd half
	echo old >out
	(
		ulimit -f 1
		expect_exit 2 "$FOLIOLAB" run -e "read 4k 64" --format json -o out 2>../err
	)
	test_grep "^foliolab: .*out: File too large" ../err
	same "$(cat out)" old
	same "$(ls -A)" out
	(
		ulimit -f 1
		expect_exit 2 "$FOLIOLAB" run -e "read 4k 64" --format json -o new 2>../err
	)
	same "$(ls -A)" out
'

test_expect_success 'nothing is left half written: a run that fails' '
	mkdir failed
	cd failed
	echo old >out
	expect_exit 2 "$FOLIOLAB" run -e "read 4k; reed" -o out 2>../err
	expect_exit 2 "$FOLIOLAB" run -e "read 4k 0" -o new 2>../err
	expect_exit 2 "$FOLIOLAB" run -e "read 4k" -o nowhere/out 2>../err
	test_grep "^foliolab: nowhere/out: No such file" ../err
	same "$(cat out)" old
	same "$(ls -A)" out
'

test_expect_success 'an output that is written takes the place of the old one' '
	echo old >place
	"$FOLIOLAB" run -e "read 4k" -o place >out
	test_line_count 0 out
	"$FOLIOLAB" run -e "read 4k" >want
	test_cmp want place
'

test_done
