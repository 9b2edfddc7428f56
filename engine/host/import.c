#include "host/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/import_scan.h"
#include "mm/page_state.h"

#define TASKS 64

struct import {
	const char *name;
	const struct import_options *options;
	struct import_result *result;
	struct import_scan scan;
	const struct import_seen *file; /* the one that was chosen */
	struct trace_sink *sink;
	u64 first_ns, ns; /* of the first event kept; of the last, counted from it */
	u8 cause[TASKS];  /* enum page_provenance of what a task adds now, by pid */
};

/* ---- which file ---- */

static bool fits(const struct import *im, const struct import_seen *s)
{
	return s->events && (!im->options->ino || s->ino == im->options->ino) &&
	       (!im->options->has_dev || s->dev == im->options->dev);
}

static int no_file(const struct import *im, struct fl_error *err)
{
	const struct import_options *o = im->options;

	if (!im->scan.nr)
		return fl_error_set(err, -EINVAL, im->name, min_t(u64, im->result->lines, ~0u),
				    "the end, and no event that names a file, expected the text of "
				    "an ftrace trace with filemap events");
	return fl_error_set(err, -EINVAL, o->ino ? "--ino" : "--dev", 0,
			    "no event in %s is about that file, expected one of its %u files",
			    im->name, im->scan.nr);
}

/* By events, then by the smaller numbers. */
static bool before(const struct import_seen *a, const struct import_seen *b)
{
	if (a->events != b->events)
		return a->events > b->events;
	return a->ino != b->ino ? a->ino < b->ino : a->dev < b->dev;
}

static void add_top(struct import_result *result, const struct import_seen *s)
{
	unsigned int at = result->nr_top;

	if (at == IMPORT_TOP && !before(s, &result->top[--at]))
		return;
	result->nr_top = max(result->nr_top, at + 1);
	for (; at && before(s, &result->top[at - 1]); at--)
		result->top[at] = result->top[at - 1];
	result->top[at] = *s;
}

static int choose_file(struct import *im, struct fl_error *err)
{
	for (unsigned int i = 0; i < im->scan.cap; i++) {
		const struct import_seen *s = &im->scan.seen[i];

		if (s->events)
			add_top(im->result, s);
		if (fits(im, s) && (!im->file || before(s, im->file)))
			im->file = s;
	}
	if (!im->file)
		return no_file(im, err);
	im->result->file = *im->file;
	return 0;
}

static void describe(const struct import *im, struct recording_info *info)
{
	if (!info->kernel[0])
		snprintf(info->kernel, sizeof(info->kernel), "%s",
			 im->scan.kernel[0] ? im->scan.kernel : "unknown");
	if (!info->fs[0])
		snprintf(info->fs, sizeof(info->fs), "unknown");
	if (!info->disk[0])
		snprintf(info->disk, sizeof(info->disk), "unknown");
	if (!info->size)
		info->size = im->file->pages * info->page_size;
	if (!info->ra_pages)
		info->ra_pages = im->file->ra_pages;
	info->dev = im->file->dev & ((1u << 20) - 1);
	info->major = im->file->dev >> 20;
	info->cpus = im->scan.cpus;
}

/* ---- its events ---- */

static bool is_ours(const struct import *im, const struct import_line *line)
{
	const struct import_options *o = im->options;
	u32 dev = import_dev(line);
	bool ino = line->fmt.ino == im->file->ino;
	bool device = dev == im->file->dev || (o->disk && dev == o->disk);

	switch (import_names_file(line)) {
	case FILE_NAMED:
		return ino && dev == im->file->dev;
	case FILE_INODE:
		return ino && device;
	case FILE_DEVICE:
		return device && (!o->wanted || o->wanted(o->ctx, line->ev.index, line->ev.a));
	default:
		return false;
	}
}

/* Readahead that no reader caused was asked for. */
static u8 next_cause(u16 id, u8 cause)
{
	switch (id) {
	case EV_page_cache_sync_ra:
		return PROVENANCE_SYNC;
	case EV_page_cache_async_ra:
		return PROVENANCE_ASYNC;
	case EV_mm_filemap_fault:
		return PROVENANCE_FAULT;
	case EV_ext4_da_write_begin:
	case EV_ext4_write_begin:
		return PROVENANCE_WRITE;
	case EV_page_cache_ra_unbounded:
		return cause ? cause : PROVENANCE_WILLNEED;
	case EV_mm_filemap_get_pages:
		return PROVENANCE_NONE;
	default:
		return cause;
	}
}

static void keep(struct import *im, struct import_line *line)
{
	u8 *cause = &im->cause[(unsigned int)line->where.pid % TASKS];
	struct trace_event *ev = &line->ev;

	if (!im->result->kept++)
		im->first_ns = ev->ns;
	im->ns = max(im->ns, ev->ns - min(ev->ns, im->first_ns));
	ev->ns = im->ns;
	*cause = next_cause(ev->id, *cause);
	if (ev->id == EV_mm_filemap_add_to_page_cache)
		ev->b = *cause;
	else if (ev->id == EV_mm_filemap_delete_from_page_cache)
		ev->b = 1u << ev->order;
	im->sink->event(im->sink, ev);
}

static int write_events(struct import *im, FILE *text, u64 page_size, struct fl_error *err)
{
	struct import_line *line = calloc(1, sizeof(*line));
	int ret;

	if (!line)
		return fl_error_set(err, -ENOMEM, im->name, 0, "out of memory");
	line->fmt.page_shift = ilog2(page_size);
	while ((ret = import_next_line(text, im->name, im->options, line, err)) > 0) {
		if (line->kind != 1)
			continue;
		if (is_ours(im, line))
			keep(im, line);
		else if (import_names_file(line) == FILE_NONE)
			im->result->no_file++;
		else
			im->result->other_files++;
	}
	free(line);
	return ret;
}

static int write_recording(struct import *im, FILE *text, FILE *out,
			   const struct recording_info *info, struct fl_error *err)
{
	struct recorder *r;
	int ret, end;

	if (fseek(text, 0, SEEK_SET))
		return fl_error_set(err, -errno, im->name, 0, "%s, expected a file",
				    strerror(errno));
	ret = recording_start(out, info, true, &r, err);
	if (ret)
		return ret;
	im->sink = recording_sink(r);
	ret = write_events(im, text, info->page_size, err);
	end = recording_finish(r, ret ? NULL : err);
	return ret ? ret : end;
}

int trace_import(FILE *text, const char *name, const struct import_options *options, FILE *out,
		 struct recording_info *info, struct import_result *result, struct fl_error *err)
{
	struct import im = {.name = name, .options = options, .result = result};
	int ret;

	*result = (struct import_result){0};
	ret = import_scan(text, name, options, info->page_size, &im.scan, result, err);
	if (!ret)
		ret = choose_file(&im, err);
	if (!ret) {
		describe(&im, info);
		ret = write_recording(&im, text, out, info, err);
	}
	import_scan_fini(&im.scan);
	return ret;
}
