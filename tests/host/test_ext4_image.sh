#!/bin/bash
# host/test_ext4_image.sh - real ext4 images: every byte as debugfs has it, the right verdicts,
# damaged ones refused, none ever written.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../cli/cli.sh"
. "$(dirname "$0")/images.sh"

have mkfs.ext4 debugfs || skip_all 'no mkfs.ext4 and debugfs here'

# verdict WANT IMAGE FILE OPTION...: "max_order reasons" of one file in one kernel.
verdict()
{
	local want=$1 image=$2 file=$3

	shift 3
	"$FOLIOLAB_O2" ext4 "$image:$file" --format json "$@" >verdict.json
	same "$want" "$(json_get verdict.json max_order) $(sed -n 's/.*"why":[[:space:]]*\[\(.*\)\].*/\1/p' \
		verdict.json | tr -d '"')"
}

# same_bytes IMAGE: every file, through the miniature, in several kernels.
same_bytes()
{
	local image=$1 file want options

	for file in big tiny dir/small dir/empty dir/deep/odd sparse hole; do
		want=$(image_sha "$image" "$file")
		same "$want" "$(run_sha "$image" "$file" --kernel v6.18)"
		for options in '--kernel v6.1' '--kernel v7.3' '--kernel v6.18 --page-size 64k'; do
			# shellcheck disable=SC2086
			same "$want" "$(FOLIOLAB=$FOLIOLAB_O2 run_sha "$image" "$file" $options)"
		done
	done
}

test_expect_success 'the files of the images' '
	make_source src
	mkfs.ext4 -q -d src -b 4096 img-4k 32m
	mkfs.ext4 -q -d src -b 1024 img-1k 32m
	mkfs.ext4 -q -d src -b 2048 img-2k 32m
	mkfs.ext4 -q -d src -O verity img-verity 32m
	mkfs.ext4 -q -d src -O encrypt img-encrypt 32m
	mkfs.ext4 -q -d src -O ^has_journal img-nojournal 32m
	mkfs.ext4 -q -d src -O bigalloc -C 16384 img-bigalloc 64m
	mkfs.ext4 -q -d src -O inline_data -I 256 img-inline 32m
	mkfs.ext4 -q -d src -O ^extent,^64bit img-indirect 32m
	mkfs.ext4 -q -d src -O ^metadata_csum img-nocsum 32m
	mkfs.ext2 -q -d src img-ext2 32m
	mkfs.ext2 -q -d src -b 4096 img-ext2-4k 32m
	mkfs.ext4 -q -d src -b 1024 img-frag 32m
	mkfs.ext4 -q -d src -b 4096 img-frag4 32m
	for i in img-frag img-frag4; do
		fragment $i big
		fragment $i sparse
		preallocate $i big 3 3
		preallocate $i big 33 34
		preallocate $i hole 10 40
	done
	sha256sum img-* >before
'

for i in 4k 1k 2k verity encrypt nojournal bigalloc inline indirect nocsum ext2 ext2-4k frag frag4; do
	test_expect_success "$i: every byte equals debugfs's dump" "same_bytes img-$i"
done

test_expect_success 'holes and unwritten blocks of the image are not read' '
	"$FOLIOLAB" run -e "read 64k 100" --image img-frag4:hole --format json >out
	same 0 "$(json_get out ios)"
	same 307200 "$(json_get out size)"
	"$FOLIOLAB" run -e "read 64k 1000" --image img-4k:sparse --kernel v6.12 --format json >out
	[ "$(json_get out bios)" -le 5 ]
'

test_expect_success 'every break between extents costs an I/O more' '
	"$FOLIOLAB" run -e "read 64k 100" --image img-4k:big --kernel v6.12 --format json >whole
	"$FOLIOLAB" run -e "read 64k 100" --image img-frag4:big --kernel v6.12 --format json >pieces
	[ "$(json_get pieces bios)" -gt "$(json_get whole bios)" ]
'

test_expect_success 'block size and file system come from the image' '
	"$FOLIOLAB" run -e "read 4k" --image img-2k:big --format json >out
	same 2048 "$(json_get out block_size)"
	same ext4 "$(json_get out fs)"
	same host "$(json_get out disk)"
	same img-2k:big "$(json_get out image)"
'

