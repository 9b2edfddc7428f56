/*
 * machine/machine.h - one booted miniature.
 *
 * What the kernel keeps in globals hangs off struct machine, so two kernels run side by side in
 * one process. The machine and all its struct folio lie in one reservation aligned to
 * MACHINE_SPAN: folio_machine() is a mask. Upper floors keep their state behind the pointers at
 * the end; machine/ never looks into them.
 *
 * Mirrors    init/main.c in purpose; mm_init() and friends belong to fs/boot.h.
 * Invariant  the virtual clock never goes back.
 * Owner      machine_alloc() gives a machine to the caller; machine_free() releases all of it.
 * Errors     negative errno; user input (profile, sizes) also fills struct fl_error.
 * Differs    time is virtual: it moves only by charge() and by waiting for I/O.
 */
#ifndef FL_MACHINE_MACHINE_H
#define FL_MACHINE_MACHINE_H

#include "lib/error.h"
#include "lib/prng.h"
#include "lib/types.h"
#include "machine/knobs.h"
#include "trace/trace.h"

/* Alignment of a machine's reservation, and the most it may span. */
#define MACHINE_SPAN (1ULL << 32)

/* Smallest machine that can still read a file: a batch of LRU adds and a page to read into. */
#define MACHINE_MIN_PAGES 64

/* CPUs of a machine; one more is kswapd's, and an event keeps its CPU in a byte. */
#define MACHINE_MAX_CPUS 254

/* Room for an oops: message, call trace, what led to it. */
#define MACHINE_BUG_TEXT 2048

enum cost_id {
#define COST(name, function, ps, per, source) COST_##name,
#include "costs/default.def"
#undef COST
	COST_NR,
};

struct cost_info {
	const char *name;
	const char *function; /* what a profiler of the real kernel shows */
	u64 ps;		      /* default weight in picoseconds */
	const char *per;      /* the unit */
	const char *source;   /* where the weight comes from */
};

enum lock_id {
#define LOCK(id, kind, name, what) LOCK_##id,
#include "machine/locks.def"
#undef LOCK
	LOCK_NR,
};

/* Who is charged: the task that runs, or a kernel thread beside it. */
enum machine_context { CONTEXT_TASK, CONTEXT_KSWAPD, CONTEXT_NR };

struct machine_config {
	const char *kernel;	       /* profile expression; not kept */
	u64 memory;		       /* bytes of simulated memory */
	unsigned int page_size;	       /* 4096, 16384 or 65536 */
	u64 seed;		       /* of everything random in this machine */
	bool data;		       /* folios hold real bytes */
	int fragment_order;	       /* -1: memory is whole; else no free block above it ... */
	unsigned int fragment_percent; /* ... in that share of memory */
	const u64 *cost_ps;	       /* COST_NR weights, or NULL for the defaults; not kept */
	unsigned int cpus;	       /* 1 .. MACHINE_MAX_CPUS */
};

struct machine {
	/* Set at boot, constant afterwards. */
	struct knobs knobs;
	char kernel[128]; /* the profile expression */
	unsigned int page_shift;
	unsigned long page_size;
	unsigned int max_page_order;	  /* MAX_PAGE_ORDER of the buddy allocator */
	unsigned int max_pagecache_order; /* MAX_PAGECACHE_ORDER */
	unsigned long max_pfn;		  /* pages of memory */
	bool data;
	int fragment_order;
	unsigned int fragment_percent;
	u64 seed;
	unsigned int nr_cpus;	     /* of the tasks */
	u64 span;		     /* bytes reserved at the machine's own address */
	unsigned long forbidden_end; /* debug builds: no page from here on was ever out of bounds */
	char *arena;		     /* data only: page pfn at arena + (pfn << page_shift) */
	u8 *page_state; /* one byte a page: provenance, fate, poison (mm/page_state.h) */

	/* Time and accounts. */
	u64 clock_ps;			     /* virtual time of the running task */
	enum machine_context context;	     /* who is charged now */
	u64 cost_ps[COST_NR];		     /* weights in force */
	u64 cost_units[CONTEXT_NR][COST_NR]; /* units charged so far */
	u64 kswapd_ps;			     /* time of background reclaim, beside the clock */
	u64 locks[LOCK_NR];		     /* acquisitions */
	u64 page_used[8];		     /* pages used at least once, by provenance */
	u64 next_io_ps; /* when the next I/O completes; ~0 while none is under way */
	void (*io_poll)(struct machine *m); /* completes what is due; set by block/ */
	struct sched *sched;		    /* several tasks at a time (machine/sched.h), or NULL */
	unsigned int cpu; /* that runs now: 0 .. nr_cpus - 1, or nr_cpus for kswapd's */
	u64 switches;	  /* from task to task: what was looked up before may be gone */
	struct trace trace;
	struct prng prng;

