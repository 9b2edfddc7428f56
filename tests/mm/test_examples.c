/*
 * mm/test_examples.c - the worked examples of the readahead specification, event by event.
 *
 * Proves that the calls, windows, folio orders and order-0 ranges of sections 8.2 to 8.9 and the
 * rules of 3.9, 3.10, 3.11 and 4 come out as they stand there; most were seen live on a 6.18.
 * The expected strings are the specification's, in its notation (mm/scene.h).
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"
#include "mm/scene.h"

/* One example on several kernels. */
static void expect_on(const char *const *kernels, struct run_config config, const char *ops,
		      const char *expected)
{
	for (; *kernels; kernels++) {
		config.machine.kernel = *kernels;
		scene_expect(&config, ops, expected);
	}
}

#define KERNELS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ALL_KERNELS                                                                                \
	KERNELS("v6.1", "v6.1.y", "v6.7", "ab4443fe3ca6", "v6.12", "v6.12.y", "v6.16", "v6.16.y",  \
		"v6.17", "v6.17.y", "v6.18", "v7.3")
#define V612_GROUP KERNELS("v6.12", "v6.12.y", "v6.16", "v6.16.y")
#define V617_GROUP KERNELS("v6.17", "v6.17.y", "v6.18", "v7.3")

/* 8.2, large folios. */
static void test_bs_4k(void **state)
{
	struct run_config config = scene_config("");

	expect_on(V612_GROUP, config, "read 4k 61",
		  "S(0,1) W[0+4/3] 2 / A(0,1) W[4+8/8] 2,2 / A(4,1) W[12+16/16] 2,3,2 / "
		  "A(12,1) W[28+32/32] 2,4,3,2 / A(28,1) W[60+32/32] 2,4,3,2 / "
		  "A(60,1) W[92+32/32] 2,4,3,2");
	expect_on(V617_GROUP, config, "read 4k 65",
		  "S(0,1) W[0+4/3] 0*4 / A(1,1) W[4+8/8] 2,2 / A(4,1) W[12+4/4] 2 / "
		  "A(12,1) W[16+8/8] 3 / A(16,1) W[24+8/8] 3 / A(24,1) W[32+16/16] 4 / "
		  "A(32,1) W[48+16/16] 4 / A(48,1) W[64+32/32] 5 / A(64,1) W[96+32/32] 5");
}

/* 8.2, small folios: ext4 before v6.16. The window's turn in 3.6 goes straight to order 0. */
static void test_bs_4k_small_folios(void **state)
{
	struct run_config config = scene_config("");

	config.fs = "ext4";
	expect_on(KERNELS("v6.1.y", "v6.7", "ab4443fe3ca6", "v6.12", "v6.12.y"), config,
		  "read 4k 29",
		  "S(0,1) U[0+4 look 3] / A(1,1) U[4+8 look 8] / A(4,1) U[12+16 look 16] / "
		  "A(12,1) U[28+32 look 32] / A(28,1) U[60+32 look 32]");
	/* v6.1 reads one folio behind the request into its batch, so marks are met earlier. */
	expect_on(KERNELS("v6.1"), config, "read 4k 5",
		  "S(0,1) U[0+4 look 3] / A(1,0) U[4+8 look 8] / A(4,0) U[12+16 look 16]");
	/* 6.18 without large folios, from page 17 on: END_ALIGN rounds the ends to 4. */
	expect_on(KERNELS("v6.18-EXT4_LARGE"), config, "seek 69632; read 4k 6",
		  "S(17,1) U[17+1] / S(18,1) U[18+4 look 3] / A(19,1) U[22+6 look 6] / "
		  "A(22,1) U[28+12 look 12]");
}

/* 8.3 */
static void test_bs_64k(void **state)
{
	struct run_config config = scene_config("");

	expect_on(V612_GROUP, config, "read 64k 5",
		  "S(0,16) W[0+32/16] 2*8 / A(16,16) W[32+32/32] 4,4 / A(32,16) W[64+32/32] 5 / "
		  "A(64,16) W[96+32/32] 5");
	expect_on(V617_GROUP, config, "read 64k 7",
		  "S(0,16) W[0+32/16] 0*32 / A(16,16) W[32+32/32] 2*8 / A(32,16) W[64+32/32] 4,4 / "
		  "A(64,16) W[96+32/32] 5 / A(96,16) W[128+32/32] 5");
}

