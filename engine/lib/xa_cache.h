/*
 * lib/xa_cache.h - where the nodes of XArrays come from.
 *
 * Mirrors    radix_tree_node_cachep, the kernel's slab of struct xa_node.
 * Invariant  every node on the free list, and every node handed out, is zero but for its link
 *            (parent); live is the number of nodes handed out and not yet returned.
 * Owner      one cache serves any number of XArrays and must outlive them; its memory goes
 *            back to the system only in xa_cache_fini().
 * Errors     xa_cache_alloc() returns NULL: no memory, or fail_in struck.
 * Differs    no RCU: a freed node may be reused at once.
 */
#ifndef FL_LIB_XA_CACHE_H
#define FL_LIB_XA_CACHE_H

#include "lib/types.h"

#define XA_CHUNK_SHIFT 6
#define XA_CHUNK_SIZE  (1UL << XA_CHUNK_SHIFT)
#define XA_CHUNK_MASK  (XA_CHUNK_SIZE - 1)
#define XA_MAX_MARKS   3

struct xarray;

struct xa_node {
	u8 shift;		/* index bits below this node: 0 for a leaf */
	u8 offset;		/* our slot in parent; 0 for the root */
	u8 count;		/* slots that are not NULL */
	u8 nr_values;		/* slots that hold a value entry or a sibling of one */
	struct xa_node *parent; /* NULL for the root; link while free or reserved */
	struct xarray *array;	/* the tree we belong to */
	void *slots[XA_CHUNK_SIZE];
	u64 marks[XA_MAX_MARKS]; /* bit i: slot i, or something below it, bears the mark */
} __attribute__((aligned(64)));

struct xa_cache {
	struct xa_node *free;  /* returned nodes, linked by parent */
	struct xa_node *fresh; /* next node of the newest chunk never handed out */
	struct xa_node *end;   /* end of the newest chunk */
	void *chunks;	       /* mappings, newest first, linked by their first word */
	u64 live;	       /* nodes handed out */
	u64 fail_in;	       /* > 0: counts down, the allocation that reaches 0 fails (once) */
};

/* An empty cache; maps nothing yet. */
void xa_cache_init(struct xa_cache *cache);

/* Unmap everything. Nodes still live become invalid with it. */
void xa_cache_fini(struct xa_cache *cache);

/* A zeroed node, or NULL if there is no memory or fail_in counted down to 0. */
struct xa_node *xa_cache_alloc(struct xa_cache *cache);

/* Return a node whose slots are all NULL; the other members may hold anything. */
void xa_cache_free(struct xa_cache *cache, struct xa_node *node);

#endif
