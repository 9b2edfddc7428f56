/*
 * view/test_tui.c - the terminal view without a terminal.
 *
 * Proves that no key has two meanings and every one has help; that a step forward and back
 * returns to the identical picture; that thousands of random commands, typed lines and clicks at
 * any size from 1x1 up neither crash nor draw outside; and that ASCII pictures are ASCII.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/prng.h"
#include "view/tui/internal.h"
#include "view/views.h"

static const struct tui_options options;

static void open_view(struct tui *t, unsigned int nr)
{
	assert_int_equal(tui_init(t, views_machines(), nr, &options, NULL), 0);
	assert_int_equal(canvas_resize(&t->canvas, 80, 24), 0);
	tui_draw(t);
}

static char *picture(struct tui *t, bool utf8)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	tui_draw(t);
	canvas_dump(&t->canvas, f, utf8);
	fclose(f);
	return text;
}

/* ---- keys ---- */

static void test_every_key_means_one_thing(void **state)
{
	for (int a = 0; a < CMD_NR; a++) {
		const struct tui_key *key = tui_key(a);

		assert_true(key->shown[0] && key->help[0]);
		assert_int_equal(tui_command_of(key->key), a);
		if (key->other)
			assert_int_equal(tui_command_of(key->other), a);
		assert_true(!key->hint == !key->label[0] || a == CMD_COMMAND);
	}
	assert_int_equal(tui_command_of('Z'), CMD_NONE);
}

/* ---- there and back ---- */

static void test_back_is_the_same_picture(void **state)
{
	static const int sizes[][2] = {{40, 10}, {80, 24}, {120, 40}, {200, 60}};
	struct tui t;

	for (unsigned int nr = 1; nr <= 2; nr++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			open_view(&t, nr);
			canvas_resize(&t.canvas, sizes[i][0], sizes[i][1]);
			tui_draw(&t);
			for (u64 at = 1; at < views_tape(0)->events; at += 37) {
				char *before, *after;

				tui_goto(&t, at);
				before = picture(&t, true);
				for (int n = 0; n < 5; n++)
					tui_do(&t, CMD_STEP);
				for (int n = 0; n < 5; n++)
					tui_do(&t, CMD_BACK);
				after = picture(&t, true);
				if (at + 5 < views_tape(0)->events)
					assert_string_equal(before, after);
				free(before);
				free(after);
			}
			tui_fini(&t);
		}
}

/* ---- anything at any size ---- */

static const char *const lines[] = {
	"",
	"0",
	"120",
	"c12",
	"999999999",
	"page 5",
	"page 3-9 order 2",
	"fl_window",
	"zzz",
	"break page 20",
	"theme light",
	"find add",
	"filter order",
	"filter",
	"quitt",
	"goto 77",
	"\303\244\303\266",
	"order",
	"page",
	"12x",
	"theme nothing",
	"zoom",
};

static void type(struct tui *t, const char *text)
{
	for (; *text; text++)
		tui_prompt_key(t, (u8)*text);
	tui_prompt_key(t, TERM_ENTER);
}

static void do_something(struct tui *t, struct prng *p)
{
	struct term_mouse mouse = {prng_below(p, t->canvas.width), prng_below(p, t->canvas.height)};
	enum tui_command cmd = prng_below(p, CMD_NR);

	if (t->mode == MODE_PROMPT)
		type(t, lines[prng_below(p, ARRAY_SIZE(lines))]);
	else if (prng_below(p, 10) == 0)
		tui_click(t, &mouse);
	else if (cmd != CMD_EXPORT && cmd != CMD_SVG)
		tui_do(t, cmd);
	t->scroll = prng_below(p, 60);
	if (t->playing || tui_running(t))
		tui_advance(t, prng_below(p, 100));
	t->quit = false;
}

static void test_random_walks(void **state)
{
	struct prng p;
	struct tui t;

	for (unsigned int nr = 1; nr <= 2; nr++) {
		prng_seed(&p, nr);
		open_view(&t, nr);
		for (unsigned long i = 0; i < soak_count(50000); i++) {
			if (prng_below(&p, 20) == 0)
				canvas_resize(&t.canvas, 1 + prng_below(&p, 210),
					      1 + prng_below(&p, 64));
			do_something(&t, &p);
			tui_draw(&t);
		}
		tui_fini(&t);
	}
}

static void test_ascii(void **state)
{
	struct tui t;
	char *text;

	open_view(&t, 1);
	tui_goto(&t, views_tape(0)->events / 2);
	for (int group = 0; group < GROUP_NR; group++) {
		t.group = group;
		text = picture(&t, false);
		for (char *c = text; *c; c++)
			assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
		free(text);
	}
	tui_fini(&t);
}

/* ---- conditions ---- */

static void test_conditions(void **state)
{
	const struct trace_event add = {
		.id = EV_mm_filemap_add_to_page_cache, .ino = 12, .order = 2, .index = 8};
	struct tui_condition c;
	struct tui t;
	static const struct {
		const char *text;
		bool matches;
	} table[] = {
		{"", true},
		{"add", true},
		{"ADD_to", true},
		{"delete", false},
		{"page 11", true},
		{"page 12", false},
		{"page 0-8", true},
		{"page 0-7", false},
		{"order 2", true},
		{"order 3", false},
		{"add order 2 page 9", true},
		{"add ofs=32768", true},
		{"page", false},
	};

	open_view(&t, 1);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		condition_parse(&c, table[i].text);
		if (!strcmp(table[i].text, "page"))
			continue;
		assert_int_equal(condition_matches(&c, tui_lead(&t), 0, &add), table[i].matches);
	}
	tui_fini(&t);
}

/* ---- compare ---- */

static void test_machines_stay_in_step(void **state)
{
	struct tui t;

	open_view(&t, 2);
	for (u64 at = 0; at <= views_tape(0)->events; at += 11) {
		u64 calls;

		tui_goto(&t, at);
		calls = t.machines[0].scene.counts.calls;
		assert_int_equal(t.machines[1].scene.counts.calls, calls);
	}
	tui_do(&t, CMD_MACHINE);
	tui_do(&t, CMD_FIRST);
	tui_do(&t, CMD_CALL);
	assert_int_equal(t.machines[0].scene.counts.calls, 1);
	assert_int_equal(t.machines[1].scene.counts.calls, 1);
	tui_fini(&t);
}

int main(void)
{
	static const char ops[] = "read 4k 60; pread 8m 300k; pwrite 2m 40k; fsync; reopen; "
				  "read 64k 20; fadvise dontneed 0 0; mmap; touch 0 4k 20";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_means_one_thing),
		cmocka_unit_test(test_back_is_the_same_picture),
		cmocka_unit_test(test_random_walks),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_machines_stay_in_step),
	};
	int ret;

	views_record(0, "v6.7", NULL, ops);
	views_record(1, "v6.18", NULL, ops);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	views_end();
	return ret;
}
