/*
 * Writing a recording: the run fills blocks, a thread gives them check sums, packs and writes them.
 *
 * The run's share must stay under 15 ns an event, so it only copies 32 or 64 bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording_format.h"

#define NR_BLOCKS 8

struct block {
	u32 slots;
	u64 first_event;
	struct trace_record records[RECORDING_BLOCK_SLOTS];
};

struct recorder {
	struct trace_sink sink;
	FILE *f;
	bool lzma;
	u64 events;	       /* taken so far */
	struct block *current; /* being filled */

	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct block *blocks; /* NR_BLOCKS, a ring: [done, filled) wait for the thread */
	u64 filled, done;
	bool stop;
	int error;  /* -errno of the first failed write */
	u8 *packed; /* the thread's: room for a compressed block */
};

/* ---- the thread ---- */

static void put_block_header(u8 *h, u32 magic, const struct block *b, u32 bytes, u32 flags)
{
	put_le32(h, magic);
	put_le32(h + 4, b->slots);
	put_le32(h + 8, bytes);
	put_le32(h + 12, flags);
	put_le64(h + 16, b->first_event);
}

static int write_block(struct recorder *r, u32 magic, const struct block *b)
{
	size_t bytes = b->slots * sizeof(*b->records);
	const void *data = b->records;
	u8 header[RECORDING_BLOCK_HEADER];
	u32 flags = 0;
	u64 crc;

	if (r->lzma && bytes) {
		size_t packed = 0;

		if (lzma_easy_buffer_encode(1, LZMA_CHECK_NONE, NULL, data, bytes, r->packed,
					    &packed, RECORDING_PACKED_MAX) == LZMA_OK) {
			data = r->packed;
			bytes = packed;
			flags = RECORDING_LZMA;
		}
	}
	put_block_header(header, magic, b, bytes, flags);
	crc = lzma_crc64(data, bytes, lzma_crc64(header, 24, 0));
	put_le64(header + 24, crc);
	if (fwrite(header, sizeof(header), 1, r->f) != 1 ||
	    (bytes && fwrite(data, bytes, 1, r->f) != 1))
		return errno ? -errno : -EIO;
	return 0;
}

static void *writer(void *arg)
{
	struct recorder *r = arg;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		struct block *b;
		int ret = r->error;

		while (r->done == r->filled && !r->stop)
			pthread_cond_wait(&r->changed, &r->lock);
		if (r->done == r->filled)
			break;
		b = &r->blocks[r->done % NR_BLOCKS];
		pthread_mutex_unlock(&r->lock);
		if (!ret)
			ret = write_block(r, RECORDING_BLOCK_MAGIC, b);
		pthread_mutex_lock(&r->lock);
		if (ret && !r->error)
			r->error = ret;
		r->done++;
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- the run's side ---- */

/* Hand the block over and take the next one, waiting for the thread if it is behind. */
static void next_block(struct recorder *r)
{
	pthread_mutex_lock(&r->lock);
	r->filled++;
	while (r->filled - r->done == NR_BLOCKS)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	r->current = &r->blocks[r->filled % NR_BLOCKS];
	r->current->slots = 0;
	r->current->first_event = r->events;
}

static void recorder_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct recorder *r = container_of(sink, struct recorder, sink);
	struct block *b = r->current;

	b->slots += trace_record_pack(&b->records[b->slots], ev);
	r->events++;
	if (unlikely(b->slots + 2 > RECORDING_BLOCK_SLOTS))
		next_block(r);
}

struct trace_sink *recording_sink(struct recorder *r)
{
	return &r->sink;
}

/* ---- the header ---- */

static void print_text(FILE *t, const struct recording_info *info)
{
	if (info->source[0])
		fprintf(t, "source %s\nmajor %u\n", info->source, info->major);
	fprintf(t, "kernel %s\nfs %s\ndisk %s\nfile %s\n", info->kernel, info->fs, info->disk,
		info->file);
	fprintf(t,
		"page_size %" PRIu64 "\nblock_size %" PRIu64 "\nmemory %" PRIu64 "\nsize %" PRIu64
		"\n",
		info->page_size, info->block_size, info->memory, info->size);
	fprintf(t, "ra_pages %" PRIu64 "\nio_pages %" PRIu64 "\nseed %" PRIu64 "\n", info->ra_pages,
		info->io_pages, info->seed);
	fprintf(t, "cpus %u\ndev %u\nknobs %u\nfree", info->cpus, info->dev, info->knobs);
	for (unsigned int o = 0; o < RECORDING_ORDERS; o++)
		fprintf(t, " %" PRIu64, info->free[o]);
	fputc('\n', t);
	for (unsigned int i = 0; i < EV_NR; i++)
		fprintf(t, "event %s\n", trace_event_info(i)->name);
	fprintf(t, "workload\n%s", info->workload ? info->workload : "");
}

static int write_header(FILE *f, const struct recording_info *info)
{
	char *text = NULL;
	size_t len = 0;
	FILE *t = open_memstream(&text, &len);
	u8 head[16] = RECORDING_MAGIC, tail[8];
	int ret = 0;

	if (!t)
		return -ENOMEM;
	print_text(t, info);
	if (fclose(t) || len > RECORDING_TEXT_MAX) {
		free(text);
		return -ENOMEM;
	}
	put_le32(head + 8, RECORDING_VERSION);
	put_le32(head + 12, len);
	put_le64(tail, lzma_crc64((u8 *)text, len, 0));
	if (fwrite(head, sizeof(head), 1, f) != 1 || fwrite(text, len, 1, f) != 1 ||
	    fwrite(tail, sizeof(tail), 1, f) != 1)
		ret = errno ? -errno : -EIO;
	free(text);
	return ret;
}

/* ---- begin and end ---- */

static void recorder_free(struct recorder *r)
{
	free(r->blocks);
	free(r->packed);
	free(r);
}

static struct recorder *recorder_alloc(FILE *f, bool lzma)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->blocks = calloc(NR_BLOCKS, sizeof(*r->blocks));
	r->packed = malloc(RECORDING_PACKED_MAX);
	r->f = f;
	r->lzma = lzma;
	r->sink.event = recorder_event;
	if (r->blocks && r->packed) {
		r->current = r->blocks;
		return r;
	}
	recorder_free(r);
	return NULL;
}

int recording_start(FILE *f, const struct recording_info *info, bool lzma, struct recorder **ret,
		    struct fl_error *err)
{
	struct recorder *r = recorder_alloc(f, lzma);
	int error = r ? write_header(f, info) : -ENOMEM;

	*ret = NULL;
	if (!error) {
		pthread_mutex_init(&r->lock, NULL);
		pthread_cond_init(&r->changed, NULL);
		error = -pthread_create(&r->thread, NULL, writer, r);
	}
	if (error) {
		if (r)
			recorder_free(r);
		return fl_error_set(err, error, "--trace", 0, "%s", strerror(-error));
	}
	*ret = r;
	return 0;
}

static int write_end(struct recorder *r)
{
	struct block *b = &r->blocks[0];

	b->slots = 0;
	b->first_event = r->events;
	return write_block(r, RECORDING_END_MAGIC, b);
}

int recording_finish(struct recorder *r, struct fl_error *err)
{
	int ret;

	if (r->current->slots)
		next_block(r);
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	ret = r->error ? r->error : write_end(r);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	recorder_free(r);
	return ret ? fl_error_set(err, ret, "--trace", 0, "%s", strerror(-ret)) : 0;
}
