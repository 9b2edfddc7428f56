/*
 * mm/test_shmem_hwpoison.c - what six kernels did to a tmpfs file with a bad page.
 *
 * Proves tables 8.1 and 8.2 of the specification of tmpfs and memory failures cell by cell: return
 * values, lookups, copies, signals, counters, layouts; every byte read is compared.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A value a kernel: 6.1, 6.12, and the four from 6.16 on. */
struct three {
	long v61, v612, v616;
};

static long pick(unsigned int kernel, struct three v)
{
	return kernel == 0 ? v.v61 : kernel == 1 ? v.v612 : v.v616;
}

static const char *pick_text(unsigned int kernel, const char *old, const char *newer)
{
	return kernel < 2 ? old : newer;
}

static void expect_read(struct shmem_scene *s, loff_t off, size_t len, ssize_t ret,
			unsigned long lookups, const char *copies)
{
	ssize_t got = shmem_pread(s, off, len);

	if (got != ret || s->lookups != lookups || strcmp(shmem_copies(s), copies))
		fail_msg("%s: pread %zu@%lld: %zd, %lu lookups, %s; expected %zd, %lu, %s",
			 s->run->machine->kernel, len, (long long)off, got, s->lookups,
			 shmem_copies(s), ret, lookups, copies);
}

static void expect_splice(struct shmem_scene *s, loff_t off, size_t len, ssize_t ret,
			  unsigned long lookups)
{
	ssize_t got = shmem_splice(s, off, len, 512);

	if (ret > 0)
		assert_int_equal(s->slots, (ret + (off & 4095) + 4095) / 4096);
	if (got != ret || (lookups && s->lookups != lookups))
		fail_msg("%s: splice %zu@%lld: %zd, %lu lookups; expected %zd, %lu",
			 s->run->machine->kernel, len, (long long)off, got, s->lookups, ret,
			 lookups);
}

/* @lookups 0: not looked at. Every byte that was written was copied once, page by page or not. */
static void expect_write(struct shmem_scene *s, loff_t off, size_t len, ssize_t ret,
			 unsigned long lookups)
{
	ssize_t got = shmem_pwrite(s, off, len);
	u64 copied = 0;

	if (got != ret || (lookups && s->lookups != lookups))
		fail_msg("%s: pwrite %zu@%lld: %zd, %lu write_begin; expected %zd, %lu",
			 s->run->machine->kernel, len, (long long)off, got, s->lookups, ret,
			 lookups);
	for (unsigned int i = 0; i < s->nr; i++)
		copied += s->copies[i] * s->size[i];
	assert_int_equal(copied, max(ret, (ssize_t)0));
}

static int touch(struct shmem_scene *s, pgoff_t page, bool write)
{
	char byte = page + 1;

	return access_user_byte(s->run->mm, s->run->vma->vm_start + page * K4, write, &byte);
}

static void expect_zero_page(struct shmem_scene *s, loff_t off)
{
	char buf[4096];

	memset(buf, 1, sizeof(buf));
	assert_int_equal(ksys_pread64(run_file(s->run), buf, K4, off), 4096);
	for (unsigned int i = 0; i < sizeof(buf); i++)
		assert_int_equal(buf[i], 0);
}

