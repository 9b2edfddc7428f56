#include "cli/import_text.h"

#include <inttypes.h>
#include <string.h>

static void print_file(FILE *f, const struct import_seen *s)
{
	fprintf(f, "--ino %" PRIu64 " --dev %u:%u", s->ino, s->dev >> 20,
		s->dev & ((1u << 20) - 1));
}

/* The others, so that one of them can be chosen. */
static void print_files(FILE *f, const struct import_result *r)
{
	if (r->files < 2)
		return;
	fprintf(f, "The trace is about %u files. Those with the most events:\n", r->files);
	for (unsigned int i = 0; i < r->nr_top; i++) {
		fprintf(f, "%10" PRIu64 "  ", r->top[i].events);
		print_file(f, &r->top[i]);
		fputc('\n', f);
	}
}

static void print_left_out(FILE *f, u64 n, const char *what)
{
	if (n)
		fprintf(f, "%10" PRIu64 "  %s\n", n, what);
}

static void print_unknown(FILE *f, const struct import_result *r)
{
	u64 rest = r->unknown;

	print_left_out(f, r->unknown, "events that FolioLab does not know");
	for (unsigned int i = 0; i < r->nr_names; i++) {
		fprintf(f, "%14" PRIu64 "  %s\n", r->names[i].count, r->names[i].name);
		rest -= r->names[i].count;
	}
	if (rest)
		fprintf(f, "%14" PRIu64 "  of other names\n", rest);
}

void import_result_print(FILE *f, const struct recording_info *info, const struct import_result *r)
{
	fprintf(f, "%" PRIu64 " events of ", r->kept);
	print_file(f, &r->file);
	fprintf(f, ", kernel %s, from %" PRIu64 " lines.\n", info->kernel, r->lines);
	print_left_out(f, r->other_files, "events of other files and devices left out");
	print_left_out(f, r->no_file, "events that name no file left out");
	print_unknown(f, r);
	print_left_out(f, r->damaged, "events in a form that FolioLab does not know");
	print_left_out(f, r->lost, "events the kernel lost: what follows may not fit together");
	print_files(f, r);
}
