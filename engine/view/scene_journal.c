/*
 * What an event overwrote, so that it can be taken back.
 *
 * A group is its items and then its length: one byte, or 255 and four more before it. Items are
 * read forwards but undone backwards, so that the oldest value of a place is the one that stays.
 */
#include "view/scene_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define JOURNAL_SIZE (8ull << 30) /* address space, touched as it fills */
#define LONG_GROUP   255u
#define ITEMS_MAX    4096u

/* Items: a kind, then where, then the old bytes. */
enum item_kind { ITEM_STATE, ITEM_CELLS };

struct __attribute__((packed)) item_state {
	u8 kind;
	u16 offset, size; /* the bytes follow */
};

struct __attribute__((packed)) item_cells {
	u8 kind;
	u8 file;
	u64 page;
	u32 value, nr;
};

int journal_init(struct scene_journal *j)
{
	void *p = mmap(NULL, JOURNAL_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*j = (struct scene_journal){0};
	if (p == MAP_FAILED)
		return -ENOMEM;
	j->bytes = p;
	j->size = JOURNAL_SIZE;
	return 0;
}

void journal_fini(struct scene_journal *j)
{
	if (j->bytes)
		munmap(j->bytes, j->size);
	*j = (struct scene_journal){0};
}

static void *push(struct scene *s, size_t size)
{
	struct scene_journal *j = &s->journal;
	void *p = j->bytes + j->pos;

	if (unlikely(j->pos + size + 16 > j->size)) {
		s->error = -ENOMEM;
		j->pos = 0;
		return j->bytes;
	}
	j->pos += size;
	return p;
}

u64 journal_begin(struct scene *s)
{
	return s->journal.pos;
}

void journal_end(struct scene *s, u64 begin)
{
	u64 len = s->journal.pos - begin;
	u32 long_len = len;

	if (len >= LONG_GROUP)
		memcpy(push(s, sizeof(long_len)), &long_len, sizeof(long_len));
	*(u8 *)push(s, 1) = min_t(u64, len, LONG_GROUP);
}

void journal_save(struct scene *s, const void *field, size_t size)
{
	struct item_state item = {
		.kind = ITEM_STATE,
		.offset = (const char *)field - (const char *)&s->state,
		.size = size,
	};
	u8 *p = push(s, sizeof(item) + size);

	memcpy(p, &item, sizeof(item));
	memcpy(p + sizeof(item), field, size);
}

void journal_cells(struct scene *s, unsigned int file, u64 page, u32 value, u32 nr)
{
	const struct item_cells item = {
		.kind = ITEM_CELLS, .file = file, .page = page, .value = value, .nr = nr};

	memcpy(push(s, sizeof(item)), &item, sizeof(item));
}

/* Take back the item at @p. */
static void undo_item(struct scene *s, const u8 *p)
{
	struct item_state state;
	struct item_cells cells;

	if (*p == ITEM_STATE) {
		memcpy(&state, p, sizeof(state));
		memcpy((char *)&s->state + state.offset, p + sizeof(state), state.size);
		return;
	}
	memcpy(&cells, p, sizeof(cells));
	pages_restore(s, cells.file, cells.page, cells.value, cells.nr);
}

static size_t item_size(const u8 *p)
{
	struct item_state state;

	if (*p == ITEM_CELLS)
		return sizeof(struct item_cells);
	memcpy(&state, p, sizeof(state));
	return sizeof(state) + state.size;
}

/* Undo [p, end) backwards: in pieces if it holds more items than are remembered at once. */
static void undo_items(struct scene *s, const u8 *p, const u8 *end)
{
	u32 offsets[ITEMS_MAX];
	const u8 *begin = p;

	while (end > begin) {
		u32 nr = 0, skip = 0;

		for (p = begin; p < end; p += item_size(p))
			nr++;
		if (nr > ITEMS_MAX)
			skip = nr - ITEMS_MAX;
		for (p = begin, nr = 0; p < end; p += item_size(p), nr++)
			if (nr >= skip)
				offsets[nr - skip] = p - begin;
		for (u32 i = nr - skip; i-- > 0;)
			undo_item(s, begin + offsets[i]);
		end = begin + offsets[0];
	}
}

void journal_undo(struct scene *s)
{
	struct scene_journal *j = &s->journal;
	u32 len = j->bytes[--j->pos];

	if (len == LONG_GROUP) {
		j->pos -= sizeof(len);
		memcpy(&len, j->bytes + j->pos, sizeof(len));
	}
	undo_items(s, j->bytes + j->pos - len, j->bytes + j->pos);
	j->pos -= len;
}
