#include <errno.h>

#include "fuzz/fuzz.h"
#include "lab/run.h"

#define OPS_MAX	  64
#define CALLS_MAX 64
#define SPAN_MAX  (4ll << 20) /* bytes one operation may reach over */

/* What is written parses back to the same operation. */
static void check_text(const struct wl_op *op)
{
	struct wl_op again = {.line = op->line};
	struct fl_error err = {0};
	char text[200];
	int n = workload_format_op(op, text, sizeof(text));

	fuzz_require(n > 0 && n < (int)sizeof(text));
	fuzz_require(workload_parse_op(&again, "again", text, n, &err) == 1);
	fuzz_require(again.type == op->type && again.advice == op->advice);
	fuzz_require(again.off == op->off && again.len == op->len && again.n == op->n);
	fuzz_require(again.step == op->step || op->n == 1);
}

/* Long ones are correct, too, but a fuzzer has better things to do. */
static bool is_short(const struct wl_op *op)
{
	return workload_op_count(op) <= CALLS_MAX && op->len <= SPAN_MAX &&
	       op->len * (s64)workload_op_count(op) <= SPAN_MAX;
}

static void play(const struct workload *w, const char *fs)
{
	struct run_config config;
	struct fl_error err = {0};
	struct run *run;
	int ret;

	run_config_init(&config);
	config.fs = fs;
	config.size = 1 << 20;
	config.machine.memory = 64ull << 20;
	config.machine.data = true;
	ret = run_open(&config, &run, &err);
	fuzz_require_error(ret, &err);
	if (ret)
		return;
	for (size_t i = 0; i < w->nr && i < OPS_MAX && !ret; i++)
		if (is_short(&w->ops[i]) && !run_unsupported(run, w->ops[i].type))
			ret = run_op(run, &w->ops[i], &err);
	/* A broken invariant is -EINVAL. */
	fuzz_require(ret != -EINVAL);
	fuzz_require_error(ret, &err);
	run_close(run);
}

void fuzz_workload(const u8 *data, size_t size)
{
	static const char *const file_systems[] = {"xfs", "ext4", "tmpfs-always"};
	struct fl_error err = {0};
	struct workload w;
	int ret = workload_parse(&w, "fuzz.wl", (const char *)data, size, &err);

	fuzz_require_error(ret, &err);
	if (ret)
		return;
	for (size_t i = 0; i < w.nr; i++)
		check_text(&w.ops[i]);
	if (w.nr)
		play(&w, file_systems[size % ARRAY_SIZE(file_systems)]);
	workload_fini(&w);
}
