/* What is read off a run, and its JSON; the text is in cli/report_text.c. */
#include "lab/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mm/internal.h"

/* Provenances as JSON keys; the ones that read pages. */
static const struct {
	enum page_provenance id;
	const char *key;
	bool reads;
} provenances[] = {
	{PROVENANCE_SYNC, "sync", true},     {PROVENANCE_ASYNC, "async", true},
	{PROVENANCE_FORCED, "forced", true}, {PROVENANCE_WILLNEED, "willneed", true},
	{PROVENANCE_FAULT, "fault", true},   {PROVENANCE_WRITE, "write", false},
};

/* ---- collecting ---- */

static struct report_pages sum_pages(const struct report *r)
{
	struct report_pages p = {0};

	for (size_t i = 0; i < ARRAY_SIZE(provenances); i++) {
		if (!provenances[i].reads)
			continue;
		p.read += r->provenance.brought[provenances[i].id];
		p.used += r->used[provenances[i].id];
	}
	p.wasted = p.read - p.used;
	return p;
}

static u64 waste_ns(const struct report *r, u64 ra_ps)
{
	unsigned __int128 ps = (unsigned __int128)ra_ps + r->disk.busy_ps;

	if (!r->pages.read)
		return 0;
	return ps * r->pages.wasted / r->pages.read / 1000;
}

static void collect_counts(struct report *r, const struct trace *t)
{
	memcpy(r->alloc_calls, t->count[EV_fl_folio_alloc], sizeof(r->alloc_calls));
	memcpy(r->added, t->count[EV_mm_filemap_add_to_page_cache], sizeof(r->added));
	r->windows = (struct report_windows){
		.sync = trace_total(t, EV_page_cache_sync_ra),
		.async = trace_total(t, EV_page_cache_async_ra),
		.chosen = trace_total(t, EV_fl_window),
		.fallback = trace_total(t, EV_page_cache_ra_unbounded),
	};
}

static void collect_memory(struct report_memory *mem, const struct run *run)
{
	const struct mf_state *mf = &run->machine->mm->mf;
	size_t pages = min_t(size_t, run->nr_bad_pages, ARRAY_SIZE(mem->pages));

	mem->corrupted_kb = mf->num_poisoned_pages * run->machine->page_size >> 10;
	mem->has_stats = knob(run->machine, MF_NODE_STATS);
	mem->total = mf->stats.total;
	mem->ignored = mf->stats.ignored;
	mem->failed = mf->stats.failed;
	mem->delayed = mf->stats.delayed;
	mem->recovered = mf->stats.recovered;
	if (pages)
		memcpy(mem->pages, run->bad_pages, pages * sizeof(*mem->pages));
	mem->nr_pages = run->nr_bad_pages;
	memcpy(mem->signals, run->signals, sizeof(mem->signals));
	mem->nr_signals = run->nr_signals;
}

void report_collect(struct report *r, const struct run *run)
{
	const struct machine *m = run->machine;

	memset(r, 0, sizeof(*r));
	r->config = run->config;
	memcpy(r->kernel, m->kernel, sizeof(r->kernel));
	r->config.machine.kernel = NULL;
	r->block_size = 1u << run->sb->s_blocksize_bits;
	r->io_kb = run->sb->s_bdev ? run->sb->s_bdev->limits.max_sectors / 2 : 0;
	r->ops = run->ops;
	r->reads = run->reads;
	r->bytes = run->bytes;
	r->touches = run->touches;
	r->faults = trace_total(&m->trace, EV_fl_page_fault);
	r->major_faults = m->mm->vm.pgmajfault;
	r->errors = run->errors;
	r->last_error = run->last_error;
	collect_counts(r, &m->trace);
	if (run->sb->s_bdev)
		r->disk = run->sb->s_bdev->stats;
	r->provenance = m->mm->pages;
	memcpy(r->used, m->page_used, sizeof(r->used));
	r->pages = sum_pages(r);
	memcpy(r->locks, m->locks, sizeof(r->locks));
	r->latency = run->latency;
	collect_memory(&r->memory, run);
	memcpy(r->log, m->log, sizeof(r->log));
	r->virtual_ns = m->clock_ps / 1000;
	r->waste_ns = waste_ns(r, m->mm->ra_ps);
}

