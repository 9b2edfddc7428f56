/*
 * mm/test_hwpoison_signals.c - who is told about a bad page, when and how.
 *
 * Proves table 6.3 of the specification of tmpfs and memory failures: SIGBUS at the time of the
 * failure, by what the tasks asked for (PR_MCE_KILL) and what the machine does
 * (vm.memory_failure_early_kill), and at every later touch; and how long the mark stays in a page
 * table: a punched hole leaves it, a truncation, MADV_DONTNEED and munmap take it away.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <string.h>

#include "mm/scene.h"

#define BAD 3 /* the page that fails */

/* Tasks that map all of the file; the first one is the run's own, which injects the error. */
enum { CALLER, EARLY, LATE, DEFAULT, UNTOUCHED, NR_TASKS };

struct tasks {
	struct shmem_scene *s;
	struct mm_struct *mm[NR_TASKS];
	struct vm_area_struct *vma[NR_TASKS];
};

static int touch(struct tasks *t, unsigned int task, pgoff_t page, bool write)
{
	char byte = 0;

	return access_user_byte(t->mm[task], t->vma[task]->vm_start + page * K4, write, &byte);
}

static void map(struct tasks *t, unsigned int task)
{
	struct run *run = t->s->run;

	assert_int_equal(do_mmap(t->mm[task], run_file(run), 0, i_size_read(run->inode),
				 VM_READ | VM_WRITE, 0, &t->vma[task]),
			 0);
}

/* All tasks map the file of @s, and all but one touch the page that is going to fail. */
static struct tasks begin(struct shmem_scene *s)
{
	static const enum mce_kill kill[NR_TASKS] = {
		[EARLY] = MCE_KILL_EARLY, [LATE] = MCE_KILL_LATE, [UNTOUCHED] = MCE_KILL_EARLY};
	struct tasks t = {.s = s};

	for (unsigned int i = 0; i < NR_TASKS; i++) {
		t.mm[i] = i == CALLER ? s->run->mm : mm_alloc(s->run->machine);
		t.mm[i]->mce.kill = kill[i];
		map(&t, i);
		if (i != UNTOUCHED)
			assert_int_equal(touch(&t, i, BAD, false), 0);
	}
	return t;
}

static void end(struct tasks *t)
{
	do_munmap(t->vma[CALLER]);
	for (unsigned int i = EARLY; i < NR_TASKS; i++)
		mmput(t->mm[i]);
	shmem_close(t->s);
}

static int poison(struct tasks *t)
{
	unsigned long addr = t->vma[CALLER]->vm_start + BAD * K4;

	return do_madvise(t->vma[CALLER], addr, addr + K4, MADV_HWPOISON_);
}

/* So many signals so far; the last one was of that kind, for the page that failed. */
static void expect_signal(const struct tasks *t, unsigned int task, unsigned long count, int code,
			  unsigned int lsb)
{
	const struct mm_mce *mce = &t->mm[task]->mce;

	if (mce->count != count)
		fail_msg("%s: task %u got %lu signals, expected %lu", t->s->run->machine->kernel,
			 task, mce->count, count);
	if (!count)
		return;
	assert_int_equal(mce->si_code, code);
	assert_int_equal(mce->si_addr_lsb, lsb);
	assert_int_equal(mce->si_addr, t->vma[task]->vm_start + BAD * K4);
}

static void expect_nobody(const struct tasks *t)
{
	for (unsigned int i = 0; i < NR_TASKS; i++)
		expect_signal(t, i, 0, 0, 0);
}

/* 64 KiB of single pages, dirty or only faulted in. */
static struct shmem_scene *single_pages(const char *kernel, bool dirty)
{
	struct shmem_scene *s = shmem_open(kernel, "tmpfs-never", 64 << 20);

	if (dirty)
		assert_int_equal(shmem_pwrite(s, 0, K64), K64);
	else
		assert_int_equal(do_sys_ftruncate(run_file(s->run), K64), 0);
	return s;
}

