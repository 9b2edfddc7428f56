/* Reading the code positions at the end of a recording. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code.h"
#include "trace/code_format.h"
#include "trace/recording_format.h"

#define LZMA_MEMORY   (64ull << 20)
#define EVENTS_MAX    (1ull << 30)
#define POSITIONS_MAX (1u << 26)

struct code_header {
	u32 build_id_len, nr_chains, nr_positions;
	u64 events, bytes, crc;
	u8 raw[CODE_HEADER];
};

static int damaged(const char *path, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, path, 0,
			    "its code positions are cut off or damaged, expected a whole file");
}

/* ---- finding the block ---- */

/* Behind the header and every block of events, up to the end mark. */
static int skip_events(FILE *f, const char *path, struct fl_error *err)
{
	u8 head[16], block[RECORDING_BLOCK_HEADER];

	if (fread(head, sizeof(head), 1, f) != 1 || memcmp(head, RECORDING_MAGIC, 8) ||
	    fseek(f, (long)get_le32(head + 12) + 8, SEEK_CUR))
		return fl_error_set(err, -EINVAL, path, 0,
				    "no recording, expected a file of 'foliolab run --trace "
				    "--trace-code'");
	while (fread(block, sizeof(block), 1, f) == 1) {
		if (get_le32(block) == RECORDING_END_MAGIC)
			return 0;
		if (get_le32(block) != RECORDING_BLOCK_MAGIC ||
		    fseek(f, get_le32(block + 8), SEEK_CUR))
			break;
	}
	return fl_error_set(err, -EINVAL, path, 0,
			    "the recording ends without its end mark, so it has no code positions");
}

static int read_header(FILE *f, const char *path, struct code_header *h, struct fl_error *err)
{
	size_t n = fread(h->raw, 1, sizeof(h->raw), f);

	if (!n)
		return fl_error_set(err, -ENODATA, path, 0,
				    "the recording has no code positions, expected one made with "
				    "--trace-code");
	if (n != sizeof(h->raw) || get_le32(h->raw) != CODE_MAGIC)
		return damaged(path, err);
	h->build_id_len = get_le32(h->raw + 4);
	h->nr_chains = get_le32(h->raw + 8);
	h->nr_positions = get_le32(h->raw + 12);
	h->events = get_le64(h->raw + 16);
	h->bytes = get_le64(h->raw + 24);
	h->crc = get_le64(h->raw + 32);
	if (h->build_id_len > TRACE_CODE_BUILD_ID || !h->nr_chains ||
	    h->nr_chains > POSITIONS_MAX || h->nr_positions > POSITIONS_MAX ||
	    h->events > EVENTS_MAX || h->bytes > EVENTS_MAX * sizeof(u32))
		return damaged(path, err);
	return 0;
}

/* ---- its contents ---- */

static int take_parts(struct trace_code *c, const struct code_header *h, const u8 *bytes)
{
	const u8 *at = bytes + h->build_id_len;
	u32 last = 0;

	c->build_id_len = h->build_id_len;
	memcpy(c->build_id, bytes, h->build_id_len);
	c->nr_chains = h->nr_chains;
	c->nr_positions = h->nr_positions;
	c->events = h->events;
	c->ends = calloc(h->nr_chains, sizeof(u32));
	c->positions = calloc(h->nr_positions + 1ull, sizeof(u32));
	c->chain_of = calloc(h->events + 1, sizeof(u32));
	if (!c->ends || !c->positions || !c->chain_of)
		return -ENOMEM;
	memcpy(c->ends, at, h->nr_chains * sizeof(u32));
	at += h->nr_chains * sizeof(u32);
	memcpy(c->positions, at, h->nr_positions * sizeof(u32));
	memcpy(c->chain_of, at + h->nr_positions * sizeof(u32), h->events * sizeof(u32));
	for (u32 i = 0; i < h->nr_chains; last = c->ends[i++])
		if (c->ends[i] < last || c->ends[i] > h->nr_positions)
			return -EINVAL;
	for (u64 i = 0; i < h->events; i++)
		if (c->chain_of[i] >= h->nr_chains)
			return -EINVAL;
	return 0;
}

static int unpack(struct trace_code *c, const struct code_header *h, const u8 *packed)
{
	size_t size = h->build_id_len + (h->nr_chains + (u64)h->nr_positions + h->events) * 4;
	size_t in = 0, out = 0;
	u64 memory = LZMA_MEMORY;
	u8 *bytes;
	int ret;

	if (lzma_crc64(packed, h->bytes, lzma_crc64(h->raw, 32, 0)) != h->crc)
		return -EINVAL;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	if (lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, h->bytes, bytes, &out, size) ==
		    LZMA_OK &&
	    out == size)
		ret = take_parts(c, h, bytes);
	else
		ret = -EINVAL;
	free(bytes);
	return ret;
}

static int read_block(struct trace_code *c, FILE *f, const char *path, struct fl_error *err)
{
	struct code_header h;
	u8 *packed;
	int ret = read_header(f, path, &h, err);

	if (ret)
		return ret;
	packed = malloc(h.bytes + 1);
	if (!packed)
		ret = -ENOMEM;
	else
		ret = fread(packed, 1, h.bytes, f) == h.bytes ? unpack(c, &h, packed) : -EINVAL;
	free(packed);
	if (ret == -ENOMEM)
		return fl_error_set(err, ret, path, 0, "out of memory");
	return ret ? damaged(path, err) : 0;
}

int trace_code_load(struct trace_code *c, const char *path, struct fl_error *err)
{
	FILE *f = fopen(path, "re");
	int ret;

	memset(c, 0, sizeof(*c));
	if (!f)
		return fl_error_set(err, -errno, path, 0, "%s, expected a recording",
				    strerror(errno));
	ret = skip_events(f, path, err);
	if (!ret)
		ret = read_block(c, f, path, err);
	fclose(f);
	if (ret)
		trace_code_fini(c);
	return ret;
}

void trace_code_fini(struct trace_code *c)
{
	free(c->ends);
	free(c->positions);
	free(c->chain_of);
	memset(c, 0, sizeof(*c));
}

const u32 *trace_code_chain(const struct trace_code *c, u64 nr, u32 *len)
{
	u32 chain = c->chain_of[nr];
	u32 start = chain ? c->ends[chain - 1] : 0;

	*len = c->ends[chain] - start;
	return c->positions + start;
}
