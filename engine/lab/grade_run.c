/* The parent's side: one child a submission, its records checked, its limits kept. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/grade_wire.h"

#define POLL_MS 100

/* A place for one submission under way. */
struct slot {
	struct grade *g;
	struct grade_result *result; /* NULL: free */
	struct lab_played *played;   /* shared with the child */
	pid_t child;
	int fd;
	u32 next;		      /* item without a verdict */
	bool known;		      /* WHO was said */
	bool judging;		      /* BEGIN was said for next */
	bool stopped;		      /* told of a limit: an end is in order */
	bool control;		      /* judges the lab without the submission */
	bool lab_failed;	      /* at next; in @why */
	enum grade_limit killed;      /* why we ended it */
	double cpu_start, wall_start; /* of next, seconds */
	char why[GRADE_WHY];
	struct grade_record record; /* as far as it has arrived */
	size_t got;
};

struct run_state {
	struct grade *g;
	struct slot *slots;
	unsigned int jobs;
	unsigned int next, done; /* submissions */
	int error;
	struct fl_error *err;
};

/* ---- clocks ---- */

static double seconds(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : seconds(clock);
}

/* MiB that are the child's own; what it shares with us is not. */
static unsigned long long resident(pid_t pid)
{
	unsigned long long pages = 0, shared = 0;
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu %llu", &pages, &shared) != 2)
		pages = shared = 0;
	fclose(f);
	return (pages - min(shared, pages)) * sysconf(_SC_PAGESIZE) >> 20;
}

static void start_clocks(struct slot *s)
{
	s->cpu_start = cpu_of(s->child);
	s->wall_start = seconds(CLOCK_MONOTONIC);
}

/* ---- results ---- */

/* ", after event 12, 'read 4k 16'": the last thing a machine did. */
static void add_event(const struct slot *s, char *why)
{
	size_t len = strlen(why);
	struct lab_played played = *s->played;
	char op[160];

	if (played.nr && workload_format_op(&played.op, op, sizeof(op)) > 0)
		snprintf(why + len, GRADE_WHY - len, ", after event fl_op %llu (%s)",
			 (unsigned long long)played.nr, op);
	else
		snprintf(why + len, GRADE_WHY - len, ", before any event");
}

static void limit_reason(const struct slot *s, enum grade_limit limit, const char *detail,
			 char *why)
{
	const char *id = s->next < s->g->nr_items ? s->g->items[s->next].q->id : "";

	if (s->known)
		snprintf(why, GRADE_WHY, "limit %s: %.300s, at question %s",
			 grade_limit_name(limit), detail, id);
	else
		snprintf(why, GRADE_WHY, "limit %s: %.300s, while it was read",
			 grade_limit_name(limit), detail);
	add_event(s, why);
	grade_clean(why);
}

/* The item at next has failed; the one after it is next. */
static void fail_item(struct slot *s, enum grade_limit limit, const char *why)
{
	struct grade_verdict *v = &s->result->verdicts[s->next];

	v->right = false;
	v->limit = limit;
	if (limit)
		limit_reason(s, limit, why, v->why);
	else
		snprintf(v->why, sizeof(v->why), "%s", why);
	grade_clean(v->why);
	s->next++;
	s->judging = false;
}

static void make_broken(struct slot *s, enum grade_limit limit, const char *why)
{
	struct grade_result *r = s->result;

	r->broken = true;
	r->limit = limit;
	if (limit)
		limit_reason(s, limit, why, r->why);
	else
		snprintf(r->why, sizeof(r->why), "%s", why);
	grade_clean(r->why);
}

static void finish_result(struct run_state *run, struct grade_result *r)
{
	r->score = 0;
	for (unsigned int i = 0; i < run->g->nr_items; i++) {
		if (r->broken) {
			r->verdicts[i].right = false;
			r->verdicts[i].limit = r->limit;
			snprintf(r->verdicts[i].why, sizeof(r->verdicts[i].why), "%s", r->why);
		}
		if (r->verdicts[i].right)
			r->score += run->g->items[i].q->points;
	}
	free(r->text);
	r->text = NULL;
	run->done++;
	if (run->g->progress)
		run->g->progress(run->g->ctx, run->done, run->g->nr);
}

/* ---- children ---- */

