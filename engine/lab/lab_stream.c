/* The child's side: what the machines do, told in batches. */
#include <stdlib.h>
#include <string.h>

#include "lab/lab_wire.h"
#include "lab/run_record.h"

struct watched {
	struct trace_sink sink;
	struct lab_stream *stream;
	struct run *run; /* NULL: free */
	u32 nr;
	u64 events;
};

struct lab_stream {
	u64 max; /* events of one machine */
	bool new_machines;
	u32 next; /* number of the next machine */
	struct watched machines[LAB_REMOTE_MACHINES];
	struct watched *who; /* whose records these are */
	u32 slots;
	struct trace_record records[WIRE_EVENTS];
};

void lab_stream_flush(struct lab_stream *s)
{
	struct wire_events head = {.slots = s->slots};

	if (!s->slots)
		return;
	head.machine = s->who->nr;
	wire_say(SAY_EVENTS, &head, sizeof(head), s->records, s->slots * sizeof(s->records[0]));
	s->slots = 0;
}

static void watch_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct watched *w = container_of(sink, struct watched, sink);
	struct lab_stream *s = w->stream;

	if (w->events > s->max)
		return;
	if (w != s->who || s->slots + 2 > WIRE_EVENTS)
		lab_stream_flush(s);
	s->who = w;
	if (w->events++ < s->max) {
		s->slots += trace_record_pack(&s->records[s->slots], ev);
		return;
	}
	lab_stream_flush(s);
	wire_say(SAY_CAPPED, &w->nr, sizeof(w->nr), NULL, 0);
}

static void let_go(struct watched *w)
{
	lab_stream_flush(w->stream);
	trace_remove_sink(&w->run->machine->trace, &w->sink);
	w->run = NULL;
}

static void machine_booted(void *ctx, struct run *run, bool twin)
{
	struct lab_stream *s = ctx;
	struct wire_machine *m;
	struct watched *w;

	if (!s->new_machines || s->next == LAB_REMOTE_MACHINES)
		return;
	m = calloc(1, sizeof(*m));
	if (!m || run_recording_info(run, NULL, &m->info)) {
		free(m);
		return;
	}
	recording_info_fini(&m->info);
	m->info.workload = NULL;
	m->twin = twin;
	lab_stream_flush(s);
	wire_say(SAY_MACHINE, m, sizeof(*m), NULL, 0);
	free(m);
	w = &s->machines[s->next];
	*w = (struct watched){.sink.event = watch_event, .stream = s, .run = run, .nr = s->next++};
	trace_add_sink(&run->machine->trace, &w->sink);
}

static void machine_ends(void *ctx, struct run *run)
{
	struct lab_stream *s = ctx;

	for (u32 i = 0; i < s->next; i++) {
		struct watched *w = &s->machines[i];

		if (w->run != run)
			continue;
		let_go(w);
		wire_say(SAY_ENDED, &w->nr, sizeof(w->nr), NULL, 0);
	}
}

struct lab_stream *lab_stream_open(u64 events)
{
	struct lab_stream *s = calloc(1, sizeof(*s));

	if (s)
		s->max = events;
	return s;
}

void lab_stream_watch(struct lab_stream *s, struct lab_lua *ll)
{
	ll->booted = machine_booted;
	ll->ends = machine_ends;
	ll->machine_ctx = s;
}

void lab_stream_new_machines(struct lab_stream *s, bool on)
{
	s->new_machines = on;
}

void lab_stream_restart(struct lab_stream *s)
{
	for (u32 i = 0; i < s->next; i++)
		if (s->machines[i].run)
			let_go(&s->machines[i]);
	s->next = 0;
}
