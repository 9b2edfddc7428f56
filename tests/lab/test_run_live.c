/*
 * lab/test_run_live.c - a run watched while it happens.
 *
 * Proves that it never goes further than somebody wants to see, in the middle of an operation
 * too, that what it tells is what the same run tells a plain tape, and that it can be left at any
 * moment.
 */
#include "unit.h"

#include <string.h>

#include "lab/run_live.h"
#include "lab/run_record.h"

#define OPS "read 4k 60; pread 8m 300k; pwrite 2m 40k; fsync; reopen; read 64k 20"

static void parse(struct workload *w, const char *ops)
{
	struct fl_error err = {0};

	assert_int_equal(workload_parse(w, "-e", ops, strlen(ops), &err), 0);
}

static void record(const struct run_config *config, const struct workload *w, struct tape *tape)
{
	struct fl_error err = {0};
	struct run *run;

	assert_int_equal(run_open(config, &run, &err), 0);
	assert_int_equal(tape_init(tape, 1 << 20), 0);
	trace_add_sink(&run->machine->trace, &tape->sink);
	assert_int_equal(run_workload(run, w, &err), 0);
	trace_remove_sink(&run->machine->trace, &tape->sink);
	run_close(run);
}

static void assert_same_events(const struct tape *a, const struct tape *b, u64 nr)
{
	struct trace_event x, y;

	for (u64 i = 0; i < nr; i++) {
		tape_get(a, i, &x);
		tape_get(b, i, &y);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static void test_in_step(void **state)
{
	struct fl_error err = {0};
	struct run_config config;
	struct live_run *lr;
	struct workload w;
	struct tape plain;
	u64 want = 0;

	run_config_init(&config);
	parse(&w, OPS);
	record(&config, &w, &plain);
	assert_int_equal(live_run_start(&config, &w, 1 << 20, &lr, &err), 0);
	while (live_run_pull(lr, want, 1000)) {
		assert_true(live_run_tape(lr)->events <= want);
		assert_same_events(live_run_tape(lr), &plain, live_run_tape(lr)->events);
		want += 37;
	}
	assert_int_equal(live_run_tape(lr)->events, plain.events);
	assert_int_equal(live_run_tape(lr)->slots, plain.slots);
	assert_int_equal(live_run_ops(lr), 60 + 1 + 1 + 1 + 1 + 20);
	assert_null(live_run_note(lr));
	assert_int_equal(live_run_end(lr, &err), 0);
	tape_fini(&plain);
	workload_fini(&w);
}

/* The middle of one operation is a place to stop, and to leave. */
static void test_leaving(void **state)
{
	struct fl_error err = {0};
	struct run_config config;
	struct live_run *lr;
	struct workload w;

	run_config_init(&config);
	config.size = 1ll << 40;
	parse(&w, "read 4k 200000000");
	for (u64 want = 0; want < 300; want += 23) {
		assert_int_equal(live_run_start(&config, &w, 1 << 20, &lr, &err), 0);
		assert_true(live_run_pull(lr, want, 1000));
		assert_int_equal(live_run_tape(lr)->events, want);
		assert_int_equal(live_run_end(lr, &err), 0);
	}
	workload_fini(&w);
}

static void test_a_full_tape_ends_it(void **state)
{
	struct fl_error err = {0};
	struct run_config config;
	struct live_run *lr;
	struct workload w;

	run_config_init(&config);
	config.size = 1ll << 40;
	parse(&w, "read 4k 200000000");
	assert_int_equal(live_run_start(&config, &w, 1000, &lr, &err), 0);
	while (live_run_pull(lr, 2000, 1000))
		;
	assert_int_equal(live_run_tape(lr)->events, 1000);
	assert_non_null(strstr(live_run_note(lr), "more than 1000 events"));
	assert_int_equal(live_run_end(lr, &err), 0);
	workload_fini(&w);
}

static void test_a_bad_machine_is_no_run(void **state)
{
	struct fl_error err = {0};
	struct run_config config;
	struct live_run *lr;
	struct workload w;

	run_config_init(&config);
	config.machine.kernel = "v0.1";
	parse(&w, "read 4k");
	assert_true(live_run_start(&config, &w, 1000, &lr, &err) < 0);
	assert_non_null(strstr(err.text, "v0.1"));
	workload_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_step),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_a_full_tape_ends_it),
		cmocka_unit_test(test_a_bad_machine_is_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
