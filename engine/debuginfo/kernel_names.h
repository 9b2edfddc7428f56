/*
 * debuginfo/kernel_names.h - the miniature's functions and a kernel's, by name.
 *
 * Owner      the _fini functions; names belong to their struct.
 * Errors     -errno with struct fl_error.
 */
#ifndef FL_DEBUGINFO_KERNEL_NAMES_H
#define FL_DEBUGINFO_KERNEL_NAMES_H

#include "debuginfo/btf.h"

enum kernel_names_from {
	KERNEL_NAMES_BTF,     /* functions with type information */
	KERNEL_NAMES_VMLINUX, /* symbols and DWARF, inlined functions included */
	KERNEL_NAMES_MAP,     /* symbols: System.map, /proc/kallsyms */
};

/* Sorted, each once. */
struct kernel_names {
	char *text; /* the names, each with a 0 behind it */
	const char **names;
	size_t nr;
};

/* Compiler's suffixes (.isra.0, .constprop.0, .cold) are cut off. */
int kernel_names_load(struct kernel_names *k, enum kernel_names_from from, const char *path,
		      struct fl_error *err);
void kernel_names_fini(struct kernel_names *k);
bool kernel_names_have(const struct kernel_names *k, const char *name);

/* A function that engine/mm, fs or block defines. */
struct own_function {
	char *name, *file;
	u32 line;
	bool in_kernel;
};

/* Sorted by name, each once. */
struct own_functions {
	struct own_function *functions;
	size_t nr, room;
};

/* From this program's debug information. */
int own_functions_load(struct own_functions *o, struct fl_error *err);
/* Set in_kernel of each; returns how many are. */
size_t own_functions_match(struct own_functions *o, const struct kernel_names *k);
void own_functions_fini(struct own_functions *o);

#endif
