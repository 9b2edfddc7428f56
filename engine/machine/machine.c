#include "machine/machine.h"

#include <stdarg.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#ifdef FL_DEBUG
#include <sanitizer/asan_interface.h>
#endif

static const struct cost_info cost_table[COST_NR] = {
#define COST(name, function, ps, per, source) {#name, #function, ps, per, source},
#include "costs/default.def"
#undef COST
};

enum lock_kind { SPINS, SLEEPS };

static const struct {
	const char *name;
	enum lock_kind kind;
} lock_table[LOCK_NR] = {
#define LOCK(id, kind, name, what) [LOCK_##id] = {name, kind},
#include "machine/locks.def"
#undef LOCK
};

/* What the page size decides: include/linux/mmzone.h, huge_mm.h and pagemap.h on arm64 and x86. */
static const struct {
	unsigned int shift, max_page_order, pmd_order;
} page_sizes[] = {
	{12, 10, 9},
	{14, 11, 11},
	{16, 13, 13},
};

/* 2 * XA_CHUNK_SHIFT - 1: the largest order xas_split_alloc() can cut in one go. */
#define MAX_XAS_ORDER 11

const struct cost_info *cost_info(unsigned int id)
{
	return id < COST_NR ? &cost_table[id] : NULL;
}

static const struct {
	const char *function;
	enum knob_id knob;
	bool on;
	const char *name;
} renamed[] = {
#define RENAMED(function, knob, on, name) {#function, KNOB_##knob, on, #name},
#include "costs/functions.def"
#undef RENAMED
};

const char *cost_function(const struct knobs *knobs, unsigned int id)
{
	const char *function = cost_table[id].function;

	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (!strcmp(renamed[i].function, function) &&
		    knobs_test(knobs, renamed[i].knob) == renamed[i].on)
			return renamed[i].name;
	return function;
}

const char *lock_name(unsigned int id)
{
	return id < LOCK_NR ? lock_table[id].name : "";
}

bool lock_spins(unsigned int id)
{
	return id < LOCK_NR && lock_table[id].kind == SPINS;
}

void machine_config_init(struct machine_config *config)
{
	*config = (struct machine_config){
		.kernel = "v6.18",
		.memory = 64ULL << 30,
		.page_size = 4096,
		.seed = 1,
		.fragment_order = -1,
		.fragment_percent = 100,
		.cpus = 1,
	};
}

int machine_check_page_size(u64 page_size, struct fl_error *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(page_sizes); i++)
		if (page_size == 1ULL << page_sizes[i].shift)
			return 0;
	return fl_error_set(err, -EINVAL, "--page-size", 0,
			    "page size %" PRIu64 ", expected 4k, 16k or 64k", page_size);
}

