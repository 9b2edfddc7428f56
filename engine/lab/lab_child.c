/* The child's side: locked in, it does what it is asked, one thing after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/jail.h"
#include "lab/lab_check.h"
#include "lab/lab_wire.h"
#include "lab/script.h"

/* Addresses are not memory: machines reserve terabytes. The parent watches what is resident. */
#define ADDRESSES   (1ULL << 45)
#define CPU_SECONDS 86400 /* of all asks; the parent is stricter */
#define PRINT_BYTES 16384 /* that are sent together */

struct child {
	const struct lab_child_task *task;
	struct lab *lab; /* NULL until the first ask */
	struct lab_stream *stream;
	FILE *out;
	char student[128];
};

/* ---- the socket ---- */

static void put(const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(JAIL_TALK, p, len);

		if (n <= 0 && errno != EINTR)
			_exit(1);
		p += max_t(ssize_t, n, 0);
		len -= max_t(ssize_t, n, 0);
	}
}

void wire_say(enum wire_say type, const void *a, size_t a_len, const void *b, size_t b_len)
{
	struct wire_head head = {.type = type, .len = a_len + b_len};

	put(&head, sizeof(head));
	put(a, a_len);
	put(b, b_len);
}

void wire_hear(void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(JAIL_TALK, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		p += n;
		len -= n;
	}
}

static ssize_t print_some(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	wire_say(SAY_PRINT, text, len, NULL, 0);
	return len;
}

static FILE *open_print(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print_some});

	if (f)
		setvbuf(f, NULL, _IOFBF, PRINT_BYTES);
	return f;
}

static void say_figure(void *ctx, const char *name, const char *svg)
{
	struct child *c = ctx;

	fflush(c->out);
	wire_say(SAY_FIGURE, name, strlen(name) + 1, svg, strlen(svg) + 1);
}

/* ---- files ---- */

