/*
 * lab/lab.h - one lab for one student: steps, texts, runs, questions, right answers.
 *
 * The format of lab.lua is labs/README.md. A lab is loaded into a Lua state of its own; a step is
 * started (fresh s, prepare), then its texts can be had, it is run, its questions are judged.
 *
 * Invariant  the same lab, student and inputs give the same bytes; right answers are computed,
 *            never stored.
 * Owner      lab_open() gives the lab to the caller until lab_close(); texts returned as char * are
 *            malloc()ed for the caller.
 * Errors     -EINVAL with file and line of lab.lua (or answers.lua), -ENOMEM, errno of files.
 */
#ifndef FL_LAB_LAB_H
#define FL_LAB_LAB_H

#include <stdio.h>

#include "lab/lab_image.h"
#include "lab/lua_state.h"

#define LAB_LIST_MAX	64 /* numbers in an answer */
#define LAB_OPTIONS_MAX 26 /* letters */
#define LAB_ID_MAX	48
#define LAB_HINTS_MAX	16

enum lab_kind {
	LAB_NUMBER,
	LAB_LIST,
	LAB_CHOICE,
	LAB_ORDER,
	LAB_FUNC,
	LAB_WORKLOAD,
	LAB_NR_KINDS,
};

struct lab_question {
	enum lab_kind kind;
	char id[LAB_ID_MAX];
	char unit[24];
	unsigned int line; /* in lab.lua */
	double points;
	double tolerance, percent;
	bool predict; /* asked before the run */
	bool keep;    /* options in the order they are written */
	unsigned int nr_hints;
	double hint_cost[LAB_HINTS_MAX]; /* points */
	bool explains;
	s64 max_ops; /* workload */
	s64 budget;  /* func and workload, instructions */
	int ref;     /* its table, in Lua's registry */
};

struct lab_step {
	char id[LAB_ID_MAX];
	char title[160];
	unsigned int line;
	struct lab_question *questions;
	unsigned int nr_questions;
	bool runs, reveals;
	int ref;
};

struct lab {
	char name[64]; /* the folder's */
	char dir[400];
	char path[448]; /* of lab.lua */
	char title[160], summary[240];
	unsigned int minutes, line;
	struct lab_step *steps;
	unsigned int nr_steps;
	char student[128];
	u32 seed;
	struct lab_lua *ll;
	struct lab_images images; /* of the folder; after lab_open_text() the caller's to read */
	int env_ref;		  /* globals of lab.lua */
	int s_ref;		  /* s of the step that was started, or LUA_NOREF */
	int answers_ref;	  /* table of answers.lua, or LUA_NOREF */
	bool ran;		  /* the step's run is over */
};

/* A submission or a right answer: list indices count from 1 in the order lab.lua has. */
struct lab_value {
	enum { LAB_VALUE_NONE, LAB_VALUE_NUMBERS, LAB_VALUE_TEXT, LAB_VALUE_LUA } type;
	double numbers[LAB_LIST_MAX];
	unsigned int nr;
	char text[4096]; /* workload */
	int ref;	 /* a Lua function or table of functions */
};

struct lab_verdict {
	bool right;
	char why[512]; /* why not, or "" */
};

/* Options or items of a question as they are shown. */
struct lab_options {
	char *text[LAB_OPTIONS_MAX];	     /* in the order shown */
	unsigned int index[LAB_OPTIONS_MAX]; /* shown -> place in lab.lua, from 1 */
	unsigned int nr;
};

enum lab_text { LAB_BRIEF, LAB_REVEAL, LAB_QUESTION, LAB_HINT, LAB_EXPLAIN };

/* The number that all of a student's numbers come from. */
u32 lab_seed(const char *student);

/* May a student be called so? 1 to 127 printable bytes. */
bool lab_is_student(const char *name);

/* Load the lab in folder @dir. */
int lab_open(const char *dir, const char *student, struct lab **ret, struct fl_error *err);
/*
 * The same from lab.lua's text, opening no file (NULL: from lab.lua, and no other file): ll->images
 * is the caller's to set, to those of another opening of the lab.
 */
