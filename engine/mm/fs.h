/*
 * mm/fs.h - inode, file and mapping, as far as memory management knows them.
 *
 * Mirrors    include/linux/fs.h, backing-dev-defs.h, uio.h.
 * Invariant  nrpages = pages of all folios in i_pages; i_mapping = &i_data.
 * Owner      a super_block belongs to whoever mounted it; inodes to their super_block until
 *            evict_inode(); a file to whoever opened it.
 * Differs    no dentries, no inode cache; struct machine hangs off the super block. It lies on
 *            the mm floor because mm is below fs here; fs/ includes it from below.
 */
#ifndef FL_MM_FS_H
#define FL_MM_FS_H

#include "lib/list.h"
#include "lib/xarray.h"
#include "machine/lock.h"

struct address_space;
struct block_device;
struct block_space;
struct file;
struct file_system_type;
struct folio;
struct inode;
struct iov_iter;
struct kiocb;
struct pipe_inode_info;
struct readahead_control;
struct vm_operations_struct;
struct writeback_control;

/* f_mode */
#define FMODE_READ    (1u << 0)
#define FMODE_WRITE   (1u << 1)
#define FMODE_RANDOM  (1u << 12)
#define FMODE_NOREUSE (1u << 23)

/* ki_flags */
#define IOCB_NOWAIT    (1 << 3)
#define IOCB_WAITQ     (1 << 19)
#define IOCB_NOIO      (1 << 20)
#define IOCB_DONTCACHE (1 << 25)

/* a_flags of a mapping: bits 16..20 smallest, 21..25 largest folio order. */
#define AS_FOLIO_ORDER_BITS 5
#define AS_FOLIO_ORDER_MIN  16
#define AS_FOLIO_ORDER_MAX  (AS_FOLIO_ORDER_MIN + AS_FOLIO_ORDER_BITS)
#define AS_FOLIO_ORDER_MASK ((1u << AS_FOLIO_ORDER_BITS) - 1)

/* Longest single read or write. include/linux/fs.h MAX_RW_COUNT. */
#define MAX_RW_COUNT(m) (0x7fffffffUL & ~((m)->page_size - 1))

#define BDI_CAP_WRITEBACK (1u << 0)

struct backing_dev_info {
	unsigned int capabilities; /* BDI_CAP_*; none of what has no disk */
	unsigned long ra_pages;	   /* largest readahead window in pages (read_ahead_kb) */
	unsigned long io_pages;	   /* largest single I/O in pages (max_sectors_kb) */
};

struct super_block {
	struct machine *s_machine;
	struct backing_dev_info *s_bdi;
	struct block_device *s_bdev;	      /* NULL where there is none */
	const char *s_type;		      /* "ext4", "xfs", ... */
	const struct file_system_type *s_ops; /* fs/super.h */
	loff_t s_maxbytes;
	unsigned char s_blocksize_bits;
	u32 s_dev;		     /* minor number for tracepoints */
	void *s_fs_info;	     /* the file system's; freed with the super block */
	struct block_space *s_space; /* free blocks; fs/balloc.h */
	struct list_head s_inodes;
	u32 s_next_ino;
	struct backing_dev_info bdi; /* storage behind s_bdi */
};

struct address_space_operations {
	int (*read_folio)(struct file *file, struct folio *folio);
	/*
	 * A locked folio ready for [pos, pos + len), which may be cut to the folio's end. 0,
	 * negative errno, or (ours) the most bytes that may be written.
	 */
	int (*write_begin)(struct address_space *mapping, loff_t pos, unsigned int len,
			   struct folio **foliop);
	/* @copied bytes are in place; unlocks and puts the folio. Returns the bytes accepted. */
	int (*write_end)(struct address_space *mapping, loff_t pos, unsigned int len,
			 unsigned int copied, struct folio *folio);
	int (*writepages)(struct address_space *mapping, struct writeback_control *wbc);
	bool (*dirty_folio)(struct address_space *mapping, struct folio *folio);
	void (*readahead)(struct readahead_control *rac);
	/* Are all blocks in [from, from + count) uptodate? Bytes inside the folio. */
	bool (*is_partially_uptodate)(struct folio *folio, size_t from, size_t count);
	bool (*release_folio)(struct folio *folio, gfp_t gfp);
	void (*invalidate_folio)(struct folio *folio, size_t offset, size_t len);
};

struct address_space {
	struct inode *host;
	struct xarray i_pages; /* folios and shadow entries; under xa_lock */
	gfp_t gfp_mask;
	unsigned long nrpages;
	pgoff_t writeback_index; /* where cyclic writeback goes on */
	u64 dirtied_ps;		 /* since when it has had dirty folios; 0: it has none */
	const struct address_space_operations *a_ops;
	unsigned long flags;
	u32 wb_err;		 /* errors so far; the lowest bit: somebody has seen the last */
	struct list_head i_mmap; /* VMAs that map it, by shared; under i_mmap_rwsem */
	struct lock xa_lock, invalidate_lock, i_mmap_rwsem;
	struct list_head m_mappings; /* all mappings of the machine, for checks */
};

