/* Judging: a remote for each submission under way, asked one question after the other. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade.h"
#include "lib/printable.h"

#define POLL_MS 100
#define NO_STEP (~0u)

/* A place for one submission under way. */
struct slot {
	struct grade *g;
	struct grade_result *result; /* NULL: free */
	struct lab_remote *remote;
	enum lab_ask_type asked;
	u32 next;	     /* item without a verdict */
	bool known;	     /* whose it is */
	bool opened, loaded; /* the lab; the answers */
	unsigned int step;   /* that was started, or NO_STEP */
	bool ran;
	bool control;	     /* judges the lab without the submission */
	char why[GRADE_WHY]; /* control: what the lab complained about */
};

struct run_state {
	struct grade *g;
	struct slot *slots;
	unsigned int jobs;
	unsigned int next, done; /* submissions */
	struct fl_error *err;
};

/* ---- texts ---- */

/* "answers.lua:3: text" without folders. */
static void describe(const struct fl_error *err, char *buf, size_t n)
{
	const char *slash = strrchr(err->file, '/');

	if (err->file[0] && err->line)
		snprintf(buf, n, "%.60s:%u: %.400s", slash ? slash + 1 : err->file, err->line,
			 err->text);
	else
		snprintf(buf, n, "%s", err->text);
}

/* Which limit, at which question, after which event. */
static void limit_reason(const struct slot *s, const struct lab_reply *reply, char *why)
{
	const char *id = s->next < s->g->nr_items ? s->g->items[s->next].q->id : "";
	char detail[GRADE_WHY], last[240];
	int n;

	if (reply->died)
		snprintf(detail, sizeof(detail), "%s", reply->detail);
	else if (*reply->verdict.why)
		snprintf(detail, sizeof(detail), "%s", reply->verdict.why);
	else
		describe(&reply->err, detail, sizeof(detail));
	lab_remote_last(s->remote, last, sizeof(last));
	n = snprintf(why, GRADE_WHY, "limit %s: %.200s, ", lab_limit_name(reply->limit), detail);
	if (s->known)
		snprintf(why + n, GRADE_WHY - n, "at question %s, %s", id, last);
	else
		snprintf(why + n, GRADE_WHY - n, "while it was read, %s", last);
}

/* ---- results ---- */

/* The item at next has failed; the one after it is next. */
static void fail_item(struct slot *s, enum lab_limit limit, const char *why)
{
	struct grade_verdict *v = &s->result->verdicts[s->next++];

	v->right = false;
	v->limit = limit;
	snprintf(v->why, sizeof(v->why), "%s", why);
	make_printable(v->why);
}

static void fail_for_limit(struct slot *s, const struct lab_reply *reply)
{
	char why[GRADE_WHY];

	limit_reason(s, reply, why);
	fail_item(s, reply->limit, why);
}

