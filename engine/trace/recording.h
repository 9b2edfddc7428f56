/*
 * trace/recording.h - a run's events as a file.
 *
 *     "FOLIOTRC"  u32 version  u32 length of the header's text  text  u64 CRC-64 of the text
 *     blocks:     u32 magic "BLK1"  u32 slots  u32 bytes  u32 flags (1: lzma)
 *                 u64 number of the first event  u64 CRC-64 of the header's first 24 bytes and
 *                 the bytes  bytes
 *     end:        the same with magic "END1" and no bytes; first event = events in all
 *
 * Numbers are little endian, slots those of trace/ring.h. The header's text is one "key value" a
 * line: the machine, then "event NAME" for every number an event may have (so a file outlives
 * changes of events.def; names nobody knows any more are left out on reading), then "workload"
 * and the workload's text up to the end.
 *
 * Invariant  an event never straddles blocks; every block can be read by itself; the same run
 *            writes the same bytes.
 * Owner      a writer owns its thread, which compresses and writes; the file belongs to the
 *            caller until recording_finish() says that it is complete.
 * Errors     negative errno with struct fl_error. Reading a file that is cut or damaged ends
 *            before the first block that is not whole and says so in @damage; only a damaged
 *            header is an error.
 */
#ifndef FL_TRACE_RECORDING_H
#define FL_TRACE_RECORDING_H

#include <stdio.h>

#include "lib/error.h"
#include "trace/tape.h"

#define RECORDING_VERSION 1u
#define RECORDING_ORDERS  16
/* The most events a program holds at once; more of a file is reached with --from. */
#define RECORDING_EVENTS_MAX (64u << 20)

/* What a replay has to know that is no event. */
struct recording_info {
	char source[32];  /* "" for a miniature's run; else the real kernel's: "imported", "host" */
	char kernel[128]; /* profile expression; of a real kernel its release, or "unknown" */
	char fs[32], disk[32];
	char file[256];				 /* host file, or "" */
	u64 page_size, block_size, memory, size; /* bytes */
	u64 ra_pages, io_pages, seed;
	u32 cpus;	/* virtual CPUs, or how many events came from */
	u32 dev, major; /* minor number of the file's device; its major, 0: a miniature's */
	u32 knobs;	/* how many there were: fl_window's numbers hold if it is the same */
	u64 free[RECORDING_ORDERS]; /* free blocks by order when it began */
	char *workload;		    /* operations, one a line; owned, see recording_info_fini() */
};

void recording_info_fini(struct recording_info *info);

struct recorder;

/*
 * Begin to write to @f, which must stay open until recording_finish(). @lzma: blocks are
 * compressed. The header is written at once. 0, -ENOMEM, -EAGAIN (no thread), write errors.
 */
int recording_start(FILE *f, const struct recording_info *info, bool lzma, struct recorder **ret,
		    struct fl_error *err);
/* The sink to register. Remove it before recording_finish(). */
struct trace_sink *recording_sink(struct recorder *r);
/* Write what is left and the end, release @r. Tells the first error there was. */
int recording_finish(struct recorder *r, struct fl_error *err);

/* What a file turned out to be. */
struct recording_result {
	u64 events;	  /* in the file's whole blocks */
	u64 unknown;	  /* events of names this program does not know, left out */
	bool complete;	  /* it has its end */
	char damage[200]; /* why reading stopped, or "" */
};

/* Which events to read. */
struct recording_range {
	u64 from, to;		   /* both included, from 0; to ~0: to the end */
	struct trace_sink *before; /* gets the events before @from, or NULL */
};

/*
 * Read a range of @path into @tape; @info and @tape are initialised here. -EINVAL for what is no
 * recording, another version or a damaged header; -ENOMEM; errno.
 */
int recording_load(const char *path, const struct recording_range *range,
		   struct recording_info *info, struct tape *tape, struct recording_result *result,
		   struct fl_error *err);

#endif
