#include "host/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/play.h"
#include "lab/run.h"

#define FILE_BYTES (64ULL << 20)
#define ROUNDS 9

/* Groups of primitives that one workload tells apart; COST_NR ends a list. */
static const enum cost_id copy_group[] = { COST_COPY_BYTE, COST_NR };
static const enum cost_id call_group[] = { COST_SYSCALL, COST_VFS_READ, COST_GET_PAGES,
					   COST_READ_BATCH, COST_COPY_FOLIO, COST_MARK_ACCESSED,
					   COST_NR };
static const enum cost_id folio_group[] = { COST_ALLOC_FOLIO, COST_ADD_FOLIO, COST_LRU_ADD,
					    COST_COMPLETE_FOLIO, COST_NR };
static const enum cost_id page_group[] = { COST_ALLOC_ORDER, COST_ADD_SLOT, COST_RA_DECIDE,
					   COST_READ_PAGES, COST_ZERO_BYTE, COST_NR };
static const enum cost_id drop_group[] = { COST_REMOVE_FOLIO, COST_FREE_FOLIO, COST_NR };
static const enum cost_id fault_group[] = { COST_PAGE_FAULT, COST_HANDLE_MM_FAULT,
					    COST_FAULT_AROUND, COST_FILEMAP_FAULT, COST_XAS_STEP,
					    COST_NEXT_FOLIO, COST_SET_PTE, COST_PTE_STORE,
					    COST_STAT_MAP, COST_NR };

/* What is timed: @ops after @prepare, on a sparse file of 64 MiB. */
static const struct step {
	const char *name;
	const char *prepare, *ops;
	u64 count;			/* operations in @ops */
	const enum cost_id *group;	/* NULL: only compared */
} steps[] = {
	{ "read 1m, cached", "read 1m 64; seek 0", "read 1m 64", 64, copy_group },
	{ "read 4k, cached", "read 1m 64; seek 0", "read 4k 16384", 16384, call_group },
	{ "willneed 2 MiB", NULL, "fadvise willneed 0 2m", 1, folio_group },
	{ "read 1m, not cached", NULL, "read 1m 64", 64, page_group },
	{ "drop 64 MiB", "read 1m 64", "fadvise dontneed 0 0", 1, drop_group },
	{ "touch a page, cached", "read 1m 64; mmap", "touch 0 4096 16384", 16384, fault_group },
	{ "read 16k, cached", "read 1m 64; seek 0", "read 16k 4096", 4096, NULL },
	{ "read 64k, cached", "read 1m 64; seek 0", "read 64k 1024", 1024, NULL },
	{ "read 256k, cached", "read 1m 64; seek 0", "read 256k 256", 256, NULL },
	{ "read 4k, not cached", NULL, "read 4k 16384", 16384, NULL },
	{ "read 16k, not cached", NULL, "read 16k 4096", 4096, NULL },
	{ "read 64k, not cached", NULL, "read 64k 1024", 1024, NULL },
	{ "random read 4k, not cached", "fadvise random 0 0",
	  "pread 33m 4k; pread 5m 4k; pread 60m 4k; pread 17m 4k; pread 48m 4k; pread 9m 4k; "
	  "pread 25m 4k; pread 40m 4k", 8, NULL },
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int parse_ops(const char *text, struct workload *w, struct fl_error *err)
{
	return workload_parse(w, "calibrate", text, strlen(text), err);
}

/* ---- on the host ---- */

static void play_all(struct host_player *p, const struct workload *w)
{
	for (size_t i = 0; i < w->nr; i++)
		for (u64 turn = 0; turn < w->ops[i].n; turn++)
			host_player_op(p, &w->ops[i], turn);
}

static int time_round(const char *path, const struct workload *prepare, const struct workload *ops,
		      u64 *ns, struct fl_error *err)
{
	struct host_player p;
	int ret = host_player_open(&p, path, ops->nr ? ops : prepare, err);
	u64 start;

	if (ret)
		return ret;
	p.no_wait = true;
	ret = host_player_drop(&p, err);
	if (!ret) {
		play_all(&p, prepare);
		start = now_ns();
		play_all(&p, ops);
		*ns = now_ns() - start;
	}
	host_player_close(&p);
	return ret;
}

/* The best of several rounds: what disturbs a measurement only ever adds to it. */
static int measure(const char *path, const struct workload *prepare, const struct workload *ops,
		   u64 *ns, struct fl_error *err)
{
	*ns = ~0ULL;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		u64 round;
		int ret = time_round(path, prepare, ops, &round, err);

		if (ret)
			return ret;
		*ns = min(*ns, round);
	}
	return 0;
}

/* ---- on the miniature ---- */

