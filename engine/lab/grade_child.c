/* The child's side: locks itself in, runs the stranger's Lua, says what is right. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/jail.h"
#include "lab/grade_wire.h"

/* Addresses are not memory: machines reserve terabytes. The parent watches what is resident. */
#define ADDRESSES   (1ULL << 45)
#define CPU_SECONDS 3600 /* of all questions; the parent is stricter */

_Static_assert(sizeof(struct grade_record) <= PIPE_BUF, "a record is one write");

struct judge {
	const struct grade_task *task;
	struct lab *lab;
	bool stop; /* a limit was hit: what is left is for a fresh child */
};

static void say(enum grade_record_type type, u32 item, u32 right, enum grade_limit limit,
		const char *text)
{
	struct grade_record r = {.type = type, .item = item, .right = right, .limit = limit};

	snprintf(r.text, sizeof(r.text), "%s", text);
	if (write(JAIL_TALK, &r, sizeof(r)) != (ssize_t)sizeof(r))
		_exit(1);
}

static enum grade_limit limit_of(const struct lab_lua *ll)
{
	return ll->exhausted ? GRADE_INSTRUCTIONS : ll->starved ? GRADE_MEMORY : GRADE_NO_LIMIT;
}

/* "answers.lua:3: text" without folders. */
static void describe(const struct fl_error *err, char *buf, size_t n)
{
	const char *slash = strrchr(err->file, '/');

	if (err->file[0] && err->line)
		snprintf(buf, n, "%.60s:%u: %.400s", slash ? slash + 1 : err->file, err->line,
			 err->text);
	else
		snprintf(buf, n, "%s", err->text);
}

/* ---- who it is ---- */

/* Nothing in it that grade_clean() would replace? */
static bool is_printable(const char *text, size_t len)
{
	char copy[128];

	if (strlen(text) != len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len + 1);
	grade_clean(copy);
	return !memcmp(copy, text, len + 1);
}

/* The student field of the answers, or @fallback. */
static int read_student(struct lab *lab, const char *fallback, char *ret, size_t n,
			struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	const char *text;
	size_t len;
	int type, error = 0;

	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->answers_ref);
	lua_pushliteral(L, "student");
	type = lua_rawget(L, -2);
	text = type == LUA_TSTRING ? lua_tolstring(L, -1, &len) : NULL;
	if (type == LUA_TNIL)
		snprintf(ret, n, "%s", fallback);
	else if (text && len && len < n && is_printable(text, len))
		memcpy(ret, text, len + 1);
	else
		error = fl_error_set(
			err, -EINVAL, NULL, 0,
			"student is a %s, expected a string of 1 to 127 printable bytes",
			lua_typename(L, type));
	lua_pop(L, 2);
	return error;
}

static void say_broken(const struct lab *lab, const struct fl_error *err)
{
	char why[GRADE_WHY];

	describe(err, why, sizeof(why));
	say(GRADE_BROKEN, 0, 0, limit_of(lab->ll), why);
}

/* The answers are run for the student's name in a state that is thrown away. */
static bool find_student(const struct grade_task *task, char *student, size_t n)
{
	struct fl_error err = {0};
	struct lab lab = {.answers_ref = LUA_NOREF};
	int error;

	if (!task->text) {
		snprintf(student, n, "%s", task->student);
		return true;
	}
	error = lab_lua_open(&lab.ll, &err);
	if (error)
		return false;
	lab.ll->out = NULL;
	error = lab_load_answers_text(&lab, task->name, task->text, task->len, &err);
	if (!error)
		error = read_student(&lab, task->student, student, n, &err);
	if (error)
		say_broken(&lab, &err);
	else
		lab_lua_close(lab.ll);
	return !error;
}

/* ---- judging ---- */

