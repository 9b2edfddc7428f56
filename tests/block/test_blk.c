/*
 * block/test_blk.c - from bios to requests to time.
 *
 * Proves merging, cutting and plugging on hand-made bios, completion times against arithmetic done
 * here from latency, bandwidth and queue depth, and the bio and request counts that section 5 of
 * readahead.md reports from a live 6.18.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "block/blk.h"
#include "fs/boot.h"
#include "mm/scene.h"

#define KIB 1024u

struct disk {
	struct machine *m;
	struct block_device *bdev;
	unsigned int done; /* bios completed */
	struct {
		unsigned int id;
		int status;
		u64 ps;
	} log[512];
};

static struct disk *the_disk;

/* A machine where nothing but the disk takes time. */
static void open_disk(struct disk *d, const struct disk_model *model, unsigned int max_bytes)
{
	struct machine_config config;
	struct fl_error err = {0};

	memset(d, 0, sizeof(*d));
	machine_config_init(&config);
	config.memory = 16 << 20;
	assert_int_equal(machine_boot(&config, &d->m, &err), 0);
	memset(d->m->cost_ps, 0, sizeof(d->m->cost_ps));
	assert_int_equal(blk_open(d->m, model, max_bytes, -1, &d->bdev), 0);
	the_disk = d;
}

static void close_disk(struct disk *d)
{
	blk_drain(d->m);
	assert_int_equal(d->m->blk->live_bios, 0);
	blk_close(d->bdev);
	machine_shutdown(d->m);
}

static void log_end_io(struct bio *bio)
{
	struct disk *d = the_disk;

	assert_true(d->done < ARRAY_SIZE(d->log));
	d->log[d->done].id = (uintptr_t)bio->bi_private;
	d->log[d->done].status = bio->bi_status;
	d->log[d->done++].ps = d->m->clock_ps;
}

static struct bio *make_bio(struct block_device *bdev, unsigned int id, u64 offset,
			    unsigned int len, void *data)
{
	struct bio *bio = bio_alloc(bdev, 1, REQ_OP_READ);

	assert_non_null(bio);
	bio->bi_iter.bi_sector = offset >> SECTOR_SHIFT;
	bio->bi_end_io = log_end_io;
	bio->bi_private = (void *)(uintptr_t)id;
	assert_true(bio_add_folio(bio, NULL, len, 0, data));
	return bio;
}

static void read_at(struct disk *d, unsigned int id, u64 offset, unsigned int len)
{
	submit_bio(make_bio(d->bdev, id, offset, len, NULL));
}

static void expect_done(const struct disk *d, unsigned int i, unsigned int id, u64 ps)
{
	assert_int_equal(d->log[i].id, id);
	if (d->log[i].ps != ps)
		fail_msg("bio %u done at %" PRIu64 " ps, expected %" PRIu64, id, d->log[i].ps, ps);
}

/* ---- merging and cutting ---- */

static void test_merging(void **state)
{
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	/* Without a plug every bio is a request of its own. */
	read_at(&d, 1, 0, 32 * KIB);
	read_at(&d, 2, 32 * KIB, 32 * KIB);
	assert_int_equal(d.bdev->stats.ios, 2);
	assert_int_equal(d.done, 2);
	/* In a plug contiguous ones become one. */
	blk_start_plug(d.m);
	read_at(&d, 3, 0, 32 * KIB);
	read_at(&d, 4, 32 * KIB, 32 * KIB);
	read_at(&d, 5, 64 * KIB, 64 * KIB);
	assert_int_equal(d.bdev->stats.ios, 2);
	assert_int_equal(d.done, 2);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 3);
	assert_int_equal(d.done, 5);
	/* A gap, the wrong order: no. */
	blk_start_plug(d.m);
	read_at(&d, 6, 0, 32 * KIB);
	read_at(&d, 7, 36 * KIB, 4 * KIB);
	read_at(&d, 8, 32 * KIB, 4 * KIB);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 6);
	assert_int_equal(d.bdev->stats.bios, 8);
	assert_int_equal(d.bdev->stats.sectors, (64 + 128 + 40) * 2);
	close_disk(&d);
}

