#!/bin/bash
#
# images.sh [FOLDER] - make the ext4 images of lab 13, here or in FOLDER; times differ, the rest is the same.
# Needs mke2fs, debugfs and tune2fs of e2fsprogs 1.47, and xz. Nothing is mounted.
set -eu

PATH=$PATH:/usr/sbin:/sbin
export E2FSPROGS_FAKE_TIME=1747008000 LC_ALL=C TZ=UTC
uuid=b83fa4ee-0d8b-4f5d-9a1c-8b6f3c6d1e13
here=$(cd "${1:-$(dirname "$0")}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Nothing that a distribution's own defaults decide.
export MKE2FS_CONFIG=$work/mke2fs.conf
printf '[defaults]\n[fs_types]\n ext4 = {\n }\n small = {\n }\n floppy = {\n }\n' >mke2fs.conf

mkdir files
seq 12000 >files/report
seq 9000 -3 1 >files/table
printf 'short\n' >files/note
touch -d @1747008000 files/* files
find files -exec chmod go-w {} +

# image NAME SIZE MKE2FS-OPTION...
image()
{
	local name=$1 size=$2

	shift 2
	truncate -s "$size" "$name.img"
	mke2fs -q -F -t ext4 -N 32 -m 0 -U "$uuid" -E "root_owner=0:0,hash_seed=$uuid" \
		-d files "$@" "$name.img" >/dev/null
}

change()
{
	debugfs -w -R "$2" "$1.img" >/dev/null
}

common=none,filetype,sparse_super,large_file,extra_isize
ext4=$common,has_journal,extent

image plain 10m -b 4096 -J size=4 -O "$ext4"
# As chattr +j sets it: EXTENTS_FL | JOURNAL_DATA_FL.
change plain "set_inode_field table flags 0x84000"
image small-blocks 4m -b 1024 -J size=1 -O "$ext4"
image journalled 10m -b 4096 -J size=4 -O "$ext4"
tune2fs -o journal_data journalled.img >/dev/null
small=$common,extent
image verity 2m -b 4096 -O "$small,verity"
image encrypt 2m -b 4096 -O "$small,encrypt"
image clusters 2m -b 4096 -O "$small,bigalloc" -C 16384
image inline 2m -b 4096 -O "$small,inline_data" -I 256
image no-journal 2m -b 4096 -O "$small"
image ext2 2m -b 2048 -O "$common"
image large-blocks 4m -b 16384 -O "$small"
image large-encrypt 4m -b 16384 -O "$small,encrypt"

for i in *.img; do
	e2fsck -fn "$i" >/dev/null 2>&1 || { echo "images.sh: $i: not sound" >&2; exit 1; }
	xz -9e -c "$i" >"$here/$i.xz"
done
