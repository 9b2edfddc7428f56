/*
 * view/test_perfetto.c - what the Perfetto viewer is given, read back as JSON.
 *
 * Proves that the file is JSON of the trace event format; that every read, write and touch is a
 * slice of its CPU's track that ends when it returned; that every readahead window, and every
 * request that is completed, is a pair of begin and end in the right order; that counters are the
 * scene's; and that every track an event is on has a name.
 */
#include "unit.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "schema/json_schema.h"
#include "view/perfetto.h"
#include "view/views.h"

#define PAIRS 4096

static cJSON *file, *events;

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsNumber(item))
		fail_msg("no number '%s' in %s", key, cJSON_PrintUnformatted(object));
	return item->valuedouble;
}

/* Microseconds with three places: nanoseconds. */
static u64 ns_of(const cJSON *object, const char *key)
{
	return (u64)(number_of(object, key) * 1000 + 0.5);
}

static bool is_phase(const cJSON *event, char ph)
{
	return text_of(event, "ph")[0] == ph;
}

static void test_calls_are_slices(void **state)
{
	const struct tape *tape = views_tape(0);
	cJSON *e = events->child;

	for (u64 i = 0; i < tape->events; i++) {
		struct trace_event ev;

		tape_get(tape, i, &ev);
		if (ev.id != EV_fl_read && ev.id != EV_fl_write && ev.id != EV_fl_touch)
			continue;
		while (e && !is_phase(e, 'X'))
			e = e->next;
		assert_non_null(e);
		assert_int_equal(ns_of(e, "ts") + ns_of(e, "dur"), ev.ns);
		assert_int_equal(ns_of(e, "dur"), ev.c);
		assert_int_equal(number_of(e, "tid"), ev.cpu);
		assert_string_equal(text_of(e, "name"), ev.id == EV_fl_read    ? "read"
							: ev.id == EV_fl_write ? "write"
									       : "touch");
		e = e->next;
	}
	while (e && !is_phase(e, 'X'))
		e = e->next;
	assert_null(e);
}

struct pair {
	char id[24];
	double begin;
	bool ended;
};

/* How many of a category begin; *@ended of them end, each after it began. */
static size_t count_pairs(const char *category, size_t *ended)
{
	static struct pair pairs[PAIRS];
	size_t nr = 0;
	const cJSON *e;

	*ended = 0;
	cJSON_ArrayForEach(e, events)
	{
		const cJSON *id = cJSON_GetObjectItemCaseSensitive(e, "id");
		char name[24];
		size_t i = nr;

		if (strcmp(text_of(e, "cat"), category) || (!is_phase(e, 'b') && !is_phase(e, 'e')))
			continue;
		snprintf(name, sizeof(name), "%s%.0f", cJSON_IsString(id) ? id->valuestring : "",
			 cJSON_IsNumber(id) ? id->valuedouble : 0);
		while (i && (strcmp(pairs[i - 1].id, name) || pairs[i - 1].ended))
			i--;
		if (is_phase(e, 'b')) {
			assert_int_equal(i, 0); /* none of that name is open */
			assert_true(nr < PAIRS);
			pairs[nr].begin = number_of(e, "ts");
			pairs[nr].ended = false;
			strcpy(pairs[nr++].id, name);
		} else {
			assert_true(i > 0);
			assert_true(number_of(e, "ts") >= pairs[i - 1].begin);
			pairs[i - 1].ended = true;
			(*ended)++;
		}
	}
	return nr;
}

static size_t on_tape(unsigned int id)
{
	struct trace_event ev;
	size_t n = 0;

	for (u64 i = 0; i < views_tape(0)->events; i++) {
		tape_get(views_tape(0), i, &ev);
		n += ev.id == id;
	}
	return n;
}

static void test_windows_begin_and_end(void **state)
{
	size_t ended;

	assert_true(on_tape(EV_fl_window) > 3);
	assert_int_equal(count_pairs("readahead", &ended), on_tape(EV_fl_window));
	assert_int_equal(ended, on_tape(EV_fl_window));
}

static void read_back(const struct tape *tape, const struct recording_info *info)
{
	FILE *f = fopen("t.json", "w");

	assert_non_null(f);
	assert_int_equal(perfetto_write(tape, info, f), 0);
	assert_int_equal(fclose(f), 0);
	cJSON_Delete(file);
	file = json_schema_load("t.json");
	events = cJSON_GetObjectItemCaseSensitive(file, "traceEvents");
	assert_true(cJSON_IsArray(events));
}

/* Three requests, two of which end, out of order; the third is under way when the recording ends.
 */
