#include "host/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/ext4/ext4.h"
#include "lib/strutil.h"

#define NAMES_SHOWN 8 /* files named where none was */

/* ---- a host file ---- */

/* The kernel's own files (/proc) claim to be empty but are not: their bytes are made on reading. */
static bool is_ordinary_file(struct backing *b)
{
	struct stat st;
	char byte;

	if (fstat(b->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	b->size = st.st_size;
	return st.st_size || !pread(b->fd, &byte, 1, 0);
}

/* Regular files only, never waiting for a FIFO. */
static int open_host_file(const char *path, struct backing *b, struct fl_error *err)
{
	b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (b->fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s, expected a readable file",
				    strerror(errno));
	if (!is_ordinary_file(b))
		return fl_error_set(err, -EINVAL, path, 0, "not a regular file, expected one");
	return 0;
}

/* All of the file in one piece, as a disk that is the file has it. */
static int fill_one_extent(struct inode *inode)
{
	unsigned int bits = inode->i_blkbits;
	u64 len = ((u64)inode->i_size >> bits) + !!(inode->i_size & ((1 << bits) - 1));
	struct fs_extent e = {.len = len, .state = EXTENT_WRITTEN};

	return len ? inode_set_extents(inode, &e, 1) : 0;
}

static int fill_host_inode(struct inode *inode)
{
	struct block_device *bdev = inode->i_sb->s_bdev;
	struct host_layout layout;
	int ret;

	if (host_fiemap(bdev->fd, inode->i_size, inode->i_blkbits, &layout))
		return fill_one_extent(inode);
	ret = inode_set_extents(inode, layout.extents, layout.nr);
	blk_set_pieces(bdev, layout.pieces, layout.nr);
	layout.pieces = NULL;
	host_layout_fini(&layout);
	return ret;
}

/* ---- a file in an image ---- */

/* "a.bin, dir/b.bin, ...": what could have been meant. */
static void name_files(struct ext4_image *image, char *buf, size_t size)
{
	struct ext4_image_list list;
	size_t used = 0;

	snprintf(buf, size, "none");
	if (ext4_image_walk(image, "", NAMES_SHOWN, &list, NULL))
		return;
	for (size_t i = 0; i < list.nr && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%.*s", i ? ", " : "",
				 shown_len(list.entries[i].path, 60), list.entries[i].path);
	if (list.more && used < size)
		snprintf(buf + used, size - used, ", ...");
	ext4_image_list_fini(&list);
}

static int open_image_file(const char *word, struct backing *b, struct fl_error *err)
{
	struct ext4_image *image;
	char name[4096], files[300];
	const char *path = ext4_image_split(word, name, sizeof(name));
	int ret = ext4_image_open(name, &image, err);

	if (ret)
		return ret;
	b->super = *ext4_image_super(image);
	if (path) {
		ret = ext4_image_file(image, path, &b->inode, err);
	} else {
		name_files(image, files, sizeof(files));
		ret = fl_error_set(err, -EINVAL, name, 0,
				   "no file named, expected IMAGE:PATH (files: %s)", files);
	}
	if (!ret) {
		b->size = b->inode.size;
		b->fd = fcntl(ext4_image_fd(image), F_DUPFD_CLOEXEC, 3);
		if (b->fd < 0)
			ret = fl_error_set(err, -errno, name, 0, "%s", strerror(errno));
	}
	ext4_image_close(image);
	return ret;
}

/* Put the bytes in memory where the extents say. */
static int preset_extents(const struct backing *b, struct inode *inode)
{
	unsigned int bits = inode->i_blkbits;
	const char *bytes = b->bytes;
	int ret = 0;

	for (unsigned int i = 0; i < b->inode.nr_extents && !ret; i++) {
		const struct fs_extent *e = &b->inode.extents[i];

		if (e->state != EXTENT_WRITTEN)
			continue;
		ret = blk_preset(inode->i_sb->s_bdev, e->pblk << bits, bytes, e->len << bits);
		bytes += e->len << bits;
	}
	return ret;
}

static int fill_image_inode(const struct backing *b, struct inode *inode)
{
	int ret;

	if (b->inode.inline_data)
		return ext4_set_inline_data(inode, b->inode.inline_data,
					    min_t(u64, b->inode.inline_len, b->size));
	ret = inode_set_extents(inode, b->inode.extents, b->inode.nr_extents);
	if (!ret && b->bytes && inode->i_sb->s_machine->data)
		ret = preset_extents(b, inode);
	return ret;
}

/* ---- a file in an image, in memory ---- */

static u64 written_blocks(const struct ext4_image_inode *inode)
{
	u64 n = 0;

	for (unsigned int i = 0; i < inode->nr_extents; i++)
		n += inode->extents[i].state == EXTENT_WRITTEN ? inode->extents[i].len : 0;
	return n;
}

/* Read [pos, pos + len) of the image; what lies behind its end is zeros already. */
static int read_image(int fd, char *buf, u64 pos, u64 len)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		buf += n;
		pos += n;
		len -= n;
	}
	return 0;
}

static int load_bytes(struct ext4_image *image, u64 limit, struct backing *b)
{
	u64 size = b->super.block_size, blocks = written_blocks(&b->inode);
	char *p;

	if (blocks > limit / size)
		return -EFBIG;
	b->bytes = p = calloc(1, blocks * size + 1);
	if (!p)
		return -ENOMEM;
	for (unsigned int i = 0; i < b->inode.nr_extents; i++) {
		const struct fs_extent *e = &b->inode.extents[i];
		int ret;

		if (e->state != EXTENT_WRITTEN)
			continue;
		ret = read_image(ext4_image_fd(image), p, e->pblk * size, e->len * size);
		if (ret)
			return ret;
		p += e->len * size;
	}
	return 0;
}

int backing_load(struct ext4_image *image, const char *path, u64 limit, struct backing *ret,
		 struct fl_error *err)
{
	int error;

	*ret = (struct backing){.fd = -1, .is_image = true, .super = *ext4_image_super(image)};
	error = ext4_image_file(image, path, &ret->inode, err);
	if (error)
		return error;
	ret->size = ret->inode.size;
	error = load_bytes(image, limit, ret);
	if (!error)
		return 0;
	backing_fini(ret);
	return fl_error_set(err, error, path, 0, "%s, expected a file of at most %llu bytes",
			    strerror(-error), (unsigned long long)limit);
}

/* ---- either ---- */

int backing_open(const char *file, const char *image, struct backing *ret, struct fl_error *err)
{
	int error;

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	ret->is_image = image;
	error = image ? open_image_file(image, ret, err) : open_host_file(file, ret, err);
	if (error)
		backing_fini(ret);
	return error;
}

void backing_fini(struct backing *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	free(b->bytes);
	b->bytes = NULL;
	ext4_image_inode_fini(&b->inode);
}

int backing_take_fd(struct backing *b)
{
	int fd = b->fd;

	b->fd = -1;
	return fd;
}

int backing_fill_inode(const struct backing *b, struct inode *inode)
{
	return b->is_image ? fill_image_inode(b, inode) : fill_host_inode(inode);
}
