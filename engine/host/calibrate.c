#include "host/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/calibrate_fit.h"
#include "host/play.h"
#include "lab/run.h"

#define FILE_BYTES (64ULL << 20)

/* What is timed: @ops after @prepare, on a sparse file of 64 MiB. */
static const struct step {
	const char *name;
	const char *prepare, *ops;
	u64 count; /* operations in @ops */
	bool fit;  /* the weights are fitted to it */
} steps[] = {
	{"read 1m, cached", "read 1m 64; seek 0", "read 1m 64", 64, true},
	{"read 256k, cached", "read 1m 64; seek 0", "read 256k 256", 256, false},
	{"read 64k, cached", "read 1m 64; seek 0", "read 64k 1024", 1024, true},
	{"read 16k, cached", "read 1m 64; seek 0", "read 16k 4096", 4096, false},
	{"read 4k, cached", "read 1m 64; seek 0", "read 4k 16384", 16384, true},
	{"read 64k, small folios", "fadvise random 0 0; read 4k 4096; seek 0", "read 64k 256", 256,
	 true},
	{"read 4k, small folios", "fadvise random 0 0; read 4k 4096; seek 0", "read 4k 4096", 4096,
	 false},
	{"read 1m, not cached", NULL, "read 1m 64", 64, true},
	{"read 128k, not cached", NULL, "read 128k 512", 512, false},
	{"read 16k, not cached", NULL, "read 16k 4096", 4096, true},
	{"read 4k, not cached", NULL, "read 4k 16384", 16384, false},
	{"random read 4k, not cached", "fadvise random 0 0", "read 4k 4096", 4096, true},
	{"willneed 2 MiB", NULL,
	 "fadvise willneed 0 2m; fadvise willneed 8m 2m; fadvise willneed 16m 2m", 3, true},
	{"drop 64 MiB, large folios", "read 1m 64", "fadvise dontneed 0 0", 1, true},
	{"drop 16 MiB, small folios", "fadvise random 0 0; read 4k 4096", "fadvise dontneed 0 0", 1,
	 true},
	{"touch a page, cached", "read 1m 64; mmap", "touch 0 4096 16384", 16384, true},
	{"touch every 64th page", "read 1m 64; mmap", "touch 0 262144 256", 256, true},
	{"touch every 16th page", "read 1m 64; mmap", "touch 0 65536 1024", 1024, false},
};

#define NR_STEPS ARRAY_SIZE(steps)

/* A step's workloads and times while they are measured. */
struct timed {
	struct workload prepare, ops;
	const struct workload *longer; /* the one with the longest reads, for the buffer */
	u64 units[COST_NR];
	u64 ns[2][CALIBRATE_ROUNDS_MAX / 2]; /* of the even and of the odd rounds */
};

static s64 longest(const struct workload *w)
{
	s64 len = 0;

	for (size_t i = 0; i < w->nr; i++)
		len = max(len, w->ops[i].len);
	return len;
}

static int parse_ops(const char *text, struct workload *w, struct fl_error *err)
{
	return workload_parse(w, "calibrate", text ? text : "", text ? strlen(text) : 0, err);
}

static void timed_fini(struct timed *t)
{
	for (unsigned int i = 0; i < NR_STEPS; i++) {
		workload_fini(&t[i].prepare);
		workload_fini(&t[i].ops);
	}
	free(t);
}

static int timed_init(struct timed **ret, struct fl_error *err)
{
	struct timed *t = calloc(NR_STEPS, sizeof(*t));
	int error = t ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	for (unsigned int i = 0; i < NR_STEPS && !error; i++) {
		error = parse_ops(steps[i].prepare, &t[i].prepare, err);
		if (!error)
			error = parse_ops(steps[i].ops, &t[i].ops, err);
		t[i].longer =
			longest(&t[i].prepare) > longest(&t[i].ops) ? &t[i].prepare : &t[i].ops;
	}
	if (error && t)
		timed_fini(t);
	*ret = t;
	return error;
}

/* ---- on the host ---- */

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void play_all(struct host_player *p, const struct workload *w)
{
	for (size_t i = 0; i < w->nr; i++)
		for (u64 turn = 0; turn < w->ops[i].n; turn++)
			host_player_op(p, &w->ops[i], turn);
}

static int time_round(const char *path, const struct timed *t, u64 *ns, struct fl_error *err)
{
	struct host_player p;
	int ret = host_player_open(&p, path, t->longer, err);
	u64 start;

	if (ret)
		return ret;
	p.no_wait = true;
	ret = host_player_drop(&p, err);
	if (!ret) {
		play_all(&p, &t->prepare);
		start = now_ns();
		play_all(&p, &t->ops);
		*ns = now_ns() - start;
	}
	host_player_close(&p);
	return ret;
}