u64 report_page_bytes(const struct report *r, u64 pages)
{
	return pages * r->config.machine.page_size;
}

const char *report_signal_code(const struct run_signal *s)
{
	return s->action_required ? "BUS_MCEERR_AR" : "BUS_MCEERR_AO";
}

unsigned int report_max_order(const struct report *r)
{
	unsigned int order = TRACE_ORDERS - 1;

	while (order && !r->alloc_calls[order] && !r->added[order])
		order--;
	return order;
}

/* ---- JSON ---- */

/* Remembers whether memory ran out, so that callers add without looking. */
struct writer {
	bool failed;
};

static void add_u64(struct writer *w, cJSON *obj, const char *key, u64 v)
{
	w->failed |= json_add_u64(obj, key, v) != 0;
}

static cJSON *add_object(struct writer *w, cJSON *obj, const char *key)
{
	cJSON *child = cJSON_AddObjectToObject(obj, key);

	w->failed |= !child;
	return child;
}

/* Millionths as a decimal fraction: 1500000 is 1.500000. */
static void add_millionths(struct writer *w, cJSON *obj, const char *key, u64 v)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, v / 1000000, v % 1000000);
	w->failed |= !cJSON_AddRawToObject(obj, key, text);
}

/* Bytes a person chose, such as a path, need not be UTF-8; JSON must be. */
static void add_text(struct writer *w, cJSON *obj, const char *key, const char *s)
{
	char text[4096];
	size_t n = 0;

	for (; *s && n < sizeof(text) - 1; s++)
		text[n++] = (unsigned char)*s < 0x80 ? *s : '?';
	text[n] = 0;
	w->failed |= !cJSON_AddStringToObject(obj, key, text);
}

static void add_orders(struct writer *w, cJSON *obj, const char *key, const u64 *counts)
{
	cJSON *child = add_object(w, obj, key);
	char order[8];

	for (unsigned int i = 0; i < TRACE_ORDERS; i++) {
		snprintf(order, sizeof(order), "%u", i);
		if (counts[i])
			add_u64(w, child, order, counts[i]);
	}
}

static void add_machine(struct writer *w, cJSON *obj, const struct report *r)
{
	const struct run_config *c = &r->config;

	add_text(w, obj, "kernel", r->kernel);
	add_text(w, obj, "fs", c->fs);
	add_text(w, obj, "disk", c->disk ? c->disk : run_has_backing(c) ? "host" : "hole");
	if (c->file)
		add_text(w, obj, "file", c->file);
	if (c->image)
		add_text(w, obj, "image", c->image);
	add_u64(w, obj, "size", c->size);
	add_u64(w, obj, "page_size", c->machine.page_size);
	add_u64(w, obj, "block_size", r->block_size);
	add_u64(w, obj, "memory", c->machine.memory);
	add_u64(w, obj, "ra_kb", c->ra_bytes >> 10);
	add_u64(w, obj, "io_kb", r->io_kb);
	add_u64(w, obj, "seed", c->machine.seed);
	w->failed |= !cJSON_AddBoolToObject(obj, "data", c->machine.data);
}

static void add_windows(struct writer *w, cJSON *obj, const struct report_windows *windows)
{
	cJSON *child = add_object(w, obj, "windows");

	add_u64(w, child, "sync", windows->sync);
	add_u64(w, child, "async", windows->async);
	add_u64(w, child, "chosen", windows->chosen);
	add_u64(w, child, "fallback", windows->fallback);
}

static void add_pages(struct writer *w, cJSON *obj, const struct report *r)
{
	cJSON *child = add_object(w, obj, "pages");

	add_u64(w, child, "read", r->pages.read);
	add_u64(w, child, "used", r->pages.used);
	add_u64(w, child, "wasted", r->pages.wasted);
	add_millionths(w, obj, "waste_mb", report_page_bytes(r, r->pages.wasted));
	add_millionths(w, obj, "waste_ms", r->waste_ns);
	child = add_object(w, obj, "provenance");
	for (size_t i = 0; i < ARRAY_SIZE(provenances); i++) {
		cJSON *kind = add_object(w, child, provenances[i].key);

		add_u64(w, kind, "read", r->provenance.brought[provenances[i].id]);
		add_u64(w, kind, "used", r->used[provenances[i].id]);
	}
	add_u64(w, obj, "evicted", r->provenance.evicted);
	add_u64(w, obj, "evicted_unused", r->provenance.evicted_unused);
}