static void make_broken(struct slot *s, const struct lab_reply *reply)
{
	struct grade_result *r = s->result;

	r->broken = true;
	r->limit = reply->limit;
	if (reply->limit)
		limit_reason(s, reply, r->why);
	else
		describe(&reply->err, r->why, sizeof(r->why));
	make_printable(r->why);
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

/* ---- asking ---- */

static int open_remote(struct run_state *run, struct slot *s)
{
	const struct grade *g = run->g;
	struct lab_remote_config config = {
		.dir = g->lab->dir,
		.source = g->source,
		.source_len = g->source_len,
		.images = &g->images,
		.student = s->result->student,
		.cpu_seconds = GRADE_CPU_SECONDS,
		.wall_seconds = GRADE_WALL_SECONDS,
		.rss_mib = GRADE_RSS_MIB,
	};

	lab_remote_close(s->remote);
	s->opened = s->loaded = s->ran = false;
	s->step = NO_STEP;
	return lab_remote_open(&config, &s->remote, run->err);
}

/* What has to be asked before, or of, the next item. */
static struct lab_ask next_ask(const struct slot *s)
{
	const struct grade_item *item = &s->g->items[s->next];
	struct lab_ask ask = {.quiet = true};

	if (!s->known || (s->opened && !s->loaded && !s->control)) {
		ask.type = s->known ? LAB_ASK_ANSWERS : LAB_ASK_WHO;
		ask.name = "answers.lua";
		ask.bytes = s->result->text;
		ask.len = s->result->len;
		return ask;
	}
	if (!s->opened) {
		ask.type = LAB_ASK_LAB;
		return ask;
	}
	ask.step = item->step_nr - 1;
	ask.question = item->q - item->step->questions;
	ask.type = s->step != ask.step		  ? LAB_ASK_START
		   : !item->q->predict && !s->ran ? LAB_ASK_RUN
						  : LAB_ASK_JUDGE;
	return ask;
}

static int send_next(struct run_state *run, struct slot *s)
{
	struct lab_ask ask = next_ask(s);

	s->asked = ask.type;
	return lab_remote_send(s->remote, &ask, run->err);
}

/* ---- the lab without the submission ---- */

static int begin_control(struct run_state *run, struct slot *s, const struct lab_reply *reply)
{
	describe(&reply->err, s->why, sizeof(s->why));
	make_printable(s->why);
	s->control = true;
	return open_remote(run, s);
}

/* The submission is out of it: is the lab broken by itself? */
static int end_control(struct run_state *run, struct slot *s, bool fine)
{
	char why[GRADE_WHY];

	if (!fine)
		return fl_error_set(run->err, -EINVAL, run->g->lab->path, 0,
				    "the lab fails without any submission, student %s: %.300s",
				    s->result->student, s->why);
	snprintf(why, sizeof(why), "the lab could not go on: %.400s", s->why);
	s->control = false;
	fail_item(s, LAB_NO_LIMIT, why);
	return open_remote(run, s);
}

/* ---- answers ---- */

static void take_verdict(struct slot *s, const struct lab_reply *reply)
{
	char why[GRADE_WHY];

	if (reply->limit) {
		fail_for_limit(s, reply);
		return;
	}
	if (reply->verdict.right) {
		s->result->verdicts[s->next++].right = true;
		return;
	}
	if (reply->unfit)
		describe(&reply->err, why, sizeof(why));
	else if (!reply->given)
		snprintf(why, sizeof(why), "no answer");
	else
		snprintf(why, sizeof(why), "%s",
			 *reply->verdict.why ? reply->verdict.why : "wrong");
	fail_item(s, LAB_NO_LIMIT, why);
}

static void take_who(struct slot *s, const struct lab_reply *reply)
{
	snprintf(s->result->student, sizeof(s->result->student), "%s", reply->text);
	s->result->seed = lab_seed(s->result->student);
	s->known = true;
}

/* An ask that came to nothing. */
static int take_failure(struct run_state *run, struct slot *s, const struct lab_reply *reply)
{
	if (reply->error == -EPERM)
		return fl_error_set(run->err, -EPERM, NULL, 0,
				    "submissions cannot be locked in here (seccomp or limits "
				    "refused), expected a kernel that can");
	if (s->control)
		return end_control(run, s, false);
	if (s->asked == LAB_ASK_WHO || (s->asked == LAB_ASK_ANSWERS && !reply->died))
		make_broken(s, reply);
	else if (reply->died)
		fail_for_limit(s, reply);
	else
		return begin_control(run, s, reply);
	return 0;
}

static int take_reply(struct run_state *run, struct slot *s, const struct lab_reply *reply)
{
	if (reply->error || (reply->limit && s->asked == LAB_ASK_WHO))
		return take_failure(run, s, reply);
	switch (s->asked) {
	case LAB_ASK_WHO:
		take_who(s, reply);
		break;
	case LAB_ASK_LAB:
		s->opened = true;
		break;
	case LAB_ASK_ANSWERS:
		s->loaded = true;
		break;
	case LAB_ASK_START:
		s->step = s->g->items[s->next].step_nr - 1;
		s->ran = false;
		break;
	case LAB_ASK_RUN:
		s->ran = true;
		break;
	default:
		if (s->control)
			return end_control(run, s, true);
		take_verdict(s, reply);
	}
	return 0;
}

/* ---- the loop ---- */

static void end_slot(struct slot *s)
{
	lab_remote_close(s->remote);
	s->remote = NULL;
	s->result = NULL;
}

/* Submissions that cannot be read need no child. */
static int fill_slot(struct run_state *run, struct slot *s)
{
	while (run->next < run->g->nr) {
		struct grade_result *r = &run->g->results[run->next++];
		int ret;

		if (r->broken) {
			finish_result(run, r);
			continue;
		}
		*s = (struct slot){.g = run->g, .result = r};
		ret = open_remote(run, s);
		return ret ? ret : send_next(run, s);
	}
	return 0;
}

/* Take what the slot's child has to say and ask on. */
static int serve_slot(struct run_state *run, struct slot *s)
{
	struct lab_reply reply;
	int ret = 0;

	while (!ret && s->result && lab_remote_poll(s->remote, &reply)) {
		ret = take_reply(run, s, &reply);
		if (!ret && (s->result->broken || s->next == run->g->nr_items)) {
			finish_result(run, s->result);
			end_slot(s);
		} else if (!ret) {
			ret = send_next(run, s);
		}
	}
	return ret;
}

static int turn(struct run_state *run, struct pollfd *fds)
{
	unsigned int n = 0;
	int ret = 0;

	for (unsigned int i = 0; i < run->jobs && !ret; i++) {
		struct slot *s = &run->slots[i];

		if (!s->result)
			ret = fill_slot(run, s);
		if (!ret && s->result)
			fds[n++] = (struct pollfd){.fd = lab_remote_fd(s->remote),
						   .events = lab_remote_poll_events(s->remote)};
	}
	if (ret || !n)
		return ret;
	poll(fds, n, POLL_MS);
	for (unsigned int i = 0; i < run->jobs && !ret; i++)
		ret = serve_slot(run, &run->slots[i]);
	return ret;
}

int grade_run(struct grade *g, unsigned int jobs, struct fl_error *err)
{
	struct run_state run = {
		.g = g, .jobs = min_t(unsigned int, jobs, GRADE_JOBS_MAX), .err = err};
	struct pollfd fds[GRADE_JOBS_MAX];
	int ret = 0;

	run.slots = calloc(run.jobs, sizeof(*run.slots));
	if (!run.slots)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	while (!ret && run.done < g->nr)
		ret = turn(&run, fds);
	for (unsigned int i = 0; i < run.jobs; i++)
		end_slot(&run.slots[i]);
	free(run.slots);
	return ret;
}
