/*
 * What an event overwrote, so that it can be taken back.
 *
 * A group is its items and then its length: one byte, or 255 and four more before it. Items are
 * read forwards but undone backwards, so that the oldest value of a place is the one that stays.
 * A group lies in one half; when it does not fit, it moves to the other half, whose older groups
 * are forgotten.
 */
#include "view/scene_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define HALF_SIZE  (SCENE_JOURNAL_MAX / 2)
#define LONG_GROUP 255u
#define LENGTH_MAX (sizeof(u32) + 1)
#define ITEMS_MAX  4096u

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
	*j = (struct scene_journal){0};
	for (int i = 0; i < 2; i++) {
		void *p = mmap(NULL, HALF_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return -ENOMEM;
		j->halves[i].bytes = p;
	}
	return 0;
}

void journal_fini(struct scene_journal *j)
{
	for (int i = 0; i < 2; i++)
		if (j->halves[i].bytes)
			munmap(j->halves[i].bytes, HALF_SIZE);
	*j = (struct scene_journal){0};
}

void journal_forget(struct scene_journal *j)
{
	for (int i = 0; i < 2; i++)
		j->halves[i].pos = j->halves[i].events = 0;
	j->begin = 0;
}

u64 journal_events(const struct scene_journal *j)
{
	return j->halves[0].events + j->halves[1].events;
}

/* The group goes on in the other half; false if it has a half of its own already. */
static bool turn_over(struct scene_journal *j)
{
	struct scene_journal_half *full = &j->halves[j->now], *next = &j->halves[!j->now];
	u64 len = full->pos - j->begin;

	if (!j->begin)
		return false;
	memcpy(next->bytes, full->bytes + j->begin, len);
	next->pos = len;
	next->events = 0;
	full->pos = j->begin;
	j->now = !j->now;
	j->begin = 0;
	return true;
}

/* Room for @size bytes, or NULL where nothing is kept. */
static void *push(struct scene_journal *j, size_t size)
{
	struct scene_journal_half *half = &j->halves[j->now];
	void *p;

	if (j->off || j->lost)
		return NULL;
	if (unlikely(half->pos + size + LENGTH_MAX > HALF_SIZE)) {
		if (!turn_over(j) || j->halves[j->now].pos + size + LENGTH_MAX > HALF_SIZE) {
			j->lost = true;
			return NULL;
		}
		half = &j->halves[j->now];
	}
	p = half->bytes + half->pos;
	half->pos += size;
	return p;
}

void journal_begin(struct scene *s)
{
	s->journal.begin = s->journal.halves[s->journal.now].pos;
	s->journal.lost = false;
}

void journal_end(struct scene *s)
{
	struct scene_journal *j = &s->journal;
	struct scene_journal_half *half = &j->halves[j->now];
	u32 len = half->pos - j->begin;

	if (j->off)
		return;
	if (j->lost) {
		journal_forget(j);
		return;
	}
	if (len >= LONG_GROUP) {
		memcpy(half->bytes + half->pos, &len, sizeof(len));
		half->pos += sizeof(len);
	}
	half->bytes[half->pos++] = min(len, LONG_GROUP);
	half->events++;
}

void journal_save(struct scene *s, const void *field, size_t size)
{
	struct item_state item = {
		.kind = ITEM_STATE,
		.offset = (const char *)field - (const char *)&s->state,
		.size = size,
	};
	u8 *p = push(&s->journal, sizeof(item) + size);

	if (!p)
		return;
	memcpy(p, &item, sizeof(item));
	memcpy(p + sizeof(item), field, size);
}

void journal_cells(struct scene *s, unsigned int file, u64 page, u32 value, u32 nr)
{
	const struct item_cells item = {
		.kind = ITEM_CELLS, .file = file, .page = page, .value = value, .nr = nr};
	u8 *p = push(&s->journal, sizeof(item));

	if (p)
		memcpy(p, &item, sizeof(item));
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
	struct scene_journal_half *half = &j->halves[j->now];
	u32 len;

	if (!half->events) {
		half->pos = 0;
		j->now = !j->now;
		half = &j->halves[j->now];
	}
	len = half->bytes[--half->pos];
	if (len == LONG_GROUP) {
		half->pos -= sizeof(len);
		memcpy(&len, half->bytes + half->pos, sizeof(len));
	}
	undo_items(s, half->bytes + half->pos - len, half->bytes + half->pos);
	half->pos -= len;
	half->events--;
}
