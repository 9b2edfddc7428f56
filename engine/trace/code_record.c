/* The run's side of trace/code.h: the calls that led to an event, each chain once. */
#include "trace/code.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code_format.h"
#include "trace/recording_format.h"

#define BUCKETS	   4096u
#define CHAINS_MAX (1u << 20)

/* This program as it is loaded. */
struct program {
	uintptr_t base, end; /* offsets are addresses less base */
	u8 build_id[TRACE_CODE_BUILD_ID];
	u32 build_id_len;
};

struct chain {
	u32 start, len; /* of its positions */
	u32 next;	/* in its bucket, + 1; 0: none */
};

struct code_recorder {
	struct trace_sink sink;
	struct program program;
	struct chain *chains;
	u32 nr_chains, room_chains;
	u32 *positions;
	u32 nr_positions, room_positions;
	u32 *chain_of;
	u64 events, room_events;
	u32 buckets[BUCKETS]; /* chain + 1 */
};

/* ---- this program ---- */

static void take_notes(struct program *p, const u8 *note, u64 size)
{
	u64 at = 0;

	while (size - at >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(note + at);
		u64 data = at + sizeof(*n) + round_up((u64)n->n_namesz, 4);

		if (data + n->n_descsz > size)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4) {
			p->build_id_len = min_t(u32, n->n_descsz, TRACE_CODE_BUILD_ID);
			memcpy(p->build_id, note + data, p->build_id_len);
			return;
		}
		at = data + round_up((u64)n->n_descsz, 4);
		if (at > size)
			return;
	}
}

/* The first object is the program itself. */
static int take_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct program *p = ctx;

	(void)size;
	p->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD)
			p->end = max(p->end, p->base + h->p_vaddr + h->p_memsz);
		else if (h->p_type == PT_NOTE && !p->build_id_len)
			take_notes(p, (const u8 *)p->base + h->p_vaddr, h->p_memsz);
	}
	return 1;
}

/* ---- chains ---- */

/* Make room for one more of @size bytes in *@array. */
static bool grow(void *array, size_t size, u64 nr, u64 *room)
{
	void **p = array;
	u64 more = *room ? 2 * *room : 1024;
	void *bytes;

	if (nr < *room)
		return true;
	bytes = realloc(*p, more * size);
	if (!bytes)
		return false;
	*p = bytes;
	*room = more;
	return true;
}

static u32 hash_positions(const u32 *positions, u32 len)
{
	u64 h = len;

	for (u32 i = 0; i < len; i++)
		h = (h ^ positions[i]) * 0x9e3779b97f4a7c15ull;
	return h >> 52;
}

static bool add_positions(struct code_recorder *r, const u32 *positions, u32 len)
{
	u64 room = r->room_positions;

	while (r->nr_positions + len > room)
		if (!grow(&r->positions, sizeof(u32), room, &room))
			return false;
	r->room_positions = room;
	if (len)
		memcpy(r->positions + r->nr_positions, positions, len * sizeof(u32));
	return true;
}

/* The number of the chain, a new one if need be; 0, the empty chain, if there is no memory. */
static u32 chain_number(struct code_recorder *r, const u32 *positions, u32 len)
{
	u32 *bucket = &r->buckets[hash_positions(positions, len) % BUCKETS];
	u64 room = r->room_chains;

	if (!len && r->nr_chains)
		return 0;
	for (u32 i = *bucket; i; i = r->chains[i - 1].next) {
		const struct chain *c = &r->chains[i - 1];

		if (c->len == len && len &&
		    !memcmp(r->positions + c->start, positions, len * sizeof(u32)))
			return i - 1;
	}
	if (r->nr_chains == CHAINS_MAX ||
	    !grow(&r->chains, sizeof(struct chain), r->nr_chains, &room))
		return 0;
	r->room_chains = room;
	if (!add_positions(r, positions, len))
		return 0;
	r->chains[r->nr_chains] =
		(struct chain){.start = r->nr_positions, .len = len, .next = *bucket};
	r->nr_positions += len;
	*bucket = ++r->nr_chains;
	return r->nr_chains - 1;
}

/* Which of the @nr addresses are in this program, as offsets. */
static u32 own_positions(const struct program *p, void *const *addresses, int nr, u32 *positions)
{
	u32 len = 0;

	for (int i = 0; i < nr; i++) {
		uintptr_t addr = (uintptr_t)addresses[i];

		if (addr >= p->base && addr < p->end)
			positions[len++] = addr - p->base;
	}
	return len;
}

