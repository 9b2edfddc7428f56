/*
 * A lab in its child, seen from the parent: the same events, texts and answers as in the same
 * process; limits end the child and not the session; what a hostile child could say is refused.
 */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/lab_remote_internal.h"

static const char lab_lua[] =
	"lab { title = 'T', summary = 'S', minutes = 1, steps = {\n"
	"  step { id = 'one', title = 'One',\n"
	"    prepare = function(s)\n"
	"      s.n = s.rng:int(20, 90)\n"
	"      s.m = fl.machine { kernel = 'v6.12', size = '4m' }\n"
	"      s.m:queue(('read 4k %d'):format(s.n))\n"
	"    end,\n"
	"    brief = 'n is {{n}}',\n"
	"    run = function(s) s.m:finish() print('read ' .. s.n)\n"
	"      figure('bars', plot.bars { values = { a = 1 } }) end,\n"
	"    questions = {\n"
	"      ask.number { id = 'cached', text = 'How many?',\n"
	"        answer = function(s) return s.m:twin():cached() end },\n"
	"      ask.choice { id = 'which', text = 'Which?', options = { 'x', 'y', 'z' },\n"
	"        answer = function() return 2 end, hints = { 'a', { text = 'b', cost = 0.5 } } },\n"
	"      ask.func { id = 'twice', text = 'Twice', cases = function() return { { 1 }, { 4 } } "
	"end,\n"
	"        answer = function(s, x) return 2 * x end },\n"
	"    },\n"
	"    reveal = 'cached {{m:cached()}}' },\n"
	"  step { id = 'two', title = 'Two', brief = 'B', questions = {\n"
	"      ask.number { id = 'q2', text = 'N', answer = function() return 7 end } } },\n"
	"} }\n";

static char dir[64];
static char printed[4096], figures[4096];

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void print(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	strncat(printed, text, min(len, sizeof(printed) - strlen(printed) - 1));
}

static void figure(void *ctx, const char *name, const char *svg)
{
	(void)ctx;
	snprintf(figures, sizeof(figures), "%s %.4s", name, svg);
}

static struct lab_remote *open_with(struct lab_remote_config config)
{
	static const struct lab_ask ask = {.type = LAB_ASK_LAB};
	struct fl_error err = {0};
	struct lab_reply reply;
	struct lab_remote *r;

	*printed = *figures = 0;
	config.dir = config.script ? NULL : dir;
	config.student = "ada";
	config.print = print;
	config.figure = figure;
	assert_int_equal(lab_remote_open(&config, &r, &err), 0);
	if (!config.script)
		assert_int_equal(lab_remote_do(r, &ask, &reply, &err), 0);
	return r;
}

static struct lab_reply ask_about(struct lab_remote *r, struct lab_ask ask)
{
	struct fl_error err = {0};
	struct lab_reply reply = {0};

	reply.error = lab_remote_do(r, &ask, &reply, &err);
	return reply;
}

static void start(struct lab_remote *r, unsigned int step, bool run)
{
	assert_int_equal(ask_about(r, (struct lab_ask){.type = LAB_ASK_START, .step = step}).error,
			 0);
	if (run)
		assert_int_equal(
			ask_about(r, (struct lab_ask){.type = LAB_ASK_RUN, .step = step}).error, 0);
}

static void answers(struct lab_remote *r, const char *text, int error)
{
	struct lab_reply reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_ANSWERS,
							       .name = "answers.lua",
							       .bytes = text,
							       .len = strlen(text)});

	assert_int_equal(reply.error, error);
}

static struct lab_reply judge_given(struct lab_remote *r, unsigned int question)
{
	return ask_about(r, (struct lab_ask){.type = LAB_ASK_JUDGE, .question = question});
}

/* ---- the same as in the same process ---- */

static void taped(void *ctx, struct run *run, bool twin)
{
	struct tape *tape = ctx;

	(void)twin;
	trace_add_sink(&run->machine->trace, &tape->sink);
}

