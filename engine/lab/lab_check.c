#include "lab/lab_check.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_remote.h"
#include "lab/textfile.h"

#define TEXT_MAX      (4UL << 20)
#define CHECK_SECONDS 7200
#define CHECK_MIB     8192

/* What is known while one lab is checked. */
struct checker {
	struct lab_check *check;
	const struct lab_check_files *files;
	struct lab *lab;
	int solution_ref, wrong_ref, computed_ref;
};

static void complain(struct checker *c, const struct lab_question *q, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void complain(struct checker *c, const struct lab_question *q, const char *fmt, ...)
{
	FILE *f = c->check->out;
	va_list ap;

	fprintf(f, "%s:%u: question '%s': ", c->lab->path, q->line, q->id);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('\n', f);
	c->check->failures++;
}

/* ---- the solution ---- */

static int push_solution_env(lua_State *L)
{
	lab_lua_push_env(L);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "computed");
	return 2;
}

static int take_part(struct checker *c, const char *field, bool needed, int *ref,
		     struct fl_error *err)
{
	lua_State *L = c->lab->ll->L;

	lua_getfield(L, -1, field);
	if (lua_isnil(L, -1) && !needed) {
		lua_pop(L, 1);
		lua_newtable(L);
	}
	if (!lua_istable(L, -1))
		return fl_error_set(err, -EINVAL, c->files->solution_path, 0,
				    "field '%s' is a %s, expected a table", field,
				    luaL_typename(L, -1));
	*ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return 0;
}

static int load_solution(struct checker *c, struct fl_error *err)
{
	struct lab_lua *ll = c->lab->ll;
	lua_State *L = ll->L;
	int ret;

	lab_lua_set_budget(ll, LAB_LUA_BUDGET);
	lua_pushcfunction(L, push_solution_env);
	ret = lab_lua_call(ll, 0, 2, err);
	if (ret)
		return ret;
	c->computed_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	ret = lab_lua_load_text(ll, c->files->solution_path, c->files->solution,
				c->files->solution_len, -1, err);
	if (!ret)
		ret = lab_lua_call(ll, 0, 1, err);
	if (ret)
		return ret;
	if (!lua_istable(L, -1))
		return fl_error_set(err, -EINVAL, c->files->solution_path, 0,
				    "returns a %s, expected { solution = ..., wrong = ... }",
				    luaL_typename(L, -1));
	ret = take_part(c, "solution", true, &c->solution_ref, err);
	if (!ret)
		ret = take_part(c, "wrong", false, &c->wrong_ref, err);
	lua_settop(L, 0);
	return ret;
}

/* The value on top (popped): computed, a function of s, or plain. */
static int take_value(struct checker *c, const struct lab_step *step, const struct lab_question *q,
		      struct lab_value *ret, struct fl_error *err)
{
	lua_State *L = c->lab->ll->L;
	int error;

	lua_rawgeti(L, LUA_REGISTRYINDEX, c->computed_ref);
	if (lua_rawequal(L, -1, -2)) {
		lua_pop(L, 2);
		if (lab_is_program(q))
			return fl_error_set(err, -EINVAL, c->files->solution_path, 0,
					    "%s: a program cannot be computed, expected one",
					    q->id);
		return lab_answer(c->lab, step, q, ret, err);
	}
	lua_pop(L, 1);
	if (lua_isfunction(L, -1) && q->kind != LAB_FUNC) {
		lab_lua_set_budget(c->lab->ll, LAB_LUA_BUDGET);
		lua_rawgeti(L, LUA_REGISTRYINDEX, c->lab->s_ref);
		error = lab_lua_call(c->lab->ll, 1, 1, err);
		if (error)
			return error;
	}
	error = lab_value_from_lua(c->lab, step, q, ret, err);
	if (error && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%.250s", c->files->solution_path);
	return error;
}

/* ---- one question, one student ---- */

static int judge(struct checker *c, const struct lab_step *step, const struct lab_question *q,
		 const struct lab_value *v, bool want, const char *what, struct fl_error *err)
{
	struct lab_verdict verdict;
	int ret = lab_judge(c->lab, step, q, v, &verdict, err);

	if (ret)
		return ret;
	if (verdict.right != want)
		complain(c, q, "%s %s%s%s", what, want ? "fails" : "passes",
			 *verdict.why ? ": " : "", verdict.why);
	return 0;
}

static int check_solution(struct checker *c, const struct lab_step *step,
			  const struct lab_question *q, struct fl_error *err)
{
	lua_State *L = c->lab->ll->L;
	struct lab_value v;
	char text[300];
	int ret;

	lua_rawgeti(L, LUA_REGISTRYINDEX, c->solution_ref);
	lua_getfield(L, -1, q->id);
	lua_remove(L, -2);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		return fl_error_set(err, -EINVAL, c->lab->path, q->line,
				    "question '%s' has no solution, expected one in %s", q->id,
				    c->files->solution_path);
	}
	ret = take_value(c, step, q, &v, err);
	if (ret)
		return ret;
	lab_value_format(q, &v, NULL, text, sizeof(text));
	return judge(c, step, q, &v, true, "the solution", err);
}

