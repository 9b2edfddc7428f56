/* The parent's side: one child, one ask at a time, its limits kept. */
#include "lab/lab_remote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/lab_find.h"
#include "lab/lab_remote_internal.h"
#include "lab/textfile.h"

#define SOURCE_MAX   (4UL << 20)
#define POLL_BYTES   (1u << 20) /* taken in one poll: a screen must be drawn in between */
#define POLL_MS	     100
#define CPU_SECONDS  60
#define WALL_SECONDS 120
#define RSS_MIB	     2048

const char *lab_limit_name(enum lab_limit limit)
{
	static const char *const names[] = {
		[LAB_NO_LIMIT] = "",
		[LAB_TIME] = "time",
		[LAB_MEMORY] = "memory",
		[LAB_INSTRUCTIONS] = "instructions",
		[LAB_SYSTEM_CALL] = "system call",
		[LAB_CRASH] = "crash",
		[LAB_CANCELLED] = "cancelled",
	};

	return names[limit];
}

/* ---- bytes ---- */

bool bytes_add(struct bytes *b, const void *p, size_t len)
{
	if (b->len + len > b->cap) {
		size_t cap = max(b->len + len, 2 * b->cap);
		char *all = realloc(b->p, cap);

		if (!all)
			return false;
		b->p = all;
		b->cap = cap;
	}
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
	return true;
}

