#include "host/import_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_DAT_FIRST_BYTE 0x17

/* ---- lines ---- */

static int bad_byte(const char *name, u64 nr, int c, struct fl_error *err)
{
	if (nr == 1 && c == TRACE_DAT_FIRST_BYTE)
		return fl_error_set(err, -EINVAL, name, 1,
				    "a binary trace.dat, expected its text: trace-cmd report %s",
				    name);
	return fl_error_set(err, -EINVAL, name, min_t(u64, nr, ~0u),
			    "a byte 0x%02x, expected the text of an ftrace trace", c);
}

/* Bytes up to the newline, which is dropped. */
static int read_text(FILE *f, const char *name, struct import_line *line, struct fl_error *err)
{
	size_t len = 0;
	int c;

	while ((c = getc_unlocked(f)) != EOF && c != '\n') {
		if (c < ' ' && c != '\t' && c != '\r' && c != 0x1b)
			return bad_byte(name, line->nr, c, err);
		if (len + 1 == sizeof(line->text))
			return fl_error_set(err, -EINVAL, name, min_t(u64, line->nr, ~0u),
					    "a line of more than %d bytes, expected the text of an "
					    "ftrace trace",
					    IMPORT_LINE_MAX - 1);
		line->text[len++] = c;
	}
	if (len && line->text[len - 1] == '\r')
		len--;
	line->text[len] = 0;
	if (ferror(f))
		return fl_error_set(err, errno ? -errno : -EIO, name, 0, "%s",
				    strerror(errno ? errno : EIO));
	return len || c != EOF;
}

/* Without these the picture would be wrong; other events may have formats of other kernels. */
static bool is_needed(const struct trace_event *ev)
{
	const char *system = trace_event_info(ev->id)->system;

	return !strcmp(system, "filemap") || !strcmp(system, "readahead");
}

static void check_pages(struct import_line *line)
{
	enum import_file file = import_names_file(line);

	if (file != FILE_DEVICE && file != FILE_NONE && line->ev.index >= IMPORT_PAGES_MAX &&
	    is_needed(&line->ev))
		line->kind = -EINVAL;
}

int import_next_line(FILE *f, const char *name, const struct import_options *options,
		     struct import_line *line, struct fl_error *err)
{
	int ret;

	line->nr++;
	ret = read_text(f, name, line, err);
	if (ret <= 0)
		return ret;
	line->kind = trace_parse_line(&line->fmt, line->text, &line->ev, &line->where);
	if (line->kind == 1 && !strcmp(trace_event_info(line->ev.id)->since, "OURS"))
		line->kind = -ENOENT;
	if (line->kind == 1)
		check_pages(line);
	if (line->kind != -EINVAL || options->skip_damaged || !is_needed(&line->ev))
		return 1;
	return fl_error_set(err, -EINVAL, name, min_t(u64, line->nr, ~0u),
			    "%s '%.80s', expected '%s'", line->where.name, line->where.args,
			    trace_event_info(line->ev.id)->format);
}

/* ---- what an event says of its file ---- */

enum import_file import_names_file(const struct import_line *line)
{
	const char *system = trace_event_info(line->ev.id)->system;

	if (!strcmp(system, "block"))
		return FILE_DEVICE;
	if (!line->ev.ino)
		return FILE_NONE;
	return strcmp(system, "writeback") ? FILE_NAMED : FILE_INODE;
}

u32 import_dev(const struct import_line *line)
{
	return IMPORT_DEV(line->fmt.major, line->fmt.minor);
}

/* ---- the scan ---- */

/* Where (@ino, @dev) is or would be. */
static struct import_seen *place_of(const struct import_scan *scan, u64 ino, u32 dev)
{
	u64 i = (ino * 0x9e3779b97f4a7c15ull ^ dev * 0xff51afd7ed558ccdull) >> 20;

	for (;; i++) {
		struct import_seen *s = &scan->seen[i & (scan->cap - 1)];

		if (!s->events || (s->ino == ino && s->dev == dev))
			return s;
	}
}

static int grow(struct import_scan *scan)
{
	struct import_scan bigger = {.nr = scan->nr, .cap = scan->cap ? 2 * scan->cap : 64};

	bigger.seen = calloc(bigger.cap, sizeof(*bigger.seen));
	if (!bigger.seen)
		return -ENOMEM;
	for (unsigned int i = 0; i < scan->cap; i++)
		if (scan->seen[i].events)
			*place_of(&bigger, scan->seen[i].ino, scan->seen[i].dev) = scan->seen[i];
	free(scan->seen);
	scan->seen = bigger.seen;
	scan->cap = bigger.cap;
	return 0;
}

