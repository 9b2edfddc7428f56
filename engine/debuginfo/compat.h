/*
 * debuginfo/compat.h - libdwarf 20210528 (Debian 12) and 0.x and later (Debian 13) alike.
 *
 * Where the two have different signatures for one thing, engine/debuginfo uses a call that both
 * have; only the way to hand sections to libdwarf has no such call, and is bridged here. A section
 * reader defines section_info, section_count and load_section, and says DWARF_METHODS(name).
 */
#ifndef FL_DEBUGINFO_COMPAT_H
#define FL_DEBUGINFO_COMPAT_H

#include <stddef.h>

#if __has_include(<libdwarf/libdwarf.h>)
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#ifdef DW_LIBDWARF_VERSION_MAJOR

typedef Dwarf_Obj_Access_Interface_a dwarf_access;
typedef Dwarf_Obj_Access_Section_a dwarf_section;
typedef Dwarf_Unsigned dwarf_section_nr;
typedef Dwarf_Small dwarf_byte_order;

#define DWARF_LITTLE_ENDIAN  DW_END_little
#define DWARF_SECTION(field) as_##field
#define DWARF_METHODS(name)                                                                        \
	static const Dwarf_Obj_Access_Methods_a name = {                                           \
		.om_get_section_info = section_info,                                               \
		.om_get_byte_order = byte_order,                                                   \
		.om_get_length_size = length_size,                                                 \
		.om_get_pointer_size = pointer_size,                                               \
		.om_get_filesize = file_size,                                                      \
		.om_get_section_count = section_count,                                             \
		.om_load_section = load_section,                                                   \
	}
#define DWARF_ACCESS(obj, table)                                                                   \
	{                                                                                          \
		.ai_object = (obj), .ai_methods = &(table)                                         \
	}

static inline void dwarf_object_close(Dwarf_Debug dbg)
{
	dwarf_object_finish(dbg);
}

static inline void dwarf_ranges_free(Dwarf_Debug dbg, Dwarf_Ranges *ranges, Dwarf_Signed nr)
{
	dwarf_dealloc_ranges(dbg, ranges, nr);
}

#else

typedef Dwarf_Obj_Access_Interface dwarf_access;
typedef Dwarf_Obj_Access_Section dwarf_section;
typedef Dwarf_Half dwarf_section_nr;
typedef Dwarf_Endianness dwarf_byte_order;

#define DWARF_LITTLE_ENDIAN  DW_OBJECT_LSB
#define DWARF_SECTION(field) field
#define DWARF_METHODS(name)                                                                        \
	static const Dwarf_Obj_Access_Methods name = {                                             \
		.get_section_info = section_info,                                                  \
		.get_byte_order = byte_order,                                                      \
		.get_length_size = length_size,                                                    \
		.get_pointer_size = pointer_size,                                                  \
		.get_section_count = section_count,                                                \
		.load_section = load_section,                                                      \
	}
#define DWARF_ACCESS(obj, table)                                                                   \
	{                                                                                          \
		.object = (obj), .methods = &(table)                                               \
	}

static inline void dwarf_object_close(Dwarf_Debug dbg)
{
	Dwarf_Error error = NULL;

	dwarf_object_finish(dbg, &error);
}

static inline void dwarf_ranges_free(Dwarf_Debug dbg, Dwarf_Ranges *ranges, Dwarf_Signed nr)
{
	dwarf_ranges_dealloc(dbg, ranges, nr);
}

#endif

#endif
