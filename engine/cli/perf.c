#include "cli/perf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* Functions below this share of all time are left out of tables, as perf's --percent-limit. */
#define PERCENT_LIMIT 0.01

/* ---- collecting ---- */

void perf_account(struct perf *p, enum wl_op_type op, const struct machine *m, const u64 *before)
{
	for (unsigned int i = 0; i < COST_NR; i++)
		p->units[op][i] += m->cost_units[CONTEXT_TASK][i] - before[i];
}

/* The first operation of a task. */
static enum wl_op_type first_op(const struct workload *w)
{
	bool in_task = !workload_tasks(w);

	for (size_t i = 0; i < w->nr; i++) {
		if (in_task && w->ops[i].type != WL_TASK)
			return w->ops[i].type;
		in_task |= w->ops[i].type == WL_TASK;
	}
	return WL_READ;
}

void perf_account_tasks(struct perf *p, const struct workload *w, const struct machine *m,
			const u64 *before, const struct tasks_report *tasks)
{
	perf_account(p, first_op(w), m, before);
	for (unsigned int i = 0; i < tasks->nr_sites; i++)
		if (lock_spins(tasks->sites[i].id) && tasks->sites[i].contended)
			p->spins[p->nr_spins++] = tasks->sites[i];
}

void perf_finish(struct perf *p, const struct machine *m, u64 ops)
{
	p->knobs = m->knobs;
	memcpy(p->ps, m->cost_ps, sizeof(p->ps));
	memcpy(p->kswapd, m->cost_units[CONTEXT_KSWAPD], sizeof(p->kswapd));
	p->clock_ps = m->clock_ps;
	p->ops = ops;
	snprintf(p->kernel, sizeof(p->kernel), "%s", m->kernel);
}

u64 perf_units(const struct perf *p, unsigned int cost)
{
	u64 sum = 0;

	for (unsigned int op = 0; op < WL_NR_OPS; op++)
		sum += p->units[op][cost];
	return sum;
}

static u64 cost_time(const struct perf *p, unsigned int cost)
{
	return (perf_units(p, cost) + p->kswapd[cost]) * p->ps[cost];
}

u64 perf_total_ps(const struct perf *p)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < COST_NR; i++)
		sum += cost_time(p, i);
	return sum;
}

/* ---- functions ---- */

/* The first cost with the same function: it stands for the function. */
static unsigned int leader(unsigned int cost)
{
	for (unsigned int i = 0; i < cost; i++)
		if (!strcmp(cost_info(i)->function, cost_info(cost)->function))
			return i;
	return cost;
}

static int compare_rows(const void *a, const void *b)
{
	const struct perf_row *x = a, *y = b;

	if (x->ps != y->ps)
		return x->ps < y->ps ? 1 : -1;
	return (x->cost > y->cost) - (x->cost < y->cost);
}

static u64 function_time(const struct perf *p, unsigned int function)
{
	u64 ps = 0;

	for (unsigned int i = function; i < COST_NR; i++)
		if (leader(i) == function)
			ps += cost_time(p, i);
	return ps;
}

unsigned int perf_rows(const struct perf *p, struct perf_row *rows)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < COST_NR; i++)
		if (leader(i) == i && function_time(p, i))
			rows[nr++] = (struct perf_row){i, function_time(p, i)};
	qsort(rows, nr, sizeof(*rows), compare_rows);
	return nr;
}

static bool is_user(unsigned int cost)
{
	return cost == COST_USER_ACCESS;
}

