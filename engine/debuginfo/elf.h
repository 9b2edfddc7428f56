/*
 * debuginfo/elf.h - an ELF file's sections, out of a mapping of it.
 *
 * 64-bit little-endian files of any machine: programs, vmlinux, .ko, object files. The mapping is
 * private, so that a relocatable file's debug sections can be relocated where they lie; only
 * the pages that this touches become memory of ours.
 *
 * Invariant  what a section says of itself lies inside the file, whatever the file says.
 * Owner      elf_close() releases everything; names and bytes point into it.
 * Errors     -errno with struct fl_error. A file that shrinks while it is mapped ends the
 *            process with SIGBUS: strangers' files belong behind debuginfo/guard.h.
 */
#ifndef FL_DEBUGINFO_ELF_H
#define FL_DEBUGINFO_ELF_H

#include "lib/error.h"
#include "lib/types.h"

#define ELF_BUILD_ID_MAX 20 /* bytes: what ld writes by default */

struct elf_section {
	const char *name;
	u32 type;	/* SHT_ */
	u64 flags;	/* SHF_ */
	u64 addr, size; /* as loaded by the program; of the bytes, unpacked */
	u32 link, info; /* section numbers */
	u8 *data;	/* NULL: it has no bytes in the file */
	u8 *unpacked;	/* @data, if it had to be unpacked and is to be freed */
	bool relocated; /* elf_section_data() has seen to it */
	u64 file_size;	/* bytes in the file, packed perhaps */
};

struct elf_file {
	char path[256];
	u8 *map;
	u64 size;
	u16 type, machine; /* ET_, EM_ */
	struct elf_section *sections;
	u32 nr;
	u8 build_id[ELF_BUILD_ID_MAX];
	u32 build_id_len; /* 0: there is none */
};

/* Map @path. -EINVAL for what is no such file or contradicts itself; errno of open(), mmap(). */
int elf_open(struct elf_file *e, const char *path, struct fl_error *err);
void elf_close(struct elf_file *e);

/* The first section called @name that has bytes, or NULL. */
struct elf_section *elf_section(const struct elf_file *e, const char *name);

/*
 * The bytes of @s ready to be read: unpacked (zlib) and, in a relocatable file, relocated.
 * -EINVAL for damage, -ENOTSUP for a packing or relocation nobody here knows, -ENOMEM.
 */
int elf_section_data(struct elf_file *e, struct elf_section *s);

/* @build_id in hexadecimal digits; "" without one. @buf: 2 * ELF_BUILD_ID_MAX + 1 bytes. */
char *elf_build_id(const struct elf_file *e, char *buf);

/* The next symbol of .symtab that has a name; @pos starts at 0. False at the end. */
struct elf_symbol {
	const char *name;
	u64 value, size;
	bool function;
};
bool elf_next_symbol(struct elf_file *e, u64 *pos, struct elf_symbol *ret);

#endif
