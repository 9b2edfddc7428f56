/*
 * debuginfo/code_internal.h - the line table of one unit.
 *
 * Owner      code_unit_fini() releases what code_unit_load() read.
 * Errors     -errno; the reason is in the file's error.
 */
#ifndef FL_DEBUGINFO_CODE_INTERNAL_H
#define FL_DEBUGINFO_CODE_INTERNAL_H

#include "debuginfo/code.h"

struct code_row {
	u64 addr;
	u32 file, line;
	u32 order; /* in the table: the last of equal addresses counts */
	bool end;  /* of a sequence: no code from here on */
};

/* Read rows and files of @u, whose DIE is @die; once. */
int code_unit_load(struct code_map *c, struct code_unit *u, Dwarf_Die die);
void code_unit_fini(struct code_unit *u);

/* File number and line at @addr; untouched if there is no row. */
void code_unit_row(const struct code_unit *u, u64 addr, u32 *file, u32 *line);
/* The path of file @nr of the line table, "" if there is none. */
const char *code_unit_file(const struct code_unit *u, u32 nr);

#endif
