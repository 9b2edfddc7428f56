/*
 * Damaged images get an answer or an error in time, and nothing else: no crash of the reader's
 * parent, no endless wait, no answer that breaks the promises of host/ext4_image.h.
 *
 * Every case is a small image with a few bytes changed, by a seed that is printed when something
 * is wrong; FL_FUZZ_SECONDS=600 goes on for that long. tests/host/corpus holds images that once
 * meant trouble.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fs/super.h"
#include "host/ext4_image.h"
#include "lab/run.h"
#include "lib/prng.h"

#define IMAGE	   "case.img"
#define TIME_LIMIT 45 /* seconds; an answer may take 30, an image a little more than one */

/* How the images are made that are then damaged. */
static const char *const makes[] = {
	"-b 1024 -O ^metadata_csum,^has_journal",
	"-b 1024 -O ^metadata_csum,^has_journal,^extent,^64bit",
	"-b 4096 -O ^metadata_csum,^has_journal",
	"-b 1024 -O ^metadata_csum,^has_journal,inline_data -I 256",
	"-b 1024 -O metadata_csum,^has_journal",
	"-b 1024 -O ^metadata_csum,^has_journal,bigalloc -C 4096",
};

struct original {
	char *bytes;
	size_t size;
};

static struct original originals[ARRAY_SIZE(makes)];

/* What came of it, for the reader. */
static struct {
	u64 answers, errors, signals;
} outcomes;

static void shell(const char *command)
{
	if (system(command))
		fail_msg("it fails: %s", command);
}

static struct original load(const char *path)
{
	struct original o = {0};
	struct stat st;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	o.size = st.st_size;
	o.bytes = malloc(o.size + 1);
	assert_non_null(o.bytes);
	assert_int_equal(read(fd, o.bytes, o.size), o.size);
	close(fd);
	return o;
}

static void save(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static int make_originals(void **state)
{
	char command[512];

	shell("mkdir -p src/dir/deep; seq 1 20000 >src/big; echo tiny >src/tiny;"
	      "seq 1 900 >src/dir/middle; truncate -s 200k src/sparse;"
	      "seq 1 1500 | dd of=src/sparse bs=1k seek=40 conv=notrunc status=none;"
	      "for i in $(seq 60); do echo $i >src/dir/deep/file-with-a-long-name-$i; done");
	for (size_t i = 0; i < ARRAY_SIZE(makes); i++) {
		snprintf(command, sizeof(command),
			 "PATH=$PATH:/usr/sbin; rm -f o.img; mkfs.ext4 -q -F %s -d src o.img 2m "
			 ">mkfs.out 2>&1; for b in 3 9 10 30 31; do "
			 "debugfs -w -R \"punch big $b $b\" o.img >dbg.out 2>&1; done",
			 makes[i]);
		shell(command);
		originals[i] = load("o.img");
	}
	return 0;
}

static int free_originals(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(makes); i++)
		free(originals[i].bytes);
	return 0;
}

/* ---- damage ---- */

/* Mostly where the structures are: the front of the image. */
static size_t some_place(struct prng *p, size_t size)
{
	size_t ends[] = {2048, 4096, 65536, 300000, size};

	return prng_below(p, min(ends[prng_below(p, ARRAY_SIZE(ends))], size));
}

static void damage_once(struct prng *p, char *bytes, size_t size)
{
	static const u32 words[] = {0,		1,	2,	0xff,	    0x7fff,
				    0xffff,	0x8000, 0xf30a, 0x7fffffff, 0x80000000,
				    0xffffffff, 2047,	2048,	1 << 20};
	size_t at = some_place(p, size - 4), from = some_place(p, size - 1024);
	u32 word = words[prng_below(p, ARRAY_SIZE(words))];

	switch (prng_below(p, 6)) {
	case 0:
	case 1:
		bytes[at] ^= 1 << prng_below(p, 8);
		break;
	case 2:
		memcpy(bytes + (at & ~3UL), &word, 4);
		break;
	case 3:
		memcpy(bytes + (at & ~1UL), &word, 2);
		break;
	case 4:
		bytes[at] = prng_u64(p);
		break;
	default:
		at = min(at & ~1023UL, size - 1024);
		memmove(bytes + at, bytes + (from & ~1023UL), 1024);
	}
}

static size_t damage(u64 seed, char *bytes, size_t size)
{
	struct prng p;
	u64 n;

	prng_seed(&p, seed);
	n = 1 + prng_below(&p, 1 + prng_below(&p, 12));
	while (n--)
		damage_once(&p, bytes, size);
	return prng_below(&p, 20) ? size : prng_below(&p, size);
}

/* ---- what must hold ---- */

static void check_error(int ret, const struct fl_error *err, u64 seed)
{
	static const int allowed[] = {-EUCLEAN, -ENOENT, -EISDIR, -E2BIG, -EFBIG, -EINVAL};

	outcomes.errors++;
	outcomes.signals += !!strstr(err->text, "signal");
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (ret == allowed[i] && *err->text && strstr(err->text, "expected"))
			return;
	fail_msg("seed %llu: error %d: %s: %s", (unsigned long long)seed, ret, err->file,
		 err->text);
}

