/*
 * debuginfo/dwarf_file.h - libdwarf over our own section reader.
 *
 * Versions 2 to 5, gcc and clang, packed sections, relocatable files. Not read: split DWARF (the
 * .dwo of -gsplit-dwarf) and supplementary files (dwz).
 *
 * Owner      dwarf_file_close(). What libdwarf returns as a name lives until then.
 * Errors     -errno with struct fl_error. -ENODATA: the file has no debug information.
 */
#ifndef FL_DEBUGINFO_DWARF_FILE_H
#define FL_DEBUGINFO_DWARF_FILE_H

#include "debuginfo/compat.h"
#include "debuginfo/elf.h"

#define DWARF_SECTIONS_MAX 16

struct dwarf_file {
	struct elf_file elf;
	struct elf_section *shown[DWARF_SECTIONS_MAX]; /* what libdwarf gets to see */
	u32 nr_shown;
	dwarf_access access;
	Dwarf_Debug dbg;
	char error[200]; /* why libdwarf gave up, or "" */
};

/*
 * Map @path and see that it has .debug_info; none of libdwarf runs yet. The struct must stay
 * where it is.
 */
int dwarf_file_map(struct dwarf_file *d, const char *path, struct fl_error *err);
/* The same for this program itself. */
int dwarf_file_map_own(struct dwarf_file *d, struct fl_error *err);
/* Let libdwarf have a mapped file. */
int dwarf_file_start(struct dwarf_file *d, struct fl_error *err);
void dwarf_file_close(struct dwarf_file *d);

/* "its debug information is damaged: REASON", -EINVAL. */
int dwarf_damaged(const struct dwarf_file *d, struct fl_error *err);

/*
 * What libdwarf answered: 1 for DW_DLV_OK, 0 for DW_DLV_NO_ENTRY, -EINVAL for DW_DLV_ERROR;
 * releases @error and keeps its text in @d->error.
 */
int dwarf_result(struct dwarf_file *d, int res, Dwarf_Error error);

/* A compilation unit while it is visited. */
struct dwarf_unit {
	Dwarf_Die die; /* DW_TAG_compile_unit and its like */
	Dwarf_Half version;
	u64 offset; /* of @die */
};

/*
 * Call @fn for every unit of .debug_info; it returns 0 to go on, else what ends the visit.
 * 0, -EINVAL for damage, or what @fn said.
 */
int dwarf_each_unit(struct dwarf_file *d, int (*fn)(void *ctx, const struct dwarf_unit *u),
		    void *ctx);

/* The first child of @die, the next sibling: as dwarf_result(), @ret must be dealloced. */
int dwarf_first_child(struct dwarf_file *d, Dwarf_Die die, Dwarf_Die *ret);
int dwarf_next_sibling(struct dwarf_file *d, Dwarf_Die die, Dwarf_Die *ret);

/* The DIE at @offset of .debug_info; 1, 0, -EINVAL. */
int dwarf_die_at(struct dwarf_file *d, u64 offset, Dwarf_Die *ret);

/* Attributes: true if it is there and of a fitting form. */
bool dwarf_has(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr);
bool dwarf_number(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr, s64 *ret);
bool dwarf_reference(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr, u64 *ret);
bool dwarf_flag_set(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr);
/* "" where there is none. */
const char *dwarf_string(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr);
const char *dwarf_die_name(struct dwarf_file *d, Dwarf_Die die);
Dwarf_Half dwarf_die_tag(struct dwarf_file *d, Dwarf_Die die);
u64 dwarf_die_offset(struct dwarf_file *d, Dwarf_Die die);

#endif