static void add_latency(struct writer *w, cJSON *obj, const struct histogram *h)
{
	cJSON *child = add_object(w, obj, "latency");

	add_u64(w, child, "p50", histogram_quantile(h, 500));
	add_u64(w, child, "p90", histogram_quantile(h, 900));
	add_u64(w, child, "p99", histogram_quantile(h, 990));
	add_u64(w, child, "p999", histogram_quantile(h, 999));
	add_u64(w, child, "max", h->max);
}

static void add_locks(struct writer *w, cJSON *obj, const u64 *locks)
{
	cJSON *child = add_object(w, obj, "locks");

	for (unsigned int i = 0; i < LOCK_NR; i++)
		add_u64(w, child, lock_name(i), locks[i]);
}

static cJSON *add_item(struct writer *w, cJSON *array)
{
	cJSON *item = cJSON_CreateObject();

	w->failed |= !item || !cJSON_AddItemToArray(array, item);
	return item;
}

static cJSON *add_array(struct writer *w, cJSON *obj, const char *key)
{
	cJSON *array = cJSON_AddArrayToObject(obj, key);

	w->failed |= !array;
	return array;
}

static void add_bad_pages(struct writer *w, cJSON *obj, const struct report_memory *mem)
{
	cJSON *array = add_array(w, obj, "pages");

	for (size_t i = 0; i < min_t(u64, mem->nr_pages, ARRAY_SIZE(mem->pages)); i++) {
		const struct run_bad_page *page = &mem->pages[i];
		cJSON *item = add_item(w, array);

		add_u64(w, item, "line", page->line);
		add_text(w, item, "op", workload_op_name(page->soft ? WL_SOFT_OFFLINE : WL_POISON));
		add_u64(w, item, "off", page->off);
		if (page->type) {
			add_text(w, item, "page", page->type);
			add_text(w, item, "result", page->result);
		}
		if (page->error)
			add_text(w, item, "errno", strerrorname_np(-page->error));
	}
}

static void add_signals(struct writer *w, cJSON *obj, const struct report_memory *mem)
{
	cJSON *array = add_array(w, obj, "signals");

	for (size_t i = 0; i < min_t(u64, mem->nr_signals, ARRAY_SIZE(mem->signals)); i++) {
		const struct run_signal *s = &mem->signals[i];
		cJSON *item = add_item(w, array);

		add_u64(w, item, "line", s->line);
		add_text(w, item, "op", workload_op_name(s->op));
		add_u64(w, item, "off", s->off);
		add_text(w, item, "code", report_signal_code(s));
		add_u64(w, item, "lsb", s->addr_lsb);
	}
}

static void add_memory(struct writer *w, cJSON *obj, const struct report_memory *mem)
{
	cJSON *child, *stats;

	if (!mem->nr_pages && !mem->nr_signals)
		return;
	child = add_object(w, obj, "memory_failure");
	add_u64(w, child, "hardware_corrupted_kb", mem->corrupted_kb);
	if (mem->has_stats) {
		stats = add_object(w, child, "stats");
		add_u64(w, stats, "total", mem->total);
		add_u64(w, stats, "ignored", mem->ignored);
		add_u64(w, stats, "failed", mem->failed);
		add_u64(w, stats, "delayed", mem->delayed);
		add_u64(w, stats, "recovered", mem->recovered);
	}
	add_u64(w, child, "nr_pages", mem->nr_pages);
	add_bad_pages(w, child, mem);
	add_u64(w, child, "nr_signals", mem->nr_signals);
	add_signals(w, child, mem);
}