/* 8.4: the second window is asked for inside the first read(), with what is left of it. */
static void test_bs_100k(void **state)
{
	struct run_config config = scene_config("");

	expect_on(V612_GROUP, config, "read 102400 11",
		  "S(0,25) W[0+32/7] 2*8 / A(24,1) W[32+32/32] 4,4 / A(32,18) W[64+32/32] 5 / "
		  "A(64,11) W[96+32/32] 5 / A(96,4) W[128+32/32] 5 / A(128,22) W[160+32/32] 5 / "
		  "A(160,15) W[192+32/32] 5 / A(192,8) W[224+32/32] 5 / A(224,1) W[256+32/32] 5 / "
		  "A(256,19) W[288+32/32] 5");
	expect_on(V617_GROUP, config, "read 102400 4",
		  "S(0,25) W[0+32/7] 0*32 / A(25,25) W[32+32/32] 2*8 / A(32,18) W[64+32/32] 4,4 / "
		  "A(64,11) W[96+32/32] 5 / A(96,4) W[128+32/32] 5");
}

/* 8.5 */
static void test_bs_1m(void **state)
{
	struct run_config config = scene_config("");

	expect_on(V612_GROUP, config, "read 1m 2",
		  "S(0,256) W[0+32/16] 2*8 / A(16,240) W[32+32/32] 4,4 / "
		  "A(32,224) W[64+32/32] 5 / A(64,192) W[96+32/32] 5 / "
		  "A(96,160) W[128+32/32] 5 / A(128,128) W[160+32/32] 5 / "
		  "A(160,96) W[192+32/32] 5 / A(192,64) W[224+32/32] 5 / "
		  "A(224,32) W[256+32/32] 5 / A(256,256) W[288+32/32] 5 / ...");
	expect_on(V617_GROUP, config, "read 1m 1",
		  "S(0,256) W[0+32/16] 0*32 / A(16,240) W[32+32/32] 2*8 / "
		  "A(32,224) W[64+32/32] 4,4 / A(64,192) W[96+32/32] 5 / ...");
}

/* 8.5 with a device that takes larger requests: the window follows the request, v6.12 shrinks. */
static void test_bs_1m_large_io(void **state)
{
	struct run_config config = scene_config("");

	config.io_bytes = 320 * 4096;
	expect_on(KERNELS("v6.12"), config, "read 1m 3",
		  "S(0,256) W[0+256/128] 2*64 / A(128,128) W[256+128/128] 4*8 / "
		  "A(256,256) W[384+256/256] 6*4 / A(384,128) W[640+128/128] 7 / "
		  "A(640,128) W[768+128/128] 7");
	expect_on(KERNELS("v7.3"), config, "read 1m 4",
		  "S(0,256) W[0+256/128] 0*256 / A(128,128) W[256+256/256] 2*64 / "
		  "A(256,256) W[512+256/256] 4*16 / A(512,256) W[768+256/256] 6*4 / "
		  "A(768,256) W[1024+256/256] 8");
}

/* 8.6: four folios, and the window stays what it was. */
static void test_random_pages(void **state)
{
	const char *const *kernels = ALL_KERNELS;
	const char *ops = "pread 4096000 4k; pread 20480000 4k; pread 1228800 4k; "
			  "pread 36864000 4k";

	expect_on(kernels, scene_config(""), ops,
		  "S(1000,1) U[1000+1] / S(5000,1) U[5000+1] / S(300,1) U[300+1] / "
		  "S(9000,1) U[9000+1]");
	for (; *kernels; kernels++) {
		struct run_config config = scene_config(*kernels);
		struct run *run = scene_open(&config);

		scene_play(run, ops);
		assert_int_equal(run_file(run)->f_ra.start, 0);
		assert_int_equal(run_file(run)->f_ra.size, 0);
		assert_int_equal(run_file(run)->f_ra.async_size, 0);
		assert_int_equal(run->machine->trace.count[EV_mm_filemap_add_to_page_cache][0], 4);
		scene_close(run);
	}
}

/* Two streams on one descriptor, turn by turn, until @reads reads were done. */
static void expect_interleaved(const char *kernel, s64 len, s64 second, unsigned int first_page,
			       unsigned int reads, const char *expected)
{
	struct run_config config = scene_config(kernel);
	struct run *run = scene_open(&config);
	struct notes notes;

	notes_begin(&notes, run);
	for (unsigned int i = 0; i < reads; i++)
		scene_pread(run, (i & 1 ? second : first_page) * 4096LL + i / 2 * len, len);
	notes_expect(&notes, kernel, expected);
	notes_end(&notes, run);
	scene_close(run);
}

