#include "cli/compare_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lib/strutil.h"

#define LABEL_WIDTH  22
#define COLUMN_MIN   20
#define COLUMN_MAX   40
#define NUMBER_WIDTH 10 /* of a count beside its bar */

enum measure_kind {
	MEASURE_COUNT,	  /* u64 at offset */
	MEASURE_KB,	  /* u64 at offset, in KiB */
	MEASURE_TIME,	  /* ns at offset */
	MEASURE_QUANTILE, /* ns: offset is the quantile of the latency in thousandths */
	MEASURE_WALL,	  /* ns at offset, of the host: never a difference between kernels */
};

/* The rows, in order; "" is an empty line. */
static const struct measure {
	const char *label;
	enum measure_kind kind;
	size_t offset;
} measures[] = {
#define AT(member) offsetof(struct report, member)
	{"operations", MEASURE_COUNT, AT(ops)},
	{"reads", MEASURE_COUNT, AT(reads)},
	{"bytes", MEASURE_COUNT, AT(bytes)},
	{"failed calls", MEASURE_COUNT, AT(errors)},
	{"", MEASURE_COUNT, 0},
	{"sync calls", MEASURE_COUNT, AT(windows.sync)},
	{"async calls", MEASURE_COUNT, AT(windows.async)},
	{"windows chosen", MEASURE_COUNT, AT(windows.chosen)},
	{"fallbacks", MEASURE_COUNT, AT(windows.fallback)},
	{"bios", MEASURE_COUNT, AT(disk.bios)},
	{"requests", MEASURE_COUNT, AT(disk.ios)},
	{"largest possible", MEASURE_KB, AT(io_kb)},
	{"", MEASURE_COUNT, 0},
	{"pages read", MEASURE_COUNT, AT(pages.read)},
	{"pages used", MEASURE_COUNT, AT(pages.used)},
	{"pages wasted", MEASURE_COUNT, AT(pages.wasted)},
	{"time wasted", MEASURE_TIME, AT(waste_ns)},
	{"pages evicted", MEASURE_COUNT, AT(provenance.evicted)},
	{"", MEASURE_COUNT, 0},
	{"virtual time", MEASURE_TIME, AT(virtual_ns)},
	{"latency p50", MEASURE_QUANTILE, 500},
	{"latency p90", MEASURE_QUANTILE, 900},
	{"latency p99", MEASURE_QUANTILE, 990},
	{"latency p99.9", MEASURE_QUANTILE, 999},
	{"latency max", MEASURE_QUANTILE, 1000},
	{"host time", MEASURE_WALL, AT(wall_ns)},
#undef AT
};

struct table {
	struct out *o;
	const struct report *reports;
	unsigned int nr;
	int width; /* of a column */
};

static u64 measure_of(const struct measure *m, const struct report *r)
{
	u64 v;

	if (m->kind == MEASURE_QUANTILE)
		return histogram_quantile(&r->latency, m->offset);
	memcpy(&v, (const char *)r + m->offset, sizeof(v));
	return v;
}

/* ---- cells and rows ---- */

static void row_start(const struct table *t, const char *label, bool differs)
{
	fprintf(t->o->f, "%s%c %-*s", differs && t->o->colour ? "\033[33m" : "",
		differs ? '*' : ' ', LABEL_WIDTH, label);
}

static void row_end(const struct table *t, bool differs)
{
	fprintf(t->o->f, "%s\n", differs && t->o->colour ? "\033[0m" : "");
}

static bool measure_differs(const struct table *t, const struct measure *m)
{
	for (unsigned int i = 1; i < t->nr; i++)
		if (measure_of(m, &t->reports[i]) != measure_of(m, &t->reports[0]))
			return m->kind != MEASURE_WALL;
	return false;
}

static void print_measure(const struct table *t, const struct measure *m)
{
	bool differs = measure_differs(t, m);
	char cell[32];

	row_start(t, m->label, differs);
	for (unsigned int i = 0; i < t->nr; i++) {
		u64 v = measure_of(m, &t->reports[i]);

		if (m->kind == MEASURE_COUNT || m->kind == MEASURE_KB)
			snprintf(cell, sizeof(cell), "%" PRIu64 "%s", v,
				 m->kind == MEASURE_KB ? "k" : "");
		else
			report_time(v, cell, sizeof(cell));
		fprintf(t->o->f, " %*s", t->width, cell);
	}
	row_end(t, differs);
}

