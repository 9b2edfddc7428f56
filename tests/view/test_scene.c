/*
 * view/test_scene.c - the scene against the machine, and time travel against a fresh replay.
 *
 * Proves that what events tell is what the machine holds (every folio, its flags, provenance and
 * use, the free lists and LRU counts, on random workloads over kernels and file systems), that a
 * scene moved anywhere by any way, jumps by keyframes included, equals one that was replayed from
 * the start, and that memory stays bounded in a long recording.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lab/run_record.h"
#include "lib/prng.h"
#include "mm/internal.h"
#include "view/scene.h"

struct recorded {
	struct run *run;
	struct recording_info info;
	struct tape tape;
};

static void record(struct recorded *r, const char *kernel, const char *fs, const char *ops,
		   u64 memory)
{
	struct run_config config;
	struct workload w;
	struct fl_error err = {0};

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = memory;
	config.fs = fs;
	config.written = true;
	config.disk = "ram";
	assert_int_equal(workload_parse(&w, "-e", ops, strlen(ops), &err), 0);
	assert_int_equal(run_open(&config, &r->run, &err), 0);
	assert_int_equal(run_recording_info(r->run, &w, &r->info), 0);
	assert_int_equal(tape_init(&r->tape, 1 << 20), 0);
	trace_add_sink(&r->run->machine->trace, &r->tape.sink);
	if (run_workload(r->run, &w, &err))
		fail_msg("%s: %s", ops, err.text);
	lru_add_drain(r->run->machine); /* what waits in a batch is on a list without a cache */
	trace_remove_sink(&r->run->machine->trace, &r->tape.sink);
	assert_int_equal(r->tape.refused, 0);
	workload_fini(&w);
}

static void forget(struct recorded *r)
{
	tape_fini(&r->tape);
	recording_info_fini(&r->info);
	run_close(r->run);
}

/* ---- the machine's truth ---- */

static u32 cell_of(const struct folio *folio, u64 page)
{
	const struct machine *m = folio_machine(folio);
	u8 state = m->page_state[folio->_pfn + (page - folio->index)];
	u32 cell = CELL_PRESENT | folio->_order;

	cell |= (state & PAGE_PROVENANCE_MASK) << CELL_PROVENANCE_SHIFT;
	if (state & PAGE_USED)
		cell |= CELL_USED;
	if (page != folio->index)
		return cell;
	cell |= CELL_HEAD;
	if (folio_test_uptodate(folio))
		cell |= CELL_UPTODATE;
	if (folio_test_dirty(folio))
		cell |= CELL_DIRTY;
	if (folio_test_writeback(folio))
		cell |= CELL_WRITEBACK;
	if (folio_test_readahead(folio))
		cell |= CELL_MARK;
	if (folio_test_lru(folio))
		cell |= (folio_lru_list(folio) + 1) << CELL_LRU_SHIFT;
	return cell;
}

static void compare_pages(const struct recorded *r, const struct scene *s)
{
	const struct scene_file *f = scene_file(s, r->run->inode->i_ino);
	u64 end = (r->run->inode->i_size >> s->page_shift) + 64, cached = 0;

	for (u64 page = 0; page < end; page++) {
		struct folio *folio = filemap_get_folio(r->run->inode->i_mapping, page);
		u32 want = folio ? cell_of(folio, page) : 0, got = f ? scene_cell(f, page) : 0;

		cached += folio != NULL;
		if (folio)
			folio_put(folio);
		if (want != got)
			fail_msg("page %llu: cell %08x, expected %08x", (unsigned long long)page,
				 got, want);
	}
	assert_int_equal(s->sums.pages, cached);
}

static void compare_machine(const struct recorded *r, const struct scene *s)
{
	struct machine *m = r->run->machine;

	compare_pages(r, s);
	for (unsigned int o = 0; o <= m->max_page_order; o++)
		assert_int_equal(s->counts.free[o], hbitmap_count(&m->mm->zone.free_area[o]));
	assert_int_equal(scene_free_pages(s), m->mm->zone.nr_free);
	for (unsigned int l = 0; l < NR_LRU_LISTS; l++)
		if (s->sums.lru[l + 1] != m->mm->lruvec.nr[l])
			fail_msg("list %u: %llu pages, expected %lu", l,
				 (unsigned long long)s->sums.lru[l + 1], m->mm->lruvec.nr[l]);
	assert_int_equal(s->sums.dirty, m->mm->vm.nr_dirty);
	/* Of repeated reads at the end of the file only the first is an event. */
	assert_true(s->counts.calls <= r->run->reads + r->run->writes + r->run->touches);
	assert_int_equal(s->counts.calls, s->counts.latency.count);
}