static void check_extents(const struct ext4_image_super *super,
			  const struct ext4_image_inode *inode)
{
	u64 end = 0;

	assert_true(inode->size <= INT64_MAX);
	for (unsigned int i = 0; i < inode->nr_extents; i++) {
		const struct fs_extent *e = &inode->extents[i];

		assert_true(e->len && e->lblk >= end && e->pblk < super->blocks &&
			    e->len <= super->blocks - e->pblk);
		end = e->lblk + e->len;
	}
}

static void ask_file(struct ext4_image *image, const char *path, u64 seed)
{
	struct ext4_image_inode inode;
	struct fl_error err = {0};
	int ret = ext4_image_file(image, path, &inode, &err);

	if (ret) {
		check_error(ret, &err, seed);
		return;
	}
	outcomes.answers++;
	check_extents(ext4_image_super(image), &inode);
	ext4_image_inode_fini(&inode);
}

/* The whole way: mounted in the miniature, the first megabyte read. */
static void play_file(const char *name, u64 seed)
{
	struct wl_op op = {.type = WL_PREAD, .len = 1 << 20, .n = 1};
	struct fl_error err = {0};
	struct run_config config;
	struct run *run;
	int ret;

	run_config_init(&config);
	config.machine.memory = 16 << 20;
	config.machine.data = true;
	config.fs = "ext4";
	config.image = name;
	ret = run_open(&config, &run, &err);
	if (ret) {
		check_error(ret, &err, seed);
		return;
	}
	ret = run_op(run, &op, &err);
	run_close(run);
	if (ret)
		fail_msg("seed %llu: %s: %s", (unsigned long long)seed, name, err.text);
}

static void ask_all(const char *path, u64 seed)
{
	struct ext4_image_list list;
	struct ext4_image *image;
	struct fl_error err = {0};
	int ret = ext4_image_open(path, &image, &err);

	if (ret) {
		check_error(ret, &err, seed);
		return;
	}
	ret = ext4_image_walk(image, "", 1000, &list, &err);
	if (ret)
		check_error(ret, &err, seed);
	else
		ext4_image_list_fini(&list);
	ask_file(image, "big", seed);
	ask_file(image, "sparse", seed);
	ask_file(image, "tiny", seed);
	ext4_image_close(image);
}

static void one_case(const char *path, u64 seed)
{
	time_t start = time(NULL);
	char name[300];

	ask_all(path, seed);
	snprintf(name, sizeof(name), "%s:%s", path, seed & 1 ? "big" : "sparse");
	play_file(name, seed);
	if (time(NULL) - start > 3 * TIME_LIMIT)
		fail_msg("seed %llu takes too long", (unsigned long long)seed);
}

static void damaged_case(u64 seed)
{
	const struct original *o = &originals[seed % ARRAY_SIZE(originals)];
	char *bytes = malloc(o->size), *after;
	size_t size;
	struct original now;

	memcpy(bytes, o->bytes, o->size);
	size = damage(seed, bytes, o->size);
	save(IMAGE, bytes, size);
	one_case(IMAGE, seed);
	now = load(IMAGE);
	after = now.bytes;
	assert_int_equal(now.size, size);
	assert_memory_equal(after, bytes, size);
	free(after);
	free(bytes);
}

/* ---- tests ---- */

static void sound_images_answer(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(originals); i++) {
		struct ext4_image_inode inode;
		struct ext4_image_list list;
		struct ext4_image *image;
		struct fl_error err = {0};

		save(IMAGE, originals[i].bytes, originals[i].size);
		if (ext4_image_open(IMAGE, &image, &err) ||
		    ext4_image_walk(image, "", 1000, &list, &err) ||
		    ext4_image_file(image, "big", &inode, &err))
			fail_msg("%s: %s", makes[i], err.text);
		assert_int_equal(list.nr, 64);
		assert_int_equal(inode.size, 108894);
		assert_true(inode.nr_extents > 1);
		ext4_image_list_fini(&list);
		ext4_image_inode_fini(&inode);
		ext4_image_close(image);
	}
}

static void damaged_images_are_survived(void **state)
{
	const char *text = getenv("FL_FUZZ_SECONDS"), *first = getenv("FL_FUZZ_SEED");
	time_t end = time(NULL) + (text ? atol(text) : 0);
	u64 seed = first ? strtoull(first, NULL, 10) : 1, n = 0;
	u64 count = soak_count(3000);

	while (text ? time(NULL) < end : n < count) {
		damaged_case(seed++);
		n++;
	}
	print_message("%llu images, seeds up to %llu: %llu answers, %llu errors, %llu times the "
		      "reader died\n",
		      (unsigned long long)n, (unsigned long long)seed - 1,
		      (unsigned long long)outcomes.answers, (unsigned long long)outcomes.errors,
		      (unsigned long long)outcomes.signals);
}

static void the_corpus_is_survived(void **state)
{
	char pattern[4096], command[8192];
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/host/corpus/*.img.xz", getenv("TESTDATA"));
	if (glob(pattern, 0, NULL, &g))
		skip_because("the corpus is empty");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		snprintf(command, sizeof(command), "xz -dc '%s' >" IMAGE, g.gl_pathv[i]);
		shell(command);
		one_case(IMAGE, 0);
		one_case(IMAGE, 1);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_images_answer),
		cmocka_unit_test(damaged_images_are_survived),
		cmocka_unit_test(the_corpus_is_survived),
	};

	if (system("PATH=$PATH:/usr/sbin; command -v mkfs.ext4 debugfs >which.out")) {
		printf("1..0 # SKIP no mkfs.ext4 and debugfs here\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, make_originals, free_originals);
}
