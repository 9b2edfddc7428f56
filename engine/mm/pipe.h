/*
 * mm/pipe.h - a pipe, as far as splicing into it goes.
 *
 * Mirrors    include/linux/pipe_fs_i.h, fs/splice.c, lib/iov_iter.c (the pipe iterator of v6.1).
 * Invariant  a slot holds at most a page of one folio, and a reference to it.
 * Owner      the pipe belongs to its caller; pipe_release() drops what is in it.
 */
#ifndef FL_MM_PIPE_H
#define FL_MM_PIPE_H

#include "mm/mm_types.h"

/* Slots of a pipe that nobody resized. */
#define PIPE_DEF_BUFFERS 16

struct pipe_buffer {
	struct folio *folio; /* NULL: the zero page */
	size_t offset;	     /* byte of the folio */
	unsigned int len;
};

struct pipe_inode_info {
	unsigned int max_usage; /* slots */
	unsigned int used;
	struct pipe_buffer *bufs; /* max_usage of them */
};

/* 0 or -ENOMEM. */
int pipe_init(struct pipe_inode_info *pipe, unsigned int slots);
void pipe_release(struct pipe_inode_info *pipe);

static inline bool pipe_full(const struct pipe_inode_info *pipe)
{
	return pipe && pipe->used == pipe->max_usage;
}

/*
 * Append @len bytes of @folio from @offset on, at most to the end of that page; takes a reference.
 * @pipe NULL takes everything and keeps nothing. Returns the bytes taken: 0 if the pipe is full.
 */
size_t pipe_push(struct machine *m, struct pipe_inode_info *pipe, struct folio *folio,
		 size_t offset, size_t len);

#endif
