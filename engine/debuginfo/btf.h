/*
 * debuginfo/btf.h - struct types out of BTF, the kernel's own type information.
 *
 * Reads /sys/kernel/btf/vmlinux, a copy of it, or the .BTF section of an ELF file. The format is
 * Documentation/bpf/btf.rst. Not read: the split BTF of modules, which builds on vmlinux's.
 *
 * Invariant  every offset and id was checked when the file was opened.
 * Owner      btf_close() releases everything, the nodes too.
 */
#ifndef FL_DEBUGINFO_BTF_H
#define FL_DEBUGINFO_BTF_H

#include "debuginfo/types.h"

#define BTF_RUNNING_KERNEL "/sys/kernel/btf/vmlinux"

struct btf_file {
	struct types types;
	char path[256];
	u8 *bytes; /* the file, or the part of it that is BTF */
	u64 size;
	const u8 **records; /* of each id from 1 on; [0] is NULL */
	u32 nr;		    /* ids are below it */
	const char *strings;
	u32 strings_size;
};

/* -EINVAL for what is no BTF, contradicts itself or is split; errno; -ENOMEM. */
int btf_open(struct btf_file *b, const char *path, struct fl_error *err);
void btf_close(struct btf_file *b);

/* The name of the next function from @pos = 0 on; NULL at the end. */
const char *btf_next_function(const struct btf_file *b, u32 *pos);

#endif
