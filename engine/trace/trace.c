#include "trace/trace.h"

#include <errno.h>
#include <string.h>

static const struct trace_event_info event_info[EV_NR] = {
#define EVENT(name_, system_, since_, slots_, format_)                                             \
	[EV_##name_] = {.name = #name_,                                                            \
			.system = #system_,                                                        \
			.since = #since_,                                                          \
			.slots = slots_,                                                           \
			.format = format_},
#include "trace/events.def"
#undef EVENT
};

static const struct {
	const char *name;
	const char *text;
} rules[RULE_NR] = {
#define RULE(name, sentence) [RULE_##name] = {#name, sentence},
#include "trace/rules.def"
#undef RULE
};

void trace_init(struct trace *t, const u64 *clock_ps)
{
	memset(t, 0, sizeof(*t));
	t->clock_ps = clock_ps;
}

void trace_add_sink(struct trace *t, struct trace_sink *sink)
{
	struct trace_sink **p = &t->sinks;

	while (*p)
		p = &(*p)->next;
	sink->next = NULL;
	*p = sink;
}

void trace_remove_sink(struct trace *t, struct trace_sink *sink)
{
	struct trace_sink **p = &t->sinks;

	while (*p && *p != sink)
		p = &(*p)->next;
	if (*p)
		*p = sink->next;
}

const struct trace_event_info *trace_event_info(unsigned int id)
{
	return id < EV_NR ? &event_info[id] : NULL;
}

int trace_event_by_name(const char *name)
{
	for (unsigned int i = 0; i < EV_NR; i++)
		if (!strcmp(event_info[i].name, name))
			return i;
	return -ENOENT;
}

const char *trace_rule_text(unsigned int rule)
{
	return rule < RULE_NR ? rules[rule].text : "";
}

const char *trace_rule_name(unsigned int rule)
{
	return rule < RULE_NR ? rules[rule].name : "";
}

u64 trace_total(const struct trace *t, enum trace_event_id id)
{
	u64 sum = 0;

	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		sum += t->count[id][o];
	return sum;
}

void trace_dispatch(struct trace *t, struct trace_event *ev)
{
	ev->ns = *t->clock_ps / 1000;
	ev->cpu = t->cpu;
	for (struct trace_sink *s = t->sinks; s; s = s->next)
		s->event(s, ev);
}
