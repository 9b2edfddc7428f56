/*
 * fs/test_write_data.c - what was written is what is read, on every file system and kernel.
 *
 * Proves that random sequences of pwrite, ftruncate, punch, fallocate, fsync, pread and DONTNEED
 * on ext4 and xfs - every profile, page size, block size, way of writing and layout, memory from
 * plenty to almost none - return what a plain array of bytes returns, and leave a sound machine.
 * FL_SEED=N plays one seed alone.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4.h"
#include "fs/extents.h"
#include "lab/run.h"
#include "lib/prng.h"
#include "mm/internal.h"

#define OPS	    120
#define MODEL_BYTES (12u << 20)

struct play {
	u64 seed;
	struct run_config config;
	char kernel[64];
	s64 span; /* offsets lie below it */
	struct run *run;
	u8 *bytes; /* the model */
	s64 size;
	s64 pos, got; /* of the read under way */
	struct wl_op ops[OPS];
	unsigned int nr;
	char why[800];
};

/* ---- what is played ---- */

static const char *pick(struct prng *p, const char *const *names, unsigned int nr)
{
	return names[prng_below(p, nr)];
}

static bool has_knob(const char *kernel, enum knob_id id)
{
	struct knobs k;

	assert_int_equal(knobs_parse(&k, kernel, NULL), 0);
	return knobs_test(&k, id);
}

static void pick_block_size(struct prng *p, struct run_config *c)
{
	static const unsigned int sizes[] = {0, 0, 1024, 2048, 4096, 16384, 65536};
	bool ext4 = strcmp(c->fs, "xfs");

	c->block_size = sizes[prng_below(p, ARRAY_SIZE(sizes))];
	if (c->block_size > c->machine.page_size &&
	    !has_knob(c->machine.kernel, ext4 ? KNOB_EXT4_BS_GT_PS : KNOB_MIN_ORDER))
		c->block_size = 0;
}

static void pick_machine(struct prng *p, struct play *y)
{
	static const unsigned int page_sizes[] = {4096, 4096, 4096, 16384, 65536};
	struct machine_config *m = &y->config.machine;
	unsigned int nr = 0;
	u64 pages = prng_below(p, 4) ? prng_between(p, 300, 6000) : prng_between(p, 64, 300);

	while (profile_info(nr))
		nr++;
	snprintf(y->kernel, sizeof(y->kernel), "%s", profile_info(prng_below(p, nr))->name);
	m->kernel = y->kernel;
	m->page_size = page_sizes[prng_below(p, ARRAY_SIZE(page_sizes))];
	m->data = true;
	m->seed = prng_u64(p);
	m->memory = pages * m->page_size;
	if (!prng_below(p, 4)) {
		m->fragment_order = prng_below(p, 4);
		m->fragment_percent = prng_between(p, 1, 100);
	}
}

static void pick_storage(struct prng *p, struct play *y)
{
	static const char *const fs[] = {"ext4", "ext4", "ext4-1k", "xfs", "xfs"};
	static const char *const disks[] = {"hole", "ram", "nvme"};
	static const char *const features[] = {NULL,	      NULL,	      NULL,	"^extent",
					       "inline_data", "^has_journal", "verity", "bigalloc"};
	static const char *const options[] = {NULL, NULL, NULL, "nodelalloc", "data=journal"};
	struct run_config *c = &y->config;

	c->fs = pick(p, fs, ARRAY_SIZE(fs));
	c->disk = pick(p, disks, ARRAY_SIZE(disks));
	c->size = prng_below(p, 3) ? prng_below(p, y->span) : 0;
	c->written = strcmp(c->disk, "hole");
	c->ra_bytes = 4096ULL << prng_below(p, 10);
	c->extent_blocks = prng_below(p, 3) ? 0 : prng_between(p, 1, 50);
	pick_block_size(p, c);
	if (!strcmp(c->fs, "xfs"))
		return;
	c->features = pick(p, features, ARRAY_SIZE(features));
	c->mount_options = pick(p, options, ARRAY_SIZE(options));
	if (c->features && !strcmp(c->features, "^has_journal"))
		c->mount_options = NULL;
}

static s64 pick_place(struct prng *p, s64 span)
{
	s64 at = prng_below(p, span);

	switch (prng_below(p, 4)) {
	case 0:
		return round_down(at, (s64)4096);
	case 1:
		return round_down(at, (s64)65536);
	default:
		return at;
	}
}

