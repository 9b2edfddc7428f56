/* What a child says, checked: nothing of it is believed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_remote_internal.h"

#define TEXTS_MAX (WIRE_MAX)

/* End a string where its buffer ends. */
#define END(text) ((text)[sizeof(text) - 1] = 0)

/* ---- the lab's shape ---- */

static bool take_question(struct lab_question *q)
{
	END(q->id);
	END(q->unit);
	q->ref = LUA_NOREF;
	for (unsigned int i = 0; i < LAB_HINTS_MAX; i++)
		if (!isfinite(q->hint_cost[i]))
			return false;
	return (u32)q->kind < LAB_NR_KINDS && q->nr_hints <= LAB_HINTS_MAX && isfinite(q->points) &&
	       isfinite(q->tolerance) && isfinite(q->percent);
}

/* The step's questions are next in what is left. */
static bool take_step(struct lab_step *step, const char **p, size_t *left)
{
	size_t size = step->nr_questions * sizeof(struct lab_question);

	END(step->id);
	END(step->title);
	step->questions = NULL;
	step->ref = LUA_NOREF;
	if (step->nr_questions > WIRE_QUESTIONS_MAX || *left < size)
		return false;
	step->questions = malloc(size + 1);
	if (!step->questions)
		return false;
	memcpy(step->questions, *p, size);
	*p += size;
	*left -= size;
	for (unsigned int i = 0; i < step->nr_questions; i++)
		if (!take_question(&step->questions[i]))
			return false;
	return true;
}

