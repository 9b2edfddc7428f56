/* lab run: a question at a time, on standard input and output or with a struct lab_talk. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "lab/plot.h"

/* What became of a question or step. */
enum turn { TURN_ON, TURN_QUIT };

struct asking {
	struct lab_session *s;
	const struct lab_step *step;
	const struct lab_question *q;
	struct lab_item *item;
	struct lab_options options; /* texts are ours */
	struct fl_error *err;
};

static const char *style(const struct lab_session *s, const char *code)
{
	return s->colour ? code : "";
}

#define BOLD "\033[1m"
#define GOOD "\033[32m"
#define BAD  "\033[31m"
#define OFF  "\033[0m"

/* Points with as few digits as they need. */
static const char *points(double v)
{
	static char text[4][40];
	static unsigned int turn;

	return plot_number(v, text[turn++ % 4], sizeof(text[0]));
}

static void rule(const struct lab_session *s)
{
	for (unsigned int i = 0; i < s->columns; i++)
		fputc('-', s->out);
	fputc('\n', s->out);
}

/* The title line of every screen. */
static void print_head(const struct lab_session *s, unsigned int step)
{
	const struct lab *lab = s->lab;

	if (s->talk) {
		s->talk->step(s->talk, step);
		return;
	}
	fputc('\n', s->out);
	rule(s);
	fprintf(s->out, "%sLab %.2s  %s%s\n", style(s, BOLD), lab->name, lab_title(lab),
		style(s, OFF));
	fprintf(s->out, "student %s, seed %08x, %s of %s points", lab->student, lab->seed,
		points(lab_progress_points(&s->progress)), points(lab_total_points(lab)));
	if (step < lab->nr_steps)
		fprintf(s->out, ", step %u of %u: %s", step + 1, lab->nr_steps,
			lab->steps[step].title);
	fputc('\n', s->out);
	rule(s);
}

static int save(const struct lab_session *s, struct fl_error *err)
{
	return lab_progress_save(&s->progress, s->lab->name, err);
}

static char *read_stdin(const char *prompt)
{
	char *line = NULL;
	size_t cap = 0;

	fputs(prompt, stdout);
	fflush(stdout);
	if (getline(&line, &cap, stdin) >= 0)
		return line;
	free(line);
	putchar('\n');
	return NULL;
}

/*
 * A line without what is blank around it; NULL when the input has ended. The text is the caller's.
 * @question: it is asked for an answer.
 */
static char *read_line(const struct lab_session *s, const char *prompt, bool question)
{
	char *line = s->talk ? s->talk->line(s->talk, question) : read_stdin(prompt);
	size_t n = line ? strlen(line) : 0, blank;

	if (!line)
		return NULL;
	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = 0;
	blank = strspn(line, " \t");
	memmove(line, line + blank, n - blank + 1);
	return line;
}

/* ---- one question ---- */

/* Of the question, or of the step where @q is NULL. */
static int ask_text(struct lab_session *s, const struct lab_step *step,
		    const struct lab_question *q, enum lab_text which, unsigned int nr,
		    struct fl_error *err)
{
	struct lab_ask ask = lab_ask_about(s->lab, LAB_ASK_TEXT, step, q);
	struct lab_reply reply;
	int ret;

	ask.text = which;
	ask.nr = nr;
	ret = lab_do(s, &ask, &reply, err);
	if (!ret)
		lab_print(s, reply.text);
	return ret;
}

static int print_text(struct asking *a, enum lab_text which, unsigned int nr)
{
	return ask_text(a->s, a->step, a->q, which, nr, a->err);
}

static void print_how(const struct asking *a)
{
	static const char *const how[] = {
		[LAB_NUMBER] = "Type a number",
		[LAB_LIST] = "Type the numbers, apart by blanks",
		[LAB_CHOICE] = "Type the letter",
		[LAB_ORDER] = "Type all letters in the right order, such as b a c",
		[LAB_FUNC] = "Press Enter when you saved the file",
		[LAB_WORKLOAD] =
			"Type the operations in one line (or Enter: take them from the file)",
	};
	unsigned int left = a->q->nr_hints - a->item->hints;

	if (a->q->kind == LAB_FUNC)
		fprintf(a->s->out, "Write `%s` in the file\n  %s\nwith any editor.\n", a->q->id,
			a->s->answers);
	else if (a->q->kind == LAB_WORKLOAD)
		fprintf(a->s->out, "The file is %s, the name `%s`.\n", a->s->answers, a->q->id);
	fprintf(a->s->out, "%s%s%s%s.", how[a->q->kind], *a->q->unit ? " (" : "", a->q->unit,
		*a->q->unit ? ")" : "");
	if (left)
		fprintf(a->s->out, " h: hint (costs %s).", points(a->q->hint_cost[a->item->hints]));
	fprintf(a->s->out, " r: reveal (no points). q: save and quit.\n");
}

