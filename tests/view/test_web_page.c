/*
 * view/test_web_page.c - the page's scene, in a browser, is the program's.
 *
 * Proves that at sampled events, reached in any order, a page made of a recording has the same
 * folios, counts by order, readahead window and latency histogram as struct scene, and the same end
 * of each window; and that the page of a recording of 100,000 events stays below 1 MB. The first
 * needs chromium and chromedriver.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "view/timeline.h"
#include "view/views.h"
#include "view/web/page.h"

#define STRIDE	 61 /* between two sampled events */
#define SHUFFLE	 7919
#define PAGE_MAX 1000000
#define EVENTS	 100000

static void write_page(const char *path, unsigned int i)
{
	const struct web_page page = {.title = "a recording"};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(web_page_write(views_tape(i), views_info(i), &page, f, NULL), 0);
	assert_int_equal(fclose(f), 0);
}

/* ---- the moments ---- */

static void print_folios(const struct scene *s, FILE *f)
{
	for (u64 page = 0; s->nr_files && page < s->files[0].end;) {
		u64 first;
		u32 head;

		if (!scene_folio(&s->files[0], page, &first, &head)) {
			page++;
			continue;
		}
		fprintf(f, " %" PRIu64 ":%u", first, cell_order(head));
		page = first + (1ull << cell_order(head));
	}
}

static void print_moment(const struct scene *s, FILE *f)
{
	const struct scene_window *w =
		&s->state.window[s->state.last_fd_window % SCENE_DESCRIPTORS];

	fprintf(f, "at %" PRIu64 "\nfolios", s->pos);
	print_folios(s, f);
	fputs("\norders", f);
	for (unsigned int o = 0; o < 16; o++)
		fprintf(f, " %" PRIu64, o < TRACE_ORDERS ? s->sums.folios[o] : 0);
	fputs("\nwindow", f);
	if (w->valid)
		fprintf(f, " %" PRIu64 " %u %u", w->start, w->size, w->async_size);
	fputs("\nlatency", f);
	for (unsigned int b = 0; b < 64; b++)
		if (histogram_log2(&s->counts.latency, b))
			fprintf(f, " %u:%" PRIu64, b, histogram_log2(&s->counts.latency, b));
	fputs("\n", f);
}

/* Readahead windows: the event that chose each and when it had its last byte. */
static void print_ends(const struct tape *tape, FILE *f)
{
	struct timeline line;

	timeline_init(&line, tape, 4096);
	assert_int_equal(timeline_update(&line), 0);
	fputs("ends", f);
	for (size_t i = 0; i < line.nr_windows; i++)
		fprintf(f, " %u:%" PRIu64, line.windows[i].event, line.windows[i].end_ns);
	fputs("\n", f);
	timeline_fini(&line);
}

/* The same in the page's words. */
static const char script[] =
	"const v = window.foliolab, s = v.scene, out = [];\n"
	"for (let i = 0; i * %d <= %" PRIu64 "; i++) {\n"
	"	s.goto(i * %d %% (%" PRIu64 " + 1));\n"
	"	out.push('at ' + s.pos, ['folios', ...s.folios().map((f) => f.join(':'))].join(' "
	"'),\n"
	"		['orders', ...s.orders()].join(' '), ['window', ...(s.window || "
	"[])].join(' '),\n"
	"		['latency', ...[...s.latency].map((n, b) => [b, n]).filter((r) => r[1])\n"
	"			.map((r) => r.join(':'))].join(' '));\n"
	"}\n"
	"out.push(['ends', ...v.windows.map((i, n) => [i, v.head.ends[n]].join(':'))].join(' '));\n"
	"return out.join('\\n');\n";

static void moments(struct scene *s)
{
	FILE *f = fopen("want", "w"), *js = fopen("script.js", "w");
	u64 events = s->tape->events;

	assert_non_null(f);
	assert_non_null(js);
	fprintf(js, script, STRIDE, events, SHUFFLE, events);
	for (u64 i = 0; i * STRIDE <= events; i++) {
		assert_int_equal(scene_goto(s, i * SHUFFLE % (events + 1)), 0);
		print_moment(s, f);
	}
	print_ends(s->tape, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fclose(js), 0);
}

static void test_the_page_has_the_scene(void **state)
{
	struct scene s;
	int status;

	write_page("page.html", 0);
	assert_int_equal(scene_init(&s, views_tape(0), views_info(0)), 0);
	moments(&s);
	scene_fini(&s);
	status = system("bash \"$TESTDATA/view/browse.sh\" page.html script.js >have");
	if (WEXITSTATUS(status) == 77)
		skip_because("no chromium, chromedriver and curl here");
	assert_int_equal(status, 0);
	assert_int_equal(system("diff want have | head -n 20; cmp -s want have"), 0);
}

static void test_a_page_of_a_lab_is_small(void **state)
{
	struct stat st;

	assert_true(views_tape(1)->events >= EVENTS);
	write_page("large.html", 1);
	assert_int_equal(stat("large.html", &st), 0);
	assert_in_range(st.st_size, EVENTS, PAGE_MAX);
}

static int setup(void **state)
{
	views_record(0, "v6.18", "nvme",
		     "read 4k 100; pread 4m 64k; read 16k 40; pwrite 1m 100k; pread 8m 300k; "
		     "fadvise dontneed 0 2m; reopen; read 64k 30; fsync");
	views_record(1, "v6.18", "nvme",
		     "read 4k 4096; reopen; read 1k 16000; reopen; read 512 32000");
	return 0;
}

static int teardown(void **state)
{
	views_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_page_has_the_scene),
		cmocka_unit_test(test_a_page_of_a_lab_is_small),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
