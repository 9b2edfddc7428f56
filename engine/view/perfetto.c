#include "view/perfetto.h"

#include <errno.h>
#include <inttypes.h>

#include "machine/machine.h"
#include "trace/export.h"
#include "view/timeline.h"

enum { PID_CPUS = 1, PID_FILES, PID_DISK, PID_LOCKS };

#define DISK_TRACK 1

struct writer {
	FILE *f;
	struct scene scene;
	struct timeline line;
	bool any;    /* an event was written */
	u64 cpus;    /* bit i: CPU i was named */
	bool served; /* requests are seen to be completed */
};

/* Begin an event of phase @ph at @ns; the caller closes the brace. */
static void begin(struct writer *w, char ph, int pid, u64 tid, u64 ns)
{
	fprintf(w->f, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u",
		w->any ? ",\n" : "", ph, pid, tid, ns / 1000, (unsigned int)(ns % 1000));
	w->any = true;
}

static void put_duration(struct writer *w, u64 ns)
{
	fprintf(w->f, ",\"dur\":%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

static void put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s >= ' ')
			fputc(*s, f);
	}
	fputc('"', f);
}

/* The name of a process or thread. */
static void name(struct writer *w, const char *what, int pid, u64 tid, const char *text, u64 nr)
{
	begin(w, 'M', pid, tid, 0);
	fprintf(w->f, ",\"name\":\"%s\",\"args\":{\"name\":\"%s", what, text);
	if (nr != SCENE_NONE)
		fprintf(w->f, " %" PRIu64, nr);
	fputs("\"}}", w->f);
}

static void name_cpu(struct writer *w, u8 cpu)
{
	if (cpu >= 64 || w->cpus >> cpu & 1)
		return;
	w->cpus |= 1ull << cpu;
	name(w, "thread_name", PID_CPUS, cpu, "CPU", cpu);
}

static void put_call(struct writer *w, const struct trace_event *ev)
{
	const char *what = ev->id == EV_fl_read	   ? "read"
			   : ev->id == EV_fl_write ? "write"
						   : "touch";

	begin(w, 'X', PID_CPUS, ev->cpu, ev->ns - min(ev->c, ev->ns));
	put_duration(w, ev->c);
	fprintf(w->f,
		",\"name\":\"%s\",\"cat\":\"call\",\"args\":{\"pos\":%" PRIu64 ",\"bytes\":%u}}",
		what, ev->index, ev->a);
}

/* Windows overlap, so each is an asynchronous pair of its own. */
static void put_window(struct writer *w, const struct timeline_window *win)
{
	for (int end = 0; end < 2; end++) {
		begin(w, end ? 'e' : 'b', PID_FILES, win->ino, end ? win->end_ns : win->ns);
		fprintf(w->f, ",\"cat\":\"readahead\",\"id\":%u,\"name\":\"window\"", win->event);
		if (!end)
			fprintf(w->f,
				",\"args\":{\"start\":%" PRIu64
				",\"size\":%u,\"async_size\":%u,\"rule\":\"%s\"}",
				win->start, win->size, win->async_size, trace_rule_name(win->rule));
		fputc('}', w->f);
	}
}

/* From issue to completion where the recording has both, else the moment of the issue. */
static void put_request(struct writer *w, const struct trace_event *ev)
{
	char ph = !w->served ? 'i' : ev->id == EV_block_rq_complete ? 'e' : 'b';

	begin(w, ph, PID_DISK, DISK_TRACK, ev->ns);
	fprintf(w->f,
		",\"s\":\"t\",\"cat\":\"block\",\"id\":\"0x%" PRIx64
		"\",\"name\":\"%s\",\"args\":{\"sector\":%" PRIu64 ",\"sectors\":%u}}",
		ev->index, ev->b ? "write" : "read", ev->index, ev->a);
}

/* A lock that was waited for is a piece of the CPU's track, one that was held of its own. */
static void put_lock(struct writer *w, const struct trace_event *ev)
{
	bool taken = ev->id == EV_fl_lock_taken;

	if (taken && !ev->c)
		return;
	begin(w, 'X', taken ? PID_CPUS : PID_LOCKS, taken ? ev->cpu : ev->a,
	      ev->ns - min(ev->c, ev->ns));
	put_duration(w, ev->c);
	fprintf(w->f, ",\"name\":\"%s%s\",\"cat\":\"lock\",\"args\":{\"cpu\":%u,\"shared\":%u}}",
		taken ? "waits for " : "", lock_name(ev->a), ev->cpu, ev->b);
}