/* 8.7, pages: the streams tear each other's window apart; drift shows on v7.3. */
static void test_interleaved_pages(void **state)
{
	static const char *const old[] = {"v6.12", "v6.12.y", "v6.16.y"};
	static const char *const new[] = {"v6.17", "v6.18", "v7.3"};

	for (unsigned int i = 0; i < ARRAY_SIZE(old); i++)
		expect_interleaved(
			old[i], 4096, 9000, 1000, 40,
			"S(1000,1) U[1000+1] / S(9000,1) U[9000+1] / S(1001,1) U[1001+1] / "
			"S(9001,1) U[9001+1] / S(1002,1) W[1002+3/1] U[1002+3 look 1] / "
			"S(9002,1) W[9002+3/1] U[9002+3 look 1] / A(1004,1) W[1005+4/4] 0,1,0 / "
			"A(9004,1) W[9005+4/4] 0,1,0 / A(1005,1) W[1009+10/10] 0,1,2,1,0 / "
			"A(9005,1) W[9009+10/10] 0,1,2,1,0 / A(1009,1) W[1019+22/22] 0,2*5,0 / "
			"A(9009,1) W[9019+22/22] 0,2*5,0 / A(1019,1) W[1041+32/32] 0,1,2*7,0 / "
			"...");
	for (unsigned int i = 0; i < ARRAY_SIZE(new); i++)
		expect_interleaved(
			new[i], 4096, 9000, 1000, 36,
			"S(1000,1) U[1000+1] / S(9000,1) U[9000+1] / S(1001,1) U[1001+1] / "
			"S(9001,1) U[9001+1] / S(1002,1) W[1002+3/1] 0*3 / "
			"S(9002,1) W[9002+3/1] 0*3 / A(1004,1) W[1005+3/3] 0,1 / "
			"A(9004,1) W[9005+3/3] 0,1 / A(1005,1) W[1008+8/8] 3 / "
			"A(9005,1) W[9008+8/8] 3 / A(1008,1) W[1017+7/7] 0,1,2 / "
			"A(9008,1) W[9017+7/7] 0,1,2 / "
			"S(1016,1) W[1016+10/1] 0,EEXIST U[1017+9 look 1]:1024..1025 / "
			"S(9016,1) W[9016+10/1] 0,EEXIST U[9017+9 look 1]:9024..9025 / "
			"A(1017,1) W[1026+18/18] 1,2*4 / A(9017,1) W[9026+14/14] 1,2,3");
}

/* 8.7, 64k blocks: every version's end of a search without a hole shows at page 64. */
static void test_interleaved_blocks(void **state)
{
	static const char *const fixed[] = {"v6.12.y", "v6.16.y"};
	static const char *const new[] = {"v6.17", "v6.18", "v7.3"};

	expect_interleaved(
		"v6.12", 65536, 8192, 0, 15,
		"S(0,16) W[0+32/16] 2*8 / S(8192,16) U[8192+16] / A(16,16) W[32+32/32] 4,4 / "
		"S(8208,16) U[8208+16] / A(32,16) W[64+32/32] 5 / S(8224,16) W[8224+32/1] 2*8 / "
		"A(8252,4) W[8256+32/32] 4,4 / "
		"A(64,16) W[64+32/32] EEXIST U[64+32 look 32]: nothing / "
		"A(8256,16) W[8256+32/32] EEXIST U[8256+32 look 32]: nothing / "
		"S(96,16) W[96+32/1] 2*8 / S(8288,16) W[8288+32/1] 2*8 / "
		"A(124,4) W[129+18/18] 0,1,2,3,1,0");
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++)
		expect_interleaved(fixed[i], 65536, 8192, 0, 18,
				   "S(0,16) W[0+32/16] 2*8 / S(8192,16) U[8192+16] / "
				   "A(16,16) W[32+32/32] 4,4 / S(8208,16) U[8208+16] / "
				   "A(32,16) W[64+32/32] 5 / S(8224,16) W[8224+32/1] 2*8 / "
				   "A(8252,4) W[8256+32/32] 4,4 / A(64,16) nothing / "
				   "A(8256,16) W[8288+32/32] 5 / S(96,16) W[96+32/1] 2*8 / "
				   "A(8288,16) nothing / A(124,4) W[128+32/32] 4,4 / "
				   "A(128,16) W[160+32/32] 5 / S(8320,16) W[8320+32/1] 2*8");
	for (unsigned int i = 0; i < ARRAY_SIZE(new); i++)
		expect_interleaved(new[i], 65536, 8192, 0, 18,
				   "S(0,16) W[0+32/16] 0*32 / S(8192,16) U[8192+16] / "
				   "A(16,16) W[32+32/32] 2*8 / S(8208,16) U[8208+16] / "
				   "A(32,16) W[64+32/32] 4,4 / S(8224,16) W[8224+32/1] 0*32 / "
				   "A(8255,1) W[8256+32/32] 2*8 / A(64,16) nothing / "
				   "A(8256,16) W[8288+32/32] 4,4 / S(96,16) W[96+32/1] 0*32 / "
				   "A(8288,16) nothing / A(127,1) W[128+32/32] 2*8 / "
				   "A(128,16) W[160+32/32] 4,4 / S(8320,16) W[8320+32/1] 0*32");
}

