/*
 * lab/run.h - one workload on one machine: what `foliolab run`, golden and labs are made of.
 *
 * A run boots a machine, mounts a file system with one file and keeps four descriptors on it, as
 * the recorded runs do. Operations are played one by one; everything else is read off the machine.
 *
 * Invariant  between operations no lock is held; I/O of a disk with latency may still be under way.
 * Owner      run_open() gives the run to the caller, run_close() ends all of it.
 * Errors     negative errno with struct fl_error. A read that fails inside the miniature is no
 *            error of the run: it is counted.
 */
#ifndef FL_LAB_RUN_H
#define FL_LAB_RUN_H

#include "fs/super.h"
#include "lab/workload.h"
#include "lib/histogram.h"
#include "machine/machine.h"

#define RUN_DESCRIPTORS 4

struct backing_source;
struct backing;

/* What several tasks have in common. */
enum run_sharing {
	TASKS_OWN,     /* nothing: each has a file and a process of its own */
	TASKS_SAME,    /* the file */
	TASKS_THREADS, /* the file, its descriptors and the mapping */
};

struct run_config {
	struct machine_config machine;
	const char *fs;		       /* file_system_type() */
	const char *disk;	       /* disk_model_by_name(); NULL: hole, or host with a file */
	const char *file;	       /* host file whose bytes are read, or NULL */
	const char *image;	       /* "IMAGE:PATH": a file of a real ext4 image, or NULL */
	struct backing_source *source; /* who opens either (host/backing.h); NULL: run_open() */
	const struct backing *image_file; /* ... read before (backing_load()); NULL: it is opened */
	s64 size;			  /* of the file, where there is neither */
	bool written;			  /* a generated file has blocks (any disk but hole) */
	const struct fs_extent *extents;  /* ... these, where not NULL; read in run_open() only */
	unsigned int nr_extents;
	u64 ra_bytes;		 /* read_ahead_kb * 1024 */
	u64 io_bytes;		 /* largest request; 0: the kernel's default */
	unsigned int block_size; /* 0: the file system's default */
	u64 extent_blocks;	 /* no extent longer than this on the disk; 0: no limit */
	u64 extent_gap;		 /* ... and this many blocks between two of them; 0: 1 */
	u64 fs_bytes;		 /* of the file system; 0: enough for any file */
	u64 journal_bytes;	 /* ext4: of its journal; 0: what mke2fs chooses */
	u64 power_cut; /* after so many writes of the disk; 0: never; machines with data */
	struct run *after_crash; /* ext4: mount what this run left on its disk; run_open() only */
	/* ext4 only, each NULL or a list of words as in mke2fs -O, mount -o and lsattr. */
	const char *features;	   /* "verity,^has_journal" */
	const char *mount_options; /* "data=journal,nodelalloc" */
	const char *dir_flags;	   /* of the file's directory, inherited: "journal_data" */
	bool split_fails;	  /* somebody holds one more reference of every folio to be split */
	bool early_kill;	  /* vm.memory_failure_early_kill */
	enum run_sharing sharing; /* with several processors; lab/run_tasks.h */
	u64 schedule;		  /* which interrupts tasks meet; 0: none */
};

/* Gets the bytes of every read, in order; only on machines with data. */
typedef void (*run_consume_t)(void *ctx, const void *buf, size_t len);

/* A page that was made to fail: where in the file it was, its frame, what the kernel said. */
struct run_bad_page {
	s64 off;
	unsigned long pfn;
	u32 line;		   /* of the operation */
	bool soft;		   /* it was to be moved away before it fails */
	int error;		   /* 0 or negative errno */
	const char *type, *result; /* "dirty LRU page", "Recovered"; NULL: no handler came to it */
};

/* SIGBUS because of a memory error, and the operation that got it. */
struct run_signal {
	u32 line;
	enum wl_op_type op;
	s64 off;	      /* of the page in the file */
	bool action_required; /* BUS_MCEERR_AR, else _AO */
	unsigned int addr_lsb;
};

#define RUN_SIGNALS 16 /* that are kept; all are counted */

struct run {
	struct run_config config; /* as opened; strings are the caller's */
	struct machine *machine;
	struct super_block *sb;
	struct inode *inode;
	struct file *files[RUN_DESCRIPTORS]; /* NULL until first used */
	unsigned int current;
	struct mm_struct *mm;	    /* the process; at most one mapping of the file */
	struct vm_area_struct *vma; /* that mapping, or NULL */

