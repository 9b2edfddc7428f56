#include "cli/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab/markdown.h"
#include "lab/script.h"
#include "lab/textfile.h"

#define ANSWERS_MAX  (1UL << 20)
#define LOOK_SECONDS 5 /* for nothing but a lab's table */

static unsigned int terminal_columns(void)
{
	struct winsize w;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col >= 20)
		return min_t(unsigned int, w.ws_col, 80);
	return 80;
}

/* Whose lab this is: the one who began it. */
static const char *who(const struct lab_progress *p, const char *student, struct fl_error *err)
{
	if (!*p->student)
		return student ? student : LAB_DEFAULT_STUDENT;
	if (!student || !strcmp(student, p->student))
		return p->student;
	fl_error_set(err, -EINVAL, "--student", 0,
		     "'%.60s', but '%.60s' began this lab, expected the same ('foliolab lab reset' "
		     "starts over)",
		     student, p->student);
	return NULL;
}

static int copy_answers(struct lab_session *s, struct fl_error *err)
{
	char from[LAB_PATH], *text;
	size_t len;
	int fd, ret;

	if (!lab_join(from, s->dir, "answers.lua") ||
	    !lab_join(s->answers, s->state, "answers.lua"))
		return fl_error_set(err, -ENAMETOOLONG, s->dir, 0, "path too long");
	if (!access(s->answers, F_OK))
		return 0;
	ret = textfile_read(from, ANSWERS_MAX, &text, &len, err);
	if (ret)
		return ret;
	fd = open(s->answers, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		ret = fl_error_set(err, -errno, s->answers, 0, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	free(text);
	return ret;
}

static void keep_figure(void *ctx, const char *name, const char *svg)
{
	const struct lab_session *s = ctx;
	struct fl_error err = {0};
	char dir[LAB_PATH];

	if (lab_join(dir, s->state, "figures") && !lab_save_figure(dir, name, svg, &err))
		fprintf(s->out, "  (saved as %s/%s.svg)\n", dir, name);
}

static void print(void *ctx, const char *text, size_t len)
{
	const struct lab_session *s = ctx;

	if (s->talk)
		s->talk->print(s->talk, text, len);
	else
		fwrite(text, 1, len, stdout);
}

/* ---- asking ---- */

int lab_do(struct lab_session *s, const struct lab_ask *ask, struct lab_reply *reply,
	   struct fl_error *err)
{
	return s->talk ? s->talk->ask(s->talk, ask, reply, err)
		       : lab_remote_do(s->remote, ask, reply, err);
}

int lab_ask(struct lab_session *s, enum lab_ask_type type, const struct lab_step *step,
	    const struct lab_question *q, struct lab_reply *reply, struct fl_error *err)
{
	struct lab_ask ask = lab_ask_about(s->lab, type, step, q);

	return lab_do(s, &ask, reply, err);
}

int lab_ask_answers(struct lab_session *s, struct fl_error *err)
{
	struct lab_ask ask = {.type = LAB_ASK_ANSWERS, .name = s->answers};
	struct lab_reply reply;
	char *text;
	int ret = textfile_read(s->answers, ANSWERS_MAX, &text, &ask.len, err);

	if (ret)
		return ret;
	ask.bytes = text;
	ret = lab_do(s, &ask, &reply, err);
	free(text);
	return ret;
}

static int open_remote(const struct lab_remote_config *config, struct lab_remote **ret,
		       struct fl_error *err)
{
	static const struct lab_ask ask = {.type = LAB_ASK_LAB};
	struct lab_reply reply;
	int error = lab_remote_open(config, ret, err);

	if (!error)
		error = lab_remote_do(*ret, &ask, &reply, err);
	if (!error)
		return 0;
	lab_remote_close(*ret);
	*ret = NULL;
	return error;
}

static struct lab_remote_config look_config(const char *dir, const char *student)
{
	return (struct lab_remote_config){.dir = dir,
					  .student = student,
					  .cpu_seconds = LOOK_SECONDS,
					  .wall_seconds = LOOK_SECONDS};
}

int lab_look(const char *dir, const char *student, struct lab_remote **ret, struct fl_error *err)
{
	struct lab_remote_config config = look_config(dir, student);

	return open_remote(&config, ret, err);
}

int lab_look_start(const char *dir, const char *student, struct lab_remote **ret,
		   struct fl_error *err)
{
	static const struct lab_ask ask = {.type = LAB_ASK_LAB};
	struct lab_remote_config config = look_config(dir, student);
	int error = lab_remote_open(&config, ret, err);

	if (!error)
		error = lab_remote_send(*ret, &ask, err);
	if (!error)
		return 0;
	lab_remote_close(*ret);
	*ret = NULL;
	return error;
}

/* ---- a session ---- */

static int open_lab(struct lab_session *s, const char *student, u64 events, struct fl_error *err)
{
	struct lab_remote_config config = {
		.dir = s->dir,
		.student = student,
		.events = events,
		.print = print,
		.figure = keep_figure,
		.ctx = s,
	};
	int ret = open_remote(&config, &s->remote, err);

	if (!ret)
		s->lab = lab_remote_lab(s->remote);
	return ret;
}

int lab_session_open(struct lab_session *s, const char *what, const char *student, u64 events,
		     struct fl_error *err)
{
	const char *name;
	int ret;

	memset(s, 0, sizeof(*s));
	s->columns = terminal_columns();
	s->colour = out_colour(stdout);
	s->out = stdout;
	if (student && (!*student || strlen(student) >= sizeof(s->progress.student)))
		return fl_error_set(err, -EINVAL, "--student", 0,
				    "'%.60s', expected a name of 1 to 127 bytes", student);
	ret = lab_find(what, s->dir, err);
	if (ret)
		return ret;
	name = strrchr(s->dir, '/') + 1;
	ret = lab_progress_load(name, &s->progress, err);
	if (!ret) {
		student = who(&s->progress, student, err);
		ret = student ? 0 : err->code;
	}
	if (!ret)
		ret = open_lab(s, student, events, err);
	if (!ret)
		ret = lab_state_dir(name, true, s->state, err);
	if (!ret)
		ret = copy_answers(s, err);
	if (ret) {
		lab_session_close(s);
		return ret;
	}
	snprintf(s->progress.student, sizeof(s->progress.student), "%s", s->lab->student);
	return 0;
}

void lab_session_close(struct lab_session *s)
{
	lab_remote_close(s->remote);
	s->remote = NULL;
	s->lab = NULL;
	lab_progress_fini(&s->progress);
}

const char *lab_title(const struct lab *lab)
{
	bool numbered = !strncmp(lab->title, lab->name, 2) && lab->title[2] == ' ';

	return lab->title + (numbered ? 3 : 0);
}

double lab_total_points(const struct lab *lab)
{
	double sum = 0;

	for (unsigned int i = 0; i < lab->nr_steps; i++)
		for (unsigned int j = 0; j < lab->steps[i].nr_questions; j++)
			sum += lab->steps[i].questions[j].points;
	return sum;
}

void lab_print(const struct lab_session *s, const char *text)
{
	if (s->talk)
		s->talk->markdown(s->talk, text);
	else
		markdown_print(s->out, text, s->columns, s->colour);
}
