/*
 * property/test_power_cut.c - the power goes out at any write of the disk, and the journal is
 * replayed.
 *
 * Proves, over random writes, fsyncs, truncates, punches and preallocations in every data mode: the
 * disk holds a file again, its bitmaps say what its extents say, its size is one it had since the
 * last fsync, and what has not changed since that fsync is there byte for byte. With data=ordered
 * and data=journal every sector, too, holds what the file held at some moment since that fsync:
 * never what somebody else left on the disk. 10,000 points in `make soak`, a tenth in `make test`;
 * FL_SEED=N plays one workload alone.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ondisk.h"
#include "fs/read_write.h"
#include "lab/run.h"
#include "lib/prng.h"
#include "mm/internal.h"

#define OPS	   40
#define POINTS	   10 /* cuts of one workload */
#define MAX_SIZE   (192 << 10)
#define MAX_IMAGES (OPS + 1)
#define SECTOR	   512

enum data_mode { DATA_ORDERED, DATA_JOURNAL, DATA_WRITEBACK, NR_DATA_MODES };

struct plan {
	struct run_config config;
	char kernel[16], options[64];
	struct wl_op ops[OPS];
	enum data_mode mode;
};

/* Is stale data out of the question? */
static bool strict(const struct plan *plan)
{
	return plan->mode != DATA_WRITEBACK;
}

/* What the file held. */
struct image {
	s64 size;
	u8 bytes[MAX_SIZE]; /* zeros behind the size */
};

/* Since the last fsync that returned, that one first. */
struct history {
	unsigned int nr;
	struct image images[MAX_IMAGES + 1];
	char why[640];
};

/* ---- plans ---- */

static void pick_mount(struct prng *p, struct plan *plan)
{
	static const char *const kernels[] = {"v6.1",	 "v6.1.y", "v6.12.y", "v6.16",
					      "v6.16.y", "v6.18",  "v7.3"};
	static const struct {
		const char *options;
		enum data_mode mode;
	} modes[] = {
		{"data=ordered", DATA_ORDERED},
		{"data=ordered,nodelalloc", DATA_ORDERED},
		{"data=ordered,dioread_lock", DATA_ORDERED},
		{"data=journal", DATA_JOURNAL},
		{"data=writeback", DATA_WRITEBACK},
		{"data=writeback,nodelalloc", DATA_WRITEBACK},
	};
	unsigned int mode = prng_below(p, ARRAY_SIZE(modes));

	snprintf(plan->kernel, sizeof(plan->kernel), "%s",
		 kernels[prng_below(p, ARRAY_SIZE(kernels))]);
	snprintf(plan->options, sizeof(plan->options), "%s", modes[mode].options);
	plan->mode = modes[mode].mode;
	run_config_init(&plan->config);
	plan->config.machine.kernel = plan->kernel;
	plan->config.machine.data = true;
	plan->config.machine.memory = 64 << 20;
	plan->config.machine.seed = prng_u64(p);
	plan->config.fs = "ext4";
	plan->config.disk = prng_below(p, 2) ? "nvme" : "ram";
	plan->config.size = prng_below(p, 2) ? 0 : prng_below(p, MAX_SIZE);
	plan->config.block_size = prng_below(p, 2) ? 4096 : 1024;
	plan->config.fs_bytes = 64 << 20;
	plan->config.journal_bytes = 1024 * plan->config.block_size;
	plan->config.mount_options = plan->options;
	plan->config.extent_blocks = prng_below(p, 3) ? 0 : prng_between(p, 1, 8);
}

