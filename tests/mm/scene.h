/*
 * tests/mm/scene.h - a run set up for a test, and what happened in it as the specification writes
 * it.
 *
 * Notation (spec readahead.md, section 8): S(i,r) and A(i,r) are sync and async calls with index
 * and request, W[a+s/t] a window of s pages from a on with a tail of t, followed by the orders of
 * the folios it inserted (EEXIST where it met something), U[a+n look l] an order-0 range,
 * followed by the pages inserted where these are not all of it. "look 0" is left out, calls are
 * separated by " / ", calls and windows that read nothing say so.
 *
 * Owner      scene_open() gives the run to the caller; scene_close() checks that nothing leaked.
 */
#ifndef FL_TESTS_MM_SCENE_H
#define FL_TESTS_MM_SCENE_H

#include "lab/run.h"
#include "unit.h"

#define SCENE_TEXT 16384

struct notes {
	struct trace_sink sink;
	bool bare_u; /* leave W out: mappings without large folios only pass through */
	bool quiet;  /* the call so far has had neither W nor U */
	char kind;   /* what insertions belong to: 'W', 'U', or 0 */
	unsigned int order, count; /* orders not written yet: count times order */
	bool first;		   /* nothing of this W written yet */
	u64 start, nr;		   /* of the U */
	u64 lo[64], hi[64];	   /* runs of pages it inserted */
	unsigned int runs;
	size_t len;
	char text[SCENE_TEXT];
};

/* A hole of 64 MiB on xfs, 128 KiB of readahead and requests, cold: what section 8 assumes. */
struct run_config scene_config(const char *kernel);

/* Fails the test with the engine's own words if it cannot be opened. */
struct run *scene_open(const struct run_config *config);
/* Play operations of the workload language; a failure fails the test. */
void scene_play(struct run *run, const char *ops);
/* Play one pread. */
void scene_pread(struct run *run, s64 off, s64 len);
/* Fail the test if the machine is not sound. */
void scene_check(struct run *run);
/* Check, drop the cache, check that every page, folio and tree node came back, and close. */
void scene_close(struct run *run);

/* Listen to @run from now on. */
void notes_begin(struct notes *n, struct run *run);
/* What was heard, complete up to now; stays valid until the next event. */
const char *notes_text(struct notes *n);
void notes_end(struct notes *n, struct run *run);

/*
 * Play @ops on a scene of @config and compare what was heard with @expected; an expectation that
 * ends in " ..." is a prefix.
 */
void scene_expect(const struct run_config *config, const char *ops, const char *expected);
/* The comparison alone. */
void notes_expect(struct notes *n, const char *what, const char *expected);

/* "index:order" of every cached folio from @first on, one blank between, marks as 'm'. */
const char *scene_folios(struct run *run, pgoff_t first, pgoff_t last);

#endif