/* What the blocks of an extent are; a hole has no extent. */
enum extent_state {
	EXTENT_WRITTEN,	  /* bytes on disk */
	EXTENT_UNWRITTEN, /* blocks on disk, bytes read as zeros */
	EXTENT_DELAYED,	  /* reserved, no place on disk yet */
};

/* One run of blocks of a file. */
struct fs_extent {
	u64 lblk, pblk, len; /* in blocks; pblk is 0 while delayed */
	enum extent_state state;
};

/* What a file system does for the system calls. Results: bytes or 0, or negative errno. */
struct file_operations {
	/* NULL: filemap_read(). */
	ssize_t (*read_iter)(struct kiocb *iocb, struct iov_iter *to);
	ssize_t (*write_iter)(struct kiocb *iocb, struct iov_iter *iter);
	/* NULL: filemap_splice_read(). @pipe NULL takes everything. Moves *@ppos. */
	ssize_t (*splice_read)(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe,
			       size_t len);
	int (*fsync)(struct file *file);
	long (*fallocate)(struct file *file, int mode, loff_t offset, loff_t len);
	int (*setattr_size)(struct inode *inode, loff_t size);
	void (*release)(struct inode *inode); /* a descriptor was closed */
	bool read_iolock;		      /* reads share i_rwsem */
	/* What ->mmap installs; NULL: generic_file_vm_ops. */
	const struct vm_operations_struct *vm_ops;
};

struct inode {
	struct super_block *i_sb;
	struct address_space *i_mapping;
	u32 i_ino;
	loff_t i_size;
	unsigned char i_blkbits;
	const struct file_operations *i_fop;
	struct fs_extent *i_extents; /* fs/extents.h; what is missing is a hole */
	unsigned int i_nr_extents, i_cap_extents;
	loff_t i_disksize;     /* size that writeback has made durable */
	unsigned long i_flags; /* the file system's */
	unsigned int i_nlink;  /* names; 0: memfd and the like */
	void *i_private;       /* the file system's; freed with the inode */
	void *i_inline;	       /* data kept in the inode itself; the same */
	struct lock i_rwsem;
	struct list_head i_sb_list;
	struct address_space i_data;
};

/* mm/readahead.c's memory of one open file. */
struct file_ra_state {
	pgoff_t start;		  /* first page of the most recent window */
	unsigned int size;	  /* its pages */
	unsigned int async_size;  /* the tail; the mark is at start + size - async_size */
	unsigned int ra_pages;	  /* largest window */
	unsigned short order;	  /* preferred order of the last window (v6.17) */
	unsigned short mmap_miss; /* misses of mapped reads */
	loff_t prev_pos;	  /* just behind the last byte delivered; -1 at open */
};

struct file {
	struct inode *f_inode;
	struct address_space *f_mapping;
	unsigned int f_mode;
	unsigned int f_count; /* descriptors and mappings that hold it */
	loff_t f_pos;
	u32 f_wb_err; /* wb_err of the mapping as last seen here */
	struct lock f_pos_lock;
	struct file_ra_state f_ra;
};

struct kiocb {
	struct file *ki_filp;
	loff_t ki_pos;
	int ki_flags;
};

/* Where the bytes of one read go, or of one write come from. */
struct iov_iter {
	size_t count;	/* bytes still wanted */
	char *ubuf;	/* next byte, or NULL: count but do not copy */
	bool short_mem; /* only the next mem bytes can be accessed, then it faults */
	bool kernel;	/* a buffer of the kernel's own */
	size_t mem;
};

/* Marks of i_pages. */
#define PAGECACHE_TAG_DIRTY	XA_MARK_0
#define PAGECACHE_TAG_WRITEBACK XA_MARK_1
#define PAGECACHE_TAG_TOWRITE	XA_MARK_2

static inline struct machine *mapping_machine(const struct address_space *mapping)
{
	return mapping->host->i_sb->s_machine;
}

static inline struct file *get_file(struct file *file)
{
	file->f_count++;
	return file;
}

/* Drop a reference; the last one closes. fs/super.c */
void fput(struct file *file);

/* fput() for a machine that is shut down next: a file closed by it is only freed. */
void file_drop(struct file *file);

static inline loff_t i_size_read(const struct inode *inode)
{
	return inode->i_size;
}

static inline struct backing_dev_info *inode_to_bdi(const struct inode *inode)
{
	return inode->i_sb->s_bdi;
}

/* Major number of all disks in tracepoints. */
#define FS_MAJOR 259

#endif