static void print_measures(const struct table *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (measures[i].kind == MEASURE_WALL && !t->reports[0].measured)
			continue;
		if (*measures[i].label)
			print_measure(t, &measures[i]);
		else
			fputc('\n', t->o->f);
	}
}

/* ---- orders ---- */

typedef const u64 *(*orders_of_t)(const struct report *r);

static const u64 *alloc_calls_of(const struct report *r)
{
	return r->alloc_calls;
}

static const u64 *added_of(const struct report *r)
{
	return r->added;
}

static u64 largest_count(const u64 *counts)
{
	u64 largest = 0;

	for (unsigned int i = 0; i < TRACE_ORDERS; i++)
		largest = max(largest, counts[i]);
	return largest;
}

static void print_order(const struct table *t, orders_of_t orders_of, unsigned int order)
{
	bool differs = false;
	char label[16];

	for (unsigned int i = 1; i < t->nr; i++)
		differs |= orders_of(&t->reports[i])[order] != orders_of(&t->reports[0])[order];
	snprintf(label, sizeof(label), "%8u :", order);
	row_start(t, label, differs);
	for (unsigned int i = 0; i < t->nr; i++) {
		const u64 *counts = orders_of(&t->reports[i]);

		fprintf(t->o->f, " %*" PRIu64 " ", NUMBER_WIDTH, counts[order]);
		print_bar(t->o->f, counts[order], largest_count(counts),
			  (unsigned int)(t->width - NUMBER_WIDTH - 3));
	}
	row_end(t, differs);
}

static void print_orders(const struct table *t, const char *title, orders_of_t orders_of)
{
	unsigned int top = 0;

	for (unsigned int i = 0; i < t->nr; i++)
		top = max(top, report_max_order(&t->reports[i]));
	fprintf(t->o->f, "\n%s%s%s\n", t->o->colour ? "\033[1m" : "", title,
		t->o->colour ? "\033[0m" : "");
	for (unsigned int order = 0; order <= top; order++)
		print_order(t, orders_of, order);
}

/* ---- kernels ---- */

static void print_names(const struct table *t)
{
	fprintf(t->o->f, "%s  %-*s", t->o->colour ? "\033[1m" : "", LABEL_WIDTH, "");
	for (unsigned int i = 0; i < t->nr; i++) {
		int len = shown_len(t->reports[i].kernel, (size_t)t->width);

		fprintf(t->o->f, " %*.*s", t->width, len, t->reports[i].kernel);
	}
	fprintf(t->o->f, "%s\n", t->o->colour ? "\033[0m" : "");
}

static void print_knob(FILE *f, unsigned int id, bool on)
{
	const struct knob_info *k = knob_info(id);

	fprintf(f, "  %c%s (%s%s%s): %s\n", on ? '+' : '-', k->name, k->commit,
		*k->commit ? ", " : "", k->since, k->what);
}

/* What changes from one kernel to its neighbour. */
static void print_knobs(const struct table *t, const struct report *from, const struct report *to)
{
	struct knobs a, b;
	bool same = true;

	if (knobs_parse(&a, from->kernel, NULL) || knobs_parse(&b, to->kernel, NULL))
		return;
	fprintf(t->o->f, "\nFrom %s to %s:\n", from->kernel, to->kernel);
	for (unsigned int i = 0; i < KNOB_NR; i++) {
		if (knobs_test(&a, i) == knobs_test(&b, i))
			continue;
		print_knob(t->o->f, i, knobs_test(&b, i));
		same = false;
	}
	if (same)
		fprintf(t->o->f, "  nothing\n");
}

void compare_text(struct out *o, const struct report *reports, unsigned int nr)
{
	struct table t = {o, reports, nr, COLUMN_MIN};

	for (unsigned int i = 0; i < nr; i++)
		t.width = max(t.width, min((int)strlen(reports[i].kernel), COLUMN_MAX));
	report_machine(o->f, &reports[0]);
	fputc('\n', o->f);
	print_names(&t);
	print_measures(&t);
	print_orders(&t, "Folio allocation calls by order", alloc_calls_of);
	print_orders(&t, "Folios added to the page cache by order", added_of);
	for (unsigned int i = 1; i < nr; i++)
		print_knobs(&t, &reports[i - 1], &reports[i]);
	fprintf(o->f, "\n* a row where the kernels differ\n");
}