/* Submissions that cannot be right, from the right one. */
static int check_made_up(struct checker *c, const struct lab_step *step,
			 const struct lab_question *q, struct fl_error *err)
{
	struct lab_options o;
	struct lab_value v;
	int ret;

	if (lab_is_program(q))
		return 0;
	ret = lab_answer(c->lab, step, q, &v, err);
	if (!ret)
		ret = lab_options_get(c->lab, step, q, &o, err);
	if (ret)
		return ret;
	if (q->kind == LAB_CHOICE) {
		if (v.numbers[0] < 1 || v.numbers[0] > o.nr || v.numbers[0] != floor(v.numbers[0]))
			complain(c, q, "the answer is no place in its options");
		v.numbers[0] = (int)v.numbers[0] % o.nr + 1;
	} else if (q->kind == LAB_ORDER && v.nr >= 2) {
		double first = v.numbers[0];

		if (v.nr != o.nr)
			complain(c, q, "the answer does not order all items");
		v.numbers[0] = v.numbers[1];
		v.numbers[1] = first;
	} else if (v.nr) {
		v.numbers[0] += 1 + 2 * q->tolerance + fabs(v.numbers[0]) * q->percent / 50;
	}
	lab_options_free(&o);
	return judge(c, step, q, &v, false, "a wrong answer", err);
}

static int check_wrong(struct checker *c, const struct lab_step *step, const struct lab_question *q,
		       struct fl_error *err)
{
	lua_State *L = c->lab->ll->L;
	struct lab_value v;
	size_t n;
	int list, ret = 0;

	lua_rawgeti(L, LUA_REGISTRYINDEX, c->wrong_ref);
	lua_getfield(L, -1, q->id);
	list = lua_gettop(L);
	n = lua_istable(L, list) ? lua_rawlen(L, list) : 0;
	if (!n && lab_is_program(q))
		complain(c, q, "no wrong submission in %s", c->files->solution_path);
	for (size_t i = 1; i <= n && !ret; i++) {
		char what[60];

		snprintf(what, sizeof(what), "wrong submission %zu", i);
		lua_rawgeti(L, list, i);
		ret = take_value(c, step, q, &v, err);
		if (!ret)
			ret = judge(c, step, q, &v, false, what, err);
	}
	lua_settop(L, list - 2);
	return ret;
}

static int check_untouched(struct checker *c, const struct lab_step *step,
			   const struct lab_question *q, struct fl_error *err)
{
	struct lab_value v;
	int ret = lab_answer_given(c->lab, step, q, &v, err);

	if (!ret && lab_is_program(q))
		ret = judge(c, step, q, &v, false, "the untouched answers.lua", err);
	else if (!ret && v.type != LAB_VALUE_NONE)
		ret = judge(c, step, q, &v, false, "the untouched answers.lua", err);
	return ret;
}

static int check_question(struct checker *c, const struct lab_step *step,
			  const struct lab_question *q, struct fl_error *err)
{
	int ret = check_untouched(c, step, q, err);

	c->check->questions++;
	if (!ret)
		ret = check_solution(c, step, q, err);
	if (!ret)
		ret = check_made_up(c, step, q, err);
	return ret ? ret : check_wrong(c, step, q, err);
}

static int check_step(struct checker *c, const struct lab_step *step, struct fl_error *err)
{
	int ret = lab_start(c->lab, step, err);

	for (int predict = 1; predict >= 0 && !ret; predict--) {
		for (unsigned int i = 0; i < step->nr_questions && !ret; i++)
			if (step->questions[i].predict == predict)
				ret = check_question(c, step, &step->questions[i], err);
		if (!ret && predict)
			ret = lab_run(c->lab, step, NULL, err);
	}
	return ret;
}

/* ---- all a student sees ---- */

/* Answers of one question over all students. */
struct tally {
	char *answers[1000];
	unsigned int nr;
};

static int add_text(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		    enum lab_text which, unsigned int nr, FILE *f, struct fl_error *err)
{
	char *text;
	int ret = lab_text(lab, step, q, which, nr, &text, err);

	if (!ret)
		fprintf(f, "%s\n", text);
	free(text);
	return ret;
}

static void check_options(struct checker *c, const struct lab_question *q,
			  const struct lab_options *o)
{
	for (unsigned int i = 0; i < o->nr; i++)
		for (unsigned int j = 0; j < i; j++)
			if (!strcmp(o->text[i], o->text[j]))
				complain(c, q, "two equal choices '%.60s' for student %s",
					 o->text[i], c->lab->student);
}