static int start_child(struct run_state *run, struct slot *s)
{
	struct grade_task task = {
		.grade = run->g,
		.name = "answers.lua",
		.text = s->control ? NULL : s->result->text,
		.len = s->result->len,
		.student = s->result->student,
		.first = s->next,
		.played = s->played,
	};
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return fl_error_set(run->err, -errno, NULL, 0, "pipe: %s", strerror(errno));
	memset(s->played, 0, sizeof(*s->played));
	task.talk = pipes[1];
	fflush(NULL);
	s->child = fork();
	if (!s->child)
		_exit(grade_child(&task));
	close(pipes[1]);
	if (s->child < 0) {
		close(pipes[0]);
		return fl_error_set(run->err, -errno, NULL, 0, "fork: %s", strerror(errno));
	}
	s->fd = pipes[0];
	s->got = 0;
	s->judging = s->stopped = s->lab_failed = false;
	s->killed = GRADE_NO_LIMIT;
	start_clocks(s);
	return 0;
}

static int end_child(struct slot *s)
{
	int status = 0;

	close(s->fd);
	s->fd = -1;
	kill(s->child, SIGKILL);
	while (waitpid(s->child, &status, 0) < 0 && errno == EINTR)
		;
	s->child = 0;
	return status;
}

/* Why a child ended in the middle of its work. */
static enum grade_limit reason_of_death(const struct slot *s, int status, char *why, size_t n)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (s->killed == GRADE_TIME || sig == SIGXCPU) {
		snprintf(why, n, "more than %d s", GRADE_CPU_SECONDS);
		return GRADE_TIME;
	}
	if (s->killed == GRADE_MEMORY) {
		snprintf(why, n, "more than %d MiB", GRADE_RSS_MIB);
		return GRADE_MEMORY;
	}
	if (sig == SIGSYS) {
		snprintf(why, n, "one that is forbidden here");
		return GRADE_SYSTEM_CALL;
	}
	if (sig && s->killed == GRADE_NO_LIMIT)
		snprintf(why, n, "ended by signal %d (%s)", sig, strsignal(sig));
	else
		snprintf(why, n, "ended without a verdict");
	return GRADE_CRASH;
}

static int no_jail(struct run_state *run)
{
	return fl_error_set(run->err, -EPERM, NULL, 0,
			    "submissions cannot be locked in here (seccomp or limits refused), "
			    "expected a kernel that can");
}

/* The submission is out of it: is the lab broken by itself? */
static int after_control(struct run_state *run, struct slot *s, bool fine)
{
	char why[GRADE_WHY];

	if (!fine)
		return fl_error_set(run->err, -EINVAL, run->g->lab->path, 0,
				    "the lab fails without any submission, student %s: %.300s",
				    s->result->student, s->why);
	snprintf(why, sizeof(why), "the lab could not go on: %.400s", s->why);
	s->control = false;
	fail_item(s, GRADE_NO_LIMIT, why);
	return 0;
}

/* The child is gone; what is left is for the next one. */
static int child_ended(struct run_state *run, struct slot *s)
{
	bool fine = s->stopped;
	int status = end_child(s), ret = 0;
	char why[200];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return no_jail(run);
	if (s->control) {
		ret = after_control(run, s, fine);
	} else if (s->lab_failed) {
		s->control = true;
	} else if (!s->result->broken && !fine && s->next < run->g->nr_items) {
		enum grade_limit limit = reason_of_death(s, status, why, sizeof(why));

		if (s->known)
			fail_item(s, limit, why);
		else
			make_broken(s, limit, why);
	}
	if (ret)
		return ret;
	if (!s->result->broken && s->next < run->g->nr_items)
		return start_child(run, s);
	finish_result(run, s->result);
	s->result = NULL;
	return 0;
}

/* ---- records ---- */

/* What a child may not say ends it; it counts as a crash. */
static void nonsense(struct slot *s)
{
	s->killed = GRADE_CRASH;
	kill(s->child, SIGKILL);
}

static void take_who(struct slot *s, const char *student)
{
	if (s->known)
		return;
	snprintf(s->result->student, sizeof(s->result->student), "%.127s", student);
	grade_clean(s->result->student); /* changes nothing that read_student() lets pass */
	s->result->seed = lab_seed(s->result->student);
	s->known = true;
}

static void take_verdict(struct slot *s, const struct grade_record *r)
{
	if (!s->judging || r->item != s->next || r->limit >= GRADE_NR_LIMITS) {
		nonsense(s);
		return;
	}
	if (s->control) {
		s->stopped = true;
		kill(s->child, SIGKILL);
		return;
	}
	s->stopped = r->limit;
	if (r->right && !r->limit) {
		s->result->verdicts[s->next++].right = true;
		s->judging = false;
	} else {
		fail_item(s, r->limit, r->text);
	}
}

