/* lab watch: every program of a lab is judged whenever its file is saved. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cli/lab.h"

struct count {
	unsigned int right, all;
};

static int judge_one(struct lab_session *s, const struct lab_step *step,
		     const struct lab_question *q, struct count *count, struct fl_error *err)
{
	struct lab_item *item = lab_progress_item(&s->progress, q->id);
	struct lab_reply reply;
	struct lab_verdict *verdict = &reply.verdict;
	int ret;

	if (!item)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = lab_ask(s, LAB_ASK_JUDGE, step, q, &reply, err);
	if (ret)
		return ret;
	if (!reply.given && item->status == LAB_RIGHT) {
		verdict->right = true; /* typed at the prompt */
		*verdict->why = 0;
	}
	count->all++;
	count->right += verdict->right;
	if (verdict->right && item->status == LAB_OPEN) {
		item->status = LAB_RIGHT;
		item->points = max(0.0, q->points - item->lost);
	}
	printf("  %-4s %s%s%s\n", verdict->right ? "ok" : "no", q->id, *verdict->why ? ": " : "",
	       verdict->why);
	return 0;
}

static bool has_programs(const struct lab_step *step)
{
	for (unsigned int i = 0; i < step->nr_questions; i++)
		if (lab_is_program(&step->questions[i]))
			return true;
	return false;
}

static int do_quietly(struct lab_session *s, enum lab_ask_type type, const struct lab_step *step,
		      struct fl_error *err)
{
	struct lab_ask ask = lab_ask_about(s->lab, type, step, NULL);
	struct lab_reply reply;

	ask.quiet = true;
	return lab_remote_do(s->remote, &ask, &reply, err);
}

static int judge_step(struct lab_session *s, const struct lab_step *step, struct count *count,
		      struct fl_error *err)
{
	int ret = do_quietly(s, LAB_ASK_START, step, err);

	for (int predict = 1; predict >= 0 && !ret; predict--) {
		for (unsigned int i = 0; i < step->nr_questions && !ret; i++)
			if (step->questions[i].predict == predict &&
			    lab_is_program(&step->questions[i]))
				ret = judge_one(s, step, &step->questions[i], count, err);
		if (!ret && predict)
			ret = do_quietly(s, LAB_ASK_RUN, step, err);
	}
	return ret;
}

static int judge_all(struct lab_session *s, struct count *count, struct fl_error *err)
{
	struct fl_error student = {0};
	int ret = 0;

	*count = (struct count){0, 0};
	printf("%s: student %s, seed %08x\n", s->lab->name, s->lab->student, s->lab->seed);
	if (lab_ask_answers(s, &student)) {
		printf("  %s:%u: %s\n", student.file, student.line, student.text);
		count->all = 1;
		return 0;
	}
	for (unsigned int i = 0; i < s->lab->nr_steps && !ret; i++)
		if (has_programs(&s->lab->steps[i]))
			ret = judge_step(s, &s->lab->steps[i], count, err);
	return ret ? ret : lab_progress_save(&s->progress, s->lab->name, err);
}

/* Until the file was written or replaced. The folder is watched: editors rename. */
static int wait_for_save(int fd, struct fl_error *err)
{
	char buf[sizeof(struct inotify_event) + NAME_MAX + 1]
		__attribute__((aligned(__alignof__(struct inotify_event))));

	for (;;) {
		const struct inotify_event *ev = (const void *)buf;
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fl_error_set(err, -errno, NULL, 0, "inotify: %s", strerror(errno));
		if (ev->len && !strcmp(ev->name, "answers.lua"))
			return 0;
	}
}

static bool all_right(const struct count *count)
{
	return count->right == count->all;
}

int lab_watch(struct lab_session *s, bool once, int *done, struct fl_error *err)
{
	struct count count = {0, 0};
	int fd = inotify_init1(IN_CLOEXEC), ret = 0;

	if (fd < 0 || inotify_add_watch(fd, s->state, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
		ret = fl_error_set(err, -errno, s->state, 0, "cannot watch: %s", strerror(errno));
	if (!ret)
		ret = judge_all(s, &count, err);
	while (!ret && !once && !all_right(&count)) {
		printf("%u of %u right. Edit %s; every save is checked, Ctrl-C ends.\n",
		       count.right, count.all, s->answers);
		fflush(stdout);
		ret = wait_for_save(fd, err);
		if (!ret)
			ret = judge_all(s, &count, err);
	}
	if (!ret && all_right(&count))
		printf("All done: %u of %u programs are right.\n", count.right, count.all);
	else if (!ret)
		printf("%u of %u right.\n", count.right, count.all);
	*done = !ret && all_right(&count);
	if (fd >= 0)
		close(fd);
	return ret;
}
