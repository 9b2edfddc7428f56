/*
 * mm/test_table_810.c - every cell of table 8.10 of the readahead specification, every profile.
 *
 * Proves that 13 access patterns insert exactly the folios, in the order and in as many
 * ->readahead calls, that two independent models and (v6.18) a live kernel inserted. A cell is
 * insertions / zlib CRC-32 of "index:order\n" per insertion / batches; typed in from the table.
 */
#include "unit.h"

#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>

#include "mm/scene.h"

#define SMALL_FILE 307300

/* Columns of the table; a profile reads the column of the tree it is a variant of. */
enum column { C61, C67, CAB, C12, C12Y, C17, NR_COLUMNS };

static const struct {
	const char *kernel;
	enum column column;
} profiles[] = {
	{"v6.1", C61},	{"v6.1.y", CAB},  {"v6.7", C67},     {"ab4443fe3ca6", CAB},
	{"v6.12", C12}, {"v6.16", C12},	  {"v6.12.y", C12Y}, {"v6.16.y", C12Y},
	{"v6.17", C17}, {"v6.17.y", C17}, {"v6.18", C17},    {"v7.3", C17},
};

/* Two streams: read i goes to from + step * (i / 2) or, odd ones, to the other start. */
struct pattern {
	const char *name;
	s64 size; /* of the file */
	u64 reads;
	s64 len, from, other, step;
};

#define MIB	   (1LL << 20)
#define ONE_STREAM (-1)

static const struct pattern patterns[] = {
	{"A bs=4k, 16 MiB", 64 * MIB, 4096, 4096, 0, ONE_STREAM, 4096},
	{"B bs=64k, 16 MiB", 64 * MIB, 256, 65536, 0, ONE_STREAM, 65536},
	{"C bs=102400, 160 reads", 64 * MIB, 160, 102400, 0, ONE_STREAM, 102400},
	{"D bs=1M, 16 MiB", 64 * MIB, 16, MIB, 0, ONE_STREAM, MIB},
	{"E bs=5000, 2000 reads", 64 * MIB, 2000, 5000, 0, ONE_STREAM, 5000},
	{"F page (i*7919) mod 16384", 64 * MIB, 300, 4096, 0, ONE_STREAM, 7919 * 4096LL},
	{"G pages i, 8192+i alternately", 64 * MIB, 1200, 4096, 0, 8192 * 4096LL, 4096},
	{"H 64k blocks i, 512+i alternately", 64 * MIB, 200, 65536, 0, 512 * 65536LL, 65536},
	{"I page 16383-i", 64 * MIB, 400, 4096, 16383 * 4096LL, ONE_STREAM, -4096},
	{"J 307300-byte file, bs=4k", SMALL_FILE, 76, 4096, 0, ONE_STREAM, 4096},
	{"K 307300-byte file, bs=64k", SMALL_FILE, 5, 65536, 0, ONE_STREAM, 65536},
	{"L pages 17+i", 64 * MIB, 1024, 4096, 17 * 4096, ONE_STREAM, 4096},
	{"M 8k at page 4i", 64 * MIB, 500, 8192, 0, ONE_STREAM, 16384},
};

struct cell {
	u64 insertions;
	u32 crc;
	u64 batches;
};

