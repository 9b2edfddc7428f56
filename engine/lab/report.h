/*
 * lab/report.h - what a run has to say, in numbers and as JSON.
 *
 * Invariant  everything but wall_ns is virtual: the same command gives the same report.
 * Owner      a report is a snapshot, the run may be closed; the strings of config are the
 *            command line's.
 * Errors     none; report_json() returns NULL without memory.
 */
#ifndef FL_LAB_REPORT_H
#define FL_LAB_REPORT_H

#include "lab/run_tasks.h"
#include "lib/json.h"
#include "mm/page_state.h"

struct report_pages {
	u64 read;   /* brought in by anything but a write */
	u64 used;   /* of these, a reader got bytes of */
	u64 wasted; /* the rest */
};

struct report_windows {
	u64 sync;     /* page_cache_sync_ra(): a read missed the cache */
	u64 async;    /* page_cache_async_ra(): a read met a mark */
	u64 chosen;   /* windows that came of it, and of WILLNEED */
	u64 fallback; /* page_cache_ra_unbounded(): read in folios of the smallest order */
};

/* Memory that went bad. */
struct report_memory {
	u64 corrupted_kb;				/* HardwareCorrupted of /proc/meminfo */
	bool has_stats;					/* the kernel counts outcomes */
	u64 total, ignored, failed, delayed, recovered; /* that it counts */
	struct run_bad_page pages[RUN_SIGNALS];		/* the first of nr_pages */
	u64 nr_pages;
	struct run_signal signals[RUN_SIGNALS]; /* the first of nr_signals */
	u64 nr_signals;
};

struct report {
	struct run_config config; /* as played; machine.kernel is kernel[] */
	char kernel[128];
	u64 block_size, io_kb; /* in force */

	u64 ops, reads, bytes, errors;
	u64 touches;		       /* bytes read or stored through the mapping */
	u64 faults, major_faults;      /* exceptions, and those of them that read */
	int last_error;		       /* negative errno of the last failed call, 0 */
	u64 alloc_calls[TRACE_ORDERS]; /* calls of the allocator for a cache folio */
	u64 added[TRACE_ORDERS];       /* folios that got into the cache */
	struct report_windows windows;
	struct disk_stats disk;
	struct report_pages pages;
	struct page_stats provenance;
	u64 used[PROVENANCE_NR]; /* of provenance.brought, used at least once */
	u64 locks[LOCK_NR];
	struct report_memory memory;
	char log[MACHINE_BUG_TEXT]; /* what the kernel warned of: machine->log */
	struct histogram latency;   /* virtual ns of each read */
	u64 virtual_ns;
	struct tasks_report tasks; /* of a run of several; left to the caller, as 0 */

	/*
	 * Time spent on wasted pages: the readahead code's and the disk's, in proportion of
	 * wasted to read.
	 */
	u64 waste_ns;

	u64 wall_ns;	 /* host time of playing */
	bool measured;	 /* show it */
	char sha256[65]; /* of all bytes read, in order; "" without data */
};

/* Take everything off @run; wall_ns, measured and sha256 are left to the caller, as 0. */
void report_collect(struct report *r, const struct run *run);

/* One object, freed by the caller with cJSON_Delete(); NULL without memory. */
cJSON *report_json(const struct report *r);

/* The keys report_json() writes, for --help. */
#define REPORT_JSON_HELP                                                                           \
	"JSON keys:\n"                                                                             \
	"  kernel fs disk file image size page_size block_size memory ra_kb io_kb seed data\n"     \
	"                     the machine; file and image only where given; bytes and KiB\n"       \
	"  ops reads bytes    operations played, read calls, bytes they returned\n"                \
	"  touches            bytes read or stored through the mapping; with these:\n"             \
	"  faults major_faults  exceptions they took, faults that had to read\n"                   \
	"  errors             calls that failed inside the miniature\n"                            \
	"  folio_alloc_calls  {order: n}, allocator calls for the cache, failed\n"                 \
	"                     insertions included\n"                                               \
	"  folios_added       {order: n}, folios that got into the cache\n"                        \
	"  windows            sync (a read missed: page_cache_sync_ra), async (a read met\n"       \
	"                     a mark: page_cache_async_ra), chosen (windows that came of\n"        \
	"                     these and of WILLNEED), fallback (page_cache_ra_unbounded:\n"        \
	"                     read in folios of the smallest order)\n"                             \
	"  ios bios           requests the disk served, bios submitted\n"                          \
	"  pages              read, used (a reader got bytes of it), wasted (the rest)\n"          \
	"  waste_mb           wasted pages in 10^6 bytes\n"                                        \
	"  waste_ms           virtual time in readahead and on the disk's channel, times\n"        \
	"                     wasted / read\n"                                                     \
	"  provenance         {sync, async, forced, willneed, fault, write: {read, used}},\n"      \
	"                     pages by what brought them in\n"                                     \
	"  evicted evicted_unused   pages that left the cache; of these, never used\n"             \
	"  locks              {name: acquisitions}\n"                                              \
	"  memory_failure     with bad pages: hardware_corrupted_kb; stats (of the node, from\n"   \
	"                     6.12 on); pages: what was hit and what came of it; signals:\n"       \
	"                     SIGBUS, which operation got it, its code and lsb\n"                  \
	"  log                where the kernel warned of something: its lines\n"                   \
	"  virtual_ns         virtual time of the whole run\n"                                     \
	"  tasks              with several: {cpus, sharing, schedule, virtual_ns, bytes,\n"        \
	"                     switches, cpu: [{ops, bytes, ns, run_ns, spin_ns, sleep_ns,\n"       \
	"                     stolen_ns}], kswapd: {run_ns, ...}, locks: [{lock, function,\n"      \
	"                     taken, contended, wait_ns, hold_ns, max_wait_ns}]}\n"                \
	"  latency            p50 p90 p99 p999 max of a read in virtual ns (at most 1/32\n"        \
	"                     above the true value)\n"                                             \
	"  wall_ns            with --measure: host time\n"                                         \
	"  sha256             with --data: of all bytes read, in order\n"

/* Megabytes (10^6 bytes) of so many pages, as millionths. */
u64 report_page_bytes(const struct report *r, u64 pages);
/* The largest order that was allocated or added, at least 0. */
unsigned int report_max_order(const struct report *r);
/* "BUS_MCEERR_AR" or "BUS_MCEERR_AO" */
const char *report_signal_code(const struct run_signal *s);

#endif
