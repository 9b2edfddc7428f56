/*
 * trace/test_trace.c - counters, sinks, the ring, and the kernel's own print formats.
 *
 * Proves that counting never stops, that a ring keeps the newest whole events whatever their size
 * (against a plain array), and that every event of readahead.md section 7 prints what the kernel's
 * printf format prints.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/prng.h"
#include "trace/format.h"
#include "trace/ring.h"

static u64 clock_ps;

static struct trace *fresh_trace(void)
{
	static struct trace t;

	clock_ps = 0;
	trace_init(&t, &clock_ps);
	return &t;
}

/* ---- counters and sinks ---- */

struct listener {
	struct trace_sink sink;
	unsigned int heard, *turn, turn_seen;
	struct trace_event last;
};

static void listen(struct trace_sink *sink, const struct trace_event *ev)
{
	struct listener *l = container_of(sink, struct listener, sink);

	l->heard++;
	l->last = *ev;
	if (l->turn)
		l->turn_seen = ++*l->turn;
}

static void test_counters_without_sinks(void **state)
{
	struct trace *t = fresh_trace();
	const struct trace_event two = {.id = EV_fl_window, .order = 0, .index = 5};

	for (unsigned int i = 0; i < 1000; i++)
		trace_event(t, EV_fl_folio_alloc, i % 10, 0, 0, 0, 0);
	trace_event2(t, &two);
	for (unsigned int o = 0; o < 10; o++)
		assert_int_equal(t->count[EV_fl_folio_alloc][o], 100);
	assert_int_equal(trace_total(t, EV_fl_folio_alloc), 1000);
	assert_int_equal(trace_total(t, EV_fl_window), 1);
	assert_int_equal(trace_total(t, EV_mm_lru_activate), 0);
}

static void test_sinks(void **state)
{
	struct trace *t = fresh_trace();
	unsigned int turn = 0;
	struct listener l[3];

	memset(l, 0, sizeof(l));
	for (unsigned int i = 0; i < 3; i++) {
		l[i].sink.event = listen;
		l[i].turn = &turn;
		trace_add_sink(t, &l[i].sink);
	}
	clock_ps = 1234567;
	trace_event(t, EV_fl_mark_hit, 3, 12, 77, 1, 2);
	/* Oldest first; all get the same event with the virtual time in whole ns. */
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(l[i].turn_seen, i + 1);
		assert_int_equal(l[i].last.ns, 1234);
		assert_int_equal(l[i].last.id, EV_fl_mark_hit);
		assert_int_equal(l[i].last.order, 3);
		assert_int_equal(l[i].last.ino, 12);
		assert_int_equal(l[i].last.index, 77);
		assert_int_equal(l[i].last.a, 1);
		assert_int_equal(l[i].last.b, 2);
	}
	trace_remove_sink(t, &l[1].sink);
	trace_remove_sink(t, &l[1].sink); /* not there: nothing happens */
	trace_event(t, EV_fl_mark_hit, 3, 12, 78, 0, 0);
	assert_int_equal(l[0].heard, 2);
	assert_int_equal(l[1].heard, 1);
	assert_int_equal(l[2].heard, 2);
	trace_remove_sink(t, &l[0].sink);
	trace_remove_sink(t, &l[2].sink);
	trace_event(t, EV_fl_mark_hit, 3, 12, 79, 0, 0);
	assert_int_equal(l[0].heard + l[1].heard + l[2].heard, 5);
	assert_int_equal(trace_total(t, EV_fl_mark_hit), 3);
}

static void test_names(void **state)
{
	for (unsigned int i = 0; i < EV_NR; i++) {
		const struct trace_event_info *info = trace_event_info(i);

		assert_int_equal(trace_event_by_name(info->name), i);
		assert_in_range(info->slots, 1, 2);
	}
	assert_null(trace_event_info(EV_NR));
	assert_null(trace_event_info(EV_CONTINUATION));
	assert_int_equal(trace_event_by_name("page_cache_sync"), -ENOENT);
	assert_string_equal(trace_rule_name(RULE_ADJACENT), "ADJACENT");
	assert_string_equal(trace_rule_text(RULE_NR), "");
}

/* ---- the ring ---- */