static void pick_op(struct prng *p, struct wl_op *op)
{
	static const enum wl_op_type types[] = {WL_PWRITE,    WL_PWRITE, WL_PWRITE,
						WL_PWRITE,    WL_FSYNC,	 WL_FSYNC,
						WL_FTRUNCATE, WL_PUNCH,	 WL_FALLOCATE};

	*op = (struct wl_op){.type = types[prng_below(p, ARRAY_SIZE(types))], .n = 1};
	op->off = prng_below(p, MAX_SIZE - 1);
	op->len = 1 + prng_below(p, prng_below(p, 3) ? 9000 : 60000);
	if (!prng_below(p, 3))
		op->off = round_down(op->off, 4096);
	op->len = min(op->len, MAX_SIZE - op->off);
	if (op->type == WL_FTRUNCATE)
		op->len = prng_below(p, MAX_SIZE);
}

static void make_plan(struct plan *plan, u64 seed)
{
	struct prng p;

	prng_seed(&p, seed);
	memset(plan, 0, sizeof(*plan));
	pick_mount(&p, plan);
	for (unsigned int i = 0; i < OPS; i++)
		pick_op(&p, &plan->ops[i]);
}

/* ---- the file as it should be ---- */

static void cut_image(struct image *image, s64 from, s64 to)
{
	if (to > from)
		memset(image->bytes + from, 0, to - from);
}

static void apply(struct image *image, const struct wl_op *op, u64 write_nr)
{
	s64 end = op->off + op->len;

	switch (op->type) {
	case WL_PWRITE:
		run_fill_pattern(write_nr, op->off, image->bytes + op->off, op->len);
		image->size = max(image->size, end);
		break;
	case WL_FTRUNCATE:
		cut_image(image, op->len, image->size);
		image->size = op->len;
		break;
	case WL_PUNCH:
		cut_image(image, op->off, min(end, image->size));
		break;
	case WL_FALLOCATE:
		image->size = max(image->size, end);
		break;
	default:
		break;
	}
}

static struct image *newest(struct history *h)
{
	return &h->images[h->nr - 1];
}

/* The image after @op, which may have begun only. */
static void remember(struct history *h, const struct wl_op *op, u64 write_nr)
{
	h->images[h->nr] = *newest(h);
	h->nr++;
	apply(newest(h), op, write_nr);
}

static void read_file(struct run *run, struct image *image)
{
	memset(image, 0, sizeof(*image));
	image->size = run->inode->i_size;
	assert_true(image->size <= MAX_SIZE);
	assert_int_equal(ksys_pread64(run->files[0], (char *)image->bytes, image->size, 0),
			 image->size);
}

/* Play until the power goes out; false if it never does. */
static bool play(struct plan *plan, struct run *run, struct history *h)
{
	struct fl_error err = {0};

	h->nr = 1;
	read_file(run, &h->images[0]);
	for (unsigned int i = 0; i < OPS; i++) {
		const struct wl_op *op = &plan->ops[i];

		remember(h, op, run->writes + 1);
		assert_int_equal(run_op(run, op, &err), 0);
		assert_int_equal(run->errors, 0);
		if (run_power_is_out(run))
			return true;
		if (op->type == WL_FSYNC) {
			h->images[0] = *newest(h);
			h->nr = 1;
		}
	}
	blk_drain(run->machine);
	return run_power_is_out(run);
}

/* ---- what is left ---- */

static bool size_was(const struct history *h, s64 size)
{
	s64 low = h->images[0].size, high = low;

	for (unsigned int i = 1; i < h->nr; i++) {
		low = min(low, h->images[i].size);
		high = max(high, h->images[i].size);
	}
	return size >= low && size <= high;
}

/* Did the file hold this sector at any moment? @same: it held nothing else. */
static bool sector_was(const struct history *h, const u8 *bytes, s64 off, size_t len, bool *same)
{
	bool found = false;

	*same = true;
	for (unsigned int i = 0; i < h->nr; i++) {
		found |= !memcmp(h->images[i].bytes + off, bytes, len);
		*same &= !memcmp(h->images[i].bytes + off, h->images[0].bytes + off, len);
	}
	return found;
}