static s64 pick_len(struct prng *p, s64 room)
{
	static const s64 usual[] = {1, 512, 1024, 4096, 5000, 65536, 262144, 1 << 20};
	s64 len = prng_below(p, 2) ? usual[prng_below(p, ARRAY_SIZE(usual))]
				   : (s64)prng_between(p, 1, 200000);

	return max(min(len, room), (s64)1);
}

static void pick_op(struct prng *p, struct wl_op *op, s64 span)
{
	static const enum wl_op_type types[] = {
		WL_PWRITE, WL_PWRITE,  WL_PWRITE,    WL_PWRITE, WL_PREAD, WL_PREAD,
		WL_PREAD,  WL_PREAD,   WL_FTRUNCATE, WL_PUNCH,	WL_PUNCH, WL_FALLOCATE,
		WL_FSYNC,  WL_FADVISE, WL_FADVISE,   WL_REOPEN,
	};

	memset(op, 0, sizeof(*op));
	op->type = types[prng_below(p, ARRAY_SIZE(types))];
	op->n = 1;
	op->off = pick_place(p, span);
	op->len = pick_len(p, span - op->off);
	if (op->type == WL_FTRUNCATE) {
		op->len = op->off;
		op->off = 0;
	}
	if (op->type == WL_FADVISE) {
		op->advice = WL_ADV_DONTNEED;
		if (prng_below(p, 2))
			op->off = op->len = 0;
	}
}

static void make_play(struct play *y, u64 seed)
{
	struct prng p;
	u8 *bytes = y->bytes;

	memset(y, 0, sizeof(*y));
	y->bytes = bytes;
	y->seed = seed;
	prng_seed(&p, seed);
	run_config_init(&y->config);
	pick_machine(&p, y);
	y->span = prng_below(&p, 2)		       ? 300000
		  : y->config.machine.page_size > 4096 ? 10 << 20
						       : 3 << 20;
	pick_storage(&p, y);
	y->nr = OPS;
	for (unsigned int i = 0; i < y->nr; i++)
		pick_op(&p, &y->ops[i], y->span);
}

/* ---- the model ---- */

/* The bytes the disk came with, through the extents of the fresh file. */
static void model_start(struct play *y)
{
	const struct inode *inode = y->run->inode;

	memset(y->bytes, 0, MODEL_BYTES);
	y->size = inode->i_size;
	for (s64 i = 0; i < y->size; i++) {
		const struct fs_extent *e = extents_lookup(inode, i >> inode->i_blkbits);
		u64 at;

		if (!e)
			continue;
		at = ((e->pblk - e->lblk) << inode->i_blkbits) + i;
		y->bytes[i] = disk_pattern(at / 8) >> (at % 8 * 8);
	}
}

static void model_grow(struct play *y, s64 size)
{
	if (size <= y->size)
		return;
	memset(y->bytes + y->size, 0, size - y->size);
	y->size = size;
}

static void model_op(struct play *y, const struct wl_op *op)
{
	s64 end = op->off + op->len;

	switch (op->type) {
	case WL_PWRITE:
		model_grow(y, end);
		run_fill_pattern(y->run->writes, op->off, y->bytes + op->off, op->len);
		break;
	case WL_FTRUNCATE:
		model_grow(y, op->len);
		y->size = op->len;
		break;
	case WL_FALLOCATE:
		model_grow(y, end);
		break;
	case WL_PUNCH:
		if (min(end, y->size) > op->off)
			memset(y->bytes + op->off, 0, min(end, y->size) - op->off);
		break;
	default:
		break;
	}
}

static void consume(void *ctx, const void *buf, size_t len)
{
	struct play *y = ctx;
	const u8 *bytes = buf;

	y->got = len;
	for (size_t i = 0; i < len && !y->why[0]; i++)
		if (bytes[i] != y->bytes[y->pos + i])
			snprintf(y->why, sizeof(y->why),
				 "byte %" PRId64 " is 0x%02x, expected 0x%02x", y->pos + (s64)i,
				 bytes[i], y->bytes[y->pos + i]);
}

/* ---- playing ---- */