/* Other direction or other disk: contiguous sectors are not enough. */
static void test_not_mergeable(void **state)
{
	struct block_device *other;
	struct bio *write;
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	assert_int_equal(blk_open(d.m, disk_model_by_name("ram"), 128 * KIB, -1, &other), 0);
	assert_int_not_equal(other->bd_dev, d.bdev->bd_dev);
	blk_start_plug(d.m);
	read_at(&d, 1, 0, 4 * KIB);
	write = make_bio(d.bdev, 2, 4 * KIB, 4 * KIB, NULL);
	write->bi_opf = REQ_OP_WRITE;
	submit_bio(write);
	submit_bio(make_bio(other, 3, 8 * KIB, 4 * KIB, NULL));
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 2);
	assert_int_equal(other->stats.ios, 1);
	/* A readahead flag is no obstacle. */
	blk_start_plug(d.m);
	read_at(&d, 4, 0, 4 * KIB);
	write = make_bio(d.bdev, 5, 4 * KIB, 4 * KIB, NULL);
	write->bi_opf = REQ_OP_READ | REQ_RAHEAD;
	submit_bio(write);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 3);
	blk_close(other);
	close_disk(&d);
}

static void test_nested_plugs(void **state)
{
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	blk_start_plug(d.m);
	blk_start_plug(d.m);
	read_at(&d, 1, 0, 4 * KIB);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 0);
	read_at(&d, 2, 4 * KIB, 4 * KIB);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 1);
	/* A plug that is full sends what it has and goes on. */
	blk_start_plug(d.m);
	for (unsigned int i = 0; i <= BLK_PLUG_REQUESTS; i++)
		read_at(&d, 10 + i, i * 64ULL * KIB, 4 * KIB);
	assert_int_equal(d.bdev->stats.ios, 1 + BLK_PLUG_REQUESTS);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 2 + BLK_PLUG_REQUESTS);
	close_disk(&d);
}

static void expect_pieces(unsigned int max_bytes, unsigned int len, unsigned int pieces)
{
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), max_bytes);
	read_at(&d, 1, 0, len);
	assert_int_equal(d.bdev->stats.ios, pieces);
	assert_int_equal(d.bdev->stats.sectors, len / 512);
	assert_int_equal(d.done, 1);
	close_disk(&d);
}

static void test_cutting(void **state)
{
	expect_pieces(128 * KIB, 1024 * KIB, 8);
	expect_pieces(128 * KIB, 128 * KIB, 1);
	expect_pieces(128 * KIB, 132 * KIB, 2);
	expect_pieces(1280 * KIB, 4096 * KIB, 4);
	expect_pieces(4096 * KIB, 4096 * KIB, 1);
}

/* Proves that a bio ends with the piece that holds its last byte, not with its request. */
static void test_bios_end_with_their_piece(void **state)
{
	const struct disk_model *nvme = disk_model_by_name("nvme");
	const u64 first = nvme->latency_ns * 1000 + 128 * KIB * nvme->ps_per_byte;
	struct disk d;

	open_disk(&d, nvme, 128 * KIB);
	blk_start_plug(d.m);
	read_at(&d, 1, 0, 96 * KIB);
	read_at(&d, 2, 96 * KIB, 96 * KIB);
	blk_finish_plug(d.m);
	assert_int_equal(d.bdev->stats.ios, 2);
	assert_int_equal(d.done, 0);
	blk_drain(d.m);
	assert_int_equal(d.done, 2);
	expect_done(&d, 0, 1, first);
	expect_done(&d, 1, 2, first + 64 * KIB * nvme->ps_per_byte);
	close_disk(&d);
}

