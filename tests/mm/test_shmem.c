/*
 * mm/test_shmem.c - which folios files in memory get, how they are cut, read and spliced.
 *
 * Proves the tables of the specification of tmpfs: orders by operation, policy and kernel (5.4),
 * truncate and punch (5.5), counts of healthy reads (9), the rules of reading and splicing (2, 3),
 * policies and their switches (5.1, 5.2); and that every byte is right under random operations.
 */
#include "mm/shmem_scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/prng.h"
#include "mm/scene.h"

#define M1     (1L << 20)
#define MEMORY (256UL << 20)

static void write_at(struct shmem_scene *s, loff_t off, size_t len, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(shmem_pwrite(s, off + i * len, len), len);
}

static void expect_layout(struct shmem_scene *s, const char *what, const char *expected)
{
	if (strcmp(shmem_layout(s), expected))
		fail_msg("%s: %s: %s, expected %s", s->run->machine->kernel, what, shmem_layout(s),
			 expected);
}

#define LADDER_2M                                                                                  \
	"1:o0 2-3:o1 4-7:o2 8-15:o3 16-31:o4 32-63:o5 64-127:o6 128-255:o7 256-511:o8 512:o0"

/* op: w write, f fallocate, s preset size 4M and write; columns 6.1, 6.12, 6.16/17, 6.18/7.3. */
static const struct {
	char op;
	loff_t off;
	size_t len;
	unsigned int n;
	const char *want[4];
} always[] =
	{
		{'w', 0, K4, 1, {"0-511:o9", "0-511:o9", "0:o0", "0-511:o9"}},
		{'w', 0, K64, 1, {"0-511:o9", "0-511:o9", "0-15:o4", "0-511:o9"}},
		{'w',
		 K4,
		 K64,
		 1,
		 {"0-511:o9", "0-511:o9", "1:o0 2-3:o1 4-7:o2 8-15:o3 16:o0", "0-511:o9"}},
		{'w',
		 0,
		 100 << 10,
		 1,
		 {"0-511:o9", "0-511:o9", "0-15:o4 16-23:o3 24:o0", "0-511:o9"}},
		{'w', 0, M1, 1, {"0-511:o9", "0-511:o9", "0-255:o8", "0-511:o9"}},
		{'w', M1 / 2, M1, 1, {"0-511:o9", "0-511:o9", "128-383:o7", "0-511:o9"}},
		{'w', 0, M2, 1, {"0-511:o9", "0-511:o9", "0-511:o9", "0-511:o9"}},
		{'w', K4, M2, 1, {"0-1023:o9", "0-1023:o9", LADDER_2M, "0-1023:o9"}},
		{'w', M1, M2, 1, {"0-1023:o9", "0-1023:o9", "256-767:o8", "0-1023:o9"}},
		{'w', 0, 3 * M1, 1, {"0-1023:o9", "0-1023:o9", "0-511:o9 512-767:o8", "0-1023:o9"}},
		{'w', 0, K4, 512, {"0-511:o9", "0-511:o9", "0-511:o0", "0-511:o9"}},
		{'w', 0, K64, 32, {"0-511:o9", "0-511:o9", "0-511:o4", "0-511:o9"}},
		{'f', 0, K4, 1, {"0-511:o9", "0-511:o9", "0:o0", "0-511:o9"}},
		{'f', 0, K64, 1, {"0-511:o9", "0-511:o9", "0-15:o4", "0-511:o9"}},
		{'f', 0, M2, 1, {"0-511:o9", "0-511:o9", "0-511:o9", "0-511:o9"}},
		{'f', 0, 3 * M1, 1, {"0-1023:o9", "0-1023:o9", "0-511:o9 512-767:o8", "0-1023:o9"}},
		{'f', K4, M2, 1, {"0-1023:o9", "0-1023:o9", LADDER_2M, "0-1023:o9"}},
},
  within[] = {
	  {'w', 0, K4, 1, {"0:o0", "0:o0", "0:o0", "0:o0"}},
	  {'w', 0, K64, 1, {"0-15:o0", "0-15:o0", "0-15:o4", "0-15:o4"}},
	  {'w',
	   K4,
	   K64,
	   1,
	   {"1-16:o0", "1-16:o0", "1:o0 2-3:o1 4-7:o2 8-15:o3 16:o0", "0-15:o4 16:o0"}},
	  {'w', 0, M1, 1, {"0-255:o0", "0-255:o0", "0-255:o8", "0-255:o8"}},
	  {'w', M1 / 2, M1, 1, {"128-383:o0", "128-383:o0", "128-383:o7", "0-255:o8 256-383:o7"}},
	  {'w', 0, M2, 1, {"0-511:o0", "0-511:o9", "0-511:o9", "0-511:o9"}},
	  {'f', 0, M2, 1, {"0-511:o0", "0-511:o9", "0-511:o9", "0-511:o9"}},
	  {'w', K4, M2, 1, {"1-512:o0", "0-511:o9 512:o0", LADDER_2M, "0-511:o9 512:o0"}},
	  {'w',
	   0,
	   3 * M1,
	   1,
	   {"0-767:o0", "0-511:o9 512-767:o0", "0-511:o9 512-767:o8", "0-511:o9 512-767:o8"}},
	  {'w', 0, K4, 512, {"0-511:o0", "0-511:o0", "0-511:o0", "0-511:o0"}},
	  {'w', 0, K64, 32, {"0-511:o0", "0-511:o0", "0-511:o4", "0-511:o4"}},
	  {'s', 0, K4, 1, {"0-511:o9", "0-511:o9", "0:o0", "0-511:o9"}},
	  {'s', 0, K64, 1, {"0-511:o9", "0-511:o9", "0-15:o4", "0-511:o9"}},
};

