/*
 * view/tui/tui.h - the terminal view: scenes of one or more machines, and a person who moves them.
 *
 * Invariant  panes only read; everything a key does is in actions.c. All machines show the same
 *            number of finished calls; the leader alone may stand in the middle of one.
 * Owner      tapes and infos belong to the caller and outlive the view.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_VIEW_TUI_TUI_H
#define FL_VIEW_TUI_TUI_H

#include "lib/error.h"
#include "view/inspect.h"
#include "view/link.h"
#include "view/scene.h"
#include "view/tui/canvas.h"

/* The smallest window a view starts in. */
#define TUI_MIN_WIDTH  40
#define TUI_MIN_HEIGHT 10

#define TUI_MACHINES	 16 /* of a lab, shown one at a time */
#define TUI_SIDE_BY_SIDE 4  /* of a comparison */
#define TUI_BOOKMARKS	 32
#define TUI_SPEEDS	 10

/* Where the window was, in the units of the window system; no width: nowhere yet. */
struct tui_window {
	int x, y, width, height;
};

/* What is remembered from one view to the next. */
struct tui_settings {
	unsigned int theme, speed, group; /* theme_name(); places in tables */
	bool mouse, ascii;
	u64 bookmarks[TUI_BOOKMARKS]; /* events of this recording, ascending */
	unsigned int nr_bookmarks;
	struct tui_window window;
};

/* What a view begins with that nobody used before. */
void tui_settings_init(struct tui_settings *s);

/* Whoever makes the events of a machine that is watched while it runs. */
struct tui_feed {
	/*
	 * Let it go on until @want events are on the tape, wait up to @ms for that; false once no
	 * more will come. The tape changes in here only.
	 */
	bool (*pull)(struct tui_feed *feed, u64 want, int ms);
	/* Calls there will be about, to tell how far one is; 0 where nobody knows. */
	u64 (*calls)(struct tui_feed *feed);
	/* A sentence to be shown once it has ended, or NULL. */
	const char *(*note)(struct tui_feed *feed);
};

/* What to show. */
struct tui_machine {
	const struct tape *tape;
	const struct recording_info *info;
	struct tui_feed *feed;	 /* NULL: the tape is whole */
	struct inspect *inspect; /* the program behind the events, or NULL */
};

/*
 * Somebody who leads a person through, beside the machines: a lab. It may work in a thread of its
 * own; the view holds it while it looks at anything here or at the machines.
 */
struct tui_guide {
	void (*hold)(struct tui_guide *g);
	void (*release)(struct tui_guide *g);
	/*
	 * Print what was said so far, at most @columns wide; @colour: with SGR for bold and
	 * colours. \001 stands before what is new since the last line that was typed.
	 */
	void (*print)(struct tui_guide *g, FILE *f, unsigned int columns, bool colour);
	/* A line was typed (there is a prompt). */
	void (*line)(struct tui_guide *g, const char *text);
	/* A line of Lua for its machines (there is a prompt). */
	void (*lua)(struct tui_guide *g, const char *text);
	/* Stop what it is at (there is no prompt). */
	void (*stop)(struct tui_guide *g);
	int fd;			 /* can be read when something changed */
	unsigned int version;	 /* another one whenever print() says something else */
	unsigned int generation; /* another one when all machines before are gone */
	unsigned int runs;	 /* counts moments worth a mark: the machines are about to go on */
	const char *title, *state; /* "step 2 of 6: One page", "3 of 20 points" */
	const char *prompt;	   /* what a line is asked for; NULL while it works */
	bool question;		   /* h and r are answers: hint, reveal */
	bool over;		   /* there is no more to come: the view may close */
	struct tui_machine machines[TUI_MACHINES];
	unsigned int nr;
};

/* Words for an operation (EV_fl_op), which the view does not know. */
typedef void (*tui_op_text_t)(const struct trace_event *ev, char *buf, size_t size);

struct tui_options {
	const char *title;     /* what is shown, or NULL */
	u64 first_event;       /* number of the tape's first event, for the reader */
	tui_op_text_t op_text; /* NULL: none */
	/* Called for every scene once it is made: feeds what came before the tape; or NULL. */
	int (*prepare)(struct scene *s, unsigned int machine, void *ctx);
	void *ctx;
	struct link *link;	       /* other views of the same session, or NULL */
	struct tui_guide *guide;       /* or NULL */
	struct tui_settings *settings; /* to begin with, and as they are at the end; or NULL */
};

/* Show it until the person leaves. 0, or what the end was: -EINTR and a signal in *@signo. */
int tui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    int *signo, struct fl_error *err);

/* One picture without a terminal, standing after event @at: for files. */
int tui_picture(const struct tui_machine *machines, unsigned int nr,
		const struct tui_options *options, u64 at, int width, int height,
		struct canvas *canvas, struct fl_error *err);

#endif