	/* What the kernel said when it hit a BUG(), several lines; "" while it lives. */
	char bug[MACHINE_BUG_TEXT];
	/* Warnings and errors it went on after, the first of them; whole lines. */
	char log[MACHINE_BUG_TEXT];

	/* Fault injection for tests: when > 0 counts down, the allocation reaching 0 fails. */
	u64 fail_folio_alloc_in;

	/* State of the upper floors. */
	struct mm_state *mm;	     /* mm/internal.h: zone, lruvec, folio structs, batches */
	struct blk_state *blk;	     /* block/blk.h: what is under I/O */
	void *journal_info[256];     /* by CPU, of its task: fs/jbd2/jbd2.h its open handle */
	struct ra_policy *ra_policy; /* mm/ra_policy.h: decides windows, NULL: the kernel does */
};

/*
 * Reserve a machine and set everything above "State of the upper floors".
 * @span_extra: bytes wanted behind struct machine inside the reservation (struct folio array);
 * cut to what MACHINE_SPAN allows. 0, -EINVAL (@err: memory, page size or kernel), -ENOMEM.
 */
int machine_alloc(const struct machine_config *config, u64 span_extra, struct machine **ret,
		  struct fl_error *err);
/* Release the reservation, the arena and the page states. NULL is fine. */
void machine_free(struct machine *m);

/*
 * The kernel is at its end: add to the oops in machine->bug what the caller knows of it. The caller
 * goes on as after an I/O error, so that what is locked gets unlocked; whoever plays the machine
 * must not play anything after that.
 */
void machine_bug(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The kernel says something and goes on; what does not fit any more is lost. */
void machine_warn(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Defaults of the command line: v6.18, 64 GiB, 4 KiB pages, seed 1, no data, whole memory. */
void machine_config_init(struct machine_config *config);

/* 0 if @page_size is one that is supported; else -EINVAL with @err filled. */
int machine_check_page_size(u64 page_size, struct fl_error *err);

const struct cost_info *cost_info(unsigned int id);
/* The function a profiler shows for a cost on the kernel of @knobs. assets/costs/functions.def */
const char *cost_function(const struct knobs *knobs, unsigned int id);
const char *lock_name(unsigned int id);
/* Does whoever waits for it burn its CPU? Else it sleeps. */
bool lock_spins(unsigned int id);

static inline bool knob_id(const struct machine *m, enum knob_id id)
{
	return knobs_test(&m->knobs, id);
}

/* knob(m, MARK_ROUND_DOWN): does this kernel have the change? */
#define knob(m, NAME) knob_id(m, KNOB_##NAME)

/* Beside the task that woke it, or on a CPU of its own. */
static inline void charge_kswapd(struct machine *m, u64 ps)
{
	m->kswapd_ps += ps;
	if (m->sched)
		m->clock_ps += ps;
}

/* Charge @n units of a primitive to whoever runs. */
static inline void charge(struct machine *m, enum cost_id id, u64 n)
{
	m->cost_units[m->context][id] += n;
	if (likely(m->context == CONTEXT_TASK))
		m->clock_ps += m->cost_ps[id] * n;
	else
		charge_kswapd(m, m->cost_ps[id] * n);
}

/* The same for two primitives that always come together; the clock is touched once. */
static inline void charge2(struct machine *m, enum cost_id id, u64 n, enum cost_id id2, u64 n2)
{
	u64 ps = m->cost_ps[id] * n + m->cost_ps[id2] * n2;

	m->cost_units[m->context][id] += n;
	m->cost_units[m->context][id2] += n2;
	if (likely(m->context == CONTEXT_TASK))
		m->clock_ps += ps;
	else
		charge_kswapd(m, ps);
}

/* The running task sleeps until @ps; waiting for the past costs nothing. */
static inline void clock_advance_to(struct machine *m, u64 ps)
{
	if (ps > m->clock_ps)
		m->clock_ps = ps;
}

/* Take a lock that only counts, whatever the number of tasks. machine/lock.h has the others. */
static inline void lock_acquire(struct machine *m, enum lock_id id)
{
	m->locks[id]++;
}

static inline void *page_address(const struct machine *m, unsigned long pfn)
{
	return m->arena ? m->arena + (pfn << m->page_shift) : NULL;
}

#endif
