# shellcheck shell=bash
#
# tests/host/images.sh - ext4 images for the suites. Sourced after tests/lib.sh.

PATH=$PATH:/usr/sbin:/sbin

# make_source DIR: files of every shape that `mkfs.ext4 -d` knows to copy.
make_source()
{
	mkdir -p "$1/dir/deep"
	awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) printf "%06d %.12f\n", i, rand() }' \
		>"$1/big"
	printf 'a few bytes\n' >"$1/tiny"
	head -c 130 "$1/big" >"$1/dir/small"
	: >"$1/dir/empty"
	head -c 40961 "$1/big" >"$1/dir/deep/odd"
	truncate -s 3m "$1/sparse"
	for at in 0 17 18 40 200 767; do
		dd if="$1/big" of="$1/sparse" bs=4k count=1 skip="$((at % 100))" seek="$at" \
			conv=notrunc status=none
	done
	truncate -s 300k "$1/hole"
	ln -s big "$1/link"
}

# dbg IMAGE COMMAND: debugfs, quietly; writes.
dbg()
{
	debugfs -w -R "$2" "$1" >debugfs.out 2>&1
}

# fragment IMAGE FILE: punch blocks of FILE, so that extents break, holes and data alternate.
fragment()
{
	local at

	for at in 1 3 4 9 20 33 34 35 60 100; do
		dbg "$1" "punch $2 $at $at"
	done
}

# preallocate IMAGE FILE FIRST LAST: blocks for holes, unwritten.
preallocate()
{
	dbg "$1" "fallocate $2 $3 $4"
}

# image_sha IMAGE FILE: of what debugfs dumps. Of inline data it dumps all the room there is,
# whatever the size, hence truncate.
image_sha()
{
	local size

	size=$(debugfs -R "stat $2" "$1" 2>/dev/null | sed -n 's/.*Size: \([0-9]*\).*/\1/p' | head -n 1)
	rm -f dumped
	debugfs -R "dump $2 dumped" "$1" >/dev/null 2>&1
	truncate -s "$size" dumped
	sha256sum <dumped | cut -d' ' -f1
}

# run_sha IMAGE FILE OPTION...: of what a read of all of it through the miniature returns.
run_sha()
{
	local image=$1 file=$2

	shift 2
	"$FOLIOLAB" run -e 'read 64k 1000' --image "$image:$file" --data --format json "$@" >run.json
	json_get run.json sha256
}
