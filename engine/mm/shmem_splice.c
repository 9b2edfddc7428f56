/*
 * splice(2) from files in memory.
 *
 * Mirrors shmem_file_splice_read() of mm/shmem.c (v6.5) and what served before it:
 * generic_file_splice_read(), a read into a pipe, page by page.
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"

struct shmem_splicer {
	struct inode *inode;
	struct machine *m;
	struct pipe_inode_info *pipe;
	loff_t pos;
	size_t len; /* still wanted */
	size_t total;
};

/* @part bytes of the folio (NULL: zeros) at the position, as far as the pipe takes them. */
static size_t push(struct shmem_splicer *s, struct folio *folio, size_t part)
{
	size_t offset = folio ? s->pos & (folio_size(folio) - 1) : s->pos & (s->m->page_size - 1);
	size_t done = 0, n;

	charge(s->m, COST_COPY_FOLIO, 1);
	while (done < part && (n = pipe_push(s->m, s->pipe, folio, offset + done, part - done)))
		done += n;
	trace_event(&s->m->trace, EV_fl_shmem_splice, folio ? folio->_order : 0, s->inode->i_ino,
		    s->pos, part, done);
	if (folio && done)
		page_state_use(s->m, folio, offset, done);
	s->pos += done;
	s->len -= done;
	s->total += done;
	return done;
}

static size_t rest_of_page(const struct shmem_splicer *s)
{
	return s->m->page_size - (s->pos & (s->m->page_size - 1));
}

/*
 * May the folio be spliced from, and only the page at the position? 0, 1, or -EIO.
 */
static int check_poison(const struct shmem_splicer *s, const struct folio *folio)
{
	bool some = folio && folio_contain_hwpoisoned_page(folio);
	bool page = folio && folio_page_hwpoison(folio, s->pos >> s->m->page_shift);

	if (!knob(s->m, SHMEM_SPLICE))
		return page ? -EIO : 1;
	if (!knob(s->m, SHMEM_SPLICE_FALLBACK))
		return some ? -EIO : 0;
	return page ? -EIO : some;
}

/*
 * Bytes the file has from the position on, as far as a turn looks at it; 0: none. The generic way
 * looks at one page, and with the folio at hand (@again) at the end of the file only if it is
 * there.
 */
static u64 file_bytes(const struct shmem_splicer *s, bool again)
{
	loff_t i_size = i_size_read(s->inode);

	if (knob(s->m, SHMEM_SPLICE))
		return max(i_size - s->pos, (loff_t)0);
	return !again && shmem_past_end_page(s->inode, s->pos) ? 0
							       : shmem_page_bytes(s->inode, s->pos);
}

/* The turn's share: of what the file has, to the end of the request, of the page or folio. */
static size_t turn_bytes(const struct shmem_splicer *s, const struct folio *folio, bool page_only)
{
	size_t part = min_t(u64, file_bytes(s, true), s->len);

	if (!folio || page_only)
		return min(part, rest_of_page(s));
	return min_t(size_t, part, folio_size(folio) - (s->pos & (folio_size(folio) - 1)));
}

/* One turn; false: it is over. */
static bool splice_turn(struct shmem_splicer *s, int *error)
{
	struct folio *folio;
	int poison;
	size_t n = 0;

	if (!file_bytes(s, false))
		return false;
	shmem_between(s->inode);
	*error = shmem_get_folio(s->inode, s->pos >> s->m->page_shift, 0, &folio, SGP_READ);
	if (*error) {
		*error = *error == -EINVAL ? 0 : *error;
		return false;
	}
	if (folio)
		folio_unlock(folio);
	poison = check_poison(s, folio);
	if (poison >= 0)
		shmem_between(s->inode);
	if (poison < 0)
		*error = poison;
	else if (file_bytes(s, true)) {
		/* The generic way counts as a read: at each page's start. */
		if (folio && (knob(s->m, SHMEM_SPLICE) || !(s->pos & (s->m->page_size - 1))))
			folio_mark_accessed(folio);
		n = push(s, folio, turn_bytes(s, folio, poison));
	}
	if (folio)
		folio_put(folio);
	return n && !pipe_full(s->pipe);
}

ssize_t shmem_file_splice_read(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe,
			       size_t len)
{
	struct inode *inode = in->f_inode;
	struct shmem_splicer s = {.inode = inode,
				  .m = inode->i_sb->s_machine,
				  .pipe = pipe,
				  .pos = *ppos,
				  .len = len};
	int error = 0;

	if (pipe)
		s.len = min_t(size_t, len,
			      (size_t)(pipe->max_usage - pipe->used) << s.m->page_shift);
	while (s.len && splice_turn(&s, &error))
		;
	*ppos = s.pos;
	return s.total ? (ssize_t)s.total : error;
}