static int predict(const struct calibration *cal, const struct workload *prepare,
		   const struct workload *ops, u64 *units, u64 *ns, struct fl_error *err)
{
	struct run_config config;
	struct run *run;
	u64 before[COST_NR], start;
	int ret;

	run_config_init(&config);
	config.size = FILE_BYTES;
	config.fs = cal->dev.fs[0] ? cal->dev.fs : "ext4";
	config.ra_bytes = cal->dev.read_ahead_kb << 10;
	config.io_bytes = cal->dev.max_sectors_kb << 10;
	config.machine.cost_ps = cal->cost_ps;
	if (cal->dev.profile)
		config.machine.kernel = cal->dev.profile;
	ret = run_open(&config, &run, err);
	if (!ret)
		ret = run_workload(run, prepare, err);
	if (ret) {
		run_close(run);
		return ret;
	}
	memcpy(before, run->machine->cost_units[CONTEXT_TASK], sizeof(before));
	start = run->machine->clock_ps;
	ret = run_workload(run, ops, err);
	for (unsigned int i = 0; i < COST_NR; i++)
		units[i] = run->machine->cost_units[CONTEXT_TASK][i] - before[i];
	*ns = (run->machine->clock_ps - start) / 1000;
	run_close(run);
	return ret;
}

/* Scale the group so that the prediction becomes what was measured; what else was charged stays. */
static void fit_group(struct calibration *cal, const enum cost_id *group, const u64 *units,
		      u64 predicted_ns, u64 measured_ns)
{
	u64 group_ps = 0, rest_ps, target_ps = measured_ns * 1000;

	for (const enum cost_id *id = group; *id != COST_NR; id++)
		group_ps += units[*id] * cal->cost_ps[*id];
	rest_ps = predicted_ns * 1000 - min(group_ps, predicted_ns * 1000);
	if (!group_ps)
		return;
	/* Never below a tenth: then something else was measured. */
	target_ps = max(target_ps > rest_ps ? target_ps - rest_ps : 0, group_ps / 10);
	for (const enum cost_id *id = group; *id != COST_NR; id++) {
		double scaled = (double)cal->cost_ps[*id] * target_ps / group_ps;

		cal->cost_ps[*id] = max_t(u64, scaled + 0.5, 1);
	}
}

static int do_step(struct calibration *cal, const char *path, const struct step *step, bool fit,
		   struct fl_error *err)
{
	struct calibrate_row *row = &cal->rows[cal->nr_rows];
	struct workload prepare, ops;
	u64 units[COST_NR], predicted = 0, measured = 0;
	int ret = parse_ops(step->prepare ? step->prepare : "", &prepare, err);

	if (ret)
		return ret;
	ret = parse_ops(step->ops, &ops, err);
	if (!ret)
		ret = predict(cal, &prepare, &ops, units, &predicted, err);
	if (!ret)
		ret = measure(path, &prepare, &ops, &measured, err);
	if (!ret && fit)
		fit_group(cal, step->group, units, predicted, measured);
	if (!ret && !fit) {
		*row = (struct calibrate_row){ .name = step->name,
					       .predicted_ns = predicted / step->count,
					       .measured_ns = measured / step->count };
		cal->nr_rows++;
	}
	workload_fini(&ops);
	workload_fini(&prepare);
	return ret;
}

static int make_file(const char *dir, char *path, size_t size, struct fl_error *err)
{
	int fd;

	snprintf(path, size, "%s/foliolab-calibrate.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return fl_error_set(err, -errno, dir, 0, "%s, expected a folder to write in",
				    strerror(errno));
	if (ftruncate(fd, FILE_BYTES)) {
		int ret = fl_error_set(err, -errno, path, 0, "%s", strerror(errno));

		close(fd);
		unlink(path);
		return ret;
	}
	close(fd);
	return 0;
}

static int run_steps(struct calibration *cal, const char *path, bool fit,
		     void (*progress)(const char *), struct fl_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(steps) && !ret; i++) {
		if (fit && !steps[i].group)
			continue;
		if (progress)
			progress(steps[i].name);
		ret = do_step(cal, path, &steps[i], fit, err);
	}
	return ret;
}

int host_calibrate(const char *dir, struct calibration *cal, void (*progress)(const char *what),
		   struct fl_error *err)
{
	char path[4096];
	int ret, fd;

	memset(cal, 0, sizeof(*cal));
	costs_default(cal->cost_ps);
	ret = make_file(dir, path, sizeof(path), err);
	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		host_device_read(fd, &cal->dev);
		close(fd);
	}
	ret = run_steps(cal, path, true, progress, err);
	if (!ret)
		ret = run_steps(cal, path, false, progress, err);
	unlink(path);
	return ret;
}