static unsigned int column(unsigned int kernel)
{
	return kernel < 2 ? kernel : kernel < 4 ? 2 : 3;
}

static void play_case(const char *fs, unsigned int kernel, char op, loff_t off, size_t len,
		      unsigned int n, const char *want)
{
	struct shmem_scene *s = shmem_open(six[kernel], fs, MEMORY);
	char what[80];

	snprintf(what, sizeof(what), "%s %c %zu@%lld x%u", fs, op, len, (long long)off, n);
	if (op == 's')
		assert_int_equal(do_sys_ftruncate(run_file(s->run), M4), 0);
	if (op == 'f')
		assert_int_equal(shmem_fallocate_call(s, off, len), 0);
	else
		write_at(s, off, len, n);
	expect_layout(s, what, want);
	shmem_close(s);
}

/* 5.4 */
static void test_orders(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(always); i++)
			play_case("tmpfs-always", k, always[i].op, always[i].off, always[i].len,
				  always[i].n, always[i].want[column(k)]);
		for (unsigned int i = 0; i < ARRAY_SIZE(within); i++)
			play_case("tmpfs-within", k, within[i].op, within[i].off, within[i].len,
				  within[i].n, within[i].want[column(k)]);
		play_case("tmpfs-never", k, 'w', 0, M2, 1, "0-511:o0");
		play_case("tmpfs-default", k, 'w', 0, M2, 1, "0-511:o0");
		play_case("tmpfs-advise", k, 'w', 0, M2, 1, "0-511:o0");
	}
}

/* 10 lookups for the ladder; one for a folio that fits. */
static void test_write_lookups(void **state)
{
	for (unsigned int k = 2; k < 4; k++) {
		struct shmem_scene *s = shmem_open(six[k], "tmpfs-always", MEMORY);

		write_at(s, K4, M2, 1);
		assert_int_equal(s->lookups, 10);
		assert_string_equal(shmem_copies(s), "2x4096+1x8192+1x16384+1x32768+1x65536+"
						     "1x131072+1x262144+1x524288+1x1048576");
		shmem_close(s);
	}
}

