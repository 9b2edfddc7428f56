/*
 * debuginfo/types.h - C types as debug information has them, whatever its format.
 *
 * A source (dwarf_types.h, btf.h) makes a node for each type it is asked for, and for the types
 * that one names. A struct's, union's or enum's members come only with type_body(): the kernel's
 * structs lead to each other without end.
 *
 * Invariant  a node stays where it is and is the same for the same id; following @target ends
 *            (TYPE_CHAIN_MAX), following members by value does not (LAYOUT_DEPTH_MAX watches).
 * Owner      struct types owns every node; names belong to the source.
 * Errors     -errno with struct fl_error: -ENOENT for a name nobody has, -EINVAL for damage.
 */
#ifndef FL_DEBUGINFO_TYPES_H
#define FL_DEBUGINFO_TYPES_H

#include <stdio.h>

#include "lib/error.h"
#include "lib/types.h"

#define TYPE_CHAIN_MAX 64u /* typedefs, pointers and arrays in a row */

enum type_kind {
	TYPE_VOID,
	TYPE_INT,
	TYPE_BOOL,
	TYPE_FLOAT,
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCT,
	TYPE_UNION,
	TYPE_ENUM,
	TYPE_TYPEDEF,
	TYPE_CONST,
	TYPE_VOLATILE,
	TYPE_RESTRICT,
	TYPE_ATOMIC,
	TYPE_FUNCTION,
	TYPE_KIND_NR,
};

struct type_member {
	const char *name; /* "" for an anonymous one */
	struct type *type;
	u64 bit;  /* from the start of the struct */
	u32 bits; /* of a bit-field; else 0 */
};

struct type_value {
	const char *name;
	s64 value;
};

struct type {
	enum type_kind kind;
	bool is_signed;	  /* TYPE_INT, TYPE_ENUM */
	bool body;	  /* members or values are there */
	bool declaration; /* a struct, union or enum of which only the name is known */
	bool variadic;	  /* TYPE_FUNCTION */
	bool flexible;	  /* TYPE_ARRAY without a count */
	const char *name; /* "" without one */
	u64 id;
	u64 size;		     /* bytes */
	u64 count;		     /* TYPE_ARRAY: elements */
	struct type *target;	     /* NULL stands for void */
	struct type_member *members; /* TYPE_STRUCT, TYPE_UNION; of TYPE_FUNCTION: parameters */
	u32 nr_members;
	struct type_value *values; /* TYPE_ENUM */
	u32 nr_values;
	struct type *next; /* in its hash bucket */
};

struct types;

struct types_ops {
	/* Fill @t, whose id is set; its targets with type_get(). */
	int (*load)(struct types *types, struct type *t);
	/* Fill members or values of @t. */
	int (*body)(struct types *types, struct type *t);
	/*
	 * The @nr-th definition (from 0) of a struct, union or enum, or else typedef, called
	 * @name: 1 with its id, 0, or -errno.
	 */
	int (*find)(struct types *types, const char *name, u32 nr, u64 *id);
	/* The next struct, union or enum that has a name and a body, from @pos = 0 on: 1, or 0. */
	int (*next)(struct types *types, u32 *pos, u64 *id);
};

#define TYPES_BUCKETS 4096u

struct types {
	const struct types_ops *ops;
	const char *path;     /* for messages */
	struct fl_error *err; /* where a source says what is wrong; set for each call */
	struct type **buckets;
	struct types_chunk *chunks;
	u32 depth; /* of type_get() inside type_get() */
	u32 pointer_size;
};

/* For sources. 0 or -ENOMEM. */
int types_init(struct types *types, const struct types_ops *ops, const char *path);
void types_fini(struct types *types);
/* Zeroed memory that lives as long as @types; NULL if there is none. */
void *types_alloc(struct types *types, size_t size);
/* "the type information is damaged: WHAT", -EINVAL. */
int types_damaged(struct types *types, const char *what);

/* The node of @id. */
int type_get(struct types *types, u64 id, struct type **ret);
/* See to it that members or values are there. */
int type_body(struct types *types, struct type *t, struct fl_error *err);
/*
 * The @nr-th definition of @name ("folio", "struct folio", a typedef of one); -ENOENT with an
 * error text for the first, without for later ones.
 */
int type_find(struct types *types, const char *name, u32 nr, struct type **ret,
	      struct fl_error *err);

/* The next one of all that have a name and a body, from @pos = 0 on: 1, 0 at the end, -errno. */
int type_next(struct types *types, u32 *pos, struct type **ret, struct fl_error *err);

/* Without typedefs and qualifiers; NULL for void. */
const struct type *type_strip(const struct type *t);
/* Bytes of @t, typedefs and arrays followed. */
u64 type_size(const struct type *t);
/* "struct", "union", "enum", or "". */
const char *type_keyword(const struct type *t);

/*
 * A declaration in two parts, to be set in columns: "unsigned long" and "flags[4]", "int" and
 * "(*fn)(void *)". @name may be "". Cut to the sizes.
 */
struct type_declaration {
	char type[200];
	char name[400];
};
void type_declare(const struct type *t, const char *name, struct type_declaration *ret);
/* In one: "int (*)(void *)", "char [16]". Cut to @size; returns @buf. */
char *type_text(const struct type *t, char *buf, size_t size);

#endif
