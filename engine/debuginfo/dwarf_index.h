/*
 * debuginfo/dwarf_index.h - which DIE defines a name.
 *
 * One pass over the outermost DIEs of every unit; equal definitions (name, kind, size, line) in
 * many units count once. The bytes of an index are position-independent, so that the index of a
 * vmlinux can be kept in a file and mapped.
 *
 * Invariant  entries are sorted by name, then kind, size, line; every name ends in @strings.
 * Owner      dwarf_index_fini() frees what dwarf_index_build() made; dwarf_index_take() borrows.
 */
#ifndef FL_DEBUGINFO_DWARF_INDEX_H
#define FL_DEBUGINFO_DWARF_INDEX_H

#include "debuginfo/dwarf_file.h"

enum dwarf_entry_kind {
	DWARF_STRUCT,
	DWARF_UNION,
	DWARF_ENUM,
	DWARF_TYPEDEF,
	DWARF_FUNCTION,
	DWARF_KIND_NR,
};

struct dwarf_entry {
	u64 die;  /* offset in .debug_info */
	u64 size; /* bytes; 0 for typedefs and functions */
	u32 name; /* offset in the strings */
	u32 line; /* where it is declared */
	u32 kind; /* enum dwarf_entry_kind */
	u32 unused;
};

struct dwarf_index {
	const struct dwarf_entry *entries;
	u32 nr;
	const char *strings;
	u64 strings_size;
	void *bytes; /* all of it, as it goes into a file */
	u64 size;
	bool owned;
};

/* Walk @d; with @only just what is called so. -ENOMEM, -EINVAL, -ENODATA without any unit. */
int dwarf_index_build(struct dwarf_index *x, struct dwarf_file *d, const char *only,
		      struct fl_error *err);
void dwarf_index_fini(struct dwarf_index *x);
/* Use the @size @bytes of an index kept for @build_id; -EINVAL if they are not one. */
int dwarf_index_take(struct dwarf_index *x, void *bytes, u64 size, const struct elf_file *e);

/* The first entry called @name, or @nr; all of that name follow each other. */
u32 dwarf_index_find(const struct dwarf_index *x, const char *name);
const char *dwarf_index_name(const struct dwarf_index *x, u32 nr);

#endif
