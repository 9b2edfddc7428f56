#include "host/ext4_image_io.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/jail.h"

static errcode_t image_open(const char *name, int flags, io_channel *ret)
{
	io_channel channel = calloc(1, sizeof(*channel));

	(void)flags;
	if (!channel)
		return ENOMEM;
	channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	channel->manager = &ext4_image_io_manager;
	channel->block_size = 1024;
	channel->refcount = 1;
	/* libext2fs prints and copies the name; it opens nothing by it. */
	channel->name = strdup(name);
	if (!channel->name) {
		free(channel);
		return ENOMEM;
	}
	*ret = channel;
	return 0;
}

static errcode_t image_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->name);
	free(channel);
	return 0;
}

static errcode_t image_set_blksize(io_channel channel, int size)
{
	if (size <= 0 || size > EXT2_MAX_BLOCK_SIZE)
		return EXT2_ET_CORRUPT_SUPERBLOCK;
	channel->block_size = size;
	return 0;
}

/* A negative count is in bytes, see ext2_io.h. */
static errcode_t image_read_blk64(io_channel channel, unsigned long long block, int count,
				  void *data)
{
	size_t len = count < 0 ? -(size_t)count : (size_t)count * channel->block_size, done = 0;

	if (block > (unsigned long long)INT64_MAX / channel->block_size)
		return EXT2_ET_SHORT_READ;
	while (done < len) {
		ssize_t n = pread(JAIL_FILE, (char *)data + done, len - done,
				  (off_t)(block * channel->block_size) + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			return EXT2_ET_SHORT_READ;
		done += n;
	}
	return 0;
}

static errcode_t image_read_blk(io_channel channel, unsigned long block, int count, void *data)
{
	return image_read_blk64(channel, block, count, data);
}

static errcode_t image_write_blk64(io_channel channel, unsigned long long block, int count,
				   const void *data)
{
	(void)channel;
	(void)block;
	(void)count;
	(void)data;
	return EXT2_ET_RO_FILSYS;
}

static errcode_t image_write_blk(io_channel channel, unsigned long block, int count,
				 const void *data)
{
	return image_write_blk64(channel, block, count, data);
}

static errcode_t image_flush(io_channel channel)
{
	(void)channel;
	return 0;
}

struct struct_io_manager ext4_image_io_manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "locked-in image",
	.open = image_open,
	.close = image_close,
	.set_blksize = image_set_blksize,
	.read_blk = image_read_blk,
	.read_blk64 = image_read_blk64,
	.write_blk = image_write_blk,
	.write_blk64 = image_write_blk64,
	.flush = image_flush,
};
