#include "lib/xa_cache.h"

#include <string.h>
#include <sys/mman.h>

/* Untouched pages cost nothing, so a chunk may be large; it holds about 3600 nodes. */
#define CHUNK_BYTES ((size_t)2 << 20)

void xa_cache_init(struct xa_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
}

void xa_cache_fini(struct xa_cache *cache)
{
	void *next;

	for (void *chunk = cache->chunks; chunk; chunk = next) {
		next = *(void **)chunk;
		munmap(chunk, CHUNK_BYTES);
	}
	xa_cache_init(cache);
}

/* CHUNK_BYTES of zeros, aligned to their size so that one huge page can back them. */
static void *map_aligned(void)
{
	char *mem = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (mem == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)mem % CHUNK_BYTES;
	if (before)
		munmap(mem, before);
	munmap(mem + before + CHUNK_BYTES, CHUNK_BYTES - before);
	return mem + before;
}

/* Map one more chunk. Its first node's place holds the link, the rest comes zeroed. */
static bool add_chunk(struct xa_cache *cache)
{
	void *chunk = map_aligned();

	if (!chunk)
		return false;
	if (cache->chunks) /* large trees profit, small ones should stay small; advice only */
		madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	*(void **)chunk = cache->chunks;
	cache->chunks = chunk;
	cache->fresh = (struct xa_node *)chunk + 1;
	cache->end = (struct xa_node *)chunk + CHUNK_BYTES / sizeof(struct xa_node);
	return true;
}

struct xa_node *xa_cache_alloc(struct xa_cache *cache)
{
	struct xa_node *node = cache->free;

	if (unlikely(cache->fail_in) && --cache->fail_in == 0)
		return NULL;
	if (node) {
		cache->free = node->parent;
		node->parent = NULL;
	} else {
		if (cache->fresh == cache->end && !add_chunk(cache))
			return NULL;
		node = cache->fresh++;
	}
	cache->live++;
	return node;
}

void xa_cache_free(struct xa_cache *cache, struct xa_node *node)
{
	node->shift = 0;
	node->offset = 0;
	node->count = 0;
	node->nr_values = 0;
	node->array = NULL;
	memset(node->marks, 0, sizeof(node->marks));
	node->parent = cache->free;
	cache->free = node;
	cache->live--;
}