static const char *const kernels[] = {"v6.1", "v6.7", "ab4443fe3ca6", "v6.12", "v6.18", "v7.3"};
static const char *const filesystems[] = {"xfs", "ext4", "ext4-1k"};

/* A random workload of @nr operations. */
static void random_ops(struct prng *p, char *buf, size_t size, unsigned int nr)
{
	static const char *const simple[] = {
		"fsync",
		"reopen",
		"fd 1",
		"fd 0",
		"fadvise random 0 0",
		"fadvise normal 0 0",
		"fadvise dontneed 0 0",
		"fadvise willneed 1m 512k",
		"mmap",
		"munmap",
	};
	size_t len = 0;

	for (unsigned int i = 0; i < nr && len + 100 < size; i++) {
		u64 off = prng_below(p, 4096) << 12, bytes = 1 + prng_below(p, 40000);

		switch (prng_below(p, 8)) {
		case 0:
			len += sprintf(buf + len, "%s\n", simple[prng_below(p, 10)]);
			break;
		case 1:
			len += sprintf(buf + len, "pread %llu %llu\n", (unsigned long long)off,
				       (unsigned long long)bytes);
			break;
		case 2:
			len += sprintf(buf + len, "pwrite %llu %llu 3\n", (unsigned long long)off,
				       (unsigned long long)bytes);
			break;
		case 3:
			len += sprintf(buf + len, "punch %llu %llu\n", (unsigned long long)off,
				       (unsigned long long)bytes);
			break;
		case 4:
			len += sprintf(buf + len, "seek %llu\n", (unsigned long long)off);
			break;
		default:
			len += sprintf(buf + len, "read %llu %llu\n", (unsigned long long)bytes,
				       (unsigned long long)(1 + prng_below(p, 20)));
		}
	}
}

static void test_scene_is_the_machine(void **state)
{
	static char ops[1 << 16];
	struct prng p;

	for (unsigned long seed = 0; seed < soak_count(200); seed++) {
		struct recorded r;
		struct scene s;

		prng_seed(&p, seed);
		random_ops(&p, ops, sizeof(ops), 60);
		record(&r, kernels[seed % 6], filesystems[seed % 3], ops,
		       seed % 4 ? 64ull << 30 : 8 << 20);
		assert_int_equal(scene_init(&s, &r.tape, &r.info), 0);
		assert_int_equal(scene_goto(&s, ~0ull), 0);
		assert_int_equal(s.pos, r.tape.events);
		compare_machine(&r, &s);
		scene_fini(&s);
		forget(&r);
	}
}

/* ---- time travel ---- */

static void compare_scenes(const struct scene *a, const struct scene *b)
{
	assert_int_equal(a->pos, b->pos);
	assert_memory_equal(&a->state, &b->state, sizeof(a->state));
	assert_memory_equal(&a->sums, &b->sums, sizeof(a->sums));
	assert_memory_equal(&a->counts.events, &b->counts.events, sizeof(a->counts.events));
	assert_memory_equal(&a->counts.free, &b->counts.free, sizeof(a->counts.free));
	assert_memory_equal(&a->counts.latency.counts, &b->counts.latency.counts,
			    sizeof(a->counts.latency.counts));
	assert_int_equal(a->counts.latency.sum, b->counts.latency.sum);
	for (unsigned int i = 0; i < b->nr_files; i++) {
		const struct scene_file *f = scene_file(a, b->files[i].ino);

		for (u64 page = 0; f && page < b->files[i].end; page++)
			assert_int_equal(scene_cell(f, page), scene_cell(&b->files[i], page));
	}
}