static void split_succeeds(unsigned int k)
{
	struct shmem_scene *s = shmem_two_thps(six[k]);
	struct mm_mce *mce = &s->run->mm->mce;
	struct mf_state *mf = &s->run->machine->mm->mf;
	const char *last = pick_text(k, "16x4096", "8x4096+1x32768");
	unsigned long pfn = shmem_pfn(s, 3);

	assert_int_equal(shmem_poison(s, 3), 0);
	assert_int_equal(mce->count, 0);
	assert_int_equal(mf->num_poisoned_pages, 1);
	assert_int_equal(mf->last_type, MF_MSG_DIRTY_LRU);
	assert_int_equal(mf->last_result, MF_RECOVERED);
	assert_string_equal(shmem_layout(s), "0-511:o0 512-1023:o9");
	expect_read(s, 0, M2, 12288, 4, "3x4096");
	expect_read(s, 0, K64, 12288, 4, "3x4096");
	expect_read(s, 0, M4, 12288, 4, "3x4096");
	expect_read(s, 12288, K4, -EIO, 1, "0");
	expect_read(s, 16384, K64, 65536, 16, "16x4096");
	expect_read(s, 8192, 8192, 4096, 2, "1x4096");
	expect_read(s, 0, 12289, 12288, 4, "3x4096");
	expect_read(s, M2 - 32768, K64, 65536, k < 2 ? 16 : 9, last);
	expect_splice(s, 0, M2, 12288, 4);
	expect_splice(s, 0, K64, 12288, 4);
	expect_splice(s, 12288, K4, -EIO, 1);
	expect_splice(s, 16384, K64, 65536, 16);
	expect_write(s, 0, K4, 4096, 1);
	expect_write(s, 12288, K4, -EIO, 1);
	expect_write(s, 0, K64, 12288, 4);
	expect_write(s, 0, M2, 12288, 4);
	expect_write(s, M2 - 32768, K64, 65536, pick(k, (struct three){16, 9, 9}));
	assert_string_equal(shmem_copies(s), k ? "8x4096+1x32768" : "16x4096");
	assert_int_equal(touch(s, 2, false), 0);
	assert_int_equal(touch(s, 3, false), -EFAULT);
	assert_int_equal(mce->count, 1);
	assert_int_equal(mce->si_code, BUS_MCEERR_AR);
	assert_int_equal(mce->si_addr_lsb, 12);
	assert_int_equal(touch(s, 3, true), -EFAULT);
	assert_int_equal(touch(s, 4, false), 0);
	assert_int_equal(unpoison_memory(s->run->machine, pfn), -EBUSY);
	assert_int_equal(shmem_punch_call(s, 12288, K4), 0);
	expect_zero_page(s, 12288);
	expect_write(s, 12288, K4, 4096, 1);
	assert_int_not_equal(shmem_pfn(s, 3), pfn);
	assert_int_equal(unpoison_memory(s->run->machine, pfn), 0);
	assert_int_equal(mf->num_poisoned_pages, 0);
	shmem_close(s);
}

/* 8.1 */
static void test_split_succeeds(void **state)
{
	for (unsigned int k = 0; k < SIX; k++)
		split_succeeds(k);
}

/* 1000 bytes at 12000: 288 of them lie before the bad page. */
static void test_inside_a_page(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);

		expect_read(s, 12000, 1000, 1000, k < 2 ? 2 : 1, k < 2 ? "1x288+1x4096" : "1x1000");
		assert_int_equal(shmem_poison(s, 3), 0);
		expect_read(s, 12000, 1000, 288, 2, "1x288");
		shmem_close(s);
	}
}

/* Somebody has page 10 in a pipe: the folio cannot be split. */
static struct shmem_scene *pinned(unsigned int k, pgoff_t bad, pgoff_t pin)
{
	struct shmem_scene *s = shmem_two_thps(six[k]);
	struct mm_mce *mce = &s->run->mm->mce;
	struct mf_state *mf = &s->run->machine->mm->mf;
	loff_t off = pin * K4;

	assert_int_equal(pipe_init(&s->pipe, 16), 0);
	assert_int_equal(shmem_file_splice_read(run_file(s->run), &off, &s->pipe, K4), K4);
	assert_int_equal(shmem_poison(s, bad), k ? -EHWPOISON : -EBUSY);
	assert_int_equal(mf->last_type, MF_MSG_UNSPLIT_THP);
	assert_int_equal(mf->last_result, k ? MF_FAILED : MF_IGNORED);
	assert_int_equal(mf->num_poisoned_pages, 1);
	assert_int_equal(mce->count, k ? 1 : 0);
	if (k) {
		assert_int_equal(mce->si_code, BUS_MCEERR_AR);
		assert_int_equal(mce->si_addr_lsb, 21);
		assert_int_equal(mce->si_addr, s->run->vma->vm_start + bad * K4);
	}
	assert_string_equal(shmem_layout(s), "0-1023:o9");
	return s;
}

