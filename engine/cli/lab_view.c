/*
 * lab run in the terminal view.
 *
 * The lab is talked over (lab_run.c) in a thread of its own, which waits for the child's replies
 * and for lines; the view shows what was said and the child's machines, and never waits for
 * either. Both hold the lock while they touch struct lab_view, the remote or its machines.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/lab.h"
#include "cli/lab_told.h"
#include "cli/view_settings.h"
#include "cli/watch.h"
#include "lab/plot.h"

#define ASK_MS 100 /* between two looks at whether somebody wants to stop */

struct lab_view {
	struct lab_talk talk;
	struct tui_guide guide;
	struct lab_session *session;
	pthread_mutex_t lock;
	pthread_cond_t has_line;
	int wake[2]; /* a byte for every change */

	struct told told;
	char *line; /* typed, not yet taken */
	char *lua;  /* the same, for the machines */
	unsigned int step;
	bool leave; /* the view is gone */
	bool stop;  /* what is under way shall end */
	char title[256], state[100], name[200];
	unsigned int machines; /* of the remote that were looked at */
	int ret;
	struct fl_error err;
};

static struct lab_view *view_of(struct lab_talk *talk)
{
	return container_of(talk, struct lab_view, talk);
}

static struct lab_view *guided(struct tui_guide *guide)
{
	return container_of(guide, struct lab_view, guide);
}

static void wake(struct lab_view *v)
{
	(void)!write(v->wake[1], "", 1);
}

/* ---- what was said ---- */

static void say(struct lab_view *v, enum told_kind kind, const char *text, size_t len)
{
	told_more(&v->told, kind, text, len);
	v->guide.version++;
	wake(v);
}

static ssize_t write_plain(void *cookie, const char *buf, size_t size)
{
	struct lab_view *v = cookie;

	pthread_mutex_lock(&v->lock);
	say(v, TOLD_PROSE, buf, size);
	pthread_mutex_unlock(&v->lock);
	return size;
}

static void tell_markdown(struct lab_talk *talk, const char *text)
{
	struct lab_view *v = view_of(talk);

	pthread_mutex_lock(&v->lock);
	told_add(&v->told, TOLD_MARKDOWN, text, strlen(text));
	say(v, TOLD_MARKDOWN, "", 0);
	pthread_mutex_unlock(&v->lock);
}