	u64 ops;     /* operations played, repeats counted */
	u64 reads;   /* read, pread and splice calls */
	u64 touches; /* bytes read or stored through the mapping */
	u64 bytes;   /* delivered by reads */
	u64 writes;  /* pwrite calls */
	u64 bytes_written;
	u64 errors;		  /* calls that failed */
	int last_error;		  /* negative errno of the last one that did */
	struct histogram latency; /* virtual ns of each read */

	struct run_bad_page *bad_pages; /* in the order they were hit; lab/run_poison.h */
	size_t nr_bad_pages;
	struct run_signal signals[RUN_SIGNALS]; /* the first ones */
	u64 nr_signals;

	bool verify;	 /* compare every byte read with what the file can hold: */
	u64 disk_base;	 /* a generated disk's bytes from here on */
	u64 wrong_reads; /* reads that returned something else */
	bool broken;	 /* the machine stopped in the middle: it can only be dropped */
	run_consume_t consume;
	void *consume_ctx;
	char *buf; /* data only: where reads go */
	size_t buf_size;
};

/* Does the file's content come from the host? */
static inline bool run_has_backing(const struct run_config *config)
{
	return config->file || config->image;
}

/* The name of what it comes from, or NULL. */
static inline const char *run_backing_name(const struct run_config *config)
{
	return config->image ? config->image : config->file;
}

/* Defaults of the command line: xfs, a hole of 16 MiB, 128 KiB of readahead. */
void run_config_init(struct run_config *config);

int run_open(const struct run_config *config, struct run **ret, struct fl_error *err);
/* Close every descriptor; nothing can be played after that. */
void run_close_descriptors(struct run *run);
/* Close the descriptors and unmap; of a @broken machine only free the memory they take. */
void run_end_process(struct run *run, bool broken);
/* NULL is fine. */
void run_close(struct run *run);

/* Why the miniature cannot play this operation yet, or NULL if it can; @run may be NULL. */
const char *run_unsupported(const struct run *run, enum wl_op_type type);

/*
 * Play one operation, repeats included. 0; -EOPNOTSUPP for what it cannot play; -EINVAL in debug
 * builds when an invariant broke; -ENOTRECOVERABLE when the kernel hit a BUG(), whose words are in
 * machine->bug; -ENOMEM; the host file's error.
 */
int run_op(struct run *run, const struct wl_op *op, struct fl_error *err);
/* @n of the repetitions of a read, after @done of them: the pieces make one operation (fl_op). */
int run_op_piece(struct run *run, const struct wl_op *op, u64 done, u64 n, struct fl_error *err);
/* Play all of it and wait for the I/O under way. */
int run_workload(struct run *run, const struct workload *w, struct fl_error *err);

/* What the @nr-th write (from 1) of a run puts at @pos: every byte depends on its place and @nr. */
void run_fill_pattern(u64 nr, loff_t pos, void *buf, size_t len);

/*
 * chattr +j or -j on the file while it is in use; ext4 only, else -EOPNOTSUPP. A lab calls it
 * between two operations. fs/ext4/ext4.h ext4_change_inode_journal_flag().
 */
int run_set_journal_flag(struct run *run, bool on);

/*
 * Unmount and mount: descriptors are closed and opened again, the cache is gone, the inode is read
 * from the disk. ext4 only, else -EOPNOTSUPP; -EBUSY while the file is mapped; -ENOMEM.
 */
int run_remount(struct run *run);

/*
 * Nobody does anything for @ns of virtual time, I/O under way apart: then the journal of ext4
 * commits a transaction that is older than JBD2_MAX_COMMIT_AGE_PS, as kjournald2() does. No flusher
 * writes dirty pages back. 0, or the error of the commit.
 */
int run_sleep(struct run *run, u64 ns);

/* Did the power go out (run_config.power_cut)? Nothing that is played then counts any more. */
bool run_power_is_out(const struct run *run);
/*
 * Another machine with the disk that @dead left: its journal is replayed, and the file is what the
 * disk says. -EUCLEAN: the disk does not hold such a file.
 */
int run_open_after_crash(struct run *dead, struct run **ret, struct fl_error *err);

/* The current descriptor. */
static inline struct file *run_file(const struct run *run)
{
	return run->files[run->current];
}

#endif
