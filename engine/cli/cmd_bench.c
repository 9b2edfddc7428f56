#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/common.h"
#include "lib/strutil.h"

#define BAR_WIDTH 30

enum { OPT_FORMAT, OPT_OUTPUT, OPT_MEASURE };

static const struct cli_option bench_options[] = {
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"measure", NULL, NULL, "also time the real thing on this host (mmap, tmpfs, fio-ext4)",
	 OPT_MEASURE},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

/* The benches there are. */
static const struct bench *const benches[] = {&bench_dd, &bench_mmap, &bench_tmpfs, &bench_vm,
					      &bench_fio_ext4};

struct bench_args {
	const struct bench *bench;
	enum cli_format format;
	const char *output;
	bool measure;
	bool help;
};

/* What is shown. */
struct bench_show {
	const struct bench *bench;
	struct bench_result result;
};

void bench_check(struct bench_result *result, const char *name, u64 value, u64 want,
		 enum bench_relation relation)
{
	struct bench_check *check = &result->checks[result->nr_checks];

	if (result->nr_checks == BENCH_CHECKS_MAX)
		return;
	result->nr_checks++;
	*check = (struct bench_check){.value = value, .want = want, .relation = relation};
	snprintf(check->name, sizeof(check->name), "%s", name);
}

static bool check_holds(const struct bench_check *check)
{
	switch (check->relation) {
	case BENCH_BELOW:
		return check->value < check->want;
	case BENCH_AT_MOST:
		return check->value <= check->want;
	case BENCH_ABOVE:
		return check->value > check->want;
	default:
		return check->value == check->want;
	}
}

static bool row_holds(const struct bench_row *row)
{
	return row->ours == bench_want(row);
}

/* A bench without checks of its own checks its rows. */
static void add_row_checks(struct bench_result *result)
{
	for (unsigned int i = 0; i < result->nr; i++) {
		const struct bench_row *row = &result->rows[i];
		char name[BENCH_CHECK_MAX];

		snprintf(name, sizeof(name), "%s, %s", row->kernel, row->measure);
		bench_check(result, name, row->ours, bench_want(row), BENCH_EQUAL);
	}
}

static unsigned int count_misses(const struct bench_result *result)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < result->nr_checks; i++)
		n += !check_holds(&result->checks[i]);
	return n;
}

/* ---- text ---- */

static bool same_block(const struct bench_row *a, const struct bench_row *b)
{
	return !strcmp(a->title, b->title);
}

static void print_verdict(struct out *o, const struct bench_row *row)
{
	bool holds = row_holds(row);

	fprintf(o->f, "  %s%-7s%s ",
		!o->colour ? ""
		: holds	   ? "\033[32m"
			   : "\033[31m",
		holds ? "agrees" : "DIFFERS", o->colour ? "\033[0m" : "");
}

static void print_row(struct out *o, const struct bench_row *row, u64 largest, bool exact)
{
	fprintf(o->f, exact ? "%10s : " : "%16s : ", row->measure);
	if (row->published)
		fprintf(o->f, "%10" PRIu64, row->published);
	else
		fprintf(o->f, "%10s", exact ? "0" : "-");
	if (exact)
		fprintf(o->f, " %8" PRIu64, row->others);
	fprintf(o->f, " %10" PRIu64, row->ours);
	if (exact)
		print_verdict(o, row);
	else
		fprintf(o->f, "  ");
	print_bar(o->f, row->ours, largest, BAR_WIDTH);
	fputc('\n', o->f);
}

