#include "fs/super.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/balloc.h"
#include "fs/ext4/ext4.h"
#include "fs/extents.h"
#include "fs/hostfs/hostfs.h"
#include "fs/tmpfs/tmpfs.h"
#include "fs/xfs/xfs.h"
#include "mm/internal.h"
#include "mm/shmem_fs.h"

static int mount_ext4(struct super_block *sb, const struct mount_options *options,
		      struct fl_error *err)
{
	return ext4_fill_super(sb, options->ext4, err);
}

static int mount_tmpfs(struct super_block *sb, const struct mount_options *options,
		       struct fl_error *err)
{
	if (options->host_fd >= 0)
		return fl_error_set(err, -EINVAL, "--file", 0,
				    "%s lives in memory, expected no file", options->type->name);
	return shmem_fill_super(sb, options->type->options);
}

#define EXT4(type, bits)                                                                           \
	{                                                                                          \
		.name = type, .s_type = "ext4", .blocksize_bits = bits, .fill_super = mount_ext4,  \
		.init_inode = ext4_init_inode, .settle_inode = ext4_settle_inode,                  \
		.free_inode = ext4_free_inode, .put_super = ext4_put_super,                        \
	}
#define TMPFS(type, huge)                                                                          \
	{                                                                                          \
		.name = type, .s_type = "tmpfs", .blocksize_bits = 12, .fill_super = mount_tmpfs,  \
		.alloc_inode = tmpfs_init_inode, .options = huge,                                  \
	}

static const struct file_system_type types[] = {
	EXT4("ext4", 12),
	EXT4("ext4-1k", 10),
	{.name = "xfs", .s_type = "xfs", .blocksize_bits = 12, .init_inode = xfs_init_inode},
	{.name = "hostfs",
	 .s_type = "hostfs",
	 .blocksize_bits = 12,
	 .init_inode = hostfs_init_inode},
	TMPFS("tmpfs-default", ""),
	TMPFS("tmpfs-never", "huge=never"),
	TMPFS("tmpfs-always", "huge=always"),
	TMPFS("tmpfs-within", "huge=within_size"),
	TMPFS("tmpfs-advise", "huge=advise"),
};

#undef EXT4
#undef TMPFS

/* Bytes a request may have on a disk without limits of its own (virtio), by kernel. */
#define DEF_MAX_BYTES_OLD (1280u << 10)
#define DEF_MAX_BYTES_NEW (4096u << 10)

