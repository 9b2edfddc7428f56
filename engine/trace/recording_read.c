/* Reading a recording: up to the last block that is whole. */
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording_format.h"

#define EVENT_NAMES_MAX 1024
#define EVENT_UNKNOWN	0xfffe
#define LZMA_MEMORY	(64ull << 20)

struct reader {
	FILE *f;
	const char *path;
	u64 from, to;
	struct recording_info *info;
	struct tape *tape;
	struct recording_result *result;
	struct trace_sink *before;
	u16 ids[EVENT_NAMES_MAX]; /* number in the file -> number here, or EVENT_UNKNOWN */
	unsigned int nr_ids;
	u8 *stored;
	struct trace_record *records;
};

void recording_info_fini(struct recording_info *info)
{
	free(info->workload);
	info->workload = NULL;
}

/* ---- the header ---- */

static bool take_string(const char *line, const char *key, char *dst, size_t size)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) || line[len] != ' ')
		return false;
	snprintf(dst, size, "%s", line + len + 1);
	for (char *p = dst; *p; p++)
		if ((u8)*p < 0x20 || (u8)*p == 0x7f)
			*p = '?';
	return true;
}

static bool take_u64(const char *line, const char *key, u64 *dst)
{
	char word[32];

	if (!take_string(line, key, word, sizeof(word)))
		return false;
	*dst = strtoull(word, NULL, 10);
	return true;
}

static bool take_u32(const char *line, const char *key, u32 *dst)
{
	u64 v;

	if (!take_u64(line, key, &v))
		return false;
	*dst = v;
	return true;
}

static void take_free(const char *line, struct recording_info *info)
{
	char *p = (char *)line + 4;

	for (unsigned int o = 0; o < RECORDING_ORDERS && *p; o++)
		info->free[o] = strtoull(p, &p, 10);
}

static void take_event(struct reader *r, const char *name)
{
	int id = trace_event_by_name(name);

	if (r->nr_ids < EVENT_NAMES_MAX)
		r->ids[r->nr_ids++] = id < 0 ? EVENT_UNKNOWN : id;
}

static void take_line(struct reader *r, const char *line)
{
	struct recording_info *i = r->info;
	bool taken = take_string(line, "source", i->source, sizeof(i->source)) ||
		     take_u32(line, "major", &i->major) ||
		     take_string(line, "kernel", i->kernel, sizeof(i->kernel)) ||
		     take_string(line, "fs", i->fs, sizeof(i->fs)) ||
		     take_string(line, "disk", i->disk, sizeof(i->disk)) ||
		     take_string(line, "file", i->file, sizeof(i->file)) ||
		     take_u64(line, "page_size", &i->page_size) ||
		     take_u64(line, "block_size", &i->block_size) ||
		     take_u64(line, "memory", &i->memory) || take_u64(line, "size", &i->size) ||
		     take_u64(line, "ra_pages", &i->ra_pages) ||
		     take_u64(line, "io_pages", &i->io_pages) || take_u64(line, "seed", &i->seed) ||
		     take_u32(line, "cpus", &i->cpus) || take_u32(line, "dev", &i->dev) ||
		     take_u32(line, "knobs", &i->knobs);

	if (taken)
		return;
	if (!strncmp(line, "free ", 5))
		take_free(line, i);
	else if (!strncmp(line, "event ", 6))
		take_event(r, line + 6);
}

/* Lines up to "workload", then the workload. */
static int parse_text(struct reader *r, char *text)
{
	char *line = text, *end;

	while ((end = strchr(line, '\n'))) {
		*end = 0;
		if (!strcmp(line, "workload"))
			break;
		take_line(r, line);
		line = end + 1;
	}
	r->info->workload = strdup(end ? end + 1 : "");
	return r->info->workload ? 0 : -ENOMEM;
}

