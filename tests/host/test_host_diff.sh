#!/usr/bin/env bash
# The miniature beside the kernel this runs on: every public read-side workload, on files of a
# loop-mounted ext4 (4 KiB and 1 KiB blocks) and xfs, folio by folio, tracepoints included. Proves
# that `host diff` sees the real kernel and that the miniature does what it does.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root for tracefs and loop devices"
have mkfs.ext4 || skip_all "needs mkfs.ext4"
release=$(uname -r)
case $release in
6.18.* | 6.17.* | 6.16.* | 6.12.* | 6.1.* | 7.3.*) ;;
*) skip_all "no profile for kernel $release" ;;
esac
[ -r /proc/kpageflags ] || skip_all "/proc/kpageflags cannot be read"

# All of it happens in a mount namespace of its own: nothing stays mounted, whatever happens.
if [ -z "${FL_OWN_NS:-}" ]; then
	unshare -m true 2>/dev/null || skip_all "no mount namespaces"
	FL_OWN_NS=1 exec unshare -m "$BASH" "$0" "$@"
fi
mount --make-rprivate /

# One workload a run of the recording that only reads; "xN" of reads becomes their count.
workloads() {
	mkdir -p wl
	xz -dc "$TESTDATA/golden/linux-6.18.public.txt.xz" | awk '
		/^=== / { name = $2; bad = 0; n = 0; fs = ""; next }
		/^fs / { fs = $2; next }
		/^file / { file = $2; size = $3; next }
		/^> end/ { if (fs == "ext4" && !bad && file != "new") {
				out = "wl/" name "." file ".wl"
				for (i = 0; i < n; i++) print line[i] > out
				close(out) }
			   next }
		/^> / { op = $2; times = 1; text = substr($0, 3)
			if (match(text, / x[0-9]+$/)) { times = substr(text, RSTART + 2); text = substr(text, 1, RSTART - 1) }
			if (op !~ /^(read|pread|seek|fd|reopen|fadvise|readahead|mmap|munmap|madvise|touch)$/) bad = 1
			if (op == "read") line[n++] = text " " times
			else for (t = 0; t < times; t++) line[n++] = text }'
}

make_files() { # DIR
	dd if=/dev/urandom of="$1/d16" bs=1M count=16 status=none
	dd if=/dev/urandom of="$1/d64" bs=1M count=64 status=none
	head -c 10000 "$1/d16" > "$1/tiny"
	head -c 3145729 "$1/d16" > "$1/odd"
	truncate -s 64M "$1/sparse"
	sync
}

# Mount a fresh image on $1; its device gets the window of the recordings.
mount_image() { # DIR MKFS...
	local dir=$1 dev
	shift
	truncate -s 512M "$dir.img" || return 1
	"$@" "$dir.img" > mkfs.log 2>&1 || return 1
	mkdir -p "$dir"
	dev=$(losetup -f --show "$dir.img") || return 1
	mount "$dev" "$dir" || { losetup -d "$dev"; return 1; }
	losetup -d "$dev" # goes with the mount
	echo 128 > "/sys/block/${dev#/dev/}/queue/read_ahead_kb"
	make_files "$dir"
}

# A real kernel races with itself now and then (a folio still under I/O when the next fault looks at
# it), more so on a busy machine: a workload has three tries, and those that needed more are named.
identical() { # WORKLOAD FILE
	local try
	for try in 1 2 3; do
		if "$FOLIOLAB_O2" host diff --tracepoints "$1" --file "$2" > diff.out 2>&1; then
			[ "$try" = 1 ] || note "$1 needed $try tries"
			return 0
		fi
	done
	echo "--- $1 on $2"
	cat diff.out
	return 1
}

