/*
 * property/test_random_ops.c - seeded random workloads over every kernel, page size and disk.
 *
 * Proves that whatever is asked in whatever order: every read returns the file's bytes (where the
 * machine holds data; half of the plans write instead), the invariants of vm_check_machine() hold,
 * everything ends with as many free pages as it began with, and the same seed gives the same events
 * at the same virtual time.
 * 200,000 operations in `make soak`, a tenth in `make test`. On a failure the seed and the shortest
 * prefix that still fails are printed; FL_SEED=N plays that seed alone.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "lab/run.h"
#include "lib/prng.h"
#include "mm/internal.h"

#define OPS_PER_RUN 200
#define FIRST_SEED  1

/* Truncation is no operation of a run yet, so it is done beside it. */
enum step_kind { STEP_OP, STEP_TRUNCATE, STEP_PUNCH, STEP_DRAIN };

struct step {
	enum step_kind kind;
	struct wl_op op;
};

struct plan {
	struct run_config config;
	bool writes; /* changes the file; without data, which fs/test_write_data.c compares */
	char kernel[32];
	struct step steps[OPS_PER_RUN];
	unsigned int nr;
};

/* What one play came to. */
struct outcome {
	struct trace_sink sink;
	struct run *run;
	u64 hash; /* of all events */
	u64 clock_ps;
	u64 checked;		/* bytes compared */
	s64 pos;		/* where the next bytes belong */
	unsigned int failed_at; /* step, or OPS_PER_RUN at the end */
	char why[600];
};

/* ---- plans ---- */

static const char *pick(struct prng *p, const char *const *names, unsigned int nr)
{
	return names[prng_below(p, nr)];
}

static void pick_machine(struct prng *p, struct plan *plan)
{
	static const char *const kernels[] = {"v6.1",
					      "v6.1.y",
					      "v6.7",
					      "ab4443fe3ca6",
					      "v6.12",
					      "v6.12.y",
					      "v6.16",
					      "v6.16.y",
					      "v6.17",
					      "v6.17.y",
					      "v6.18",
					      "v7.3",
					      "v6.18-CURSOR_DRIFT"};
	static const unsigned int page_sizes[] = {4096, 4096, 4096, 16384, 65536};
	struct machine_config *m = &plan->config.machine;
	u64 pages = prng_below(p, 3) ? prng_between(p, 64, 2000) : prng_between(p, 2000, 200000);

	snprintf(plan->kernel, sizeof(plan->kernel), "%s", pick(p, kernels, ARRAY_SIZE(kernels)));
	m->kernel = plan->kernel;
	m->page_size = page_sizes[prng_below(p, ARRAY_SIZE(page_sizes))];
	m->data = prng_below(p, 2);
	m->seed = prng_u64(p);
	if (m->data && pages * m->page_size > 256 << 20)
		pages = (256 << 20) / m->page_size;
	m->memory = pages * m->page_size;
	if (!prng_below(p, 3)) {
		m->fragment_order = prng_below(p, 7);
		m->fragment_percent = prng_between(p, 1, 100);
	}
}

/* Blocks larger than a page: xfs since v6.12, ext4 on v7.3. */
static unsigned int pick_block_size(struct prng *p, const struct plan *plan)
{
	static const unsigned int sizes[] = {0, 1024, 4096, 16384, 65536};
	unsigned int size = sizes[prng_below(p, ARRAY_SIZE(sizes))];
	struct knobs k;

	assert_int_equal(knobs_parse(&k, plan->kernel, NULL), 0);
	if (size > plan->config.machine.page_size &&
	    (!strcmp(plan->config.fs, "hostfs") ||
	     !knobs_test(&k, strcmp(plan->config.fs, "xfs") ? KNOB_EXT4_BS_GT_PS : KNOB_MIN_ORDER)))
		return 0;
	return size;
}

static s64 pick_size(struct prng *p)
{
	static const s64 odd[] = {0, 1, 4095, 4096, 4097, 10000, 307300, (3 << 20) + 1, 64 << 20};

	if (prng_below(p, 3))
		return prng_below(p, 8 << 20);
	return odd[prng_below(p, ARRAY_SIZE(odd))];
}

