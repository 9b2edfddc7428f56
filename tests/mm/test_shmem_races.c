/*
 * mm/test_shmem_races.c - a tmpfs file that changes while it is read.
 *
 * Proves, for a truncation, a punched hole and a write between any two steps of the read loop of
 * every stage, how many bytes the read returns (that tells where the loop looks at i_size again),
 * and each of these bytes: as before the change below the position, as after it above the folio
 * that was held, and one of the two inside of that. Rule 4 of section 2 of the specification. The
 * same for splicing, whose pipe holds the folios themselves: there a byte below the position may
 * have changed, too.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <string.h>

#define SIZE(r)	 (48 * (r)->page) /* of the file at first */
#define ROOM(r)	 (80 * (r)->page) /* no change reaches further, and no read */
#define PAGE_MAX 65536

static const struct {
	const char *kernel;
	bool page; /* stage (a): looks at i_size again only in the page that it names */
} kernels[] = {
	{"v6.12.y", true},
	{"v6.12.y+SHMEM_READ_KIPOS", false},
	{"v6.12.y+SHMEM_READ_KIPOS+SHMEM_READ_V1", false},
	{"v6.12.y+SHMEM_READ_KIPOS+SHMEM_READ_V1+SHMEM_SIZE_ORDERS", false},
	{"v6.12.y+SHMEM_READ_KIPOS+SHMEM_READ_FOLIO+SHMEM_SIZE_ORDERS", false},
	{"v6.1.y", true},
	{"v6.16.y", false},
	{"v7.3", false},
};

struct racer {
	struct prng prng;
	struct shmem_scene *s;
	struct iov_iter iter;
	bool splice;
	struct pipe_inode_info pipe; /* where it goes */
	u8 *buf;
	u8 before[80 * PAGE_MAX], after[80 * PAGE_MAX];
	loff_t page;		/* bytes of one */
	loff_t size;		/* of the file, as it is */
	loff_t off, end;	/* of the read */
	unsigned int calls, in; /* points passed; the one where the file changes */
	loff_t pos;		/* of the reader then */
	loff_t held_end;	/* of what it held then, 0 if nothing */
	bool busy;
};

static loff_t reader_pos(const struct racer *r)
{
	loff_t pos = r->off;

	for (unsigned int i = 0; r->splice && i < r->pipe.used; i++)
		pos += r->pipe.bufs[i].len;
	if (r->splice)
		return pos;
	return r->off + ((u8 *)r->iter.ubuf - r->buf);
}

/* The end of the folio (unless @folios, of the page) that the reader is about to copy from. */
static loff_t held_end(struct racer *r, bool folios)
{
	struct folio *folio = filemap_get_folio(r->s->run->inode->i_mapping, r->pos / r->page);
	loff_t end = round_down(r->pos, r->page) + r->page;

	if (!folio)
		return end;
	if (folios)
		end = folio_next_index(folio) * r->page;
	folio_put(folio);
	return end;
}

static void change(struct racer *r, struct inode *inode)
{
	struct file file = {.f_inode = inode, .f_mapping = inode->i_mapping, .f_mode = ~0u};
	loff_t off = prng_below(&r->prng, ROOM(r) - 16 * r->page),
	       len = 1 + prng_below(&r->prng, 16 * r->page);

	/* Half of them on a page's border. */
	if (prng_below(&r->prng, 2))
		off = round_down(off, r->page);
	memcpy(r->after, r->before, ROOM(r));
	switch (prng_below(&r->prng, 3)) {
	case 0:
		assert_int_equal(do_sys_ftruncate(&file, off), 0);
		memset(r->after + off, 0, ROOM(r) - off);
		r->size = off;
		break;
	case 1:
		assert_int_equal(shmem_punch_hole(inode, off, len), 0);
		memset(r->after + off, 0, len);
		break;
	default:
		memset(r->after + off, 0xee, len);
		assert_int_equal(ksys_pwrite64(&file, (char *)r->after + off, len, off), len);
		r->size = max(r->size, off + len);
	}
}

static bool copies_folios(const struct racer *r)
{
	const struct machine *m = r->s->run->machine;

	if (r->splice)
		return knob(m, SHMEM_SPLICE);
	return knob(m, SHMEM_READ_V1) || knob(m, SHMEM_READ_FOLIO);
}

/* Called before each lookup and, with the folio held, after it. */
static void race(void *ctx, struct inode *inode)
{
	struct racer *r = ctx;

	if (r->busy || r->calls++ != r->in)
		return;
	r->busy = true;
	r->pos = reader_pos(r);
	r->held_end = r->in & 1 ? held_end(r, copies_folios(r)) : 0;
	change(r, inode);
	r->busy = false;
}

/* The bytes of the fragments in the pipe, which is empty after that. */
static void drain_pipe(struct racer *r)
{
	u8 *to = r->buf;

	for (unsigned int i = 0; i < r->pipe.used; i++) {
		const struct pipe_buffer *buf = &r->pipe.bufs[i];

		if (buf->folio)
			memcpy(to, (u8 *)folio_address(buf->folio) + buf->offset, buf->len);
		else
			memset(to, 0, buf->len);
		to += buf->len;
	}
	pipe_release(&r->pipe);
}

