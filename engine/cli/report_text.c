/* A report as text: histograms in the style of bcc, one line for everything else. */
#include <inttypes.h>
#include <string.h>

#include "cli/report.h"
#include "lib/strutil.h"

#define BAR_WIDTH 40

static void heading(struct out *o, const char *text)
{
	fprintf(o->f, "\n%s%s%s\n", o->colour ? "\033[1m" : "", text, o->colour ? "\033[0m" : "");
}

char *report_time(u64 ns, char *buf, size_t n)
{
	static const struct {
		u64 ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		u64 u = units[i].ns;

		if (ns < u)
			continue;
		snprintf(buf, n, "%" PRIu64 ".%03" PRIu64 " %s", ns / u, ns % u / (u / 1000),
			 units[i].unit);
		return buf;
	}
	snprintf(buf, n, "%" PRIu64 " ns", ns);
	return buf;
}

/* ---- the machine ---- */

/* Paths are the host's: control characters in them shall not reach a terminal. */
static void print_path(FILE *f, const char *path)
{
	for (; *path; path++)
		fputc((unsigned char)*path < 0x20 || *path == 0x7f ? '?' : *path, f);
}

void report_machine(FILE *f, const struct report *r)
{
	const struct run_config *c = &r->config;
	char size[24], memory[24], page[24];

	fprintf(f, "%s, ", c->fs);
	if (run_has_backing(c))
		print_path(f, run_backing_name(c));
	else
		fprintf(f, "file");
	fprintf(f,
		" of %s on disk %s, readahead %" PRIu64 "k, pages of %s, "
		"memory %s, seed %" PRIu64,
		format_size(c->size, size, sizeof(size)),
		c->disk		     ? c->disk
		: run_has_backing(c) ? "host"
				     : "hole",
		c->ra_bytes >> 10, format_size(c->machine.page_size, page, sizeof(page)),
		format_size(c->machine.memory, memory, sizeof(memory)), c->machine.seed);
	if (c->machine.fragment_order >= 0)
		fprintf(f, ", fragmented above order %d (%u %%)", c->machine.fragment_order,
			c->machine.fragment_percent);
	fputc('\n', f);
}

/* ---- histograms ---- */

static void print_orders(struct out *o, const char *title, const char *unit, const u64 *counts,
			 unsigned int top)
{
	u64 largest = 0;

	heading(o, title);
	for (unsigned int i = 0; i <= top; i++)
		largest = max(largest, counts[i]);
	fprintf(o->f, "     order : %-10s distribution\n", unit);
	for (unsigned int i = 0; i <= top; i++) {
		fprintf(o->f, "%10u : %-10" PRIu64 " ", i, counts[i]);
		print_bar(o->f, counts[i], largest, BAR_WIDTH);
		fputc('\n', o->f);
	}
}

static void print_latency_rows(FILE *f, const struct histogram *h)
{
	unsigned int first = 64, last = 0;
	u64 largest = 0;

	for (unsigned int i = 0; i < 64; i++) {
		u64 n = histogram_log2(h, i);

		if (!n)
			continue;
		first = min(first, i);
		last = i;
		largest = max(largest, n);
	}
	for (unsigned int i = first; i <= last; i++) {
		u64 low = (u64)1 << i, n = histogram_log2(h, i);

		fprintf(f, "%10" PRIu64 " -> %-10" PRIu64 " : %-10" PRIu64 " ", i ? low : 0,
			low - 1 + low, n);
		print_bar(f, n, largest, BAR_WIDTH);
		fputc('\n', f);
	}
}

static void print_latency(struct out *o, const struct histogram *h)
{
	static const struct {
		const char *name;
		unsigned int per_thousand;
	} quantiles[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}};
	char time[32];

	if (!h->count)
		return;
	heading(o, "Latency of a read in virtual time");
	fprintf(o->f, "        ns               : reads      distribution\n");
	print_latency_rows(o->f, h);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		fprintf(o->f, "%s %s, ", quantiles[i].name,
			report_time(histogram_quantile(h, quantiles[i].per_thousand), time,
				    sizeof(time)));
	fprintf(o->f, "max %s\n", report_time(h->max, time, sizeof(time)));
}

/* ---- lines ---- */