static int time_all(const char *path, struct timed *t, unsigned int rounds,
		    void (*progress)(const char *), struct fl_error *err)
{
	int ret = 0;

	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < NR_STEPS && !ret; i++) {
			char what[80];

			snprintf(what, sizeof(what), "round %u of %u: %s", round + 1, rounds,
				 steps[i].name);
			if (progress)
				progress(what);
			ret = time_round(path, &t[i], &t[i].ns[round % 2][round / 2], err);
		}
	return ret;
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void sort_times(struct timed *t, unsigned int rounds)
{
	for (unsigned int i = 0; i < NR_STEPS; i++)
		for (unsigned int odd = 0; odd < 2; odd++)
			qsort(t[i].ns[odd], rounds / 2, sizeof(u64), compare_u64);
}

/* ---- on the miniature ---- */

static int predict(const struct calibration *cal, struct timed *t, u64 *ns, struct fl_error *err)
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
		ret = run_workload(run, &t->prepare, err);
	if (ret) {
		run_close(run);
		return ret;
	}
	memcpy(before, run->machine->cost_units[CONTEXT_TASK], sizeof(before));
	start = run->machine->clock_ps;
	ret = run_workload(run, &t->ops, err);
	for (unsigned int i = 0; i < COST_NR; i++)
		t->units[i] = run->machine->cost_units[CONTEXT_TASK][i] - before[i];
	*ns = (run->machine->clock_ps - start) / 1000;
	run_close(run);
	return ret;
}

/* ---- both together ---- */

static int fit_weights(struct calibration *cal, struct timed *t, struct fl_error *err)
{
	struct fit_row *rows = calloc(NR_STEPS, sizeof(*rows));
	unsigned int nr = 0;
	int ret = rows ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	for (unsigned int i = 0; i < NR_STEPS && !ret; i++) {
		u64 ns;

		if (!steps[i].fit)
			continue;
		ret = predict(cal, &t[i], &ns, err);
		memcpy(rows[nr].units, t[i].units, sizeof(t[i].units));
		rows[nr++].measured_ns = t[i].ns[0][0];
	}
	if (!ret)
		calibrate_fit(rows, nr, cal->cost_ps);
	free(rows);
	return ret;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int compare_rows(struct calibration *cal, struct timed *t, unsigned int rounds,
			struct fl_error *err)
{
	double spreads[NR_STEPS];

	for (unsigned int i = 0; i < NR_STEPS; i++) {
		const u64 *odd = t[i].ns[1];
		u64 predicted;
		int ret = predict(cal, &t[i], &predicted, err);

		if (ret)
			return ret;
		spreads[i] = (double)odd[rounds / 4] / max_t(u64, odd[0], 1) - 1;
		cal->rows[cal->nr_rows++] = (struct calibrate_row){
			.name = steps[i].name,
			.predicted_ns = predicted / steps[i].count,
			.measured_ns = odd[0] / steps[i].count,
			.spread = spreads[i],
			.fitted = steps[i].fit,
		};
	}
	qsort(spreads, NR_STEPS, sizeof(*spreads), compare_double);
	cal->spread = spreads[NR_STEPS / 2];
	return 0;
}

/* A locked operation is the same one wherever the miniature counts it. */
static void use_bare(struct calibration *cal)
{
	static const enum cost_id locked[] = {COST_RMW_LOOKUP, COST_RMW_REFS, COST_RMW_RMAP};

	for (unsigned int i = 0; i < ARRAY_SIZE(locked) && cal->bare.atomic_ps; i++)
		cal->cost_ps[locked[i]] = cal->bare.atomic_ps;
}

/* A sparse file without a name, and a path to it all the same. */
static int make_file(const char *dir, char *path, size_t size, struct fl_error *err)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return fl_error_set(err, -errno, dir, 0, "%s, expected a folder to write in",
				    strerror(errno));
	if (ftruncate(fd, FILE_BYTES)) {
		int ret = fl_error_set(err, -errno, dir, 0, "%s", strerror(errno));

		close(fd);
		return ret;
	}
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

static int measure(struct calibration *cal, const char *path, unsigned int rounds,
		   void (*progress)(const char *), struct fl_error *err)
{
	struct timed *t;
	int ret = timed_init(&t, err);

	if (ret)
		return ret;
	ret = time_all(path, t, rounds, progress, err);
	sort_times(t, rounds);
	if (!ret)
		ret = fit_weights(cal, t, err);
	if (!ret)
		ret = compare_rows(cal, t, rounds, err);
	timed_fini(t);
	return ret;
}

int host_calibrate(const char *dir, unsigned int rounds, struct calibration *cal,
		   void (*progress)(const char *what), struct fl_error *err)
{
	char path[64];
	int ret, fd;

	memset(cal, 0, sizeof(*cal));
	costs_default(cal->cost_ps);
	fd = make_file(dir, path, sizeof(path), err);
	if (fd < 0)
		return fd;
	host_device_read(fd, &cal->dev);
	if (progress)
		progress("memory and disk");
	calibrate_bare_memory(&cal->bare);
	calibrate_bare_disk(&cal->bare, dir);
	use_bare(cal);
	ret = measure(cal, path, rounds + rounds % 2, progress, err);
	close(fd);
	return ret;
}