static void take_lab(struct slot *s, const struct grade_record *r)
{
	s->lab_failed = true;
	snprintf(s->why, sizeof(s->why), "%s", r->text);
	grade_clean(s->why);
}

static void take_record(struct slot *s, struct grade_record *r)
{
	r->text[sizeof(r->text) - 1] = 0;
	if (r->type == GRADE_WHO) {
		take_who(s, r->text);
	} else if (r->type == GRADE_BROKEN && r->limit < GRADE_NR_LIMITS) {
		make_broken(s, r->limit, r->text);
	} else if (r->type == GRADE_BEGIN && s->known && !s->judging && r->item == s->next &&
		   r->item < s->g->nr_items) {
		s->judging = true;
		start_clocks(s);
	} else if (r->type == GRADE_VERDICT) {
		take_verdict(s, r);
	} else if (r->type == GRADE_LAB && r->item == s->next) {
		take_lab(s, r);
	} else if (r->type != GRADE_DONE || s->next != s->g->nr_items) {
		nonsense(s);
	}
}

/* Read what is there. Returns 1 at the end of the child. */
static int read_child(struct slot *s)
{
	ssize_t n = read(s->fd, (char *)&s->record + s->got, sizeof(s->record) - s->got);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return 1;
	s->got += n;
	if (s->got < sizeof(s->record))
		return 0;
	s->got = 0;
	if (!s->killed)
		take_record(s, &s->record);
	return 0;
}

/* ---- the loop ---- */

static void keep_limits(struct slot *s)
{
	if (s->killed)
		return;
	if (cpu_of(s->child) - s->cpu_start > GRADE_CPU_SECONDS ||
	    seconds(CLOCK_MONOTONIC) - s->wall_start > GRADE_WALL_SECONDS)
		s->killed = GRADE_TIME;
	else if (resident(s->child) > GRADE_RSS_MIB)
		s->killed = GRADE_MEMORY;
	if (s->killed)
		kill(s->child, SIGKILL);
}

/* Submissions that cannot be read need no child. */
static int fill_slot(struct run_state *run, struct slot *s)
{
	while (run->next < run->g->nr) {
		struct grade_result *r = &run->g->results[run->next++];
		struct lab_played *played = s->played;

		if (r->broken) {
			finish_result(run, r);
			continue;
		}
		*s = (struct slot){.g = run->g, .result = r, .played = played, .fd = -1};
		return start_child(run, s);
	}
	return 0;
}

static int turn(struct run_state *run, struct pollfd *fds, struct slot **who)
{
	unsigned int n = 0;
	int ret = 0;

	for (unsigned int i = 0; i < run->jobs && !ret; i++) {
		struct slot *s = &run->slots[i];

		if (!s->result)
			ret = fill_slot(run, s);
		if (!ret && s->result) {
			fds[n] = (struct pollfd){.fd = s->fd, .events = POLLIN};
			who[n++] = s;
		}
	}
	if (ret || !n)
		return ret;
	poll(fds, n, POLL_MS);
	for (unsigned int i = 0; i < n && !ret; i++) {
		if (fds[i].revents && read_child(who[i]))
			ret = child_ended(run, who[i]);
		else
			keep_limits(who[i]);
	}
	return ret;
}

static void end_all(struct run_state *run)
{
	for (unsigned int i = 0; run->slots && i < run->jobs; i++) {
		if (run->slots[i].result && run->slots[i].child > 0)
			end_child(&run->slots[i]);
		if (run->slots[i].played)
			munmap(run->slots[i].played, sizeof(struct lab_played));
	}
	free(run->slots);
}

static int make_slots(struct run_state *run)
{
	run->slots = calloc(run->jobs, sizeof(*run->slots));
	for (unsigned int i = 0; run->slots && i < run->jobs; i++) {
		void *p = mmap(NULL, sizeof(struct lab_played), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return fl_error_set(run->err, -ENOMEM, NULL, 0, "out of memory");
		run->slots[i].played = p;
	}
	return run->slots ? 0 : fl_error_set(run->err, -ENOMEM, NULL, 0, "out of memory");
}

int grade_run(struct grade *g, unsigned int jobs, struct fl_error *err)
{
	struct run_state run = {
		.g = g, .jobs = min_t(unsigned int, jobs, GRADE_JOBS_MAX), .err = err};
	struct pollfd fds[GRADE_JOBS_MAX];
	struct slot *who[GRADE_JOBS_MAX];
	int ret = make_slots(&run);

	while (!ret && run.done < g->nr)
		ret = turn(&run, fds, who);
	end_all(&run);
	return ret;
}
