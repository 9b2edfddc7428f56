/*
 * mm/test_shmem_model.c - bad pages of a tmpfs file against a byte array and a set of bad pages.
 *
 * Proves that from the merged stage on exactly the bad pages cannot be read, whatever folios they
 * lie in, split or not; that the first posted version loses every page of an unsplit folio with a
 * bad one; and that nothing ever returns a byte of a bad page, except where a split lost the mark
 * of the folio (6.16.12), which real kernels did too.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <string.h>

#define BYTES  (4L << 20) /* of the longest file */
#define PAGES  (BYTES / 4096)
#define MEMORY (32UL << 20)

/* What the file holds, and which of its pages are bad. */
struct model {
	u8 bytes[BYTES];
	bool bad[PAGES];
	loff_t size;
	loff_t page; /* bytes of one */
	struct prng prng;
};

enum stage { PAGE, FOLIO_V1, FINAL, LOSES_MARK };

static const struct {
	const char *kernel;
	enum stage stage;
} kernels[] = {
	{"v6.12.y+SHMEM_SIZE_ORDERS", PAGE},
	{"v6.12.y+SHMEM_SIZE_ORDERS+SHMEM_READ_KIPOS", PAGE},
	{"v6.12.y+SHMEM_SIZE_ORDERS+SHMEM_READ_KIPOS+SHMEM_READ_V1", FOLIO_V1},
	{"v6.12.y+SHMEM_SIZE_ORDERS+SHMEM_READ_KIPOS+SHMEM_READ_FOLIO", FINAL},
	{"v6.1.y", PAGE},
	{"v6.16.y", LOSES_MARK},
	{"v6.17.y", FINAL},
	{"v6.18", FINAL},
	{"v7.3", FINAL},
};

/* Half of the cases have the folios of 4 KiB pages, of all orders from 0 to 9. */
static const unsigned int page_sizes[] = {4096, 16384, 4096, 65536};

static u64 below(struct model *model, u64 n)
{
	return prng_below(&model->prng, n);
}

/* Folios of random orders one after the other, each as large as its alignment lets it be. */
static void fill(struct shmem_scene *s, struct model *model)
{
	loff_t limit = below(model, 8) ? BYTES / 16 : BYTES;

	model->size = 0;
	while (model->size < limit) {
		loff_t len = min_t(loff_t, model->page << below(model, 10), BYTES - model->size);
		u8 *at = model->bytes + model->size;

		for (loff_t i = 0; i < len; i += 64)
			memset(at + i, 1 + (model->size + i) / 64 % 251, 64);
		assert_int_equal(ksys_pwrite64(run_file(s->run), (char *)at, len, model->size),
				 len);
		model->size += len;
	}
}

/* Up to seven errors; each finds its folio held by somebody or not. */
static void poison_some(struct shmem_scene *s, struct model *model)
{
	struct machine *m = s->run->machine;
	unsigned int nr = below(model, 8);

	while (nr--) {
		pgoff_t page = below(model, model->size / model->page);

		m->mm->mf.split_fails = below(model, 3);
		memory_failure(m, shmem_pfn(s, page), MF_SW_SIMULATED);
		model->bad[page] = true;
	}
	m->mm->mf.split_fails = false;
}

/* Any page, of a large folio with a bad one if the draw of it finds one. */
static pgoff_t draw_page(struct shmem_scene *s, struct model *model)
{
	pgoff_t page = below(model, model->size / model->page);

	for (unsigned int tries = 0; tries < 64; tries++) {
		struct folio *folio = filemap_get_folio(s->run->inode->i_mapping, page);
		bool wanted = folio_test_large(folio) && folio_contain_hwpoisoned_page(folio);

		folio_put(folio);
		if (wanted)
			break;
		page = below(model, model->size / model->page);
	}
	return page;
}

/* A page goes: its folio is split, bad pages or not. Pages of it that are bad stay as they are. */
static void punch_one(struct shmem_scene *s, struct model *model)
{
	pgoff_t page = draw_page(s, model);

	if (model->bad[page])
		return;
	assert_int_equal(shmem_punch_hole(s->run->inode, page * model->page, model->page), 0);
	memset(model->bytes + page * model->page, 0, model->page);
}

/* Does the folio over the page have a bad one? */
static bool folio_bad(struct shmem_scene *s, const struct model *model, pgoff_t page)
{
	struct folio *folio = filemap_get_folio(s->run->inode->i_mapping, page);
	bool bad = false;

	if (!folio)
		return false;
	for (pgoff_t i = folio->index; i < folio_next_index(folio) && i < PAGES; i++)
		bad |= model->bad[i];
	folio_put(folio);
	return bad;
}

/* Can this page be read? */
static bool lost(struct shmem_scene *s, const struct model *model, enum stage stage, pgoff_t page)
{
	return stage == FOLIO_V1 ? folio_bad(s, model, page) : model->bad[page];
}

/* What a read answers. */
static ssize_t expected(struct shmem_scene *s, const struct model *model, enum stage stage,
			loff_t off, size_t len)
{
	loff_t end = min_t(loff_t, off + len, model->size);

	for (loff_t pos = off; pos < end; pos = round_down(pos, model->page) + model->page)
		if (lost(s, model, stage, pos / model->page))
			return pos == off ? -EIO : pos - off;
	return max(end - off, (loff_t)0);
}

