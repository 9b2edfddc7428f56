/*
 * mm/mm.h - an address space with mapped files: VMAs, page tables, faults.
 *
 * Mirrors    include/linux/mm.h, mm_types.h (mm_struct, vm_area_struct, vm_fault), pgtable.h; the
 *            code is in mm/mmap.c, memory.c, rmap.c, madvise.c, mlock.c and filemap_fault.c.
 * Invariant  a present PTE or PMD holds one reference and one mapcount of its folio, which covers
 *            the mapped file page; a folio's _mapcount is the sum of its PTEs and PMDs.
 * Owner      an mm_struct belongs to whoever called mm_alloc(); a VMA keeps a reference to the open
 *            file it was made from, so reopening a descriptor does not touch the mapping.
 * Errors     negative errno; faults return bits of enum vm_fault_reason.
 * Differs    one CPU, shared file mappings only (private ones are the same until the first store),
 * two levels of tables: PMDs in an XArray, PTEs in arrays made on demand. Table pages are counted
 * and charged but take no memory from the buddy system.
 */
#ifndef FL_MM_MM_H
#define FL_MM_MM_H

#include "mm/pagemap.h"

/* vm_flags. include/linux/mm.h */
#define VM_READ	      0x00000001UL
#define VM_WRITE      0x00000002UL
#define VM_EXEC	      0x00000004UL
#define VM_SHARED     0x00000008UL
#define VM_LOCKED     0x00002000UL
#define VM_SEQ_READ   0x00008000UL
#define VM_RAND_READ  0x00010000UL
#define VM_HUGEPAGE   0x20000000UL
#define VM_NOHUGEPAGE 0x40000000UL

/* include/linux/mm_types.h */
enum vm_fault_reason {
	VM_FAULT_OOM = 0x0001,
	VM_FAULT_SIGBUS = 0x0002,
	VM_FAULT_MAJOR = 0x0004,
	VM_FAULT_HWPOISON = 0x0010,
	VM_FAULT_SIGSEGV = 0x0040,
	VM_FAULT_NOPAGE = 0x0100,
	VM_FAULT_LOCKED = 0x0200,
	VM_FAULT_RETRY = 0x0400,
	VM_FAULT_FALLBACK = 0x0800,
	VM_FAULT_COMPLETED = 0x4000,
};

#define VM_FAULT_ERROR (VM_FAULT_OOM | VM_FAULT_SIGBUS | VM_FAULT_SIGSEGV | VM_FAULT_HWPOISON)

enum fault_flag {
	FAULT_FLAG_WRITE = 0x01,
	FAULT_FLAG_MKWRITE = 0x02,
	FAULT_FLAG_ALLOW_RETRY = 0x04,
	FAULT_FLAG_TRIED = 0x20,
	FAULT_FLAG_USER = 0x40,
	FAULT_FLAG_VMA_LOCK = 0x1000,
};

typedef unsigned int vm_fault_t;

/* A page table entry: a struct folio (aligned to 64) and these bits. 0 is "none". */
typedef u64 pte_t;

#define PTE_PRESENT	    1ULL
#define PTE_WRITE	    2ULL
#define PTE_YOUNG	    4ULL
#define PTE_DIRTY	    8ULL
#define PTE_MARKER_POISONED 16ULL /* not present: the page here was bad, touching it is SIGBUS */
#define PTE_FLAGS	    63ULL

static inline struct folio *pte_folio(pte_t pte)
{
	return (struct folio *)(uintptr_t)(pte & ~PTE_FLAGS);
}

/* One PMD region: mapped as a whole (huge), through a table (pte), or not at all. */
struct pmd {
	pte_t huge;	      /* a folio of PMD order and bits, 0 if there is none */
	pte_t *pte;	      /* PTRS_PER_PTE entries, NULL if there is none */
	unsigned int present; /* entries of the table that are not none */
	struct lock ptl;      /* guards the entries */
};

struct vm_fault;

struct vm_operations_struct {
	/* Returns the locked folio in vmf->folio, or an error, NOPAGE or RETRY. */
	vm_fault_t (*fault)(struct vm_fault *vmf);
	/* Map what is cached of file pages [start, end]; NOPAGE if the faulting page is now mapped.
	 */
	vm_fault_t (*map_pages)(struct vm_fault *vmf, pgoff_t start, pgoff_t end);
	/*
	 * A page is about to become writable. The folio comes unlocked with a reference; returns it
	 * locked (LOCKED) and dirty, or an error.
	 */
	vm_fault_t (*page_mkwrite)(struct vm_fault *vmf);
};

/* prctl(PR_MCE_KILL): what a task wants, whatever vm.memory_failure_early_kill says, or not. */
enum mce_kill { MCE_KILL_DEFAULT, MCE_KILL_EARLY, MCE_KILL_LATE };

