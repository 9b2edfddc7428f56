#include "cli/play.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/run_record.h"
#include "lib/strutil.h"
#include "trace/code.h"

#define WORD_SHOWN 60

/* Repeated reads are played so many at a time, so that progress can be told in between. */
#define READS_AT_ONCE (1u << 18)
#define BYTES_AT_ONCE (1ll << 30)

#define PROGRESS_AFTER_NS 1000000000ull
#define PROGRESS_EVERY_NS 100000000ull

/* ---- the workload ---- */

static int only_one(const struct workload_arg *arg, const char *word, struct fl_error *err)
{
	if (!arg->path && !arg->ops)
		return 0;
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "a second workload '%.*s', expected one file or one -e OPS",
			    shown_len(word, WORD_SHOWN), word);
}

int workload_arg_set_path(struct workload_arg *arg, const char *path, struct fl_error *err)
{
	int ret = only_one(arg, path, err);

	if (!ret)
		arg->path = path;
	return ret;
}

int workload_arg_set_ops(struct workload_arg *arg, const char *ops, struct fl_error *err)
{
	int ret = only_one(arg, ops, err);

	if (!ret)
		arg->ops = ops;
	return ret;
}

static bool is_lua(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".lua");
}

bool workload_arg_is_lua(const struct workload_arg *arg)
{
	return arg->path && is_lua(arg->path);
}

int workload_arg_load(const struct workload_arg *arg, struct workload *ret, struct fl_error *err)
{
	if (arg->ops)
		return workload_parse(ret, "-e", arg->ops, strlen(arg->ops), err);
	if (!arg->path)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no workload, expected FILE.wl or -e OPS");
	if (is_lua(arg->path))
		return fl_error_set(err, -EINVAL, arg->path, 0,
				    "a Lua workload cannot be used here, expected a workload file "
				    "(FILE.wl)");
	return workload_load(ret, arg->path, err);
}

/* ---- progress ---- */

struct progress {
	bool tty;
	bool shown;
	u64 start_ns, last_ns;
	u64 done, total; /* operations */
};

static u64 host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void progress_start(struct progress *p, const struct workload *w)
{
	*p = (struct progress){.tty = isatty(STDERR_FILENO), .start_ns = host_ns()};
	for (size_t i = 0; i < w->nr; i++)
		p->total += workload_op_count(&w->ops[i]);
}

static void progress_step(struct progress *p, u64 n)
{
	u64 now;

	p->done += n;
	if (!p->tty)
		return;
	now = host_ns();
	if (now - p->start_ns < PROGRESS_AFTER_NS || now - p->last_ns < PROGRESS_EVERY_NS)
		return;
	p->last_ns = now;
	p->shown = true;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " operations, %.0f %% ", p->done, p->total,
		100.0 * p->done / p->total);
	fflush(stderr);
}

static void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}

/* ---- playing ---- */

/* How many of @left repetitions to play at once; reads that return nothing cost nothing. */
static u64 at_once(const struct run *run, const struct wl_op *op, u64 left)
{
	bool idle = !op->len || run_file(run)->f_pos >= run->inode->i_size;

	if (op->type != WL_READ || idle)
		return left;
	return min_t(u64, left, max(min_t(s64, BYTES_AT_ONCE / op->len, READS_AT_ONCE), (s64)1));
}

/* The same as run_op(), with a look at the clock now and then. */
static int play_op(struct run *run, const struct wl_op *op, struct progress *p, struct perf *perf,
		   struct fl_error *err)
{
	u64 total = workload_op_count(op), done = 0, before[COST_NR];
	int ret = 0;

	while (done < total && !ret) {
		u64 n = at_once(run, op, total - done);

		memcpy(before, run->machine->cost_units[CONTEXT_TASK], sizeof(before));
		ret = op->type == WL_READ ? run_op_piece(run, op, done, n, err)
					  : run_op(run, op, err);
		if (perf)
			perf_account(perf, op->type, run->machine, before);
		done += n;
		progress_step(p, n);
	}
	return ret;
}

/* All processors at once. */
static int play_tasks(struct run *run, const struct workload *w, struct perf *perf,
		      struct tasks_report *tasks, struct fl_error *err)
{
	u64 before[COST_NR];
	int ret;

	memcpy(before, run->machine->cost_units[CONTEXT_TASK], sizeof(before));
	ret = run_tasks(run, w, tasks, err);
	if (perf && !ret)
		perf_account_tasks(perf, w, run->machine, before, tasks);
	return ret;
}

static int play_all(struct run *run, const struct workload *w, struct perf *perf,
		    struct tasks_report *tasks, struct fl_error *err)
{
	struct progress p;
	int ret = 0;