static void compare(struct shmem_scene *s, const struct model *model, const u8 *buf, loff_t off,
		    ssize_t ret)
{
	if (ret <= 0 || !memcmp(buf, model->bytes + off, ret))
		return;
	for (ssize_t i = 0; i < ret; i++)
		if (buf[i] != model->bytes[off + i])
			fail_msg("%s: byte %lld is %u, not %u", s->run->machine->kernel,
				 (long long)off + i, buf[i], model->bytes[off + i]);
}

/* One read: the model's answer. Returns bad pages read, which only LOSES_MARK may. */
static unsigned long one_read(struct shmem_scene *s, struct model *model, enum stage stage,
			      loff_t off, size_t len)
{
	static u8 buf[BYTES];
	ssize_t want = expected(s, model, stage, off, len), ret;
	unsigned long leaked = 0;

	ret = ksys_pread64(run_file(s->run), (char *)buf, len, off);
	if (stage == LOSES_MARK && ret > want)
		for (pgoff_t i = off / model->page; i <= (pgoff_t)((off + ret - 1) / model->page);
		     i++)
			leaked += model->bad[i];
	if (leaked ? ret < want : ret != want)
		fail_msg("%s: pread %zu@%lld: %zd, expected %zd", s->run->machine->kernel, len,
			 (long long)off, ret, want);
	compare(s, model, buf, off, ret);
	return leaked;
}

/* Read what can be read, a page further after every error: pages that were lost. */
static unsigned long pages_lost(struct shmem_scene *s, struct model *model, enum stage stage)
{
	static u8 buf[BYTES];
	unsigned long nr = 0;
	loff_t pos = 0;

	while (pos < model->size) {
		ssize_t ret = ksys_pread64(run_file(s->run), (char *)buf, model->size - pos, pos);

		if (ret > 0) {
			compare(s, model, buf, pos, ret);
			pos += ret;
			continue;
		}
		assert_int_equal(ret, -EIO);
		assert_true(lost(s, model, stage, pos / model->page));
		nr++;
		pos += model->page;
	}
	return nr;
}

static unsigned long count_bad(const struct model *model)
{
	unsigned long nr = 0;

	for (pgoff_t i = 0; i < PAGES; i++)
		nr += model->bad[i];
	return nr;
}

/* What a series of cases saw. */
struct tally {
	unsigned long leaked;	 /* bad pages that were read */
	unsigned long bad, lost; /* pages */
};

static void play_case(struct model *model, unsigned long seed, unsigned int k, bool punch,
		      struct tally *tally)
{
	enum stage stage = kernels[k].stage;
	struct shmem_scene *s;
	loff_t off;

	memset(model->bad, 0, sizeof(model->bad));
	prng_seed(&model->prng, seed);
	model->page = page_sizes[seed / ARRAY_SIZE(kernels) % ARRAY_SIZE(page_sizes)];
	s = shmem_open_paged(kernels[k].kernel, "tmpfs-always", MEMORY, model->page);
	fill(s, model);
	poison_some(s, model);
	if (punch)
		punch_one(s, model);
	off = below(model, model->size);
	tally->leaked += one_read(s, model, stage, off, 1 + below(model, model->size));
	if (stage == LOSES_MARK) {
		tally->leaked += one_read(s, model, stage, 0, model->size);
	} else {
		tally->bad += count_bad(model);
		tally->lost += pages_lost(s, model, stage);
	}
	shmem_close(s);
}

/* 10,000 sets of bad pages, each with a read from anywhere and one of all the file. */
static void test_only_bad_pages_are_lost(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	struct tally tally[ARRAY_SIZE(kernels)] = {0};
	unsigned long cases = soak_count(10000);

	for (unsigned long seed = 0; seed < cases; seed++) {
		unsigned int k = seed % ARRAY_SIZE(kernels);

		play_case(model, seed, k, false, &tally[k]);
	}
	for (unsigned int k = 0; k < ARRAY_SIZE(kernels); k++) {
		assert_int_equal(tally[k].leaked, 0);
		if (kernels[k].stage == FOLIO_V1)
			assert_true(tally[k].lost > 4 * tally[k].bad);
		else
			assert_int_equal(tally[k].lost, tally[k].bad);
	}
	print_message("# v1: %lu pages lost to %lu bad ones\n", tally[2].lost, tally[2].bad);
	free(model);
}

/* The same after a hole was punched into it, which splits: 6.16.12 alone hands out bad pages. */
static void test_mark_survives_a_split(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	struct tally tally[ARRAY_SIZE(kernels)] = {0};
	unsigned long cases = soak_count(4000);

	for (unsigned long seed = 0; seed < cases; seed++) {
		unsigned int k = seed % ARRAY_SIZE(kernels);

		play_case(model, seed + 1000000, k, true, &tally[k]);
	}
	for (unsigned int k = 0; k < ARRAY_SIZE(kernels); k++) {
		if (tally[k].leaked)
			print_message("# %s: %lu bad pages read\n", kernels[k].kernel,
				      tally[k].leaked);
		if (kernels[k].stage == LOSES_MARK)
			assert_true(tally[k].leaked > 0);
		else
			assert_int_equal(tally[k].leaked, 0);
	}
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_bad_pages_are_lost),
		cmocka_unit_test(test_mark_survives_a_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
