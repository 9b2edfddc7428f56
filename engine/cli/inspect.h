/*
 * cli/inspect.h - view/inspect.h for a run of the miniature, by playing it once more.
 *
 * Nothing is read before it is asked for. The calls come from the recording where it has them
 * (--trace-code, this build), else from one more run with all events; values from a run up to the
 * event, each time.
 *
 * Owner      inspector_fini(); tape and info belong to the caller and outlive it.
 * Errors     what cannot be shown is said by the functions of view/inspect.h.
 */
#ifndef FL_CLI_INSPECT_H
#define FL_CLI_INSPECT_H

#include "debuginfo/live.h"
#include "debuginfo/where.h"
#include "trace/recording.h"
#include "view/inspect.h"

/* Further from the beginning no run is repeated for one look, and for all calls. */
#define INSPECT_EVENTS_MAX 1000000u
#define INSPECT_CALLS_MAX  300000u

struct inspector {
	struct inspect in;
	const struct tape *tape; /* its events from @first on */
	const struct recording_info *info;
	u64 first;
	const char *recording; /* file, or NULL */

	bool opened; /* debug information was looked for ... */
	bool ready;  /* ... and found */
	struct live live;
	struct code_map map;
	struct trace_code code;
	struct fl_error err; /* why something cannot be shown */

	u64 frames_of; /* event + 1 */
	struct inspect_frame frames[WHERE_FRAMES_MAX];
	int nr_frames;

	char expression[100];
	u64 values_of; /* event + 1 */
	struct inspect_value values[INSPECT_VALUES_MAX];
	int nr_values;

	char source_path[400]; /* the file that is in @source */
	char *source;
	size_t source_size;
	char source_line[300];

	char place[100];  /* what chains were last asked for ... */
	u8 *chain_inside; /* ... and each one's answer: 0 not known, 1 no, 2 yes */
};

void inspector_init(struct inspector *i, const struct tape *tape, const struct recording_info *info,
		    u64 first, const char *recording);
void inspector_fini(struct inspector *i);

#endif