static int print_question(struct asking *a, unsigned int nr)
{
	int ret;

	fprintf(a->s->out, "\n%sQuestion %u%s (%s points)%s\n", style(a->s, BOLD), nr,
		style(a->s, OFF), points(a->q->points), a->q->predict ? " - predict" : "");
	ret = print_text(a, LAB_QUESTION, 0);
	for (unsigned int i = 0; i < a->options.nr; i++)
		fprintf(a->s->out, "  %c) %s\n", 'a' + (int)i, a->options.text[i]);
	if (!ret)
		print_how(a);
	return ret;
}

static int give_hint(struct asking *a)
{
	if (a->item->hints >= a->q->nr_hints) {
		fprintf(a->s->out, "No more hints.\n");
		return 0;
	}
	a->item->lost += a->q->hint_cost[a->item->hints];
	fprintf(a->s->out, "Hint %u of %u: ", a->item->hints + 1, a->q->nr_hints);
	a->item->hints++;
	return print_text(a, LAB_HINT, a->item->hints - 1) ? a->err->code : save(a->s, a->err);
}

static int explain(struct asking *a)
{
	return a->q->explains ? print_text(a, LAB_EXPLAIN, 0) : 0;
}

static int reveal(struct asking *a)
{
	struct lab_reply reply;
	char text[600];
	int ret = 0;

	if (lab_is_program(a->q)) {
		fprintf(a->s->out, "A program has many right answers; go on and come back to it: "
				   "'foliolab lab "
				   "watch' checks it.\n");
	} else {
		ret = lab_ask(a->s, LAB_ASK_ANSWER, a->step, a->q, &reply, a->err);
		if (ret)
			return ret;
		lab_value_format(a->q, &reply.value, &a->options, text, sizeof(text));
		fprintf(a->s->out, "The answer is %s%s%s%s.\n", text, *a->q->unit ? " (" : "",
			a->q->unit, *a->q->unit ? ")" : "");
	}
	a->item->status = LAB_REVEALED;
	a->item->points = 0;
	ret = explain(a);
	return ret ? ret : save(a->s, a->err);
}

static int was_right(struct asking *a)
{
	a->item->status = LAB_RIGHT;
	a->item->points = max(0.0, a->q->points - a->item->lost);
	fprintf(a->s->out, "%sRight.%s %s of %s points.\n", style(a->s, GOOD), style(a->s, OFF),
		points(a->item->points), points(a->q->points));
	return explain(a);
}

static void was_wrong(struct asking *a, const char *why)
{
	a->item->wrong++;
	fprintf(a->s->out, "%sNot right%s%s%s.", style(a->s, BAD), style(a->s, OFF),
		*why ? ": " : "", why);
	if (a->q->kind == LAB_CHOICE && a->options.nr > 1) {
		double cost = a->q->points / (a->options.nr - 1);

		a->item->lost += cost;
		fprintf(a->s->out, " This try cost %s.", points(cost));
	}
	fprintf(a->s->out, " Try again, h for a hint, r to reveal.\n");
}

/* The value typed; false (told already) if it is none. */
static bool take_value(struct asking *a, const char *line, struct lab_value *v)
{
	char why[200];

	if (lab_value_parse(a->q, &a->options, line, v, why, sizeof(why)))
		return true;
	fprintf(a->s->out, "%s%.60s%s: %s.\n", "'", line, "'", why);
	return false;
}

static void print_where(FILE *out, const struct fl_error *err)
{
	fprintf(out, "%s%s%.0u", err->file, *err->file ? ":" : "", err->line);
	fprintf(out, "%s%s\n", *err->file || err->line ? ": " : "", err->text);
}

/* A program is in the file. False (told already) if the file is broken. */
static bool load_program(struct asking *a)
{
	struct fl_error err = {0};

	if (!lab_is_program(a->q)) {
		print_how(a);
		return false;
	}
	if (!lab_ask_answers(a->s, &err))
		return true;
	print_where(a->s->out, &err);
	return false;
}

static int judge_line(struct asking *a, const char *line)
{
	struct lab_ask ask = lab_ask_about(a->s->lab, LAB_ASK_JUDGE, a->step, a->q);
	bool typed = *line && a->q->kind != LAB_FUNC;
	struct lab_reply reply = {.limit = LAB_NO_LIMIT};
	struct lab_value v;
	int ret;

	if (typed ? !take_value(a, line, &v) : !load_program(a))
		return 0;
	ask.value = typed ? &v : NULL;
	ret = lab_do(a->s, &ask, &reply, a->err);
	if (ret && reply.limit == LAB_CANCELLED) {
		fprintf(a->s->out, "Stopped.\n");
		return 0;
	}
	if (ret)
		return ret;
	if (reply.unfit) {
		fprintf(a->s->out, "%s\n", reply.verdict.why);
		return 0;
	}
	free(a->item->given);
	a->item->given = *line ? strdup(line) : NULL;
	if (reply.verdict.right)
		ret = was_right(a);
	else
		was_wrong(a, reply.verdict.why);
	return ret ? ret : save(a->s, a->err);
}

static bool is_word(const char *line, const char *letter, const char *word)
{
	return !strcasecmp(line, letter) || !strcasecmp(line, word);
}