/* 8.8 */
static void test_reverse(void **state)
{
	expect_on(ALL_KERNELS, scene_config(""),
		  "pread 67104768 4k; pread 67100672 4k; pread 67096576 4k",
		  "S(16383,1) U[16383+1] / S(16382,1) U[16382+1] / S(16381,1) U[16381+1]");
	expect_on(ALL_KERNELS, scene_config(""), "pread 67043328 64k; pread 66977792 64k",
		  "S(16368,16) U[16368+16] / S(16352,16) U[16352+16]");
}

/* 8.9.1: the end of a file of 76 pages. v7.3 sets no mark there, so the last call never comes. */
static void test_end_of_file(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run;
	struct notes notes;

	config.size = 307300;
	run = scene_open(&config);
	scene_play(run, "read 4k 48");
	notes_begin(&notes, run);
	scene_play(run, "read 4k 30");
	notes_expect(&notes, "v6.18", "A(48,1) W[64+32/32] 3,2 / A(64,1) W[96+32/32] nothing");
	notes_end(&notes, run);
	scene_close(run);
	config.machine.kernel = "v7.3";
	run = scene_open(&config);
	scene_play(run, "read 4k 48");
	notes_begin(&notes, run);
	scene_play(run, "read 4k 30");
	notes_expect(&notes, "v7.3", "A(48,1) W[64+32/32] 3,2");
	notes_end(&notes, run);
	assert_int_equal(run_file(run)->f_ra.start, 64);
	assert_int_equal(run_file(run)->f_ra.size, 32);
	assert_int_equal(run_file(run)->f_ra.async_size, 32);
	scene_close(run);
}

/* 8.9.2: is history of exactly one page more than the request a stream? From v7.2 on. */
static void test_prev_miss_boundary(void **state)
{
	const char *ops = "fadvise willneed 409600 131072; reopen; pread 540672 126976";

	expect_on(KERNELS("v6.1", "v6.1.y", "v6.7", "ab4443fe3ca6", "v6.12", "v6.12.y", "v6.16.y",
			  "v6.17", "v6.18"),
		  scene_config(""), ops, "U[100+32] / S(132,31) U[132+31]");
	expect_on(KERNELS("v7.3"), scene_config(""), ops, "U[100+32] / S(132,31) W[132+32/1] 0*32");
}

/* 8.9.3: the search from inside a folio reports a hole one page late; live on 6.18. */
static void test_drift(void **state)
{
	static const unsigned int pages[] = {0, 1, 5000, 5001, 5002, 4,	 5, 6,
					     7, 8, 9,	 10,   11,   12, 13};
	struct run_config config = scene_config("v6.18");
	struct run *run = scene_open(&config);
	struct notes notes;

	notes_begin(&notes, run);
	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++)
		scene_pread(run, pages[i] * 4096LL, 4096);
	notes_expect(&notes, "drift",
		     "S(0,1) W[0+4/3] 0*4 / A(1,1) W[4+8/8] 2,2 / S(5000,1) U[5000+1] / "
		     "S(5001,1) W[5001+4/3] 0*4 / A(5002,1) W[5005+7/7] 0,1,2 / "
		     "A(4,1) W[13+19/19] 0,1,4 / "
		     "S(12,1) W[12+4/3] 0,EEXIST U[13+3 look 3]: nothing / "
		     "A(13,1) W[16+8/8] EEXIST U[16+8 look 8]: nothing");
	notes_end(&notes, run);
	scene_close(run);
}

