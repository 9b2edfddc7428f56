/*
 * mm/test_plain_reads.c - repeated reads inside a folio are played in one go
 * (filemap_read_plain()); with a listener every read takes the general path. Both must be the same
 * kernel.
 *
 * Proves that two machines that play the same operations, one of them listened to, agree in
 * everything: virtual time, cost units, locks, event counters, latencies, readahead state, page
 * states, every folio with flags and references, the LRU lists in order - on every profile, page
 * size, file system and disk, for reads of odd sizes at odd places; and that the listener heard as
 * many events as were counted. FL_SEED=N plays that seed alone.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/read_write.h"
#include "lib/prng.h"
#include "mm/internal.h"
#include "mm/scene.h"

#define SEEDS	   2000 /* in `make soak` */
#define OPS	   40
#define TEXT_BYTES 4096

struct counter {
	struct trace_sink sink;
	u64 heard[EV_NR][TRACE_ORDERS];
};

static void count_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct counter *c = container_of(sink, struct counter, sink);

	c->heard[ev->id][ev->order]++;
}

/* ---- what is compared ---- */

#define SAME(what, member)                                                                         \
	do {                                                                                       \
		if (memcmp(&(member(a)), &(member(b)), sizeof(member(a))))                         \
			fail_msg("%s differs: %s", what, story);                                   \
	} while (0)

static void same_folio(const struct folio *a, const struct folio *b, const char *story)
{
	if (a->index != b->index || a->_order != b->_order || a->flags != b->flags ||
	    a->_refcount != b->_refcount || a->_pfn != b->_pfn)
		fail_msg("folio %lu order %u flags 0x%lx refs %d pfn %u, listened to %lu order %u "
			 "flags 0x%lx refs %d pfn %u: %s",
			 a->index, a->_order, a->flags, a->_refcount, a->_pfn, b->index, b->_order,
			 b->flags, b->_refcount, b->_pfn, story);
}

static void same_cache(struct run *a, struct run *b, const char *story)
{
	XA_STATE(xas, &a->inode->i_mapping->i_pages, 0);
	XA_STATE(xbs, &b->inode->i_mapping->i_pages, 0);
	void *ea = xas_find(&xas, ~0UL), *eb = xas_find(&xbs, ~0UL);

	for (; ea && eb; ea = xas_find(&xas, ~0UL), eb = xas_find(&xbs, ~0UL)) {
		assert_int_equal(xas.xa_index, xbs.xa_index);
		if (xa_is_value(ea) || xa_is_value(eb))
			assert_ptr_equal(ea, eb); /* a shadow is a number */
		else
			same_folio(ea, eb, story);
	}
	if (ea || eb)
		fail_msg("one cache has more than the other: %s", story);
}

static void same_lru(struct run *a, struct run *b, const char *story)
{
	for (unsigned int l = 0; l < NR_LRU_LISTS; l++) {
		struct list_head *ha = &a->machine->mm->lruvec.lists[l];
		struct list_head *hb = &b->machine->mm->lruvec.lists[l];
		struct list_head *pa = ha->next, *pb = hb->next;

		for (; pa != ha && pb != hb; pa = pa->next, pb = pb->next)
			same_folio(list_entry(pa, struct folio, lru),
				   list_entry(pb, struct folio, lru), story);
		if (pa != ha || pb != hb)
			fail_msg("LRU list %u is longer on one: %s", l, story);
	}
}

static void same_descriptors(struct run *a, struct run *b, const char *story)
{
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++) {
		assert_int_equal(!a->files[i], !b->files[i]);
		if (a->files[i] &&
		    (a->files[i]->f_pos != b->files[i]->f_pos ||
		     memcmp(&a->files[i]->f_ra, &b->files[i]->f_ra, sizeof(a->files[i]->f_ra))))
			fail_msg("descriptor %u differs: %s", i, story);
	}
}

