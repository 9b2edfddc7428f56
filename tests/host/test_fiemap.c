/*
 * host/fiemap: the layout of a host file keeps its promises on whatever file system the tests run,
 * and the disk above it delivers the file's bytes; the pieces of a disk in any arrangement.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "block/blk.h"
#include "fs/boot.h"
#include "host/fiemap.h"
#include "lab/run.h"

#define NAME "file"
#define SIZE (1000000)

/* A file with holes, with ranges that were only allocated, and not yet on disk. */
static int make_file(void)
{
	static char bytes[50000];
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 2654435761u >> 24;
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 200000), sizeof(bytes));
	assert_int_equal(ftruncate(fd, SIZE), 0);
	if (!posix_fallocate(fd, 400000, 200000))
		assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 500000), sizeof(bytes));
	assert_int_equal(pwrite(fd, "end", 3, SIZE - 3), 3);
	return fd;
}

static void check_layout(const struct host_layout *l, unsigned int bits)
{
	for (unsigned int i = 0; i < l->nr; i++) {
		const struct fs_extent *e = &l->extents[i];

		assert_true(e->len);
		assert_true(!i || e->lblk >= e[-1].lblk + e[-1].len);
		assert_true(e->lblk + e->len <= ((u64)SIZE >> bits) + 1);
		assert_true(!i || l->pieces[i].disk_off >=
					  l->pieces[i - 1].disk_off + l->pieces[i - 1].len);
	}
}

static void layouts_are_sorted_and_apart(void **state)
{
	int fd = make_file();

	for (unsigned int bits = 10; bits <= 12; bits++) {
		struct host_layout l;
		int ret = host_fiemap(fd, SIZE, bits, &l);

		if (ret == -EOPNOTSUPP)
			skip_because("no FIEMAP on this file system");
		assert_int_equal(ret, 0);
		assert_true(l.nr);
		check_layout(&l, bits);
		host_layout_fini(&l);
	}
	close(fd);
}

/* What reads of the whole file deliver, beside the file. */
static void compare(void *ctx, const void *buf, size_t len)
{
	char want[65536];
	off_t *pos = ctx;
	int fd = open(NAME, O_RDONLY);

	assert_true(len <= sizeof(want));
	assert_int_equal(pread(fd, want, len, *pos), len);
	assert_memory_equal(buf, want, len);
	*pos += len;
	close(fd);
}

static void every_byte_is_the_files(void **state)
{
	static const char *const fs[] = {"xfs", "ext4", "ext4-1k", "hostfs"};
	struct wl_op op = {.type = WL_READ, .len = 65536, .n = SIZE / 65536 + 1};

	close(make_file());
	for (size_t i = 0; i < ARRAY_SIZE(fs); i++) {
		struct fl_error err = {0};
		struct run_config config;
		struct run *run;
		off_t pos = 0;

		run_config_init(&config);
		config.machine.data = true;
		config.machine.memory = 64 << 20;
		config.fs = fs[i];
		config.file = NAME;
		if (run_open(&config, &run, &err))
			fail_msg("%s: %s", err.file, err.text);
		run->consume = compare;
		run->consume_ctx = &pos;
		if (run_op(run, &op, &err))
			fail_msg("%s: %s", err.file, err.text);
		assert_int_equal(pos, SIZE);
		run_close(run);
	}
}

static void no_file_system_is_no_error(void **state)
{
	struct host_layout l;
	int fd = open("/proc/self/status", O_RDONLY);

	assert_int_equal(host_fiemap(fd, 4096, 12, &l), -EOPNOTSUPP);
	assert_null(l.extents);
	close(fd);
}

static void pieces_say_where_bytes_are(void **state)
{
	static const struct disk_piece layout[] = {
		{4096, 4096, 8192}, {8192, 512, 0}, {65536, 1024, 4096}};
	struct disk_piece *pieces = malloc(sizeof(layout));
	struct machine_config config;
	struct block_device *bdev;
	struct machine *m;
	char file[16384], got[131072], want[sizeof(got)] = {0};
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);

	for (size_t i = 0; i < sizeof(file); i++)
		file[i] = i >> 9 | 1;
	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	for (size_t i = 0; i < ARRAY_SIZE(layout); i++)
		memcpy(want + layout[i].disk_off, file + layout[i].file_off, layout[i].len);
	machine_config_init(&config);
	config.memory = 16 << 20;
	assert_int_equal(machine_boot(&config, &m, NULL), 0);
	assert_int_equal(blk_open(m, disk_model_by_name("host"), 65536, fd, &bdev), 0);
	memcpy(pieces, layout, sizeof(layout));
	blk_set_pieces(bdev, pieces, ARRAY_SIZE(layout));
	for (size_t at = 0; at < sizeof(got); at += 1536)
		assert_int_equal(disk_rw(bdev, REQ_OP_READ, at >> SECTOR_SHIFT, got + at,
					 min(sizeof(got) - at, (size_t)1536)),
				 0);
	assert_memory_equal(got, want, sizeof(got));
	assert_int_equal(blk_preset(bdev, 5000, "hello", 5), 0);
	assert_int_equal(disk_rw(bdev, REQ_OP_READ, 8, got, 4096), 0);
	assert_memory_equal(got + 904, "hello", 5);
	assert_memory_equal(got, want + 4096, 904);
	blk_close(bdev);
	machine_shutdown(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_are_sorted_and_apart),
		cmocka_unit_test(every_byte_is_the_files),
		cmocka_unit_test(no_file_system_is_no_error),
		cmocka_unit_test(pieces_say_where_bytes_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