static bool check_sectors(const struct plan *plan, struct history *h, const struct image *left)
{
	for (s64 off = 0; off < left->size; off += SECTOR) {
		size_t len = min_t(s64, SECTOR, left->size - off);
		bool same;

		if (sector_was(h, left->bytes + off, off, len, &same))
			continue;
		if (!strict(plan) && !same)
			continue;
		snprintf(h->why, sizeof(h->why),
			 "sector at %" PRId64 " holds what the file never did%s", off,
			 same ? ", and was fsynced" : "");
		return false;
	}
	return true;
}

static bool check_left(const struct plan *plan, struct run *dead, struct history *h)
{
	static struct image left;
	struct fl_error err = {0};
	struct run *run;
	s64 bad;

	if (run_open_after_crash(dead, &run, &err)) {
		snprintf(h->why, sizeof(h->why), "not mounted: %s", err.text);
		return false;
	}
	bad = ext4_check_bitmaps(run->sb);
	read_file(run, &left);
	if (bad)
		snprintf(h->why, sizeof(h->why), "%" PRId64 " groups have wrong bitmaps", bad);
	else if (!size_was(h, left.size))
		snprintf(h->why, sizeof(h->why), "size %" PRId64 ", which it never had", left.size);
	else
		check_sectors(plan, h, &left);
	run_close(run);
	return !h->why[0];
}

/* Writes of a whole play, nothing cut. */
static u64 count_writes(struct plan *plan, struct history *h)
{
	struct fl_error err = {0};
	struct run *run;
	u64 nr;

	plan->config.power_cut = ~0ULL;
	assert_int_equal(run_open(&plan->config, &run, &err), 0);
	assert_false(play(plan, run, h));
	nr = blk_writes_completed(run->sb->s_bdev);
	run_close(run);
	return nr;
}

static void fail_point(const struct plan *plan, u64 seed, const struct history *h)
{
	char line[160];

	print_error("FL_SEED=%" PRIu64 ": %s -o %s blocks of %u, disk %s, size %" PRId64
		    ", cut after write %" PRIu64 ": %s\n",
		    seed, plan->kernel, plan->options, plan->config.block_size, plan->config.disk,
		    plan->config.size, plan->config.power_cut, h->why);
	for (unsigned int i = 0; i < OPS; i++) {
		workload_format_op(&plan->ops[i], line, sizeof(line));
		print_error("  %s\n", line);
	}
	fail();
}

/* Adds the cuts to those of its data mode. */
static void play_seed(u64 seed, struct history *h, u64 *cuts)
{
	struct plan plan;
	struct prng p;
	u64 nr;

	make_plan(&plan, seed);
	nr = count_writes(&plan, h);
	prng_seed(&p, seed ^ 0x706f776572);
	for (unsigned int i = 0; i < POINTS && nr; i++) {
		struct fl_error err = {0};
		struct run *run;
		bool good;

		h->why[0] = 0;
		plan.config.power_cut = 1 + prng_below(&p, nr);
		assert_int_equal(run_open(&plan.config, &run, &err), 0);
		good = play(&plan, run, h) && check_left(&plan, run, h);
		run_close(run);
		if (!good)
			fail_point(&plan, seed, h);
		cuts[plan.mode]++;
	}
}

static void test_power_cuts(void **state)
{
	static struct history h;
	u64 seeds = getenv("FL_SOAK") ? 1000 : 100, cuts[NR_DATA_MODES] = {0};

	if (getenv("FL_SEED")) {
		play_seed(strtoull(getenv("FL_SEED"), NULL, 10), &h, cuts);
		return;
	}
	for (u64 seed = 1; seed <= seeds; seed++)
		play_seed(seed, &h, cuts);
	for (unsigned int mode = 0; mode < NR_DATA_MODES; mode++) {
		static const char *const names[] = {"ordered", "journal", "writeback"};

		assert_true(cuts[mode] > 0);
		print_message("# %" PRIu64 " power cuts, data=%s\n", cuts[mode], names[mode]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