static void check_degenerate(struct checker *c, const struct lab_question *q,
			     const struct lab_value *v)
{
	if (!v->nr)
		complain(c, q, "the answer is empty for student %s", c->lab->student);
	else if (q->kind == LAB_NUMBER && v->numbers[0] == 0)
		complain(c, q, "the answer is 0 for student %s", c->lab->student);
}

/* Everything about a question but its judging, onto @f. */
static int show_question(struct checker *c, const struct lab_step *step,
			 const struct lab_question *q, struct tally *tally, FILE *f,
			 struct fl_error *err)
{
	struct lab_options o = {.nr = 0};
	struct lab_value v;
	char answer[600];
	int ret = add_text(c->lab, step, q, LAB_QUESTION, 0, f, err);

	for (unsigned int i = 0; i < q->nr_hints && !ret; i++)
		ret = add_text(c->lab, step, q, LAB_HINT, i, f, err);
	if (!ret)
		ret = lab_options_get(c->lab, step, q, &o, err);
	for (unsigned int i = 0; i < o.nr && !ret; i++)
		fprintf(f, "%c) %s\n", 'a' + (int)i, o.text[i]);
	if (!ret && !lab_is_program(q)) {
		ret = lab_answer(c->lab, step, q, &v, err);
		if (!ret && tally) {
			check_options(c, q, &o);
			check_degenerate(c, q, &v);
		}
		/* Places in lab.lua's list: the letters are shuffled anyway. */
		for (unsigned int i = 0; !ret && i < o.nr; i++)
			o.index[i] = i + 1;
		lab_value_format(q, &v, &o, answer, sizeof(answer));
		fprintf(f, "-> %s\n", answer);
		if (!ret && tally && tally->nr < ARRAY_SIZE(tally->answers))
			tally->answers[tally->nr++] = strdup(answer);
	}
	if (!ret && q->explains)
		ret = add_text(c->lab, step, q, LAB_EXPLAIN, 0, f, err);
	lab_options_free(&o);
	return ret;
}

/* @tallies: one for each question in order, or NULL. */
static int transcript(struct checker *c, struct tally *tallies, FILE *f, struct fl_error *err)
{
	struct lab *lab = c->lab;
	int ret = 0;

	for (unsigned int s = 0; s < lab->nr_steps && !ret; s++) {
		const struct lab_step *step = &lab->steps[s];

		ret = lab_start(lab, step, err);
		if (!ret)
			ret = add_text(lab, step, NULL, LAB_BRIEF, 0, f, err);
		for (int predict = 1; predict >= 0 && !ret; predict--) {
			for (unsigned int i = 0; i < step->nr_questions && !ret; i++)
				if (step->questions[i].predict == predict)
					ret = show_question(c, step, &step->questions[i],
							    tallies ? &tallies[i] : NULL, f, err);
			if (!ret && predict)
				ret = lab_run(lab, step, f, err);
		}
		if (!ret && step->reveals)
			ret = add_text(lab, step, NULL, LAB_REVEAL, 0, f, err);
		if (tallies)
			tallies += step->nr_questions;
	}
	return ret;
}

static int open_lab(struct checker *c, const char *student, struct fl_error *err)
{
	const struct lab_check_files *files = c->files;
	int ret =
		lab_open_text(files->dir, files->source, files->source_len, student, &c->lab, err);

	if (ret)
		return ret;
	c->lab->ll->images = files->images;
	c->lab->ll->defaults.source = files->backing;
	return 0;
}

/* The transcript of a student; with c->lab replaced meanwhile. */
static int transcript_of(struct checker *c, const char *student, struct tally *tallies, char **text,
			 size_t *len, struct fl_error *err)
{
	struct lab *own = c->lab;
	FILE *f = open_memstream(text, len);
	int ret;

	if (!f)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = open_lab(c, student, err);
	if (!ret)
		ret = transcript(c, tallies, f, err);
	lab_close(c->lab);
	c->lab = own;
	fclose(f);
	return ret;
}