/* The rows of one kernel from @i on; returns the row after them. */
static unsigned int print_block(struct out *o, const struct bench_result *result, unsigned int i,
				bool exact)
{
	const struct bench_row *first = &result->rows[i];
	unsigned int end = i;
	u64 largest = 0;

	for (; end < result->nr && same_block(first, &result->rows[end]); end++)
		largest = max(largest, result->rows[end].ours);
	fprintf(o->f, "\n%s%s%s\n", o->colour ? "\033[1m" : "", first->title,
		o->colour ? "\033[0m" : "");
	if (exact)
		fprintf(o->f, "%10s : %10s %8s %10s\n", "", "published", "others'", "ours");
	else
		fprintf(o->f, "%16s : %10s %10s\n", "", "published", "ours");
	for (; i < end; i++)
		print_row(o, &result->rows[i], largest, exact);
	return end;
}

static void print_checks(FILE *f, const struct bench_result *result, bool exact)
{
	static const char *const relations[] = {
		[BENCH_EQUAL] = "",
		[BENCH_BELOW] = "less than ",
		[BENCH_AT_MOST] = "at most ",
		[BENCH_ABOVE] = "more than ",
	};

	fprintf(f, "\nChecks%s\n", exact ? " (ours = published - others')" : "");
	for (unsigned int i = 0; i < result->nr_checks; i++) {
		const struct bench_check *check = &result->checks[i];

		fprintf(f, "  %-4s %s: %" PRIu64 ", expected %s%" PRIu64 "\n",
			check_holds(check) ? "ok" : "MISS", check->name, check->value,
			relations[check->relation], check->want);
	}
}

static void show_text(struct out *o, const void *data)
{
	const struct bench_show *s = data;
	unsigned int misses = count_misses(&s->result);
	bool exact = !*s->result.account;

	fprintf(o->f, "%s\nNumbers are %s.\n", s->bench->what, s->bench->measure);
	for (unsigned int i = 0; i < s->result.nr && !s->bench->table;)
		i = print_block(o, &s->result, i, exact);
	fprintf(o->f, "\nSource: %s", s->bench->source);
	if (!exact)
		fprintf(o->f, "\n%s", s->result.account);
	print_checks(o->f, &s->result, exact);
	if (misses)
		fprintf(o->f, "\n%u of %u checks do not hold.\n", misses, s->result.nr_checks);
	else
		fprintf(o->f, "\nAll %u checks hold. %s\n", s->result.nr_checks, s->bench->agree);
}

/* ---- JSON ---- */

static cJSON *row_json(const struct bench_row *row)
{
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "kernel", row->kernel);
	cJSON_AddStringToObject(obj, "measure", row->measure);
	json_add_u64(obj, "published", row->published);
	json_add_u64(obj, "others", row->others);
	json_add_u64(obj, "ours", row->ours);
	return obj;
}

static cJSON *check_json(const struct bench_check *check)
{
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "name", check->name);
	json_add_u64(obj, "value", check->value);
	json_add_u64(obj, "want", check->want);
	cJSON_AddBoolToObject(obj, "ok", check_holds(check));
	return obj;
}

static cJSON *show_json(const void *data)
{
	const struct bench_show *s = data;
	cJSON *obj = cJSON_CreateObject();
	cJSON *rows = cJSON_AddArrayToObject(obj, "rows");
	cJSON *checks = cJSON_AddArrayToObject(obj, "checks");

	for (unsigned int i = 0; i < s->result.nr; i++)
		cJSON_AddItemToArray(rows, row_json(&s->result.rows[i]));
	for (unsigned int i = 0; i < s->result.nr_checks; i++)
		cJSON_AddItemToArray(checks, check_json(&s->result.checks[i]));
	return obj;
}

/* ---- the command ---- */

static int take_name(struct bench_args *a, const char *name, struct fl_error *err)
{
	const char *names[ARRAY_SIZE(benches)];
	const struct name_list list = {"bench", names, ARRAY_SIZE(benches)};
	char text[sizeof(err->text)];

	for (size_t i = 0; i < ARRAY_SIZE(benches); i++) {
		names[i] = benches[i]->name;
		if (!strcmp(name, names[i])) {
			a->bench = benches[i];
			return 0;
		}
	}
	return fl_error_set(err, -EINVAL, NULL, 0, "%s",
			    describe_unknown(text, sizeof(text), name, &list));
}

