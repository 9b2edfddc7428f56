#include "cli/lab_page.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_find.h"
#include "lab/lab_remote.h"

struct page {
	struct lab_remote *remote;
	const struct lab *lab;
	const struct lab_step *step;
	struct fl_error *err;
};

static int no_memory(struct page *p)
{
	return fl_error_set(p->err, -ENOMEM, NULL, 0, "out of memory");
}

static int ask(struct page *p, enum lab_ask_type type, const struct lab_question *q,
	       enum lab_text text, struct lab_reply *reply)
{
	struct lab_ask a = lab_ask_about(p->lab, type, p->step, q);

	a.text = text;
	a.quiet = true;
	return lab_remote_do(p->remote, &a, reply, p->err);
}

/* One text of the step or of @q into @to. */
static int put_text(struct page *p, cJSON *to, const char *name, const struct lab_question *q,
		    enum lab_text text)
{
	struct lab_reply reply;
	int ret = ask(p, LAB_ASK_TEXT, q, text, &reply);

	if (ret)
		return ret;
	return cJSON_AddStringToObject(to, name, reply.text) ? 0 : no_memory(p);
}

static int put_options(struct page *p, cJSON *to, const struct lab_question *q)
{
	struct lab_reply reply;
	cJSON *list;
	int ret = ask(p, LAB_ASK_OPTIONS, q, LAB_QUESTION, &reply);

	if (ret || !reply.options.nr)
		return ret;
	list = cJSON_AddArrayToObject(to, "options");
	for (unsigned int i = 0; i < reply.options.nr; i++)
		if (!list || !cJSON_AddItemToArray(list, cJSON_CreateString(reply.options.text[i])))
			return no_memory(p);
	return 0;
}

static int put_answer(struct page *p, cJSON *to, const struct lab_question *q)
{
	char text[600] = "A program has many right answers: see foliolab lab run.";
	struct lab_reply reply;
	size_t n;
	int ret;

	if (!lab_is_program(q)) {
		ret = ask(p, LAB_ASK_ANSWER, q, LAB_QUESTION, &reply);
		if (ret)
			return ret;
		lab_value_format(q, &reply.value, &reply.options, text, sizeof(text));
		n = strlen(text);
		if (*q->unit)
			snprintf(text + n, sizeof(text) - n, " (%s)", q->unit);
	}
	return cJSON_AddStringToObject(to, "answer", text) ? 0 : no_memory(p);
}

static int put_question(struct page *p, cJSON *list, const struct lab_question *q)
{
	cJSON *to = cJSON_CreateObject();
	int ret = to && cJSON_AddItemToArray(list, to) ? 0 : no_memory(p);

	if (!ret)
		ret = put_text(p, to, "text", q, LAB_QUESTION);
	if (!ret && (q->kind == LAB_CHOICE || q->kind == LAB_ORDER))
		ret = put_options(p, to, q);
	if (!ret)
		ret = put_answer(p, to, q);
	if (!ret && q->explains)
		ret = put_text(p, to, "explain", q, LAB_EXPLAIN);
	return ret;
}

/* The questions that are asked before the run, or those after it. */
static int put_questions(struct page *p, cJSON *list, bool predict)
{
	int ret = 0;

	for (unsigned int i = 0; i < p->step->nr_questions && !ret; i++)
		if (p->step->questions[i].predict == predict)
			ret = put_question(p, list, &p->step->questions[i]);
	return ret;
}

static int put_step(struct page *p, cJSON *steps)
{
	cJSON *to = cJSON_CreateObject(), *questions;
	struct lab_reply reply;
	int ret;

	if (!to || !cJSON_AddItemToArray(steps, to) ||
	    !cJSON_AddStringToObject(to, "title", p->step->title))
		return no_memory(p);
	ret = ask(p, LAB_ASK_START, NULL, LAB_BRIEF, &reply);
	if (!ret)
		ret = put_text(p, to, "brief", NULL, LAB_BRIEF);
	if (ret)
		return ret;
	questions = cJSON_AddArrayToObject(to, "questions");
	if (!questions)
		return no_memory(p);
	ret = put_questions(p, questions, true);
	if (!ret && p->step->runs)
		ret = ask(p, LAB_ASK_RUN, NULL, LAB_BRIEF, &reply);
	if (!ret)
		ret = put_questions(p, questions, false);
	return ret;
}

static int put_lab(struct page *p, cJSON *root)
{
	static const struct lab_ask whole = {.type = LAB_ASK_LAB};
	struct lab_reply reply;
	cJSON *steps;
	int ret = lab_remote_do(p->remote, &whole, &reply, p->err);

	if (ret)
		return ret;
	p->lab = lab_remote_lab(p->remote);
	if (!cJSON_AddStringToObject(root, "title", p->lab->title))
		return no_memory(p);
	steps = cJSON_AddArrayToObject(root, "steps");
	if (!steps)
		return no_memory(p);
	for (unsigned int i = 0; i < p->lab->nr_steps && !ret; i++) {
		p->step = &p->lab->steps[i];
		ret = put_step(p, steps);
	}
	return ret;
}

int lab_page_json(const char *lab, const char *student, char **ret, struct fl_error *err)
{
	char dir[PATH_MAX];
	struct lab_remote_config config = {.dir = dir, .student = student};
	struct page p = {.err = err};
	cJSON *root = NULL;
	int error;

	*ret = NULL;
	error = lab_find(lab, dir, err);
	if (!error)
		error = lab_remote_open(&config, &p.remote, err);
	if (error)
		return error;
	root = cJSON_CreateObject();
	error = root ? put_lab(&p, root) : no_memory(&p);
	if (!error) {
		*ret = cJSON_PrintUnformatted(root);
		error = *ret ? 0 : no_memory(&p);
	}
	cJSON_Delete(root);
	lab_remote_close(p.remote);
	return error;
}