static void split_fails(unsigned int k)
{
	struct shmem_scene *s = pinned(k, 3, 10);
	const char *last = pick_text(k, "16x4096", "8x4096+1x32768");

	expect_read(s, 0, M2, 12288, 4, "3x4096");
	expect_read(s, 0, K64, 12288, 4, "3x4096");
	expect_read(s, 0, M4, 12288, 4, "3x4096");
	expect_read(s, 12288, K4, -EIO, 1, "0");
	expect_read(s, 16384, K64, 65536, 16, "16x4096");
	expect_read(s, M2 - 32768, K64, 65536, k < 2 ? 16 : 9, last);
	expect_splice(s, 0, M2, pick(k, (struct three){12288, -EIO, 12288}), k == 1 ? 1 : 4);
	expect_splice(s, 0, K64, pick(k, (struct three){12288, -EIO, 12288}), k == 1 ? 1 : 4);
	expect_splice(s, 12288, K4, -EIO, 1);
	expect_splice(s, 16384, K64, pick(k, (struct three){65536, -EIO, 65536}), k == 1 ? 1 : 16);
	expect_splice(s, M2 - 32768, K64, pick(k, (struct three){65536, -EIO, 65536}),
		      pick(k, (struct three){16, 1, 9}));
	expect_write(s, 0, K4, pick(k, (struct three){4096, -EIO, -EIO}), 1);
	expect_write(s, 0, K64, pick(k, (struct three){12288, -EIO, -EIO}), k ? 1 : 4);
	expect_write(s, 16384, K64, pick(k, (struct three){65536, -EIO, -EIO}), k ? 1 : 16);
	expect_write(s, 0, M2, pick(k, (struct three){12288, -EIO, -EIO}), k ? 1 : 4);
	expect_write(s, M2, K4, 4096, 1);
	assert_int_equal(shmem_punch_call(s, 12288, K4), 0);
	expect_read(s, 12288, K4, -EIO, 1, "0");
	pipe_release(&s->pipe);
	expect_read(s, 16384, K64, 65536, 16, "16x4096");
	expect_write(s, 16384, K64, pick(k, (struct three){65536, -EIO, -EIO}), 0);
	assert_int_equal(shmem_punch_call(s, 12288, K4), 0);
	assert_string_equal(shmem_layout(s),
			    k < 2 ? "0-2:o0 4-511:o0 512-1023:o9"
				  : "0-1:o1 2:o0 4-5:o0 6-7:o1 8-15:o3 16-31:o4 32-63:o5 "
				    "64-127:o6 128-255:o7 256-511:o8 512-1023:o9");
	shmem_close(s);
}

/* 8.2 */
static void test_split_fails(void **state)
{
	for (unsigned int k = 0; k < SIX; k++)
		split_fails(k);
}

/* 8.2: page 515, in the second folio, and the head page. */
static void test_split_fails_elsewhere(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = pinned(k, 515, 600);

		expect_read(s, 0, M4, 2109440, k < 2 ? 516 : 5,
			    k < 2 ? "515x4096" : "1x2097152+3x4096");
		expect_read(s, M2 - 32768, K64, 45056, k < 2 ? 12 : 5,
			    k < 2 ? "11x4096" : "1x32768+3x4096");
		expect_splice(s, M2 - 32768, K64, pick(k, (struct three){45056, 32768, 45056}), 0);
		expect_write(s, M2 - 32768, K64, pick(k, (struct three){45056, 32768, 32768}), 0);
		shmem_close(s);
		s = pinned(k, 0, 10);
		expect_read(s, 4096, K64, 65536, 16, "16x4096");
		shmem_close(s);
	}
}

/* 6.4: unpinned, page 200 punched; the child with the bad page remembers it, or not (6.16.12). */
static void test_flag_lost(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = pinned(k, 3, 10);
		bool lost = k == 2;

		pipe_release(&s->pipe);
		assert_int_equal(shmem_punch_call(s, 200 * K4, K4), 0);
		expect_read(s, 0, K64, lost ? 65536 : 12288, lost ? 1 : 4,
			    lost ? "1x65536" : "3x4096");
		expect_splice(s, 0, K64, lost ? 65536 : 12288, 0);
		expect_write(s, 0, K64, lost ? 65536 : k < 2 ? 12288 : -EIO, 0);
		shmem_close(s);
	}
}

/* 6.2: another page of the folio, once nobody holds it: it splits, both stay bad. */
static void test_second_failure(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = pinned(k, 3, 10);

		pipe_release(&s->pipe);
		assert_int_equal(shmem_poison(s, 7), 0);
		expect_read(s, 0, K64, 12288, 4, "3x4096");
		expect_read(s, 16384, K64, 12288, 4, "3x4096");
		assert_int_equal(s->run->machine->mm->mf.num_poisoned_pages, 2);
		shmem_close(s);
	}
}