/* 8.9.4: a window that is no power of two. */
static void test_ra_768k(void **state)
{
	struct run_config config = scene_config("v6.7");
	struct run *run;

	config.ra_bytes = 768 << 10;
	config.io_bytes = 768 << 10;
	/* Allocation calls. */
	run = scene_open(&config);
	scene_play(run, "read 4k 2048");
	assert_int_equal(run->machine->trace.count[EV_fl_folio_alloc][0], 428);
	assert_int_equal(run->machine->trace.count[EV_fl_folio_alloc][2], 114);
	scene_close(run);
	/* Only the orders stand in the table; the windows are 3.5 by hand. */
	expect_on(KERNELS("ab4443fe3ca6", "v6.1.y"), config, "read 4k 149",
		  "S(0,1) W[0+4/3] 2 / A(0,1) W[0+4/3] EEXIST U[0+4 look 3]: nothing / "
		  "S(4,1) W[4+48/32] 2*12 / A(20,1) W[52+96/96] 2,3,4*5,2 / "
		  "A(52,1) W[148+192/192] 2,3,4*11,2 / A(148,1) W[340+192/192] 2,3,4*11,2");
	expect_on(KERNELS("v7.3", "v6.18"), config, "read 4k 513",
		  "S(0,1) W[0+4/3] 0*4 / A(1,1) W[4+16/16] 2*4 / A(4,1) W[20+28/28] 2,3,4 / "
		  "A(20,1) W[48+16/16] 4 / A(48,1) W[64+32/32] 5 / A(64,1) W[96+32/32] 5 / "
		  "A(96,1) W[128+64/64] 6 / A(128,1) W[192+128/128] 6,6 / "
		  "A(192,1) W[320+192/192] 6,7 / A(320,1) W[512+192/192] 7,6 / A(512,1) ...");
}

/* Sections 2 and 3.6 by hand for folios of at least 16 KiB (xfs with 16K blocks). */
static void test_min_order(void **state)
{
	struct run_config config = scene_config("");

	config.block_size = 16384;
	/* LAST_INDEX_ROUND: the request ends with the folio. */
	expect_on(KERNELS("v6.18", "v7.3"), config, "read 4k 33",
		  "S(0,4) W[0+8/4] 2,2 / A(4,4) W[8+8/8] 3 / A(8,4) W[16+16/16] 4 / "
		  "A(16,4) W[32+32/32] 5 / A(32,4) W[64+32/32] 5");
	expect_on(KERNELS("v6.12"), config, "read 4k 13",
		  "S(0,1) W[0+4/3] 2 / A(0,1) W[4+8/8] 2,2 / A(4,1) W[12+16/16] 2,3,2 / "
		  "A(12,1) W[28+32/32] 2,4,3,2");
	/* A page in the middle of a folio: the folio is read as a whole. */
	expect_on(KERNELS("v6.12", "v6.16.y"), config, "pread 4100096 4k",
		  "S(1001,1) U[1001+1]:1000..1003");
	expect_on(KERNELS("v6.18"), config, "pread 4100096 4k", "S(1001,3) U[1001+3]:1000..1003");
}

/* 3.3: without readahead every page is a request of its own. */
static void test_ra_pages_zero(void **state)
{
	struct run_config config = scene_config("");

	config.ra_bytes = 0;
	expect_on(ALL_KERNELS, config, "read 16k 1; pread 1m 4k",
		  "S(0,4) U[0+1] / S(1,3) U[1+1] / S(2,2) U[2+1] / S(3,1) U[3+1] / "
		  "S(256,1) U[256+1]");
}

/* Section 4: a random file reads what is asked, cut to the device; its marks still work. */
static void test_fadvise_random(void **state)
{
	struct run_config config = scene_config("");

	expect_on(ALL_KERNELS, config, "fadvise random 0 0; read 256k 1",
		  "S(0,64) U[0+32] / S(32,32) U[32+32]");
	expect_on(V617_GROUP, config, "read 4k 1; fadvise random 0 0; read 4k 2",
		  "S(0,1) W[0+4/3] 0*4 / A(1,1) W[4+8/8] 2,2");
	expect_on(V617_GROUP, config, "fadvise random 0 0; fadvise normal 0 0; read 4k 1",
		  "S(0,1) W[0+4/3] 0*4");
}

