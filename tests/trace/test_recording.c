/*
 * trace/test_recording.c - recordings as files.
 *
 * Proves that what was written comes back event by event, packed or not and in ranges; that a
 * file cut at any byte or with any bit turned opens up to a whole block, says what is wrong and
 * never invents an event; and that other versions and other files are refused.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/prng.h"
#include "trace/recording.h"

static u64 clock_ps;

static void event_number(u64 i, struct trace_event *ev)
{
	*ev = (struct trace_event){.ns = i * 3,
				   .id = i % 3 ? EV_fl_mark_hit : EV_fl_window,
				   .order = i % 10,
				   .cpu = i % 4,
				   .ino = 99,
				   .index = i * i,
				   .a = i,
				   .b = ~i};
	if (ev->id == EV_fl_window) {
		ev->order = 0;
		ev->c = i << 40;
		ev->d = 7;
		ev->e = 3;
		ev->f = 1;
	}
}

static void write_file(const char *path, u64 events, bool pack)
{
	struct recording_info info = {.kernel = "v6.18",
				      .fs = "xfs",
				      .disk = "hole",
				      .page_size = 4096,
				      .memory = 1 << 30,
				      .seed = 5,
				      .free = {1, 2, 3},
				      .workload = "read 4k 10\nfsync\n"};
	FILE *f = fopen(path, "w");
	struct recorder *r;
	struct fl_error err = {0};
	struct trace_event ev;

	assert_non_null(f);
	assert_int_equal(recording_start(f, &info, pack, &r, &err), 0);
	for (u64 i = 0; i < events; i++) {
		event_number(i, &ev);
		recording_sink(r)->event(recording_sink(r), &ev);
	}
	assert_int_equal(recording_finish(r, &err), 0);
	assert_int_equal(fclose(f), 0);
}

static size_t read_bytes(const char *path, u8 *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n = fread(buf, 1, size, f);

	fclose(f);
	return n;
}

static void write_bytes(const char *path, const u8 *buf, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_int_equal(fwrite(buf, 1, n, f), n);
	fclose(f);
}

/* Load it; every event must be the one that was written under its number. */
static int load(const char *path, u64 from, u64 to, struct recording_result *result)
{
	const struct recording_range range = {.from = from, .to = to};
	struct recording_info info;
	struct fl_error err = {0};
	struct tape tape;
	int ret = recording_load(path, &range, &info, &tape, result, &err);

	if (ret) {
		assert_true(err.text[0]);
		return ret;
	}
	for (u64 i = 0; i < tape.events; i++) {
		struct trace_event got, want;

		tape_get(&tape, i, &got);
		event_number(from + i, &want);
		assert_memory_equal(&got, &want, sizeof(got));
	}
	assert_true(result->complete != !!result->damage[0]);
	assert_string_equal(info.kernel, "v6.18");
	assert_string_equal(info.workload, "read 4k 10\nfsync\n");
	assert_int_equal(info.free[2], 3);
	tape_fini(&tape);
	recording_info_fini(&info);
	return 0;
}

static void test_round_trip(void **state)
{
	const u64 sizes[] = {0, 1, 2, 3000, 3072, 3073, 50000};
	struct recording_result result;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int pack = 0; pack < 2; pack++) {
			write_file("f", sizes[i], pack);
			assert_int_equal(load("f", 0, ~0ull, &result), 0);
			assert_int_equal(result.events, sizes[i]);
			assert_true(result.complete);
			assert_int_equal(load("f", sizes[i] / 2, sizes[i] / 2 + 10, &result), 0);
		}
	assert_int_equal(load("f", 9, 8, &result), -EINVAL);
}

static void test_same_run_same_bytes(void **state)
{
	static u8 a[1 << 20], b[1 << 20];
	size_t n;

	for (int pack = 0; pack < 2; pack++) {
		write_file("a", 9000, pack);
		write_file("b", 9000, pack);
		n = read_bytes("a", a, sizeof(a));
		assert_int_equal(read_bytes("b", b, sizeof(b)), n);
		assert_memory_equal(a, b, n);
	}
}

static void test_cut_at_every_byte(void **state)
{
	static u8 whole[1 << 16];
	struct recording_result result;
	u64 last = 0;
	size_t n;

	write_file("f", 40, false);
	n = read_bytes("f", whole, sizeof(whole));
	for (size_t cut = 0; cut < n; cut++) {
		write_bytes("cut", whole, cut);
		if (load("cut", 0, ~0ull, &result))
			continue;
		assert_false(result.complete);
		assert_true(result.events >= last);
		assert_true(result.events == 0 || result.events == 40);
		last = result.events;
	}
	assert_int_equal(last, 40);
}

static void test_every_bit_turned(void **state)
{
	static u8 whole[1 << 16];
	struct recording_result result;
	size_t n;

	write_file("f", 12, true);
	n = read_bytes("f", whole, sizeof(whole));
	for (size_t at = 0; at < n; at++) {
		u8 bit = 1u << (at % 8);

		whole[at] ^= bit;
		write_bytes("bad", whole, n);
		if (!load("bad", 0, ~0ull, &result))
			assert_false(result.complete);
		whole[at] ^= bit;
	}
}

static void test_not_ours(void **state)
{
	static u8 whole[1 << 16];
	struct recording_result result;
	size_t n;

	assert_int_equal(load("nowhere", 0, ~0ull, &result), -ENOENT);
	write_bytes("x", (const u8 *)"hello", 5);
	assert_int_equal(load("x", 0, ~0ull, &result), -EINVAL);
	write_file("f", 3, false);
	n = read_bytes("f", whole, sizeof(whole));
	whole[8] = 2;
	write_bytes("newer", whole, n);
	assert_int_equal(load("newer", 0, ~0ull, &result), -EINVAL);
}

static void count_event(struct trace_sink *sink, const struct trace_event *ev)
{
	(*(u64 **)(sink + 1))[0]++;
}

static void test_events_before_the_range(void **state)
{
	u64 before = 0;
	struct {
		struct trace_sink sink;
		u64 *nr;
	} counter = {{.event = count_event}, &before};
	const struct recording_range range = {.from = 1000, .to = 1004, .before = &counter.sink};
	struct recording_result result;
	struct recording_info info;
	struct tape tape;

	write_file("f", 5000, false);
	assert_int_equal(recording_load("f", &range, &info, &tape, &result, NULL), 0);
	assert_int_equal(before, 1000);
	assert_int_equal(tape.events, 5);
	tape_fini(&tape);
	recording_info_fini(&info);
}

static void test_tape_is_full(void **state)
{
	struct trace trace;
	struct tape tape;

	trace_init(&trace, &clock_ps);
	assert_int_equal(tape_init(&tape, 0), -EINVAL);
	assert_int_equal(tape_init(&tape, 100), 0);
	trace_add_sink(&trace, &tape.sink);
	for (u64 i = 0; i < 150; i++) {
		struct trace_event ev;

		event_number(i, &ev);
		trace_event2(&trace, &ev);
	}
	assert_int_equal(tape.events, 100);
	assert_int_equal(tape.refused, 50);
	tape_fini(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_same_run_same_bytes),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_bit_turned),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_events_before_the_range),
		cmocka_unit_test(test_tape_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