static void test_events(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){.events = 100000});
	const struct lab_remote_machine *m;
	struct fl_error err = {0};
	struct lab_played played = {0};
	struct tape tape;
	struct lab *lab;

	(void)state;
	start(r, 0, true);
	assert_int_equal(lab_remote_machines(r), 1);
	m = lab_remote_machine(r, 0);
	assert_string_equal(m->info.kernel, "v6.12");
	assert_int_equal(m->info.size, 4 << 20);
	assert_int_equal(m->info.page_size, 4096);
	assert_false(m->twin || m->ended || m->capped);

	assert_int_equal(tape_init(&tape, 100000), 0);
	assert_int_equal(lab_open(dir, "ada", &lab, &err), 0);
	lab->ll->booted = taped;
	lab->ll->played = &played;
	lab->ll->machine_ctx = &tape;
	assert_int_equal(lab_start(lab, &lab->steps[0], &err), 0);
	assert_int_equal(lab_run(lab, &lab->steps[0], NULL, &err), 0);
	assert_true(tape.events > 100);
	assert_int_equal(m->tape.events, tape.events);
	assert_int_equal(m->tape.slots, tape.slots);
	assert_memory_equal(m->tape.records, tape.records, tape.slots * sizeof(tape.records[0]));
	assert_int_equal(played.events, tape.events);
	assert_int_equal(played.last, tape_record(&tape, tape.events - 1)->id);
	lab_close(lab);
	tape_fini(&tape);

	/* What an answer makes is no business of the view; another step forgets the machines. */
	assert_int_equal(ask_about(r, (struct lab_ask){.type = LAB_ASK_ANSWER}).error, 0);
	assert_int_equal(lab_remote_machines(r), 1);
	start(r, 1, false);
	assert_int_equal(lab_remote_machines(r), 0);
	lab_remote_close(r);
}

static void test_capped(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){.events = 50});

	(void)state;
	start(r, 0, true);
	assert_int_equal(lab_remote_machine(r, 0)->tape.events, 50);
	assert_true(lab_remote_machine(r, 0)->capped);
	lab_remote_close(r);
}

static void test_asks(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){0});
	const struct lab *lab = lab_remote_lab(r);
	struct lab_value v = {.type = LAB_VALUE_NUMBERS, .nr = 1};
	struct lab_reply reply;
	char text[40];

	(void)state;
	assert_int_equal(lab->nr_steps, 2);
	assert_string_equal(lab->steps[0].questions[2].id, "twice");
	assert_float_equal(lab->steps[0].questions[1].hint_cost[0], 1, 0);
	assert_float_equal(lab->steps[0].questions[1].hint_cost[1], 0.5, 0);
	start(r, 0, true);
	assert_int_equal(strncmp(printed, "read ", 5), 0);
	assert_string_equal(figures, "bars <svg");
	snprintf(text, sizeof(text), "n is %d", atoi(printed + 5));
	reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_TEXT, .text = LAB_BRIEF});
	assert_string_equal(reply.text, text);
	reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_TEXT,
					      .question = 1,
					      .of_question = true,
					      .text = LAB_HINT,
					      .nr = 1});
	assert_string_equal(reply.text, "b");
	reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_OPTIONS, .question = 1});
	assert_int_equal(reply.options.nr, 3);
	reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_ANSWER, .question = 1});
	assert_float_equal(reply.value.numbers[0], 2, 0);
	v.numbers[0] = 2;
	assert_true(
		ask_about(r, (struct lab_ask){.type = LAB_ASK_JUDGE, .question = 1, .value = &v})
			.verdict.right);
	v.numbers[0] = 1;
	assert_false(
		ask_about(r, (struct lab_ask){.type = LAB_ASK_JUDGE, .question = 1, .value = &v})
			.verdict.right);
	assert_int_equal(ask_about(r, (struct lab_ask){.type = LAB_ASK_START, .step = 9}).error,
			 -EINVAL);
	assert_int_equal(ask_about(r, (struct lab_ask){.type = LAB_ASK_SCRIPT + 1}).error, -EINVAL);
	start(r, 1, false);
	lab_remote_close(r);
}

static void test_answers(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){0});
	struct lab_reply reply;

	(void)state;
	start(r, 0, true);
	reply = judge_given(r, 2);
	assert_false(reply.given || reply.verdict.right);
	answers(r, "return { twice = function(x) return x + x end, which = 'nine' }", 0);
	assert_true(judge_given(r, 2).verdict.right);
	assert_true(judge_given(r, 1).unfit);
	answers(r, "return { twice = function(x) return x + 1 end }", 0);
	assert_string_equal(judge_given(r, 2).verdict.why,
			    "called with (4) it returns 5, expected 8");
	answers(r, "return {", -EINVAL);
	lab_remote_close(r);
}

/* ---- limits ---- */