/* Until it is answered or given up. */
static int ask(struct asking *a, unsigned int nr, enum turn *turn)
{
	int ret = print_question(a, nr);

	while (!ret && a->item->status == LAB_OPEN) {
		char *line = read_line(a->s, "> ", true);

		if (!line || is_word(line, "q", "quit")) {
			free(line);
			*turn = TURN_QUIT;
			return 0;
		}
		if (is_word(line, "h", "hint"))
			ret = give_hint(a);
		else if (is_word(line, "r", "reveal"))
			ret = reveal(a);
		else if (is_word(line, "?", "help"))
			print_how(a);
		else
			ret = judge_line(a, line);
		free(line);
	}
	return ret;
}

/* ---- a step ---- */

/* The question's options, to keep while it is asked. */
static int take_options(struct asking *a)
{
	struct lab_options *o = &a->options;
	struct lab_reply reply;
	int ret = lab_ask(a->s, LAB_ASK_OPTIONS, a->step, a->q, &reply, a->err);

	if (ret)
		return ret;
	*o = reply.options;
	for (o->nr = 0; o->nr < reply.options.nr; o->nr++) {
		o->text[o->nr] = strdup(reply.options.text[o->nr]);
		if (!o->text[o->nr])
			return fl_error_set(a->err, -ENOMEM, NULL, 0, "out of memory");
	}
	return 0;
}

static int ask_all(struct lab_session *s, const struct lab_step *step, bool predict,
		   enum turn *turn, struct fl_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < step->nr_questions && !ret && *turn == TURN_ON; i++) {
		struct asking a = {.s = s, .step = step, .q = &step->questions[i], .err = err};

		if (a.q->predict != predict)
			continue;
		a.item = lab_progress_item(&s->progress, a.q->id);
		if (!a.item)
			return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
		if (a.item->status != LAB_OPEN) {
			fprintf(s->out, "\nQuestion %u: done, %s of %s points.\n", i + 1,
				points(a.item->points), points(a.q->points));
			continue;
		}
		ret = take_options(&a);
		if (!ret)
			ret = ask(&a, i + 1, turn);
		lab_options_free(&a.options);
	}
	return ret;
}

static int run_and_show(struct lab_session *s, const struct lab_step *step, struct fl_error *err)
{
	struct lab_reply reply;

	if (step->runs)
		fputc('\n', s->out);
	return lab_ask(s, LAB_ASK_RUN, step, NULL, &reply, err);
}

static int play_step(struct lab_session *s, unsigned int nr, enum turn *turn, struct fl_error *err)
{
	const struct lab_step *step = &s->lab->steps[nr];
	struct lab_reply reply;
	int ret = lab_ask(s, LAB_ASK_START, step, NULL, &reply, err);

	if (ret)
		return ret;
	print_head(s, nr);
	ret = ask_text(s, step, NULL, LAB_BRIEF, 0, err);
	if (!ret)
		ret = ask_all(s, step, true, turn, err);
	if (!ret && *turn == TURN_ON)
		ret = run_and_show(s, step, err);
	if (!ret && *turn == TURN_ON)
		ret = ask_all(s, step, false, turn, err);
	if (ret || *turn != TURN_ON)
		return ret;
	if (step->reveals) {
		fputc('\n', s->out);
		ret = ask_text(s, step, NULL, LAB_REVEAL, 0, err);
	}
	s->progress.steps_done = nr + 1;
	return ret ? ret : save(s, err);
}

/* Between steps; false to stop. */
static bool go_on(const struct lab_session *s)
{
	char *line = read_line(s, "\nPress Enter for the next step, q to save and quit. > ", false);
	bool on = line && !is_word(line, "q", "quit");

	free(line);
	return on;
}

static void print_end(const struct lab_session *s)
{
	print_head(s, s->lab->nr_steps);
	fprintf(s->out, "All %u steps are done: %s of %s points.\n", s->lab->nr_steps,
		points(lab_progress_points(&s->progress)), points(lab_total_points(s->lab)));
	fprintf(s->out,
		"Programs to improve: foliolab lab watch %s. Once more from the start: foliolab "
		"lab "
		"reset %s.\n",
		s->lab->name, s->lab->name);
}

int lab_run_interactive(struct lab_session *s, struct fl_error *err)
{
	enum turn turn = TURN_ON;
	unsigned int nr = s->progress.steps_done;
	int ret = save(s, err);

	if (!ret && nr && nr < s->lab->nr_steps)
		fprintf(s->out, "Welcome back: %u of %u steps are done.\n", nr, s->lab->nr_steps);
	for (; nr < s->lab->nr_steps && !ret && turn == TURN_ON; nr++) {
		ret = play_step(s, nr, &turn, err);
		if (!ret && turn == TURN_ON && nr + 1 < s->lab->nr_steps && !go_on(s))
			turn = TURN_QUIT;
	}
	if (ret)
		return ret;
	if (turn == TURN_QUIT)
		fprintf(s->out, "Saved. Go on with: foliolab lab run %s\n", s->lab->name);
	else
		print_end(s);
	return 0;
}
