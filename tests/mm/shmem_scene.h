/*
 * tests/mm/shmem_scene.h - a tmpfs file set up for a test, and the lookups and copies of a call.
 *
 * Copies are written as the specification does: "3x4096+1x32768"; "0" for none. Folios are
 * "0-127:o7 129:o0 ...": runs of the same order, fallocated ones too.
 *
 * Owner      shmem_open() gives the scene to the caller, shmem_close() checks the machine.
 */
#ifndef FL_TESTS_MM_SHMEM_SCENE_H
#define FL_TESTS_MM_SHMEM_SCENE_H

#include "fs/read_write.h"
#include "lab/run.h"
#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/pipe.h"
#include "mm/writeback.h"
#include "unit.h"

#define K4  4096L
#define K64 65536L
#define M2  (2L << 20)
#define M4  (4L << 20)

/* The six recorded kernels, in the order of the specification's columns. */
#define SIX 6
extern const char *const six[SIX];

struct shmem_scene {
	struct run *run;
	struct trace_sink sink;
	unsigned long lookups;
	unsigned long asked; /* bytes, by all calls of write_begin together */
	unsigned int slots;  /* of the pipe that the last splice filled */
	u64 size[64];	     /* copies by size, in order of appearance of a new size */
	unsigned long copies[64];
	unsigned int nr;
	struct pipe_inode_info pipe;
};

/* An empty file on @fs of a machine with @memory bytes, real bytes in it. */
struct shmem_scene *shmem_open(const char *kernel, const char *fs, u64 memory);
/* The same with pages of 4, 16 or 64 KiB. */
struct shmem_scene *shmem_open_paged(const char *kernel, const char *fs, u64 memory,
				     unsigned int page_size);
/* For comparison: a written file of @size bytes on ext4, of which single pages get cached. */
struct shmem_scene *shmem_open_ext4(const char *kernel, u64 size);
/* Two PMD-sized folios of 4 MiB, page n filled with bytes n + 1. */
struct shmem_scene *shmem_two_thps(const char *kernel);
void shmem_close(struct shmem_scene *s);

/* One call, counted; the read ones also check every byte against page n = n + 1. */
ssize_t shmem_pread(struct shmem_scene *s, loff_t off, size_t len);
ssize_t shmem_splice(struct shmem_scene *s, loff_t off, size_t len, unsigned int slots);
ssize_t shmem_pwrite(struct shmem_scene *s, loff_t off, size_t len);
int shmem_fallocate_call(struct shmem_scene *s, loff_t off, loff_t len);
int shmem_punch_call(struct shmem_scene *s, loff_t off, loff_t len);
/* "3x4096+1x32768" of the last call; a write's copies are those into the folios. */
const char *shmem_copies(struct shmem_scene *s);
/* MADV_HWPOISON of a page through a fresh mapping that stays: its return value. */
int shmem_poison(struct shmem_scene *s, pgoff_t page);
unsigned long shmem_pfn(struct shmem_scene *s, pgoff_t page);
/* "0-511:o9 ..." of the whole file. */
const char *shmem_layout(struct shmem_scene *s);

#endif