static const char *object_of(unsigned int cost)
{
	return is_user(cost) ? "workload" : "[kernel.kallsyms]";
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* ---- perf report ---- */

static u64 operations(const struct perf *p)
{
	return p->ops ? p->ops : 1;
}

static void print_counts(FILE *f, const struct perf *p, unsigned int function)
{
	for (unsigned int i = function; i < COST_NR; i++) {
		u64 n = perf_units(p, i) + p->kswapd[i];

		if (leader(i) != function || !n)
			continue;
		fprintf(f, "%44.4f x %s of %.3f ns (%s)\n", (double)n / operations(p),
			cost_info(i)->per, p->ps[i] / 1000.0, cost_info(i)->source);
	}
}

/* Who waited for what, under native_queued_spin_lock_slowpath. */
static void print_callers(FILE *f, const struct perf *p)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < p->nr_spins; i++)
		sum += p->spins[i].wait_ps;
	for (unsigned int i = 0; i < p->nr_spins; i++) {
		const struct lock_site *site = &p->spins[i];

		fprintf(f,
			"%20s--%6.2f%%-- %s (%s): %" PRIu64 " of %" PRIu64
			" waited, %.0f ns each\n",
			"", percent(site->wait_ps, sum), site->function, lock_name(site->id),
			site->contended, site->taken,
			(double)site->wait_ps / 1000 / site->contended);
	}
}

static void print_totals(FILE *f, const struct perf *p)
{
	u64 total = perf_total_ps(p);
	char time[32];

	fprintf(f, "# Samples: none, every primitive is counted; of event: virtual time\n");
	fprintf(f, "# Time on the processor: %s", report_time(total / 1000, time, sizeof(time)));
	if (p->clock_ps > total)
		fprintf(f, ", waiting for I/O: %s",
			report_time((p->clock_ps - total) / 1000, time, sizeof(time)));
	fprintf(f, "; %" PRIu64 " operations\n", operations(p));
}

void perf_report(struct out *o, const struct perf *p)
{
	u64 total = perf_total_ps(p);
	struct perf_row rows[COST_NR];
	unsigned int nr = perf_rows(p, rows);

	fprintf(o->f, "# Linux %s\n", p->kernel);
	print_totals(o->f, p);
	fprintf(o->f, "#\n# Overhead        ns/op  Shared Object      Symbol\n");
	fprintf(o->f, "#                         and each operation's counts\n");
	fprintf(o->f, "# ........  ...........  .................  ......................\n#\n");
	for (unsigned int i = 0; i < nr; i++) {
		const struct perf_row *row = &rows[i];

		if (percent(row->ps, total) < PERCENT_LIMIT)
			break;
		fprintf(o->f, "%9.2f%%  %11.3f  %-17s  [%c] %s\n", percent(row->ps, total),
			(double)row->ps / 1000 / operations(p), object_of(row->cost),
			is_user(row->cost) ? '.' : 'k', cost_function(&p->knobs, row->cost));
		print_counts(o->f, p, row->cost);
		if (row->cost == COST_SPIN_WAIT)
			print_callers(o->f, p);
	}
}

/* ---- perf diff ---- */

/* A function in the baseline and in the kernel compared with it. */
struct pair {
	unsigned int cost;
	u64 old_ps, new_ps;
	double old_share, new_share; /* percent */
	bool paired;		     /* perf finds the symbol under one name in both */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double dx = fabs(x->new_share - (x->paired ? x->old_share : 0));
	double dy = fabs(y->new_share - (y->paired ? y->old_share : 0));

	if (dx != dy)
		return dx < dy ? 1 : -1;
	return (x->cost > y->cost) - (x->cost < y->cost);
}

static unsigned int make_pairs(const struct perf *old, const struct perf *new, struct pair *pairs)
{
	u64 old_total = perf_total_ps(old), new_total = perf_total_ps(new);
	unsigned int nr = 0;

	for (unsigned int i = 0; i < COST_NR; i++) {
		struct pair *p = &pairs[nr];

		if (leader(i) != i)
			continue;
		*p = (struct pair){.cost = i,
				   .old_ps = function_time(old, i),
				   .new_ps = function_time(new, i)};
		if (!p->old_ps && !p->new_ps)
			continue;
		p->old_share = percent(p->old_ps, old_total);
		p->new_share = percent(p->new_ps, new_total);
		p->paired = p->old_ps && p->new_ps &&
			    !strcmp(cost_function(&old->knobs, i), cost_function(&new->knobs, i));
		nr++;
	}
	qsort(pairs, nr, sizeof(*pairs), compare_pairs);
	return nr;
}

