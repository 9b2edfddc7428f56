#include "mm/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"

/* ---- runs ---- */

struct run_config scene_config(const char *kernel)
{
	struct run_config config;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 1ULL << 30;
	config.size = 64 << 20;
	config.io_bytes = 128 << 10;
	return config;
}

struct run *scene_open(const struct run_config *config)
{
	struct fl_error err = {0};
	struct run *run;

	if (run_open(config, &run, &err))
		fail_msg("run_open: %s", err.text);
	return run;
}

void scene_play(struct run *run, const char *ops)
{
	struct fl_error err = {0};
	struct workload w;

	if (workload_parse(&w, "test", ops, strlen(ops), &err))
		fail_msg("'%s': %s", ops, err.text);
	if (run_workload(run, &w, &err))
		fail_msg("'%s' on %s: %s", ops, run->machine->kernel, err.text);
	workload_fini(&w);
}

void scene_pread(struct run *run, s64 off, s64 len)
{
	const struct wl_op op = {.type = WL_PREAD, .off = off, .len = len, .n = 1};
	struct fl_error err = {0};

	if (run_op(run, &op, &err))
		fail_msg("pread %" PRId64 " on %s: %s", off, run->machine->kernel, err.text);
}

void scene_check(struct run *run)
{
	struct fl_error err = {0};

	blk_drain(run->machine);
	if (vm_check_machine(run->machine, &err))
		fail_msg("%s: %s", run->machine->kernel, err.text);
}

void scene_close(struct run *run)
{
	struct mm_state *mm = run->machine->mm;

	scene_check(run);
	truncate_inode_pages_final(run->inode->i_mapping);
	lru_add_drain(run->machine);
	scene_check(run);
	assert_int_equal(mm->live_folios, 0);
	assert_int_equal(mm->live_pages, 0);
	assert_int_equal(mm->zone.nr_free, mm->zone.managed_pages - mm->zone.pinned);
	assert_int_equal(mm->xa_nodes.live, 0);
	run_close(run);
}

/* ---- notation ---- */

static void put(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct notes *n, const char *fmt, ...)
{
	size_t room = sizeof(n->text) - n->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(n->text + n->len, room, fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= room)
		fail_msg("more than %zu bytes of notes", sizeof(n->text));
	n->len += len;
}

/* Write the orders held back: three or more alike are folded. */
static void put_orders(struct notes *n)
{
	unsigned int times = n->count >= 3 ? 1 : n->count;

	for (unsigned int i = 0; i < times; i++) {
		put(n, "%s%u", n->first ? " " : ",", n->order);
		n->first = false;
	}
	if (n->count >= 3)
		put(n, "*%u", n->count);
	n->count = 0;
}

static void put_pages(struct notes *n)
{
	if (n->runs == 1 && n->lo[0] == n->start && n->hi[0] == n->start + n->nr - 1)
		return;
	for (unsigned int i = 0; i < n->runs; i++) {
		put(n, "%s%" PRIu64, i ? "," : ":", n->lo[i]);
		if (n->hi[i] > n->lo[i])
			put(n, "..%" PRIu64, n->hi[i]);
	}
	if (!n->runs)
		put(n, ": nothing");
}

/* Something else begins. */
static void finish_part(struct notes *n)
{
	bool wrote = n->count || !n->first;

	if (n->kind == 'W') {
		put_orders(n);
		if (!wrote)
			put(n, " nothing");
	} else if (n->kind == 'U') {
		put_pages(n);
	}
	n->kind = 0;
}

static void note_call(struct notes *n, char name, const struct trace_event *ev)
{
	finish_part(n);
	if (n->quiet && n->len)
		put(n, " nothing");
	put(n, "%s%c(%" PRIu64 ",%u)", n->len ? " / " : "", name, ev->index, ev->a);
	n->quiet = true;
}

static void note_window(struct notes *n, const struct trace_event *ev)
{
	if (n->bare_u)
		return;
	finish_part(n);
	put(n, "%sW[%" PRIu64 "+%u/%u]", n->len ? " " : "", ev->index, ev->b, ev->e);
	n->kind = 'W';
	n->first = true;
	n->quiet = false;
}