static void same_machines(struct run *a, struct run *b, const char *story)
{
#define CLOCK(r)   ((r)->machine->clock_ps)
#define UNITS(r)   ((r)->machine->cost_units)
#define KSWAPD(r)  ((r)->machine->kswapd_ps)
#define LOCKS(r)   ((r)->machine->locks)
#define USED(r)	   ((r)->machine->page_used)
#define COUNTS(r)  ((r)->machine->trace.count)
#define NEXT_IO(r) ((r)->machine->next_io_ps)
#define VM(r)	   ((r)->machine->mm->vm)
#define PAGES(r)   ((r)->machine->mm->pages)
#define RA_PS(r)   ((r)->machine->mm->ra_ps)
#define NR_LRU(r)  ((r)->machine->mm->lruvec.nr)
#define AGE(r)	   ((r)->machine->mm->lruvec.nonresident_age)
#define NR_FREE(r) ((r)->machine->mm->zone.nr_free)
#define DISK(r)	   ((r)->sb->s_bdev->stats)
#define LATENCY(r) ((r)->latency)
#define READS(r)   ((r)->reads)
#define BYTES(r)   ((r)->bytes)
#define ERRORS(r)  ((r)->errors)
	SAME("event counters", COUNTS);
	SAME("cost units", UNITS);
	SAME("virtual time", CLOCK);
	SAME("background time", KSWAPD);
	SAME("locks", LOCKS);
	SAME("pages used", USED);
	SAME("next I/O", NEXT_IO);
	SAME("vm counters", VM);
	SAME("page statistics", PAGES);
	SAME("readahead time", RA_PS);
	SAME("LRU sizes", NR_LRU);
	SAME("age", AGE);
	SAME("free pages", NR_FREE);
	SAME("disk", DISK);
	SAME("latencies", LATENCY);
	SAME("reads", READS);
	SAME("bytes", BYTES);
	SAME("errors", ERRORS);
	if (memcmp(a->machine->page_state, b->machine->page_state, a->machine->max_pfn))
		fail_msg("page states differ: %s", story);
	same_descriptors(a, b, story);
	same_cache(a, b, story);
	same_lru(a, b, story);
}

/* ---- what is played ---- */

static const char *const kernels[] = {
	"v6.1",
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
	"v6.18-CURSOR_DRIFT",
};

#define PICK(p, array) ((array)[prng_below(p, ARRAY_SIZE(array))])

static void pick_machine(struct prng *p, u64 seed, struct run_config *config)
{
	static const char *const filesystems[] = {"xfs", "xfs", "ext4", "ext4-1k", "hostfs"};
	static const char *const disks[] = {"hole", "hole", "ram", "nvme"};
	static const unsigned int page_sizes[] = {4096, 4096, 16384, 65536};
	static const u64 windows[] = {0, 4, 12, 128, 128, 128, 768, 4096};
	static const s64 sizes[] = {0, 1, 4095, 4097, 307300, 1 << 20, 3333333, 16 << 20};

	run_config_init(config);
	config->machine.kernel = kernels[seed % ARRAY_SIZE(kernels)];
	config->machine.page_size = PICK(p, page_sizes);
	config->machine.memory = (u64)config->machine.page_size * prng_between(p, 64, 4000);
	config->fs = PICK(p, filesystems);
	config->disk = PICK(p, disks);
	config->size = PICK(p, sizes);
	config->ra_bytes = PICK(p, windows) << 10;
	config->machine.fragment_order = prng_below(p, 4) ? -1 : (int)prng_below(p, 5);
}

static void pick_ops(struct prng *p, s64 size, char *buf)
{
	static const unsigned int lens[] = {1,	  7,	100,  511,   512,   777,    1024,
					    4095, 4096, 4097, 10000, 65536, 100000, 0};
	size_t n = 0;

	for (unsigned int i = 0; i < OPS; i++) {
		u64 off = prng_below(p, size + 5000), len = PICK(p, lens);
		u64 times = prng_below(p, 3) ? prng_between(p, 1, 60) : prng_between(p, 60, 3000);
		size_t room = TEXT_BYTES - n;

		switch (prng_below(p, 10)) {
		case 0:
			n += snprintf(buf + n, room, "seek %" PRIu64 ";", off);
			break;
		case 1:
			n += snprintf(buf + n, room, "pread %" PRIu64 " %" PRIu64 ";", off, len);
			break;
		case 2:
			n += snprintf(buf + n, room, "fd %" PRIu64 ";", prng_below(p, 4));
			break;
		case 3:
			n += snprintf(buf + n, room, "fadvise %s %" PRIu64 " 300000;",
				      prng_below(p, 2) ? "dontneed" : "willneed", off);
			break;
		case 4:
			n += snprintf(buf + n, room, "fadvise %s 0 0;",
				      prng_below(p, 2) ? "random" : "normal");
			break;
		default:
			n += snprintf(buf + n, room, "read %" PRIu64 " %" PRIu64 ";", len, times);
		}
		assert_true(n < TEXT_BYTES);
	}
}

