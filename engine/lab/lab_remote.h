/*
 * lab/lab_remote.h - a lab, or a script, whose Lua runs somewhere it can do no harm.
 *
 * Lua never runs in the program that shows things. A forked child behind jail_enter() has the
 * state and the miniatures; this side asks it and gets answers, printed text, figures and the
 * events of the machines. A script that never ends costs a child, not a screen.
 *
 *     lab_remote_open(&config, &r, &err);               reads the files, forks at the first ask
 *     lab_remote_send(r, &ask);                         one at a time
 *     poll(lab_remote_fd(r), lab_remote_poll_events(r), 100 ms)
 *     while (lab_remote_poll(r, &reply)) ...            never waits; callbacks run from in here
 *     lab_remote_close(r);
 *
 * Programs without a screen use lab_remote_do(), which waits for the reply.
 *
 * Limits     processor time and silence of one ask and resident memory, in @config; instructions
 *            and Lua's memory as lua_state.h has them. A child that hits a limit is gone; its ask
 *            is answered with reply.limit and a reason. The next ask starts a fresh child, brings
 *            it to where the old one was (student, answers, step, run) and asks there.
 * Invariant  what the child says is checked for form and never believed: strings end, numbers are
 *            in range, events are whole and of kinds there are, counts are capped. Nonsense ends
 *            the child. Text of a child is as its Lua printed it: whoever shows it filters it.
 * Owner      lab_remote_open() to lab_remote_close(); what replies and machines point to belongs
 *            to the remote, a reply's until the next send, a machine's until the next LAB_ASK_
 *            START or script.
 * Errors     -EPERM: no seccomp on this host, so nothing is run; -EAGAIN (fork), -ENOMEM; those
 *            of lab.h in replies.
 */
#ifndef FL_LAB_LAB_REMOTE_H
#define FL_LAB_LAB_REMOTE_H

#include "lab/lab.h"
#include "trace/recording.h"

#define LAB_REMOTE_MACHINES 16	       /* watched at once; of others nothing is told */
#define LAB_REMOTE_EVENTS   (1u << 20) /* kept of one machine unless config says otherwise */

struct lab_remote;

enum lab_limit {
	LAB_NO_LIMIT,
	LAB_TIME,
	LAB_MEMORY,
	LAB_INSTRUCTIONS,
	LAB_SYSTEM_CALL, /* one that is forbidden */
	LAB_CRASH,	 /* the child ended otherwise */
	LAB_CANCELLED,	 /* lab_remote_cancel() */
	LAB_NR_LIMITS,
};

/* "time", "memory"...; "" for none. */
const char *lab_limit_name(enum lab_limit limit);

struct lab_remote_config {
	const char *dir;     /* the lab's folder; NULL: a script */
	const char *student; /* whose numbers */
	const char *script;  /* path of a script, where there is no lab */
	const char *source;  /* lab.lua or the script, if it was read already; else it is read */
	size_t source_len;
	const struct lab_images *images;   /* with @source: those of the folder */
	const struct run_config *defaults; /* of fl.machine in a script; or NULL */

	const struct lab_check_files *check; /* LAB_ASK_CHECK: lab/lab_check.h */

	unsigned int cpu_seconds;  /* of one ask; 0: 60 */
	unsigned int wall_seconds; /* without a word from the child; 0: 120 */
	unsigned int rss_mib;	   /* 0: 2048 */
	u64 events;		   /* to keep of a machine; 0: machines are not watched */

	/* Any may be NULL. They are called from within lab_remote_poll(). */
	void (*print)(void *ctx, const char *text, size_t len);
	void (*figure)(void *ctx, const char *name, const char *svg);
	void (*progress)(void *ctx, unsigned int done, unsigned int total);
	void *ctx;
};

/* A machine that prepare() or run() made, as far as it got. */
struct lab_remote_machine {
	struct recording_info info; /* as it booted; no workload */
	struct tape tape;	    /* its events so far */
	bool twin;		    /* made by m:twin(): its first events repeat another's */
	bool ended;		    /* Lua let go of it */
	bool capped;		    /* there were more events than the tape has room for */
};

