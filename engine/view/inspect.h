/*
 * view/inspect.h - what a view can show of the program behind the events: calls, source, structs.
 *
 * The views know events only; whoever starts them may lend them one of these for each machine.
 *
 * Owner      whoever made it; what is returned lives until the next call of the same function.
 * Errors     what cannot be shown has a sentence that says why.
 */
#ifndef FL_VIEW_INSPECT_H
#define FL_VIEW_INSPECT_H

#include "lib/types.h"

#define INSPECT_VALUES_MAX 256

/* A call that led to an event. */
struct inspect_frame {
	const char *function, *file;
	u32 line;
	bool inlined;
};

struct inspect_value {
	char name[100], value[200];
};

struct inspect {
	/* The calls that led to event @nr of the tape, innermost first; 0 with @why. */
	int (*frames)(struct inspect *in, u64 nr, const struct inspect_frame **ret,
		      const char **why);
	/* Line @nr (from 1) of the source file of frame @frame of that event, or NULL. */
	const char *(*source)(struct inspect *in, const struct inspect_frame *frame, u32 nr);
	/* The struct that is watched as it was at event @nr: its fields; 0 with @why. */
	int (*values)(struct inspect *in, u64 nr, const struct inspect_value **ret,
		      const char **why);
	/* Was event @nr raised inside @place: a function, or FILE:LINE? */
	bool (*inside)(struct inspect *in, u64 nr, const char *place);
	/* Watch another struct: an expression of 'foliolab struct --live'. */
	void (*watch)(struct inspect *in, const char *expression);
	const char *(*watched)(struct inspect *in);
};

#endif
