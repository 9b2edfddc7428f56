/*
 * lab/grade_wire.h - what the locked-in judge of a submission says to its parent.
 *
 * A record is written whole, in one write. A child says WHO once, then BEGIN and VERDICT for each
 * question in order, then DONE. BROKEN and NO_JAIL take the place of all that is left, LAB the
 * place of a verdict.
 *
 * Invariant  a record fits into PIPE_BUF, so it never arrives in pieces mixed with others.
 */
#ifndef FL_LAB_GRADE_WIRE_H
#define FL_LAB_GRADE_WIRE_H

#include "lab/grade.h"

enum grade_record_type {
	GRADE_WHO,     /* text: the student */
	GRADE_BEGIN,   /* item: what is judged next */
	GRADE_VERDICT, /* item, right, limit, text: why not */
	GRADE_BROKEN,  /* limit, text: the submission cannot be read */
	GRADE_LAB,     /* item, text: the lab failed */
	GRADE_NO_JAIL, /* text: why it could not be locked in */
	GRADE_DONE,
};

struct grade_record {
	u32 type;
	u32 item;
	u32 right;
	u32 limit; /* enum grade_limit */
	char text[GRADE_WHY];
};

/* What one child is to judge. */
struct grade_task {
	const struct grade *grade;
	const char *name; /* of the submission, for messages */
	const char *text; /* answers.lua; NULL: judge the lab without answers */
	size_t len;
	const char *student;	   /* where the submission names none */
	u32 first;		   /* item to begin with */
	int talk;		   /* write end of the pipe */
	struct lab_played *played; /* shared with the parent */
};

/* The child. Returns the exit status for _exit(). */
int grade_child(const struct grade_task *task);

#endif