/* "+12.3 %": what the function takes of one operation, compared with before. */
static void print_growth(FILE *f, const struct pair *p, const struct perf *old,
			 const struct perf *new)
{
	double before = (double)p->old_ps / 1000 / operations(old);
	double after = (double)p->new_ps / 1000 / operations(new);

	fprintf(f, "%11.3f %11.3f ", before, after);
	if (!p->old_ps)
		fprintf(f, "%9s", "new");
	else if (!p->new_ps)
		fprintf(f, "%9s", "gone");
	else
		fprintf(f, "%+8.1f%%", 100 * (after - before) / before);
}

static void print_pair(FILE *f, const struct pair *p, const struct perf *old,
		       const struct perf *new)
{
	const char *name = cost_function(&new->knobs, p->cost);
	const char *before = cost_function(&old->knobs, p->cost);
	bool renamed = p->old_ps && p->new_ps && !p->paired;

	if (p->old_ps && (p->paired || !p->new_ps))
		fprintf(f, "%9.2f%%", p->old_share);
	else
		fprintf(f, "%10s", "");
	if (p->new_ps)
		fprintf(f, "  %+8.2f%%  ", p->new_share - (p->paired ? p->old_share : 0));
	else
		fprintf(f, "  %9s  ", "");
	print_growth(f, p, old, new);
	fprintf(f, "  [%c] %s", is_user(p->cost) ? '.' : 'k', p->new_ps ? name : before);
	if (renamed)
		fprintf(f, "\n#%27sone-sided: the baseline has it as %s, %.2f%%", "", before,
			p->old_share);
	else if (!p->old_ps)
		fprintf(f, "\n#%27sone-sided: the baseline does not call it", "");
	fputc('\n', f);
}

static void print_diff_head(FILE *f, const struct perf *old, const struct perf *new)
{
	double before = (double)perf_total_ps(old) / 1000 / operations(old);
	double after = (double)perf_total_ps(new) / 1000 / operations(new);

	fprintf(f, "# Baseline: Linux %s; compared: Linux %s\n", old->kernel, new->kernel);
	fprintf(f, "# All together: %.3f ns an operation before, %.3f after, %+.1f%%\n", before,
		after, before ? 100 * (after - before) / before : 0);
	fprintf(f, "#\n# perf diff: shares of all time    ns an operation\n");
	fprintf(f, "# Baseline   Delta Abs       before       after    growth  Symbol\n");
	fprintf(f, "# ........  ..........  ........... ........... .........  ......\n#\n");
}

static void print_warnings(struct out *o, const struct pair *pairs, unsigned int nr)
{
	unsigned int one_sided = 0, opposite = 0;

	for (unsigned int i = 0; i < nr; i++) {
		const struct pair *p = &pairs[i];

		one_sided += p->new_ps && !p->paired;
		opposite += p->paired && (p->new_share > p->old_share) != (p->new_ps > p->old_ps) &&
			    p->new_ps != p->old_ps;
	}
	if (one_sided)
		fprintf(o->f,
			"#\n# %sWarning:%s %u symbols have no baseline under their name. perf diff "
			"shows the whole\n# share of such a symbol as a positive delta: that is no "
			"growth. Read the growth column.\n",
			o->colour ? "\033[33m" : "", o->colour ? "\033[0m" : "", one_sided);
	if (opposite)
		fprintf(o->f,
			"#\n# %sNote:%s the share of %u symbols moved against their time: all the rest "
			"became\n# faster or slower than they did.\n",
			o->colour ? "\033[33m" : "", o->colour ? "\033[0m" : "", opposite);
}

void perf_diff(struct out *o, const struct perf *perfs, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		const struct perf *old = &perfs[0], *new = &perfs[i];
		struct pair pairs[COST_NR];
		unsigned int n = make_pairs(old, new, pairs);

		if (i > 1)
			fputc('\n', o->f);
		print_diff_head(o->f, old, new);
		for (unsigned int j = 0; j < n; j++)
			if (pairs[j].old_share >= PERCENT_LIMIT ||
			    pairs[j].new_share >= PERCENT_LIMIT)
				print_pair(o->f, &pairs[j], old, new);
		print_warnings(o, pairs, n);
	}
}

