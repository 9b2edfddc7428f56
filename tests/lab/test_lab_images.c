/*
 * lab/test_lab_images.c - the images of lab 13, as machines get them.
 *
 * Proves that every file of every image has the bytes images.sh put in, read through the
 * miniature without any file being open; that names reach nothing else; that what is no image, and
 * what is too large, is refused with its name.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/lab_image.h"
#include "lab/run.h"

static const char *const images[] = {
	"clusters",	 "encrypt",    "ext2",	"inline",	"journalled", "large-blocks",
	"large-encrypt", "no-journal", "plain", "small-blocks", "verity",
};

static char *lab_dir(void)
{
	static char dir[4096];

	snprintf(dir, sizeof(dir), "%s/labs/13-who-gets-large-folios", getenv("FL_ROOT"));
	return dir;
}

static void open_images(struct lab_images *all)
{
	struct fl_error err = {0};

	if (lab_images_open(lab_dir(), all, &err))
		fail_msg("%s: %s", err.file, err.text);
}

/* What seq(1) printed into the files. */
static size_t expected(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	if (!strcmp(path, "note"))
		return snprintf(buf, size, "short\n");
	if (!strcmp(path, "report"))
		for (int i = 1; i <= 12000; i++)
			n += snprintf(buf + n, size - n, "%d\n", i);
	else
		for (int i = 9000; i >= 1; i -= 3)
			n += snprintf(buf + n, size - n, "%d\n", i);
	return n;
}

struct bytes {
	char p[100000];
	size_t n;
};

static void take(void *ctx, const void *buf, size_t len)
{
	struct bytes *b = ctx;

	assert_true(b->n + len <= sizeof(b->p));
	memcpy(b->p + b->n, buf, len);
	b->n += len;
}

static void read_through(const struct lab_image_file *f, struct bytes *got)
{
	const struct wl_op op = {.type = WL_READ, .len = 10000, .n = 20};
	struct run_config c;
	struct fl_error err = {0};
	struct run *run;

	run_config_init(&c);
	c.machine.kernel = "v7.3";
	c.machine.memory = 64 << 20;
	c.machine.data = true;
	c.fs = "ext4";
	c.image = f->word;
	c.image_file = &f->backing;
	got->n = 0;
	if (run_open(&c, &run, &err))
		fail_msg("%s: %s: %s", f->word, err.file, err.text);
	run->consume = take;
	run->consume_ctx = got;
	assert_int_equal(run_op(run, &op, &err), 0);
	run_close(run);
}

static void every_byte_is_there(void **state)
{
	static const char *const paths[] = {"note", "report", "table"};
	static char want[100000], word[100];
	static struct bytes got;
	struct lab_images all;

	(void)state;
	open_images(&all);
	assert_int_equal(all.nr, ARRAY_SIZE(images) * ARRAY_SIZE(paths));
	for (unsigned int i = 0; i < all.nr; i++) {
		const char *path = paths[i % ARRAY_SIZE(paths)], *image = images[i / 3];
		const struct lab_image_file *f;
		size_t n = expected(path, want, sizeof(want));

		snprintf(word, sizeof(word), "%s.img.xz:%s", image, path);
		f = lab_images_find(&all, word);
		assert_non_null(f);
		assert_string_equal(f->word, word);
		if (!strcmp(image, "large-encrypt")) /* no kernel mounts it */
			continue;
		read_through(f, &got);
		assert_int_equal(got.n, n);
		assert_memory_equal(got.p, want, n);
	}
	lab_images_fini(&all);
}

static void names_reach_nothing_else(void **state)
{
	static const char *const words[] = {
		"",
		":",
		"plain.img.xz",
		"plain.img.xz:",
		"plain.img.xz:nothing",
		"plain.img:report",
		"../13-who-gets-large-folios/plain.img.xz:report",
		"./plain.img.xz:report",
		"plain.img.xz:../report",
		"/etc/passwd",
		"/etc/passwd:",
		"plain.img.xz::report",
	};
	struct lab_images all;

	(void)state;
	open_images(&all);
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		if (lab_images_find(&all, words[i]))
			fail_msg("'%s' names something", words[i]);
	assert_non_null(lab_images_find(&all, "plain.img.xz:/report"));
	lab_images_fini(&all);
}

static void put(const char *dir, const char *name, const char *text, off_t size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	if (size)
		assert_int_equal(truncate(path, size), 0);
}

static void refused(const char *dir, const char *name, const char *why)
{
	struct lab_images all;
	struct fl_error err = {0};
	char path[300];

	assert_true(lab_images_open(dir, &all, &err) < 0);
	assert_int_equal(all.nr, 0);
	assert_non_null(strstr(err.file, name));
	if (!strstr(err.text, why))
		fail_msg("'%s', expected '%s'", err.text, why);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void what_is_no_image_is_refused(void **state)
{
	char dir[] = "images-XXXXXX", hidden[64];
	struct lab_images all;
	struct fl_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lab_images_open(dir, &all, &err), 0);
	assert_int_equal(all.nr, 0);
	put(dir, "short.img", "no file system", 0);
	refused(dir, "short.img", "damaged image");
	put(dir, "cut.img.xz",
	    "\xfd"
	    "7zXZ",
	    100);
	refused(dir, "cut.img.xz", "damaged");
	put(dir, "huge.img", "", LAB_IMAGE_BYTES + (1 << 20));
	refused(dir, "huge.img", "too large");
	put(dir, ".hidden.img", "never looked at", 0);
	assert_int_equal(lab_images_open(dir, &all, &err), 0);
	assert_int_equal(all.nr, 0);
	snprintf(hidden, sizeof(hidden), "%s/.hidden.img", dir);
	unlink(hidden);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_there),
		cmocka_unit_test(names_reach_nothing_else),
		cmocka_unit_test(what_is_no_image_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