/* 4: what write_begin is asked for on single pages: what is left of the call, or always a page. */
static void test_write_chunks(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_open(six[k], "tmpfs-never", MEMORY);
		bool left = k == 1 || k == 5;

		write_at(s, 0, K64, 1);
		assert_int_equal(s->lookups, 16);
		assert_string_equal(shmem_copies(s), "16x4096");
		assert_int_equal(s->asked, left ? K4 * (16 * 17 / 2) : K64);
		shmem_close(s);
	}
}

/* 5.1: shmem_enabled of the machine beats mounts both ways. */
static void test_deny_and_force(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_open(six[k], "tmpfs-always", MEMORY);

		assert_int_equal(shmem_enabled_store(s->run->machine, "deny"), 0);
		write_at(s, 0, M2, 1);
		expect_layout(s, "deny", "0-511:o0");
		assert_int_equal(shmem_enabled_store(s->run->machine, "sometimes"), -EINVAL);
		shmem_close(s);
		s = shmem_open(six[k], "tmpfs-never", MEMORY);
		assert_int_equal(shmem_enabled_store(s->run->machine, "force"), 0);
		write_at(s, 0, K4, 1);
		expect_layout(s, "force", "0-511:o9");
		shmem_close(s);
	}
}

static void fault(struct shmem_scene *s, pgoff_t page, bool write, unsigned long vm_flags)
{
	struct run *run = s->run;
	char byte = 0;

	if (!run->vma)
		assert_int_equal(do_mmap(run->mm, run_file(run), 0, i_size_read(run->inode),
					 VM_READ | VM_WRITE | vm_flags, 0, &run->vma),
				 0);
	assert_int_equal(access_user_byte(run->mm, run->vma->vm_start + page * K4, write, &byte),
			 0);
}

/* 5.1, 5.4: faults on named files, and per-size switches for those without a name. */
static void test_faults(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_open(six[k], "tmpfs-always", MEMORY);

		assert_int_equal(do_sys_ftruncate(run_file(s->run), M4), 0);
		fault(s, 5, true, 0);
		expect_layout(s, "fault", "0-511:o9");
		shmem_close(s);
		s = shmem_open(six[k], "tmpfs-advise", MEMORY);
		assert_int_equal(do_sys_ftruncate(run_file(s->run), M4), 0);
		fault(s, 5, false, VM_HUGEPAGE);
		expect_layout(s, "advised fault", "0-511:o9");
		shmem_close(s);
		s = shmem_open(six[k], "tmpfs-never", MEMORY);
		shmem_make_anonymous(s->run->inode);
		assert_int_equal(thpsize_shmem_enabled_store(s->run->machine, 4, "always"),
				 k ? 0 : -EINVAL);
		assert_int_equal(shmem_enabled_store(s->run->machine, "force"), 0);
		assert_int_equal(shmem_enabled_store(s->run->machine, "never"), 0);
		assert_int_equal(do_sys_ftruncate(run_file(s->run), M4), 0);
		fault(s, 5, true, 0);
		expect_layout(s, "anonymous fault", k ? "0-15:o4" : "5:o0");
		assert_int_equal(shmem_pwrite(s, M2, 1), 1);
		expect_layout(s, "memfd write", k ? "0-15:o4 512:o0" : "5:o0 512:o0");
		shmem_close(s);
	}
}

static void test_force_needs_inherit(void **state)
{
	struct shmem_scene *s = shmem_open("v6.18", "tmpfs-never", MEMORY);
	struct machine *m = s->run->machine;

	assert_int_equal(thpsize_shmem_enabled_store(m, 4, "inherit"), 0);
	assert_int_equal(shmem_enabled_store(m, "force"), -EINVAL);
	assert_int_equal(thpsize_shmem_enabled_store(m, 4, "never"), 0);
	assert_int_equal(shmem_enabled_store(m, "force"), 0);
	assert_int_equal(thpsize_shmem_enabled_store(m, 4, "maybe"), -EINVAL);
	shmem_close(s);
}