static void same_count(const struct run *run, const struct counter *c, const char *story)
{
	if (memcmp(c->heard, run->machine->trace.count, sizeof(c->heard)))
		fail_msg("events heard and events counted differ: %s", story);
}

/* The same operations on both, compared after each; I/O stays under way from one to the next. */
static void play_alike(struct run *plain, struct run *heard, const char *ops, const char *story)
{
	struct fl_error err = {0};
	struct workload w;

	assert_int_equal(workload_parse(&w, "test", ops, strlen(ops), &err), 0);
	for (size_t i = 0; i < w.nr; i++) {
		char text[80], where[TEXT_BYTES + 800];

		workload_format_op(&w.ops[i], text, sizeof(text));
		snprintf(where, sizeof(where), "operation %zu, %s; %s", i, text, story);
		if (run_op(plain, &w.ops[i], &err) || run_op(heard, &w.ops[i], &err))
			fail_msg("%s: %s", err.text, where);
		same_machines(plain, heard, where);
	}
	workload_fini(&w);
}

static void play_both(u64 seed)
{
	struct counter counter = {.sink.event = count_event};
	char ops[TEXT_BYTES], story[TEXT_BYTES + 300];
	struct run_config config;
	struct run *plain, *heard;
	struct prng p;

	prng_seed(&p, seed);
	pick_machine(&p, seed, &config);
	pick_ops(&p, config.size, ops);
	snprintf(story, sizeof(story),
		 "seed %" PRIu64 ": %s %s on %s, page %u, size %" PRId64 ", ra %" PRIu64 ": %s",
		 seed, config.machine.kernel, config.fs, config.disk, config.machine.page_size,
		 config.size, config.ra_bytes, ops);
	plain = scene_open(&config);
	heard = scene_open(&config);
	memset(heard->machine->trace.count, 0, sizeof(heard->machine->trace.count));
	memset(plain->machine->trace.count, 0, sizeof(plain->machine->trace.count));
	trace_add_sink(&heard->machine->trace, &counter.sink);
	play_alike(plain, heard, ops, story);
	same_count(heard, &counter, story);
	trace_remove_sink(&heard->machine->trace, &counter.sink);
	scene_close(plain);
	scene_close(heard);
}

static void test_both_ways(void **state)
{
	const char *alone = getenv("FL_SEED");

	if (alone) {
		play_both(strtoull(alone, NULL, 10));
		return;
	}
	for (u64 seed = 0; seed < soak_count(SEEDS); seed++)
		play_both(seed);
}

/* The shortcut must be there to be compared: how many of 100 reads it takes, and what stops it. */
static void test_when_it_is_taken(void **state)
{
	struct counter counter = {.sink.event = count_event};
	struct run_config config = scene_config("v6.18");
	struct run *run = scene_open(&config);
	struct file *file = run_file(run);

	assert_int_equal(ksys_read_plain(file, 512, 100), 0); /* nothing is cached */
	scene_play(run, "read 512");
	assert_int_equal(ksys_read_plain(file, 512, 100), 7); /* to the end of page 0 */
	assert_int_equal(file->f_pos, 4096);
	assert_int_equal(ksys_read_plain(file, 512, 100), 0); /* page 1 has the mark */
	scene_play(run, "seek 4m; fadvise willneed 4m 64k; read 5000");
	assert_int_equal(ksys_read_plain(file, 3000, 100), 1);
	assert_int_equal(ksys_read_plain(file, 3000, 100), 0); /* crosses into the next folio */
	assert_int_equal(ksys_read_plain(file, 0, 100), 0);
	trace_add_sink(&run->machine->trace, &counter.sink);
	assert_int_equal(ksys_read_plain(file, 1, 100), 0); /* somebody listens */
	trace_remove_sink(&run->machine->trace, &counter.sink);
	assert_int_equal(ksys_read_plain(file, 1, 100), 100);
	scene_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_it_is_taken),
		cmocka_unit_test(test_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