static void test_ring_sizes(void **state)
{
	struct trace_ring r;

	assert_int_equal(trace_ring_init(&r, 5), 0);
	assert_int_equal(r.slots, 8);
	trace_ring_fini(&r);
	assert_int_equal(trace_ring_init(&r, 0), 0);
	assert_int_equal(r.slots, 2);
	trace_ring_fini(&r);
	assert_int_equal(trace_ring_init(&r, (1ULL << 32) + 1), -EINVAL);
	trace_ring_fini(&r); /* harmless after a failure */
}

/* What the ring should hold, the obvious way. */
struct model {
	struct trace_event events[4096];
	size_t first, nr;
	u64 slots, used, dropped;
};

static unsigned int slots_of(const struct trace_event *ev)
{
	return trace_event_info(ev->id)->slots;
}

static void model_add(struct model *m, const struct trace_event *ev)
{
	while (m->used + slots_of(ev) > m->slots) {
		m->used -= slots_of(&m->events[m->first++]);
		m->dropped++;
	}
	m->events[m->nr++] = *ev;
	m->used += slots_of(ev);
}

static void expect_same(const struct trace_ring *r, const struct model *m)
{
	struct trace_ring_iter it;
	struct trace_event ev;
	size_t i = m->first;

	assert_int_equal(r->dropped, m->dropped);
	assert_int_equal(r->head - r->tail, m->used);
	for (trace_ring_begin(r, &it); trace_ring_next(&it, &ev); i++) {
		assert_true(i < m->nr);
		assert_memory_equal(&ev, &m->events[i], sizeof(ev));
	}
	assert_int_equal(i, m->nr);
}

static struct trace_event random_event(struct prng *p, unsigned int nr)
{
	struct trace_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.ns = nr;
	ev.id = prng_below(p, 2) ? EV_page_cache_sync_ra : EV_fl_mark_hit;
	ev.order = prng_below(p, 10);
	ev.ino = prng_u64(p);
	ev.index = prng_u64(p);
	ev.a = prng_u64(p);
	ev.b = prng_u64(p);
	if (slots_of(&ev) == 2) {
		ev.c = prng_u64(p);
		ev.d = prng_u64(p);
		ev.e = prng_u64(p);
		ev.f = prng_u64(p);
	}
	return ev;
}

/* Proves overwriting: whole events go, the oldest first, and what is left reads back complete. */
static void test_ring_overwrites(void **state)
{
	for (u64 slots = 2; slots <= 256; slots *= 2) {
		struct trace *t = fresh_trace();
		static struct model m;
		struct trace_ring r;
		struct prng p;

		memset(&m, 0, sizeof(m));
		m.slots = slots;
		prng_seed(&p, slots);
		assert_int_equal(trace_ring_init(&r, slots), 0);
		trace_add_sink(t, &r.sink);
		for (unsigned int i = 0; i < 1000; i++) {
			struct trace_event ev = random_event(&p, i);

			clock_ps = i * 1000ULL;
			trace_event2(t, &ev);
			model_add(&m, &ev);
			if (i < 40 || i % 50 == 0)
				expect_same(&r, &m);
		}
		expect_same(&r, &m);
		trace_ring_reset(&r);
		assert_int_equal(r.dropped, 0);
		m.first = m.nr;
		m.used = m.dropped = 0;
		expect_same(&r, &m);
		trace_remove_sink(t, &r.sink);
		trace_ring_fini(&r);
	}
}

/* ---- the kernel's texts ---- */

#define DEV_MAJOR 259
#define DEV_MINOR 3