static void test_requests_begin_and_end(void **state)
{
	static const struct trace_event list[] = {
		{.ns = 1000, .id = EV_block_rq_issue, .index = 8, .a = 8},
		{.ns = 2000, .id = EV_block_rq_issue, .index = 64, .a = 8},
		{.ns = 3000, .id = EV_block_rq_complete, .index = 64, .a = 8},
		{.ns = 4000, .id = EV_block_rq_complete, .index = 8, .a = 8},
		{.ns = 5000, .id = EV_block_rq_issue, .index = 8, .a = 8},
	};
	struct tape tape;
	size_t ended;

	assert_int_equal(tape_init(&tape, 10), 0);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		tape_add(&tape, &list[i]);
	read_back(&tape, views_info(0));
	assert_int_equal(count_pairs("block", &ended), 3);
	assert_int_equal(ended, 2);
	tape_fini(&tape);
	read_back(views_tape(0), views_info(0));
}

/* The miniature tells when a request is issued only. */
static void test_requests_that_never_end_are_moments(void **state)
{
	size_t moments = 0, ended;
	const cJSON *e;

	assert_int_equal(on_tape(EV_block_rq_complete), 0);
	assert_int_equal(count_pairs("block", &ended), 0);
	cJSON_ArrayForEach(e, events)
	{
		moments += is_phase(e, 'i') && !strcmp(text_of(e, "cat"), "block") &&
			   number_of(e, "pid") == 3;
	}
	assert_true(moments > 3);
	assert_int_equal(moments, on_tape(EV_block_rq_issue));
}

/* The last value of a counter up to the moment @ns. */
static double counter_at(const char *name, u64 ns)
{
	double value = -1;
	const cJSON *e;

	cJSON_ArrayForEach(e, events)
	{
		if (is_phase(e, 'C') && !strcmp(text_of(e, "name"), name) && ns_of(e, "ts") <= ns)
			value = number_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "pages");
	}
	return value;
}

static void test_counters_are_the_scenes(void **state)
{
	struct trace_event ev;
	struct scene s;
	u64 ns = 0;
	int checked = 0;

	assert_int_equal(scene_init(&s, views_tape(0), views_info(0)), 0);
	while (scene_forward(&s) && scene_event(&s, &ev)) {
		if (ev.id != EV_fl_read || ev.ns < ns + 50000)
			continue;
		ns = ev.ns;
		assert_int_equal(counter_at("pages cached", ns), s.sums.pages);
		assert_int_equal(counter_at("pages dirty", ns), s.sums.dirty);
		assert_int_equal(counter_at("pages not used yet", ns), s.sums.pages - s.sums.used);
		assert_int_equal(counter_at("pages free", ns), scene_free_pages(&s));
		checked++;
	}
	assert_true(checked > 5);
	scene_fini(&s);
}

static bool is_named(int pid, double tid, const char *what)
{
	const cJSON *e;

	cJSON_ArrayForEach(e, events)
	{
		if (is_phase(e, 'M') && number_of(e, "pid") == pid &&
		    (!tid || number_of(e, "tid") == tid) && !strcmp(text_of(e, "name"), what))
			return *text_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "name");
	}
	return false;
}

static void test_tracks_have_names(void **state)
{
	const cJSON *e;

	cJSON_ArrayForEach(e, events)
	{
		int pid = number_of(e, "pid");

		assert_true(is_named(pid, 0, "process_name"));
		if (is_phase(e, 'X') || is_phase(e, 'i') || is_phase(e, 'b'))
			assert_true(is_named(pid, number_of(e, "tid"), "thread_name"));
	}
}

static void test_other_events_are_instants(void **state)
{
	size_t adds = 0;
	const cJSON *e;

	cJSON_ArrayForEach(e, events)
	{
		adds += is_phase(e, 'i') &&
			!strcmp(text_of(e, "name"), "mm_filemap_add_to_page_cache");
	}
	assert_int_equal(adds, on_tape(EV_mm_filemap_add_to_page_cache));
	assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(file, "otherData"), "kernel"),
			    views_info(0)->kernel);
}

static int setup(void **state)
{
	views_record(0, "v6.12", "nvme", "read 4k 400; pread 4m 64k; pwrite 1m 100k; fsync");
	read_back(views_tape(0), views_info(0));
	return 0;
}

static int teardown(void **state)
{
	cJSON_Delete(file);
	views_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_are_slices),
		cmocka_unit_test(test_windows_begin_and_end),
		cmocka_unit_test(test_requests_begin_and_end),
		cmocka_unit_test(test_requests_that_never_end_are_moments),
		cmocka_unit_test(test_counters_are_the_scenes),
		cmocka_unit_test(test_tracks_have_names),
		cmocka_unit_test(test_other_events_are_instants),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