static int take(struct cli_args *args, struct bench_args *a, int id, const char *value,
		struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	case OPT_MEASURE:
		a->measure = true;
		return 0;
	case OPT_OUTPUT:
		a->output = value;
		return 0;
	default:
		return a->bench ? cli_unexpected(args, value, err) : take_name(a, value, err);
	}
}

static int parse(struct bench_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		ret = take(args, a, id, value, err);
		if (ret || a->help)
			return ret;
	}
	if (!ret && !a->bench)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no bench is named, expected one of 'foliolab bench --help'");
	if (!ret && a->measure && (!a->bench->measure_host || a->format != FORMAT_TEXT))
		return fl_error_set(
			err, -EINVAL, "--measure", 0,
			"nothing to measure, expected 'bench mmap', 'bench tmpfs' or 'bench fio-ext4', and text");
	return ret;
}

/* What the host itself does, behind the table. */
static int measure(const struct bench_args *a, struct fl_error *err)
{
	struct out o;
	int ret;

	if (!a->measure)
		return 0;
	ret = out_open(&o, NULL, err);
	if (!ret)
		ret = a->bench->measure_host(&o, err);
	if (!ret)
		return out_commit(&o, err);
	out_abort(&o);
	return ret;
}

static int cmd_bench_main(struct cli_args *args)
{
	static const struct cli_result shape = {show_text, show_json};
	struct bench_args a = {.format = FORMAT_TEXT};
	struct bench_show show = {0};
	struct fl_error err = {0};

	if (parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	show.bench = a.bench;
	if (a.bench->run(&show.result, &err))
		return cli_fail(&err);
	if (!show.result.nr_checks)
		add_row_checks(&show.result);
	if (cli_show(&shape, &show, a.format, a.output, &err) || measure(&a, &err))
		return cli_fail(&err);
	return count_misses(&show.result) ? CLI_NO : CLI_DONE;
}

const struct cli_command cmd_bench = {
	.name = "bench",
	.synopsis = "NAME [--format text|json] [-o OUT]",
	.summary = "Lay a published table beside what the miniature does, and check it.",
	.options = bench_options,
	.details =
		"Benches:\n"
		"  dd   the readahead regression of ab4443fe3ca6: dd bs=4k of a 12 GiB sparse\n"
		"       file on xfs, folio allocation calls per order\n"
		"  mmap the ext4 large-folio report: reads and stores through a mapping by folio\n"
		"       order, in virtual microseconds; what its perf diff shows\n"
		"  tmpfs the tmpfs read series: lookups, copies and GiB/s of fio's sequential\n"
		"       reads, page by page and folio by folio. The two GiB/s at 64k are fitted to\n"
		"       the published ones, the counts are not. With --measure the same read path\n"
		"       with real copies and locks on this host (about a minute, 3 GiB of memory),\n"
		"       beside memcpy and the host's own tmpfs, with ratios that were hoped for:\n"
		"       a MISS of these does not change the exit status\n"
		"  vm-scalability\n"
		"       the regression's other half: up to 56 readers of sparse files, reclaim\n"
		"       running, who wait for one lru_lock (some seconds)\n"
		"  fio-ext4 reads and writes of 4K, 64K and 1M on ext4 without large folios, with\n"
		"       them, and with iomap: I/Os a second beside the published ones, gains in\n"
		"       percent, and the work of each I/O that explains them. With --measure what\n"
		"       stays in the page cache (reads, appends, overwrites) with real copies on\n"
		"       this host: gains over the stack without large folios in the same run, and\n"
		"       memcpy of the same pieces (some seconds)\n"
		"\n"
		"JSON keys:\n"
		"  rows     [{kernel, measure, published, others, ours}]; others is the part of\n"
		"           published that other files of that machine made\n"
		"  checks   [{name, value, want, ok}]; the exit status is 0 only if all are ok\n",
	.run = cmd_bench_main,
};
