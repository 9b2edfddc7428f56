/*
 * mm/shmem_fs.h - files that live in memory: tmpfs, memfd, anonymous shared memory.
 *
 * Mirrors    include/linux/shmem_fs.h, mm/shmem.c (here shmem.c, shmem_huge.c, shmem_read.c,
 *            shmem_splice.c, shmem_write.c).
 * Invariant  every folio is swap-backed and has no place but memory, so reclaim never takes it; a
 *            folio that is not uptodate was fallocated and reads as a hole.
 * Owner      inode->i_private is a struct shmem_inode_info, sb->s_fs_info a struct shmem_sb_info;
 *            both end with their inode and super block.
 * Errors     negative errno.
 * Differs    no swap, no quotas, no xattrs; the kernel's global switches hang off the machine.
 */
#ifndef FL_MM_SHMEM_FS_H
#define FL_MM_SHMEM_FS_H

#include "mm/mm.h"
#include "mm/pipe.h"

/* huge= of a mount, and shmem_enabled, where the last two may stand too. mm/shmem.c */
enum shmem_huge {
	SHMEM_HUGE_NEVER,
	SHMEM_HUGE_ALWAYS,
	SHMEM_HUGE_WITHIN_SIZE,
	SHMEM_HUGE_ADVISE,
	SHMEM_HUGE_DENY,  /* shmem_enabled only: all off, everywhere */
	SHMEM_HUGE_FORCE, /* shmem_enabled only: PMD order everywhere */
};

/* What a lookup is for; up to SGP_CACHE it must stay below the end of the file. */
enum sgp_type { SGP_READ, SGP_NOALLOC, SGP_CACHE, SGP_WRITE, SGP_FALLOC };

struct shmem_sb_info {
	unsigned char huge;	     /* enum shmem_huge */
	u64 max_blocks, used_blocks; /* pages; 0: no limit */
};

struct shmem_inode_info {
	unsigned long alloced; /* pages */
	pgoff_t fallocend;     /* a split keeps pieces below this even past the end */
};

/* /sys/kernel/mm/transparent_hugepage: masks have a bit an order. */
struct shmem_globals {
	unsigned char shmem_huge; /* shmem_enabled */
	unsigned long huge_shmem_orders_always, huge_shmem_orders_madvise;
	unsigned long huge_shmem_orders_inherit, huge_shmem_orders_within_size;
	/* For tests: called between the steps of every turn of a read or splice. */
	void (*between)(void *ctx, struct inode *inode);
	void *between_ctx;
};

static inline struct shmem_inode_info *SHMEM_I(const struct inode *inode)
{
	return inode->i_private;
}

static inline struct shmem_sb_info *SHMEM_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

extern const struct address_space_operations shmem_aops;

static inline bool shmem_mapping(const struct address_space *mapping)
{
	return mapping->a_ops == &shmem_aops;
}

/* ---- mounting and opening ---- */

/* @options: "huge=always" and so on, or "". 0, -EINVAL, -ENOMEM. */
int shmem_fill_super(struct super_block *sb, const char *options);
/* remount: what is cached stays as it is. */
void shmem_remount_huge(struct super_block *sb, enum shmem_huge huge);
/* Operations on pages of a fresh inode: 0 or -ENOMEM. The file system adds those on files. */
int shmem_init_inode(struct inode *inode);
/* No name leads to it: memfd, anonymous shared memory, an unlinked file; shmem_enabled rules. */
void shmem_make_anonymous(struct inode *inode);
/* never always within_size advise (deny force): the value, or -EINVAL. */
int shmem_parse_huge(const char *word);
/* Write shmem_enabled; -EINVAL for force where the inherit mask is not the PMD order alone. */
int shmem_enabled_store(struct machine *m, const char *word);
/* Write hugepages-<size>kB/shmem_enabled: always inherit within_size advise never. -EINVAL. */
int thpsize_shmem_enabled_store(struct machine *m, unsigned int order, const char *word);

/* ---- lookup: mm/shmem.c ---- */

