#include "mm/slab.h"

#include <stdlib.h>
#include <string.h>

#include "mm/internal.h"

#define SLAB_MIN_SHIFT 4
#define SLAB_CHUNK     (256u << 10)

struct slab_chunk {
	struct slab_chunk *next;
	u64 pad; /* objects are aligned to 16 bytes */
	char data[];
};

static unsigned int size_class(size_t size)
{
	return size <= 1u << SLAB_MIN_SHIFT ? 0 : ilog2(size - 1) + 1 - SLAB_MIN_SHIFT;
}

/* A piece of a chunk; what is left of the old chunk is given up when it does not fit. */
static void *slab_carve(struct slab *slab, size_t size)
{
	size_t want = max_t(size_t, size, SLAB_CHUNK);
	struct slab_chunk *chunk;
	void *p;

	if (!slab->next || (size_t)(slab->end - slab->next) < size) {
		chunk = malloc(sizeof(*chunk) + want);
		if (!chunk)
			return NULL;
		chunk->next = slab->chunks;
		slab->chunks = chunk;
		slab->next = chunk->data;
		slab->end = chunk->data + want;
	}
	p = slab->next;
	slab->next += size;
	return p;
}

void *kzalloc(struct machine *m, size_t size)
{
	struct slab *slab = &m->mm->slab;
	unsigned int class = size_class(size);
	void *p;

	if (class >= SLAB_CLASSES)
		return NULL;
	size = (size_t)1 << (class + SLAB_MIN_SHIFT);
	p = slab->free[class];
	if (p)
		slab->free[class] = *(void **)p;
	else
		p = slab_carve(slab, size);
	if (!p)
		return NULL;
	slab->live++;
	return memset(p, 0, size);
}

void kfree(struct machine *m, void *p, size_t size)
{
	struct slab *slab = &m->mm->slab;
	unsigned int class = size_class(size);

	if (!p)
		return;
	*(void **)p = slab->free[class];
	slab->free[class] = p;
	slab->live--;
}

void slab_fini(struct slab *slab)
{
	while (slab->chunks) {
		struct slab_chunk *next = slab->chunks->next;

		free(slab->chunks);
		slab->chunks = next;
	}
	memset(slab, 0, sizeof(*slab));
}