static void test_blksize(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_open(six[k], "tmpfs-always", MEMORY);

		assert_int_equal(shmem_blksize(s->run->inode), k == 2 || k == 3 ? K4 : M2);
		shmem_close(s);
	}
}

/* 5.5: what is left of a folio at 0; the second one is untouched unless truncated. */
static const struct {
	char op; /* p punch, t truncate */
	loff_t off, len;
	const char *old, *newer;
} cuts[] = {
	{'p', 12 << 10, 4 << 10, "0-2:o0 4-511:o0 512-1023:o9",
	 "0-1:o1 2:o0 4-5:o0 6-7:o1 8-15:o3 16-31:o4 32-63:o5 64-127:o6 128-255:o7 256-511:o8 "
	 "512-1023:o9"},
	{'p', K64, K64, "0-15:o0 32-511:o0 512-1023:o9",
	 "0-15:o4 32-33:o0 34-35:o1 36-39:o2 40-47:o3 48-63:o4 64-127:o6 128-255:o7 256-511:o8 "
	 "512-1023:o9"},
	{'p', M1 / 2, M1, "0-127:o0 384-511:o0 512-1023:o9",
	 "0-127:o7 384-385:o0 386-387:o1 388-391:o2 392-399:o3 400-415:o4 416-447:o5 448-511:o6 "
	 "512-1023:o9"},
	{'p', M2, M1, "0-511:o9 768-1023:o0",
	 "0-511:o9 768-769:o0 770-771:o1 772-775:o2 776-783:o3 784-799:o4 800-831:o5 832-895:o6 "
	 "896-1023:o7"},
	{'p', 12400, 100, "0-511:o0 512-1023:o9",
	 "0-1:o1 2-3:o0 4-7:o2 8-15:o3 16-31:o4 32-63:o5 64-127:o6 128-255:o7 256-511:o8 "
	 "512-1023:o9"},
	{'t', M1, 0, "0-255:o0", "0-255:o8"},
	{'t', M1 + K4, 0, "0-256:o0", "0-255:o8 256:o0"},
	{'t', 100, 0, "0:o0", "0:o0"},
};

static void test_cuts(void **state)
{
	for (unsigned int k = 0; k < SIX; k++)
		for (unsigned int i = 0; i < ARRAY_SIZE(cuts); i++) {
			struct shmem_scene *s = shmem_two_thps(six[k]);

			if (cuts[i].op == 'p')
				assert_int_equal(shmem_punch_call(s, cuts[i].off, cuts[i].len), 0);
			else
				assert_int_equal(do_sys_ftruncate(run_file(s->run), cuts[i].off),
						 0);
			expect_layout(s, "cut", k < 2 ? cuts[i].old : cuts[i].newer);
			shmem_close(s);
		}
}

/* Zeroed first, then split: a folio that cannot be split loses the bytes all the same. */
static void test_zero_before_split(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);
		char buf[8192];

		s->run->machine->mm->mf.split_fails = true;
		assert_int_equal(shmem_punch_call(s, 12288, 4096), 0);
		expect_layout(s, "whole", "0-1023:o9");
		assert_int_equal(ksys_pread64(run_file(s->run), buf, 8192, 8192), 8192);
		assert_int_equal(buf[4095], 3);
		for (unsigned int i = 4096; i < 8192; i++)
			assert_int_equal(buf[i], 0);
		shmem_close(s);
	}
}

#define STAGE_A "v6.12.y"
#define STAGE_B "v6.12.y+f3650ef89b87"
#define STAGE_C "v6.12.y+SHMEM_READ_KIPOS+SHMEM_READ_V1"
#define STAGE_D "v6.12.y+SHMEM_READ_KIPOS+a284cb8472ec"

static const char *const four[] = {STAGE_A, STAGE_B, STAGE_C, STAGE_D};

