/*
 * What the parent of the image reader refuses to believe, and how IMAGE:PATH is cut.
 */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/ext4_image_check.h"

static const struct ext4_image_super good = {
	.block_size = 4096, .cluster_size = 4096, .blocks = 1000};

/* @wrong is a part of the complaint; NULL: there is none. */
static void check_super(struct ext4_image_super super, u64 size, const char *wrong)
{
	const char *got = ext4_image_check_super(&super, size);

	if (!wrong)
		assert_null(got);
	else if (!got || !strstr(got, wrong) || !strstr(got, ", expected "))
		fail_msg("'%s', expected '%s'", got ? got : "nothing", wrong);
}

static void super_blocks(void **state)
{
	struct ext4_image_super s = good;

	check_super(s, 4096000, NULL);
	check_super(s, 4095999, "shorter");
	s.block_size = 0;
	check_super(s, 4096000, "block size");
	s.block_size = 131072;
	check_super(s, 1ULL << 40, "block size");
	s.block_size = 4095;
	check_super(s, 4096000, "block size");
	s = good;
	s.cluster_size = 2048;
	check_super(s, 4096000, "cluster size");
	s = good;
	s.blocks = ~0ULL;
	check_super(s, ~0ULL, "64 TiB");
}

static void check_extents(const struct fs_extent *e, unsigned int nr, const char *wrong)
{
	struct ext4_image_inode inode = {.extents = (struct fs_extent *)e, .nr_extents = nr};
	const char *got = ext4_image_check_inode(&good, &inode);

	if (!wrong)
		assert_null(got);
	else if (!got || !strstr(got, wrong) || !strstr(got, ", expected "))
		fail_msg("'%s', expected '%s'", got ? got : "nothing", wrong);
}

static void extents(void **state)
{
	check_extents(NULL, 0, NULL);
	check_extents((struct fs_extent[]){{0, 1, 999, 0}}, 1, NULL);
	check_extents((struct fs_extent[]){{0, 1, 1000, 0}}, 1, "outside");
	check_extents((struct fs_extent[]){{0, 0, 1, 0}}, 1, "outside");
	check_extents((struct fs_extent[]){{0, 1000, 1, 0}}, 1, "outside");
	check_extents((struct fs_extent[]){{0, ~0ULL, 1, 0}}, 1, "outside");
	check_extents((struct fs_extent[]){{0, 10, ~0ULL, 0}}, 1, "past the last block");
	check_extents((struct fs_extent[]){{0, 10, 0, 0}}, 1, "without blocks");
	check_extents((struct fs_extent[]){{1ULL << 32, 10, 1, 0}}, 1, "past the last block");
	check_extents((struct fs_extent[]){{5, 10, 1, 0}, {4, 20, 1, 0}}, 2, "out of order");
	check_extents((struct fs_extent[]){{5, 10, 2, 0}, {6, 20, 1, 0}}, 2, "out of order");
	check_extents((struct fs_extent[]){{5, 20, 2, 0}, {7, 10, 11, 0}}, 2, "share a block");
	check_extents((struct fs_extent[]){{5, 20, 2, 0}, {7, 10, 10, 0}}, 2, NULL);
}

static void inline_data_excludes_extents(void **state)
{
	struct fs_extent e = {0, 10, 1, 0};
	struct ext4_image_inode inode = {.extents = &e, .nr_extents = 1, .inline_data = &e};

	assert_non_null(ext4_image_check_inode(&good, &inode));
}

static void check_split(const char *word, const char *image, const char *path)
{
	char name[100];
	const char *got = ext4_image_split(word, name, sizeof(name));

	assert_string_equal(name, image);
	if (path)
		assert_string_equal(got, path);
	else
		assert_null(got);
}

static void words_are_cut_behind_the_file(void **state)
{
	close(open("img", O_CREAT | O_WRONLY, 0644));
	close(open("a:b", O_CREAT | O_WRONLY, 0644));
	check_split("img", "img", NULL);
	check_split("img:dir/file", "img", "dir/file");
	check_split("img:a:b", "img", "a:b");
	check_split("a:b", "a:b", NULL);
	check_split("a:b:c", "a:b", "c");
	check_split("img:", "img", "");
	check_split("none", "none", NULL);
	check_split("none:c:d", "none", "c:d");
	check_split("", "", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(super_blocks),
		cmocka_unit_test(extents),
		cmocka_unit_test(inline_data_excludes_extents),
		cmocka_unit_test(words_are_cut_behind_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
