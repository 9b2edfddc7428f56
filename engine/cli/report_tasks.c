#include "cli/report.h"

#include <inttypes.h>

#define SITES_SHOWN 12
#define CPUS_SHOWN  16

static double share(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_cpu(FILE *f, const char *name, u64 bytes, const struct cpu_times *t)
{
	u64 all = t->run_ps + t->spin_ps + t->sleep_ps + t->stolen_ps;
	char time[32];

	fprintf(f, "%10s : %12" PRIu64 "  %10s  %5.1f %%  %5.1f %%  %5.1f %%  %5.1f %%\n", name,
		bytes, report_time(all / 1000, time, sizeof(time)), share(t->run_ps, all),
		share(t->spin_ps, all), share(t->sleep_ps, all), share(t->stolen_ps, all));
}

static void print_cpus(FILE *f, const struct tasks_report *t)
{
	char name[16];

	fprintf(f, "       CPU :        bytes        time     runs    spins   sleeps   stolen\n");
	for (unsigned int i = 0; i < t->nr && i < CPUS_SHOWN; i++) {
		snprintf(name, sizeof(name), "%u", i);
		print_cpu(f, name, t->task[i].bytes, &t->task[i].times);
	}
	if (t->nr > CPUS_SHOWN)
		fprintf(f, "       ... : %u more\n", t->nr - CPUS_SHOWN);
	print_cpu(f, "kswapd0", 0, &t->kswapd);
}

static void print_site(FILE *f, const struct lock_site *site)
{
	char wait[32], longest[32];

	fprintf(f, "%16s %-26s %10" PRIu64 "  %5.1f %%  %10s  %10s\n", lock_name(site->id),
		site->function, site->taken, share(site->contended, site->taken),
		report_time(site->wait_ps / 1000, wait, sizeof(wait)),
		report_time(site->max_wait_ps / 1000, longest, sizeof(longest)));
}

void report_tasks_text(struct out *o, const struct report *r)
{
	const struct tasks_report *t = &r->tasks;
	double seconds = t->virtual_ns / 1e9;

	if (!t->nr)
		return;
	fprintf(o->f, "\n%s%u tasks%s (%s), schedule %" PRIu64 ": %.3f GB/s of virtual time\n",
		o->colour ? "\033[1m" : "", t->nr, o->colour ? "\033[0m" : "",
		run_sharing_name(r->config.sharing), t->schedule,
		seconds > 0 ? t->bytes / seconds / 1e9 : 0);
	print_cpus(o->f, t);
	fprintf(o->f, "%16s %-26s %10s  %7s  %10s  %10s\n", "lock", "taken in", "times", "waited",
		"all waits", "longest");
	for (unsigned int i = 0; i < t->nr_sites && i < SITES_SHOWN; i++)
		print_site(o->f, &t->sites[i]);
}
