/* The pages of every file: cells in chunks, and the sums over them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/scene_internal.h"

/* ---- files and chunks ---- */

int pages_file(struct scene *s, u32 ino)
{
	struct scene_file *f;

	for (unsigned int i = 0; i < s->nr_files; i++)
		if (s->files[i].ino == ino)
			return i;
	if (s->nr_files == SCENE_FILES)
		return -1;
	f = &s->files[s->nr_files];
	*f = (struct scene_file){.ino = ino, .last_chunk_nr = SCENE_NONE};
	xa_init(&f->chunks, &s->nodes);
	return s->nr_files++;
}

void chunk_put(struct scene_chunk *c)
{
	if (!--c->refs)
		free(c);
}

void pages_clear(struct scene *s)
{
	for (unsigned int i = 0; i < s->nr_files; i++) {
		struct scene_file *f = &s->files[i];
		unsigned long nr = 0;
		void *chunk;

		for (; (chunk = xa_find(&f->chunks, &nr, ~0ul, XA_PRESENT)); nr++)
			chunk_put(chunk);
		xa_destroy(&f->chunks);
		f->last_chunk_nr = SCENE_NONE;
	}
}

void pages_fini(struct scene *s)
{
	pages_clear(s);
	s->nr_files = 0;
}

static struct scene_chunk *find_chunk(const struct scene_file *f, u64 nr)
{
	return nr == f->last_chunk_nr ? f->last_chunk : xa_load(&f->chunks, nr);
}

static bool store_chunk(struct scene *s, struct scene_file *f, u64 nr, struct scene_chunk *c)
{
	if (!c || xa_is_err(xa_store(&f->chunks, nr, c))) {
		s->error = -ENOMEM;
		return false;
	}
	f->last_chunk_nr = nr;
	f->last_chunk = c;
	return true;
}

void pages_put_chunk(struct scene *s, struct scene_file *f, u64 nr, struct scene_chunk *c)
{
	if (store_chunk(s, f, nr, c))
		c->refs++;
}

/* A chunk that nobody else has, in the place of @c (or NULL: of nothing). */
static struct scene_chunk *own_chunk(struct scene *s, struct scene_file *f, u64 nr,
				     struct scene_chunk *c)
{
	struct scene_chunk *own = malloc(sizeof(*own));

	if (own && c)
		memcpy(own, c, sizeof(*own));
	else if (own)
		memset(own, 0, sizeof(*own));
	if (!store_chunk(s, f, nr, own)) {
		free(own);
		return NULL;
	}
	own->refs = 1;
	if (c)
		chunk_put(c);
	return own;
}

/* The chunk to write to; NULL where there is none (@make: where there is no memory). */
static struct scene_chunk *chunk_to_write(struct scene *s, struct scene_file *f, u64 nr, bool make)
{
	struct scene_chunk *c = find_chunk(f, nr);

	if (c ? c->refs > 1 : make)
		return own_chunk(s, f, nr, c);
	if (c) {
		f->last_chunk_nr = nr;
		f->last_chunk = c;
	}
	return c;
}

/* ---- sums ---- */

static void sum_folio(struct scene_sums *sums, u32 cell, u64 sign)
{
	u64 pages = sign << cell_order(cell);

	sums->folios[cell_order(cell)] += sign;
	sums->lru[cell_lru(cell)] += pages;
	if (cell & CELL_DIRTY)
		sums->dirty += pages;
	if (cell & CELL_WRITEBACK)
		sums->writeback += pages;
}

/* @nr cells of this value came (@nr > 0) or went. */
static void sum_cells(struct scene_sums *sums, u32 cell, s64 nr)
{
	if (!(cell & CELL_PRESENT))
		return;
	sums->pages += nr;
	sums->brought[cell_provenance(cell)] += nr;
	if (cell & CELL_USED)
		sums->used += nr;
	if (cell & CELL_POISON)
		sums->poisoned += nr;
	if (cell & CELL_HEAD)
		sum_folio(sums, cell, nr);
}

/* ---- writing ---- */

/* [first, first + nr) of a chunk holds @old and becomes @value. */
static void write_run(struct scene *s, struct scene_chunk *c, u32 first, u32 nr, u32 old, u32 value)
{
	sum_cells(&s->sums, old, -(s64)nr);
	sum_cells(&s->sums, value, nr);
	if ((old ^ value) & CELL_PRESENT)
		c->present += value & CELL_PRESENT ? nr : -nr;
	for (u32 i = 0; i < nr; i++)
		c->cells[first + i] = value;
	for (u32 b = first / SCENE_BLOCK_PAGES; b <= (first + nr - 1) / SCENE_BLOCK_PAGES; b++)
		c->stale |= 1u << b;
}

