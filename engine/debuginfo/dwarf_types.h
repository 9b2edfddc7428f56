/*
 * debuginfo/dwarf_types.h - struct types out of DWARF.
 *
 * Ids are offsets in .debug_info. Bit-fields of DWARF 2 to 4 (counted from the big end of their
 * storage) and 5 come out alike.
 *
 * Owner      dwarf_types_fini() releases types and index, not the file.
 */
#ifndef FL_DEBUGINFO_DWARF_TYPES_H
#define FL_DEBUGINFO_DWARF_TYPES_H

#include "debuginfo/dwarf_index.h"
#include "debuginfo/types.h"

struct dwarf_types {
	struct types types;
	struct dwarf_file *file;
	struct dwarf_index *index;
};

/* @file and @index outlive @t. 0 or -ENOMEM. */
int dwarf_types_init(struct dwarf_types *t, struct dwarf_file *file, struct dwarf_index *index);

#endif