/*
 * The locked folio over page @index with a reference, or NULL for a hole of a reader. @write_end:
 * byte the caller still means to reach, 0 if unknown. @vmf: the fault, if it is one. -EINVAL at or
 * past the end, -EFBIG, -ENOENT (NOALLOC), -ENOSPC, -ENOMEM.
 */
int shmem_get_folio_gfp(struct inode *inode, pgoff_t index, loff_t write_end, struct folio **foliop,
			enum sgp_type sgp, struct vm_fault *vmf);

static inline int shmem_get_folio(struct inode *inode, pgoff_t index, loff_t write_end,
				  struct folio **foliop, enum sgp_type sgp)
{
	return shmem_get_folio_gfp(inode, index, write_end, foliop, sgp, NULL);
}

vm_fault_t shmem_fault(struct vm_fault *vmf);
/* The end of the file for a split, in pages: fallocated space beyond it counts. */
pgoff_t shmem_fallocend(const struct inode *inode, pgoff_t eof);
/* Remove [lstart, lend] bytes; lend -1 is the end. @unfalloc: only what is not uptodate. */
void shmem_undo_range(struct inode *inode, loff_t lstart, loff_t lend, bool unfalloc);
/* @pages of the inode left the cache. */
void shmem_uncharge(struct inode *inode, unsigned long pages);

/* ---- mm/shmem_huge.c ---- */

/* Orders above 0 that policy allows at @index, a bit each. @vma NULL: not a fault. */
unsigned long shmem_allowable_huge_orders(struct inode *inode, const struct vm_area_struct *vma,
					  pgoff_t index, loff_t write_end);
/* Of these, the ones whose aligned range is free (and inside the VMA of a fault). */
unsigned long shmem_suitable_orders(struct inode *inode, const struct vm_fault *vmf, pgoff_t index,
				    unsigned long orders);
/* st_blksize */
unsigned long shmem_blksize(struct inode *inode);
/* Split large folios that reach past the end of their file: pages given back. */
unsigned long shmem_unused_huge_shrink(struct super_block *sb);

/* ---- mm/shmem_read.c, mm/shmem_splice.c ---- */

/* Bytes [from, to) of the locked folio are written: the rest is zeroed if it was not uptodate. */
void shmem_finish_write(struct folio *folio, size_t from, size_t to);

ssize_t shmem_file_read_iter(struct kiocb *iocb, struct iov_iter *to);
ssize_t shmem_file_splice_read(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe,
			       size_t len);

/*
 * Where a turn is a page: bytes of the page at @pos, from there on, that the file has; 0 at its
 * end. An end in an earlier page goes unnoticed, which is why turns begin with the second question.
 */
static inline size_t shmem_page_bytes(const struct inode *inode, loff_t pos)
{
	const struct machine *m = inode->i_sb->s_machine;
	size_t offset = pos & (m->page_size - 1), nr = m->page_size;
	loff_t i_size = i_size_read(inode);

	if (pos >> m->page_shift == i_size >> m->page_shift)
		nr = i_size & (m->page_size - 1);
	return nr > offset ? nr - offset : 0;
}

static inline bool shmem_past_end_page(const struct inode *inode, loff_t pos)
{
	unsigned int shift = inode->i_sb->s_machine->page_shift;

	return pos >> shift > i_size_read(inode) >> shift;
}

/* ---- mm/shmem_write.c ---- */

long shmem_fallocate(struct inode *inode, loff_t offset, loff_t len);
long shmem_punch_hole(struct inode *inode, loff_t offset, loff_t len);
int shmem_setattr_size(struct inode *inode, loff_t newsize);

/* ---- poison, as tmpfs asks for it ---- */

/* Is page @index of the folio, or (folio_contain_hwpoisoned_page()) any page of it bad? */
static inline bool folio_page_hwpoison(const struct folio *folio, pgoff_t index)
{
	return folio_machine(folio)->page_state[folio->_pfn + (index - folio->index)] &
	       PAGE_HWPOISON;
}

static inline bool folio_contain_hwpoisoned_page(const struct folio *folio)
{
	return folio_test_hwpoison(folio) ||
	       (folio_test_large(folio) && folio_test_has_hwpoisoned(folio));
}

#endif