/* "1 read", "2 reads". */
static void print_count(FILE *f, u64 n, const char *what)
{
	fprintf(f, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void print_reads(FILE *f, const struct report *r)
{
	char time[32];

	print_count(f, r->ops, "operation");
	fputs(", ", f);
	print_count(f, r->reads, "read");
	fputs(", ", f);
	print_count(f, r->bytes, "byte");
	fprintf(f, ", virtual time %s\n", report_time(r->virtual_ns, time, sizeof(time)));
	if (!r->errors)
		return;
	print_count(f, r->errors, "call");
	fprintf(f, " failed, the last one with: %s, %s\n", strerrorname_np(-r->last_error),
		strerror(-r->last_error));
}

static void print_io(FILE *f, const struct report *r)
{
	fprintf(f, "Windows:  %" PRIu64 " sync and ", r->windows.sync);
	print_count(f, r->windows.async, "async call");
	fputs(" chose ", f);
	print_count(f, r->windows.chosen, "window");
	fprintf(f,
		", %" PRIu64 " fell back to the smallest folios\nI/O:      ", r->windows.fallback);
	print_count(f, r->disk.bios, "bio");
	fputs(", ", f);
	print_count(f, r->disk.ios, "request");
	fprintf(f, " of up to %" PRIu64 "k, ", r->io_kb);
	print_count(f, r->disk.sectors, "sector");
	fputc('\n', f);
}

static void print_touches(FILE *f, const struct report *r)
{
	if (r->touches)
		fprintf(f,
			"Mapped:   %" PRIu64 " touches took %" PRIu64 " faults, %" PRIu64
			" of them major\n",
			r->touches, r->faults, r->major_faults);
}

static void print_waste(struct out *o, const struct report *r)
{
	bool warn = o->colour && r->pages.wasted;
	u64 bytes = report_page_bytes(r, r->pages.wasted);

	fprintf(o->f,
		"Waste:    %sread %" PRIu64 " page%s, used %" PRIu64 ", wasted %" PRIu64
		" = %" PRIu64 ".%03" PRIu64 " MB, %" PRIu64 ".%03" PRIu64 " ms%s\n",
		warn ? "\033[33m" : "", r->pages.read, r->pages.read == 1 ? "" : "s", r->pages.used,
		r->pages.wasted, bytes / 1000000, bytes % 1000000 / 1000, r->waste_ns / 1000000,
		r->waste_ns % 1000000 / 1000, warn ? "\033[0m" : "");
	if (r->provenance.evicted)
		fprintf(o->f, "Evicted:  %" PRIu64 " pages, %" PRIu64 " of them never used\n",
			r->provenance.evicted, r->provenance.evicted_unused);
}

static void print_bad_page(FILE *f, const struct run_bad_page *page)
{
	char off[24];

	fprintf(f, "  line %" PRIu32 ", %s %s: ", page->line,
		workload_op_name(page->soft ? WL_SOFT_OFFLINE : WL_POISON),
		format_size(page->off, off, sizeof(off)));
	if (page->type)
		fprintf(f, "%s: %s", page->type, page->result);
	else
		fputs(page->error ? "not done" : "moved away", f);
	if (page->error)
		fprintf(f, ", %s", strerrorname_np(-page->error));
	fputc('\n', f);
}

static void print_signal(FILE *f, const struct run_signal *s)
{
	char off[24];

	fprintf(f, "  line %" PRIu32 ", %s %s: SIGBUS, %s, lsb %u\n", s->line,
		workload_op_name(s->op), format_size(s->off, off, sizeof(off)),
		report_signal_code(s), s->addr_lsb);
}

/* How many of @nr a list of RUN_SIGNALS leaves out. */
static void print_more(FILE *f, u64 nr)
{
	if (nr > RUN_SIGNALS)
		fprintf(f, "  and %" PRIu64 " more\n", nr - RUN_SIGNALS);
}

static void print_memory(FILE *f, const struct report_memory *mem)
{
	if (!mem->nr_pages && !mem->nr_signals)
		return;
	fprintf(f, "Memory:   HardwareCorrupted %" PRIu64 " kB", mem->corrupted_kb);
	if (mem->has_stats)
		fprintf(f,
			", memory_failure/total %" PRIu64 ": recovered %" PRIu64 ", failed %" PRIu64
			", ignored %" PRIu64,
			mem->total, mem->recovered, mem->failed, mem->ignored);
	fputc('\n', f);
	for (u64 i = 0; i < min_t(u64, mem->nr_pages, RUN_SIGNALS); i++)
		print_bad_page(f, &mem->pages[i]);
	print_more(f, mem->nr_pages);
	fprintf(f, "Signals:  %" PRIu64 "\n", mem->nr_signals);
	for (u64 i = 0; i < min_t(u64, mem->nr_signals, RUN_SIGNALS); i++)
		print_signal(f, &mem->signals[i]);
	print_more(f, mem->nr_signals);
}

/* Lines of the kernel's log that are shown. */
#define LOG_LINES 10

static void print_log(struct out *o, const char *log)
{
	u64 nr = 0;

	if (!*log)
		return;
	heading(o, "Kernel log");
	for (size_t n; *log; log += n + (log[n] == '\n')) {
		n = strcspn(log, "\n");
		if (nr++ < LOG_LINES)
			fprintf(o->f, "  %.*s\n", (int)n, log);
	}
	if (nr > LOG_LINES)
		fprintf(o->f, "  and %" PRIu64 " more\n", nr - LOG_LINES);
}

static void print_wall(FILE *f, const struct report *r)
{
	char time[32];

	fprintf(f, "Measured: %s on the host", report_time(r->wall_ns, time, sizeof(time)));
	if (r->reads)
		fprintf(f, ", %s a read", report_time(r->wall_ns / r->reads, time, sizeof(time)));
	fputc('\n', f);
}

void report_text(struct out *o, const struct report *r)
{
	unsigned int top = report_max_order(r);

	fprintf(o->f, "%sLinux %s%s: ", o->colour ? "\033[1m" : "", r->kernel,
		o->colour ? "\033[0m" : "");
	report_machine(o->f, r);
	print_reads(o->f, r);
	print_orders(o, "Folio allocation calls", "calls", r->alloc_calls, top);
	print_orders(o, "Folios added to the page cache", "folios", r->added, top);
	print_latency(o, &r->latency);
	fputc('\n', o->f);
	print_io(o->f, r);
	print_touches(o->f, r);
	print_waste(o, r);
	print_memory(o->f, &r->memory);
	report_tasks_text(o, r);
	if (r->measured)
		print_wall(o->f, r);
	if (*r->sha256)
		fprintf(o->f, "sha256:   %s\n", r->sha256);
	print_log(o, r->log);
}
