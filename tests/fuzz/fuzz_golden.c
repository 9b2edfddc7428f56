#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "lab/golden.h"

#define RUNS_MAX  8
#define OPS_MAX	  64
#define BYTES_MAX (8ll << 20)

static bool is_short(const struct golden_run *run)
{
	s64 bytes = 0;

	if (run->nr_ops > OPS_MAX || run->size > BYTES_MAX)
		return false;
	for (size_t i = 0; i < run->nr_ops; i++) {
		const struct golden_op *op = &run->ops[i];
		u64 calls = workload_op_count(&op->op);

		if (op->repeat > OPS_MAX || calls > OPS_MAX || op->op.len > BYTES_MAX)
			return false;
		bytes += op->repeat * calls * (op->op.len + 4096);
	}
	return bytes <= BYTES_MAX;
}

static void play(const struct golden_run *run, struct golden_files *files)
{
	struct golden_result result;
	struct fl_error err = {0};
	int ret = golden_play(run, files, "", true, &result, &err);

	fuzz_require_error(ret, &err);
	if (ret)
		return;
	fuzz_require(result.verdict != GOLDEN_SKIPPED || result.reason);
	golden_result_fini(&result);
}

void fuzz_golden(const u8 *data, size_t size)
{
	struct golden_files files = {0};
	struct golden_reader reader;
	struct golden_run run = {0};
	struct fl_error err = {0};
	int ret, nr = 0;

	golden_reader_init(&reader, "fuzz.txt", (const char *)data, size);
	while ((ret = golden_read(&reader, &run, &err)) > 0)
		if (nr++ < RUNS_MAX && is_short(&run))
			play(&run, &files);
	fuzz_require_error(ret, &err);
	golden_run_fini(&run);
	golden_files_fini(&files);
}