static void put_instant(struct writer *w, const struct trace_event *ev)
{
	char text[400];

	export_line(w->scene.info, ev, text, sizeof(text));
	begin(w, 'i', PID_CPUS, ev->cpu, ev->ns);
	fprintf(w->f, ",\"s\":\"t\",\"name\":\"%s\",\"cat\":\"%s\",\"args\":{\"fields\":",
		trace_event_info(ev->id)->name, trace_event_info(ev->id)->system);
	put_string(w->f, text);
	fputs("}}", w->f);
}

static void put_counters(struct writer *w, const struct trace_event *ev)
{
	const struct scene_sums *sums = &w->scene.sums;
	const struct {
		const char *name;
		u64 pages;
	} counters[] = {{"pages cached", sums->pages},
			{"pages dirty", sums->dirty},
			{"pages not used yet", sums->pages - sums->used},
			{"pages free", scene_free_pages(&w->scene)}};

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		begin(w, 'C', PID_CPUS, 0, ev->ns);
		fprintf(w->f, ",\"name\":\"%s\",\"args\":{\"pages\":%" PRIu64 "}}",
			counters[i].name, counters[i].pages);
	}
}

static void put_event(struct writer *w, const struct trace_event *ev)
{
	name_cpu(w, ev->cpu);
	switch (ev->id) {
	case EV_fl_read:
	case EV_fl_write:
	case EV_fl_touch:
		put_call(w, ev);
		put_counters(w, ev);
		break;
	case EV_block_rq_issue:
	case EV_block_rq_complete:
		put_request(w, ev);
		break;
	case EV_fl_lock_taken:
	case EV_fl_lock_released:
		put_lock(w, ev);
		break;
	case EV_fl_window:    /* put_window() */
	case EV_fl_lock_wait: /* put_lock(), when it was taken */
		break;
	default:
		put_instant(w, ev);
	}
}

static void put_all(struct writer *w)
{
	struct trace_event ev;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kernel\":", w->f);
	put_string(w->f, w->scene.info->kernel);
	fputs(",\"clock\":\"virtual\"},\"traceEvents\":[\n", w->f);
	name(w, "process_name", PID_CPUS, 0, "foliolab CPUs", SCENE_NONE);
	name(w, "process_name", PID_FILES, 0, "files", SCENE_NONE);
	name(w, "process_name", PID_DISK, 0, "disk", SCENE_NONE);
	name(w, "thread_name", PID_DISK, DISK_TRACK, "requests", SCENE_NONE);
	while (scene_forward(&w->scene) && scene_event(&w->scene, &ev))
		put_event(w, &ev);
	if (w->scene.info->cpus > 1 && !w->scene.info->source[0]) {
		name(w, "process_name", PID_LOCKS, 0, "locks", SCENE_NONE);
		for (unsigned int id = 0; id < LOCK_NR; id++)
			name(w, "thread_name", PID_LOCKS, id, lock_name(id), SCENE_NONE);
	}
	for (unsigned int i = 0; i < w->scene.nr_files; i++)
		name(w, "thread_name", PID_FILES, w->scene.files[i].ino, "inode",
		     w->scene.files[i].ino);
	for (size_t i = 0; i < w->line.nr_windows; i++)
		put_window(w, &w->line.windows[i]);
	fputs("\n]}\n", w->f);
}

static bool has_event(const struct tape *tape, unsigned int id)
{
	for (u64 slot = 0; slot < tape->slots; slot++)
		if (tape->records[slot].id == id)
			return true;
	return false;
}

int perfetto_write(const struct tape *tape, const struct recording_info *info, FILE *f)
{
	struct writer w = {.f = f, .served = has_event(tape, EV_block_rq_complete)};
	int ret = scene_init(&w.scene, tape, info);

	if (ret)
		return ret;
	timeline_init(&w.line, tape, info->page_size);
	w.line.real = info->source[0];
	ret = timeline_update(&w.line);
	if (!ret)
		put_all(&w);
	if (!ret)
		ret = w.scene.error;
	timeline_fini(&w.line);
	scene_fini(&w.scene);
	return ret;
}