/* ---- folded stacks ---- */

static const struct {
	bool mm; /* of an operation on a mapping */
	unsigned int cost;
	const char *callers;
} stacks[] = {
#define STACK(cost, callers)	{false, COST_##cost, callers},
#define STACK_MM(cost, callers) {true, COST_##cost, callers},
#include "costs/stacks.def"
#undef STACK
#undef STACK_MM
};

static bool op_is_mm(unsigned int op)
{
	return op == WL_MMAP || op == WL_MUNMAP || op == WL_MADVISE || op == WL_TOUCH ||
	       op == WL_WTOUCH;
}

static const char *callers_of(unsigned int op, unsigned int cost)
{
	const char *callers = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		if (stacks[i].cost == cost && (stacks[i].mm == op_is_mm(op) || !callers))
			callers = stacks[i].callers;
	return callers;
}

/* Frames of "a;b;c" under the names this kernel has for them. */
static void print_frames(FILE *f, const struct knobs *knobs, const char *frames)
{
	while (*frames) {
		size_t len = strcspn(frames, ";");
		const char *name = NULL;

		for (unsigned int i = 0; i < COST_NR && !name; i++)
			if (strlen(cost_info(i)->function) == len &&
			    !strncmp(cost_info(i)->function, frames, len))
				name = cost_function(knobs, i);
		if (name)
			fprintf(f, "%s;", name);
		else
			fprintf(f, "%.*s;", (int)len, frames);
		frames += len + (frames[len] == ';');
	}
}

static void print_stack(FILE *f, const struct perf *p, const char *root, const char *callers,
			unsigned int cost, u64 units)
{
	if (units * p->ps[cost] < 1000)
		return;
	fprintf(f, "%s;", root);
	if (callers)
		print_frames(f, &p->knobs, callers);
	fprintf(f, "%s %" PRIu64 "\n", cost_function(&p->knobs, cost), units * p->ps[cost] / 1000);
}

void perf_folded(struct out *o, const struct perf *p)
{
	for (unsigned int op = 0; op < WL_NR_OPS; op++)
		for (unsigned int i = 0; i < COST_NR; i++)
			print_stack(o->f, p, workload_op_name(op), callers_of(op, i), i,
				    p->units[op][i]);
	for (unsigned int i = 0; i < COST_NR; i++)
		print_stack(o->f, p, "kswapd0", NULL, i, p->kswapd[i]);
}

/* ---- JSON ---- */

static cJSON *count_json(const struct perf *p, unsigned int cost)
{
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "cost", cost_info(cost)->name);
	cJSON_AddStringToObject(obj, "per", cost_info(cost)->per);
	json_add_u64(obj, "units", perf_units(p, cost) + p->kswapd[cost]);
	json_add_u64(obj, "ps", p->ps[cost]);
	return obj;
}

static cJSON *function_json(const struct perf *p, const struct perf_row *row, u64 total)
{
	cJSON *obj = cJSON_CreateObject(), *counts;

	cJSON_AddStringToObject(obj, "function", cost_function(&p->knobs, row->cost));
	json_add_u64(obj, "ns", row->ps / 1000);
	cJSON_AddNumberToObject(obj, "share", round(percent(row->ps, total) * 10000) / 10000);
	counts = cJSON_AddArrayToObject(obj, "counts");
	for (unsigned int i = row->cost; i < COST_NR; i++)
		if (leader(i) == row->cost && cost_time(p, i))
			cJSON_AddItemToArray(counts, count_json(p, i));
	return obj;
}

cJSON *perf_json(const struct perf *p)
{
	u64 total = perf_total_ps(p);
	struct perf_row rows[COST_NR];
	unsigned int nr = perf_rows(p, rows);
	cJSON *array = cJSON_CreateArray();

	for (unsigned int i = 0; i < nr && array; i++)
		cJSON_AddItemToArray(array, function_json(p, &rows[i], total));
	return array;
}