static void judge_item(struct judge *j, u32 nr)
{
	const struct lab_step *step = &j->lab->steps[j->task->grade->items[nr].step_nr - 1];
	const struct lab_question *q = &step->questions[j->task->grade->items[nr].q -
							j->task->grade->items[nr].step->questions];
	struct lab_verdict verdict = {0};
	struct fl_error err = {0};
	struct lab_value v;
	enum grade_limit limit;

	if (lab_answer_given(j->lab, step, q, &v, &err))
		describe(&err, verdict.why, sizeof(verdict.why));
	else if (v.type == LAB_VALUE_NONE)
		snprintf(verdict.why, sizeof(verdict.why), "no answer");
	else if (lab_judge(j->lab, step, q, &v, &verdict, &err)) {
		describe(&err, verdict.why, sizeof(verdict.why));
		say(GRADE_LAB, nr, 0, limit_of(j->lab->ll), verdict.why);
		j->stop = true;
		return;
	}
	limit = limit_of(j->lab->ll);
	if (limit)
		verdict.right = false;
	else if (!verdict.right && !*verdict.why)
		snprintf(verdict.why, sizeof(verdict.why), "wrong");
	say(GRADE_VERDICT, nr, verdict.right, limit, verdict.right ? "" : verdict.why);
	j->stop = limit;
}

/* Start or run a step; an error is told as the lab's. */
static void prepare(struct judge *j, const struct lab_step *step, bool run, u32 nr)
{
	struct fl_error err = {0};
	char why[GRADE_WHY];

	if (!(run ? lab_run(j->lab, step, NULL, &err) : lab_start(j->lab, step, &err)))
		return;
	describe(&err, why, sizeof(why));
	say(GRADE_LAB, nr, 0, limit_of(j->lab->ll), why);
	j->stop = true;
}

static void judge_all(struct judge *j)
{
	const struct grade *g = j->task->grade;
	bool ran = false;

	for (u32 nr = j->task->first; nr < g->nr_items && !j->stop; nr++) {
		const struct grade_item *item = &g->items[nr];
		const struct lab_step *step = &j->lab->steps[item->step_nr - 1];

		say(GRADE_BEGIN, nr, 0, GRADE_NO_LIMIT, "");
		if (nr == j->task->first || item->step != item[-1].step) {
			ran = false;
			prepare(j, step, false, nr);
		}
		if (!j->stop && !ran && !item->q->predict) {
			ran = true;
			prepare(j, step, true, nr);
		}
		if (!j->stop)
			judge_item(j, nr);
	}
	if (!j->stop)
		say(GRADE_DONE, 0, 0, GRADE_NO_LIMIT, "");
}

static bool same_shape(const struct lab *a, const struct lab *b)
{
	if (a->nr_steps != b->nr_steps)
		return false;
	for (unsigned int i = 0; i < a->nr_steps; i++)
		if (a->steps[i].nr_questions != b->steps[i].nr_questions)
			return false;
	return true;
}

static int open_lab(struct judge *j, const char *student, struct fl_error *err)
{
	const struct grade_task *task = j->task;
	const struct grade *g = task->grade;
	int ret = lab_open_text(g->lab->dir, g->source, g->source_len, student, &j->lab, err);

	if (ret)
		return ret;
	if (!same_shape(j->lab, g->lab))
		return fl_error_set(err, -EINVAL, g->lab->path, 0,
				    "another student has other questions, expected the same");
	j->lab->ll->dir = NULL; /* there are no files in here */
	j->lab->ll->images = &g->lab->images; /* but what was read before */
	j->lab->ll->played = task->played;
	return 0;
}

int grade_child(const struct grade_task *task)
{
	static const struct jail_limits limits = {.memory = ADDRESSES, .cpu_seconds = CPU_SECONDS};
	struct judge j = {.task = task};
	struct fl_error err = {0};
	char student[128], why[GRADE_WHY];
	int error = jail_enter(-1, task->talk, &limits);

	if (error)
		return 2;
	if (!find_student(task, student, sizeof(student)))
		return 1;
	say(GRADE_WHO, 0, 0, GRADE_NO_LIMIT, student);
	if (open_lab(&j, student, &err)) {
		describe(&err, why, sizeof(why));
		say(GRADE_LAB, task->first, 0, GRADE_NO_LIMIT, why);
		return 1;
	}
	if (task->text && lab_load_answers_text(j.lab, task->name, task->text, task->len, &err)) {
		say_broken(j.lab, &err);
		return 1;
	}
	judge_all(&j);
	return 0;
}