/* Reserve @len bytes that cost nothing until touched; NULL on failure. */
static void *reserve(u64 len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The same, at a multiple of MACHINE_SPAN. */
static void *reserve_aligned(u64 len)
{
	char *p = mmap(NULL, len + MACHINE_SPAN, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	u64 head;

	if (p == MAP_FAILED)
		return NULL;
	head = round_up((u64)(uintptr_t)p, MACHINE_SPAN) - (u64)(uintptr_t)p;
	if (head)
		munmap(p, head);
	if (MACHINE_SPAN - head)
		munmap(p + head + len, MACHINE_SPAN - head);
	if (mprotect(p + head, len, PROT_READ | PROT_WRITE)) {
		munmap(p + head, len);
		return NULL;
	}
	return p + head;
}

static int check_config(const struct machine_config *config, struct fl_error *err)
{
	int ret = machine_check_page_size(config->page_size, err);
	u64 pages;

	if (ret)
		return ret;
	if (config->cpus < 1 || config->cpus > MACHINE_MAX_CPUS)
		return fl_error_set(err, -EINVAL, "--cpus", 0, "%u processors, expected 1 to %u",
				    config->cpus, MACHINE_MAX_CPUS);
	pages = config->memory / config->page_size;
	if (pages < MACHINE_MIN_PAGES)
		return fl_error_set(err, -EINVAL, "--memory", 0,
				    "memory of %" PRIu64
				    " bytes, expected at least %u pages (%u KiB)",
				    config->memory, MACHINE_MIN_PAGES,
				    MACHINE_MIN_PAGES * config->page_size / 1024);
	if (pages > UINT32_MAX)
		return fl_error_set(err, -EINVAL, "--memory", 0,
				    "memory of %" PRIu64
				    " bytes, expected less than 2^32 pages (%" PRIu64 " GiB)",
				    config->memory, (u64)config->page_size << 2);
	return 0;
}

static void set_page_size(struct machine *m, unsigned int page_size)
{
	unsigned int i;

	for (i = 0; page_size != 1U << page_sizes[i].shift; i++)
		;
	m->page_size = page_size;
	m->page_shift = page_sizes[i].shift;
	m->max_page_order = page_sizes[i].max_page_order;
	m->max_pagecache_order = page_sizes[i].pmd_order;
	if (knob(m, XAS_ORDER_CLAMP))
		m->max_pagecache_order = min(m->max_pagecache_order, MAX_XAS_ORDER + 0U);
}

static void set_constants(struct machine *m, const struct machine_config *config,
			  const struct knobs *knobs)
{
	m->knobs = *knobs;
	snprintf(m->kernel, sizeof(m->kernel), "%s", config->kernel);
	set_page_size(m, config->page_size);
	m->max_pfn = config->memory >> m->page_shift;
	m->data = config->data;
	m->fragment_order = config->fragment_order;
	m->fragment_percent = config->fragment_percent;
	m->seed = config->seed;
	m->nr_cpus = config->cpus;
	for (unsigned int i = 0; i < COST_NR; i++)
		m->cost_ps[i] = config->cost_ps ? config->cost_ps[i] : cost_table[i].ps;
	m->next_io_ps = ~0ULL;
	trace_init(&m->trace, &m->clock_ps);
	prng_seed(&m->prng, config->seed);
}

int machine_alloc(const struct machine_config *config, u64 span_extra, struct machine **ret,
		  struct fl_error *err)
{
	struct knobs knobs;
	struct machine *m;
	u64 span;
	int error;

	*ret = NULL;
	error = check_config(config, err);
	if (!error)
		error = knobs_parse(&knobs, config->kernel, err);
	if (error)
		return error;
	span = min_t(u64, round_up(sizeof(*m) + span_extra, 65536), MACHINE_SPAN);
	m = reserve_aligned(span);
	if (!m)
		return fl_error_set(err, -ENOMEM, NULL, 0,
				    "not enough address space for a machine");
	m->span = span;
	set_constants(m, config, &knobs);
	m->page_state = reserve(m->max_pfn);
	if (m->data)
		m->arena = reserve((u64)m->max_pfn << m->page_shift);
	if (!m->page_state || (m->data && !m->arena)) {
		machine_free(m);
		return fl_error_set(err, -ENOMEM, "--memory", 0,
				    "not enough address space for %" PRIu64 " bytes of memory",
				    config->memory);
	}
	*ret = m;
	return 0;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	if (m->page_state)
		munmap(m->page_state, m->max_pfn);
#ifdef FL_DEBUG
	if (m->arena) /* whoever is given these addresses next */
		ASAN_UNPOISON_MEMORY_REGION(m->arena, (u64)m->forbidden_end << m->page_shift);
#endif
	if (m->arena)
		munmap(m->arena, (u64)m->max_pfn << m->page_shift);
	munmap(m, m->span);
}

void machine_bug(struct machine *m, const char *fmt, ...)
{
	size_t len = strlen(m->bug);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->bug + len, sizeof(m->bug) - len, fmt, ap);
	va_end(ap);
}

void machine_warn(struct machine *m, const char *fmt, ...)
{
	size_t len = strlen(m->log);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(m->log + len, sizeof(m->log) - len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(m->log) - len)
		m->log[len] = 0;
}