static void test_limits(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){.events = 1000});
	struct lab_reply reply;

	(void)state;
	start(r, 0, true);
	answers(r, "return { twice = function() while true do end end }", 0);
	reply = judge_given(r, 2);
	assert_int_equal(reply.limit, LAB_INSTRUCTIONS);
	assert_false(reply.verdict.right);
	/* The session goes on where it was, machines and answers included. */
	assert_int_equal(judge_given(r, 2).limit, LAB_INSTRUCTIONS);
	assert_int_equal(lab_remote_machines(r), 1);
	assert_true(lab_remote_machine(r, 0)->tape.events > 100);
	answers(r, "return { twice = function(x) return x + x end }", 0);
	assert_true(judge_given(r, 2).verdict.right);
	assert_int_equal(
		ask_about(r, (struct lab_ask){.type = LAB_ASK_TEXT, .text = LAB_REVEAL}).error, 0);
	/* An answers.lua that never ends is not loaded again. */
	answers(r, "while true do end", -EINVAL);
	assert_false(judge_given(r, 2).given);
	lab_remote_close(r);
}

static void test_cancel_and_time(void **state)
{
	static const struct lab_ask ask = {.type = LAB_ASK_RUN};
	struct lab_remote *r;
	struct fl_error err = {0};
	struct lab_reply reply;

	(void)state;
	write_file("lab.lua",
		   "lab { title = 'T', summary = 'S', minutes = 1, steps = { step {\n"
		   "id = 'a', title = 'A', brief = 'B', run = function()\n"
		   "for i = 1, 400000000 do end end, questions = { ask.number { id = 'q',\n"
		   "text = 'N', answer = function() return 1 end } } } } }\n");
	r = open_with((struct lab_remote_config){0});
	start(r, 0, false);
	assert_int_equal(lab_remote_send(r, &ask, &err), 0);
	assert_true(lab_remote_busy(r));
	assert_int_equal(lab_remote_send(r, &ask, &err), -EBUSY);
	lab_remote_cancel(r);
	while (!lab_remote_poll(r, &reply)) {
		struct pollfd pfd = {lab_remote_fd(r), lab_remote_poll_events(r), 0};

		poll(&pfd, 1, 100);
	}
	assert_int_equal(reply.limit, LAB_CANCELLED);
	assert_true(reply.error < 0);
	assert_false(lab_remote_busy(r));
	assert_string_equal(
		ask_about(r, (struct lab_ask){.type = LAB_ASK_TEXT, .text = LAB_BRIEF}).text, "B");
	lab_remote_close(r);
	r = open_with((struct lab_remote_config){.cpu_seconds = 1});
	start(r, 0, false);
	reply = ask_about(r, ask);
	assert_int_equal(reply.limit, LAB_TIME);
	assert_string_equal(reply.err.text, "limit time: more than 1 s, before any event");
	lab_remote_close(r);
	write_file("lab.lua", lab_lua);
}

/* ---- files ---- */

static struct lab_reply run_script(const char *text, const struct run_config *defaults)
{
	struct lab_remote_config config = {.defaults = defaults};
	struct lab_remote *r;
	struct lab_reply reply;
	char path[128];

	write_file("s.lua", text);
	snprintf(path, sizeof(path), "%s/s.lua", dir);
	config.script = path;
	r = open_with(config);
	reply = ask_about(r, (struct lab_ask){.type = LAB_ASK_SCRIPT});
	lab_remote_close(r);
	return reply;
}

static void test_files(void **state)
{
	struct run_config defaults;
	char path[128];

	(void)state;
	write_file("data.bin", "0123456789");
	snprintf(path, sizeof(path), "%s/data.bin", dir);
	run_config_init(&defaults);
	defaults.file = path;
	assert_int_equal(run_script("m = fl.machine{} print(m.size)", &defaults).error, 0);
	assert_string_equal(printed, "10\n");
	assert_int_equal(run_script("fl.machine { file = 's.lua' }", &defaults).error, -EINVAL);
	run_config_init(&defaults);
	assert_int_equal(run_script("fl.machine { file = '/etc/passwd' }", &defaults).error,
			 -EINVAL);
}

/* A child that was taken over asks for what it likes. */
static void test_files_refused(void **state)
{
	static const char *const paths[] = {"/etc/passwd", "%s/../x", "%s/.hidden", "%s/a/b",
					    "%s",	   "%s/",     "%sx/a"};
	struct lab_remote *r = open_with((struct lab_remote_config){0});
	struct wire_opened opened;
	int pair[2], old = r->fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	r->fd = pair[0];
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct wire_open w = {0};

		if (*paths[i] == '/')
			snprintf(w.path, sizeof(w.path), "%s", paths[i]);
		else
			snprintf(w.path, sizeof(w.path), "%s%s", dir, paths[i] + 2);
		for (w.is_image = 0; w.is_image < 2; w.is_image++) {
			assert_true(remote_take_record(r, SAY_OPEN, (char *)&w, sizeof(w)));
			assert_int_equal(read(pair[1], &opened, sizeof(opened)), sizeof(opened));
			assert_int_equal(opened.error, -EACCES);
		}
	}
	r->fd = old;
	close(pair[0]);
	close(pair[1]);
	lab_remote_close(r);
}