static int bad_header(const struct reader *r, const char *what, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, r->path, 0,
			    "%s, expected a file of 'foliolab run "
			    "--trace'",
			    what);
}

static int check_info(const struct reader *r, struct fl_error *err)
{
	u64 page = r->info->page_size;

	if (page < 4096 || page > 65536 || page & (page - 1) || !r->nr_ids)
		return bad_header(r, "the header names no machine", err);
	return 0;
}

static int read_text(struct reader *r, u32 len, struct fl_error *err)
{
	char *text = malloc(len + 1);
	u8 crc[8];
	int ret;

	if (!text)
		return fl_error_set(err, -ENOMEM, r->path, 0, "out of memory");
	text[len] = 0;
	if (fread(text, 1, len, r->f) != len || fread(crc, sizeof(crc), 1, r->f) != 1)
		ret = bad_header(r, "the header is cut off", err);
	else if (get_le64(crc) != lzma_crc64((u8 *)text, len, 0))
		ret = bad_header(r, "the header is damaged", err);
	else
		ret = parse_text(r, text) ? fl_error_set(err, -ENOMEM, r->path, 0, "out of memory")
					  : check_info(r, err);
	free(text);
	return ret;
}

static int read_header(struct reader *r, struct fl_error *err)
{
	u8 head[16];
	u32 version;

	if (fread(head, sizeof(head), 1, r->f) != 1 || memcmp(head, RECORDING_MAGIC, 8))
		return bad_header(r, "no recording", err);
	version = get_le32(head + 8);
	if (version != RECORDING_VERSION)
		return fl_error_set(err, -EINVAL, r->path, 0,
				    "recording of version %u, expected version %u", version,
				    RECORDING_VERSION);
	if (get_le32(head + 12) > RECORDING_TEXT_MAX)
		return bad_header(r, "the header is damaged", err);
	return read_text(r, get_le32(head + 12), err);
}

/* ---- blocks ---- */

struct block_header {
	u32 magic, slots, bytes, flags;
	u64 first_event, crc;
	u8 raw[RECORDING_BLOCK_HEADER];
};

static bool damaged(struct reader *r, const char *what)
{
	snprintf(r->result->damage, sizeof(r->result->damage), "%s after event %" PRIu64, what,
		 r->result->events);
	return false;
}

static bool read_block_header(struct reader *r, struct block_header *h)
{
	size_t n = fread(h->raw, 1, sizeof(h->raw), r->f);

	if (n != sizeof(h->raw))
		return damaged(r, "the file ends without its end mark");
	h->magic = get_le32(h->raw);
	h->slots = get_le32(h->raw + 4);
	h->bytes = get_le32(h->raw + 8);
	h->flags = get_le32(h->raw + 12);
	h->first_event = get_le64(h->raw + 16);
	h->crc = get_le64(h->raw + 24);
	if (h->magic != RECORDING_BLOCK_MAGIC && h->magic != RECORDING_END_MAGIC)
		return damaged(r, "there is no block");
	if (h->slots > RECORDING_BLOCK_SLOTS || h->bytes > RECORDING_PACKED_MAX)
		return damaged(r, "a block is damaged");
	return true;
}

static bool unpack_block(struct reader *r, const struct block_header *h)
{
	size_t want = h->slots * sizeof(*r->records), in = 0, out = 0;
	u64 memory = LZMA_MEMORY;

	if (!(h->flags & RECORDING_LZMA)) {
		if (h->bytes != want)
			return false;
		memcpy(r->records, r->stored, want);
		return true;
	}
	return lzma_stream_buffer_decode(&memory, 0, NULL, r->stored, &in, h->bytes,
					 (u8 *)r->records, &out, want) == LZMA_OK &&
	       out == want;
}