static void play_one(struct play *y, const struct wl_op *op)
{
	struct fl_error err = {0};

	y->pos = op->off;
	y->got = 0;
	if (run_op(y->run, op, &err) && !y->why[0])
		snprintf(y->why, sizeof(y->why), "%s", err.text);
	else if (y->run->errors && !y->why[0])
		snprintf(y->why, sizeof(y->why), "failed with %d", y->run->last_error);
	model_op(y, op);
	if (y->why[0])
		return;
	if (y->run->inode->i_size != y->size)
		snprintf(y->why, sizeof(y->why),
			 "the file has %" PRId64 " bytes, expected %" PRId64, y->run->inode->i_size,
			 y->size);
	else if (op->type == WL_PREAD && y->got != max(min(op->len, y->size - op->off), (s64)0))
		snprintf(y->why, sizeof(y->why), "%" PRId64 " bytes read of a file of %" PRId64,
			 y->got, y->size);
}

/* Everything to disk, out of memory, and read again. */
static void play_end(struct play *y)
{
	const struct wl_op last[] = {
		{.type = WL_FSYNC, .n = 1},
		{.type = WL_FADVISE, .n = 1, .advice = WL_ADV_DONTNEED},
		{.type = WL_PREAD, .n = 1, .len = MODEL_BYTES},
	};
	struct fl_error err = {0};

	for (unsigned int i = 0; i < ARRAY_SIZE(last) && !y->why[0]; i++)
		play_one(y, &last[i]);
	blk_drain(y->run->machine);
	lru_add_drain(y->run->machine);
	if (!y->why[0] && vm_check_machine(y->run->machine, &err))
		snprintf(y->why, sizeof(y->why), "%s", err.text);
}

/* Number of the operation that failed, or OPS. */
static unsigned int play(struct play *y)
{
	struct fl_error err = {0};
	unsigned int i;

	y->why[0] = 0;
	if (run_open(&y->config, &y->run, &err)) {
		snprintf(y->why, sizeof(y->why), "%s: %s", err.file, err.text);
		return 0;
	}
	y->run->consume = consume;
	y->run->consume_ctx = y;
	model_start(y);
	for (i = 0; i < y->nr && !y->why[0]; i++)
		play_one(y, &y->ops[i]);
	if (!y->why[0])
		play_end(y);
	run_close(y->run);
	return i;
}

static void tell(const struct play *y, unsigned int nr)
{
	const struct run_config *c = &y->config;
	char text[200];

	print_message("# FL_SEED=%" PRIu64 ": %s %s -o %s -O %s block_size=%u disk=%s size=%" PRId64
		      " ra=%" PRIu64 " extent_blocks=%" PRIu64 " page_size=%u pages=%" PRIu64
		      " fragment=%d:%u\n",
		      y->seed, y->kernel, c->fs, c->mount_options ? c->mount_options : "",
		      c->features ? c->features : "", c->block_size, c->disk, c->size, c->ra_bytes,
		      c->extent_blocks, c->machine.page_size,
		      c->machine.memory / c->machine.page_size, c->machine.fragment_order,
		      c->machine.fragment_percent);
	for (unsigned int i = 0; i < nr; i++)
		if (workload_format_op(&y->ops[i], text, sizeof(text)) > 0)
			print_message("#   %s\n", text);
}

/* Leave out what is not needed for the failure. */
static unsigned int shrink(struct play *y, unsigned int nr)
{
	y->nr = nr;
	for (unsigned int i = 0; i < y->nr;) {
		struct wl_op op = y->ops[i];

		memmove(&y->ops[i], &y->ops[i + 1], (y->nr - i - 1) * sizeof(op));
		y->nr--;
		play(y);
		if (y->why[0])
			continue;
		memmove(&y->ops[i + 1], &y->ops[i], (y->nr - i) * sizeof(op));
		y->ops[i] = op;
		y->nr++;
		i++;
	}
	play(y);
	return y->nr;
}

static void test_random_writes(void **state)
{
	const char *only = getenv("FL_SEED");
	u64 first = only ? strtoull(only, NULL, 0) : 1;
	u64 runs = only ? 1 : DIV_ROUND_UP(soak_count(200000), OPS);
	static struct play y;

	y.bytes = malloc(MODEL_BYTES);
	assert_non_null(y.bytes);
	for (u64 seed = first; seed < first + runs; seed++) {
		unsigned int nr;

		make_play(&y, seed);
		nr = play(&y);
		if (!y.why[0])
			continue;
		tell(&y, shrink(&y, nr));
		fail_msg("seed %" PRIu64 ": %s", seed, y.why);
	}
	print_message("# %" PRIu64 " runs of %u operations from seed %" PRIu64 "\n", runs, OPS,
		      first);
	free(y.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