/* A dirty single page: the caller from 6.11 on, who asked for it, and who touches it later. */
static void dirty_page(unsigned int k, bool sysctl)
{
	struct tasks t = begin(single_pages(six[k], true));
	int caller = k ? BUS_MCEERR_AR : BUS_MCEERR_AO;

	t.s->run->machine->mm->mf.early_kill = sysctl;
	assert_int_equal(poison(&t), 0);
	expect_signal(&t, CALLER, k || sysctl, caller, 12);
	expect_signal(&t, EARLY, 1, BUS_MCEERR_AO, 12);
	expect_signal(&t, UNTOUCHED, 1, BUS_MCEERR_AO, 12);
	expect_signal(&t, LATE, 0, 0, 0);
	expect_signal(&t, DEFAULT, sysctl, BUS_MCEERR_AO, 12);
	assert_int_equal(touch(&t, LATE, BAD, false), -EFAULT);
	expect_signal(&t, LATE, 1, BUS_MCEERR_AR, 12);
	assert_int_equal(touch(&t, EARLY, BAD, true), -EFAULT);
	expect_signal(&t, EARLY, 2, BUS_MCEERR_AR, 12);
	do_munmap(t.vma[LATE]);
	map(&t, LATE);
	assert_int_equal(touch(&t, LATE, BAD, true), -EFAULT);
	expect_signal(&t, LATE, 2, BUS_MCEERR_AR, 12);
	assert_int_equal(touch(&t, LATE, BAD + 1, true), 0);
	end(&t);
}

static void test_dirty_page(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		dirty_page(k, false);
		dirty_page(k, true);
	}
}

/* The error is found by nobody (a scrubber, or corrupt-pfn): only who asked is told. */
static void test_found_by_nobody(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(single_pages(six[k], true));
		struct machine *m = t.s->run->machine;

		assert_int_equal(memory_failure(m, shmem_pfn(t.s, BAD), MF_SW_SIMULATED), 0);
		expect_signal(&t, CALLER, 0, 0, 0);
		expect_signal(&t, EARLY, 1, BUS_MCEERR_AO, 12);
		expect_signal(&t, UNTOUCHED, 1, BUS_MCEERR_AO, 12);
		expect_signal(&t, LATE, 0, 0, 0);
		expect_signal(&t, DEFAULT, 0, 0, 0);
		end(&t);
	}
}

/* Clean, or a large folio that splits (which unmaps it): nobody, whatever they asked for. */
static void test_nobody(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(single_pages(six[k], false));

		t.s->run->machine->mm->mf.early_kill = true;
		assert_int_equal(poison(&t), 0);
		expect_nobody(&t);
		assert_int_equal(touch(&t, DEFAULT, BAD, false), -EFAULT);
		expect_signal(&t, DEFAULT, 1, BUS_MCEERR_AR, 12);
		end(&t);
		t = begin(shmem_two_thps(six[k]));
		t.s->run->machine->mm->mf.early_kill = true;
		assert_int_equal(poison(&t), 0);
		expect_nobody(&t);
		assert_int_equal(touch(&t, EARLY, BAD, false), -EFAULT);
		expect_signal(&t, EARLY, 1, BUS_MCEERR_AR, 12);
		end(&t);
	}
}

/*
 * A large folio that cannot be split: the signal is about all of it, from 6.11 on. Mappings that
 * are there go on, with the bad page; a second error in it is news to nobody.
 */