/* The descriptor that comes with the first byte of the parent's answer, or -1. */
static int hear_opened(struct wire_opened *opened)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {opened, sizeof(*opened)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;
	int fd = -1;

	do
		n = recvmsg(JAIL_TALK, &msg, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		_exit(0);
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	wire_hear((char *)opened + n, sizeof(*opened) - n);
	return fd;
}

static void *hear_block(size_t len)
{
	void *p = len ? malloc(len) : NULL;

	if (len && !p)
		_exit(1);
	if (len)
		wire_hear(p, len);
	return p;
}

static int open_remote(struct backing_source *source, const char *file, const char *image,
		       struct backing *ret, struct fl_error *err)
{
	struct wire_open ask = {.is_image = image != NULL};
	struct wire_opened opened;

	(void)source;
	snprintf(ask.path, sizeof(ask.path), "%s", image ? image : file);
	wire_say(SAY_OPEN, &ask, sizeof(ask), NULL, 0);
	*ret = (struct backing){.fd = hear_opened(&opened), .is_image = opened.is_image};
	if (opened.error) {
		if (err)
			*err = opened.err;
		return opened.error;
	}
	ret->size = opened.size;
	ret->super = opened.super;
	ret->inode = (struct ext4_image_inode){
		.ino = opened.inode.ino,
		.mode = opened.inode.mode,
		.flags = opened.inode.flags,
		.size = opened.inode.size,
		.nr_extents = opened.inode.nr_extents,
		.inline_len = opened.inode.inline_len,
	};
	ret->inode.extents = hear_block(sizeof(struct fs_extent) * opened.inode.nr_extents);
	ret->inode.inline_data = hear_block(opened.inode.inline_len);
	return 0;
}

static struct backing_source files = {.open = open_remote};

struct backing_source *lab_child_files(void)
{
	return &files;
}

/* ---- asks ---- */

struct ask {
	u32 type;
	struct wire_ask head;
	struct lab_value value;
	char *name, *bytes; /* each with a 0 behind it */
	const struct lab_step *step;
	const struct lab_question *q;
};

/* What becomes of an ask: the reply and its texts. */
struct answer {
	struct wire_reply head;
	char *text; /* malloc()ed or NULL */
	struct lab_options options;
};

static int do_start(struct child *c, const struct ask *ask, struct answer *a)
{
	int ret;

	if (c->stream) {
		lab_stream_restart(c->stream);
		lab_stream_new_machines(c->stream, true);
	}
	ret = lab_start(c->lab, ask->step, &a->head.err);
	if (c->stream)
		lab_stream_new_machines(c->stream, false);
	return ret;
}

static int do_run(struct child *c, const struct ask *ask, struct answer *a)
{
	int ret;

	if (c->stream)
		lab_stream_new_machines(c->stream, true);
	ret = lab_run(c->lab, ask->step, ask->head.quiet ? NULL : c->out, &a->head.err);
	if (c->stream)
		lab_stream_new_machines(c->stream, false);
	return ret;
}

static int do_text(struct child *c, const struct ask *ask, struct answer *a)
{
	return lab_text(c->lab, ask->step, ask->head.of_question ? ask->q : NULL, ask->head.text,
			ask->head.nr, &a->text, &a->head.err);
}

static int do_options(struct child *c, const struct ask *ask, struct answer *a)
{
	return lab_options_get(c->lab, ask->step, ask->q, &a->options, &a->head.err);
}

static int do_answer(struct child *c, const struct ask *ask, struct answer *a)
{
	int ret = lab_answer(c->lab, ask->step, ask->q, &a->head.value, &a->head.err);

	return ret ? ret : do_options(c, ask, a);
}

static int do_judge(struct child *c, const struct ask *ask, struct answer *a)
{
	struct lab_value v = ask->value;
	struct lab_verdict verdict;
	struct fl_error err = {0};
	int ret;

	if (!ask->head.has_value && lab_answer_given(c->lab, ask->step, ask->q, &v, &err)) {
		snprintf(a->head.why, sizeof(a->head.why), "%s", err.text);
		a->head.err = err;
		a->head.given = a->head.unfit = true;
		return 0;
	}
	a->head.given = v.type != LAB_VALUE_NONE;
	if (!a->head.given && !lab_is_program(ask->q))
		return 0;
	ret = lab_judge(c->lab, ask->step, ask->q, &v, &verdict, &a->head.err);
	if (ret)
		return ret;
	a->head.right = verdict.right;
	memcpy(a->head.why, verdict.why, sizeof(a->head.why));
	return 0;
}

static int do_answers(struct child *c, const struct ask *ask, struct answer *a)
{
	return lab_load_answers_text(c->lab, ask->name, ask->bytes, ask->head.bytes_len,
				     &a->head.err);
}

/* The student field of the answers, or the name there is anyway. */
static int read_student(struct lab *lab, const char *fallback, char **ret, struct fl_error *err)
{
	lua_State *L = lab->ll->L;
	const char *text;
	size_t len;
	int type, error = 0;

	lua_rawgeti(L, LUA_REGISTRYINDEX, lab->answers_ref);
	lua_pushliteral(L, "student");
	type = lua_rawget(L, -2);
	text = type == LUA_TSTRING ? lua_tolstring(L, -1, &len) : NULL;
	if (type == LUA_TNIL)
		*ret = strdup(fallback);
	else if (text && strlen(text) == len && lab_is_student(text))
		*ret = strdup(text);
	else
		error = fl_error_set(
			err, -EINVAL, NULL, 0,
			"student is a %s, expected a string of 1 to 127 printable bytes",
			lua_typename(L, type));
	lua_pop(L, 2);
	return error;
}

/* The answers are run for the student's name in a state that is thrown away. */
static int do_who(struct child *c, const struct ask *ask, struct answer *a)
{
	struct lab lab = {.answers_ref = LUA_NOREF};
	int ret = lab_lua_open(&lab.ll, &a->head.err);

	if (ret)
		return ret;
	lab.ll->out = NULL;
	ret = lab_load_answers_text(&lab, ask->name, ask->bytes, ask->head.bytes_len, &a->head.err);
	if (!ret)
		ret = read_student(&lab, c->student, &a->text, &a->head.err);
	a->head.limit = lab_limit_of(lab.ll);
	if (ret)
		return ret;
	lab_lua_close(lab.ll);
	snprintf(c->student, sizeof(c->student), "%s", a->text);
	return 0;
}

static int do_line(struct child *c, const struct ask *ask, struct answer *a)
{
	return lab_line(c->lab, ask->bytes, c->out, &a->text, &a->head.err);
}

static int do_nothing(struct child *c, const struct ask *ask, struct answer *a)
{
	(void)c;
	(void)ask;
	(void)a;
	return 0;
}

static const struct {
	int (*serve)(struct child *c, const struct ask *ask, struct answer *a);
	bool step, question; /* it is about one */
} asks[LAB_ASK_NR] = {
	[LAB_ASK_START] = {do_start, .step = true},
	[LAB_ASK_RUN] = {do_run, .step = true},
	[LAB_ASK_TEXT] = {do_text, .step = true, .question = true},
	[LAB_ASK_OPTIONS] = {do_options, .step = true, .question = true},
	[LAB_ASK_ANSWER] = {do_answer, .step = true, .question = true},
	[LAB_ASK_LINE] = {do_line, .step = true},
	[LAB_ASK_JUDGE] = {do_judge, .step = true, .question = true},
	[LAB_ASK_ANSWERS] = {.serve = do_answers},
	[LAB_ASK_LAB] = {.serve = do_nothing},
};

/* ---- opening ---- */

static void say_shape(const struct lab *lab)
{
	size_t len = sizeof(*lab) + lab->nr_steps * sizeof(*lab->steps);
	char *all, *p;

	for (unsigned int i = 0; i < lab->nr_steps; i++)
		len += lab->steps[i].nr_questions * sizeof(struct lab_question);
	all = p = malloc(len);
	if (!all)
		_exit(1);
	p = mempcpy(p, lab, sizeof(*lab));
	p = mempcpy(p, lab->steps, lab->nr_steps * sizeof(*lab->steps));
	for (unsigned int i = 0; i < lab->nr_steps; i++)
		p = mempcpy(p, lab->steps[i].questions,
			    lab->steps[i].nr_questions * sizeof(struct lab_question));
	wire_say(SAY_SHAPE, all, len, NULL, 0);
	free(all);
}

static int open_lab(struct child *c, struct fl_error *err)
{
	const struct lab_child_task *task = c->task;
	int ret;

	if (c->lab)
		return 0;
	ret = lab_open_text(task->config->dir, task->source, task->source_len, c->student, &c->lab,
			    err);
	if (ret)
		return ret;
	c->lab->ll->defaults.source = lab_child_files();
	c->lab->ll->images = task->images;
	c->lab->ll->played = task->played;
	if (c->stream)
		lab_stream_watch(c->stream, c->lab->ll);
	say_shape(c->lab);
	return 0;
}

static int do_script(struct child *c, struct answer *a)
{
	const struct lab_child_task *task = c->task;
	struct run_config defaults;
	struct lab_script script = {
		.path = task->config->script,
		.text = task->source,
		.len = task->source_len,
		.defaults = &defaults,
		.out = c->out,
		.figure = say_figure,
		.ctx = c,
		.played = task->played,
		.stream = c->stream,
	};

	if (task->config->defaults)
		defaults = *task->config->defaults;
	else
		run_config_init(&defaults);
	defaults.source = lab_child_files();
	return lab_script_run(&script, &a->head.limit, &a->head.err);
}

static void say_progress(void *ctx, unsigned int done, unsigned int total)
{
	u32 both[2] = {done, total};

	(void)ctx;
	wire_say(SAY_PROGRESS, both, sizeof(both), NULL, 0);
}

static int do_check(struct child *c, const struct ask *ask, struct answer *a)
{
	const struct lab_child_task *task = c->task;
	struct lab_check_files files = *task->config->check;
	struct lab_check check = {
		.out = c->out, .students = ask->head.nr, .progress = say_progress, .ctx = c};
	int ret;

	files.source = task->source;
	files.source_len = task->source_len;
	files.images = task->images;
	files.backing = lab_child_files();
	ret = lab_check_run(&files, &check, &a->head.err);
	a->head.value = (struct lab_value){
		.type = LAB_VALUE_NUMBERS, .nr = 2, .numbers = {check.questions, check.failures}};
	return ret;
}

/* ---- serving ---- */

/* Where an error of the lab has no file, the lab is meant. */
static int find_place(const struct child *c, struct ask *ask, struct fl_error *err)
{
	const struct lab *lab = c->lab;

	if (!asks[ask->type].step)
		return 0;
	if (ask->head.step >= lab->nr_steps)
		return fl_error_set(err, -EINVAL, lab->path, 0, "no such step");
	ask->step = &lab->steps[ask->head.step];
	if (!asks[ask->type].question || (ask->type == LAB_ASK_TEXT && !ask->head.of_question))
		return 0;
	if (ask->head.question >= ask->step->nr_questions)
		return fl_error_set(err, -EINVAL, lab->path, ask->step->line, "no such question");
	ask->q = &ask->step->questions[ask->head.question];
	return 0;
}

static int serve_lab(struct child *c, struct ask *ask, struct answer *a)
{
	struct lab_lua *ll;
	int ret = open_lab(c, &a->head.err);

	if (!ret)
		ret = find_place(c, ask, &a->head.err);
	if (ret)
		return ret;
	ll = c->lab->ll;
	lab_lua_set_budget(ll, LAB_LUA_BUDGET);
	ll->figure = ask->head.quiet ? NULL : say_figure;
	ll->figure_ctx = c;
	ret = asks[ask->type].serve(c, ask, a);
	a->head.limit = lab_limit_of(ll);
	return ret;
}

static void say_reply(struct child *c, struct answer *a)
{
	char *texts = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&texts, &len);

	if (!f)
		_exit(1);
	a->head.has_text = a->text != NULL;
	a->head.nr_options = a->options.nr;
	if (a->text)
		fwrite(a->text, 1, strlen(a->text) + 1, f);
	for (unsigned int i = 0; i < a->options.nr; i++) {
		a->head.index[i] = a->options.index[i];
		fwrite(a->options.text[i], 1, strlen(a->options.text[i]) + 1, f);
	}
	if (fclose(f))
		_exit(1);
	fflush(c->out);
	if (c->stream)
		lab_stream_flush(c->stream);
	wire_say(SAY_REPLY, &a->head, sizeof(a->head), texts, len);
	free(texts);
	free(a->text);
	lab_options_free(&a->options);
}

