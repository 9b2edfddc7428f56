/*
 * fs/ext4/ext4_io.h - what writeback and its completions share.
 *
 * Mirrors    fs/ext4/ext4.h: ext4_io_end_t, struct ext4_io_submit.
 * Invariant  the folios of an io_end with unwritten extents stay under writeback until those
 *            extents are written ones.
 * Owner      an io_end belongs to the round that made it and to its bios; the last one to put it
 *            finishes it.
 */
#ifndef FL_FS_EXT4_EXT4_IO_H
#define FL_FS_EXT4_EXT4_IO_H

#include "fs/ext4/ext4_jbd2.h"

/* Blocks of a file to convert. struct ext4_io_end_vec */
struct ext4_io_end_vec {
	u64 lblk, len;
};

struct ext4_io_end {
	struct inode *inode;
	handle_t *handle;   /* reserved for the conversion, or NULL */
	unsigned int count; /* its round and its bios */
	bool unwritten;	    /* has something to convert */
	struct bio *bio;    /* completed, waiting for that; linked by bi_next */
	struct ext4_io_end_vec *vec;
	unsigned int nr_vec;
};

struct ext4_io_submit {
	struct bio_run run;
	struct ext4_io_end *io_end;
};

/* A fresh io_end for the bios that follow. -ENOMEM. */
int ext4_io_submit_init(struct ext4_io_submit *io, struct inode *inode);
/* Send the bio begun, and let go of the io_end. */
void ext4_io_submit(struct ext4_io_submit *io);
/* The blocks are unwritten and on their way. The round's reserved @handle goes with the first.
 * -ENOMEM. */
int ext4_io_end_add_unwritten(struct ext4_io_end *io_end, handle_t *handle, u64 lblk, u64 len);

/*
 * The dirty blocks of a locked, no longer dirty folio that have a place on disk go out; if others
 * are left it is dirty again. 0 or -ENOMEM. fs/ext4/page-io.c
 */
int ext4_bio_write_folio(struct ext4_io_submit *io, struct folio *folio);

#endif