static u32 run_length(const struct scene_chunk *c, u32 first, u32 max)
{
	u32 n = 1;

	while (n < max && c->cells[first + n] == c->cells[first])
		n++;
	return n;
}

/* A part of a change that lies in one chunk. */
struct change {
	int file;
	u64 page;      /* of the chunk's first cell */
	u32 keep, set; /* cell & keep | set */
	bool absent_too;
};

static void change_cells(struct scene *s, struct scene_chunk *c, const struct change *ch, u32 first,
			 u32 nr)
{
	while (nr) {
		u32 n = run_length(c, first, nr), old = c->cells[first];
		u32 value = (old & ch->keep) | ch->set;

		if (old != value && (old & CELL_PRESENT || ch->absent_too)) {
			journal_cells(s, ch->file, ch->page + first, old, n);
			write_run(s, c, first, n, old, value);
			if (s->watch)
				s->watch->cells(s->watch, ch->file, ch->page + first, value, n);
		}
		first += n;
		nr -= n;
	}
}

static void change_range(struct scene *s, struct change *ch, u64 first, u64 nr)
{
	struct scene_file *f = &s->files[ch->file];

	while (nr) {
		u32 at = first % SCENE_CHUNK_PAGES;
		u32 n = min_t(u64, nr, SCENE_CHUNK_PAGES - at);
		struct scene_chunk *c =
			chunk_to_write(s, f, first >> SCENE_CHUNK_SHIFT, ch->absent_too);

		if (s->error)
			return;
		ch->page = first - at;
		if (c)
			change_cells(s, c, ch, at, n);
		first += n;
		nr -= n;
	}
}

void pages_change(struct scene *s, int file, u64 first, u64 nr, u32 clear, u32 set)
{
	struct change ch = {.file = file, .keep = ~clear, .set = set};

	if (file >= 0)
		change_range(s, &ch, first, nr);
}

void pages_fill(struct scene *s, int file, u64 first, u64 nr, u32 value)
{
	struct change ch = {.file = file, .keep = 0, .set = value, .absent_too = true};

	if (file < 0)
		return;
	change_range(s, &ch, first, nr);
	s->files[file].end = max(s->files[file].end, first + nr);
}

void pages_restore(struct scene *s, unsigned int file, u64 page, u32 value, u32 nr)
{
	struct scene_file *f = &s->files[file];
	struct scene_chunk *c = chunk_to_write(s, f, page >> SCENE_CHUNK_SHIFT, true);
	u32 first = page % SCENE_CHUNK_PAGES;

	if (!c)
		return;
	for (u32 end = first + nr; first < end;) {
		u32 n = run_length(c, first, end - first);

		write_run(s, c, first, n, c->cells[first], value);
		first += n;
	}
}

/* ---- looking ---- */

const struct scene_file *scene_file(const struct scene *s, u32 ino)
{
	for (unsigned int i = 0; i < s->nr_files; i++)
		if (s->files[i].ino == ino)
			return &s->files[i];
	return NULL;
}

u32 scene_cell(const struct scene_file *f, u64 page)
{
	const struct scene_chunk *c = find_chunk(f, page >> SCENE_CHUNK_SHIFT);

	return c ? c->cells[page % SCENE_CHUNK_PAGES] : 0;
}

bool scene_folio(const struct scene_file *f, u64 page, u64 *first, u32 *head)
{
	u32 cell = scene_cell(f, page);

	if (!(cell & CELL_PRESENT))
		return false;
	*first = round_down(page, 1ull << cell_order(cell));
	*head = scene_cell(f, *first);
	return true;
}

static void add_cell(struct scene_span *span, u32 cell, u32 nr)
{
	if (!(cell & CELL_PRESENT))
		return;
	span->pages += nr;
	if (cell & CELL_USED)
		span->used += nr;
	span->flags |= cell & (CELL_FOLIO_FLAGS | CELL_POISON | CELL_PRESENT);
	span->order = max(span->order, (u8)cell_order(cell));
}

