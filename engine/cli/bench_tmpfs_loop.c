/*
 * The read path of tmpfs once more, for the host's clock.
 *
 * What is compiled here is mm/shmem_read.c itself, over other primitives: references and the folio
 * lock are locked instructions, as the kernel's are, and nothing is charged to virtual time, traced
 * or kept of single pages. The lookup walks the file's own tree; folio_mark_accessed() is the
 * engine's. Differs: a folio that is missing or not uptodate is a hole, whoever asks.
 */
#include "cli/bench_tmpfs.h"

#include <errno.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"

/* folio_try_get() */
static bool locked_try_get(struct folio *folio)
{
	int refs = __atomic_load_n(&folio->_refcount, __ATOMIC_RELAXED);

	do {
		if (!refs)
			return false;
	} while (!__atomic_compare_exchange_n(&folio->_refcount, &refs, refs + 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return true;
}

static void locked_unlock(struct folio *folio)
{
	__atomic_fetch_and(&folio->flags, ~BIT(PG_locked), __ATOMIC_RELEASE);
}

static void locked_put(struct folio *folio)
{
	if (!__atomic_sub_fetch(&folio->_refcount, 1, __ATOMIC_RELEASE))
		__folio_put(folio);
}

/* shmem_get_folio(SGP_READ): the locked folio with a reference, NULL for a hole; -EINVAL. */
static int locked_get_folio(struct inode *inode, pgoff_t index, struct folio **foliop)
{
	struct folio *folio;

	*foliop = NULL;
	if ((loff_t)index << inode->i_sb->s_machine->page_shift >= i_size_read(inode))
		return -EINVAL;
	do
		folio = xa_load(&inode->i_mapping->i_pages, index);
	while (folio && !locked_try_get(folio));
	if (!folio)
		return 0;
	while (__atomic_fetch_or(&folio->flags, BIT(PG_locked), __ATOMIC_ACQUIRE) & BIT(PG_locked))
		;
	if (folio->mapping == inode->i_mapping && folio_test_uptodate(folio)) {
		*foliop = folio;
		return 0;
	}
	locked_unlock(folio);
	locked_put(folio);
	return 0;
}

#define shmem_file_read_iter				      bench_tmpfs_read_iter
#define shmem_get_folio(inode, index, write_end, foliop, sgp) locked_get_folio(inode, index, foliop)
#define folio_unlock					      locked_unlock
#define folio_put					      locked_put
#define page_state_use(m, folio, offset, len)		      ((void)0)
#undef charge2
#define charge2(m, id, n, id2, n2) ((void)0)
#undef trace_event
#define trace_event(...) ((void)0)

#include "mm/shmem_read.c"
