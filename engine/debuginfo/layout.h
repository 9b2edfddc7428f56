/*
 * debuginfo/layout.h - how a struct lies in memory.
 *
 * Text is what pahole prints, so that eyes used to one read the other; offsets count from the
 * start of the outermost struct. Structs and unions without a name are always unfolded; with
 * LAYOUT_EXPAND so are the others that are members by value.
 *
 * Errors     -errno with struct fl_error; -EINVAL for damage (a struct inside itself).
 */
#ifndef FL_DEBUGINFO_LAYOUT_H
#define FL_DEBUGINFO_LAYOUT_H

#include "debuginfo/types.h"
#include "lib/json.h"

#define LAYOUT_EXPAND	  1u
#define LAYOUT_CACHELINE  64u
#define LAYOUT_DEPTH_MAX  24u
#define LAYOUT_FIELDS_MAX 100000u

/* A member that has a name, or a part of one that is unfolded. */
struct layout_field {
	char name[200]; /* "lru", or "lru.next" where it is unfolded */
	const struct type *type;
	u64 bit;  /* from the start of the outermost struct */
	u64 bits; /* its size */
	bool bit_field;
};

/*
 * Call @fn for each field of @t, in order; it returns 0 to go on, else what ends the walk.
 */
int layout_each_field(struct types *types, struct type *t, unsigned int flags,
		      int (*fn)(void *ctx, const struct layout_field *f), void *ctx,
		      struct fl_error *err);

/* What the end of a struct's text says. */
struct layout_sums {
	u32 members; /* direct ones */
	u32 holes;   /* bytes nobody uses between two members */
	u32 bit_holes;
	u64 hole_bytes, bit_hole_bits;
	u64 padding, padding_bits;
};
int layout_sums(struct types *types, struct type *t, struct layout_sums *ret, struct fl_error *err);

/* Print @t (a struct, union or enum) as C with offsets, holes and cache lines. */
int layout_print(FILE *f, struct types *types, struct type *t, unsigned int flags,
		 struct fl_error *err);

/*
 * {name, size, members: [{name, type, offset, size, bit_offset, bit_size}]}, for an enum {name,
 * size, values: [{name, value}]}. For bit-fields bit_offset counts from @offset and bit_size is
 * not 0. NULL with @err filled.
 */
cJSON *layout_json(struct types *types, struct type *t, unsigned int flags, struct fl_error *err);

#endif