/* What of chunk @nr lies in the spans, page by page. */
static void add_pages(const struct scene_chunk *c, u64 nr, u64 first, u64 pages,
		      struct scene_span *spans, size_t nr_spans)
{
	u64 page = nr << SCENE_CHUNK_SHIFT;
	u32 i = page < first ? first - page : 0;
	u64 span = (page + i - first) / pages, left = pages - (page + i - first) % pages;

	for (; i < SCENE_CHUNK_PAGES && span < nr_spans; i++) {
		add_cell(&spans[span], c->cells[i], 1);
		if (!--left) {
			left = pages;
			span++;
		}
	}
}

static const struct scene_span *sum_block(struct scene_chunk *c, u32 b)
{
	struct scene_span *block = &c->blocks[b];

	if (c->stale & 1u << b) {
		*block = (struct scene_span){0};
		for (u32 i = 0; i < SCENE_BLOCK_PAGES; i++)
			add_cell(block, c->cells[b * SCENE_BLOCK_PAGES + i], 1);
		c->stale &= ~(1u << b);
	}
	return block;
}

/* The same block by block. */
static void add_blocks(struct scene_chunk *c, u64 nr, u64 first, u64 pages,
		       struct scene_span *spans, size_t nr_spans)
{
	for (u32 b = 0; b < SCENE_BLOCKS; b++) {
		u64 page = (nr << SCENE_CHUNK_SHIFT) + b * SCENE_BLOCK_PAGES;
		const struct scene_span *block;
		struct scene_span *span;

		if (page < first || (page - first) / pages >= nr_spans)
			continue;
		block = sum_block(c, b);
		span = &spans[(page - first) / pages];
		span->pages += block->pages;
		span->used += block->used;
		span->flags |= block->flags;
		span->order = max(span->order, block->order);
	}
}

/* Blocks lie in one span each, or spans are so long that it does not matter. */
static bool by_blocks(u64 first, u64 pages)
{
	return pages >= 4 * SCENE_BLOCK_PAGES ||
	       !(pages % SCENE_BLOCK_PAGES || first % SCENE_BLOCK_PAGES);
}

void scene_spans(const struct scene_file *f, u64 first, u64 pages, struct scene_span *spans,
		 size_t nr)
{
	u64 last = first + pages * nr - 1;
	unsigned long chunk = first >> SCENE_CHUNK_SHIFT;
	struct scene_chunk *c;

	memset(spans, 0, nr * sizeof(*spans));
	while ((c = xa_find((struct xarray *)&f->chunks, &chunk, last >> SCENE_CHUNK_SHIFT,
			    XA_PRESENT))) {
		if (c->present && by_blocks(first, pages))
			add_blocks(c, chunk, first, pages, spans, nr);
		else if (c->present)
			add_pages(c, chunk, first, pages, spans, nr);
		if (chunk++ == last >> SCENE_CHUNK_SHIFT)
			return;
	}
}

/* The folios of a chunk, and nothing else of it. */
static u32 folio_of(const struct scene_chunk *c, u32 i)
{
	return c ? c->cells[i] & (CELL_ORDER | CELL_PRESENT | CELL_HEAD) : 0;
}

static u64 chunk_difference(const struct scene_chunk *a, const struct scene_chunk *b, u64 nr,
			    u64 from)
{
	u64 page = nr << SCENE_CHUNK_SHIFT;

	for (u32 i = 0; i < SCENE_CHUNK_PAGES; i++)
		if (page + i >= from && folio_of(a, i) != folio_of(b, i))
			return page + i;
	return SCENE_NONE;
}

/* The next chunk either file has, from @nr on. */
static bool next_chunk(const struct scene_file *a, const struct scene_file *b, u64 *nr)
{
	unsigned long na = *nr, nb = *nr;
	bool has_a = xa_find((struct xarray *)&a->chunks, &na, ~0ul, XA_PRESENT);
	bool has_b = xa_find((struct xarray *)&b->chunks, &nb, ~0ul, XA_PRESENT);

	if (has_a && has_b)
		*nr = min(na, nb);
	else
		*nr = has_a ? na : nb;
	return has_a || has_b;
}

u64 scene_first_difference(const struct scene_file *a, const struct scene_file *b, u64 from)
{
	for (u64 nr = from >> SCENE_CHUNK_SHIFT; next_chunk(a, b, &nr); nr++) {
		u64 page = chunk_difference(find_chunk(a, nr), find_chunk(b, nr), nr, from);

		if (page != SCENE_NONE)
			return page;
	}
	return SCENE_NONE;
}