static void test_segments(void **state)
{
	struct disk d;
	struct bio *bio;
	unsigned int n = 0;

	open_disk(&d, disk_model_by_name("ram"), 4096 * KIB);
	bio = bio_alloc(d.bdev, 300, REQ_OP_READ);
	bio->bi_end_io = log_end_io;
	while (bio_add_folio(bio, NULL, 4096, 0, NULL))
		n++;
	assert_int_equal(n, 256);
	assert_int_equal(bio->bi_iter.bi_size, 256 * 4096);
	submit_bio(bio);
	assert_int_equal(d.bdev->stats.ios, 1);
	close_disk(&d);
}

/* ---- time ---- */

/* One read: latency, then the bytes. A second one waits for the channel only. */
static void test_latency_overlaps(void **state)
{
	const struct disk_model *nvme = disk_model_by_name("nvme");
	const u64 latency = 80000ULL * 1000, move = 4096 * 333ULL;
	struct disk d;

	assert_int_equal(nvme->latency_ns * 1000, latency);
	assert_int_equal(4096 * nvme->ps_per_byte, move);
	open_disk(&d, nvme, 128 * KIB);
	for (unsigned int i = 0; i < 64; i++)
		read_at(&d, i, i * 1024ULL * KIB, 4096);
	assert_int_equal(d.m->clock_ps, 0);
	blk_drain(d.m);
	for (unsigned int i = 0; i < 64; i++)
		expect_done(&d, i, i, latency + (i + 1) * move);
	assert_int_equal(d.bdev->stats.busy_ps, 64 * move);
	close_disk(&d);
}

/* With two slots the third read starts when the first has ended. */
static void test_queue_depth(void **state)
{
	const struct disk_model model = {
		.name = "two", .queue_depth = 2, .latency_ns = 1000, .ps_per_byte = 10};
	const u64 latency = 1000 * 1000, move = 512 * 10;
	struct disk d;

	open_disk(&d, &model, 128 * KIB);
	for (unsigned int i = 0; i < 4; i++)
		read_at(&d, i, i * 1024ULL * KIB, 512);
	blk_drain(d.m);
	expect_done(&d, 0, 0, latency + move);
	expect_done(&d, 1, 1, latency + 2 * move);
	expect_done(&d, 2, 2, 2 * latency + 2 * move);
	expect_done(&d, 3, 3, 2 * latency + 3 * move);
	close_disk(&d);
}

/* A long stream is bound by bandwidth: latency once, then every byte. */
static void test_bandwidth(void **state)
{
	const u64 bytes = 64ULL << 20;
	struct disk d;

	open_disk(&d, disk_model_by_name("nvme"), 128 * KIB);
	for (unsigned int i = 0; i < 64; i++)
		read_at(&d, i, (u64)i << 20, 1 << 20);
	blk_drain(d.m);
	assert_int_equal(d.bdev->stats.ios, 512);
	assert_int_equal(d.m->clock_ps, 80000ULL * 1000 + bytes * 333);
	close_disk(&d);
}

/* Proves that the clock is the only thing completions follow. */
static void test_polling(void **state)
{
	const u64 end = 80000ULL * 1000 + 4096 * 333ULL;
	struct disk d;

	open_disk(&d, disk_model_by_name("nvme"), 128 * KIB);
	read_at(&d, 1, 0, 4096);
	d.m->clock_ps = end - 1;
	blk_poll(d.m);
	assert_int_equal(d.done, 0);
	d.m->clock_ps = end;
	blk_poll(d.m);
	assert_int_equal(d.done, 1);
	assert_false(blk_wait_next(d.m));
	/* Started later, ends later by as much. */
	read_at(&d, 2, 0, 4096);
	assert_true(blk_wait_next(d.m));
	assert_int_equal(d.m->clock_ps, 2 * end);
	close_disk(&d);
}