static void add_log(struct writer *w, cJSON *obj, const char *log)
{
	cJSON *array = *log ? add_array(w, obj, "log") : NULL;

	for (size_t n; *log; log += n + (log[n] == '\n')) {
		cJSON *line;
		char text[MACHINE_BUG_TEXT];

		n = strcspn(log, "\n");
		memcpy(text, log, n);
		text[n] = 0;
		line = cJSON_CreateString(text);
		if (line && cJSON_AddItemToArray(array, line))
			continue;
		cJSON_Delete(line);
		w->failed = true;
	}
}

static void add_cpu_times(struct writer *w, cJSON *obj, const struct cpu_times *times)
{
	add_u64(w, obj, "run_ns", times->run_ps / 1000);
	add_u64(w, obj, "spin_ns", times->spin_ps / 1000);
	add_u64(w, obj, "sleep_ns", times->sleep_ps / 1000);
	add_u64(w, obj, "stolen_ns", times->stolen_ps / 1000);
}

static void add_lock_site(struct writer *w, cJSON *array, const struct lock_site *site)
{
	cJSON *obj = add_item(w, array);

	add_text(w, obj, "lock", lock_name(site->id));
	add_text(w, obj, "function", site->function);
	add_u64(w, obj, "taken", site->taken);
	add_u64(w, obj, "contended", site->contended);
	add_u64(w, obj, "wait_ns", site->wait_ps / 1000);
	add_u64(w, obj, "hold_ns", site->hold_ps / 1000);
	add_u64(w, obj, "max_wait_ns", site->max_wait_ps / 1000);
}

static void add_tasks(struct writer *w, cJSON *obj, const struct report *r)
{
	const struct tasks_report *t = &r->tasks;
	cJSON *child = add_object(w, obj, "tasks"), *array;

	add_u64(w, child, "cpus", t->nr);
	add_text(w, child, "sharing", run_sharing_name(r->config.sharing));
	add_u64(w, child, "schedule", t->schedule);
	add_u64(w, child, "virtual_ns", t->virtual_ns);
	add_u64(w, child, "bytes", t->bytes);
	add_u64(w, child, "switches", t->switches);
	array = add_array(w, child, "cpu");
	for (unsigned int i = 0; i < t->nr; i++) {
		cJSON *cpu = add_item(w, array);

		add_u64(w, cpu, "ops", t->task[i].ops);
		add_u64(w, cpu, "bytes", t->task[i].bytes);
		add_u64(w, cpu, "ns", t->task[i].ns);
		add_cpu_times(w, cpu, &t->task[i].times);
	}
	add_cpu_times(w, add_object(w, child, "kswapd"), &t->kswapd);
	array = add_array(w, child, "locks");
	for (unsigned int i = 0; i < t->nr_sites; i++)
		add_lock_site(w, array, &t->sites[i]);
}

cJSON *report_json(const struct report *r)
{
	struct writer w = {false};
	cJSON *obj = cJSON_CreateObject();

	w.failed = !obj;
	add_machine(&w, obj, r);
	add_u64(&w, obj, "ops", r->ops);
	add_u64(&w, obj, "reads", r->reads);
	add_u64(&w, obj, "bytes", r->bytes);
	if (r->touches) {
		add_u64(&w, obj, "touches", r->touches);
		add_u64(&w, obj, "faults", r->faults);
		add_u64(&w, obj, "major_faults", r->major_faults);
	}
	add_u64(&w, obj, "errors", r->errors);
	add_orders(&w, obj, "folio_alloc_calls", r->alloc_calls);
	add_orders(&w, obj, "folios_added", r->added);
	add_windows(&w, obj, &r->windows);
	add_u64(&w, obj, "ios", r->disk.ios);
	add_u64(&w, obj, "bios", r->disk.bios);
	add_pages(&w, obj, r);
	add_locks(&w, obj, r->locks);
	add_memory(&w, obj, &r->memory);
	add_log(&w, obj, r->log);
	add_u64(&w, obj, "virtual_ns", r->virtual_ns);
	if (r->tasks.nr)
		add_tasks(&w, obj, r);
	add_latency(&w, obj, &r->latency);
	if (r->measured)
		add_u64(&w, obj, "wall_ns", r->wall_ns);
	if (*r->sha256)
		add_text(&w, obj, "sha256", r->sha256);
	if (w.failed) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}