static void test_unsplit(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(shmem_two_thps(six[k]));
		struct mf_state *mf = &t.s->run->machine->mm->mf;

		mf->split_fails = true;
		assert_int_equal(poison(&t), k ? -EHWPOISON : -EBUSY);
		expect_signal(&t, CALLER, !!k, BUS_MCEERR_AR, 21);
		expect_signal(&t, EARLY, !!k, BUS_MCEERR_AO, 21);
		expect_signal(&t, UNTOUCHED, !!k, BUS_MCEERR_AO, 21);
		expect_signal(&t, LATE, 0, 0, 0);
		expect_signal(&t, DEFAULT, 0, 0, 0);
		for (unsigned int i = 0; i < UNTOUCHED; i++)
			assert_int_equal(touch(&t, i, BAD, true), 0);
		assert_int_equal(poison(&t), -EHWPOISON);
		expect_signal(&t, CALLER, k ? 2 : 0, BUS_MCEERR_AR, 12);
		expect_signal(&t, EARLY, !!k, BUS_MCEERR_AO, 21);
		assert_int_equal(mf->num_poisoned_pages, 1);
		assert_int_equal(mf->stats.total, k ? 1 : 0);
		/* A new mapping faults on it: from now on it does so for all of them. */
		do_munmap(t.vma[LATE]);
		map(&t, LATE);
		assert_int_equal(touch(&t, LATE, BAD, false), -EFAULT);
		expect_signal(&t, LATE, 1, BUS_MCEERR_AR, 12);
		assert_int_equal(touch(&t, DEFAULT, BAD, false), -EFAULT);
		expect_signal(&t, DEFAULT, 1, BUS_MCEERR_AR, 12);
		assert_int_equal(touch(&t, DEFAULT, BAD + 1, true), 0);
		end(&t);
	}
}

/* New mappings of such a folio are by PTE, around the bad page; a fault on it unmaps the rest. */
static void test_unsplit_mapped_later(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);
		struct tasks t = {.s = s, .mm = {s->run->mm}};
		struct machine *m = s->run->machine;
		unsigned long mapped;

		m->mm->mf.split_fails = true;
		assert_int_equal(memory_failure(m, shmem_pfn(s, BAD), MF_SW_SIMULATED),
				 k ? -EHWPOISON : -EBUSY);
		map(&t, CALLER);
		assert_int_equal(touch(&t, CALLER, 0, false), 0);
		mapped = s->run->mm->rss;
		/* fault_around_bytes is 16 pages; the last kernels take all of the folio. */
		assert_true(mapped == 15 || (k >= 4 && mapped == 511));
		assert_int_equal(touch(&t, CALLER, BAD, false), -EFAULT);
		expect_signal(&t, CALLER, 1, BUS_MCEERR_AR, 12);
		assert_int_equal(s->run->mm->rss, k ? 0 : mapped);
		do_munmap(t.vma[CALLER]);
		shmem_close(s);
	}
}

/*
 * A private mapping that was only read maps the file's own page, as a shared one that cannot be
 * written does: the error hits the file. tmpfs keeps the page, a disk gives another one.
 */
static void test_only_read(void **state)
{
	for (unsigned int k = 0; k < SIX; k++)
		for (unsigned int disk = 0; disk < 2; disk++) {
			struct shmem_scene *s =
				disk ? shmem_open_ext4(six[k], K64) : shmem_two_thps(six[k]);
			struct tasks t = {.s = s, .mm = {s->run->mm}};
			struct file *file = run_file(s->run);

			assert_int_equal(
				do_mmap(t.mm[CALLER], file, 0, K64, VM_READ, 0, &t.vma[CALLER]), 0);
			assert_int_equal(touch(&t, CALLER, BAD, false), 0);
			assert_int_equal(poison(&t), 0);
			expect_signal(&t, CALLER, 0, 0, 0);
			assert_int_equal(ksys_pread64(file, NULL, K64, 0), disk ? K64 : 12288);
			assert_int_equal(touch(&t, CALLER, BAD, false), disk ? 0 : -EFAULT);
			expect_signal(&t, CALLER, !disk, BUS_MCEERR_AR, 12);
			do_munmap(t.vma[CALLER]);
			shmem_close(s);
		}
}

/* ---- the mark in the page table ---- */

static void expect_touch(struct tasks *t, unsigned int task, int want)
{
	int got = touch(t, task, BAD, false);

	if (got != want)
		fail_msg("%s: task %u touches the page: %d, expected %d",
			 t->s->run->machine->kernel, task, got, want);
}

