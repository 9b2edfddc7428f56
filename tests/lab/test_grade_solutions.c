/*
 * Grading from C: the instructors' solutions get full marks in every lab, for several students;
 * the hand-outs get nothing; texts of strangers are made fit to print.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/grade.h"
#include "lab/lab_find.h"
#include "lab/textfile.h"
#include "lib/printable.h"

static void must(int ret, const struct fl_error *err)
{
	if (ret)
		fail_msg("%s:%u: %s", err->file, err->line, err->text);
}

/* ---- a solution becomes a student's answers.lua ---- */

static int push_env(lua_State *L)
{
	lab_lua_push_env(L);
	lua_newtable(L);
	lua_setfield(L, -2, "computed");
	return 1;
}

/* Leaves the solution's table of answers on the stack. */
static void load_solution(struct lab *lab, const char *path)
{
	struct fl_error err = {0};

	lua_pushcfunction(lab->ll->L, push_env);
	must(lab_lua_call(lab->ll, 0, 1, &err), &err);
	must(lab_lua_load_file(lab->ll, path, -1, &err), &err);
	must(lab_lua_call(lab->ll, 0, 1, &err), &err);
	lua_getfield(lab->ll->L, -1, "solution");
	assert_true(lua_istable(lab->ll->L, -1));
}

static void write_quoted(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		if (*text == '\n')
			fputs("\\n", f);
		else
			fprintf(f, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
	fputc('"', f);
}

static void write_workload(FILE *f, struct lab *lab, const char *id)
{
	lua_State *L = lab->ll->L;
	struct fl_error err = {0};

	lua_getfield(L, -1, id);
	if (lua_isfunction(L, -1)) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, lab->s_ref);
		must(lab_lua_call(lab->ll, 1, 1, &err), &err);
	}
	write_quoted(f, lua_tostring(L, -1));
	lua_pop(L, 1);
}

static void write_answer(FILE *f, struct lab *lab, const struct lab_step *step,
			 const struct lab_question *q)
{
	struct lab_options o = {.nr = 0};
	struct fl_error err = {0};
	struct lab_value v;
	char text[800];

	fprintf(f, "\t[\"%s\"] = ", q->id);
	if (q->kind == LAB_FUNC) {
		fprintf(f, "solution[\"%s\"]", q->id);
	} else if (q->kind == LAB_WORKLOAD) {
		write_workload(f, lab, q->id);
	} else {
		must(lab_answer(lab, step, q, &v, &err), &err);
		must(lab_options_get(lab, step, q, &o, &err), &err);
		lab_value_format(q, &v, &o, text, sizeof(text));
		lab_options_free(&o);
		write_quoted(f, text);
	}
	fputs(",\n", f);
}

static void write_step(FILE *f, struct lab *lab, const struct lab_step *step)
{
	struct fl_error err = {0};

	must(lab_start(lab, step, &err), &err);
	for (int predict = 1; predict >= 0; predict--) {
		for (unsigned int i = 0; i < step->nr_questions; i++)
			if (step->questions[i].predict == predict)
				write_answer(f, lab, step, &step->questions[i]);
		if (predict)
			must(lab_run(lab, step, NULL, &err), &err);
	}
}

static void write_answers(const char *dir, const char *student, const char *to)
{
	char path[LAB_PATH], *text;
	struct fl_error err = {0};
	struct lab *lab;
	size_t len;
	FILE *f = fopen(to, "w");

	assert_non_null(f);
	must(lab_find_solution(dir, path, &err), &err);
	must(textfile_read(path, 1 << 20, &text, &len, &err), &err);
	must(lab_open(dir, student, &lab, &err), &err);
	load_solution(lab, path);
	fprintf(f,
		"local computed = {}\nlocal solution = (function()\n%s\nend)().solution\n"
		"return {\n\tstudent = \"%s\",\n",
		text, student);
	for (unsigned int i = 0; i < lab->nr_steps; i++)
		write_step(f, lab, &lab->steps[i]);
	fputs("}\n", f);
	assert_int_equal(fclose(f), 0);
	lab_close(lab);
	free(text);
}

/* ---- grading ---- */

static void check_lab(const char *dir)
{
	char path[LAB_PATH], name[32];
	struct fl_error err = {0};
	struct grade *g;

	must(grade_open(dir, &g, &err), &err);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "student-%d", i);
		snprintf(path, sizeof(path), "%s.lua", name);
		write_answers(dir, name, path);
		must(grade_add(g, path, NULL, &err), &err);
	}
	assert_true(lab_join(path, dir, "answers.lua"));
	must(grade_add(g, path, "ada", &err), &err);
	must(grade_run(g, 2, &err), &err);
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int i = 0; i < g->nr_items; i++)
			if (!g->results[n].verdicts[i].right)
				print_message("%s, %s: %s\n", g->results[n].student,
					      g->items[i].q->id, g->results[n].verdicts[i].why);
		assert_true(g->results[n].score == g->max);
		assert_int_equal(g->results[n].seed, lab_seed(g->results[n].student));
	}
	assert_true(g->results[4].score == 0);
	assert_string_equal(g->results[4].student, "ada");
	grade_close(g);
}

static void solutions_get_full_marks_and_hand_outs_none(void **state)
{
	char root[LAB_PATH], dir[LAB_PATH];
	struct fl_error err = {0};
	struct lab_list all;

	snprintf(root, sizeof(root), "%s/labs", getenv("FL_ROOT"));
	must(lab_find_all(root, &all, &err), &err);
	assert_true(all.nr >= 4);
	for (unsigned int i = 0; i < all.nr; i++) {
		assert_true(lab_join(dir, root, all.names[i]));
		check_lab(dir);
	}
}

static void cleaned(const char *from, const char *to)
{
	char text[100];

	snprintf(text, sizeof(text), "%s", from);
	make_printable(text);
	assert_string_equal(text, to);
}

static void texts_are_made_fit_to_print(void **state)
{
	cleaned("plain", "plain");
	cleaned("ein Stra\xc3\x9f"
		"e \xe2\x82\xac \xf0\x9f\x98\x80",
		"ein Stra\xc3\x9f"
		"e \xe2\x82\xac \xf0\x9f\x98\x80");
	cleaned("a\nScore: 5/5\r\x1b[2J", "a Score: 5/5??[2J");
	cleaned("\xff\xc0\x80\xe2\x82", "?????");
	cleaned("\xc2\x9b"
		"x\xe2\x80\xae"
		"y\xef\xbf\xbe\xed\xa0\x80\xf4\x90\x80\x80",
		"?x?y????????");
}

static void no_questions_are_an_error(void **state)
{
	struct fl_error err = {0};
	struct grade *g;
	FILE *f;

	mkdir("empty", 0777);
	f = fopen("empty/lab.lua", "w");
	assert_non_null(f);
	fputs("lab { title = 't', summary = 's', minutes = 1, steps = { step { id = 'a', title = "
	      "'t', "
	      "brief = 'b' } } }",
	      f);
	fclose(f);
	assert_int_equal(grade_open("empty", &g, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no questions"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_made_fit_to_print),
		cmocka_unit_test(no_questions_are_an_error),
		cmocka_unit_test(solutions_get_full_marks_and_hand_outs_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
