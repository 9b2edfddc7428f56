/*
 * debuginfo/diff.h - a struct of the miniature beside the kernel's of the same name.
 *
 * Which of our fields have another name in Linux, or no counterpart and why, is said in
 * debuginfo/own-fields.txt; everything else is compared by name.
 *
 * Owner      struct_diff_fini() frees the rows; types and names stay the sources'.
 * Errors     -errno with struct fl_error.
 */
#ifndef FL_DEBUGINFO_DIFF_H
#define FL_DEBUGINFO_DIFF_H

#include "debuginfo/layout.h"

enum diff_what {
	DIFF_SAME,    /* both have it */
	DIFF_RENAMED, /* both have it, under two names */
	DIFF_OURS,    /* only the miniature has it */
	DIFF_KERNEL,  /* only the kernel has it */
};

struct diff_row {
	enum diff_what what;
	struct layout_field ours, kernel; /* without a name where there is none */
	const char *reason;		  /* of DIFF_RENAMED and DIFF_OURS, or "" */
};

struct struct_diff {
	struct diff_row *rows; /* ours in order, then what only the kernel has */
	size_t nr, room;
	u64 our_size, kernel_size; /* bytes */
};

/* What own-fields.txt says of a field. */
struct own_field {
	const char *in, *name; /* struct and field of the miniature */
	const char *kernel;    /* the kernel's name of it, or "-" */
	const char *reason;
};
/* NULL for a field that is not in the list. */
const struct own_field *own_field_find(const char *in, const char *name);
/* Line @nr of the list; NULL behind the last. */
const struct own_field *own_field(unsigned int nr);

int struct_diff(struct struct_diff *d, struct types *ours, struct type *our, struct types *kernels,
		struct type *kernel, struct fl_error *err);
void struct_diff_fini(struct struct_diff *d);

/* "same", "renamed", "only here", "only there". */
const char *diff_what_name(enum diff_what what);

#endif