static int check_repeatable(struct checker *c, struct fl_error *err)
{
	char *a = NULL, *b = NULL;
	size_t a_len = 0, b_len = 0;
	int ret = transcript_of(c, "check-0", NULL, &a, &a_len, err);

	if (!ret)
		ret = transcript_of(c, "check-0", NULL, &b, &b_len, err);
	if (!ret && (a_len != b_len || memcmp(a, b, a_len))) {
		fprintf(c->check->out, "%s: two runs differ, expected the same bytes\n",
			c->lab->path);
		c->check->failures++;
	}
	free(a);
	free(b);
	return ret;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One answer for more than half of the students is no question of their own. */
static void check_variety(struct checker *c, const struct lab_question *q, struct tally *t)
{
	unsigned int run = 0, best = 0, best_at = 0;

	qsort(t->answers, t->nr, sizeof(t->answers[0]), compare_strings);
	for (unsigned int i = 0; i < t->nr; i++) {
		run = i && !strcmp(t->answers[i], t->answers[i - 1]) ? run + 1 : 1;
		if (run > best) {
			best = run;
			best_at = i;
		}
	}
	if (q->kind != LAB_CHOICE && t->nr > 10 && best * 2 > t->nr)
		complain(c, q, "the answer is '%s' for %u of %u students", t->answers[best_at],
			 best, t->nr);
	for (unsigned int i = 0; i < t->nr; i++)
		free(t->answers[i]);
}

static unsigned int count_questions(const struct lab *lab)
{
	unsigned int n = 0;

	for (unsigned int s = 0; s < lab->nr_steps; s++)
		n += lab->steps[s].nr_questions;
	return n;
}

static int check_students(struct checker *c, struct fl_error *err)
{
	struct tally *tallies = calloc(count_questions(c->lab) + 1, sizeof(*tallies)), *t = tallies;
	unsigned int before = c->check->failures;
	int ret = tallies ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	for (unsigned int i = 0; i < c->check->students && !ret; i++) {
		char student[32], *text = NULL;
		size_t len;

		snprintf(student, sizeof(student), "check-%u", i);
		ret = transcript_of(c, student, tallies, &text, &len, err);
		free(text);
		if (c->check->progress)
			c->check->progress(c->check->ctx, i + 1, c->check->students);
		if (c->check->failures > before + 20)
			break;
	}
	for (unsigned int s = 0; tallies && s < c->lab->nr_steps; s++)
		for (unsigned int i = 0; i < c->lab->steps[s].nr_questions; i++)
			check_variety(c, &c->lab->steps[s].questions[i], t++);
	free(tallies);
	return ret;
}

int lab_check_run(const struct lab_check_files *files, struct lab_check *check,
		  struct fl_error *err)
{
	struct checker c = {.check = check, .files = files};
	char answers[LAB_PATH];
	int ret = open_lab(&c, "check-0", err);

	check->questions = check->failures = 0;
	if (ret)
		return ret;
	if (!lab_join(answers, c.lab->dir, "answers.lua"))
		ret = -ENAMETOOLONG;
	if (!ret)
		ret = load_solution(&c, err);
	if (!ret)
		ret = lab_load_answers_text(c.lab, answers, files->answers, files->answers_len,
					    err);
	for (unsigned int s = 0; s < c.lab->nr_steps && !ret; s++)
		ret = check_step(&c, &c.lab->steps[s], err);
	if (!ret)
		ret = check_repeatable(&c, err);
	if (!ret)
		ret = check_students(&c, err);
	lab_close(c.lab);
	return ret;
}

/* ---- the parent's side ---- */

static void print(void *ctx, const char *text, size_t len)
{
	struct lab_check *check = ctx;

	fwrite(text, 1, len, check->out);
}

static void progress(void *ctx, unsigned int done, unsigned int total)
{
	struct lab_check *check = ctx;

	if (check->progress)
		check->progress(check->ctx, done, total);
}

static int ask_child(struct lab_check *check, const struct lab_check_files *files,
		     struct fl_error *err)
{
	struct lab_remote_config config = {
		.dir = files->dir,
		.student = "check-0",
		.check = files,
		.cpu_seconds = CHECK_SECONDS,
		.wall_seconds = CHECK_SECONDS,
		.rss_mib = CHECK_MIB,
		.print = print,
		.progress = progress,
		.ctx = check,
	};
	struct lab_ask ask = {.type = LAB_ASK_CHECK, .nr = check->students};
	struct lab_remote *remote;
	struct lab_reply reply;
	int ret = lab_remote_open(&config, &remote, err);

	if (ret)
		return ret;
	ret = lab_remote_do(remote, &ask, &reply, err);
	if (!ret) {
		check->questions = reply.value.numbers[0];
		check->failures = reply.value.numbers[1];
	}
	lab_remote_close(remote);
	return ret;
}

int lab_check(const char *dir, struct lab_check *check, struct fl_error *err)
{
	struct lab_check_files files = {.dir = dir};
	char answers_path[LAB_PATH], *solution = NULL, *answers = NULL;
	int ret = lab_find_solution(dir, files.solution_path, err);

	if (!ret && !lab_join(answers_path, dir, "answers.lua"))
		ret = fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	if (!ret)
		ret = textfile_read(files.solution_path, TEXT_MAX, &solution, &files.solution_len,
				    err);
	if (!ret)
		ret = textfile_read(answers_path, TEXT_MAX, &answers, &files.answers_len, err);
	files.solution = solution;
	files.answers = answers;
	if (!ret)
		ret = ask_child(check, &files, err);
	free(solution);
	free(answers);
	return ret;
}