/* SIGBUS for memory errors: what a task asked for and what it got last. include/linux/sched.h */
struct mm_mce {
	enum mce_kill kill;
	int si_code; /* BUS_MCEERR_AR or _AO; 0: none yet */
	unsigned int si_addr_lsb;
	unsigned long si_addr;
	unsigned long count; /* signals so far */
	int pending;	     /* si_code to send, while a failure is handled */
	unsigned long pending_addr;
};

struct mm_struct {
	struct machine *machine;
	struct list_head mmap;	 /* VMAs, newest first */
	struct list_head mmlist; /* all mms of the machine */
	struct xarray pgd;	 /* struct pmd by address >> PMD_SHIFT */
	unsigned long mmap_base; /* mappings are placed downwards from here */
	unsigned long rss;	 /* pages mapped */
	unsigned long last_nr;	 /* PMD looked up last, and its number */
	struct pmd *last_pmd;
	struct mm_mce mce;
	struct lock mmap_lock;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff; /* file page at vm_start */
	struct file *vm_file;	/* a reference */
	const struct vm_operations_struct *vm_ops;
	struct list_head vm_list; /* in mm->mmap */
	struct list_head shared;  /* in mapping->i_mmap */
	struct lock vm_lock;
};

struct vm_fault {
	struct vm_area_struct *vma;
	pgoff_t pgoff;	       /* file page that is wanted */
	unsigned long address; /* of the page */
	unsigned int flags;    /* enum fault_flag */
	struct pmd *pmd;
	bool prealloc_pte;   /* a table page is at hand */
	struct folio *folio; /* what ->fault found */
};

/* ---- sizes ---- */

static inline unsigned int pmd_order(const struct machine *m)
{
	return m->page_shift - 3;
}

static inline unsigned int pmd_shift(const struct machine *m)
{
	return m->page_shift + pmd_order(m);
}

static inline unsigned long ptrs_per_pte(const struct machine *m)
{
	return 1UL << pmd_order(m);
}

static inline unsigned long pte_index(const struct machine *m, unsigned long address)
{
	return (address >> m->page_shift) & (ptrs_per_pte(m) - 1);
}

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> vma->vm_mm->machine->page_shift;
}

static inline pgoff_t linear_page_index(const struct vm_area_struct *vma, unsigned long address)
{
	return ((address - vma->vm_start) >> vma->vm_mm->machine->page_shift) + vma->vm_pgoff;
}

/* Where a file page of the VMA is mapped; the page must be inside. */
static inline unsigned long vma_address(const struct vm_area_struct *vma, pgoff_t pgoff)
{
	return vma->vm_start + ((pgoff - vma->vm_pgoff) << vma->vm_mm->machine->page_shift);
}

/* ---- mm/mmap.c ---- */

/* An empty address space, or NULL without memory. mmput() unmaps all of it; NULL is fine. */
struct mm_struct *mm_alloc(struct machine *m);
void mmput(struct mm_struct *mm);
/*
 * Free the host memory of @mm (NULL is fine) and leave folios as they are: for a machine that
 * stopped in the middle and is shut down next.
 */
void mm_drop(struct mm_struct *mm);

/* Is there a gap of @len bytes below all mappings? mm/mmap.c get_unmapped_area(). */
bool mm_has_room(const struct mm_struct *mm, u64 len);

/*
 * Map @len bytes (rounded up to pages) of @file from page @pgoff on, shared. @addr 0: chosen, at a
 * multiple of the PMD size plus @pgoff if at least that long. -EINVAL for no length, -ENOMEM, also
 * where mm_has_room() says no.
 */
int do_mmap(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len,
	    unsigned long vm_flags, unsigned long pgoff, struct vm_area_struct **ret);
/* Unmap a whole VMA and free it. */
void do_munmap(struct vm_area_struct *vma);
struct vm_area_struct *vma_lookup(const struct mm_struct *mm, unsigned long addr);

/* ---- page tables: mm/pgtable.c ---- */

/* The PMD over @addr or NULL; pmd_alloc() makes it (NULL: no memory). */
struct pmd *pmd_offset(struct mm_struct *mm, unsigned long addr);
struct pmd *pmd_alloc(struct mm_struct *mm, unsigned long addr);
/* Give the PMD a table if it has none: 0 or -ENOMEM. */
int pte_alloc(struct mm_struct *mm, struct pmd *pmd);
/* Free the tables of [start, end), which maps nothing. */
void free_pgtables(struct mm_struct *mm, unsigned long start, unsigned long end);

static inline bool pmd_none(const struct pmd *pmd)
{
	return !pmd->huge && !pmd->pte;
}

/* ---- mm/memory.c ---- */

/* The handling of one fault, once: enum vm_fault_reason. */
vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags);
/* One exception of user space, repeated as often as it takes. arch/x86/mm/fault.c. */
vm_fault_t do_user_addr_fault(struct mm_struct *mm, unsigned long address, unsigned int flags);
/*
 * User space reads or writes the byte at @address. 0, or -EFAULT where the kernel would send
 * SIGSEGV or SIGBUS. @byte (may be NULL): where a read byte goes, or the byte that is stored.
 */