/* Section 4 and 3.9: how much WILLNEED reads. */
static void test_willneed_cap(void **state)
{
	struct run_config config = scene_config("");

	expect_on(ALL_KERNELS, config, "fadvise willneed 0 0", "U[0+32]");
	expect_on(ALL_KERNELS, config, "readahead 0 67108864", "U[0+32]");
	expect_on(ALL_KERNELS, config, "fadvise sequential 0 0; fadvise willneed 0 0", "U[0+64]");
	expect_on(ALL_KERNELS, config, "fadvise willneed 5000 10", "U[1+1]");
	/* Counted from the first page even where pages are cached. */
	expect_on(ALL_KERNELS, config, "fadvise willneed 0 64k; fadvise willneed 0 0",
		  "U[0+16] U[0+32]:16..31");
	/* Nothing behind the end. */
	expect_on(ALL_KERNELS, config, "fadvise willneed 67043328 0", "U[16368+16]");
	expect_on(ALL_KERNELS, config, "fadvise willneed 67108864 4096", "");
	config.io_bytes = 1 << 20;
	expect_on(ALL_KERNELS, config, "fadvise willneed 0 0", "U[0+256]");
	/* Chunks of 2 MiB. */
	config.ra_bytes = 8 << 20;
	expect_on(ALL_KERNELS, config, "fadvise willneed 0 5m", "U[0+512] U[512+512] U[1024+256]");
}

/* Section 4: advice changes the descriptor, never the window. */
static void test_advice_keeps_window(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run = scene_open(&config);
	struct file_ra_state before;

	scene_play(run, "read 4k 20");
	before = run_file(run)->f_ra;
	scene_play(run, "fadvise random 0 0; fadvise noreuse 0 0; fadvise willneed 8m 4k; "
			"fadvise dontneed 8m 4k; fadvise sequential 0 0");
	assert_int_equal(run_file(run)->f_ra.ra_pages, 64);
	run_file(run)->f_ra.ra_pages = before.ra_pages;
	assert_memory_equal(&run_file(run)->f_ra, &before, sizeof(before));
	scene_close(run);
}

/* ---- 4.1: which folios DONTNEED drops ---- */

struct removed {
	struct trace_sink sink;
	char text[1000];
	u64 lo, hi;
	bool some;
};

static void put_removed(struct removed *r)
{
	size_t len = strlen(r->text);

	if (r->some && r->hi > r->lo)
		snprintf(r->text + len, sizeof(r->text) - len, "%s%" PRIu64 "..%" PRIu64,
			 len ? " " : "", r->lo, r->hi);
	else if (r->some)
		snprintf(r->text + len, sizeof(r->text) - len, "%s%" PRIu64, len ? " " : "", r->lo);
	r->some = false;
}

static void removed_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct removed *r = container_of(sink, struct removed, sink);

	if (ev->id != EV_mm_filemap_delete_from_page_cache)
		return;
	if (!r->some || ev->index != r->hi + 1) {
		put_removed(r);
		r->lo = ev->index;
		r->some = true;
	}
	r->hi = ev->index + (1ULL << ev->order) - 1;
}

/* After @fill, DONTNEED(off, len) drops exactly the pages @expected. */
static void expect_dropped(const struct run_config *config, const char *fill, s64 off, s64 len,
			   const char *expected)
{
	struct run *run = scene_open(config);
	struct removed r = {.sink.event = removed_event};
	char op[100];

	scene_play(run, fill);
	trace_add_sink(&run->machine->trace, &r.sink);
	snprintf(op, sizeof(op), "fadvise dontneed %" PRId64 " %" PRId64, off, len);
	scene_play(run, op);
	trace_remove_sink(&run->machine->trace, &r.sink);
	put_removed(&r);
	if (strcmp(r.text, expected))
		fail_msg("%s on %s: dropped '%s', expected '%s'", op, config->machine.kernel,
			 r.text, expected);
	scene_close(run);
}