static void test_any_way_is_a_fresh_replay(void **state)
{
	static char ops[1 << 16];

	for (unsigned long seed = 0; seed < soak_count(60); seed++) {
		struct recorded r;
		struct scene s, fresh;
		struct prng p;

		prng_seed(&p, 1000 + seed);
		random_ops(&p, ops, sizeof(ops), 40);
		record(&r, kernels[seed % 6], filesystems[seed % 3], ops,
		       seed % 3 ? 64ull << 30 : 8 << 20);
		assert_int_equal(scene_init(&s, &r.tape, &r.info), 0);
		for (unsigned int i = 0; i < 12; i++) {
			u64 to = prng_below(&p, r.tape.events + 1);

			assert_int_equal(scene_goto(&s, to), 0);
			for (u64 n = prng_below(&p, 50); n && scene_back(&s); n--)
				;
			assert_int_equal(scene_init(&fresh, &r.tape, &r.info), 0);
			assert_int_equal(scene_goto(&fresh, s.pos), 0);
			compare_scenes(&s, &fresh);
			scene_fini(&fresh);
		}
		scene_fini(&s);
		forget(&r);
	}
}

static void test_ends(void **state)
{
	struct recorded r;
	struct scene s;
	struct trace_event ev;

	record(&r, "v6.18", "xfs", "read 4k 10", 64ull << 30);
	assert_int_equal(scene_init(&s, &r.tape, &r.info), 0);
	assert_false(scene_back(&s));
	assert_false(scene_event(&s, &ev));
	assert_true(scene_forward(&s));
	assert_true(scene_event(&s, &ev));
	assert_int_equal(ev.id, EV_fl_op);
	assert_int_equal(scene_goto(&s, ~0ull), 0);
	assert_false(scene_forward(&s));
	assert_int_equal(scene_goto(&s, 0), 0);
	assert_int_equal(s.sums.pages, 0);
	assert_int_equal(s.counts.calls, 0);
	scene_fini(&s);
	forget(&r);
}

/* ---- size ---- */

static double ms_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->tv_sec) * 1e3 + (now.tv_nsec - t->tv_nsec) / 1e6;
}

/* Reads of a file over and over: arrivals, windows, reads, departures. */
static void synthetic_event(u64 i, struct trace_event *ev)
{
	u64 page = i / 8 % (1 << 20);

	*ev = (struct trace_event){.ns = i * 100, .ino = 7, .index = page};
	switch (i % 8) {
	case 0:
		ev->id = EV_fl_window;
		ev->a = 32;
		break;
	case 1:
		ev->id = EV_fl_buddy_alloc;
		break;
	case 2:
		ev->id = i / 8 < 1 << 20 ? EV_mm_filemap_add_to_page_cache : EV_fl_mark;
		ev->b = 1;
		break;
	case 3:
		ev->id = EV_mm_lru_insertion;
		ev->b = 2 + (i / (8 << 20) & 1);
		break;
	case 4:
		ev->id = EV_fl_uptodate;
		break;
	case 5:
		ev->id = EV_mm_filemap_get_pages;
		ev->c = page;
		break;
	default:
		ev->id = EV_fl_read;
		ev->index = page << 12;
		ev->a = 4096;
		ev->c = i % 1000;
	}
}

static void fill(struct tape *tape, u64 nr, void (*make)(u64 i, struct trace_event *ev))
{
	struct trace_event ev;

	assert_int_equal(tape_init(tape, nr), 0);
	for (u64 i = 0; i < nr; i++) {
		make(i, &ev);
		tape_add(tape, &ev);
	}
}