static void pick_storage(struct prng *p, struct plan *plan)
{
	static const char *const fs[] = {"ext4", "ext4-1k", "xfs", "xfs", "hostfs"};
	static const char *const disks[] = {"hole", "ram", "nvme", "nvme"};
	static const u64 io[] = {0, 64 << 10, 128 << 10, 1280 << 10, 4 << 20};
	struct run_config *c = &plan->config;

	c->fs = pick(p, fs, ARRAY_SIZE(fs));
	c->disk = pick(p, disks, ARRAY_SIZE(disks));
	c->written = strcmp(c->disk, "hole");
	c->size = pick_size(p);
	c->ra_bytes =
		prng_below(p, 4) ? 4096ULL << prng_below(p, 11) : prng_below(p, (4 << 20) + 1);
	if (!prng_below(p, 10))
		c->ra_bytes = 0;
	c->io_bytes = io[prng_below(p, ARRAY_SIZE(io))];
	c->block_size = pick_block_size(p, plan);
}

static s64 pick_length(struct prng *p)
{
	static const s64 usual[] = {4096, 8192, 65536, 102400, 1 << 20, 1, 5000};

	return prng_below(p, 3) ? usual[prng_below(p, ARRAY_SIZE(usual))]
				: (s64)prng_below(p, 300000);
}

/* Near a place that was used before, or anywhere, sometimes past the end. */
static s64 pick_offset(struct prng *p, s64 size, s64 *near)
{
	if (prng_below(p, 2))
		*near = prng_below(p, size + size / 8 + 8192);
	return *near + prng_below(p, 3) * 4096;
}

static void fill_op(struct prng *p, struct wl_op *op, s64 size, s64 *near)
{
	static const u8 advices[] = {WL_ADV_NORMAL,   WL_ADV_RANDOM,   WL_ADV_SEQUENTIAL,
				     WL_ADV_WILLNEED, WL_ADV_WILLNEED, WL_ADV_DONTNEED,
				     WL_ADV_DONTNEED, WL_ADV_NOREUSE};
	static const enum wl_op_type types[] = {
		WL_READ,  WL_READ, WL_READ, WL_READ,   WL_READ,	   WL_PREAD,	 WL_PREAD,
		WL_PREAD, WL_SEEK, WL_FD,   WL_REOPEN, WL_FADVISE, WL_READAHEAD, WL_SPLICE,
	};

	memset(op, 0, sizeof(*op));
	op->type = types[prng_below(p, ARRAY_SIZE(types))];
	op->n = op->type == WL_READ ? prng_between(p, 1, 20) : 1;
	if (op->type == WL_FD)
		op->n = prng_below(p, 6);
	op->advice = advices[prng_below(p, ARRAY_SIZE(advices))];
	op->len = pick_length(p);
	if (op->type == WL_FADVISE && !prng_below(p, 4))
		op->len = 0;
	op->off = pick_offset(p, size, near);
}

/* Every other operation of a plan that writes changes the file. */
static void change_op(struct prng *p, struct wl_op *op)
{
	static const enum wl_op_type types[] = {WL_PWRITE, WL_PWRITE, WL_PWRITE,    WL_PWRITE,
						WL_FSYNC,  WL_PUNCH,  WL_FALLOCATE, WL_FTRUNCATE};

	op->type = types[prng_below(p, ARRAY_SIZE(types))];
	op->n = op->type == WL_PWRITE ? prng_between(p, 1, 8) : 1;
	op->len = max(op->len, (s64)1);
	if (op->type == WL_FTRUNCATE) {
		op->len = op->off;
		op->off = 0;
	}
}

static void fill_step(struct prng *p, struct step *step, bool writes, s64 size, s64 *near)
{
	u64 dice = prng_below(p, 40);

	fill_op(p, &step->op, size, near);
	if (writes) {
		if (prng_below(p, 2))
			change_op(p, &step->op);
		step->kind = dice == 2 ? STEP_DRAIN : STEP_OP;
		return;
	}
	step->kind = dice == 0	 ? STEP_TRUNCATE
		     : dice == 1 ? STEP_PUNCH
		     : dice == 2 ? STEP_DRAIN
				 : STEP_OP;
}

static void make_plan(struct plan *plan, u64 seed)
{
	struct prng p;
	s64 near = 0;

	memset(plan, 0, sizeof(*plan));
	prng_seed(&p, seed);
	run_config_init(&plan->config);
	pick_machine(&p, plan);
	pick_storage(&p, plan);
	plan->nr = OPS_PER_RUN;
	plan->writes = prng_below(&p, 2) && strcmp(plan->config.fs, "hostfs");
	if (plan->writes)
		plan->config.machine.data = false;
	for (unsigned int i = 0; i < plan->nr; i++)
		fill_step(&p, &plan->steps[i], plan->writes, plan->config.size, &near);
}

/* ---- playing ---- */

static void hash_word(u64 *hash, u64 word)
{
	*hash = (*hash ^ word) * 0x9e3779b97f4a7c15ULL;
	*hash ^= *hash >> 29;
}

