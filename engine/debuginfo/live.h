/*
 * debuginfo/live.h - what is in a struct right now.
 *
 * Memory of this process is read through the kernel, so that a pointer that leads nowhere is a
 * value like any other and no crash.
 *
 * Owner      live_fini(); a field's texts are copies.
 * Errors     -errno with struct fl_error; -EFAULT: nothing can be read there.
 */
#ifndef FL_DEBUGINFO_LIVE_H
#define FL_DEBUGINFO_LIVE_H

#include "debuginfo/dwarf_source.h"
#include "debuginfo/layout.h"

/* An object that has a name of its own, to begin an expression and to name a pointer. */
struct live_root {
	const char *name; /* "mapping"; "folio" of folio[7] */
	const char *type; /* "struct address_space" */
	const void *address;
};

/* Where expressions come from: finds objects by name. */
struct live_roots {
	/* The object @name, or its @index-th (-1: none was given). -ENOENT with @err filled. */
	int (*find)(void *ctx, const char *name, s64 index, struct live_root *ret,
		    struct fl_error *err);
	/* The expression that stands for the object at @address of a struct @type, or false. */
	bool (*name_of)(void *ctx, const char *type, const void *address, char *buf, size_t size);
	void *ctx;
};

struct live {
	struct dwarf_source own;
	u64 base;		      /* where the program is loaded */
	struct elf_symbol *functions; /* ascending addresses */
	size_t nr_functions;
};

int live_init(struct live *l, struct fl_error *err);
void live_fini(struct live *l);

/* A thing of a type at a place. */
struct live_object {
	struct type *type;
	u64 address;
	const char *in;	 /* the struct it is a field of, or NULL */
	char field[100]; /* its name there */
	u64 bit, bits;	 /* of a bit-field, from @address on; else bits is 0 */
};

/*
 * Evaluate "folio[4].mapping->host": '.' and '->' are alike, [N] indexes arrays. What ends in a
 * pointer to a struct is that struct.
 */
int live_evaluate(struct live *l, const struct live_roots *roots, const char *expression,
		  struct live_object *ret, struct fl_error *err);

struct live_field {
	char name[200];
	char value[200]; /* "12", "PG_uptodate|PG_lru", "mapping", "xfs_vm_readahead", "NULL" */
	const struct type *type;
};
/* Call @fn for each field of @o, structs unfolded; for what is no struct once. */
int live_each_field(struct live *l, const struct live_roots *roots, const struct live_object *o,
		    int (*fn)(void *ctx, const struct live_field *f), void *ctx,
		    struct fl_error *err);

#endif