/* A hole takes the page out of the file, but not the mark out of the page tables. */
static void test_mark_survives_a_hole(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(single_pages(six[k], true));
		struct vm_area_struct *vma = t.vma[EARLY];

		assert_int_equal(poison(&t), 0);
		assert_int_equal(shmem_punch_call(t.s, BAD * K4, K4), 0);
		expect_touch(&t, CALLER, -EFAULT);
		expect_touch(&t, CALLER, -EFAULT);
		do_munmap(t.vma[LATE]);
		map(&t, LATE);
		expect_touch(&t, LATE, 0);
		expect_touch(&t, CALLER, -EFAULT);
		assert_int_equal(do_madvise(vma, vma->vm_start, vma->vm_end, MADV_DONTNEED_), 0);
		expect_touch(&t, EARLY, 0);
		end(&t);
	}
}

/* A truncation clears both, also where the page itself stays in the file for now. */
static void test_truncation_clears_the_mark(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(single_pages(six[k], true));

		assert_int_equal(poison(&t), 0);
		assert_int_equal(do_sys_ftruncate(run_file(t.s->run), BAD * K4), 0);
		expect_touch(&t, CALLER, -EFAULT); /* past the end */
		assert_int_equal(do_sys_ftruncate(run_file(t.s->run), K64), 0);
		for (unsigned int i = 0; i < NR_TASKS; i++)
			expect_touch(&t, i, 0);
		end(&t);
	}
}

/* MADV_DONTNEED clears the mark; the page is still in the file, so the next touch finds it bad. */
static void test_page_outlives_the_mark(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(single_pages(six[k], true));
		struct vm_area_struct *vma = t.vma[DEFAULT];

		assert_int_equal(poison(&t), 0);
		assert_int_equal(do_madvise(vma, vma->vm_start, vma->vm_end, MADV_DONTNEED_), 0);
		expect_touch(&t, DEFAULT, -EFAULT);
		expect_signal(&t, DEFAULT, 1, BUS_MCEERR_AR, 12);
		end(&t);
	}
}

/* A file on disk, dirty single pages: the mark outlives the page and a hole, but no truncation. */
static void test_mark_on_disk(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(shmem_open_ext4(six[k], K64));

		assert_int_equal(touch(&t, CALLER, BAD, true), 0);
		assert_int_equal(poison(&t), 0);
		expect_touch(&t, LATE, -EFAULT);
		scene_pread(t.s->run, BAD * K4, K4);
		expect_touch(&t, LATE, -EFAULT);
		assert_int_equal(shmem_punch_call(t.s, BAD * K4, K4), 0);
		expect_touch(&t, LATE, -EFAULT);
		assert_int_equal(do_sys_ftruncate(run_file(t.s->run), 0), 0);
		assert_int_equal(do_sys_ftruncate(run_file(t.s->run), K64), 0);
		expect_touch(&t, LATE, 0);
		end(&t);
	}
}

/* Clean pages of a file on disk are dropped and read again: no signal, no mark. */
static void test_clean_on_disk(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct tasks t = begin(shmem_open_ext4(six[k], K64));

		t.s->run->machine->mm->mf.early_kill = true;
		assert_int_equal(poison(&t), 0);
		expect_nobody(&t);
		for (unsigned int i = 0; i < NR_TASKS; i++)
			assert_int_equal(touch(&t, i, BAD, true), 0);
		expect_nobody(&t);
		assert_int_equal(vfs_fsync(run_file(t.s->run)), 0);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dirty_page),
		cmocka_unit_test(test_found_by_nobody),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_unsplit),
		cmocka_unit_test(test_unsplit_mapped_later),
		cmocka_unit_test(test_only_read),
		cmocka_unit_test(test_mark_survives_a_hole),
		cmocka_unit_test(test_truncation_clears_the_mark),
		cmocka_unit_test(test_page_outlives_the_mark),
		cmocka_unit_test(test_mark_on_disk),
		cmocka_unit_test(test_clean_on_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