static void outcome_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct outcome *o = container_of(sink, struct outcome, sink);

	hash_word(&o->hash, ev->ns);
	hash_word(&o->hash, (u64)ev->id << 32 | ev->order);
	hash_word(&o->hash, ev->index);
	hash_word(&o->hash, (u64)ev->a << 32 | ev->b);
	hash_word(&o->hash, ev->c ^ ev->d << 7 ^ (u64)ev->e << 20 ^ (u64)ev->f << 40);
	/* Reads of one operation follow each other: this one's position comes before its bytes. */
	if (ev->id == EV_fl_read)
		o->pos = ev->index;
}

/* A generated file is one extent from the disk's first block on. */
static unsigned char expected_byte(const struct run *run, s64 pos)
{
	if (!run->config.written)
		return 0;
	return disk_pattern((u64)pos / 8) >> (pos % 8 * 8);
}

static void consume(void *ctx, const void *buf, size_t len)
{
	struct outcome *o = ctx;
	const unsigned char *bytes = buf;

	for (size_t i = 0; i < len && !o->why[0]; i++)
		if (bytes[i] != expected_byte(o->run, o->pos + i))
			snprintf(o->why, sizeof(o->why),
				 "byte %" PRId64 " is 0x%02x, expected 0x%02x", o->pos + (s64)i,
				 bytes[i], expected_byte(o->run, o->pos + i));
	o->checked += len;
}

static void punch_range(struct run *run, const struct wl_op *op)
{
	truncate_inode_pages_range(run->inode->i_mapping, op->off,
				   op->off + max(op->len, (s64)1) - 1);
}

/*
 * Take pages out beside the run. What truncation zeroes in memory is not zeroed on the disk here,
 * so with data only what is read again from it may go: whole pages.
 */
static void take_out(struct outcome *o, const struct step *step)
{
	struct run *run = o->run;
	unsigned int shift = run->machine->page_shift;
	unsigned int min = mapping_min_folio_order(run->inode->i_mapping);
	s64 unit = 1LL << (shift + min);
	struct wl_op op = step->op;

	if (run->machine->data) {
		op.off = round_down(op.off, unit);
		op.len = round_up(max(op.len, (s64)1), unit);
	}
	if (step->kind == STEP_TRUNCATE)
		truncate_pagecache(run->inode, op.off);
	else
		punch_range(run, &op);
}

static int play_step(struct outcome *o, const struct step *step)
{
	struct fl_error err = {0};

	switch (step->kind) {
	case STEP_OP:
		if (run_op(o->run, &step->op, &err) && !o->why[0])
			snprintf(o->why, sizeof(o->why), "%s", err.text);
		break;
	case STEP_DRAIN:
		blk_drain(o->run->machine);
		break;
	default:
		take_out(o, step);
		if (vm_check_machine(o->run->machine, &err) && !o->why[0])
			snprintf(o->why, sizeof(o->why), "%s", err.text);
	}
	if (!o->why[0] && o->run->errors)
		snprintf(o->why, sizeof(o->why), "a call failed with %d", o->run->last_error);
	return o->why[0] ? -EINVAL : 0;
}

/* At rest nothing is under I/O; dropped, everything is free again. */
static void check_end(struct outcome *o)
{
	struct machine *m = o->run->machine;
	struct mm_state *mm = m->mm;
	struct fl_error err = {0};

	blk_drain(m);
	lru_add_drain(m);
	if (vm_check_machine(m, &err))
		snprintf(o->why, sizeof(o->why), "at the end: %s", err.text);
	o->clock_ps = m->clock_ps;
	truncate_inode_pages_final(o->run->inode->i_mapping);
	lru_add_drain(m);
	if (!o->why[0] && (mm->zone.nr_free + mm->zone.pinned != mm->zone.managed_pages ||
			   mm->live_folios || mm->xa_nodes.live))
		snprintf(o->why, sizeof(o->why),
			 "%lu of %lu pages free (%lu pinned), %" PRIu64 " folios, %" PRIu64
			 " nodes left",
			 mm->zone.nr_free, mm->zone.managed_pages, mm->zone.pinned, mm->live_folios,
			 mm->xa_nodes.live);
}

static void check_unlocked(struct outcome *o, bool writes)
{
	XA_STATE(xas, &o->run->inode->i_mapping->i_pages, 0);
	struct folio *folio;

	blk_drain(o->run->machine);
	xas_for_each(&xas, folio, ~0UL)
		if (!xa_is_value(folio) &&
		    (folio_test_locked(folio) || folio_test_writeback(folio) ||
		     (!writes && !folio_test_uptodate(folio))))
			snprintf(o->why, sizeof(o->why), "folio at %lu is %s at the end",
				 folio->index,
				 folio_test_locked(folio)      ? "locked"
				 : folio_test_writeback(folio) ? "under writeback"
							       : "not uptodate");
}

