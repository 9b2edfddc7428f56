/*
 * mm/slab.h - small things that hang off folios: block states, buffer heads.
 *
 * Mirrors    mm/slub.c kmalloc() in purpose.
 * Invariant  memory of a size class is reused only for that class.
 * Owner      everything goes back to the host with the machine, freed or not.
 * Errors     NULL without memory.
 */
#ifndef FL_MM_SLAB_H
#define FL_MM_SLAB_H

#include "lib/types.h"

#define SLAB_CLASSES 20 /* 2^4 .. 2^23 bytes */

struct slab_chunk;

struct slab {
	void *free[SLAB_CLASSES]; /* linked through their first word */
	struct slab_chunk *chunks;
	char *next, *end; /* of the newest chunk */
	u64 live;	  /* objects handed out */
};

struct machine;

/* Zeroed. kzalloc(m, size); kfree() wants the same size again. */
void *kzalloc(struct machine *m, size_t size);
void kfree(struct machine *m, void *p, size_t size);

void slab_fini(struct slab *slab);

#endif