/* Two disks at once: by time, and by order of submission where times are equal. */
static void test_completion_order(void **state)
{
	const struct disk_model slow = {.name = "slow", .queue_depth = 64, .latency_ns = 300};
	const struct disk_model fast = {.name = "fast", .queue_depth = 64, .latency_ns = 100};
	struct block_device *second;
	struct disk d;

	open_disk(&d, &slow, 128 * KIB);
	assert_int_equal(blk_open(d.m, &fast, 128 * KIB, -1, &second), 0);
	for (unsigned int i = 0; i < 100; i++)
		submit_bio(make_bio(i % 3 ? d.bdev : second, i, 0, 512, NULL));
	blk_drain(d.m);
	assert_int_equal(d.done, 100);
	for (unsigned int i = 1; i < 100; i++) {
		assert_true(d.log[i - 1].ps <= d.log[i].ps);
		if (d.log[i - 1].ps == d.log[i].ps && d.log[i].ps <= 100 * 1000)
			assert_true(d.log[i - 1].id < d.log[i].id);
	}
	expect_done(&d, 0, 0, 100 * 1000);
	blk_close(second);
	close_disk(&d);
}

/* A synchronous disk is done when submit_bio() returns and costs the submitter its bytes. */
static void test_ram(void **state)
{
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	d.m->cost_ps[COST_RAM_BYTE] = 100;
	read_at(&d, 1, 0, 1 << 20);
	assert_int_equal(d.done, 1);
	assert_int_equal(d.m->clock_ps, (1 << 20) * 100ULL);
	close_disk(&d);
}

/* ---- bytes and errors ---- */

static int every_second_fails(struct block_device *bdev, sector_t sector, void *buf,
			      unsigned int len)
{
	return sector & 8 ? -EIO : 0;
}

static const struct disk_operations failing = {.read = every_second_fails};

