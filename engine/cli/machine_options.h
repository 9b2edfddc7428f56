/*
 * cli/machine_options.h - the options that say which machine a workload runs on.
 *
 * A command ends its table with MACHINE_OPTION_ROWS_AND_END and hands every id for which
 * machine_option_is() holds to machine_option_set(); its own ids stay below MACHINE_OPT_FIRST.
 *
 * Invariant  after machine_options_check() the sizes are in range and --kernel parses; what only
 *            the file system or the machine can judge is judged by run_open().
 * Owner      strings point into argv.
 * Errors     -EINVAL or -ERANGE with a struct fl_error named after the option.
 */
#ifndef FL_CLI_MACHINE_OPTIONS_H
#define FL_CLI_MACHINE_OPTIONS_H

#include "cli/options.h"
#include "lab/run.h"

#define MACHINE_KERNELS_MAX 16

/* Every option once: X(id, setter, name, value, help). */
#define MACHINE_OPTION_TABLE(X)                                                                           \
	X(KERNEL, kernel, "kernel", "P",                                                                  \
	  "profile of 'foliolab kernels', with +KNOB or -KNOB to toggle commits (default v6.18)")         \
	X(FS, fs, "fs", "FS", "xfs, ext4, ext4-1k, hostfs or tmpfs-HUGE (default xfs)")                   \
	X(SIZE, size, "size", "SIZE", "of the file; k, m, g or t may follow (default 16m)")               \
	X(RA_KB, ra_kb, "ra-kb", "N", "read_ahead_kb, 0 to 1048576 (default 128)")                        \
	X(PAGE_SIZE, page_size, "page-size", "SIZE", "4k, 16k or 64k (default 4k)")                       \
	X(MEMORY, memory, "memory", "SIZE", "simulated memory (default 64g)")                             \
	X(DISK, disk, "disk", "D",                                                                        \
	  "hole (a sparse file), ram, nvme or nvme-plp (a written file), host (the default with --file)") \
	X(FILE, file, "file", "PATH", "the bytes of this host file instead of a made-up one")             \
	X(IMAGE, image, "image", "IMG:PATH",                                                              \
	  "a file of a real ext4 image or block device: its extents and bytes (with --fs ext4)")          \
	X(DATA, data, "data", NULL, "folios hold real bytes")                                             \
	X(SEED, seed, "seed", "N", "of everything random (default 1)")                                    \
	X(CPUS, cpus, "cpus", "N",                                                                        \
	  "processors, 1 to 254; each plays the whole workload, or the part its 'task' says "             \
	  "(default 1, or what the workload's tasks want)")                                               \
	X(TASKS, tasks, "tasks", "HOW",                                                                   \
	  "with several processors: own (a file each, the default), same (one file) or threads "          \
	  "(one file, its descriptors and the mapping)")                                                  \
	X(SCHEDULE, schedule, "schedule", "N",                                                            \
	  "with several processors: interrupts drawn from seed N (default 0: none)")                      \
	X(FRAGMENT, fragment, "fragment", "O[:PCT]",                                                      \
	  "no free block above order O in PCT percent of memory (default 100)")                           \
	X(SPLIT_FAILS, split_fails, "split-fails", NULL,                                                  \
	  "somebody holds one more reference of every folio that is to be split")                         \
	X(EARLY_KILL, early_kill, "early-kill", NULL,                                                     \
	  "vm.memory_failure_early_kill: who maps a page that goes bad is told at once")                  \
	X(BLOCK_SIZE, block_size, "block-size", "SIZE", "of the file system, 1k to 64k")                  \
	X(IO_KB, io_kb, "io-kb", "N",                                                                     \
	  "largest request of the disk, 4 to 1048576 (default 1280, from v6.17 on 4096)")                 \
	X(COSTS, costs, "costs", "FILE",                                                                  \
	  "what primitives cost, as 'foliolab calibrate' writes it; 'host' is its default file")          \
	X(EXTENT_BLOCKS, extent_blocks, "extent-blocks", "N[:GAP]",                                       \
	  "no extent on the disk is longer than N blocks, and GAP blocks (default 1) lie between "        \
	  "two: a fragmented file")                                                                       \
	X(FS_SIZE, fs_size, "fs-size", "SIZE", "of the file system (default 64t)")                        \
	X(JOURNAL, journal, "journal", "SIZE",                                                            \
	  "of the journal of ext4 (default what mke2fs takes for the file system)")                       \
	X(POWER_CUT, power_cut, "power-cut", "N",                                                         \
	  "the power goes out with the N-th write that the disk completes; then the journal of "          \
	  "ext4 is replayed, and what survived is shown (implies --data; run only)")                      \
	X(FEATURES, features, "features", "LIST",                                                         \
	  "of ext4, as in mke2fs -O: has_journal, extent, verity, encrypt, inline_data, bigalloc, "       \
	  "ext2; ^ takes one off")                                                                        \
	X(MOUNT_OPTIONS, mount_options, "mount-options", "LIST",                                          \
	  "of ext4: data=journal, data=ordered, data=writeback, delalloc, nodelalloc, "                   \
	  "dioread_nolock, dioread_lock")                                                                 \
	X(DIR_FLAGS, dir_flags, "dir-flags", "LIST",                                                      \
	  "flags of the file's directory that it inherits on ext4: journal_data, encrypt")

enum machine_option_id {
	MACHINE_OPT_FIRST = 1000,
	MACHINE_OPT_BEFORE = MACHINE_OPT_FIRST - 1,
#define X(id, ...) MACHINE_OPT_##id,
	MACHINE_OPTION_TABLE(X)
#undef X
		MACHINE_OPT_END,
};

/* The last rows of a command's table of options, its end included. */
#define MACHINE_OPTION_ROW(id, setter, name, arg, help) {name, NULL, arg, help, MACHINE_OPT_##id},
#define MACHINE_OPTION_ROWS_AND_END                                                                \
	MACHINE_OPTION_TABLE(MACHINE_OPTION_ROW)                                                   \
	{                                                                                          \
		0                                                                                  \
	}

struct machine_options {
	struct run_config config;
	const char *kernels[MACHINE_KERNELS_MAX]; /* every --kernel, in order */
	unsigned int nr_kernels;
	bool size_given;
	bool fs_given;
	u64 cost_ps[COST_NR]; /* of --costs; config points here, so the struct must stay in place */
};

/* Defaults of the command line. */
void machine_options_init(struct machine_options *o);

static inline bool machine_option_is(int id)
{
	return id >= MACHINE_OPT_FIRST && id < MACHINE_OPT_END;
}

/* Take one option. An option given twice: the last one holds, except that kernels add up. */
int machine_option_set(struct machine_options *o, int id, const char *value, struct fl_error *err);

/* What only shows when all options are there; fills config.machine.kernel with the last one. */
int machine_options_check(struct machine_options *o, struct fl_error *err);

#endif