/* ---- nonsense ---- */

static bool take_events_of(struct lab_remote *r, u32 machine, u32 slots, u16 id, u8 order)
{
	struct {
		struct wire_events head;
		struct trace_record records[2];
	} w = {{machine, slots}, {{.id = id, .order = order}, {.id = EV_CONTINUATION}}};

	return remote_take_record(r, SAY_EVENTS, (char *)&w,
				  sizeof(w.head) + slots * sizeof(w.records[0]));
}

static void test_nonsense_events(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){.events = 100});
	u32 nr = 1;

	(void)state;
	start(r, 0, false);
	assert_true(take_events_of(r, 0, 1, EV_fl_op, 0) || take_events_of(r, 0, 2, EV_fl_op, 0));
	assert_false(take_events_of(r, 1, 1, EV_mm_filemap_add_to_page_cache, 0));
	assert_false(take_events_of(r, 0, 1, EV_NR, 0));
	assert_false(take_events_of(r, 0, 1, EV_CONTINUATION, 0));
	assert_false(take_events_of(r, 0, 1, EV_mm_filemap_add_to_page_cache, TRACE_ORDERS));
	assert_false(take_events_of(r, 0, 2, EV_mm_filemap_add_to_page_cache, 0));
	assert_false(remote_take_record(r, SAY_EVENTS, "abc", 3));
	assert_false(remote_take_record(r, SAY_ENDED, (char *)&nr, sizeof(nr)));
	assert_false(remote_take_record(r, SAY_CAPPED, "a", 1));
	assert_false(remote_take_record(r, SAY_MACHINE, "abc", 3));
	lab_remote_close(r);
}

static void test_nonsense(void **state)
{
	struct lab_remote *r = open_with((struct lab_remote_config){0});
	struct wire_machine machine = {0};
	struct wire_reply reply = {.type = LAB_ASK_LAB};
	struct lab shape = *lab_remote_lab(r);

	(void)state;
	assert_false(remote_take_record(r, SAY_MACHINE, (char *)&machine, sizeof(machine)));
	assert_false(remote_take_record(r, SAY_REPLY, (char *)&reply, sizeof(reply)));
	assert_false(remote_take_record(r, SAY_FIGURE, "../x\0<svg", 10));
	assert_false(remote_take_record(r, SAY_FIGURE, "name", 4));
	assert_false(remote_take_record(r, SAY_FIGURE, "", 0));
	assert_false(remote_take_record(r, 99, "", 0));
	shape.nr_steps = 1u << 31;
	assert_false(remote_take_record(r, SAY_SHAPE, (char *)&shape, sizeof(shape)));
	r->busy = true;
	r->answered = false;
	r->asked = LAB_ASK_LAB;
	reply.nr_options = 1u << 30;
	assert_false(remote_take_record(r, SAY_REPLY, (char *)&reply, sizeof(reply)));
	r->answered = false;
	reply = (struct wire_reply){.type = LAB_ASK_LAB, .limit = 77};
	assert_false(remote_take_record(r, SAY_REPLY, (char *)&reply, sizeof(reply)));
	reply = (struct wire_reply){.type = LAB_ASK_LAB, .value.nr = 65};
	assert_false(remote_take_record(r, SAY_REPLY, (char *)&reply, sizeof(reply)));
	reply = (struct wire_reply){.type = LAB_ASK_LAB, .has_text = 1};
	assert_false(remote_take_record(r, SAY_REPLY, (char *)&reply, sizeof(reply)));
	r->busy = r->answered = false;
	lab_remote_close(r);
}

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_lab_remote.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	write_file("lab.lua", lab_lua);
	return 0;
}

static int remove_dir(void **state)
{
	static const char *const names[] = {"lab.lua", "s.lua", "data.bin"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),	 cmocka_unit_test(test_capped),
		cmocka_unit_test(test_asks),	 cmocka_unit_test(test_answers),
		cmocka_unit_test(test_limits),	 cmocka_unit_test(test_cancel_and_time),
		cmocka_unit_test(test_files),	 cmocka_unit_test(test_files_refused),
		cmocka_unit_test(test_nonsense), cmocka_unit_test(test_nonsense_events),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