static void expect_text(const struct trace_event *ev, unsigned int page_shift, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void expect_text(const struct trace_event *ev, unsigned int page_shift, const char *fmt, ...)
{
	const struct trace_format format = {
		.page_shift = page_shift, .major = DEV_MAJOR, .minor = DEV_MINOR};
	char want[300], got[300];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	len = trace_format_event(&format, ev, got, sizeof(got));
	assert_string_equal(got, want);
	assert_int_equal(len, strlen(want));
}

/* include/trace/events/filemap.h */
static void test_filemap_texts(void **state)
{
	struct trace_event ev = {.id = EV_mm_filemap_add_to_page_cache,
				 .ino = 0xbeef,
				 .order = 2,
				 .index = 1UL << 33,
				 .a = 0x1a2b3c};
	const char *add = "dev %d:%d ino %lx pfn=0x%lx ofs=%lu order=%u";

	expect_text(&ev, 12, add, DEV_MAJOR, DEV_MINOR, 0xbeefUL, 0x1a2b3cUL, 1UL << 45, 2);
	ev.id = EV_mm_filemap_delete_from_page_cache;
	expect_text(&ev, 16, add, DEV_MAJOR, DEV_MINOR, 0xbeefUL, 0x1a2b3cUL, 1UL << 49, 2);
	ev.id = EV_mm_filemap_get_pages;
	ev.index = 3;
	ev.c = 6;
	expect_text(&ev, 12, "dev=%d:%d ino=%lx ofs=%lld-%lld", DEV_MAJOR, DEV_MINOR, 0xbeefUL,
		    3 * 4096LL, 7 * 4096LL - 1);
	ev.id = EV_mm_filemap_map_pages;
	expect_text(&ev, 14, "dev=%d:%d ino=%lx ofs=%lld-%lld", DEV_MAJOR, DEV_MINOR, 0xbeefUL,
		    3 * 16384LL, 7 * 16384LL - 1);
	ev.id = EV_mm_filemap_fault;
	expect_text(&ev, 12, "dev=%d:%d ino=%lx ofs=%lld", DEV_MAJOR, DEV_MINOR, 0xbeefUL, 12288LL);
}

/* include/trace/events/readahead.h */
static void test_readahead_texts(void **state)
{
	const char *call =
		"dev=%d:%d ino=%lx index=%lu req_count=%lu order=%u size=%u async_size=%u "
		"ra_pages=%u mmap_miss=%u prev_pos=%lld";
	struct trace_event ev = {.id = EV_page_cache_sync_ra,
				 .ino = 0x8f,
				 .index = 1000,
				 .a = 16,
				 .order = 4,
				 .b = 32,
				 .e = 7,
				 .f = 64,
				 .d = 99,
				 .c = -1ULL};

	expect_text(&ev, 12, call, DEV_MAJOR, DEV_MINOR, 0x8fUL, 1000UL, 16UL, 4, 32, 7, 64, 99,
		    -1LL);
	ev.id = EV_page_cache_async_ra;
	ev.c = 1LL << 40;
	expect_text(&ev, 12, call, DEV_MAJOR, DEV_MINOR, 0x8fUL, 1000UL, 16UL, 4, 32, 7, 64, 99,
		    1LL << 40);
	ev.id = EV_page_cache_ra_order;
	expect_text(&ev, 12,
		    "dev=%d:%d ino=%lx index=%lu order=%u size=%u async_size=%u ra_pages=%u",
		    DEV_MAJOR, DEV_MINOR, 0x8fUL, 1000UL, 4, 32, 7, 64);
	ev.id = EV_page_cache_ra_unbounded;
	ev.c = 32;
	ev.d = 8;
	expect_text(&ev, 12, "dev=%d:%d ino=%lx index=%lu nr_to_read=%lu lookahead_size=%lu",
		    DEV_MAJOR, DEV_MINOR, 0x8fUL, 1000UL, 32UL, 8UL);
}

/* Proves that a short buffer cuts the text and is terminated, whatever its size. */
static void test_short_buffers(void **state)
{
	const struct trace_format format = {.page_shift = 12};
	const struct trace_event ev = {.id = EV_page_cache_ra_order, .index = 123456};
	char whole[200], buf[200];
	size_t len = trace_format_event(&format, &ev, whole, sizeof(whole));

	for (size_t size = 1; size <= len + 1; size++) {
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(trace_format_event(&format, &ev, buf, size), size - 1);
		assert_memory_equal(buf, whole, size - 1);
		assert_int_equal(buf[size - 1], 0);
		assert_int_equal(buf[size], 'x');
	}
	assert_int_equal(trace_format_event(&format, &ev, buf, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_without_sinks),
		cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ring_sizes),
		cmocka_unit_test(test_ring_overwrites),
		cmocka_unit_test(test_filemap_texts),
		cmocka_unit_test(test_readahead_texts),
		cmocka_unit_test(test_short_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