static void code_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct code_recorder *r = container_of(sink, struct code_recorder, sink);
	u32 positions[TRACE_CODE_DEPTH];
	void *addresses[TRACE_CODE_DEPTH];
	int nr = backtrace(addresses, TRACE_CODE_DEPTH);

	(void)ev;
	if (!grow(&r->chain_of, sizeof(u32), r->events, &r->room_events))
		return;
	r->chain_of[r->events++] =
		chain_number(r, positions, own_positions(&r->program, addresses, nr, positions));
}

int code_recorder_new(struct code_recorder **ret)
{
	struct code_recorder *r = calloc(1, sizeof(*r));

	*ret = r;
	if (!r)
		return -ENOMEM;
	r->sink.event = code_event;
	dl_iterate_phdr(take_program, &r->program);
	chain_number(r, NULL, 0);
	if (r->nr_chains)
		return 0;
	code_recorder_free(r);
	*ret = NULL;
	return -ENOMEM;
}

struct trace_sink *code_recorder_sink(struct code_recorder *r)
{
	return &r->sink;
}

void code_recorder_free(struct code_recorder *r)
{
	if (!r)
		return;
	free(r->chains);
	free(r->positions);
	free(r->chain_of);
	free(r);
}

int code_recorder_take(const struct code_recorder *r, struct trace_code *ret)
{
	*ret = (struct trace_code){.build_id_len = r->program.build_id_len,
				   .nr_chains = r->nr_chains,
				   .nr_positions = r->nr_positions,
				   .events = r->events};
	memcpy(ret->build_id, r->program.build_id, r->program.build_id_len);
	ret->ends = calloc(r->nr_chains + 1ull, sizeof(u32));
	ret->positions = calloc(r->nr_positions + 1ull, sizeof(u32));
	ret->chain_of = calloc(r->events + 1, sizeof(u32));
	if (!ret->ends || !ret->positions || !ret->chain_of) {
		trace_code_fini(ret);
		return -ENOMEM;
	}
	for (u32 i = 0; i < r->nr_chains; i++)
		ret->ends[i] = r->chains[i].start + r->chains[i].len;
	for (u32 i = 0; i < r->nr_positions; i++)
		ret->positions[i] = r->positions[i];
	for (u64 i = 0; i < r->events; i++)
		ret->chain_of[i] = r->chain_of[i];
	return 0;
}

/* ---- the block ---- */

/* The block before it is packed; NULL without memory. */
static u8 *join(const struct code_recorder *r, size_t *size)
{
	const struct program *p = &r->program;
	u8 *bytes, *at;

	*size = p->build_id_len + r->nr_chains * sizeof(u32) + r->nr_positions * sizeof(u32) +
		r->events * sizeof(u32);
	at = bytes = malloc(*size);
	if (!bytes)
		return NULL;
	memcpy(at, p->build_id, p->build_id_len);
	at += p->build_id_len;
	for (u32 i = 0; i < r->nr_chains; i++, at += sizeof(u32))
		put_le32(at, r->chains[i].start + r->chains[i].len);
	if (r->nr_positions)
		memcpy(at, r->positions, r->nr_positions * sizeof(u32));
	at += r->nr_positions * sizeof(u32);
	if (r->events)
		memcpy(at, r->chain_of, r->events * sizeof(u32));
	return bytes;
}

static int write_packed(const struct code_recorder *r, FILE *f, const u8 *packed, size_t size)
{
	u8 h[CODE_HEADER];

	put_le32(h, CODE_MAGIC);
	put_le32(h + 4, r->program.build_id_len);
	put_le32(h + 8, r->nr_chains);
	put_le32(h + 12, r->nr_positions);
	put_le64(h + 16, r->events);
	put_le64(h + 24, size);
	put_le64(h + 32, lzma_crc64(packed, size, lzma_crc64(h, 32, 0)));
	if (fwrite(h, sizeof(h), 1, f) != 1 || fwrite(packed, size, 1, f) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

int code_recorder_write(struct code_recorder *r, FILE *f, struct fl_error *err)
{
	size_t size, bound, packed_size = 0;
	u8 *bytes = join(r, &size), *packed = NULL;
	int ret = -ENOMEM;

	bound = lzma_stream_buffer_bound(size);
	if (bytes)
		packed = malloc(bound);
	if (packed && lzma_easy_buffer_encode(1, LZMA_CHECK_NONE, NULL, bytes, size, packed,
					      &packed_size, bound) == LZMA_OK)
		ret = write_packed(r, f, packed, packed_size);
	free(packed);
	free(bytes);
	return ret ? fl_error_set(err, ret, "--trace-code", 0, "%s", strerror(-ret)) : 0;
}