	if (run->machine->nr_cpus > 1 || workload_tasks(w))
		return play_tasks(run, w, perf, tasks, err);
	progress_start(&p, w);
	for (size_t i = 0; i < w->nr && !ret; i++)
		ret = play_op(run, &w->ops[i], &p, perf, err);
	if (!ret)
		blk_drain(run->machine);
	else if (err && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", w->name);
	progress_end(&p);
	return ret;
}

static void digest_bytes(void *ctx, const void *buf, size_t len)
{
	EVP_DigestUpdate(ctx, buf, len);
}

static int digest_start(struct run *run, EVP_MD_CTX **ctx, struct fl_error *err)
{
	*ctx = NULL;
	if (!run->machine->data || run->machine->nr_cpus > 1)
		return 0;
	*ctx = EVP_MD_CTX_new();
	if (!*ctx || !EVP_DigestInit_ex(*ctx, EVP_sha256(), NULL))
		return fl_error_set(err, -ENOMEM, NULL, 0, "no sha256 in this OpenSSL");
	run->consume = digest_bytes;
	run->consume_ctx = *ctx;
	return 0;
}

static void digest_end(EVP_MD_CTX *ctx, char *hex)
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (!ctx)
		return;
	EVP_DigestFinal_ex(ctx, md, &len);
	for (unsigned int i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", md[i]);
}

/* ---- recording ---- */

char *trace_name(const char *path, const char *part)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	char *name;
	int stem = strlen(path);

	if (dot && dot > path && (!slash || dot > slash + 1))
		stem = dot - path;
	return asprintf(&name, "%.*s-%s%s", stem, path, part, path + stem) < 0 ? NULL : name;
}

struct recording {
	struct out out;
	struct recorder *recorder;
	struct code_recorder *code; /* NULL: not wanted */
};

static int record_code(struct recording *rec, struct run *run, struct fl_error *err)
{
	int ret = code_recorder_new(&rec->code);

	if (ret)
		return fl_error_set(err, ret, "--trace-code", 0, "%s", strerror(-ret));
	trace_add_sink(&run->machine->trace, code_recorder_sink(rec->code));
	return 0;
}

/* Behind the end of the recording. */
static int finish_code(struct recording *rec, struct run *run, bool write, struct fl_error *err)
{
	int ret = 0;

	if (!rec->code)
		return 0;
	trace_remove_sink(&run->machine->trace, code_recorder_sink(rec->code));
	if (write)
		ret = code_recorder_write(rec->code, rec->out.f, err);
	code_recorder_free(rec->code);
	return ret;
}

/* The file takes its place only if everything else went well (@error). */
static int record_end(struct recording *rec, struct run *run, int error, struct fl_error *err)
{
	int ret;

	if (!rec->recorder)
		return error;
	trace_remove_sink(&run->machine->trace, recording_sink(rec->recorder));
	ret = recording_finish(rec->recorder, error ? NULL : err);
	if (ret || error)
		finish_code(rec, run, false, err);
	else
		ret = finish_code(rec, run, true, err);
	if (error || ret) {
		out_abort(&rec->out);
		return error ? error : ret;
	}
	return out_commit(&rec->out, err);
}

static int record_start(struct recording *rec, struct run *run, const struct workload *w,
			const struct play_extras *extras, struct fl_error *err)
{
	struct recording_info info;
	int ret;

	*rec = (struct recording){0};
	if (!extras || !extras->trace)
		return 0;
	if (run_recording_info(run, w, &info))
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = out_open(&rec->out, extras->trace, err);
	if (!ret)
		ret = recording_start(rec->out.f, &info, extras->pack, &rec->recorder, err);
	recording_info_fini(&info);
	if (ret) {
		out_abort(&rec->out);
		return ret;
	}
	trace_add_sink(&run->machine->trace, recording_sink(rec->recorder));
	if (!extras->code)
		return 0;
	ret = record_code(rec, run, err);
	return ret ? record_end(rec, run, ret, err) : 0;
}

int play(const struct run_config *given, const struct workload *w, const struct play_extras *extras,
	 struct report *ret, struct fl_error *err)
{
	struct run_config config = *given;
	struct perf *perf = extras ? extras->perf : NULL;
	EVP_MD_CTX *digest = NULL;
	struct recording rec;
	struct tasks_report tasks = {0};
	struct run *run;
	u64 start_ns;
	int error;

	config.machine.cpus =
		min(max(config.machine.cpus, workload_tasks(w)), MACHINE_MAX_CPUS + 0U);
	error = run_open(&config, &run, err);
	if (error)
		return error;
	error = digest_start(run, &digest, err);
	if (!error)
		error = record_start(&rec, run, w, extras, err);
	start_ns = host_ns();
	if (!error)
		error = record_end(&rec, run, play_all(run, w, perf, &tasks, err), err);
	if (!error) {
		report_collect(ret, run);
		ret->tasks = tasks;
		ret->wall_ns = host_ns() - start_ns;
		digest_end(digest, ret->sha256);
		if (perf)
			perf_finish(perf, run->machine, run->ops);
	}
	EVP_MD_CTX_free(digest);
	fputs(run->machine->bug, stderr);
	run_close(run);
	return error;
}