static void test_a_long_recording(void **state)
{
	u64 nr = soak_count(10000000), worst_at = 0;
	struct recording_info info = {.page_size = 4096};
	struct scene_span spans[64];
	struct timespec t;
	struct tape tape;
	struct scene s;
	double worst = 0;

	fill(&tape, nr, synthetic_event);
	assert_int_equal(scene_init(&s, &tape, &info), 0);
	clock_gettime(CLOCK_MONOTONIC, &t);
	assert_int_equal(scene_goto(&s, nr), 0);
	print_message("# %llu events forward in %.0f ms, journal and keyframes %llu MB, "
		      "tape %llu MB\n",
		      (unsigned long long)nr, ms_since(&t),
		      (unsigned long long)scene_memory(&s) >> 20,
		      (unsigned long long)tape.slots * 32 >> 20);
	assert_true(scene_memory(&s) + tape.slots * 32 < 1000000000);
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (unsigned int i = 1; i < 100; i++)
		scene_goto(&s, nr / 100 * (i * 37 % 100));
	print_message("# a jump takes %.1f ms in the mean\n", ms_since(&t) / 99);
	scene_goto(&s, nr);
	clock_gettime(CLOCK_MONOTONIC, &t);
	scene_spans(&s.files[0], 0, s.sums.pages / 64 + 1, spans, 64);
	print_message("# %llu folios summed up in %.2f ms\n", (unsigned long long)s.sums.pages,
		      ms_since(&t));
	for (u64 at = nr; at > nr / 100; at -= nr / 100) {
		scene_goto(&s, at);
		clock_gettime(CLOCK_MONOTONIC, &t);
		assert_true(scene_back(&s));
		if (ms_since(&t) > worst) {
			worst = ms_since(&t);
			worst_at = at;
		}
	}
	print_message("# slowest step back %.3f ms, at event %llu\n", worst,
		      (unsigned long long)worst_at);
	scene_goto(&s, 0);
	assert_int_equal(s.sums.pages, 0);
	scene_fini(&s);
	tape_fini(&tape);
}

/* Jumps by keyframe against a scene that walked every event; @most: bytes of keyframes. */
static void check_jumps(u64 most)
{
	const struct recording_info info = {.page_size = 4096};
	const u64 nr = 20ull * SCENE_KEYFRAME_EVERY;
	struct scene s, walked;
	struct tape tape;
	struct prng p;

	prng_seed(&p, 5);
	fill(&tape, nr, synthetic_event);
	assert_int_equal(scene_init(&s, &tape, &info), 0);
	assert_int_equal(scene_init(&walked, &tape, &info), 0);
	s.keyframes->most = most;
	while (scene_look_ahead(&s, 50000))
		;
	assert_true(s.keyframes->bytes <= most);
	assert_int_equal(s.pos, 0);
	assert_null(s.scout);
	for (u64 at = 0; at < nr; at += 1 + prng_below(&p, nr / 15)) {
		while (walked.pos < at)
			assert_true(scene_forward(&walked));
		scene_goto(&s, prng_below(&p, nr + 1));
		scene_goto(&s, at + prng_below(&p, 10));
		while (s.pos > at)
			assert_true(scene_back(&s));
		compare_scenes(&s, &walked);
	}
	scene_fini(&s);
	scene_fini(&walked);
	tape_fini(&tape);
}

static void test_jumps(void **state)
{
	check_jumps(~0ull);
	check_jumps(400000);
}

#define STRIPED_PAGES 2000000ull

/* Pages no two neighbours of which are alike, then a read of all. */
static void striped_event(u64 i, struct trace_event *ev)
{
	*ev = (struct trace_event){.ns = i, .ino = 7, .index = i, .b = 1 + i % 2};
	ev->id = EV_mm_filemap_add_to_page_cache;
	if (i == STRIPED_PAGES) {
		ev->id = EV_fl_read;
		ev->index = 0;
		ev->a = 1u << 31;
	}
}

/* A read that overwrites more than the journal can hold is gone back over all the same. */
static void test_an_event_too_large_to_undo(void **state)
{
	const struct recording_info info = {.page_size = 4096};
	struct tape tape;
	struct scene s;

	fill(&tape, STRIPED_PAGES + 1, striped_event);
	assert_int_equal(scene_init(&s, &tape, &info), 0);
	assert_int_equal(scene_goto(&s, ~0ull), 0);
	assert_int_equal(s.sums.used, (1ull << 31) / 4096);
	assert_true(scene_back(&s));
	assert_int_equal(s.pos, STRIPED_PAGES);
	assert_int_equal(s.sums.used, 0);
	assert_int_equal(s.sums.pages, STRIPED_PAGES);
	assert_true(scene_forward(&s));
	assert_int_equal(s.sums.used, (1ull << 31) / 4096);
	scene_fini(&s);
	tape_fini(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_scene_is_the_machine),
		cmocka_unit_test(test_any_way_is_a_fresh_replay),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_an_event_too_large_to_undo),
		cmocka_unit_test(test_a_long_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
