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
	unsigned int seeds;
	bool yes, once;
	bool help;
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
};

/*
 * Open lab @what: the progress decides who the student is, @student (may be NULL) must agree.
 * answers.lua is copied to the student's folder if it is not there.
 */
int lab_session_open(struct lab_session *s, const char *what, const char *student,
		     struct fl_error *err);
void lab_session_close(struct lab_session *s);

/* Ask about a step and a question (or NULL) and wait. Returns reply->error. */
int lab_ask(struct lab_session *s, enum lab_ask_type type, const struct lab_step *step,
	    const struct lab_question *q, struct lab_reply *reply, struct fl_error *err);
/* Load the student's answers.lua; an error is the student's. */
int lab_ask_answers(struct lab_session *s, struct fl_error *err);

/* The lab in folder @dir for @student, nothing of it started. The remote is the caller's. */
int lab_look(const char *dir, const char *student, struct lab_remote **ret, struct fl_error *err);

double lab_total_points(const struct lab *lab);

/* Print Markdown on standard output. */
void lab_print(const struct lab_session *s, const char *text);

/* lab run: from where the student left to the end or until input ends. */
int lab_run_interactive(struct lab_session *s, struct fl_error *err);
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
