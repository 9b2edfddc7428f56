/*
 * What the views show of the program behind a recording: calls, source, values, and breakpoints on
 * functions and lines. The recording is of another build of the program, so all of it comes from
 * playing it once more.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/inspect.h"
#include "view/tui/internal.h"

static struct recording_info info;
static struct recording_result result;
static struct tape tape;
static struct inspector inspector;

static int record(void **state)
{
	const struct recording_range all = {.to = ~0ull};
	struct fl_error err = {0};

	if (system("\"$FOLIOLAB_O2\" run -e 'read 4k 60' --trace t >out"))
		return -1;
	if (recording_load("t", &all, &info, &tape, &result, &err))
		return -1;
	inspector_init(&inspector, &tape, &info, 0, "t");
	return 0;
}

static int clean(void **state)
{
	inspector_fini(&inspector);
	tape_fini(&tape);
	recording_info_fini(&info);
	return 0;
}

/* The first event of a kind from @from on. */
static u64 find(enum trace_event_id id, u64 from)
{
	while (from < tape.events && tape_record(&tape, from)->id != id)
		from++;
	assert_true(from < tape.events);
	return from;
}

static bool calls_have(u64 nr, const char *function)
{
	const struct inspect_frame *f;
	const char *why;
	int n = inspector.in.frames(&inspector.in, nr, &f, &why);

	if (!n)
		fail_msg("event %llu: %s", (unsigned long long)nr, why);
	for (int i = 0; i < n; i++)
		if (!strcmp(f[i].function, function))
			return true;
	return false;
}

static void events_have_the_calls_that_raised_them(void **state)
{
	assert_true(calls_have(find(EV_page_cache_ra_order, 0), "page_cache_ra_order"));
	assert_true(calls_have(find(EV_page_cache_ra_order, 0), "filemap_read"));
	assert_true(calls_have(find(EV_page_cache_async_ra, 0), "page_cache_async_ra"));
	assert_true(calls_have(find(EV_mm_filemap_add_to_page_cache, 0), "filemap_add_folio"));
	assert_false(calls_have(find(EV_page_cache_sync_ra, 0), "page_cache_async_ra"));
}

static void the_line_of_a_call_is_in_the_source(void **state)
{
	const struct inspect_frame *f;
	const char *why, *line;
	int n = inspector.in.frames(&inspector.in, find(EV_page_cache_ra_order, 0), &f, &why);
	char here[400];
	bool seen = false;

	/* Where the paths of the source begin. */
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(getenv("FL_ROOT")), 0);
	for (int i = 1; i < n; i++) {
		if (strcmp(f[i].function, "filemap_read"))
			continue;
		line = inspector.in.source(&inspector.in, &f[i], f[i].line);
		assert_non_null(line);
		seen = strstr(line, "filemap_get_pages") != NULL;
	}
	assert_int_equal(chdir(here), 0);
	assert_true(seen);
	assert_null(inspector.in.source(&inspector.in, &f[0], 1000000));
}

