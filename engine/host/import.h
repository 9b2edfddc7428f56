/*
 * host/import.h - a real kernel's ftrace text as a recording.
 *
 * The text is read twice: first to learn which files it is about, then to write the events of one.
 * Accepted is what /sys/kernel/tracing/trace and trace_pipe, `trace-cmd report` and
 * `foliolab export --format ftrace` print; the events are the kernel's of trace/events.def.
 *
 * Invariant  times count from the first event that is kept and never go back.
 * Owner      the caller keeps both streams; @text must be seekable.
 * Errors     -EINVAL with file and line for what no kernel prints; -ENOMEM; errno.
 * Differs    what the text does not say stays unknown: why a page was cached is taken from the
 *            readahead event before it, and no page that leaves the cache is called unused.
 */
#ifndef FL_HOST_IMPORT_H
#define FL_HOST_IMPORT_H

#include <stdio.h>

#include "trace/recording.h"

#define IMPORT_LINE_MAX 4096	   /* bytes a line */
#define IMPORT_NAMES	32	   /* unknown events told by name */
#define IMPORT_FILES	(1u << 20) /* different files that are told apart */
/* Pages a file can have: 16 TiB in pages of 4 KiB. */
#define IMPORT_PAGES_MAX (1ull << 32)

/* A device number as the kernel holds it. */
#define IMPORT_DEV(major, minor) ((u32)(major) << 20 | (minor))

struct import_options {
	u64 ino; /* of the file, 0: the one with the most events */
	u32 dev; /* of its device, with has_dev */
	bool has_dev;
	u32 disk;	   /* block events of this device belong to it, too; 0: of none other */
	bool skip_damaged; /* lines that cannot be read are counted, not an error */
	/* Is the block I/O of @nr sectors from @sector on the file's? NULL: all of the device is.
	 */
	bool (*wanted)(void *ctx, u64 sector, u32 nr);
	void *ctx;
};

/* An event this program does not know. */
struct import_name {
	char name[64];
	u64 count;
};

/* A file that some event named. */
struct import_seen {
	u64 ino, events, pages; /* pages: one past the last that was cached or faulted */
	u32 dev, ra_pages;
};

#define IMPORT_TOP 8 /* files that are told */

struct import_result {
	u64 lines, kept;			/* events kept */
	u64 other_files;			/* events of other files and devices */
	u64 no_file;				/* events of known names that name no file */
	u64 unknown;				/* events of names this program does not know ... */
	struct import_name names[IMPORT_NAMES]; /* ... the first of them by name */
	unsigned int nr_names;
	u64 damaged, lost;	 /* lines that were skipped; events the kernel says it lost */
	unsigned int files;	 /* that some event named */
	struct import_seen file; /* the one that was chosen */
	struct import_seen top[IMPORT_TOP]; /* those with the most events, most first */
	unsigned int nr_top;
};

/*
 * Write the recording of @text, called @name in messages, to @out. @info is what is known of the
 * run: source and page_size must be set; a kernel the text names, the size and ra_pages are filled
 * in where they are empty, dev, major and cpus always.
 */
int trace_import(FILE *text, const char *name, const struct import_options *options, FILE *out,
		 struct recording_info *info, struct import_result *result, struct fl_error *err);

#endif