static bool take_steps(struct lab *lab, const char *p, size_t left)
{
	size_t size = lab->nr_steps * sizeof(struct lab_step);
	unsigned int n = lab->nr_steps;

	lab->nr_steps = 0;
	lab->steps = NULL;
	if (n > WIRE_STEPS_MAX || left < size)
		return false;
	lab->steps = calloc(n + 1, sizeof(struct lab_step));
	if (!lab->steps)
		return false;
	for (unsigned int i = 0; i < n; i++)
		memcpy(&lab->steps[i], p + i * sizeof(struct lab_step), sizeof(struct lab_step));
	p += size;
	left -= size;
	for (unsigned int i = 0; i < n; i++) {
		lab->nr_steps++;
		if (!take_step(&lab->steps[i], &p, &left)) {
			for (unsigned int j = i + 1; j < n; j++)
				lab->steps[j].questions = NULL;
			return false;
		}
	}
	return !left;
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

/* What we know ourselves we do not take from the child. */
static bool take_shape(struct lab_remote *r, const char *data, size_t len)
{
	struct lab *lab;
	bool good;

	if (len < sizeof(*lab))
		return false;
	lab = malloc(sizeof(*lab));
	if (!lab)
		return false;
	memcpy(lab, data, sizeof(*lab));
	lab->ll = NULL;
	lab->images = (struct lab_images){0};
	lab->env_ref = lab->s_ref = lab->answers_ref = LUA_NOREF;
	END(lab->name);
	END(lab->title);
	END(lab->summary);
	memcpy(lab->dir, r->dir, sizeof(lab->dir));
	memcpy(lab->path, r->path, sizeof(lab->path));
	memcpy(lab->student, r->student, sizeof(lab->student));
	lab->seed = r->seed;
	good = take_steps(lab, data + sizeof(*lab), len - sizeof(*lab));
	/* Another child of the same lab: whoever holds the first one's shape may keep it. */
	if (good && r->lab)
		good = same_shape(lab, r->lab);
	if (!good || r->lab) {
		lab_close(lab);
		return good;
	}
	r->lab = lab;
	return true;
}

/* ---- text and pictures ---- */

static bool take_figure(struct lab_remote *r, const char *data, size_t len)
{
	size_t name = strnlen(data, len);

	if (name >= 60 || name + 1 >= len || data[len - 1] || !name ||
	    data[strspn(data, "abcdefghijklmnopqrstuvwxyz0123456789-_")])
		return false;
	if (r->config.figure)
		r->config.figure(r->config.ctx, data, data + name + 1);
	return true;
}

static bool take_progress(struct lab_remote *r, const char *data, size_t len)
{
	u32 done[2];

	if (len != sizeof(done))
		return false;
	memcpy(done, data, sizeof(done));
	if (r->config.progress)
		r->config.progress(r->config.ctx, done[0], done[1]);
	return true;
}

/* ---- machines ---- */

void remote_forget_machines(struct lab_remote *r)
{
	for (unsigned int i = 0; i < r->nr_machines; i++) {
		recording_info_fini(&r->machines[i].info);
		tape_fini(&r->machines[i].tape);
	}
	r->nr_machines = 0;
}

static bool take_machine(struct lab_remote *r, const char *data, size_t len)
{
	struct lab_remote_machine *m = r->machines ? &r->machines[r->nr_machines] : NULL;
	struct wire_machine wire;

	if (!m || r->nr_machines == LAB_REMOTE_MACHINES || len != sizeof(wire))
		return false;
	memcpy(&wire, data, sizeof(wire));
	*m = (struct lab_remote_machine){.info = wire.info, .twin = wire.twin};
	END(m->info.kernel);
	END(m->info.fs);
	END(m->info.disk);
	END(m->info.file);
	m->info.workload = strdup("");
	if (!m->info.workload || (m->info.page_size & (m->info.page_size - 1)) ||
	    m->info.page_size > (1 << 16) || m->info.page_size < 512 ||
	    tape_init(&m->tape, r->config.events)) {
		recording_info_fini(&m->info);
		return false;
	}
	r->nr_machines++;
	return true;
}

static bool take_events(struct lab_remote *r, const char *data, size_t len)
{
	struct trace_record records[WIRE_EVENTS];
	struct wire_events head;
	struct trace_event ev;
	struct tape *tape;

	if (len < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (head.machine >= r->nr_machines || head.slots > WIRE_EVENTS ||
	    len - sizeof(head) != head.slots * sizeof(records[0]))
		return false;
	memcpy(records, data + sizeof(head), len - sizeof(head));
	if (head.slots && trace_records_check(records, head.slots) <= 0)
		return false;
	tape = &r->machines[head.machine].tape;
	for (u32 i = 0; i < head.slots;) {
		const struct trace_event_info *info = trace_event_info(records[i].id);
		unsigned int slots = trace_record_unpack(&records[i], head.slots - i, &ev);

		if (!info || info->slots != slots || ev.order >= TRACE_ORDERS)
			return false;
		tape_add(tape, &ev);
		i += slots;
	}
	return true;
}

static struct lab_remote_machine *take_number(struct lab_remote *r, const char *data, size_t len)
{
	u32 nr;

	if (len != sizeof(nr))
		return NULL;
	memcpy(&nr, data, sizeof(nr));
	return nr < r->nr_machines ? &r->machines[nr] : NULL;
}

/* ---- replies ---- */

static bool take_value(struct lab_value *v)
{
	END(v->text);
	v->ref = LUA_NOREF;
	return v->nr <= LAB_LIST_MAX && (v->type == LAB_VALUE_NONE || v->type == LAB_VALUE_NUMBERS);
}

/* The next text of those behind a reply, or NULL. */
static char *next_text(char **p, const char *end)
{
	char *text = *p, *zero = memchr(text, 0, end - text);

	*p = zero ? zero + 1 : (char *)end;
	return zero ? text : NULL;
}

static bool take_texts(struct lab_remote *r, const struct wire_reply *wire, const char *data,
		       size_t len)
{
	struct lab_options *o = &r->reply.options;
	char *p, *end;

	free(r->texts);
	r->texts = p = malloc(len + 1);
	if (!p)
		return false;
	memcpy(p, data, len);
	end = p + len;
	if (wire->has_text) {
		r->reply.text = next_text(&p, end);
		if (!r->reply.text)
			return false;
	}
	if (wire->nr_options > LAB_OPTIONS_MAX)
		return false;
	for (o->nr = 0; o->nr < wire->nr_options; o->nr++) {
		o->text[o->nr] = next_text(&p, end);
		o->index[o->nr] = wire->index[o->nr];
		if (!o->text[o->nr] || o->index[o->nr] < 1 || o->index[o->nr] > wire->nr_options)
			return false;
	}
	return p == end;
}

static bool has_text(enum lab_ask_type type)
{
	return type == LAB_ASK_TEXT || type == LAB_ASK_LINE || type == LAB_ASK_WHO;
}

static bool take_reply(struct lab_remote *r, const char *data, size_t len)
{
	struct lab_reply *reply = &r->reply;
	struct wire_reply wire;

	if (!r->busy || r->answered || len < sizeof(wire))
		return false;
	memcpy(&wire, data, sizeof(wire));
	END(wire.err.file);
	END(wire.err.text);
	END(wire.why);
	if (wire.limit >= LAB_CANCELLED || wire.error > 0 || !take_value(&wire.value))
		return false;
	memset(reply, 0, sizeof(*reply));
	reply->type = wire.type;
	reply->error = wire.error;
	reply->err = wire.err;
	if (wire.error)
		reply->err.code = wire.error;
	reply->limit = wire.limit;
	reply->value = wire.value;
	reply->given = wire.given;
	reply->unfit = wire.unfit;
	reply->verdict.right = wire.right && !wire.error && !wire.limit;
	memcpy(reply->verdict.why, wire.why, sizeof(wire.why));
	r->answered = true;
	r->last = wire.last;
	return wire.type == r->asked &&
	       take_texts(r, &wire, data + sizeof(wire), len - sizeof(wire)) &&
	       (reply->text || reply->error || !has_text(wire.type)) &&
	       (wire.type != LAB_ASK_WHO || reply->error || lab_is_student(reply->text));
}

/* ---- which of them ---- */

bool remote_take_record(struct lab_remote *r, u32 type, const char *data, size_t len)
{
	struct lab_remote_machine *m;

	switch (type) {
	case SAY_SHAPE:
		return take_shape(r, data, len);
	case SAY_PRINT:
		if (r->config.print)
			r->config.print(r->config.ctx, data, len);
		return true;
	case SAY_FIGURE:
		return take_figure(r, data, len);
	case SAY_MACHINE:
		return take_machine(r, data, len);
	case SAY_EVENTS:
		return take_events(r, data, len);
	case SAY_ENDED:
	case SAY_CAPPED:
		m = take_number(r, data, len);
		if (m && type == SAY_ENDED)
			m->ended = true;
		else if (m)
			m->capped = true;
		return m;
	case SAY_OPEN:
		return remote_open_file(r, data, len);
	case SAY_PROGRESS:
		return take_progress(r, data, len);
	case SAY_REPLY:
		return take_reply(r, data, len);
	default:
		return false;
	}
}