static void test_dontneed_small_folios(void **state)
{
	static const struct {
		s64 off, len;
		const char *dropped;
	} examples[] = {
		{0, 4096, "0"},
		{1, 4095, ""},
		{1, 8191, "1"},
		{4096, 8192, "1..2"},
		{4096, 8191, "1"},
		{100, 20000, "1..3"},
		{0, 100, ""},
		{3000000, 0, "733..768"},
		{3000000, 145729, "733..768"},
		{3000000, 145728, "733..767"},
		{3000000, 200000, "733..768"},
		{2000000, 300000, "489..560"},
	};
	const char *const *kernel = KERNELS("v6.1", "v6.7", "v6.12.y", "v6.18-EXT4_LARGE");

	for (; *kernel; kernel++)
		for (unsigned int i = 0; i < ARRAY_SIZE(examples); i++) {
			struct run_config config = scene_config(*kernel);

			config.fs = "ext4";
			config.size = (3 << 20) + 1;
			config.ra_bytes = 8 << 20;
			expect_dropped(&config, "fadvise willneed 0 0", examples[i].off,
				       examples[i].len, examples[i].dropped);
		}
}

static void test_dontneed_large_folios(void **state)
{
	/* 8.3: order-5 folios at 64, 96, 128, ... */
	struct run_config config = scene_config("v6.12");
	const char *fill = "read 64k 64";

	expect_dropped(&config, fill, 64 * 4096, 32 * 4096, "64..95");
	expect_dropped(&config, fill, 65 * 4096, 31 * 4096, "");
	expect_dropped(&config, fill, 64 * 4096, 31 * 4096, "");
	expect_dropped(&config, fill, 60 * 4096, 100 * 4096, "64..159");
	expect_dropped(&config, fill, 2000000, 300000, "512..543");
}

/* ---- 3.11 and 3.10 ---- */

static void finish_request(struct readahead_control *rac)
{
	struct folio *folio;

	while ((folio = readahead_folio(rac)))
		folio_end_read(folio, true);
}

/* Proves where an expansion stops and what it adds to the window. */
static void test_readahead_expand(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run = scene_open(&config);
	struct file_ra_state ra = {.size = 4, .async_size = 1};
	struct address_space *mapping = run->inode->i_mapping;
	DEFINE_READAHEAD(rac, NULL, &ra, mapping, 8);
	DEFINE_READAHEAD(second, NULL, &ra, mapping, 32);

	rac.provenance = second.provenance = PROVENANCE_FORCED;
	readahead_expand(&rac, 4 * 4096, 16 * 4096);
	assert_int_equal(rac._index, 4);
	assert_int_equal(rac._nr_pages, 16);
	assert_int_equal(ra.size, 4 + 12);
	assert_int_equal(ra.async_size, 1 + 12);
	finish_request(&rac);
	assert_string_equal(scene_folios(run, 0, 24), "4:0 5:0 6:0 7:0 8:0 9:0 10:0 11:0 12:0 13:0 "
						      "14:0 15:0 16:0 17:0 18:0 19:0");
	/* Downwards to the first cached page, 19; upwards it then has nothing in its way. */
	readahead_expand(&second, 16 * 4096, 24 * 4096);
	assert_int_equal(second._index, 20);
	assert_int_equal(second._nr_pages, 12);
	finish_request(&second);
	scene_close(run);
}

/*
 * 3.6 step 8: a window that starts inside a cached folio of 16 KiB. Its start is rounded down onto
 * the folio, and since v6.14 the unsigned comparison then finds nothing left to read.
 */
static void expect_guarded(const char *kernel, const char *expected)
{
	struct run_config config = scene_config(kernel);
	struct file_ra_state ra = {.start = 6, .size = 4, .async_size = 4, .ra_pages = 32};
	struct run *run;

	config.block_size = 16384;
	run = scene_open(&config);
	scene_play(run, "fadvise willneed 16k 16k");
	{
		DEFINE_READAHEAD(rac, NULL, &ra, run->inode->i_mapping, 6);

		rac.provenance = PROVENANCE_ASYNC;
		page_cache_ra_order(&rac, &ra, 0);
	}
	assert_string_equal(scene_folios(run, 0, 100), expected);
	scene_close(run);
}

static void test_fallback_guard(void **state)
{
	expect_guarded("v6.12", "4:2 8:2m");
	expect_guarded("v6.16", "4:2");
	expect_guarded("v6.16.y", "4:2");
	expect_guarded("v6.18", "4:2");
}

/* A file system that takes the first folio of every request only. */
static void take_one(struct readahead_control *rac)
{
	struct folio *folio = readahead_folio(rac);

	if (folio)
		folio_end_read(folio, true);
}

static const struct address_space_operations take_one_aops = {.readahead = take_one};