static void read_counts(struct shmem_scene *s, loff_t off, size_t len, ssize_t ret,
			unsigned long lookups, const char *copies)
{
	assert_int_equal(shmem_pread(s, off, len), ret);
	if (s->lookups != lookups || strcmp(shmem_copies(s), copies))
		fail_msg("%s: pread %zu@%lld: %lu lookups, %s; expected %lu, %s",
			 s->run->machine->kernel, len, (long long)off, s->lookups, shmem_copies(s),
			 lookups, copies);
}

/* 9, healthy; 2, rules 2 and 5. */
static void test_healthy_reads(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(four); i++) {
		struct shmem_scene *s = shmem_two_thps(four[i]);
		bool page = i < 2;

		read_counts(s, 0, M2, M2, page ? 512 : 1, page ? "512x4096" : "1x2097152");
		read_counts(s, 0, K64, K64, page ? 16 : 1, page ? "16x4096" : "1x65536");
		read_counts(s, 12288, K4, K4, 1, "1x4096");
		read_counts(s, M2 - 32768, K64, K64, page ? 16 : 2, page ? "16x4096" : "2x32768");
		read_counts(s, 0, M4, M4, page ? 1024 : 2, page ? "1024x4096" : "2x2097152");
		read_counts(s, 100, 200, 200, 1, i ? "1x200" : "1x3996");
		read_counts(s, 12000, 1000, 1000, page ? 2 : 1,
			    !i	     ? "1x288+1x4096"
			    : i == 1 ? "1x288+1x712"
				     : "1x1000");
		read_counts(s, M4, K4, 0, 0, "0");
		assert_int_equal(do_sys_ftruncate(run_file(s->run), 5000), 0);
		shmem_close(s);
		s = shmem_open(four[i], "tmpfs-always", MEMORY);
		assert_int_equal(shmem_pwrite(s, 0, 5000), 5000);
		read_counts(s, 0, K64, 5000, page ? 2 : 1, page ? "1x4096+1x904" : "1x5000");
		read_counts(s, 5000, K64, 0, 0, "0");
		shmem_close(s);
	}
}

/* 2, rules 1 and 3: holes go page by page in every stage; a reader's memory may end early. */
static void test_holes_and_faults(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(four); i++) {
		struct shmem_scene *s = shmem_open(four[i], "tmpfs-always", MEMORY);
		struct kiocb kiocb = {.ki_filp = run_file(s->run)};
		char *buf = malloc(K64);
		struct iov_iter iter = {.count = K64, .ubuf = buf};

		assert_int_equal(shmem_fallocate_call(s, 0, M2), 0);
		s->lookups = s->nr = 0;
		assert_int_equal(shmem_file_read_iter(&kiocb, &iter), K64);
		assert_int_equal(kiocb.ki_pos, K64);
		assert_int_equal(s->lookups, 16);
		assert_string_equal(shmem_copies(s), "16x4096");
		assert_int_equal(shmem_pwrite(s, 0, M2), M2);
		iter = (struct iov_iter){.count = K64, .ubuf = buf, .short_mem = true, .mem = 8192};
		kiocb.ki_pos = 0;
		s->lookups = s->nr = 0;
		assert_int_equal(shmem_file_read_iter(&kiocb, &iter), 8192);
		assert_int_equal(s->lookups, i < 2 ? 3 : 1);
		iter = (struct iov_iter){.count = K64, .ubuf = buf, .short_mem = true};
		assert_int_equal(shmem_file_read_iter(&kiocb, &iter), -EFAULT);
		free(buf);
		shmem_close(s);
	}
}

/* 3 */
static void test_splice(void **state)
{
	for (unsigned int k = 0; k < SIX; k++) {
		struct shmem_scene *s = shmem_two_thps(six[k]);

		assert_int_equal(shmem_splice(s, 0, M2, 16), K64);
		assert_int_equal(shmem_splice(s, 100, K64, 16), 65436);
		assert_int_equal(shmem_splice(s, 100, K64, 512), 65536);
		assert_int_equal(shmem_splice(s, 0, M2, 512), M2);
		assert_int_equal(s->lookups, k ? 1 : 512);
		assert_int_equal(shmem_splice(s, M4, K64, 16), 0);
		shmem_close(s);
	}
}