/* 6.1: bad already and unmapped: the fault of madvise fails. A range goes on by folio size. */
static void test_again_and_ranges(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);
		struct run *run = s->run;

		assert_int_equal(shmem_poison(s, 3), 0);
		assert_int_equal(shmem_poison(s, 3), -EFAULT);
		assert_int_equal(run->machine->mm->mf.num_poisoned_pages, 1);
		assert_int_equal(do_madvise(run->vma, run->vma->vm_start + M2,
					    run->vma->vm_start + M2 + K64, MADV_HWPOISON_),
				 0);
		assert_int_equal(run->machine->mm->mf.num_poisoned_pages, 2);
		assert_int_equal(do_madvise(run->vma, run->vma->vm_start + M2 + K64,
					    run->vma->vm_start + M2 + 2 * K64, MADV_HWPOISON_),
				 0);
		assert_int_equal(run->machine->mm->mf.num_poisoned_pages, 18);
		shmem_close(s);
	}
}

/* Read stages that no kernel of the six has: (b) and (c) of section 9. */
static struct shmem_scene *staged(const char *kernel, pgoff_t bad, pgoff_t pin, bool fails)
{
	struct shmem_scene *s = shmem_two_thps(kernel);
	loff_t off = pin * K4;

	if (fails) {
		assert_int_equal(pipe_init(&s->pipe, 16), 0);
		assert_int_equal(shmem_file_splice_read(run_file(s->run), &off, &s->pipe, K4), K4);
	}
	assert_int_equal(shmem_poison(s, bad), fails ? -EHWPOISON : 0);
	return s;
}

#define STAGE_A "v6.12.y"
#define STAGE_B "v6.12.y+f3650ef89b87"
#define STAGE_C "v6.12.y+SHMEM_READ_KIPOS+SHMEM_READ_V1"
#define STAGE_D "v6.12.y+SHMEM_READ_KIPOS+a284cb8472ec"

/* Section 9: ret, lookups, copies of each stage. */
static const struct {
	pgoff_t bad;
	loff_t off;
	size_t len;
	struct {
		ssize_t ret;
		unsigned long lookups;
		const char *copies;
	} ab, c, d;
} stages[] = {
	{3, 0, M2, {12288, 4, "3x4096"}, {-EIO, 1, "0"}, {12288, 4, "3x4096"}},
	{3, 0, K64, {12288, 4, "3x4096"}, {-EIO, 1, "0"}, {12288, 4, "3x4096"}},
	{3, 12288, K4, {-EIO, 1, "0"}, {-EIO, 1, "0"}, {-EIO, 1, "0"}},
	{3, 16384, K64, {65536, 16, "16x4096"}, {-EIO, 1, "0"}, {65536, 16, "16x4096"}},
	{3, M2 - 32768, K64, {65536, 16, "16x4096"}, {-EIO, 1, "0"}, {65536, 9, "8x4096+1x32768"}},
	{3, 0, M4, {12288, 4, "3x4096"}, {-EIO, 1, "0"}, {12288, 4, "3x4096"}},
	{515,
	 M2 - 32768,
	 K64,
	 {45056, 12, "11x4096"},
	 {32768, 2, "1x32768"},
	 {45056, 5, "1x32768+3x4096"}},
	{515,
	 0,
	 M4,
	 {2109440, 516, "515x4096"},
	 {2097152, 2, "1x2097152"},
	 {2109440, 5, "1x2097152+3x4096"}},
};

static void test_stages_unsplit(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(stages); i++) {
		static const char *const kernels[] = {STAGE_A, STAGE_B, STAGE_C, STAGE_D};

		for (unsigned int k = 0; k < ARRAY_SIZE(kernels); k++) {
			struct shmem_scene *s = staged(kernels[k], stages[i].bad,
						       stages[i].bad == 3 ? 10 : 600, true);

			if (k < 2)
				expect_read(s, stages[i].off, stages[i].len, stages[i].ab.ret,
					    stages[i].ab.lookups, stages[i].ab.copies);
			else if (k == 2)
				expect_read(s, stages[i].off, stages[i].len, stages[i].c.ret,
					    stages[i].c.lookups, stages[i].c.copies);
			else
				expect_read(s, stages[i].off, stages[i].len, stages[i].d.ret,
					    stages[i].d.lookups, stages[i].d.copies);
			shmem_close(s);
		}
	}
}

/* Once the folio is split v1 differs from the final stage in nothing. */
static void test_v1_differs_only_unsplit(void **state)
{
	struct shmem_scene *c = staged(STAGE_C, 3, 10, false), *d = staged(STAGE_D, 3, 10, false);

	for (unsigned int i = 0; i < 200; i++) {
		loff_t off = (i * 37 % 1000) * 4000;
		size_t len = 1 + i * 7919 % 300000;
		ssize_t want = shmem_pread(d, off, len);
		char copies[1024];

		snprintf(copies, sizeof(copies), "%s", shmem_copies(d));
		expect_read(c, off, len, want, d->lookups, copies);
	}
	shmem_close(c);
	shmem_close(d);
}