/* What Lua printed: no control characters, they would be taken for ours. */
static void tell_print(struct lab_talk *talk, const char *text, size_t len)
{
	char *clean = strndup(text, len);

	if (!clean)
		return;
	for (char *p = clean; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\n')
			*p = *p == '\t' ? ' ' : '?';
	say(view_of(talk), TOLD_PRINTED, clean, strlen(clean));
	free(clean);
}

static void tell_value(struct lab_view *v, const char *text)
{
	pthread_mutex_lock(&v->lock);
	tell_print(&v->talk, text, strlen(text));
	tell_print(&v->talk, "\n", 1);
	pthread_mutex_unlock(&v->lock);
}

static void print_told(struct tui_guide *g, FILE *f, unsigned int columns, bool colour)
{
	told_print(&guided(g)->told, f, columns, colour);
}

/* ---- steps ---- */

static void tell_state(struct lab_view *v)
{
	char got[40], all[40];

	plot_number(lab_progress_points(&v->session->progress), got, sizeof(got));
	plot_number(lab_total_points(v->session->lab), all, sizeof(all));
	snprintf(v->state, sizeof(v->state), "%s of %s points", got, all);
}

static void tell_step(struct lab_talk *talk, unsigned int nr)
{
	struct lab_view *v = view_of(talk);
	const struct lab *lab = v->session->lab;

	pthread_mutex_lock(&v->lock);
	if (nr < lab->nr_steps) {
		v->step = nr;
		told_forget(&v->told);
		v->guide.version++;
		snprintf(v->title, sizeof(v->title), "step %u of %u: %s", nr + 1, lab->nr_steps,
			 lab->steps[nr].title);
	} else {
		snprintf(v->title, sizeof(v->title), "all %u steps done", lab->nr_steps);
	}
	tell_state(v);
	wake(v);
	pthread_mutex_unlock(&v->lock);
}

/* ---- asking the child ---- */

/* Machines that a twin repeats are not shown: they are how answers are found. */
static void look_at_machines(struct lab_view *v)
{
	struct lab_remote *r = v->session->remote;

	for (; v->machines < lab_remote_machines(r); v->machines++) {
		const struct lab_remote_machine *m = lab_remote_machine(r, v->machines);

		if (!m->twin && v->guide.nr < TUI_MACHINES)
			v->guide.machines[v->guide.nr++] =
				(struct tui_machine){.tape = &m->tape, .info = &m->info};
	}
}

/* A start, and a fresh child, end the machines there were: the view lets go of them first. */
static int send(struct lab_view *v, const struct lab_ask *ask, struct fl_error *err)
{
	if (ask->type == LAB_ASK_START || lab_remote_fd(v->session->remote) < 0) {
		v->guide.generation++;
		v->guide.nr = v->machines = 0;
	}
	v->guide.runs += ask->type == LAB_ASK_RUN;
	wake(v);
	return lab_remote_send(v->session->remote, ask, err);
}

static bool poll_child(struct lab_view *v, struct lab_reply *reply)
{
	struct lab_remote *r = v->session->remote;
	struct pollfd p = {.fd = lab_remote_fd(r), .events = lab_remote_poll_events(r)};
	bool done;

	poll(&p, 1, ASK_MS);
	pthread_mutex_lock(&v->lock);
	if (v->leave || v->stop)
		lab_remote_cancel(r);
	v->stop = false;
	done = lab_remote_poll(r, reply);
	look_at_machines(v);
	if (done || p.revents)
		wake(v);
	pthread_mutex_unlock(&v->lock);
	return done;
}

static int ask_child(struct lab_talk *talk, const struct lab_ask *ask, struct lab_reply *reply,
		     struct fl_error *err)
{
	struct lab_view *v = view_of(talk);
	int ret;

	pthread_mutex_lock(&v->lock);
	ret = send(v, ask, err);
	pthread_mutex_unlock(&v->lock);
	if (ret)
		return ret;
	while (!poll_child(v, reply))
		;
	if (reply->error && err)
		*err = reply->err;
	return reply->error;
}

/* ---- lines ---- */

/* A line of Lua has been typed: run it, and say what it says. */
static void run_lua(struct lab_view *v)
{
	struct lab_ask ask = {.type = LAB_ASK_LINE, .step = v->step};
	struct lab_reply reply;
	struct fl_error err = {0};
	char *line = v->lua;

	v->lua = NULL;
	told_mark(&v->told);
	fprintf(v->talk.out, "\n\033[1m: %s\033[0m\n", line);
	ask.bytes = line;
	ask.len = strlen(line);
	pthread_mutex_unlock(&v->lock);
	if (ask_child(&v->talk, &ask, &reply, &err))
		fprintf(v->talk.out, "%s\n", err.text);
	else if (*reply.text)
		tell_value(v, reply.text);
	pthread_mutex_lock(&v->lock);
	free(line);
}

/* Under the lock: wait for a line, run a line of Lua. */
static void wait_for_line(struct lab_view *v, bool question)
{
	v->guide.prompt = question ? "answer >" : "Enter goes on >";
	v->guide.question = question;
	v->guide.version++;
	wake(v);
	while (!v->line && !v->lua && !v->leave)
		pthread_cond_wait(&v->has_line, &v->lock);
	v->guide.prompt = NULL;
	v->guide.question = false;
	v->stop = false;
	if (v->lua)
		run_lua(v);
}

static char *ask_line(struct lab_talk *talk, bool question)
{
	struct lab_view *v = view_of(talk);
	char echo[600], *line;

	pthread_mutex_lock(&v->lock);
	tell_state(v);
	while (!v->line && !v->leave)
		wait_for_line(v, question);
	line = v->line;
	v->line = NULL;
	told_mark(&v->told);
	if (line && *line) {
		snprintf(echo, sizeof(echo), "\n\033[1m> %s\033[0m\n", line);
		say(v, TOLD_PROSE, echo, strlen(echo));
	}
	pthread_mutex_unlock(&v->lock);
	return line;
}

/* ---- the view's side ---- */

static void hold(struct tui_guide *g)
{
	pthread_mutex_lock(&guided(g)->lock);
}

static void release(struct tui_guide *g)
{
	pthread_mutex_unlock(&guided(g)->lock);
}

static void take_line(struct tui_guide *g, const char *text)
{
	struct lab_view *v = guided(g);

	if (v->line)
		return;
	v->line = strdup(text);
	pthread_cond_signal(&v->has_line);
}

static void take_lua(struct tui_guide *g, const char *text)
{
	struct lab_view *v = guided(g);

	if (v->lua)
		return;
	v->lua = strdup(text);
	pthread_cond_signal(&v->has_line);
}

static void stop(struct tui_guide *g)
{
	guided(g)->stop = true;
}

/* ---- the thread ---- */

static void *talk_over(void *arg)
{
	struct lab_view *v = arg;

	v->ret = lab_run_interactive(v->session, &v->err);
	if (v->ret)
		fprintf(v->talk.out, "\n\033[31mThis lab cannot go on:\033[0m\n%s%s%s\n",
			v->err.file, *v->err.file ? ": " : "", v->err.text);
	if (v->ret || v->session->progress.steps_done >= v->session->lab->nr_steps)
		free(ask_line(&v->talk, false));
	pthread_mutex_lock(&v->lock);
	v->guide.over = true;
	wake(v);
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

/* Signals are the view's business. */
static int start_thread(struct lab_view *v, pthread_t *thread)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, talk_over, v);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

/* What the child says is told while the lock is held already. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static int init_view(struct lab_view *v, struct lab_session *s, struct fl_error *err)
{
	static const cookie_io_functions_t functions = {.write = write_plain};

	*v = (struct lab_view){
		.talk = {.markdown = tell_markdown,
			 .print = tell_print,
			 .step = tell_step,
			 .line = ask_line,
			 .ask = ask_child},
		.guide = {.hold = hold,
			  .release = release,
			  .print = print_told,
			  .line = take_line,
			  .lua = take_lua,
			  .stop = stop,
			  .version = 1},
		.session = s,
		.wake = {-1, -1},
	};
	init_lock(&v->lock);
	pthread_cond_init(&v->has_line, NULL);
	v->guide.title = v->title;
	v->guide.state = v->state;
	snprintf(v->name, sizeof(v->name), "%.2s %s", s->lab->name, lab_title(s->lab));
	v->talk.out = fopencookie(v, "w", functions);
	if (!v->talk.out || pipe2(v->wake, O_NONBLOCK | O_CLOEXEC))
		return fl_error_set(err, -ENOMEM, NULL, 0, "no memory or descriptors for the view");
	setvbuf(v->talk.out, NULL, _IONBF, 0);
	v->guide.fd = v->wake[0];
	s->talk = &v->talk;
	s->out = v->talk.out;
	s->colour = true;
	return 0;
}

static void fini_view(struct lab_view *v)
{
	told_fini(&v->told);
	free(v->line);
	free(v->lua);
	if (v->talk.out)
		fclose(v->talk.out);
	for (int i = 0; i < 2; i++)
		if (v->wake[i] >= 0)
			close(v->wake[i]);
	pthread_cond_destroy(&v->has_line);
	pthread_mutex_destroy(&v->lock);
	v->session->talk = NULL;
	v->session->out = stdout;
}

static void leave(struct lab_view *v, pthread_t thread)
{
	pthread_mutex_lock(&v->lock);
	v->leave = true;
	pthread_cond_signal(&v->has_line);
	pthread_mutex_unlock(&v->lock);
	pthread_join(thread, NULL);
}

static int show(struct lab_view *v, bool no_settings, int *signo, struct fl_error *err)
{
	struct tui_settings settings = {0};
	const struct tui_options options = {
		.title = v->name,
		.op_text = watch_op_text,
		.guide = &v->guide,
		.settings = no_settings ? NULL : &settings,
	};
	int ret;

	if (!no_settings)
		view_settings_load(&settings, NULL);
	ret = tui_run(NULL, 0, &options, signo, err);
	if (!no_settings && (!ret || ret == -EINTR))
		view_settings_save(&settings, NULL);
	return ret;
}

int lab_run_view(struct lab_session *s, bool no_settings, int *signo, struct fl_error *err)
{
	struct lab_view v;
	pthread_t thread;
	int ret = init_view(&v, s, err);

	*signo = 0;
	if (!ret && start_thread(&v, &thread))
		ret = fl_error_set(err, -EAGAIN, NULL, 0, "no thread for the lab");
	if (!ret) {
		ret = show(&v, no_settings, signo, err);
		leave(&v, thread);
		if (!ret && v.ret && v.guide.over) {
			ret = v.ret;
			*err = v.err;
		}
	}
	fini_view(&v);
	return ret;
}

bool lab_can_view(void)
{
	const char *term = getenv("TERM");
	struct winsize w;

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) &&
	       w.ws_col >= TUI_MIN_WIDTH && w.ws_row >= TUI_MIN_HEIGHT;
}

static void tell_how_to_go_on(const struct lab_session *s)
{
	if (s->progress.steps_done < s->lab->nr_steps)
		printf("Saved. Go on with: foliolab lab run %s\n", s->lab->name);
	fflush(stdout);
}

int lab_run_here(const char *what, const char *student, bool plain, bool no_settings,
		 struct fl_error *err)
{
	struct lab_session s;
	int signo = 0,
	    ret = lab_session_open(&s, what, student, plain ? 0 : LAB_REMOTE_EVENTS, err);

	if (ret)
		return ret;
	ret = plain ? lab_run_interactive(&s, err) : lab_run_view(&s, no_settings, &signo, err);
	if (!plain && (!ret || ret == -EINTR))
		tell_how_to_go_on(&s);
	lab_session_close(&s);
	return watch_end(ret, signo);
}
