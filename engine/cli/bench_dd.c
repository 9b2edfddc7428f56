/* dd bs=4k of a 12 GiB sparse file on xfs: folio allocation calls per order. */
#include <stdio.h>

#include "cli/bench.h"
#include "cli/play.h"

#define DD_ORDERS 6

/*
 * The columns of the mail, and the one counted for this project on a real 6.18 (the recorded
 * kernel of shared/golden). The mail's bpftrace counted every file of the machine: 21 order-0
 * folios in both columns are not dd's.
 */
static const struct {
	const char *kernel, *title;
	u64 published[DD_ORDERS], others[DD_ORDERS];
} columns[] = {
	{"v6.7", "v6.7 (f0b7a0d1d466, the commit before)", {57, 0, 20, 2, 4, 98300}, {21}},
	{"ab4443fe3ca6", "ab4443fe3ca6 (the commit)", {21, 0, 196615, 98303, 98303, 0}, {21}},
	{"v6.18", "v6.18 (counted on a real 6.18)", {4, 0, 3, 2, 2, 98302}, {0}},
};

static int play_dd(const char *kernel, struct report *report, struct fl_error *err)
{
	static const char ops[] = "read 4k 3145728";
	struct run_config config;
	struct workload w;
	int ret;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.size = 12LL << 30;
	ret = workload_parse(&w, "bench dd", ops, sizeof(ops) - 1, err);
	if (ret)
		return ret;
	ret = play(&config, &w, NULL, report, err);
	workload_fini(&w);
	return ret;
}

/* One row an order, up to the largest that either side has. */
static void add_rows(struct bench_result *result, unsigned int column, const struct report *report)
{
	unsigned int top = max(report_max_order(report), DD_ORDERS - 1u);

	for (unsigned int order = 0; order <= top && result->nr < BENCH_ROWS_MAX; order++) {
		struct bench_row *row = &result->rows[result->nr++];

		row->kernel = columns[column].kernel;
		row->title = columns[column].title;
		snprintf(row->measure, sizeof(row->measure), "order %u", order);
		row->ours = report->alloc_calls[order];
		row->published = order < DD_ORDERS ? columns[column].published[order] : 0;
		row->others = order < DD_ORDERS ? columns[column].others[order] : 0;
	}
}

static int run_dd(struct bench_result *result, struct fl_error *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(columns); i++) {
		struct report report;
		int ret = play_dd(columns[i].kernel, &report, err);

		if (ret)
			return ret;
		add_rows(result, i, &report);
	}
	return 0;
}

const struct bench bench_dd = {
	.name = "dd",
	.what = "dd bs=4k of a 12 GiB sparse file on xfs, window 128 KiB: the readahead regression",
	.measure = "folio allocation calls",
	.source = "Yin Fengwei to Jan Kara, linux-kernel, 4 Mar 2024, Re: [linus:master] "
		  "[readahead]\n"
		  "ab4443fe3c: vm-scalability.throughput -21.4% regression,\n"
		  "Message-ID dee823ca-7100-4289-8670-95047463c09d@intel.com, on the report of "
		  "Oliver\n"
		  "Sang, 202402201642.c8d6bbc3-oliver.sang@intel.com. 21 calls of order 0 in both\n"
		  "columns of the mail are other files of that machine.\n",
	.agree = "The miniature and the published measurement agree, call by call.",
	.run = run_dd,
};