compare_all() { # DIR
	local wl file same=0 all=0
	for wl in wl/*.wl; do
		file=${wl%.wl}
		all=$((all + 1))
		identical "$wl" "$1/${file##*.}" && same=$((same + 1))
	done
	note "$1: $same of $all workloads identical on $release"
	[ "$same" = "$all" ] && [ "$all" -ge 40 ]
}

workloads

probe=$(mktemp -d "$TMPDIR/probe.XXXXXX")
if ! mount_image "$probe/ext4" mkfs.ext4 -q -F -b 4096; then
	skip_all "loop devices cannot be mounted here"
fi
mv "$probe/ext4.img" . 2>/dev/null || true

test_expect_success 'ext4, 4 KiB blocks: every read-side workload, folio by folio' \
	"compare_all '$probe/ext4'"

if mount_image "$probe/ext4-1k" mkfs.ext4 -q -F -b 1024; then
	test_expect_success 'ext4, 1 KiB blocks: every read-side workload, folio by folio' \
		"compare_all '$probe/ext4-1k'"
else
	test_skip 'ext4, 1 KiB blocks' 'the image could not be mounted'
fi

if have mkfs.xfs && mount_image "$probe/xfs" mkfs.xfs -q -f; then
	test_expect_success 'xfs: every read-side workload, folio by folio' \
		"compare_all '$probe/xfs'"
else
	test_skip 'xfs' 'no mkfs.xfs, or this kernel cannot mount xfs'
fi

test_expect_success 'a recording of this kernel plays identically' '
	"$FOLIOLAB_O2" host record -e "read 64k 16; pread 1m 4k; fadvise dontneed 0 0; read 4k 3" \
		--name here --file "'"$probe"'/ext4/d16" -o here.txt
	test_grep "^=== here" here.txt
	"$FOLIOLAB_O2" golden --tracepoints here.txt > golden.out
	test_grep "golden: 1 of 1 runs identical, 0 skipped" golden.out
'

test_expect_success 'another kernel differs, and the difference is shown' '
	expect_exit 1 "$FOLIOLAB_O2" host diff -e "read 4k 64" --kernel v6.1 \
		--file "'"$probe"'/ext4/d16" > other.out
	test_grep "expected  *got" other.out
	test_grep "window after it" other.out
'

test_expect_success 'orders: what the kernel says of a file, as text and JSON' '
	"$FOLIOLAB_O2" host record -e "read 64k 64" --file "'"$probe"'/ext4/d16" > rec.out
	"$FOLIOLAB" host orders "'"$probe"'/ext4/d16" --map --format json > orders.json
	test_grep "\"exact\":.*true" orders.json
	want=$(awk "/^= /{n += (NF > 4 ? substr(\$5, 2) : 1)} END{print n}" rec.out)
	test "$(grep -c "\"index\"" orders.json)" = "$want"
'

# folios_left CSV: "index order" of what was added and not deleted again.
folios_left() {
	awk -F, '$4 ~ /add_to_page_cache/ { there[$6] = $7 } $4 ~ /delete_from/ { delete there[$6] }
		END { for (i in there) print i, there[i] }' "$1" | sort -n
}

test_expect_success 'trace: a recording of the file, with its I/O, is what the kernel has afterwards' '
	f="'"$probe"'/ext4/odd"
	"$FOLIOLAB" host trace --file "$f" -o t.flt -- sh -c "
		dd if=$f of=/dev/null iflag=nocache count=0 status=none
		dd if=$f of=/dev/null bs=64k status=none" 2> told
	test_grep "events of --ino" told
	"$FOLIOLAB" export t.flt --format csv > t.csv
	folios_left t.csv > got
	"$FOLIOLAB" host orders "$f" --map --format json > orders.json
	sed -n "s/.*\"index\":[^0-9]*\([0-9]*\).*/\1/p" orders.json > index
	sed -n "s/.*\"order\":[^0-9]*\([0-9]*\).*/\1/p" orders.json | tail -n "$(wc -l < index)" > order
	paste -d" " index order | sort -n > want
	test_cmp want got
	awk -F, "\$4 == \"block_bio_queue\" { n += \$8 } END { print n }" t.csv > sectors
	echo "$(((3145729 + 4095) / 4096 * 8))" > want
	test_cmp want sectors
	"$FOLIOLAB" export t.flt --format svg -o t.svg
	test_grep "recorded.on.this.host" t.svg
'

test_expect_success 'trace: as text, which import reads; chosen events; a command that fails' '
	f="'"$probe"'/ext4/odd"
	"$FOLIOLAB" host trace --file "$f" --format text -o t.txt -- cat "$f" > /dev/null
	test_grep "mm_filemap_get_pages" t.txt
	test_grep "^# kernel $(uname -r)" t.txt
	"$FOLIOLAB" import t.txt -o i.flt 2> told
	test_grep "kernel $(uname -r)" told
	"$FOLIOLAB" host trace -e filemap/mm_filemap_get_pages -- cat "$f" > /dev/null 2> err
	test_grep "cat-.*mm_filemap_get_pages" err
	expect_exit 2 "$FOLIOLAB" host trace -e filemap/none -- true 2> err
	test_grep "foliolab: filemap/none: .*expected an event" err
	expect_exit 2 "$FOLIOLAB" host trace --file "$f" -e sched/sched_switch -- true 2> err
	test_grep "names a file or a device" err
'

test_expect_success 'nothing is left behind: no instance, also after SIGKILL' '
	mkdir -p tr && mount -t tracefs none tr
	"$FOLIOLAB_O2" host trace -o k.flt -- sleep 3 2> /dev/null & pid=$!
	for try in $(seq 100); do
		[ -z "$(ls tr/instances)" ] || break
		sleep 0.05
	done
	kill -9 "$pid"
	wait "$pid" || true
	test -n "$(ls tr/instances)"
	"$FOLIOLAB_O2" host trace -- true 2> err
	test -z "$(ls tr/instances)"
'

test_expect_success 'nothing is left behind: Ctrl-C ends the command, not the cleaning up' '
	setsid "$FOLIOLAB_O2" host trace -o c.flt --file "'"$probe"'/ext4/odd" -- \
		sh -c "cat '"$probe"'/ext4/odd; kill -INT 0; sleep 5" > /dev/null 2> err || true
	test -z "$(ls tr/instances)"
	"$FOLIOLAB_O2" export c.flt > c.txt
	umount tr
'

test_expect_success 'no setting of the host was changed' '
	test "$(cat /sys/kernel/mm/transparent_hugepage/enabled 2> /dev/null)" = "'"$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"'"
	test "$(cat /proc/sys/vm/drop_caches)" = "'"$(cat /proc/sys/vm/drop_caches)"'"
'

test_done