static u64 pages_named(const struct trace_event *ev)
{
	switch (ev->id) {
	case EV_mm_filemap_add_to_page_cache:
	case EV_mm_filemap_delete_from_page_cache:
		return ev->index + (1ull << ev->order);
	case EV_mm_filemap_fault:
		return ev->index + 1;
	default:
		return 0; /* others may look past the end of the file */
	}
}

static int take_file(struct import_scan *scan, const struct import_line *line)
{
	struct import_seen *seen;

	if (2 * scan->nr >= scan->cap && grow(scan))
		return -ENOMEM;
	seen = place_of(scan, line->fmt.ino, import_dev(line));
	if (!seen->events && scan->nr == IMPORT_FILES)
		return 0;
	scan->nr += !seen->events;
	seen->ino = line->fmt.ino;
	seen->dev = import_dev(line);
	seen->events++;
	seen->pages = max(seen->pages, pages_named(&line->ev));
	if (line->ev.id == EV_page_cache_ra_order || line->ev.id == EV_page_cache_sync_ra)
		seen->ra_pages = line->ev.f;
	return 0;
}

/* "CPU:1 [LOST 23 EVENTS]", "CPU:1 [23 EVENTS DROPPED]". */
static void take_lost(const char *text, struct import_result *result)
{
	const char *p = strstr(text, "[LOST ");

	if (p)
		result->lost += strtoull(p + 6, NULL, 10);
	else if (strstr(text, " EVENTS DROPPED]") && (p = strchr(text, '[')))
		result->lost += strtoull(p + 1, NULL, 10);
}

/* Lines that say which kernel it was: ours, perf's, those of the latency tracers. */
static void take_kernel(const char *text, struct import_scan *scan)
{
	static const char *const marks[] = {"# kernel ",
					    "# os release : ", " latency trace v1.1.5 on "};

	for (unsigned int i = 0; i < ARRAY_SIZE(marks) && *text == '#' && !scan->kernel[0]; i++) {
		const char *p = strstr(text, marks[i]);

		if (!p)
			continue;
		p += strlen(marks[i]);
		snprintf(scan->kernel, sizeof(scan->kernel), "%.*s", (int)strcspn(p, " \t"), p);
	}
}

static void take_unknown(const struct import_line *line, struct import_result *result)
{
	unsigned int i;

	result->unknown++;
	for (i = 0; i < result->nr_names; i++)
		if (!strcmp(result->names[i].name, line->where.name))
			break;
	if (i == IMPORT_NAMES)
		return;
	if (i == result->nr_names)
		memcpy(result->names[result->nr_names++].name, line->where.name,
		       sizeof(line->where.name));
	result->names[i].count++;
}

static int take_line(struct import_scan *scan, const struct import_line *line,
		     struct import_result *result)
{
	switch (line->kind) {
	case 0:
		take_lost(line->text, result);
		take_kernel(line->text, scan);
		return 0;
	case -ENOENT:
		take_unknown(line, result);
		return 0;
	case -EINVAL:
		result->damaged++;
		return 0;
	}
	scan->cpus = max(scan->cpus, line->ev.cpu + 1u);
	return import_names_file(line) == FILE_NAMED ? take_file(scan, line) : 0;
}

int import_scan(FILE *f, const char *name, const struct import_options *options, u64 page_size,
		struct import_scan *scan, struct import_result *result, struct fl_error *err)
{
	struct import_line *line = calloc(1, sizeof(*line));
	int ret;

	*scan = (struct import_scan){0};
	if (!line)
		return fl_error_set(err, -ENOMEM, name, 0, "out of memory");
	line->fmt.page_shift = ilog2(page_size);
	while ((ret = import_next_line(f, name, options, line, err)) > 0) {
		ret = take_line(scan, line, result);
		if (ret) {
			fl_error_set(err, ret, name, 0, "out of memory");
			break;
		}
	}
	result->lines = line->nr - 1;
	result->files = scan->nr;
	free(line);
	return ret;
}

void import_scan_fini(struct import_scan *scan)
{
	free(scan->seen);
	scan->seen = NULL;
}