/* 3.10: eight pages, seven of them left over, with a tail of four. */
static void expect_leftover(const char *kernel, unsigned int size, unsigned int async_size,
			    const char *folios)
{
	struct run_config config = scene_config(kernel);
	struct file_ra_state ra = {.size = 8, .async_size = 4};
	struct run *run = scene_open(&config);
	DEFINE_READAHEAD(rac, NULL, &ra, run->inode->i_mapping, 0);

	run->inode->i_mapping->a_ops = &take_one_aops;
	rac.provenance = PROVENANCE_SYNC;
	page_cache_ra_unbounded(&rac, 8, 0);
	assert_int_equal(ra.size, size);
	assert_int_equal(ra.async_size, async_size);
	assert_string_equal(scene_folios(run, 0, 100), folios);
	scene_close(run);
}

static void test_leftover_pages(void **state)
{
	/* The window shrinks by all seven; only as many as the tail had leave the cache. */
	expect_leftover("v6.1", 1, 0, "0:0 5:0 6:0 7:0");
	expect_leftover("v6.12.y", 1, 0, "0:0 5:0 6:0 7:0");
	expect_leftover("v6.16", 8, 4, "0:0");
	expect_leftover("v6.18", 8, 4, "0:0");
}

/* ---- EIO ---- */

static int failing_read(struct block_device *bdev, sector_t sector, void *buf, unsigned int len)
{
	return -EIO;
}

static const struct disk_operations failing_ops = {.read = failing_read};

static void expect_unlocked(struct run *run)
{
	for (pgoff_t i = 0; i < 64; i++) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		if (!folio)
			continue;
		assert_false(folio_test_locked(folio));
		assert_false(folio_test_uptodate(folio));
		folio_put(folio);
	}
}

static void play_eio(const char *kernel, const char *fs, const char *disk)
{
	struct run_config config = scene_config(kernel);
	const struct disk_operations *ops;
	struct run *run;

	config.fs = fs;
	config.disk = disk;
	config.machine.data = true;
	run = scene_open(&config);
	ops = run->sb->s_bdev->ops;
	run->sb->s_bdev->ops = &failing_ops;
	scene_play(run, "read 64k 1");
	assert_int_equal(run->errors, 1);
	assert_int_equal(run->last_error, -EIO);
	assert_int_equal(run->bytes, 0);
	assert_int_equal(run_file(run)->f_pos, 0);
	assert_int_equal(run_file(run)->f_ra.ra_pages, 32 / 4);
	expect_unlocked(run);
	/* The disk comes back: the same folios are read, one by one. */
	run->sb->s_bdev->ops = ops;
	scene_play(run, "read 64k 1");
	assert_int_equal(run->errors, 1);
	assert_int_equal(run->bytes, 65536);
	scene_close(run);
}

/* Proves 2.2 step 5: EIO, a quarter of the window, nothing left locked. */
static void test_eio(void **state)
{
	static const char *const fs[] = {"ext4", "ext4-1k", "xfs", "hostfs"};
	const char *const *kernel = ALL_KERNELS;

	for (; *kernel; kernel++)
		for (unsigned int i = 0; i < ARRAY_SIZE(fs); i++) {
			play_eio(*kernel, fs[i], "ram");
			play_eio(*kernel, fs[i], "nvme");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bs_4k),
		cmocka_unit_test(test_bs_4k_small_folios),
		cmocka_unit_test(test_bs_64k),
		cmocka_unit_test(test_bs_100k),
		cmocka_unit_test(test_bs_1m),
		cmocka_unit_test(test_bs_1m_large_io),
		cmocka_unit_test(test_random_pages),
		cmocka_unit_test(test_interleaved_pages),
		cmocka_unit_test(test_interleaved_blocks),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_end_of_file),
		cmocka_unit_test(test_prev_miss_boundary),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_ra_768k),
		cmocka_unit_test(test_min_order),
		cmocka_unit_test(test_ra_pages_zero),
		cmocka_unit_test(test_fadvise_random),
		cmocka_unit_test(test_willneed_cap),
		cmocka_unit_test(test_advice_keeps_window),
		cmocka_unit_test(test_dontneed_small_folios),
		cmocka_unit_test(test_dontneed_large_folios),
		cmocka_unit_test(test_readahead_expand),
		cmocka_unit_test(test_fallback_guard),
		cmocka_unit_test(test_leftover_pages),
		cmocka_unit_test(test_eio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
