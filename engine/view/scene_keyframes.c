/*
 * Whole scenes kept every so many events.
 *
 * A keyframe shares its chunks of pages with the scene and with other keyframes; whoever writes to
 * a shared one makes a copy first. So a keyframe costs what changed since the one before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/scene_internal.h"

struct kept_chunk {
	u64 nr;
	struct scene_chunk *chunk;
};

struct kept_file {
	u32 ino;
	u64 end;
	struct kept_chunk *chunks; /* ascending; those without pages are left out */
	size_t nr;
};

struct scene_keyframe {
	u64 pos, slot;
	struct scene_state state;
	struct scene_counts counts;
	struct scene_sums sums;
	struct kept_file files[SCENE_FILES];
	unsigned int nr_files;
	u64 bytes; /* that are this keyframe's and not the one's before */
};

int keyframes_init(struct scene *s)
{
	s->keyframes = calloc(1, sizeof(*s->keyframes));
	if (!s->keyframes)
		return -ENOMEM;
	s->keyframes->every = SCENE_KEYFRAME_EVERY;
	s->keyframes->most = ~0ull;
	return 0;
}

static void free_keyframe(struct scene_keyframe *k)
{
	for (unsigned int i = 0; i < k->nr_files; i++) {
		for (size_t c = 0; c < k->files[i].nr; c++)
			chunk_put(k->files[i].chunks[c].chunk);
		free(k->files[i].chunks);
	}
	free(k);
}

void keyframes_fini(struct scene *s)
{
	struct scene_keyframes *all = s->keyframes;

	if (!all)
		return;
	for (size_t i = 0; i < all->nr; i++)
		free_keyframe(all->list[i]);
	free(all->list);
	free(all);
	s->keyframes = NULL;
}

/* ---- what they cost ---- */

/* Chunks of @f that @before does not have. */
static u64 own_chunks(const struct kept_file *f, const struct kept_file *before)
{
	u64 own = 0;
	size_t b = 0;

	for (size_t i = 0; i < f->nr; i++) {
		while (before && b < before->nr && before->chunks[b].nr < f->chunks[i].nr)
			b++;
		own += !before || b == before->nr || before->chunks[b].chunk != f->chunks[i].chunk;
	}
	return own;
}

static u64 own_bytes(const struct scene_keyframe *k, const struct scene_keyframe *before)
{
	u64 bytes = sizeof(*k);

	for (unsigned int i = 0; i < k->nr_files; i++) {
		const struct kept_file *old =
			before && i < before->nr_files ? &before->files[i] : NULL;

		bytes += k->files[i].nr * sizeof(struct kept_chunk);
		bytes += own_chunks(&k->files[i], old) * sizeof(struct scene_chunk);
	}
	return bytes;
}

static void account(struct scene_keyframes *all, size_t from)
{
	for (size_t i = from; i < all->nr; i++) {
		struct scene_keyframe *k = all->list[i];

		all->bytes -= k->bytes;
		k->bytes = own_bytes(k, i ? all->list[i - 1] : NULL);
		all->bytes += k->bytes;
	}
}

/* Every second one goes, the first stays. */
static void thin_out(struct scene_keyframes *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (i % 2 == 0) {
			all->list[kept++] = all->list[i];
			continue;
		}
		all->bytes -= all->list[i]->bytes;
		free_keyframe(all->list[i]);
	}
	all->nr = kept;
	all->every *= 2;
	account(all, 0);
}

/* ---- keeping ---- */

static int keep_file(const struct scene_file *f, struct kept_file *kept)
{
	struct xarray *xa = (struct xarray *)&f->chunks;
	struct scene_chunk *c;
	unsigned long nr = 0;
	size_t chunks = 0;

	*kept = (struct kept_file){.ino = f->ino, .end = f->end};
	for (; (c = xa_find(xa, &nr, ~0ul, XA_PRESENT)); nr++)
		chunks += c->present != 0;
	kept->chunks = malloc((chunks + 1) * sizeof(*kept->chunks));
	if (!kept->chunks)
		return -ENOMEM;
	for (nr = 0; (c = xa_find(xa, &nr, ~0ul, XA_PRESENT)); nr++) {
		if (!c->present)
			continue;
		c->refs++;
		kept->chunks[kept->nr++] = (struct kept_chunk){nr, c};
	}
	return 0;
}

static struct scene_keyframe *make_keyframe(const struct scene *s)
{
	struct scene_keyframe *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->pos = s->pos;
	k->slot = s->slot;
	k->state = s->state;
	k->counts = s->counts;
	k->sums = s->sums;
	for (; k->nr_files < s->nr_files; k->nr_files++)
		if (keep_file(&s->files[k->nr_files], &k->files[k->nr_files])) {
			free_keyframe(k);
			return NULL;
		}
	return k;
}

static bool room_for_one(struct scene_keyframes *all)
{
	size_t cap = all->cap ? all->cap * 2 : 64;
	void *list;

	if (all->nr < all->cap)
		return true;
	list = realloc(all->list, cap * sizeof(*all->list));
	if (!list)
		return false;
	all->list = list;
	all->cap = cap;
	return true;
}

/* What the tape and the journal leave. */
static u64 bytes_left(const struct scene *s)
{
	u64 taken = SCENE_JOURNAL_MAX + s->tape->slots * sizeof(*s->tape->records);
	u64 left = SCENE_MEMORY - min(taken, SCENE_MEMORY);

	return min(max(left, SCENE_KEYFRAMES_MIN), s->keyframes->most);
}

/* Without memory there is none here: jumps are longer, nothing else. */
void keyframes_keep(struct scene *s)
{
	struct scene_keyframes *all = s->keyframes;
	struct scene_keyframe *k;

	if (s->pos < all->due)
		return;
	all->due = s->pos + all->every;
	k = room_for_one(all) ? make_keyframe(s) : NULL;
	if (!k)
		return;
	all->list[all->nr++] = k;
	account(all, all->nr - 1);
	while (all->bytes > bytes_left(s) && all->nr > 1)
		thin_out(all);
	all->due = all->list[all->nr - 1]->pos + all->every;
}

/* ---- showing ---- */

const struct scene_keyframe *keyframes_find(const struct scene *s, u64 pos)
{
	const struct scene_keyframes *all = s->keyframes;
	size_t low = 0, high = all->nr;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (all->list[mid]->pos <= pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? all->list[low - 1] : NULL;
}

u64 keyframe_pos(const struct scene_keyframe *k)
{
	return k->pos;
}

void keyframe_show(struct scene *s, const struct scene_keyframe *k)
{
	journal_forget(&s->journal);
	pages_clear(s);
	for (unsigned int i = 0; i < k->nr_files; i++) {
		const struct kept_file *kept = &k->files[i];
		int nr = pages_file(s, kept->ino);

		for (size_t c = 0; c < kept->nr; c++)
			pages_put_chunk(s, &s->files[nr], kept->chunks[c].nr,
					kept->chunks[c].chunk);
		s->files[nr].end = max(s->files[nr].end, kept->end);
	}
	s->state = k->state;
	s->counts = k->counts;
	s->sums = k->sums;
	s->pos = k->pos;
	s->slot = k->slot;
}