static ssize_t splice_file(struct racer *r)
{
	loff_t pos = r->off;
	ssize_t ret;

	assert_int_equal(pipe_init(&r->pipe, (r->end - r->off) / r->page + 2), 0);
	r->calls = 0;
	ret = shmem_file_splice_read(run_file(r->s->run), &pos, &r->pipe, r->end - r->off);
	assert_int_equal(pos, r->off + max(ret, (ssize_t)0));
	drain_pipe(r);
	return ret;
}

static ssize_t read_file(struct racer *r)
{
	struct kiocb kiocb = {.ki_filp = run_file(r->s->run), .ki_pos = r->off};
	ssize_t ret;

	if (r->splice)
		return splice_file(r);
	r->calls = 0;
	r->iter = (struct iov_iter){.count = r->end - r->off, .ubuf = (char *)r->buf};
	ret = shmem_file_read_iter(&kiocb, &r->iter);
	assert_int_equal(kiocb.ki_pos, r->off + max(ret, (ssize_t)0));
	return ret;
}

/* Where the read ends. */
static loff_t expected_end(const struct racer *r, bool page)
{
	loff_t end = min(r->end, r->size);

	if (end > r->pos)
		return end;
	/* The file ends in an earlier page now: stage (a) does not notice before the next turn. */
	if (page && r->held_end && r->size < round_down(r->pos, r->page))
		return min(r->end, r->held_end);
	return r->pos;
}

static void check_bytes(const struct racer *r, unsigned long seed, loff_t end)
{
	for (loff_t i = r->off; i < end; i++) {
		u8 byte = r->buf[i - r->off];
		bool old_fits = i < max(r->pos, r->held_end) && byte == r->before[i];
		bool new_fits = (r->splice || i >= r->pos) && byte == r->after[i];

		if (!old_fits && !new_fits)
			fail_msg("%s, seed %lu: byte %lld is %u; %u before, %u after",
				 r->s->run->machine->kernel, seed, (long long)i, byte, r->before[i],
				 r->after[i]);
	}
}

/* In pieces of random size, for folios of several orders. */
static void fill(struct racer *r)
{
	for (loff_t pos = 0, len; pos < SIZE(r); pos += len) {
		len = min_t(loff_t, r->page << prng_below(&r->prng, 5), SIZE(r) - pos);
		for (loff_t i = pos; i < pos + len; i++)
			r->before[i] = 1 + i / 89;
		assert_int_equal(
			ksys_pwrite64(run_file(r->s->run), (char *)r->before + pos, len, pos), len);
	}
	r->size = SIZE(r);
}

/* A read left alone: its points are counted. */
static unsigned int count_points(struct racer *r)
{
	r->in = ~0u;
	assert_int_equal(read_file(r), min(r->end, r->size) - r->off);
	return r->calls;
}

static void one_race(struct racer *r, unsigned long seed)
{
	static const char *const fs[] = {"tmpfs-always", "tmpfs-within", "tmpfs-never"};
	static const loff_t pages[] = {4096, 4096, 4096, 4096, 4096, 16384, 16384, PAGE_MAX};
	unsigned int k = seed % ARRAY_SIZE(kernels), points;
	unsigned long nr = seed / ARRAY_SIZE(kernels);
	struct shmem_globals *g;
	loff_t end, got;
	ssize_t ret;

	memset(r, 0, offsetof(struct racer, buf));
	prng_seed(&r->prng, seed);
	r->page = pages[prng_below(&r->prng, ARRAY_SIZE(pages))];
	r->splice = prng_below(&r->prng, 2);
	memset(r->before, 0, ROOM(r));
	r->s = shmem_open_paged(kernels[k].kernel, fs[prng_below(&r->prng, ARRAY_SIZE(fs))],
				64 << 20, r->page);
	r->off = prng_below(&r->prng, 2 * r->page);
	r->end = r->off + SIZE(r) - r->page + prng_below(&r->prng, 16 * r->page);
	r->buf = malloc(r->end - r->off);
	fill(r);
	g = &r->s->run->machine->mm->shmem;
	g->between = race;
	g->between_ctx = r;
	points = count_points(r);
	assert_true(points);
	r->in = nr % points;
	ret = read_file(r);
	g->between = NULL;
	assert_true(ret >= 0);
	got = r->off + ret;
	end = expected_end(r, r->splice ? !copies_folios(r) : kernels[k].page);
	if (got != end)
		fail_msg("%s, seed %lu, %s, point %u of %u, at %lld: to %lld, expected %lld",
			 kernels[k].kernel, seed, r->splice ? "splice" : "read", r->in, points,
			 (long long)r->pos, (long long)got, (long long)end);
	check_bytes(r, seed, got);
	free(r->buf);
	shmem_close(r->s);
}

static void test_changes_between_turns(void **state)
{
	struct racer *r = calloc(1, sizeof(*r));
	unsigned long seeds = soak_count(10000);

	for (unsigned long seed = 0; seed < seeds; seed++)
		one_race(r, seed);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_between_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