int lab_open_text(const char *dir, const char *text, size_t len, const char *student,
		  struct lab **ret, struct fl_error *err);
/* NULL is fine. */
void lab_close(struct lab *lab);

/* A fresh s, then prepare(s). */
int lab_start(struct lab *lab, const struct lab_step *step, struct fl_error *err);
/* run(s); what it prints goes to @out. Nothing where the step has none. */
int lab_run(struct lab *lab, const struct lab_step *step, FILE *out, struct fl_error *err);

/* Markdown with its {{expressions}} replaced. @q for the last three, @nr (from 0) for hints. */
int lab_text(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	     enum lab_text which, unsigned int nr, char **ret, struct fl_error *err);

/*
 * Run one line of Lua in the names of the step that was started; what is assigned to a new name
 * goes to s. What it prints goes to @out, the values of an expression to @ret, which is the
 * caller's. An error is the line's.
 */
int lab_line(struct lab *lab, const char *line, FILE *out, char **ret, struct fl_error *err);

int lab_options_get(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		    struct lab_options *ret, struct fl_error *err);
void lab_options_free(struct lab_options *o);

/* The right answer of a question that has one (all but func and workload). */
int lab_answer(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	       struct lab_value *ret, struct fl_error *err);
/* The answer as a student would type it. @o: of that question, or NULL where it has none. */
void lab_value_format(const struct lab_question *q, const struct lab_value *v,
		      const struct lab_options *o, char *buf, size_t n);
/* What a student typed; false with what was expected in @why if it is nothing of that kind. */
bool lab_value_parse(const struct lab_question *q, const struct lab_options *o, const char *text,
		     struct lab_value *ret, char *why, size_t n);

/*
 * Is @given right? 0 with @ret filled; an error is the lab's fault. What a student's function or
 * workload does wrong is a verdict.
 */
int lab_judge(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
	      const struct lab_value *given, struct lab_verdict *ret, struct fl_error *err);

/* Load answers.lua from its text, an earlier one is forgotten; @name is for messages. An error is
 * the student's. */
int lab_load_answers_text(struct lab *lab, const char *name, const char *text, size_t len,
			  struct fl_error *err);
/* What answers.lua has for @q; LAB_VALUE_NONE where it has nothing. -EINVAL: nothing of that kind.
 */
int lab_answer_given(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		     struct lab_value *ret, struct fl_error *err);

const char *lab_kind_name(enum lab_kind kind);
/* Is it answered in a file? */
static inline bool lab_is_program(const struct lab_question *q)
{
	return q->kind == LAB_FUNC || q->kind == LAB_WORKLOAD;
}

/* ---- for the other files of labs ---- */

/* Read the table that lab{} got (on top of the stack, popped) into @lab. */
int lab_read_table(struct lab *lab, struct fl_error *err);
/* Push a table of the names of the s at index @s, then those of @globals. May raise. */
void lab_push_names(lua_State *L, int s, int globals);
/* Replace the value on top by its text, numbers as texts show them. May raise. */
void lab_push_value_text(lua_State *L);
/* Add lab, step and ask to the environment on top of the stack. May raise. */
void lab_add_functions(lua_State *L);
/* Numbers that depend on student, lab and @what only. */
u64 lab_mix(const struct lab *lab, const char *what);
/* Expand @text in the names of s and lab.lua; @line is where the text belongs to. */
int lab_expand(struct lab *lab, const char *text, unsigned int line, char **ret,
	       struct fl_error *err);
/* The value at the top (popped) as a submission for @q. -EINVAL with what was expected. */
int lab_value_from_lua(struct lab *lab, const struct lab_step *step, const struct lab_question *q,
		       struct lab_value *ret, struct fl_error *err);
/* Push a copy of the value at @index without metatables; raises for functions and handles. */
void lab_push_copy(lua_State *L, int index);
/* Push a function that calls the student's function or functions on top (popped) and copies
 * results. */
int lab_push_guarded(struct lab *lab, struct fl_error *err);

#endif