test_expect_success 'a write into the file of an image stays in the miniature' '
	"$FOLIOLAB" run -e "pwrite 4096 8192; fsync; pread 0 64k; pwrite 20m 4k; fsync" \
		--image img-1k:big --data --format json >out
	same 0 "$(json_get out errors)"
'

test_expect_success 'who gets large folios: section 1 of every kernel' '
	for k in v6.1 v6.1.y v6.7 ab4443fe3ca6 v6.12 v6.12.y; do
		verdict "0 kernel" img-4k big --kernel $k
	done
	for k in v6.16 v6.16.y v6.17 v6.18 v7.3; do
		for i in 4k 1k 2k nojournal bigalloc inline indirect ext2 frag; do
			verdict "9 " img-$i big --kernel $k
		done
		verdict "0 encrypt" img-encrypt big --kernel $k
		verdict "0 data=journal" img-4k big --kernel $k --mount-options data=journal
		verdict "9 " img-4k big --kernel $k --mount-options nodelalloc
		verdict "9 " img-4k big --kernel $k --mount-options data=writeback
	done
	for k in v6.16 v6.16.y v6.17 v6.18; do
		verdict "0 verity" img-verity big --kernel $k
	done
	verdict "9 " img-verity big --kernel v7.3
'

test_expect_success 'orders by block and page size' '
	for k in v6.16.y v6.18 v7.3; do
		verdict "5 " img-1k big --kernel $k --page-size 64k
		verdict "6 " img-2k big --kernel $k --page-size 64k
		verdict "7 " img-4k big --kernel $k --page-size 64k
	done
	verdict "11 " img-1k big --kernel v6.16 --page-size 64k
'

test_expect_success 'the journal flag of a file, and several obstacles at once' '
	cp img-verity img-flag
	dbg img-flag "set_inode_field big flags 0x84000"
	verdict "0 verity, flag +j" img-flag big --kernel v6.18
	verdict "0 verity" img-flag tiny --kernel v6.18
	verdict "0 flag +j" img-flag big --kernel v7.3
	verdict "0 verity, data=journal, flag +j" img-flag big --kernel v6.18 \
		--mount-options data=journal
	same "$(image_sha img-flag big)" "$(run_sha img-flag big)"
	"$FOLIOLAB" run -e "read 64k 100" --image img-flag:big --kernel v7.3 --format json >out
	same "0:$(json_get out read)" "$(json_orders out folios_added)"
	rm img-flag
'

test_expect_success 'mount options that stand in the super block' '
	cp img-4k img-defaults
	dbg img-defaults "set_super_value default_mount_opts 0x20"
	verdict "0 data=journal" img-defaults big --kernel v6.18
	verdict "9 " img-defaults big --kernel v6.18 --mount-options data=ordered
	rm img-defaults
'

test_expect_success 'blocks larger than a page' '
	mkfs.ext4 -q -F -d src -b 65536 img-64k 128m 2>mkfs.err
	verdict "0 refused" img-64k big --kernel v6.18
	verdict "9 " img-64k big --kernel v7.3
	verdict "4 data=journal" img-64k big --kernel v7.3 --mount-options data=journal
	for f in big sparse dir/deep/odd; do
		same "$(image_sha img-64k $f)" "$(run_sha img-64k $f --kernel v7.3)"
		same "$(image_sha img-64k $f)" "$(run_sha img-64k $f --page-size 64k)"
	done
	bad "img-64k.*blocks of 65536" run -e "read 4k" --image img-64k:big --kernel v6.18
	rm img-64k
'

test_expect_success 'the table names every regular file once, and sums up' '
	"$FOLIOLAB" ext4 img-verity >out
	for f in big tiny dir/small dir/empty dir/deep/odd sparse hole; do
		same 1 "$(grep -c "^$f " out)"
	done
	test_no_grep "^link" out
	test_grep "^7 files; large folios: 0 in v6.1..v6.12.y, 0 in v6.16..v6.18, 7 in v7.3$" out
	test_grep "^verity  *the file system has the feature verity" out
	"$FOLIOLAB" ext4 img-verity --max 3 >out
	test_grep "^3 files .there are more" out
	"$FOLIOLAB" ext4 img-verity:dir >out
	test_grep "^3 files; " out
	"$FOLIOLAB" ext4 img-inline:dir/small >out
	test_grep "^1 files; " out
'