enum lab_ask_type {
	LAB_ASK_START,	 /* a step: fresh s, prepare; the machines before are forgotten */
	LAB_ASK_RUN,	 /* the step's run; prints, unless @quiet */
	LAB_ASK_TEXT,	 /* Markdown: @text of @step, or of @question with hint @nr */
	LAB_ASK_OPTIONS, /* of @question */
	LAB_ASK_ANSWER,	 /* the right one, where there is one: value, and options to show it */
	LAB_ASK_LINE,	 /* run @bytes, a line of Lua, in @step; text has its values */
	LAB_ASK_JUDGE,	 /* @value, or with NULL what answers.lua has */
	LAB_ASK_ANSWERS, /* load answers.lua: @name for messages, @bytes, @len */
	LAB_ASK_WHO,	 /* first of all: the lab is for whom @bytes, an answers.lua, names;
			    text is the name, config.student where it names none */
	LAB_ASK_LAB,	 /* nothing but the lab's table: lab_remote_lab() */
	LAB_ASK_SCRIPT,	 /* run the script */
	LAB_ASK_CHECK,	 /* lab_check() with @nr students: what does not hold is printed; value: how
			    many   questions were seen, how many things do not hold */
	LAB_ASK_NR,
};

struct lab_ask {
	enum lab_ask_type type;
	unsigned int step, question; /* places in lab_remote_lab(), from 0 */
	bool of_question;	     /* LAB_ASK_TEXT: not the step's */
	enum lab_text text;
	unsigned int nr; /* hint, from 0 */
	bool quiet;	 /* no text is printed, no figure comes */
	const struct lab_value *value;
	const char *name, *bytes;
	size_t len;
};

struct lab_reply {
	enum lab_ask_type type;
	int error; /* 0 or negative errno, told in err */
	struct fl_error err;
	enum lab_limit limit;	    /* hit while it was done; also where error is 0 */
	bool died;		    /* of the limit, which err tells; there is no text, no value */
	char detail[100];	    /* of that: "more than 10 s" */
	const char *text;	    /* TEXT, WHO */
	struct lab_options options; /* OPTIONS, ANSWER */
	struct lab_value value;	    /* ANSWER; not Lua */
	struct lab_verdict verdict; /* JUDGE */
	bool given;		    /* JUDGE: there was something to judge */
	bool unfit; /* JUDGE: what answers.lua has is of another kind, told in verdict.why, err */
};

int lab_remote_open(const struct lab_remote_config *config, struct lab_remote **ret,
		    struct fl_error *err);
/* Ends the child. NULL is fine. */
void lab_remote_close(struct lab_remote *r);

/*
 * The lab as lab.lua has it, without its Lua (ll is NULL, refs mean nothing). NULL before the
 * reply to the first ask. Lasts until lab_remote_close().
 */
const struct lab *lab_remote_lab(const struct lab_remote *r);

/* An ask about a step of lab_remote_lab() and a question of it, or NULL. */
struct lab_ask lab_ask_about(const struct lab *lab, enum lab_ask_type type,
			     const struct lab_step *step, const struct lab_question *q);

/* 0; -EBUSY while an ask is open; -EAGAIN, -ENOMEM: no child could be started. */
int lab_remote_send(struct lab_remote *r, const struct lab_ask *ask, struct fl_error *err);
/* Take what has arrived, keep the limits. True once the reply is in @reply. Never waits. */
bool lab_remote_poll(struct lab_remote *r, struct lab_reply *reply);
/* For poll(): -1 and 0 while there is no child. */
int lab_remote_fd(const struct lab_remote *r);
short lab_remote_poll_events(const struct lab_remote *r);
/* Is an ask open? */
bool lab_remote_busy(const struct lab_remote *r);
/* End what the child is at: the next poll brings its reply, with LAB_CANCELLED. */
void lab_remote_cancel(struct lab_remote *r);

/*
 * What the machines did last, when a limit was hit: "after event 12 (NAME), in 'read 4k
 * 16'" or "before any event". Events of a machine are numbered from 1, as in Lua.
 */
void lab_remote_last(const struct lab_remote *r, char *buf, size_t n);

/* Send and wait. Returns reply->error. */
int lab_remote_do(struct lab_remote *r, const struct lab_ask *ask, struct lab_reply *reply,
		  struct fl_error *err);

/* The machines of the step in the order they booted. */
unsigned int lab_remote_machines(const struct lab_remote *r);
const struct lab_remote_machine *lab_remote_machine(const struct lab_remote *r, unsigned int nr);

#endif