static void note_unbounded(struct notes *n, const struct trace_event *ev)
{
	/* A window that went straight to order 0 had no turn of its own. */
	if (n->kind == 'W' && n->first && !n->count)
		n->kind = 0;
	finish_part(n);
	put(n, "%sU[%" PRIu64 "+%" PRIu64, n->len ? " " : "", ev->index, ev->c);
	put(n, ev->d ? " look %" PRIu64 "]" : "]", ev->d);
	n->kind = 'U';
	n->start = ev->index;
	n->nr = ev->c;
	n->runs = 0;
	n->quiet = false;
}

static void note_page(struct notes *n, u64 index, unsigned int order)
{
	if (n->runs && n->hi[n->runs - 1] + 1 == index) {
		n->hi[n->runs - 1] += 1ULL << order;
		return;
	}
	assert_true(n->runs < ARRAY_SIZE(n->lo));
	n->lo[n->runs] = index;
	n->hi[n->runs++] = index + (1ULL << order) - 1;
}

static void note_added(struct notes *n, const struct trace_event *ev)
{
	if (n->kind == 'U')
		note_page(n, ev->index, ev->order);
	if (n->kind != 'W')
		return;
	if (n->count && n->order != ev->order)
		put_orders(n);
	n->order = ev->order;
	n->count++;
}

static void note_failed(struct notes *n)
{
	if (n->kind != 'W')
		return;
	put_orders(n);
	put(n, "%sEEXIST", n->first ? " " : ",");
	n->first = false;
}

static void notes_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct notes *n = container_of(sink, struct notes, sink);

	switch (ev->id) {
	case EV_page_cache_sync_ra:
		note_call(n, 'S', ev);
		break;
	case EV_page_cache_async_ra:
		note_call(n, 'A', ev);
		break;
	case EV_page_cache_ra_order:
		note_window(n, ev);
		break;
	case EV_page_cache_ra_unbounded:
		note_unbounded(n, ev);
		break;
	case EV_mm_filemap_add_to_page_cache:
		note_added(n, ev);
		break;
	case EV_fl_add_failed:
		note_failed(n);
		break;
	}
}

void notes_begin(struct notes *n, struct run *run)
{
	bool large = mapping_large_folio_support(run->inode->i_mapping);

	memset(n, 0, sizeof(*n));
	n->bare_u = !large;
	n->sink.event = notes_event;
	trace_add_sink(&run->machine->trace, &n->sink);
}

const char *notes_text(struct notes *n)
{
	finish_part(n);
	if (n->quiet && n->len)
		put(n, " nothing");
	n->quiet = false;
	return n->text;
}

void notes_end(struct notes *n, struct run *run)
{
	trace_remove_sink(&run->machine->trace, &n->sink);
}

void notes_expect(struct notes *n, const char *what, const char *expected)
{
	const char *got = notes_text(n);
	size_t len = strlen(expected);

	if (len > 4 && !strcmp(expected + len - 4, " ...")) {
		if (!strncmp(got, expected, len - 4))
			return;
	} else if (!strcmp(got, expected)) {
		return;
	}
	fail_msg("%s\n  expected %s\n  got      %.1500s", what, expected, got);
}

void scene_expect(const struct run_config *config, const char *ops, const char *expected)
{
	struct run *run = scene_open(config);
	struct notes notes;

	notes_begin(&notes, run);
	scene_play(run, ops);
	notes_expect(&notes, config->machine.kernel, expected);
	notes_end(&notes, run);
	scene_close(run);
}

const char *scene_folios(struct run *run, pgoff_t first, pgoff_t last)
{
	static char text[4096];
	size_t len = 0;

	text[0] = 0;
	for (pgoff_t i = first; i <= last;) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		if (!folio) {
			i++;
			continue;
		}
		len += snprintf(text + len, sizeof(text) - len, "%s%lu:%u%s", len ? " " : "",
				folio->index, folio->_order,
				folio_test_readahead(folio) ? "m" : "");
		assert_true(len < sizeof(text));
		i = folio_next_index(folio);
		folio_put(folio);
	}
	return text;
}
