/*
 * Disks: hole and ram (synchronous), nvme (latency, bandwidth, queue depth), host (a host file).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block/blk.h"
#include "machine/machine.h"

static const struct disk_model models[] = {
	{.name = "hole",
	 .synchronous = true,
	 .queue_depth = 1,
	 .ps_per_byte = 0,
	 .source = "no blocks behind the file: nothing is ever read from it"},
	{.name = "ram",
	 .synchronous = true,
	 .queue_depth = 1,
	 .ps_per_byte = 100,
	 .source = "memcpy of one core"},
	{.name = "nvme",
	 .queue_depth = 64,
	 .latency_ns = 80000,
	 .write_latency_ns = 80000,
	 .ps_per_byte = 333,
	 .flush_ns = 80000,
	 .source = "a common TLC drive: 80 us to the first byte, 3 GB/s"},
	{.name = "nvme-plp",
	 .queue_depth = 64,
	 .latency_ns = 77000,
	 .write_latency_ns = 18000,
	 .ps_per_byte = 333,
	 .power_safe = true,
	 .source =
		 "a data centre drive with power loss protection: 77 us to the first byte read, 18 "
		 "us written (Intel SSD DC P4510, product brief)"},
	{.name = "host",
	 .queue_depth = 64,
	 .latency_ns = 80000,
	 .write_latency_ns = 80000,
	 .ps_per_byte = 333,
	 .flush_ns = 80000,
	 .source = "timed like nvme; the bytes are the host file's"},
};

const struct disk_model *disk_model_by_name(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++)
		if (!strcmp(models[i].name, name))
			return &models[i];
	return NULL;
}

/* splitmix64's finaliser, so that neighbouring words share nothing. */
u64 disk_pattern(u64 offset_words)
{
	u64 z = offset_words + 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static int pattern_read(struct block_device *bdev, sector_t sector, void *buf, unsigned int len)
{
	u64 word = sector << (SECTOR_SHIFT - 3);

	(void)bdev;
	for (unsigned int i = 0; i < len / sizeof(u64); i++) {
		u64 v = disk_pattern(word + i);

		memcpy((char *)buf + i * sizeof(v), &v, sizeof(v));
	}
	return 0;
}

static int host_error(struct block_device *bdev, int error)
{
	if (!bdev->error)
		bdev->error = error;
	return error;
}

/* What lies past the host file's end reads as zeros, as the tail of a file's last block does. */
static int read_file(struct block_device *bdev, u64 pos, char *buf, unsigned int len)
{
	unsigned int done = 0, want = pos < bdev->fd_size ? min(len, bdev->fd_size - pos) : 0;

	while (done < want) {
		ssize_t n = pread(bdev->fd, buf + done, want - done, pos + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return host_error(bdev, n ? -errno : -ESTALE);
		done += n;
	}
	memset(buf + done, 0, len - done);
	return 0;
}

/* The first piece that ends behind @pos; nr_pieces if there is none. */
static unsigned int find_piece(const struct block_device *bdev, u64 pos)
{
	unsigned int lo = 0, hi = bdev->nr_pieces;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (bdev->pieces[mid].disk_off + bdev->pieces[mid].len <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int read_pieces(struct block_device *bdev, u64 pos, char *buf, unsigned int len)
{
	unsigned int i = find_piece(bdev, pos);
	int ret = 0;

	while (len && !ret) {
		const struct disk_piece *p = i < bdev->nr_pieces ? &bdev->pieces[i] : NULL;
		unsigned int n = len;

		if (p && p->disk_off <= pos) {
			n = min_t(u64, len, p->disk_off + p->len - pos);
			ret = read_file(bdev, p->file_off + (pos - p->disk_off), buf, n);
			i++;
		} else {
			if (p)
				n = min_t(u64, len, p->disk_off - pos);
			memset(buf, 0, n);
		}
		pos += n;
		buf += n;
		len -= n;
	}
	return ret;
}

static int host_read(struct block_device *bdev, sector_t sector, void *buf, unsigned int len)
{
	if (bdev->pieces)
		return read_pieces(bdev, sector << SECTOR_SHIFT, buf, len);
	return read_file(bdev, sector << SECTOR_SHIFT, buf, len);
}

/* ---- what was written lies over what was there ---- */

#define STORE_SHIFT 12
#define STORE_SIZE  (1u << STORE_SHIFT)

/* The stored piece over @block, made from what is on the disk if there is none yet. */
static char *store_piece(struct block_device *bdev, u64 block)
{
	char *p = xa_load(&bdev->store, block);

	if (p)
		return p;
	p = malloc(STORE_SIZE);
	if (!p)
		return NULL;
	if (disk_rw(bdev, REQ_OP_READ, block << (STORE_SHIFT - SECTOR_SHIFT), p, STORE_SIZE) ||
	    xa_is_err(xa_store(&bdev->store, block, p))) {
		free(p);
		return NULL;
	}
	return p;
}

static int store_rw(struct block_device *bdev, bool write, u64 pos, char *buf, unsigned int len)
{
	while (len) {
		u64 block = pos >> STORE_SHIFT;
		unsigned int off = pos & (STORE_SIZE - 1), n = min(STORE_SIZE - off, len);
		char *p = write ? store_piece(bdev, block) : xa_load(&bdev->store, block);

		if (write && !p)
			return -ENOMEM;
		if (write)
			memcpy(p + off, buf, n);
		else if (p)
			memcpy(buf, p + off, n);
		pos += n;
		buf += n;
		len -= n;
	}
	return 0;
}

int disk_rw(struct block_device *bdev, unsigned int opf, sector_t sector, void *buf,
	    unsigned int len)
{
	bool write = (opf & REQ_OP_MASK) == REQ_OP_WRITE;
	u64 pos = sector << SECTOR_SHIFT;
	int ret = 0;

	if (!write && pos >= bdev->blank_from)
		memset(buf, 0, len);
	else if (!write)
		ret = bdev->ops->read(bdev, sector, buf, len);
	if (ret || (!write && xa_empty(&bdev->store)) || (write && blk_power_is_out(bdev)))
		return ret;
	return store_rw(bdev, write, pos, buf, len);
}

int blk_preset(struct block_device *bdev, u64 pos, const void *buf, unsigned int len)
{
	return store_rw(bdev, true, pos, (char *)buf, len);
}

int blk_copy_written(struct block_device *to, struct block_device *from)
{
	XA_STATE(xas, &from->store, 0);
	void *p;

	xas_for_each(&xas, p, ~0UL) {
		int ret = blk_preset(to, (u64)xas.xa_index << STORE_SHIFT, p, STORE_SIZE);

		if (ret)
			return ret;
	}
	return 0;
}

bool blk_was_written(const struct block_device *bdev)
{
	return !xa_empty(&bdev->store);
}

u64 blk_next_written(struct block_device *bdev, u64 pos)
{
	unsigned long piece = pos >> STORE_SHIFT;

	if (!xa_find(&bdev->store, &piece, ~0UL, XA_PRESENT))
		return ~0ULL;
	return max(pos, (u64)piece << STORE_SHIFT);
}

static void store_fini(struct block_device *bdev)
{
	XA_STATE(xas, &bdev->store, 0);
	void *p;

	xas_for_each(&xas, p, ~0UL)
		free(p);
	xa_destroy(&bdev->store);
	xa_cache_fini(&bdev->store_nodes);
}

static void host_release(struct block_device *bdev)
{
	close(bdev->fd);
}

static const struct disk_operations pattern_ops = {.read = pattern_read};
static const struct disk_operations host_ops = {.read = host_read, .release = host_release};

int blk_open(struct machine *m, const struct disk_model *model, unsigned int max_bytes, int fd,
	     struct block_device **ret)
{
	struct block_device *bdev;
	off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;

	*ret = NULL;
	if (size < 0)
		return -errno;
	bdev = calloc(1, sizeof(*bdev));
	if (!bdev)
		return -ENOMEM;
	bdev->slot_free_ps = calloc(model->queue_depth, sizeof(u64));
	if (!bdev->slot_free_ps) {
		free(bdev);
		return -ENOMEM;
	}
	xa_cache_init(&bdev->store_nodes);
	xa_init(&bdev->store, &bdev->store_nodes);
	bdev->machine = m;
	bdev->model = model;
	bdev->ops = fd >= 0 ? &host_ops : &pattern_ops;
	bdev->fd = fd;
	bdev->fd_size = size;
	bdev->blank_from = ~0ULL;
	bdev->limits.max_sectors = max_t(u32, max_bytes >> SECTOR_SHIFT, 8);
	bdev->bd_dev = m->blk->next_dev++;
	*ret = bdev;
	return 0;
}

void blk_close(struct block_device *bdev)
{
	if (!bdev)
		return;
	if (bdev->ops->release)
		bdev->ops->release(bdev);
	disk_cache_fini(bdev);
	store_fini(bdev);
	free(bdev->pieces);
	free(bdev->slot_free_ps);
	free(bdev);
}

void blk_set_pieces(struct block_device *bdev, struct disk_piece *pieces, unsigned int nr)
{
	free(bdev->pieces);
	bdev->pieces = pieces;
	bdev->nr_pieces = nr;
}