static const char *value_of(u64 nr, const char *name)
{
	const struct inspect_value *v;
	const char *why;
	int n = inspector.in.values(&inspector.in, nr, &v, &why);

	if (!n)
		fail_msg("%s", why);
	for (int i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return v[i].value;
	fail_msg("no %s", name);
	return "";
}

static void values_are_those_of_the_moment(void **state)
{
	struct trace_event ev;
	const struct inspect_value *v;
	const char *why;

	for (u64 nr = find(EV_fl_window, 0); nr < tape.events - 1;) {
		tape_get(&tape, nr, &ev);
		assert_int_equal(strtoull(value_of(nr + 1, "start"), NULL, 10), ev.index);
		assert_int_equal(strtoull(value_of(nr + 1, "size"), NULL, 10), ev.a);
		for (nr++; nr < tape.events - 1 && tape_record(&tape, nr)->id != EV_fl_window;)
			nr++;
	}
	inspector.in.watch(&inspector.in, "inode.i_size");
	assert_string_equal(inspector.in.watched(&inspector.in), "inode.i_size");
	assert_string_equal(value_of(3, "i_size"), "16777216");
	inspector.in.watch(&inspector.in, "folio[4000]");
	assert_int_equal(inspector.in.values(&inspector.in, 3, &v, &why), 0);
	assert_non_null(strstr(why, "page 4000 is not in the cache"));
	inspector.in.watch(&inspector.in, "file_ra_state");
}

/* ---- in the view ---- */

static const struct tui_machine machine = {.tape = &tape, .info = &info, .inspect = &inspector.in};
static const struct tui_options options;

static void show(struct tui *t)
{
	struct fl_error err = {0};

	assert_int_equal(tui_init(t, &machine, 1, &options, &err), 0);
	assert_int_equal(canvas_resize(&t->canvas, 120, 40), 0);
}

static u64 position(const struct tui *t)
{
	return lead_scene(t)->pos;
}

/* Run from the beginning to the breakpoint @text; the number of the event it stops at. */
static u64 run_to(const char *text)
{
	static struct tui t;
	u64 pos;

	show(&t);
	condition_parse(&t.breaks[t.nr_breaks++], text);
	while (tui_play(&t, 100) && position(&t) < tape.events)
		;
	pos = position(&t);
	tui_fini(&t);
	return pos - 1;
}

static void breakpoints_on_functions_and_lines(void **state)
{
	const struct inspect_frame *f;
	const char *why;
	char place[100];
	u64 nr = run_to("in page_cache_async_ra");

	/* Before it no event was raised in there. */
	assert_true(calls_have(nr, "page_cache_async_ra"));
	for (u64 i = 0; i < nr; i++)
		assert_false(calls_have(i, "page_cache_async_ra"));
	assert_int_equal(nr, find(EV_page_cache_async_ra, 0));

	nr = find(EV_mm_filemap_add_to_page_cache, 5);
	assert_true(inspector.in.frames(&inspector.in, nr, &f, &why) > 0);
	snprintf(place, sizeof(place), "in %s:%u", strrchr(f[0].file, '/') + 1, f[0].line);
	assert_true(run_to(place) <= nr);
	assert_int_equal(run_to("in no_such_function"), tape.events - 1);
	assert_int_equal(run_to("mm_filemap_add in page_cache_async_ra"),
			 find(EV_mm_filemap_add_to_page_cache, find(EV_page_cache_async_ra, 0)));
}

static char *drawn(struct tui *t)
{
	static char text[1 << 16];
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	tui_draw(t);
	canvas_dump(&t->canvas, f, true);
	fclose(f);
	return text;
}

static void panes_show_them(void **state)
{
	static struct tui t;
	u64 nr = find(EV_fl_window, 20);

	show(&t);
	t.group = GROUP_SOURCE;
	assert_non_null(strstr(drawn(&t), "before the first event"));
	tui_goto(&t, find(EV_page_cache_ra_order, 0) + 1);
	assert_non_null(strstr(drawn(&t), "page_cache_ra_order  engine/mm/readahead.c:"));
	t.group = GROUP_STRUCT;
	tui_goto(&t, nr);
	assert_non_null(strstr(drawn(&t), " async_size"));
	assert_null(strstr(drawn(&t), "*start"));
	tui_goto(&t, nr + 2);
	assert_non_null(strstr(drawn(&t), "*start"));
	assert_non_null(strstr(drawn(&t), " ra_pages"));
	tui_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_have_the_calls_that_raised_them),
		cmocka_unit_test(the_line_of_a_call_is_in_the_source),
		cmocka_unit_test(values_are_those_of_the_moment),
		cmocka_unit_test(breakpoints_on_functions_and_lines),
		cmocka_unit_test(panes_show_them),
	};

	return cmocka_run_group_tests(tests, record, clean);
}
