/*
 * debuginfo/dwarf_source.h - a file's types by name: file, index and nodes in one.
 *
 * The own program is read directly, any other file behind debuginfo/guard.h: map it in the
 * parent, start it in the child. The index of a file with a build id is kept in
 * $XDG_CACHE_HOME/foliolab (or ~/.cache/foliolab) as BUILDID.index.
 *
 * Owner      dwarf_source_close(); the struct must stay where it is.
 * Errors     -errno with struct fl_error. A cache that cannot be read or written is none.
 */
#ifndef FL_DEBUGINFO_DWARF_SOURCE_H
#define FL_DEBUGINFO_DWARF_SOURCE_H

#include "debuginfo/dwarf_types.h"

struct dwarf_source {
	struct dwarf_file file;
	struct dwarf_index index;
	struct dwarf_types types;
	void *cache; /* the kept index, mapped, or NULL */
	u64 cache_size;
	bool built; /* the index was made just now: worth keeping */
};

/* Map @path and the index kept for it; no library has seen it yet. */
int dwarf_source_map(struct dwarf_source *s, const char *path, struct fl_error *err);
/* Read it. */
int dwarf_source_start(struct dwarf_source *s, struct fl_error *err);
/* Keep the @size @bytes of its index for the next time. */
void dwarf_source_keep(const struct dwarf_source *s, const void *bytes, u64 size);
void dwarf_source_close(struct dwarf_source *s);

/*
 * This program's own debug information. With @only names just that definition is looked for,
 * which is sooner done; all are there if it has none.
 */
int dwarf_source_own(struct dwarf_source *s, const char *only, struct fl_error *err);

#endif
