/*
 * cli/lab.h - what the files of `foliolab lab` share.
 *
 * Errors     negative errno with struct fl_error; CLI_* where a function is a subcommand.
 */
#ifndef FL_CLI_LAB_H
#define FL_CLI_LAB_H

#include "cli/common.h"
#include "lab/lab_find.h"
#include "lab/lab_progress.h"
#include "lab/lab_remote.h"

#define LAB_DEFAULT_STUDENT "guest"

/* The command line of `foliolab lab`. */
struct lab_args {
	const char *what;    /* list, show, run, ... */
	const char *lab;     /* number, name or path; NULL */
	const char *student; /* NULL: who began, else guest */
	const char *output;
	const char *platform, *program; /* package --for; NULL */
	unsigned int seeds;
	bool yes, once, plain, no_settings;
	bool help;
};

/* Somebody a lab is talked over with who is not at standard input and output. */
struct lab_talk {
	FILE *out; /* for plain text */
	void (*markdown)(struct lab_talk *talk, const char *text);
	/* What a lab's Lua printed. */
	void (*print)(struct lab_talk *talk, const char *text, size_t len);
	/* A step begins, from 0; the number of steps: all are done. */
	void (*step)(struct lab_talk *talk, unsigned int nr);
	/* A line, the caller's, or NULL to stop. @question: it is an answer, else only Enter. */
	char *(*line)(struct lab_talk *talk, bool question);
	/* lab_remote_do(). */
	int (*ask)(struct lab_talk *talk, const struct lab_ask *ask, struct lab_reply *reply,
		   struct fl_error *err);
};

/* A lab opened for a student, with the progress and the student's files. */
struct lab_session {
	struct lab_remote *remote;
	const struct lab *lab; /* the remote's */
	struct lab_progress progress;
	char dir[LAB_PATH];	/* of the lab */
	char state[LAB_PATH];	/* of the student's files */
	char answers[LAB_PATH]; /* answers.lua of the student */
	unsigned int columns;
	bool colour;
	FILE *out;	       /* where it is all told */
	struct lab_talk *talk; /* NULL: at standard input and output */
};

/*
 * Open lab @what: the progress decides who the student is, @student (may be NULL) must agree.
 * answers.lua is copied to the student's folder if it is not there. @events are kept of each
 * machine, 0: machines are not watched.
 */
int lab_session_open(struct lab_session *s, const char *what, const char *student, u64 events,
		     struct fl_error *err);
void lab_session_close(struct lab_session *s);

/* Ask and wait. Returns reply->error. */
int lab_do(struct lab_session *s, const struct lab_ask *ask, struct lab_reply *reply,
	   struct fl_error *err);
/* Ask about a step and a question (or NULL) and wait. Returns reply->error. */
int lab_ask(struct lab_session *s, enum lab_ask_type type, const struct lab_step *step,
	    const struct lab_question *q, struct lab_reply *reply, struct fl_error *err);
/* Load the student's answers.lua; an error is the student's. */
int lab_ask_answers(struct lab_session *s, struct fl_error *err);

/* The lab in folder @dir for @student, nothing of it started. The remote is the caller's. */
int lab_look(const char *dir, const char *student, struct lab_remote **ret, struct fl_error *err);
/* The same without waiting: lab_remote_poll() says when the lab is there, or why it never is. */
int lab_look_start(const char *dir, const char *student, struct lab_remote **ret,
		   struct fl_error *err);

double lab_total_points(const struct lab *lab);
/* Without the lab's number, which some titles begin with. */
const char *lab_title(const struct lab *lab);

/* Print Markdown. */
void lab_print(const struct lab_session *s, const char *text);

/* lab run: from where the student left to the end or until input ends. */
int lab_run_interactive(struct lab_session *s, struct fl_error *err);
/* Can the terminal view be had here: a terminal that is not dumb and large enough? */
bool lab_can_view(void);
/* lab run in the terminal view; the session was opened with events. -EINTR: a signal, in *@signo,
 * ended it. */
int lab_run_view(struct lab_session *s, bool no_settings, int *signo, struct fl_error *err);
/*
 * Open lab @what for @student (or NULL) and run it: @plain on standard input and output, else in
 * the terminal view.
 */
int lab_run_here(const char *what, const char *student, bool plain, bool no_settings,
		 struct fl_error *err);
/* lab watch: 0 once every program is right; 1 with @once and something left. */
int lab_watch(struct lab_session *s, bool once, int *done, struct fl_error *err);
/* lab list. */
int lab_list(struct fl_error *err);
/* foliolab without arguments on a terminal: choose a lab by number and run it. */
int lab_menu(void);
/* lab new: make @name in the current folder. */
int lab_new(const char *name, struct fl_error *err);
/* lab package. */
int lab_package(struct lab_session *s, const char *output, struct fl_error *err);

#endif
