#include "trace/export.h"

#include <inttypes.h>

#include "trace/format.h"

/* Major number of all disks in tracepoints (mm/fs.h FS_MAJOR). */
#define DISK_MAJOR 259

size_t export_line(const struct recording_info *info, const struct trace_event *ev, char *buf,
		   size_t size)
{
	const struct trace_format format = {.page_shift = ilog2(info->page_size),
					    .major = info->major ? info->major : DISK_MAJOR,
					    .minor = info->dev};

	return trace_format_event(&format, ev, buf, size);
}

static u64 count_shown(const struct tape *tape, const bool *shown)
{
	u64 nr = 0;

	for (u64 i = 0; i < tape->slots; i++)
		nr += tape->records[i].id != EV_CONTINUATION && shown[tape->records[i].id];
	return nr;
}

void export_ftrace(FILE *f, const struct tape *tape, const struct recording_info *info,
		   const bool *shown)
{
	u64 nr = count_shown(tape, shown);
	struct trace_event ev;
	char line[400];

	fprintf(f,
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: %" PRIu64 "/%" PRIu64
		"   #P:%u\n#\n",
		nr, nr, max(info->cpus, 1u));
	fprintf(f, "#                                _-----=> irqs-off/BH-disabled\n"
		   "#                               / _----=> need-resched\n"
		   "#                              | / _---=> hardirq/softirq\n"
		   "#                              || / _--=> preempt-depth\n"
		   "#                              ||| / _-=> migrate-disable\n"
		   "#                              |||| /     delay\n"
		   "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		   "#              | |         |   |||||     |         |\n");
	for (u64 slot = 0; slot < tape->slots;) {
		slot += trace_record_unpack(&tape->records[slot], tape->slots - slot, &ev);
		if (!shown[ev.id])
			continue;
		export_line(info, &ev, line, sizeof(line));
		fprintf(f,
			"        foliolab-1       [%03u] ..... %5" PRIu64 ".%06" PRIu64
			": %s: %s\n",
			ev.cpu, ev.ns / 1000000000, ev.ns / 1000 % 1000000,
			trace_event_info(ev.id)->name, line);
	}
}

void export_csv(FILE *f, const struct tape *tape, u64 first_nr, const bool *shown)
{
	struct trace_event ev;
	u64 nr = first_nr;

	fprintf(f, "nr,ns,cpu,event,ino,index,order,a,b,c,d,e,f\n");
	for (u64 slot = 0; slot < tape->slots; nr++) {
		slot += trace_record_unpack(&tape->records[slot], tape->slots - slot, &ev);
		if (!shown[ev.id])
			continue;
		fprintf(f, "%" PRIu64 ",%" PRIu64 ",%u,%s,%u,%" PRIu64 ",%u,%u,%u", nr, ev.ns,
			ev.cpu, trace_event_info(ev.id)->name, ev.ino, ev.index, ev.order, ev.a,
			ev.b);
		if (trace_event_info(ev.id)->slots == 2)
			fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%u,%u\n", ev.c, ev.d, ev.e, ev.f);
		else
			fprintf(f, ",,,,\n");
	}
}
