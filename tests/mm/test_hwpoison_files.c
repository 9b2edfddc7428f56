/*
 * mm/test_hwpoison_files.c - memory failures on pages that have a place on disk.
 *
 * Proves the table of section 6.6 of the specification of tmpfs and memory failures (ext4, six
 * kernels), the signals of 6.3 on such files, and the answers of poison, soft-offline and unpoison
 * as operations of a run.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mm/scene.h"

static struct run *open_ext4(const char *kernel)
{
	struct run_config config;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 256 << 20;
	config.machine.data = true;
	config.fs = "ext4";
	config.disk = "ram";
	config.written = true;
	config.size = M4;
	return scene_open(&config);
}

static void close_ext4(struct run *run)
{
	if (run->vma)
		do_munmap(run->vma);
	run->vma = NULL;
	vfs_fsync(run_file(run));
	scene_check(run);
	truncate_inode_pages_final(run->inode->i_mapping);
	lru_add_drain(run->machine);
	scene_check(run);
	vm_check_nothing_left(run->machine);
	run_close(run);
}

static void map_file(struct run *run)
{
	assert_int_equal(do_mmap(run->mm, run_file(run), 0, M4, VM_READ | VM_WRITE, 0, &run->vma),
			 0);
}

static int poison(struct run *run, pgoff_t page)
{
	return do_madvise(run->vma, run->vma->vm_start + page * K4,
			  run->vma->vm_start + (page + 1) * K4, MADV_HWPOISON_);
}

static int touch(struct run *run, pgoff_t page, bool write, char *byte)
{
	return access_user_byte(run->mm, run->vma->vm_start + page * K4, write, byte);
}

/* A clean page is dropped and read again: nobody notices. */
static void test_clean(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct run *run = open_ext4(six[k]);
		struct mf_state *mf = &run->machine->mm->mf;
		char before[4096], after[4096], byte;

		assert_int_equal(ksys_pread64(run_file(run), before, K4, 3 * K4), K4);
		scene_pread(run, 0, K64);
		map_file(run);
		assert_int_equal(poison(run, 3), 0);
		assert_int_equal(mf->last_type, MF_MSG_CLEAN_LRU);
		assert_int_equal(mf->last_result, MF_RECOVERED);
		assert_int_equal(run->mm->mce.count, 0);
		assert_int_equal(ksys_pread64(run_file(run), after, K4, 3 * K4), K4);
		assert_memory_equal(before, after, K4);
		assert_int_equal(touch(run, 3, false, &byte), 0);
		assert_int_equal(byte, before[0]);
		assert_int_equal(vfs_fsync(run_file(run)), 0);
		close_ext4(run);
	}
}

/* A dirty single page, mapped: what was written is lost, and fsync says so once a descriptor. */
static void test_dirty_mapped(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct run *run = open_ext4(six[k]);
		struct file *early = filp_open(run->inode), *late;
		char before[4096], after[4096], byte = 0x55;

		assert_int_equal(ksys_pread64(run_file(run), before, K4, 3 * K4), K4);
		mapping_set_folio_order_range(run->inode->i_mapping, 0, 0);
		truncate_inode_pages_final(run->inode->i_mapping);
		map_file(run);
		assert_int_equal(touch(run, 3, true, &byte), 0);
		assert_int_equal(poison(run, 3), 0);
		assert_int_equal(run->machine->mm->mf.last_type, MF_MSG_DIRTY_LRU);
		assert_int_equal(run->mm->mce.count, k ? 1 : 0);
		if (k) {
			assert_int_equal(run->mm->mce.si_code, BUS_MCEERR_AR);
			assert_int_equal(run->mm->mce.si_addr_lsb, 12);
		}
		assert_int_equal(ksys_pread64(run_file(run), after, K4, 3 * K4), K4);
		assert_memory_equal(before, after, K4);
		assert_int_equal(touch(run, 3, false, &byte), -EFAULT);
		assert_int_equal(vfs_fsync(run_file(run)), -EIO);
		assert_int_equal(vfs_fsync(run_file(run)), 0);
		assert_int_equal(vfs_fsync(early), -EIO);
		assert_int_equal(vfs_fsync(early), 0);
		late = filp_open(run->inode);
		assert_int_equal(vfs_fsync(late), 0);
		fput(early);
		fput(late);
		do_munmap(run->vma);
		map_file(run);
		assert_int_equal(touch(run, 3, false, &byte), 0);
		close_ext4(run);
	}
}

/* The same by frame, not mapped by anybody. */
static void test_dirty_unmapped(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct run *run = open_ext4(six[k]);
		struct machine *m = run->machine;
		char before[4096], after[4096];
		struct folio *folio;

		assert_int_equal(ksys_pread64(run_file(run), before, K4, 0), K4);
		mapping_set_folio_order_range(run->inode->i_mapping, 0, 0);
		truncate_inode_pages_final(run->inode->i_mapping);
		memset(after, 9, sizeof(after));
		assert_int_equal(ksys_pwrite64(run_file(run), after, K4, 0), K4);
		folio = filemap_get_folio(run->inode->i_mapping, 0);
		folio_put(folio);
		assert_int_equal(memory_failure(m, folio->_pfn, MF_SW_SIMULATED), 0);
		assert_int_equal(ksys_pread64(run_file(run), after, K4, 0), K4);
		assert_memory_equal(before, after, K4);
		assert_int_equal(vfs_fsync(run_file(run)), -EIO);
		close_ext4(run);
	}
}