const struct file_system_type *file_system_type(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

const char *file_system_name(unsigned int nr)
{
	return nr < ARRAY_SIZE(types) ? types[nr].name : NULL;
}

/* A disk is large enough for any file that is not larger than half of it. */
#define DISK_BYTES (1ULL << 46)

/* Blocks larger than a page need folios of that size: xfs since v6.12; ext4 looks itself. */
static int check_block_size(const struct machine *m, const struct file_system_type *type,
			    unsigned int block_size, struct fl_error *err)
{
	if (block_size < 1024 || block_size > 65536 || block_size & (block_size - 1))
		return fl_error_set(err, -EINVAL, "--block-size", 0,
				    "block size %u, expected a power of two from 1k to 64k",
				    block_size);
	if (block_size <= m->page_size || !strcmp(type->s_type, "ext4"))
		return 0;
	if (strcmp(type->s_type, "xfs") || !knob(m, MIN_ORDER))
		return fl_error_set(err, -EINVAL, "--block-size", 0,
				    "blocks of %u bytes are larger than a page, expected xfs on "
				    "v6.12 or ext4 on v7.3",
				    block_size);
	return 0;
}

static void init_bdi(struct super_block *sb, const struct mount_options *options, u64 io_bytes)
{
	unsigned int shift = sb->s_machine->page_shift;

	if (!options->type->alloc_inode) {
		sb->bdi.ra_pages = options->ra_bytes >> shift;
		sb->bdi.io_pages = io_bytes >> shift;
		sb->bdi.capabilities = BDI_CAP_WRITEBACK;
	}
	sb->s_bdi = &sb->bdi;
}

static void free_super(struct super_block *sb)
{
	blk_close(sb->s_bdev);
	if (sb->s_space)
		block_space_fini(sb->s_space);
	free(sb->s_space);
	free(sb->s_fs_info);
	free(sb);
}

static int open_disk(struct super_block *sb, const struct mount_options *options, u64 io_bytes)
{
	int error;

	if (options->type->alloc_inode)
		return 0;
	sb->s_space = calloc(1, sizeof(*sb->s_space));
	if (!sb->s_space)
		return -ENOMEM;
	error = block_space_init(sb->s_space,
				 (options->fs_bytes ? options->fs_bytes : DISK_BYTES) >>
					 sb->s_blocksize_bits);
	if (error)
		return error;
	sb->s_space->fragment = options->extent_blocks;
	sb->s_space->gap = options->extent_gap;
	error = blk_open(sb->s_machine, options->disk, min_t(u64, io_bytes, UINT32_MAX),
			 options->host_fd, &sb->s_bdev);
	if (!error && options->power_cut)
		error = blk_set_power_cut(sb->s_bdev, options->power_cut, sb->s_machine->seed);
	if (!error && options->after_crash)
		error = blk_copy_written(sb->s_bdev, options->after_crash);
	return error;
}

int mount_fs(struct machine *m, const struct mount_options *options, struct super_block **ret,
	     struct fl_error *err)
{
	unsigned int block_size =
		options->block_size ? options->block_size : 1u << options->type->blocksize_bits;
	u64 io_bytes = options->io_bytes	     ? options->io_bytes
		       : knob(m, DEF_MAX_SECTORS_4M) ? DEF_MAX_BYTES_NEW
						     : DEF_MAX_BYTES_OLD;
	int error = check_block_size(m, options->type, block_size, err);
	struct super_block *sb = error ? NULL : calloc(1, sizeof(*sb));

	*ret = NULL;
	if (!sb) {
		if (options->host_fd >= 0)
			close(options->host_fd);
		return error ? error : -ENOMEM;
	}
	sb->s_machine = m;
	sb->s_type = options->type->s_type;
	sb->s_ops = options->type;
	sb->s_blocksize_bits = __ffs(block_size);
	sb->s_maxbytes = INT64_MAX;
	INIT_LIST_HEAD(&sb->s_inodes);
	init_bdi(sb, options, io_bytes);
	error = open_disk(sb, options, io_bytes);
	if (!error && options->type->fill_super)
		error = options->type->fill_super(sb, options, err);
	if (error) {
		if (!sb->s_bdev && options->host_fd >= 0)
			close(options->host_fd);
		if (sb->s_fs_info && options->type->put_super)
			options->type->put_super(sb);
		free_super(sb);
		return error;
	}
	sb->s_dev = sb->s_bdev ? sb->s_bdev->bd_dev : 0;
	*ret = sb;
	return 0;
}

static void free_inode(struct inode *inode)
{
	if (inode->i_sb->s_ops->free_inode && inode->i_private)
		inode->i_sb->s_ops->free_inode(inode);
	free(inode->i_extents);
	free(inode->i_private);
	free(inode->i_inline);
	free(inode);
}

void kill_super(struct super_block *sb)
{
	struct inode *inode, *next;

	if (!sb)
		return;
	blk_drain(sb->s_machine);
	list_for_each_entry_safe(inode, next, &sb->s_inodes, i_sb_list)
		evict_inode(inode);
	if (sb->s_ops->put_super)
		sb->s_ops->put_super(sb);
	free_super(sb);
}

void poweroff_super(struct super_block *sb)
{
	struct inode *inode, *next;

	if (!sb)
		return;
	if (sb->s_ops->put_super)
		sb->s_ops->put_super(sb);
	list_for_each_entry_safe(inode, next, &sb->s_inodes, i_sb_list)
		free_inode(inode);
	free_super(sb);
}

/* The blocks of a file that was written in one go. */
static int set_written_extents(struct inode *inode, loff_t size)
{
	struct block_space *space = inode->i_sb->s_space;
	unsigned int bits = inode->i_blkbits;
	u64 end = (size >> bits) + !!(size & ((1 << bits) - 1)), goal = 0;
	struct fs_extent e = {.state = EXTENT_WRITTEN};
	int ret = 0;

	for (; e.lblk < end && !ret; e.lblk += e.len) {
		s64 got = block_alloc(space, goal, end - e.lblk, &e.pblk);

		if (got <= 0)
			return got ? got : -ENOSPC;
		e.len = got;
		goal = e.pblk + got;
		ret = extents_set(inode, &e);
	}
	return ret;
}

/* Behind its end a file's last block holds zeros, on every file system. */
static int zero_last_block(struct inode *inode)
{
	static const char zeros[65536];
	unsigned int block = 1u << inode->i_blkbits, used = inode->i_size & (block - 1);
	u64 lblk = inode->i_size >> inode->i_blkbits, len;
	const struct fs_extent *e = inode_map_block(inode, lblk, &len);

	if (!used || !e || !inode->i_sb->s_machine->data)
		return 0;
	return blk_preset(inode->i_sb->s_bdev,
			  ((e->pblk + (lblk - e->lblk)) << inode->i_blkbits) + used, zeros,
			  block - used);
}

static int init_inode(struct inode *inode)
{
	const struct file_system_type *type = inode->i_sb->s_ops;

	return type->alloc_inode ? type->alloc_inode(inode) : type->init_inode(inode);
}

static int settle_inode(struct inode *inode)
{
	const struct file_system_type *type = inode->i_sb->s_ops;

	return type->settle_inode ? type->settle_inode(inode) : 0;
}

int new_inode(struct super_block *sb, loff_t size, bool written, struct inode **ret)
{
	struct inode *inode;
	int error = 0;

	*ret = NULL;
	if (size < 0 || size > sb->s_maxbytes)
		return -EFBIG;
	inode = calloc(1, sizeof(*inode));
	if (!inode)
		return -ENOMEM;
	inode->i_sb = sb;
	inode->i_mapping = &inode->i_data;
	inode->i_size = inode->i_disksize = size;
	inode->i_blkbits = sb->s_blocksize_bits;
	inode->i_ino = 12 + sb->s_next_ino++;
	inode->i_nlink = 1;
	if (written && size && sb->s_bdev)
		error = set_written_extents(inode, size);
	if (!error && sb->s_bdev)
		error = zero_last_block(inode);
	if (error) {
		free_inode(inode);
		return error;
	}
	address_space_init_once(&inode->i_data, inode);
	error = init_inode(inode);
	if (error) {
		list_del(&inode->i_data.m_mappings);
		free_inode(inode);
		return error;
	}
	list_add_tail(&inode->i_sb_list, &sb->s_inodes);
	error = settle_inode(inode);
	if (error) {
		evict_inode(inode);
		return error;
	}
	*ret = inode;
	return 0;
}

int inode_set_extents(struct inode *inode, const struct fs_extent *extents, unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		if (extents[i].state != EXTENT_DELAYED)
			ret = block_alloc_exact(inode->i_sb->s_space, extents[i].pblk,
						extents[i].len);
		if (!ret)
			ret = extents_set(inode, &extents[i]);
	}
	return ret ? ret : settle_inode(inode);
}