/* Our own proposal: writes go on page by page, as reads do. */
static void test_write_fallback(void **state)
{
	struct shmem_scene *s = staged("v6.18+SHMEM_WRITE_FALLBACK", 3, 10, true);

	expect_write(s, 0, K4, 4096, 1);
	expect_write(s, 0, K64, 12288, 4);
	expect_write(s, 12288, K4, -EIO, 1);
	expect_write(s, 16384, K64, 65536, 16);
	expect_write(s, M2 - 32768, K64, 65536, 9);
	shmem_close(s);
}

/* 6.5: soft offline moves the page: bytes stay, no signal; it fails where the folio is held. */
static void test_soft_offline(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);
		struct machine *m = s->run->machine;
		unsigned long pfn = shmem_pfn(s, 3);

		m->mm->mf.split_fails = true;
		assert_int_equal(soft_offline_page(m, pfn, 0), -EBUSY);
		assert_false(page_hwpoison(m, pfn));
		m->mm->mf.split_fails = false;
		assert_int_equal(soft_offline_page(m, pfn, 0), 0);
		assert_true(page_hwpoison(m, pfn));
		assert_int_not_equal(shmem_pfn(s, 3), pfn);
		assert_int_equal(m->mm->mf.num_poisoned_pages, 1);
		assert_int_equal(m->mm->mf.stats.total, 0);
		assert_int_equal(s->run->mm->mce.count, 0);
		assert_int_equal(shmem_pread(s, 0, M4), M4);
		m->mm->mf.disable_soft_offline = true;
		assert_int_equal(soft_offline_page(m, shmem_pfn(s, 5), 0), k ? -EOPNOTSUPP : 0);
		shmem_close(s);
	}
}

/* 6.5: an unsplit folio that is freed whole: 6.1 hands its block out again, later ones do not. */
static void test_unsplit_freed(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = pinned(k, 3, 10);
		struct machine *m = s->run->machine;
		unsigned long pfn = shmem_pfn(s, 3);

		do_munmap(s->run->vma);
		s->run->vma = NULL;
		pipe_release(&s->pipe);
		assert_int_equal(do_sys_ftruncate(run_file(s->run), 0), 0);
		expect_write(s, 0, M2, k ? M2 : 12288, 0);
		if (k)
			assert_int_not_equal(shmem_pfn(s, 3), pfn);
		else
			assert_int_equal(memory_failure(m, pfn, MF_SW_SIMULATED), -EHWPOISON);
		shmem_close(s);
	}
}

/* A free page, a page that does not exist, and a real error that cannot be taken back. */
static void test_free_pages(void **state)
{
	struct shmem_scene *s = shmem_two_thps("v6.18");
	struct machine *m = s->run->machine;
	unsigned long pfn = m->max_pfn - 7;

	assert_int_equal(memory_failure(m, m->max_pfn, 0), -ENXIO);
	assert_int_equal(memory_failure(m, pfn, MF_SW_SIMULATED), 0);
	assert_int_equal(m->mm->mf.last_type, MF_MSG_BUDDY);
	assert_int_equal(memory_failure(m, pfn, MF_SW_SIMULATED), -EHWPOISON);
	assert_int_equal(m->mm->mf.stats.total, 1);
	assert_int_equal(unpoison_memory(m, pfn + 1), -EBUSY);
	assert_int_equal(unpoison_memory(m, pfn), 0);
	assert_int_equal(soft_offline_page(m, pfn, 0), 0);
	assert_int_equal(memory_failure(m, pfn + 1, 0), 0);
	assert_int_equal(unpoison_memory(m, pfn), -EOPNOTSUPP);
	shmem_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_succeeds),
		cmocka_unit_test(test_inside_a_page),
		cmocka_unit_test(test_split_fails),
		cmocka_unit_test(test_split_fails_elsewhere),
		cmocka_unit_test(test_flag_lost),
		cmocka_unit_test(test_second_failure),
		cmocka_unit_test(test_again_and_ranges),
		cmocka_unit_test(test_stages_unsplit),
		cmocka_unit_test(test_v1_differs_only_unsplit),
		cmocka_unit_test(test_write_fallback),
		cmocka_unit_test(test_soft_offline),
		cmocka_unit_test(test_unsplit_freed),
		cmocka_unit_test(test_free_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
