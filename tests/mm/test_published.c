/*
 * mm/test_published.c - the measurement everybody can look up, exactly.
 *
 * Proves that 4 KiB reads of a sparse 12 GiB file on xfs with a window of 32 pages make as many
 * folio allocation calls of each order as were published with f0b7a0d1d466 and ab4443fe3ca6, as
 * were counted on a real 6.18, and as section 8.1 derives for the profiles between.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "mm/scene.h"

#define FILE_BYTES (12LL << 30)

struct counts {
	u64 order[TRACE_ORDERS];
};

#define V67                                                                                        \
	{                                                                                          \
		{                                                                                  \
			[0] = 36, [2] = 20, [3] = 2, [4] = 4, [5] = 98300                          \
		}                                                                                  \
	}
#define AB                                                                                         \
	{                                                                                          \
		{                                                                                  \
			[2] = 196615, [3] = 98303, [4] = 98303                                     \
		}                                                                                  \
	}
#define V612                                                                                       \
	{                                                                                          \
		{                                                                                  \
			[2] = 196612, [3] = 98304, [4] = 98303                                     \
		}                                                                                  \
	}
#define V617                                                                                       \
	{                                                                                          \
		{                                                                                  \
			[0] = 4, [2] = 3, [3] = 2, [4] = 2, [5] = 98302                            \
		}                                                                                  \
	}

/* The published pair and the counted one first, then what 8.1 says has the same figures. */
static const struct {
	const char *kernel;
	struct counts calls;
} published[] = {
	{"v6.7", V67},	   {"ab4443fe3ca6", AB}, {"v6.18", V617},   {"v6.12", V612},
	{"v6.1", V67},	   {"v6.1.y", AB},	 {"v6.12.y", V612}, {"v6.16", V612},
	{"v6.16.y", V612}, {"v6.17", V617},	 {"v6.17.y", V617}, {"v7.3", V617},
};

static void expect_calls(const struct machine *m, const struct counts *want)
{
	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		if (m->trace.count[EV_fl_folio_alloc][o] != want->order[o])
			fail_msg("%s: %" PRIu64 " calls of order %u, expected %" PRIu64, m->kernel,
				 m->trace.count[EV_fl_folio_alloc][o], o, want->order[o]);
}

static void play(const char *kernel, const struct counts *want)
{
	struct run_config config = scene_config(kernel);
	struct run *run;

	config.size = FILE_BYTES;
	config.machine.memory = 64ULL << 30;
	run = scene_open(&config);
	scene_play(run, "read 4096 3145728");
	assert_int_equal(run->reads, 3145728);
	assert_int_equal(run->bytes, FILE_BYTES);
	expect_calls(run->machine, want);
	run_close(run);
}

/* Proves the published figures, and that every other profile has those of its group. */
static void test_allocation_calls(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(published); i++)
		play(published[i].kernel, &published[i].calls);
}

/*
 * Proves the first steps of the two derivations in 8.1, window by window: where the order-0 calls
 * of v6.7 come from and why ab4443fe3ca6 never leaves 2,4,3,2.
 */
static void test_first_windows(void **state)
{
	struct run_config v67 = scene_config("v6.7"), ab = scene_config("ab4443fe3ca6");

	scene_expect(&v67, "read 4096 200",
		     "S(0,1) W[0+4/3] 2 / S(4,1) W[4+24/16] 2*6 / A(12,1) W[28+32/32] 2,4,3,2 / "
		     "A(28,1) W[60+32/32] 2,4,3,2 / "
		     "A(32,1) W[64+32/32] EEXIST U[64+32 look 32]:92..95 / "
		     "A(60,1) W[92+32/32] EEXIST U[92+32 look 32]:96..123 / "
		     "A(64,1) W[96+32/32] EEXIST U[96+32 look 32]:124..127 / "
		     "S(128,1) W[128+32/16] 2*8 / A(144,1) W[160+32/32] 4,4 / "
		     "A(160,1) W[192+32/32] 5 / A(192,1) W[224+32/32] 5");
	scene_expect(&ab, "read 4096 100",
		     "S(0,1) W[0+4/3] 2 / A(0,1) W[0+4/3] EEXIST U[0+4 look 3]: nothing / "
		     "S(4,1) W[4+24/16] 2*6 / A(12,1) W[28+32/32] 2,4,3,2 / "
		     "A(28,1) W[60+32/32] 2,4,3,2 / A(60,1) W[92+32/32] 2,4,3,2 / "
		     "A(92,1) W[124+32/32] 2,4,3,2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_windows),
		cmocka_unit_test(test_allocation_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