static void play(const struct plan *plan, unsigned int nr, struct outcome *o)
{
	struct fl_error err = {0};

	memset(o, 0, sizeof(*o));
	o->sink.event = outcome_event;
	o->failed_at = OPS_PER_RUN;
	if (run_open(&plan->config, &o->run, &err)) {
		snprintf(o->why, sizeof(o->why), "open: %s", err.text);
		return;
	}
	o->run->consume = consume;
	o->run->consume_ctx = o;
	trace_add_sink(&o->run->machine->trace, &o->sink);
	for (unsigned int i = 0; i < nr; i++)
		if (play_step(o, &plan->steps[i])) {
			o->failed_at = i;
			break;
		}
	if (!o->why[0])
		check_unlocked(o, plan->writes);
	if (!o->why[0])
		check_end(o);
	trace_remove_sink(&o->run->machine->trace, &o->sink);
	run_close(o->run);
	o->run = NULL;
}

/* ---- telling ---- */

static void print_step(const struct step *s)
{
	static const char *const names[] = {"", "truncate", "punch", "drain"};
	char text[200];

	if (s->kind == STEP_OP && workload_format_op(&s->op, text, sizeof(text)) > 0)
		print_message("#   %s\n", text);
	else
		print_message("#   (%s %" PRId64 " %" PRId64 ")\n", names[s->kind], s->op.off,
			      s->op.len);
}

static void print_plan(const struct plan *plan, unsigned int nr)
{
	const struct run_config *c = &plan->config;
	const struct machine_config *m = &c->machine;

	print_message("# %s fs=%s block_size=%u disk=%s size=%" PRId64 " ra=%" PRIu64 " io=%" PRIu64
		      " page_size=%u memory=%" PRIu64 " pages data=%d fragment=%d:%u\n",
		      plan->kernel, c->fs, c->block_size, c->disk, c->size, c->ra_bytes,
		      c->io_bytes, m->page_size, m->memory / m->page_size, m->data,
		      m->fragment_order, m->fragment_percent);
	for (unsigned int i = 0; i < nr; i++)
		print_step(&plan->steps[i]);
}

/* The shortest prefix that still fails: the step itself where one did, else by halving. */
static unsigned int shrink(const struct plan *plan, const struct outcome *o)
{
	unsigned int lo = 0, hi = min(o->failed_at + 1, plan->nr);
	static struct outcome again;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		play(plan, mid, &again);
		if (again.why[0])
			hi = mid;
		else
			lo = mid + 1;
	}
	return hi;
}

static void expect_good(const struct plan *plan, u64 seed, const struct outcome *o)
{
	unsigned int nr;

	if (!o->why[0])
		return;
	nr = shrink(plan, o);
	print_message("# FL_SEED=%" PRIu64 ", the first %u of %u operations:\n", seed, nr,
		      plan->nr);
	print_plan(plan, nr);
	fail_msg("seed %" PRIu64 ": %s", seed, o->why);
}

/* ---- tests ---- */

static u64 only_seed(void)
{
	const char *s = getenv("FL_SEED");

	return s ? strtoull(s, NULL, 0) : 0;
}

static void test_random_operations(void **state)
{
	u64 runs = DIV_ROUND_UP(soak_count(200000), OPS_PER_RUN), checked = 0;
	u64 first = only_seed() ? only_seed() : FIRST_SEED;
	static struct outcome o;
	static struct plan plan;

	if (only_seed())
		runs = 1;
	for (u64 seed = first; seed < first + runs; seed++) {
		make_plan(&plan, seed);
		play(&plan, plan.nr, &o);
		expect_good(&plan, seed, &o);
		checked += o.checked;
	}
	print_message("# %" PRIu64 " runs of %u operations from seed %" PRIu64 ", %" PRIu64
		      " bytes compared\n",
		      runs, OPS_PER_RUN, first, checked);
	assert_true(only_seed() || checked > 1 << 20);
}

/* Proves that nothing but the seed matters: not addresses, not what ran before. */
static void test_determinism(void **state)
{
	static struct outcome a, b;
	static struct plan plan;

	for (u64 seed = 1000001; seed < 1000001 + soak_count(100); seed++) {
		make_plan(&plan, seed);
		play(&plan, plan.nr, &a);
		play(&plan, plan.nr, &b);
		expect_good(&plan, seed, &a);
		assert_int_equal(a.hash, b.hash);
		assert_int_equal(a.clock_ps, b.clock_ps);
		assert_true(a.clock_ps > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_determinism),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