static const struct cell table[ARRAY_SIZE(patterns)][NR_COLUMNS] = {
	{{185, 0xa6a8259a, 133},
	 {184, 0xcba45642, 132},
	 {523, 0x54dd418f, 131},
	 {522, 0xc0ad3175, 132},
	 {522, 0xc0ad3175, 132},
	 {138, 0x53d706f7, 134}},
	{{138, 0x474f1138, 130},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {168, 0x0b6616c8, 129}},
	{{135, 0xe4d0470c, 127},
	 {134, 0x19ab6233, 126},
	 {134, 0x19ab6233, 126},
	 {134, 0x19ab6233, 126},
	 {134, 0x19ab6233, 126},
	 {165, 0xd716d512, 126}},
	{{137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {137, 0xe6cc2c06, 129},
	 {168, 0x0b6616c8, 129}},
	{{133, 0x502923d0, 81},
	 {133, 0x502923d0, 81},
	 {315, 0xe510c5bb, 79},
	 {314, 0xe1b01da0, 80},
	 {314, 0xe1b01da0, 80},
	 {87, 0xc2aca448, 83}},
	{{306, 0x0127c693, 298},
	 {306, 0x0127c693, 298},
	 {306, 0x0127c693, 298},
	 {305, 0x139fe681, 299},
	 {305, 0x139fe681, 299},
	 {313, 0x5842c5b7, 298}},
	{{343, 0x88f843b8, 59},
	 {514, 0x47ddc5b5, 72},
	 {495, 0x5a27252e, 54},
	 {406, 0xa8742b1e, 48},
	 {406, 0xa8742b1e, 48},
	 {498, 0x01b4cfcb, 76}},
	{{484, 0xd5204e45, 103},
	 {483, 0x44e74b96, 102},
	 {149, 0xfdeb0ec8, 103},
	 {1205, 0xb78720d7, 167},
	 {405, 0x0bf578c5, 103},
	 {1458, 0xed16085d, 103}},
	{{400, 0x5c2bc298, 400},
	 {400, 0x5c2bc298, 400},
	 {400, 0x5c2bc298, 400},
	 {400, 0x5c2bc298, 400},
	 {400, 0x5c2bc298, 400},
	 {400, 0x5c2bc298, 400}},
	{{14, 0xa1f37bfe, 4},
	 {14, 0xa1f37bfe, 4},
	 {14, 0xa1f37bfe, 4},
	 {13, 0x5c6fcbb7, 5},
	 {13, 0x5c6fcbb7, 5},
	 {13, 0x80f9d37b, 8}},
	{{12, 0xbb1ce506, 3},
	 {12, 0xbb1ce506, 3},
	 {12, 0xbb1ce506, 3},
	 {12, 0xbb1ce506, 3},
	 {12, 0xbb1ce506, 3},
	 {42, 0x36e57fd6, 3}},
	{{126, 0x8400ecc8, 41},
	 {126, 0x8400ecc8, 41},
	 {380, 0xb7ec68eb, 37},
	 {208, 0x6255df50, 37},
	 {208, 0x6255df50, 37},
	 {45, 0xbb4d91cb, 40}},
	{{119, 0x46188e5e, 67},
	 {119, 0x46188e5e, 67},
	 {259, 0x6f36438d, 65},
	 {258, 0x83ca8776, 66},
	 {258, 0x83ca8776, 66},
	 {1018, 0x5ec16740, 488}},
};

struct cell_sink {
	struct trace_sink sink;
	struct cell cell;
	char start[200]; /* the first insertions, as the table's footnote writes them */
	size_t len;
};

static void cell_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct cell_sink *c = container_of(sink, struct cell_sink, sink);
	char line[40];
	int len;

	if (ev->id == EV_fl_read_pages)
		c->cell.batches++;
	if (ev->id != EV_mm_filemap_add_to_page_cache)
		return;
	len = snprintf(line, sizeof(line), "%" PRIu64 ":%u\n", ev->index, ev->order);
	c->cell.crc = lzma_crc32((const u8 *)line, len, c->cell.crc);
	c->cell.insertions++;
	if (c->len + len < sizeof(c->start)) {
		c->len += snprintf(c->start + c->len, sizeof(c->start) - c->len, "%.*s ", len - 1,
				   line);
	}
}

static s64 read_offset(const struct pattern *p, u64 i)
{
	s64 off = p->from + p->step * (s64)i;

	if (p->other == ONE_STREAM)
		return p->step == 7919 * 4096LL ? off % (16384 * 4096LL) : off;
	return (i & 1 ? p->other : p->from) + p->step * (s64)(i / 2);
}

static struct cell_sink play(const char *kernel, const char *fs, const struct pattern *p)
{
	struct run_config config = scene_config(kernel);
	struct cell_sink c = {.sink.event = cell_event};
	struct run *run;

	config.size = p->size;
	config.fs = fs;
	run = scene_open(&config);
	trace_add_sink(&run->machine->trace, &c.sink);
	for (u64 i = 0; i < p->reads; i++)
		scene_pread(run, read_offset(p, i), p->len);
	trace_remove_sink(&run->machine->trace, &c.sink);
	scene_close(run);
	return c;
}

static void expect_cell(const char *kernel, const char *fs, const struct pattern *p,
			const struct cell *want)
{
	struct cell got = play(kernel, fs, p).cell;

	if (got.insertions != want->insertions || got.crc != want->crc ||
	    got.batches != want->batches)
		fail_msg("%s, %s: %" PRIu64 "/%08x/%" PRIu64 ", expected %" PRIu64 "/%08x/%" PRIu64,
			 p->name, kernel, got.insertions, got.crc, got.batches, want->insertions,
			 want->crc, want->batches);
}

/* Proves the whole table on all twelve profiles, on the file system that had large folios first. */
static void test_all_cells(void **state)
{
	for (unsigned int row = 0; row < ARRAY_SIZE(patterns); row++)
		for (unsigned int i = 0; i < ARRAY_SIZE(profiles); i++)
			expect_cell(profiles[i].kernel, "xfs", &patterns[row],
				    &table[row][profiles[i].column]);
}

/* Proves that ext4 with large folios decides the same: the 6.18 column was live on both. */
static void test_ext4_same(void **state)
{
	for (unsigned int row = 0; row < ARRAY_SIZE(patterns); row++)
		expect_cell("v6.18", "ext4", &patterns[row], &table[row][C17]);
}

/* Proves the two first lines the table quotes as text, so that a CRC is not all there is. */
static void test_row_a_as_text(void **state)
{
	struct cell_sink v612 = play("v6.12", "xfs", &patterns[0]);
	struct cell_sink v618 = play("v6.18", "xfs", &patterns[0]);
	const char *want612 = "0:2 4:2 8:2 12:2 16:3 24:2 28:2 32:4 48:3 56:2 60:2 ";
	const char *want618 = "0:0 1:0 2:0 3:0 4:2 8:2 12:2 16:3 24:3 32:4 48:4 64:5 96:5 ";

	v612.start[strlen(want612)] = 0;
	v618.start[strlen(want618)] = 0;
	assert_string_equal(v612.start, want612);
	assert_string_equal(v618.start, want618);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_cells),
		cmocka_unit_test(test_ext4_same),
		cmocka_unit_test(test_row_a_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