void bytes_fini(struct bytes *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

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

static void start_clocks(struct lab_remote *r)
{
	r->cpu_start = cpu_of(r->child);
	r->wall_start = seconds(CLOCK_MONOTONIC);
}

static void kill_child(struct lab_remote *r, enum lab_limit why)
{
	r->killed = why;
	kill(r->child, SIGKILL);
}

static void keep_limits(struct lab_remote *r)
{
	if (r->killed || !r->busy)
		return;
	r->silent = seconds(CLOCK_MONOTONIC) - r->wall_start > r->config.wall_seconds;
	if (r->silent || cpu_of(r->child) - r->cpu_start > r->config.cpu_seconds)
		kill_child(r, LAB_TIME);
	else if (resident(r->child) > r->config.rss_mib)
		kill_child(r, LAB_MEMORY);
}

/* ---- opening ---- */

static int read_source(struct lab_remote *r, struct fl_error *err)
{
	const struct lab_remote_config *c = &r->config;

	if (c->source) {
		r->source = malloc(c->source_len + 1);
		if (!r->source)
			return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
		memcpy(r->source, c->source, c->source_len);
		r->source_len = c->source_len;
	}
	if (!c->dir)
		snprintf(r->path, sizeof(r->path), "%s", c->script);
	else if (snprintf(r->path, sizeof(r->path), "%s/lab.lua", r->dir) >= LAB_PATH)
		return fl_error_set(err, -ENAMETOOLONG, c->dir, 0, "path too long");
	if (c->source)
		return 0;
	return textfile_read(c->dir ? r->path : c->script, SOURCE_MAX, &r->source, &r->source_len,
			     err);
}

static void take_config(struct lab_remote *r, const struct lab_remote_config *config)
{
	struct lab_remote_config *c = &r->config;
	size_t len;

	*c = *config;
	if (!c->cpu_seconds)
		c->cpu_seconds = CPU_SECONDS;
	if (!c->wall_seconds)
		c->wall_seconds = WALL_SECONDS;
	if (!c->rss_mib)
		c->rss_mib = RSS_MIB;
	if (!c->dir)
		return;
	len = strlen(c->dir);
	while (len > 1 && c->dir[len - 1] == '/')
		len--;
	snprintf(r->dir, sizeof(r->dir), "%.*s", (int)len, c->dir);
	snprintf(r->student, sizeof(r->student), "%s", c->student);
	r->seed = lab_seed(r->student);
	c->dir = r->dir;
	c->student = r->student;
}

int lab_remote_open(const struct lab_remote_config *config, struct lab_remote **ret,
		    struct fl_error *err)
{
	struct lab_remote *r = calloc(1, sizeof(*r));
	void *shared;
	int error;

	*ret = NULL;
	if (!r)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	r->fd = -1;
	take_config(r, config);
	shared = mmap(NULL, sizeof(*r->played), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	r->played = shared == MAP_FAILED ? NULL : shared;
	if (config->events)
		r->machines = calloc(LAB_REMOTE_MACHINES, sizeof(*r->machines));
	if (!r->played || (config->events && !r->machines))
		error = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	else
		error = read_source(r, err);
	if (!error && config->dir && !config->source)
		error = lab_images_open(r->dir, &r->images, err);
	if (error) {
		lab_remote_close(r);
		return error;
	}
	*ret = r;
	return 0;
}

static int end_child(struct lab_remote *r)
{
	int status = 0;

	if (!r->child)
		return 0;
	close(r->fd);
	r->fd = -1;
	kill(r->child, SIGKILL);
	while (waitpid(r->child, &status, 0) < 0 && errno == EINTR)
		;
	r->child = 0;
	r->in.len = r->out.len = 0;
	return status;
}

void lab_remote_close(struct lab_remote *r)
{
	if (!r)
		return;
	end_child(r);
	remote_forget_machines(r);
	free(r->machines);
	lab_close(r->lab);
	if (r->played)
		munmap(r->played, sizeof(*r->played));
	bytes_fini(&r->in);
	bytes_fini(&r->out);
	bytes_fini(&r->ask_record);
	bytes_fini(&r->answers);
	free(r->texts);
	free(r->source);
	lab_images_fini(&r->images);
	free(r);
}

const struct lab *lab_remote_lab(const struct lab_remote *r)
{
	return r->lab;
}

unsigned int lab_remote_machines(const struct lab_remote *r)
{
	return r->nr_machines;
}

const struct lab_remote_machine *lab_remote_machine(const struct lab_remote *r, unsigned int nr)
{
	return nr < r->nr_machines ? &r->machines[nr] : NULL;
}

/* ---- the child ---- */

static int start_child(struct lab_remote *r, struct fl_error *err)
{
	struct lab_child_task task = {.config = &r->config,
				      .source = r->source,
				      .source_len = r->source_len,
				      .images = r->config.source ? r->config.images : &r->images,
				      .played = r->played};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fl_error_set(err, -errno, NULL, 0, "socketpair: %s", strerror(errno));
	memset(r->played, 0, sizeof(*r->played));
	task.talk = pair[1];
	fflush(NULL);
	r->child = fork();
	if (!r->child)
		_exit(lab_child(&task));
	close(pair[1]);
	if (r->child < 0) {
		r->child = 0;
		close(pair[0]);
		return fl_error_set(err, -errno, NULL, 0, "fork: %s", strerror(errno));
	}
	r->fd = pair[0];
	r->killed = LAB_NO_LIMIT;
	return 0;
}

static bool add_ask(struct bytes *b, const struct lab_ask *ask, bool quiet)
{
	struct wire_ask w = {
		.step = ask->step,
		.question = ask->question,
		.text = ask->text,
		.nr = ask->nr,
		.of_question = ask->of_question,
		.has_value = ask->value != NULL,
		.quiet = quiet || ask->quiet,
		.name_len = ask->name ? strlen(ask->name) : 0,
		.bytes_len = ask->len,
	};
	struct wire_head head = {.type = ask->type, .len = sizeof(w) + w.name_len + w.bytes_len};

	return bytes_add(b, &head, sizeof(head)) && bytes_add(b, &w, sizeof(w)) &&
	       (!ask->value || bytes_add(b, ask->value, sizeof(*ask->value))) &&
	       bytes_add(b, ask->name, w.name_len) && bytes_add(b, ask->bytes, ask->len);
}

/* Is this part of the way to the ask? */
static bool stage_needed(const struct lab_remote *r, enum stage stage)
{
	enum lab_ask_type type = r->ask.type;
	bool in_step = r->started && type != LAB_ASK_START;

	if (type == LAB_ASK_SCRIPT || type == LAB_ASK_WHO || type == LAB_ASK_CHECK)
		return stage == STAGE_ASK;
	switch (stage) {
	case STAGE_ANSWERS:
		return r->answers.len && type != LAB_ASK_ANSWERS;
	case STAGE_START:
		return in_step;
	case STAGE_RUN:
		return in_step && r->ran;
	default:
		return true;
	}
}

/* Send what r->stage or the next that is needed has to say. */
static bool send_stage(struct lab_remote *r)
{
	struct lab_ask again = {.step = r->step};

	while (!stage_needed(r, r->stage))
		r->stage++;
	r->answered = false;
	start_clocks(r);
	again.type = r->stage == STAGE_RUN ? LAB_ASK_RUN : LAB_ASK_START;
	r->asked = r->stage == STAGE_ASK       ? r->ask.type
		   : r->stage == STAGE_ANSWERS ? LAB_ASK_ANSWERS
					       : again.type;
	if (r->stage == STAGE_ANSWERS)
		return bytes_add(&r->out, r->answers.p, r->answers.len);
	if (r->stage != STAGE_ASK)
		return add_ask(&r->out, &again, true);
	return bytes_add(&r->out, r->ask_record.p, r->ask_record.len);
}

int lab_remote_send(struct lab_remote *r, const struct lab_ask *ask, struct fl_error *err)
{
	bool fresh = !r->child;
	int ret = 0;

	if (ask->type >= LAB_ASK_NR || (ask->type == LAB_ASK_WHO && r->lab) ||
	    (ask->type == LAB_ASK_CHECK && !r->config.check) ||
	    (ask->type == LAB_ASK_SCRIPT) != !r->config.dir)
		return fl_error_set(err, -EINVAL, r->path, 0, "nothing to ask of %s",
				    r->config.dir ? "a lab" : "a script");
	if (r->busy)
		return fl_error_set(err, -EBUSY, NULL, 0, "an ask is open, expected its reply");
	r->ask = *ask;
	r->ask_record.len = 0;
	if (!add_ask(&r->ask_record, ask, false))
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (fresh || ask->type == LAB_ASK_START || ask->type == LAB_ASK_SCRIPT)
		remote_forget_machines(r);
	if (fresh)
		ret = start_child(r, err);
	if (ret)
		return ret;
	r->stage = fresh ? STAGE_ANSWERS : STAGE_ASK;
	r->busy = true;
	if (send_stage(r))
		return 0;
	r->busy = false;
	end_child(r);
	return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

/* ---- replies ---- */

struct lab_ask lab_ask_about(const struct lab *lab, enum lab_ask_type type,
			     const struct lab_step *step, const struct lab_question *q)
{
	return (struct lab_ask){.type = type,
				.step = step - lab->steps,
				.question = q ? q - step->questions : 0,
				.of_question = q != NULL};
}

/* Where a fresh child would have to be brought to. */
static void remember(struct lab_remote *r)
{
	const struct lab_ask *ask = &r->ask;
	bool done = !r->reply.error;

	if (ask->type == LAB_ASK_START) {
		r->started = done;
		r->ran = false;
		r->step = ask->step;
	} else if (ask->type == LAB_ASK_RUN) {
		r->ran = done;
	} else if (ask->type == LAB_ASK_WHO && done) {
		snprintf(r->student, sizeof(r->student), "%s", r->reply.text);
		r->seed = lab_seed(r->student);
	} else if (ask->type == LAB_ASK_ANSWERS) {
		r->answers.len = 0;
		if (done && !bytes_add(&r->answers, r->ask_record.p, r->ask_record.len))
			r->answers.len = 0;
	}
}

/* An answer arrived. True: to the ask itself, or the way to it has failed. */
static bool next_stage(struct lab_remote *r)
{
	struct lab_reply *reply = &r->reply;

	if (r->stage != STAGE_ASK && !reply->error && !reply->limit) {
		r->stage++;
		if (!send_stage(r))
			kill_child(r, LAB_CRASH);
		return false;
	}
	if (r->stage == STAGE_ASK)
		remember(r);
	else if (!reply->error)
		reply->error = fl_error_set(&reply->err, -EINTR, r->path, 0, "limit %s",
					    lab_limit_name(reply->limit));
	reply->type = r->ask.type;
	r->busy = false;
	if (r->last)
		end_child(r);
	return true;
}

/* ---- taking ---- */

static void flush_out(struct lab_remote *r)
{
	ssize_t n;

	if (!r->out.len)
		return;
	n = send(r->fd, r->out.p, r->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n <= 0)
		return;
	memmove(r->out.p, r->out.p + n, r->out.len - n);
	r->out.len -= n;
}

/* Take whole records off the front of what has arrived, up to a reply. False for nonsense. */
static bool take_records(struct lab_remote *r)
{
	struct wire_head head;
	size_t done = 0;
	bool good = true;

	while (good && !r->answered && r->in.len - done >= sizeof(head)) {
		memcpy(&head, r->in.p + done, sizeof(head));
		if (head.len > WIRE_MAX)
			return false;
		if (r->in.len - done - sizeof(head) < head.len)
			break;
		good = remote_take_record(r, head.type, r->in.p + done + sizeof(head), head.len);
		done += sizeof(head) + head.len;
	}
	memmove(r->in.p, r->in.p + done, r->in.len - done);
	r->in.len -= done;
	return good;
}

/* Read what is there. True at the end of the child. */
static bool read_child(struct lab_remote *r)
{
	char buf[65536];
	ssize_t n = 0;

	for (size_t all = 0; all < POLL_BYTES && !r->answered; all += n) {
		n = recv(r->fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0 && errno == EAGAIN)
			break;
		else if (n <= 0)
			return true;
		if (n)
			r->wall_start = seconds(CLOCK_MONOTONIC);
		if (!r->killed && (!bytes_add(&r->in, buf, n) || !take_records(r)))
			kill_child(r, LAB_CRASH);
	}
	return false;
}

bool lab_remote_poll(struct lab_remote *r, struct lab_reply *reply)
{
	while (r->child) {
		flush_out(r);
		if (read_child(r)) {
			int status = end_child(r);

			if (r->busy && !r->answered)
				remote_take_death(r, status);
		} else if (!r->answered) {
			keep_limits(r);
			return false;
		}
		if (!r->busy)
			return false;
		if (r->answered && next_stage(r)) {
			*reply = r->reply;
			return true;
		}
	}
	return false;
}

int lab_remote_fd(const struct lab_remote *r)
{
	return r->fd;
}

short lab_remote_poll_events(const struct lab_remote *r)
{
	return r->fd < 0 ? 0 : r->out.len ? POLLIN | POLLOUT : POLLIN;
}

bool lab_remote_busy(const struct lab_remote *r)
{
	return r->busy;
}

void lab_remote_cancel(struct lab_remote *r)
{
	if (r->busy && r->child && !r->killed)
		kill_child(r, LAB_CANCELLED);
}

int lab_remote_do(struct lab_remote *r, const struct lab_ask *ask, struct lab_reply *reply,
		  struct fl_error *err)
{
	int ret = lab_remote_send(r, ask, err);

	if (ret)
		return ret;
	while (!lab_remote_poll(r, reply)) {
		struct pollfd pfd = {.fd = lab_remote_fd(r), .events = lab_remote_poll_events(r)};

		poll(&pfd, 1, POLL_MS);
	}
	if (reply->error && err)
		*err = reply->err;
	return reply->error;
}