static char *hear_text(size_t len)
{
	char *s = malloc(len + 1);

	if (!s)
		_exit(1);
	wire_hear(s, len);
	s[len] = 0;
	return s;
}

static void hear_ask(struct ask *ask)
{
	struct wire_head head;

	memset(ask, 0, sizeof(*ask));
	wire_hear(&head, sizeof(head));
	wire_hear(&ask->head, sizeof(ask->head));
	ask->type = head.type;
	if (ask->head.has_value)
		wire_hear(&ask->value, sizeof(ask->value));
	ask->name = hear_text(ask->head.name_len);
	ask->bytes = hear_text(ask->head.bytes_len);
}

/* One ask. False: a limit was hit or the lab is broken, what is left is for a fresh child. */
static bool serve(struct child *c)
{
	struct answer a = {.head.type = 0};
	struct ask ask;
	bool go_on;

	hear_ask(&ask);
	a.head.type = ask.type;
	if (ask.type == LAB_ASK_SCRIPT)
		a.head.error = do_script(c, &a);
	else if (ask.type == LAB_ASK_CHECK)
		a.head.error = do_check(c, &ask, &a);
	else if (ask.type == LAB_ASK_WHO)
		a.head.error = do_who(c, &ask, &a);
	else
		a.head.error = serve_lab(c, &ask, &a);
	go_on = (c->lab || (ask.type == LAB_ASK_WHO && !a.head.error)) && !a.head.limit;
	a.head.last = !go_on;
	say_reply(c, &a);
	free(ask.name);
	free(ask.bytes);
	return go_on;
}

int lab_child(const struct lab_child_task *task)
{
	static const struct jail_limits limits = {
		.memory = ADDRESSES, .cpu_seconds = CPU_SECONDS, .files = true};
	struct child c = {.task = task};

	if (task->config->student)
		snprintf(c.student, sizeof(c.student), "%s", task->config->student);
	if (jail_enter(-1, task->talk, &limits))
		return WIRE_NO_JAIL;
	c.out = open_print();
	if (task->config->events)
		c.stream = lab_stream_open(task->config->events);
	if (!c.out || (task->config->events && !c.stream))
		return 1;
	while (serve(&c))
		;
	return 0;
}