void evict_inode(struct inode *inode)
{
	blk_drain(inode->i_sb->s_machine);
	truncate_inode_pages_final(inode->i_mapping);
	lru_add_drain_all(inode->i_sb->s_machine);
	xa_destroy(&inode->i_data.i_pages);
	list_del(&inode->i_data.m_mappings);
	list_del(&inode->i_sb_list);
	free_inode(inode);
}

struct file *filp_open(struct inode *inode)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->f_inode = inode;
	file->f_mapping = inode->i_mapping;
	file->f_mode = FMODE_READ | FMODE_WRITE;
	file->f_count = 1;
	file->f_wb_err = errseq_sample(file->f_mapping);
	file_ra_state_init(&file->f_ra, file->f_mapping);
	return file;
}

void fput(struct file *file)
{
	struct inode *inode = file->f_inode;

	if (--file->f_count)
		return;
	if (inode->i_fop && inode->i_fop->release)
		inode->i_fop->release(inode);
	free(file);
}

void file_drop(struct file *file)
{
	if (!--file->f_count)
		free(file);
}

const struct fs_extent *inode_map_block(const struct inode *inode, u64 lblk, u64 *len)
{
	unsigned int i = extents_find(inode, lblk);
	const struct fs_extent *e;

	if (i == inode->i_nr_extents) {
		*len = ~0ULL - lblk;
		return NULL;
	}
	e = &inode->i_extents[i];
	if (lblk < e->lblk) {
		*len = e->lblk - lblk;
		return NULL;
	}
	*len = e->lblk + e->len - lblk;
	return e;
}