int access_user_byte(struct mm_struct *mm, unsigned long address, bool write, char *byte);
/* Fault in [start, end) by software: 0 or -EFAULT. mm/gup.c faultin_page_range(). */
int populate_range(struct vm_area_struct *vma, unsigned long start, unsigned long end, bool write);

/* Map @nr pages of a folio from its page @first on at PTE @t on; the PTEs must be none. */
void set_pte_range(struct vm_fault *vmf, struct folio *folio, unsigned int first, unsigned int nr,
		   unsigned int t);
vm_fault_t finish_fault(struct vm_fault *vmf);
/* Map a whole folio by its PMD; FALLBACK if that is not possible. Takes over one reference. */
vm_fault_t do_set_pmd(struct vm_fault *vmf, struct folio *folio);
/* fault_around_bytes of debugfs: rounded down to a power of two, at most a page table. */
void set_fault_around_bytes(struct machine *m, unsigned long bytes);

/* ---- mm/memory_zap.c ---- */

void zap_page_range(struct vm_area_struct *vma, unsigned long start, unsigned long end);
/*
 * Unmap file pages [start, start + nr) from every mapping; nr 0 is to the end. @even_cows: what is
 * the task's own goes, too, and so do the markers of bad pages (a truncation); else they stay (a
 * hole is punched).
 */
void unmap_mapping_pages(struct address_space *mapping, pgoff_t start, pgoff_t nr, bool even_cows);
/* The same in bytes; holelen 0 is to the end. mm/memory.c unmap_mapping_range(). */
void unmap_mapping_range(struct address_space *mapping, loff_t holebegin, loff_t holelen,
			 bool even_cows);
/* Like zap_page_range(), but the folios count as neither used nor unused by it. */
void unmap_folio_range(struct vm_area_struct *vma, unsigned long start, unsigned long end);
/* Turn a PMD mapping into none, so that its pages fault again. mm/huge_memory.c for files. */
void split_huge_pmd(struct vm_area_struct *vma, struct pmd *pmd, unsigned long address);

/* ---- mm/filemap_fault.c (mm/filemap.c in the kernel) ---- */

extern const struct vm_operations_struct generic_file_vm_ops;
vm_fault_t filemap_fault(struct vm_fault *vmf);
vm_fault_t filemap_map_pages(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff);
vm_fault_t filemap_page_mkwrite(struct vm_fault *vmf);

/* ---- mm/rmap.c ---- */

static inline bool folio_mapped(const struct folio *folio)
{
	return folio->_mapcount != 0;
}

/* Times page @nr of the folio is mapped by a PTE. */
unsigned int folio_page_mapcount(const struct folio *folio, unsigned int nr);
void folio_add_file_rmap_ptes(struct folio *folio, unsigned int first, unsigned int nr);
void folio_add_file_rmap_pmd(struct folio *folio);
void folio_remove_rmap_ptes(struct folio *folio, unsigned int first, unsigned int nr);
void folio_remove_rmap_pmd(struct folio *folio);
/* Change NR_FILE_MAPPED by @val pages; one call, charged to @id. mm/memcontrol.c. */
void lruvec_stat_mod_folio(struct folio *folio, long val, enum cost_id id);
/* PTEs and PMDs through which the folio was used since the last call; clears their young bits. */
unsigned int folio_referenced(struct folio *folio, unsigned long *vm_flags);
/* Unmap a locked folio everywhere. Dirty PTEs make it dirty. */
void try_to_unmap(struct folio *folio);
/* Does access through this VMA say anything about the future? include/linux/mm_inline.h */
bool vma_has_recency(const struct vm_area_struct *vma);

/* A task touched a bad page: SIGBUS, BUS_MCEERR_AR. mm/memory-failure.c */
void mm_sigbus_hwpoison(struct mm_struct *mm, unsigned long address);

/* ---- mm/madvise.c, mm/mlock.c ---- */

enum madvise_advice {
	MADV_NORMAL_,
	MADV_RANDOM_,
	MADV_SEQUENTIAL_,
	MADV_WILLNEED_,
	MADV_DONTNEED_,
	MADV_HUGEPAGE_,
	MADV_NOHUGEPAGE_,
	MADV_COLD_,
	MADV_PAGEOUT_,
	MADV_POPULATE_READ_,
	MADV_POPULATE_WRITE_,
	MADV_HWPOISON_,
	MADV_SOFT_OFFLINE_,
};

/* madvise(2) on [start, end) of one VMA: 0, -EINVAL, -EFAULT; of a memory failure its error. */
int do_madvise(struct vm_area_struct *vma, unsigned long start, unsigned long end, int advice);
/* mlock(2) and munlock(2) of a whole VMA. */
int do_mlock(struct vm_area_struct *vma);
void do_munlock(struct vm_area_struct *vma);
/* @nr pages of the folio were just mapped into a locked VMA. */
void mlock_vma_folio(struct folio *folio, unsigned int nr);

#endif
