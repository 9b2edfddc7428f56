/*
 * cli/lab_told.h - what a lab said so far, kept so that it can be printed anew at any width.
 *
 * Owner      struct told owns its pieces; told_forget() releases them, told_fini() all.
 * Errors     without memory, or past TOLD_MAX bytes printed at once, what is said is lost.
 */
#ifndef FL_CLI_LAB_TOLD_H
#define FL_CLI_LAB_TOLD_H

#include <stdio.h>

#include "lib/types.h"

#define TOLD_MAX (1u << 18)

enum told_kind {
	TOLD_MARKDOWN,
	TOLD_PROSE,   /* our own sentences, with SGR; wrapped */
	TOLD_PRINTED, /* what Lua printed; as it stands */
};

struct told {
	struct told_piece {
		enum told_kind kind;
		char *text;
		size_t len;
	} * pieces;
	size_t nr;
	size_t new_from; /* the first piece that is new */
};

void told_fini(struct told *t);
void told_forget(struct told *t);
/* What comes from now on is new. */
void told_mark(struct told *t);
void told_add(struct told *t, enum told_kind kind, const char *text, size_t len);
/* The same; goes on in the last piece if that is of the kind. */
void told_more(struct told *t, enum told_kind kind, const char *text, size_t len);
/* All of it, at most @columns wide. @colour: with SGR, and \001 before what is new. */
void told_print(const struct told *t, FILE *f, unsigned int columns, bool colour);

#endif