/* A dirty large folio cannot be split: all of it stays readable, and is written back. */
static void test_dirty_large(void **state)
{
	for (unsigned int k = 2; k < SIX; k++) {
		struct run *run = open_ext4(six[k]);
		char *buf = malloc(M2);
		struct folio *folio;

		memset(buf, 7, M2);
		assert_int_equal(ksys_pwrite64(run_file(run), buf, M2, 0), M2);
		folio = filemap_get_folio(run->inode->i_mapping, 0);
		assert_int_equal(folio_order(folio), 9);
		folio_put(folio);
		map_file(run);
		assert_int_equal(poison(run, 3), -EHWPOISON);
		assert_int_equal(run->machine->mm->mf.last_type, MF_MSG_UNSPLIT_THP);
		assert_int_equal(run->machine->mm->mf.last_result, MF_FAILED);
		assert_int_equal(run->mm->mce.si_code, BUS_MCEERR_AR);
		assert_int_equal(run->mm->mce.si_addr_lsb, 21);
		assert_int_equal(ksys_pread64(run_file(run), buf, M2, 0), M2);
		for (long i = 0; i < M2; i++)
			assert_int_equal(buf[i], 7);
		assert_int_equal(ksys_pwrite64(run_file(run), buf, K64, 0), K64);
		assert_int_equal(vfs_fsync(run_file(run)), 0);
		free(buf);
		close_ext4(run);
	}
}

/* A clean folio of order 5 that somebody holds: reads, splices and writes do not mind. */
static void test_clean_large_pinned(void **state)
{
	for (unsigned int k = 2; k < SIX; k++) {
		struct run *run = open_ext4(six[k]);
		struct mf_state *mf = &run->machine->mm->mf;
		char *buf = malloc(2 * K64), *back = malloc(2 * K64), byte;
		struct folio *folio;
		unsigned long pfn;

		memset(buf, 7, 2 * K64);
		assert_int_equal(ksys_pwrite64(run_file(run), buf, 2 * K64, 0), 2 * K64);
		assert_int_equal(vfs_fsync(run_file(run)), 0);
		folio = filemap_get_folio(run->inode->i_mapping, 0);
		assert_int_equal(folio_order(folio), 5);
		assert_false(folio_test_dirty(folio));
		pfn = folio->_pfn + 3;
		map_file(run);
		assert_int_equal(touch(run, 3, false, &byte), 0);
		assert_int_equal(poison(run, 3), -EHWPOISON);
		assert_int_equal(mf->last_type, MF_MSG_UNSPLIT_THP);
		assert_int_equal(mf->last_result, MF_FAILED);
		assert_int_equal(run->mm->mce.count, 1);
		assert_int_equal(run->mm->mce.si_code, BUS_MCEERR_AR);
		assert_int_equal(run->mm->mce.si_addr_lsb, 17);
		assert_int_equal(ksys_pread64(run_file(run), back, 2 * K64, 0), 2 * K64);
		assert_memory_equal(buf, back, 2 * K64);
		assert_int_equal(do_splice_read(run_file(run), 0, 2 * K64), 2 * K64);
		assert_int_equal(ksys_pwrite64(run_file(run), buf, 2 * K64, 0), 2 * K64);
		do_munmap(run->vma);
		map_file(run);
		assert_int_equal(touch(run, 3, false, &byte), -EFAULT);
		assert_int_equal(run->mm->mce.count, 2);
		assert_int_equal(run->mm->mce.si_addr_lsb, 12);
		assert_int_equal(touch(run, 4, false, &byte), 0);
		do_munmap(run->vma);
		run->vma = NULL;
		folio_put(folio);
		assert_int_equal(vfs_fsync(run_file(run)), 0);
		truncate_inode_pages_final(run->inode->i_mapping);
		lru_add_drain(run->machine);
		assert_true(page_hwpoison(run->machine, pfn));
		assert_null(pfn_folio(run->machine, pfn));
		assert_int_equal(mf->in_buddy, 1);
		assert_int_equal(mf->off_buddy, 0);
		free(buf);
		free(back);
		close_ext4(run);
	}
}

static int one_op(const char *kernel, const char *fs, s64 size, const char *ops)
{
	struct run_config config;
	struct run *run;
	int error;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 256 << 20;
	config.fs = fs;
	config.size = size;
	run = scene_open(&config);
	scene_play(run, ops);
	error = run->last_error;
	run_close(run);
	return error;
}

/* What a run answers to operations that cannot be meant. */
static void test_operations(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "poison 4k"), 0);
		assert_int_equal(one_op(six[k], "tmpfs-never", M4, "poison 4k; poison 8k"), 0);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "poison 100"), -EINVAL);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "poison 4m"), -EFAULT);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "poison 0; poison 0"), -EFAULT);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "poison 0; unpoison 0"),
				 -EBUSY);
		assert_int_equal(
			one_op(six[k], "tmpfs-always", M4, "poison 0; punch 0 4k; unpoison 0"), 0);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4, "unpoison 0"), -ENXIO);
		assert_int_equal(one_op(six[k], "xfs", M4, "poison 4k; unpoison 4k"), 0);
		assert_int_equal(one_op(six[k], "ext4", M4, "read 64k; soft-offline 4k; read 64k"),
				 0);
		assert_int_equal(one_op(six[k], "tmpfs-always", M4,
					"pwrite 0 2m; poison 0; "
					"pread 0 4k"),
				 -EIO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_dirty_mapped),
		cmocka_unit_test(test_dirty_unmapped),
		cmocka_unit_test(test_dirty_large),
		cmocka_unit_test(test_clean_large_pinned),
		cmocka_unit_test(test_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
