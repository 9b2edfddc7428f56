/*
 * debuginfo/code.h - which function and line an address belongs to, inlined calls included.
 *
 * Addresses are those of the file: what is loaded elsewhere (PIE) must have its base subtracted.
 * Line tables and functions of a unit are read when its first address is asked for.
 *
 * Owner      code_map_fini(); what a frame points to lives until then.
 * Errors     -errno with struct fl_error; an address that nobody knows is none: 0 frames.
 */
#ifndef FL_DEBUGINFO_CODE_H
#define FL_DEBUGINFO_CODE_H

#include "debuginfo/dwarf_file.h"

#define CODE_FRAMES_MAX 16 /* calls inlined into each other */

struct code_frame {
	const char *function; /* "" where it has no name */
	const char *file;     /* as the compiler was given it: engine/mm/readahead.c */
	u32 line;	      /* 0: not known */
	bool inlined;	      /* into the frame behind it */
};

struct code_row; /* a row of a line table */

struct code_unit {
	u64 offset; /* of its DIE */
	u64 low;    /* what addresses of range lists add to */
	Dwarf_Half version;
	bool loaded;
	bool files_from_1;     /* file 0 of the line table means 1: see code.c */
	struct code_row *rows; /* ascending addresses */
	size_t nr_rows;
	char **files; /* by their number in the line table */
	size_t nr_files;
};

struct code_range {
	u64 low, high; /* [low, high) */
	u32 unit;
};

struct code_map {
	struct dwarf_file *d;
	struct code_unit *units;
	size_t nr_units;
	struct code_range *ranges; /* ascending */
	size_t nr_ranges, room;
};

/* Find all units of @d, which must be started and outlive @c. */
int code_map_init(struct code_map *c, struct dwarf_file *d, struct fl_error *err);
void code_map_fini(struct code_map *c);

/*
 * The frames at @addr, innermost first, at most @max (<= CODE_FRAMES_MAX): how many, or -errno.
 */
int code_lookup(struct code_map *c, u64 addr, struct code_frame *frames, unsigned int max,
		struct fl_error *err);

/* The folder the program was compiled in, as its first unit says; "." if none does. */
const char *code_map_folder(struct code_map *c);

/* A function that is defined in a file whose path begins with one of @folders. */
struct code_function {
	const char *name, *file;
	u32 line;
};

/*
 * Call @fn for every function with a name that is declared below @folder ("engine/mm/"), units in
 * their order, a function of a header once for each unit.
 */
int code_each_function(struct code_map *c, const char *folder,
		       int (*fn)(void *ctx, const struct code_function *f), void *ctx,
		       struct fl_error *err);

#endif