static bool read_block_data(struct reader *r, const struct block_header *h)
{
	if (fread(r->stored, 1, h->bytes, r->f) != h->bytes)
		return damaged(r, "a block is cut off");
	if (lzma_crc64(r->stored, h->bytes, lzma_crc64(h->raw, 24, 0)) != h->crc)
		return damaged(r, "a block is damaged");
	if (h->magic == RECORDING_BLOCK_MAGIC && !unpack_block(r, h))
		return damaged(r, "a block cannot be unpacked");
	return true;
}

/* One event of the file; the number of slots must be what this program's table says. */
static void take_record(struct reader *r, const struct trace_record *rec, u32 slots, bool before)
{
	struct trace_event ev;
	unsigned int n = trace_record_unpack(rec, slots, &ev);

	ev.id = ev.id < r->nr_ids ? r->ids[ev.id] : EVENT_UNKNOWN;
	if (ev.id == EVENT_UNKNOWN || trace_event_info(ev.id)->slots != n ||
	    ev.order >= TRACE_ORDERS)
		r->result->unknown++;
	else if (before)
		r->before->event(r->before, &ev);
	else
		tape_add(r->tape, &ev);
}

static bool take_block(struct reader *r, const struct block_header *h)
{
	s64 events = trace_records_check(r->records, h->slots);
	u64 nr = h->first_event;

	if (events < 0 || nr != r->result->events)
		return damaged(r, "a block is damaged");
	for (u32 i = 0; i < h->slots; i++) {
		if (r->records[i].id == EV_CONTINUATION)
			continue;
		if (nr >= r->from ? nr <= r->to : r->before != NULL)
			take_record(r, &r->records[i], h->slots - i, nr < r->from);
		nr++;
	}
	r->result->events = nr;
	return true;
}

static void read_blocks(struct reader *r)
{
	struct block_header h;

	while (read_block_header(r, &h) && read_block_data(r, &h)) {
		if (h.magic == RECORDING_END_MAGIC) {
			if (h.first_event == r->result->events)
				r->result->complete = true;
			else
				damaged(r, "the end mark counts other events");
			return;
		}
		if (!take_block(r, &h))
			return;
	}
}

/* ---- all of it ---- */

/* No more events than the file has bytes for, if it is not compressed; else what fits. */
static u64 most_events(const struct reader *r)
{
	u64 most = r->to - r->from;

	return min_t(u64, most, RECORDING_EVENTS_MAX - 1) + 1;
}

static int open_reader(struct reader *r, struct fl_error *err)
{
	int ret;

	r->f = fopen(r->path, "re");
	if (!r->f)
		return fl_error_set(err, -errno, r->path, 0, "%s, expected a recording",
				    strerror(errno));
	r->stored = malloc(RECORDING_PACKED_MAX);
	r->records = malloc(RECORDING_BLOCK_BYTES);
	ret = r->stored && r->records ? tape_init(r->tape, most_events(r)) : -ENOMEM;
	return ret ? fl_error_set(err, ret, r->path, 0, "out of memory") : 0;
}

int recording_load(const char *path, const struct recording_range *range,
		   struct recording_info *info, struct tape *tape, struct recording_result *result,
		   struct fl_error *err)
{
	u64 from = range->from, to = range->to;
	struct reader r = {.path = path,
			   .from = from,
			   .to = to,
			   .before = range->before,
			   .info = info,
			   .tape = tape,
			   .result = result};
	int ret;

	memset(info, 0, sizeof(*info));
	memset(tape, 0, sizeof(*tape));
	memset(result, 0, sizeof(*result));
	if (from > to)
		return fl_error_set(err, -EINVAL, "--from", 0,
				    "event %" PRIu64 ", expected one up to --to %" PRIu64, from,
				    to);
	ret = open_reader(&r, err);
	if (!ret)
		ret = read_header(&r, err);
	if (!ret)
		read_blocks(&r);
	free(r.stored);
	free(r.records);
	if (r.f)
		fclose(r.f);
	if (ret) {
		recording_info_fini(info);
		tape_fini(tape);
	}
	return ret;
}