/* ---- random operations against bytes in an array ---- */

#define MODEL (3L << 20)

struct model {
	u8 bytes[MODEL];
	loff_t size;
};

static void model_op(struct shmem_scene *s, struct model *model, struct prng *prng, u8 *buf)
{
	struct file *file = run_file(s->run);
	loff_t off = prng_below(prng, MODEL - 1), len = 1 + prng_below(prng, MODEL - off);
	ssize_t ret;

	if (prng_below(prng, 2))
		len = min(len, 1 + (loff_t)prng_below(prng, 70000));
	switch (prng_below(prng, 7)) {
	case 0:
	case 1:
		for (loff_t i = 0; i < len; i++)
			buf[i] = off + i * 31 + len;
		ret = ksys_pwrite64(file, (char *)buf, len, off);
		if (ret > 0)
			memcpy(model->bytes + off, buf, ret);
		if (ret > 0)
			model->size = max(model->size, off + ret);
		return;
	case 2:
		assert_int_equal(do_sys_ftruncate(file, off), 0);
		if (off < model->size)
			memset(model->bytes + off, 0, MODEL - off);
		model->size = off;
		return;
	case 3:
		assert_int_equal(shmem_punch_hole(s->run->inode, off, len), 0);
		memset(model->bytes + off, 0, len);
		return;
	case 4:
		if (!shmem_fallocate(s->run->inode, off, len))
			model->size = max(model->size, off + len);
		return;
	default:
		ret = ksys_pread64(file, (char *)buf, len, off);
		assert_int_equal(ret, max(0L, min(len, model->size - off)));
		if (ret > 0 && memcmp(buf, model->bytes + off, ret))
			fail_msg("%s: read %lld@%lld", s->run->machine->kernel, (long long)len,
				 (long long)off);
	}
}

static void test_random(void **state)
{
	static const char *const fs[] = {"tmpfs-never", "tmpfs-always", "tmpfs-within",
					 "tmpfs-advise", "tmpfs-default"};
	struct model *model = malloc(sizeof(*model));
	u8 *buf = malloc(MODEL);

	for (unsigned int seed = 0; seed < 60; seed++) {
		u64 memory = seed % 3 ? MEMORY : 512 * K4; /* 1 MiB of file at most */
		struct shmem_scene *s = shmem_open(
			seed & 1 ? four[seed / 2 % 4] : six[seed / 2 % SIX], fs[seed % 5], memory);
		struct prng prng;

		memset(model, 0, sizeof(*model));
		prng_seed(&prng, seed);
		for (unsigned long i = 0; i < soak_count(2000); i++)
			model_op(s, model, &prng, buf);
		shmem_close(s);
	}
	free(buf);
	free(model);
}

/* 5.3: no space but in the tail of a folio past the end: it is split, the write goes on. */
static void test_no_space(void **state)
{
	struct shmem_scene *s = shmem_open("v6.18", "tmpfs-always", 64 << 20);
	struct shmem_sb_info *sbinfo = SHMEM_SB(s->run->sb);

	sbinfo->max_blocks = 1024;
	assert_int_equal(shmem_pwrite(s, 0, M2 + K4), M2 + K4);
	assert_int_equal(sbinfo->used_blocks, 1024);
	assert_int_equal(shmem_fallocate_call(s, 8 << 20, 8 << 20), -ENOSPC);
	assert_int_equal(shmem_pwrite(s, 8 << 20, K4), K4);
	expect_layout(s, "shrunk", "0-511:o9 512:o0 2048:o0");
	assert_int_equal(sbinfo->used_blocks, 514);
	shmem_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_write_lookups),
		cmocka_unit_test(test_write_chunks),
		cmocka_unit_test(test_deny_and_force),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_force_needs_inherit),
		cmocka_unit_test(test_blksize),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_zero_before_split),
		cmocka_unit_test(test_healthy_reads),
		cmocka_unit_test(test_holes_and_faults),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_no_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