static void test_errors_reach_their_bio(void **state)
{
	char buf[4096];
	struct disk d;

	open_disk(&d, disk_model_by_name("nvme"), 128 * KIB);
	d.bdev->ops = &failing;
	blk_start_plug(d.m);
	for (unsigned int i = 0; i < 8; i++)
		submit_bio(make_bio(d.bdev, i, i * 4096, 4096, buf));
	blk_finish_plug(d.m);
	blk_drain(d.m);
	assert_int_equal(d.done, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(d.log[i].status, d.log[i].id & 1 ? -EIO : 0);
	close_disk(&d);
}

/* splitmix64 seeded with the word's number gives the disk's bytes: Vigna's published reference. */
static u64 splitmix64_first(u64 seed)
{
	u64 z = seed + 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void test_pattern(void **state)
{
	u64 buf[512];
	struct disk d;

	/* The first outputs for seed 0 and 1 as they are printed everywhere. */
	assert_int_equal(disk_pattern(0), 0xe220a8397b1dcdafULL);
	assert_int_equal(disk_pattern(1), 0x910a2dec89025cc1ULL);
	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	submit_bio(make_bio(d.bdev, 1, 40960, sizeof(buf), buf));
	for (unsigned int i = 0; i < 512; i++)
		assert_int_equal(buf[i], splitmix64_first(40960 / 8 + i));
	close_disk(&d);
}

/* What was written is found again by place, in pieces of 4 KiB. */
static void test_next_written(void **state)
{
	u8 byte = 1;
	struct disk d;

	open_disk(&d, disk_model_by_name("ram"), 128 * KIB);
	assert_true(blk_next_written(d.bdev, 0) == ~0ULL);
	assert_int_equal(blk_preset(d.bdev, (1ULL << 40) + 5000, &byte, 1), 0);
	assert_int_equal(blk_preset(d.bdev, 12288, &byte, 1), 0);
	assert_int_equal(blk_next_written(d.bdev, 0), 12288);
	assert_int_equal(blk_next_written(d.bdev, 12300), 12300);
	assert_int_equal(blk_next_written(d.bdev, 16384), (1ULL << 40) + 4096);
	assert_true(blk_next_written(d.bdev, (1ULL << 40) + 8192) == ~0ULL);
	close_disk(&d);
}

/* ---- section 5: what a file system makes of a workload ---- */

struct traffic {
	const char *fs, *ops;
	u64 ra_kb, io_kb, bios, ios;
};

static void expect_traffic(const char *kernel, const struct traffic *t)
{
	struct run_config config = scene_config(kernel);
	const struct disk_stats *stats;
	struct run *run;

	config.fs = t->fs;
	config.disk = "ram";
	config.ra_bytes = t->ra_kb << 10;
	config.io_bytes = t->io_kb << 10;
	run = scene_open(&config);
	scene_play(run, t->ops);
	stats = &run->sb->s_bdev->stats;
	if (stats->bios != t->bios || (t->ios && stats->ios != t->ios))
		fail_msg("%s, %s: %" PRIu64 " bios, %" PRIu64 " requests, expected %" PRIu64
			 " and %" PRIu64,
			 t->fs, t->ops, stats->bios, stats->ios, t->bios, t->ios);
	assert_int_equal(stats->sectors * 512, run->inode->i_mapping->nrpages * 4096);
	scene_close(run);
}

/* The four measurements of a live 6.18, 16 MiB of a larger file; both file systems. */
static void test_request_counts(void **state)
{
	static const char *const fs[] = {"xfs", "ext4"};

	for (unsigned int i = 0; i < ARRAY_SIZE(fs); i++) {
		const struct traffic measured[] = {
			{fs[i], "read 4k 4096", 128, 128, 134, 134},
			{fs[i], "read 1m 16", 128, 128, 129, 129},
			{fs[i], "read 4k 4096", 1024, 128, 25, 138},
			{fs[i], "read 1m 16", 128, 1280, 17, 0},
		};

		for (unsigned int k = 0; k < ARRAY_SIZE(measured); k++)
			expect_traffic("v6.18", &measured[k]);
	}
}

/* 512 order-0 folios are two bios (256 segments each), and in their plug one request. */
static void test_small_folio_bios(void **state)
{
	const struct traffic small = {"ext4", "fadvise willneed 0 8m", 8192, 4096, 8, 4};

	expect_traffic("v6.12", &small);
}

/* A host file that loses bytes is an error from then on; what it gains is not seen. */
static void test_host_file_changes(void **state)
{
	struct disk d;
	char buf[1024];
	FILE *f = tmpfile();

	assert_non_null(f);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(fwrite(buf, 1, 700, f), 700);
	assert_int_equal(fflush(f), 0);
	open_disk(&d, disk_model_by_name("hole"), 4096);
	blk_close(d.bdev);
	assert_int_equal(blk_open(d.m, disk_model_by_name("host"), 4096, dup(fileno(f)), &d.bdev),
			 0);

	assert_int_equal(disk_rw(d.bdev, REQ_OP_READ, 0, buf, sizeof(buf)), 0);
	assert_int_equal(buf[699], 'x');
	assert_int_equal(buf[700], 0);
	assert_int_equal(fwrite("yyyy", 1, 4, f), 4);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(disk_rw(d.bdev, REQ_OP_READ, 1, buf, 512), 0);
	assert_int_equal(buf[187], 'x');
	assert_int_equal(buf[188], 0);
	assert_int_equal(disk_rw(d.bdev, REQ_OP_READ, 8, buf, 512), 0);
	assert_int_equal(d.bdev->error, 0);

	assert_int_equal(ftruncate(fileno(f), 699), 0);
	assert_int_equal(disk_rw(d.bdev, REQ_OP_READ, 0, buf, 512), 0);
	assert_int_equal(disk_rw(d.bdev, REQ_OP_READ, 1, buf, 512), -ESTALE);
	assert_int_equal(d.bdev->error, -ESTALE);
	close_disk(&d);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_not_mergeable),
		cmocka_unit_test(test_nested_plugs),
		cmocka_unit_test(test_cutting),
		cmocka_unit_test(test_bios_end_with_their_piece),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_latency_overlaps),
		cmocka_unit_test(test_queue_depth),
		cmocka_unit_test(test_bandwidth),
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_completion_order),
		cmocka_unit_test(test_ram),
		cmocka_unit_test(test_errors_reach_their_bio),
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_next_written),
		cmocka_unit_test(test_request_counts),
		cmocka_unit_test(test_small_folio_bios),
		cmocka_unit_test(test_host_file_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
