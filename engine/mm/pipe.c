#include "mm/pipe.h"

#include <errno.h>
#include <stdlib.h>

int pipe_init(struct pipe_inode_info *pipe, unsigned int slots)
{
	*pipe = (struct pipe_inode_info){.max_usage = slots};
	pipe->bufs = calloc(slots, sizeof(*pipe->bufs));
	return pipe->bufs ? 0 : -ENOMEM;
}

void pipe_release(struct pipe_inode_info *pipe)
{
	for (unsigned int i = 0; i < pipe->used; i++)
		if (pipe->bufs[i].folio)
			folio_put(pipe->bufs[i].folio);
	free(pipe->bufs);
	*pipe = (struct pipe_inode_info){0};
}

size_t pipe_push(struct machine *m, struct pipe_inode_info *pipe, struct folio *folio,
		 size_t offset, size_t len)
{
	len = min_t(size_t, len, m->page_size - (offset & (m->page_size - 1)));
	if (pipe_full(pipe))
		return 0;
	if (!pipe)
		return len;
	if (folio)
		folio_get(folio);
	pipe->bufs[pipe->used++] =
		(struct pipe_buffer){.folio = folio, .offset = offset, .len = len};
	return len;
}