test_expect_success 'names of any bytes' '
	mkdir odd
	printf x >"odd/$(printf "esc\033[31m \377\303\244")"
	printf x >"odd/a:b"
	mkfs.ext4 -q -d odd im:g 4m
	"$FOLIOLAB" ext4 im:g >out
	same 0 "$(LC_ALL=C grep -c "$(printf "\033")" out || true)"
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	"$FOLIOLAB" ext4 im:g:a:b --format json >out
	same a:b "$(json_get out path)"
	"$FOLIOLAB" run -e "read 4k" --image im:g:a:b --format json >out
	same 1 "$(json_get out bytes)"
'

test_expect_success 'what is wrong is said in one line' '
	bad "img-4k: no file named, expected IMAGE:PATH .files: big, dir/" run -e "read 4k" --image img-4k
	bad "img-4k:nope: no such file" run -e "read 4k" --image img-4k:nope
	bad "img-4k:dir: a directory" run -e "read 4k" --image img-4k:dir
	bad "img-4k:link: a symbolic link" run -e "read 4k" --image img-4k:link
	bad "nope: No such file" run -e "read 4k" --image nope:nope
	bad "nope: No such file" ext4 nope
	bad "expected ext4" run -e "read 4k" --image img-4k:big --fs xfs
	bad "one of the two" run -e "read 4k" --image img-4k:big --file src/big
	bad "own size" run -e "read 4k" --image img-4k:big --size 1m
	bad "own block size" run -e "read 4k" --image img-4k:big --block-size 1k
	bad "has its own" run -e "read 4k" --image img-4k:big --features verity
	bad "expected host, ram or nvme" run -e "read 4k" --image img-4k:big --disk hole
	bad "not a regular file or block device" ext4 src
	bad "not a regular file or block device" ext4 /dev/null
	bad "no image" ext4
	bad "unexpected argument" ext4 img-4k img-2k
	bad "profile|kernel" ext4 img-4k --kernel v5.0
	bad "mount option" ext4 img-4k --mount-options nope
	bad "number from 1" ext4 img-4k --max 0
	bad "page size" ext4 img-4k --page-size 5k
	mkfifo fifo
	bad "not a regular file" ext4 fifo
'

test_expect_success 'garbage, short and empty images are damaged images' '
	: >empty
	head -c 300k src/big >garbage
	head -c 100k img-4k >short
	head -c 20m img-4k >shorter
	for i in empty garbage short shorter; do
		bad "^foliolab: $i: damaged image: .*, expected " ext4 $i
		bad "^foliolab: $i: damaged image: .*, expected " run -e "read 4k" --image $i:big
	done
'

test_expect_success 'two files and extents that claim the same blocks' '
	cp img-ext2-4k twice
	dbg twice "set_inode_field big block[1] 2000"
	dbg twice "set_inode_field big block[2] 2000"
	bad "damaged image: two extents share a block, expected" run -e "read 4k" --image twice:big
	cp img-ext2-4k outside
	dbg outside "set_inode_field big block[1] 123456789"
	bad "damaged image: .*, expected" run -e "read 4k" --image outside:big
	rm twice outside
'

test_expect_success 'a folder that is its own child' '
	cp img-nocsum loop
	dbg loop "link dir dir/loop"
	bad "damaged image: .*, expected" ext4 loop
	rm loop
'

if [ "$(id -u)" -eq 0 ] && have setpriv; then
	test_expect_success 'an ordinary user reads images, too' '
		chmod 755 .
		chmod 644 img-1k
		nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
		if $nobody test -x "$FOLIOLAB_O2" && $nobody test -r img-1k; then
			$nobody "$FOLIOLAB_O2" ext4 img-1k >out
			test_grep "^7 files; " out
			$nobody "$FOLIOLAB_O2" run -e "read 64k 1000" --image img-1k:big --data \
				--format json >out
			same "$(image_sha img-1k big)" "$(json_get out sha256)"
		fi
	'
fi

test_expect_success 'no image was written' '
	sha256sum -c --quiet before
'

test_expect_success 'inline data is read from the inode: no I/O' '
	"$FOLIOLAB" run -e "read 64k" --image img-inline:tiny --data --format json >run.json
	same 0 "$(json_get run.json ios)"
	same "$(json_get run.json sha256)" "$(sha256sum <src/tiny | cut -d" " -f1)"
'

test_done
