/*
 * view/tui/internal.h - what the files of the terminal view share.
 *
 * Owner      struct tui owns its scenes, indexes and canvas.
 * Errors     as said at each function.
 */
#ifndef FL_VIEW_TUI_INTERNAL_H
#define FL_VIEW_TUI_INTERNAL_H

#include "view/tui/term.h"
#include "view/tui/tui.h"

enum tui_command {
#define KEY(command, key, other, shown, label, hint, help) CMD_##command,
#include "view/tui/keys.def"
#undef KEY
	CMD_NR,
	CMD_NONE = CMD_NR,
};

struct tui_key {
	int key, other;
	const char *shown, *label, *help;
	int hint;
};

const struct tui_key *tui_key(enum tui_command cmd);
enum tui_command tui_command_of(int key);

/* Numbers of events of a kind, ascending. */
struct event_list {
	u32 *nr;
	u64 count, cap;
};

/* How far a tape has been looked through. */
struct event_cursor {
	u64 nr, slot; /* the next event */
};

/* Events kept ready past the present one of a machine that runs. */
#define TUI_AHEAD 64

/* A condition on events: what / b and f take. */
struct tui_condition {
	char text[80];	 /* as typed */
	char words[80];	 /* what has to be in the line, lower case, or "" */
	u64 first, last; /* pages, or first > last: any */
	int order;	 /* or -1 */
	char place[80];	 /* function or FILE:LINE whose calls lead to it, or "" */
};

#define TUI_VALUES 64

/* What the struct pane showed, to tell what changed. */
struct tui_values {
	u64 pos; /* where the view stood; 0: nothing yet */
	int nr, nr_before;
	char now[TUI_VALUES][24], before[TUI_VALUES][24];
};

struct tui_scene {
	struct scene scene;
	struct event_list calls; /* reads, writes and touches that returned */
	struct event_list windows;
	struct event_list filtered; /* what the filter lets through */
	struct event_cursor listed, filtered_to;
	struct tui_feed *feed;
	struct inspect *inspect;
	struct tui_values values;
	bool live; /* the tape may grow */
	u64 known; /* events when it was last looked at */
	u32 ino;   /* the file that is shown */
};

/* Where the view is on its way to while it is not there. */
struct tui_goal {
	enum { GOAL_NONE, GOAL_EVENT, GOAL_CALL, GOAL_WINDOW, GOAL_FIND, GOAL_BREAK } kind;
	u64 nr;	 /* position; number from 0 of a call or window; position to be looked at next */
	int dir; /* of a search */
	bool wrapped; /* it went over an end */
	u64 start;    /* where it began */
};

/* A line somebody types. */
struct tui_line {
	char text[512];
	int cursor; /* byte */
};

/* Text in a pane. */
struct tui_said {
	char *text;
	unsigned int version, columns; /* it was printed for */
	int rows, first_new;
	int scroll, shown; /* first row, rows of the last picture */
};

enum tui_mode { MODE_VIEW, MODE_HELP, MODE_TWIN, MODE_PROMPT };
enum tui_group {
	GROUP_MAIN,
	GROUP_MEMORY,
	GROUP_PAGE,
	GROUP_EVENTS,
	GROUP_SOURCE,
	GROUP_STRUCT,
	GROUP_NR
};

#define TUI_BREAKS 8
#define TUI_HINTS  24

struct tui {
	struct tui_scene machines[TUI_MACHINES];
	unsigned int nr, lead;
	const struct tui_options *options;
	struct canvas canvas;
	bool utf8;  /* the terminal shows more than ASCII */
	bool ascii; /* it shall not */
	bool quit;

	/* Playing. */
	bool playing;
	struct tui_goal goal;
	unsigned int speed;
	double due;   /* events to play, fractions included */
	bool lagging; /* another machine is behind the leader */

	/* With others: where they and we are or are going to be, and where we were a turn ago. */
	struct link_place together;
	struct link_place stood;

	/* Looking. */
	enum tui_mode mode;
	enum tui_group group;
	u64 map_first;		   /* first page of the map */
	u64 map_cell;		   /* pages in a cell, a power of two */
	int map_columns, map_rows; /* of the last picture */
	bool follow;
	u64 page; /* selected */
	bool selected;
	int scroll; /* of help and text twin */
	unsigned int theme;
	bool mouse;
	char message[160]; /* in the status line until the next key */

	struct tui_condition filter, search, breaks[TUI_BREAKS];
	unsigned int nr_breaks;
	u64 bookmarks[TUI_BOOKMARKS];
	unsigned int nr_bookmarks;

	/* The prompt. */
	enum tui_command prompt; /* what it is for */
	struct tui_line line;

	/* The guide, if there is one. */
	struct tui_guide *guide;
	bool talking;	  /* keys go to it */
	bool guide_alone; /* it and the machine do not fit beside each other */
	bool sure;	  /* R was pressed once */
	bool news;	  /* it said or did something that was not drawn yet */
	struct tui_line answer;
	struct rect guide_rect;
	struct tui_said said;
	unsigned int generation, runs; /* of the guide, as last seen */

	int cursor_x, cursor_y; /* of the last picture, or -1 */

	/* Where the mouse finds things in the last picture. */
	struct rect map_rect, events_rect;
	u64 events_shown[128];
	int nr_events_shown;
	struct {
		int x, w;
		enum tui_command cmd;
	} hints[TUI_HINTS];
	int nr_hints;
};

static inline bool tui_side_by_side(const struct tui *t)
{
	return t->nr > 1 && !t->guide;
}

static inline struct tui_scene *tui_lead(struct tui *t)
{
	return &t->machines[t->lead];
}

static inline const struct scene *lead_scene(const struct tui *t)
{
	return &t->machines[t->lead].scene;
}

/* The shown file of a machine, NULL before it has any page. */
static inline const struct scene_file *shown_file(const struct tui_scene *m)
{
	return scene_file(&m->scene, m->ino);
}

/* The map has a gap after every so many cells; the column of a cell. */
#define TUI_MAP_GROUP 16

static inline int tui_map_x(int cell)
{
	return cell + cell / TUI_MAP_GROUP;
}

/* ---- start.c ---- */
int tui_init(struct tui *t, const struct tui_machine *machines, unsigned int nr,
	     const struct tui_options *options, struct fl_error *err);
void tui_fini(struct tui *t);
int tui_add_machine(struct tui *t, const struct tui_machine *from);
/* All of them go. */
void tui_drop_machines(struct tui *t);
/* The same; one without events stands in for them. */
int tui_no_machines(struct tui *t);
/* What shall be remembered. */
void tui_keep_settings(const struct tui *t, struct tui_settings *s);

/* ---- lists.c ---- */
/* Take notice of the events that came. 0, -ENOMEM. */
int tui_list_events(struct tui_scene *m);
/* Forget what the filter let through; look for it in up to @events more, false at the end. */
void tui_refilter(struct tui *t);
bool tui_filter_on(struct tui *t, struct tui_scene *m, u64 events);
/* How many numbers of a list are below @pos. */
u64 tui_list_at(const struct event_list *list, u64 pos);

/* ---- moving.c ---- */
/* Stand after @pos of the events there are. */
void tui_goto(struct tui *t, u64 pos);
/* Let the map show the moment, if it follows. */
void tui_follow(struct tui *t);
/* Let the others stand where as many calls have returned as the leader's. */
void tui_follow_lead(struct tui *t);
/* Play on for @ms; true if anything moved. */
bool tui_advance(struct tui *t, double ms);
double tui_speed(const struct tui *t);
const char *tui_speed_name(const struct tui *t);

/* ---- reach.c ---- */
double tui_now_ms(void);
/* Let a machine go on until @want events are there, waiting up to @ms. True if some came. */
bool tui_pull(struct tui *t, struct tui_scene *m, u64 want, int ms);
/* Keep the events of the near future ready; true if some came. */
bool tui_pull_all(struct tui *t);
bool tui_waiting(const struct tui *t);
/* Set out for somewhere; most often the view is there when this returns. */
void tui_aim(struct tui *t, const struct tui_goal *goal);
void tui_step(struct tui *t, s64 events);
/* To just behind the next (@dir 1) or previous (-1) event of a list. */
void tui_seek(struct tui *t, const struct event_list *list, int dir);
void tui_goto_call(struct tui *t, u64 nr);
/* Play so many of the events there are; false where playing ends, at a breakpoint or the end. */
bool tui_play(struct tui *t, u64 events);
/* On towards the goal for about @ms. */
void tui_reach(struct tui *t, double ms);
static inline bool tui_running(const struct tui *t)
{
	return t->goal.kind != GOAL_NONE;
}

/* ---- program.c ---- */
/* The calls that led to the event the view stands behind, as inspect's frames(). */
int tui_frames(const struct tui_scene *m, const struct inspect_frame **ret, const char **why);
/* The watched struct's fields, as inspect's values(); notes what changed since the last place. */
int tui_values(struct tui_scene *m, const struct inspect_value **ret, const char **why);
bool tui_value_changed(const struct tui_scene *m, int i);

/* ---- condition.c ---- */
void condition_parse(struct tui_condition *c, const char *text);
bool condition_any(const struct tui_condition *c);
/* Does event @nr of the tape, which is @ev, meet it? */
bool condition_matches(const struct tui_condition *c, const struct tui_scene *m, u64 nr,
		       const struct trace_event *ev);

/* ---- actions.c ---- */
/* Neither play nor run on. */
void tui_stop(struct tui *t);
void tui_do(struct tui *t, enum tui_command cmd);
void tui_prompt_key(struct tui *t, int key);
void tui_click(struct tui *t, const struct term_mouse *m);
void tui_message(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- tui.c: what every loop does, whatever it draws on ---- */
/* What can be done while nobody wants anything: keyframes, the filter. True if there is more. */
bool tui_work_ahead(struct tui *t);
/* Milliseconds to wait for the person, -1: for ever. @work: tui_work_ahead() has more. */
int tui_patience(const struct tui *t, bool work);
/* Take what came, play on for @ms. True if there is something new to see. */
bool tui_turn(struct tui *t, double ms);

/* ---- line.c ---- */
void line_clear(struct tui_line *l);
/* True if the key was for the line. */
bool line_key(struct tui_line *l, int key);
/* Draw it in @w columns behind @label; returns the cursor's column. */
int line_draw(struct canvas *c, int x, int y, int w, const char *label, const struct tui_line *l);

/* ---- said.c ---- */
/* Show @text, which becomes the pane's own; NULL: none. */
void said_take(struct tui_said *said, char *text);
void said_draw(struct canvas *c, struct tui_said *said, const struct rect *r);
/* True if the key scrolled it. */
bool said_key(struct tui_said *said, int key);

/* ---- guide.c ---- */
/* Take notice of what the guide says and of its machines. */
int guide_look(struct tui *t);
/* Empty the descriptor that tells of news. */
void guide_hear_news(struct tui *t);
void guide_key(struct tui *t, int key);
/* Answer as if @line had been typed; where the guide asks nothing, say so. */
void guide_say(struct tui *t, const char *line);
void guide_lua(struct tui *t, const char *line);
void guide_fini(struct tui *t);
void draw_guide(struct tui *t, const struct rect *r);
/* What it asks, in one row. */
void draw_guide_line(struct tui *t, const struct rect *r);
void twin_guide(const struct tui *t, FILE *f);

/* ---- layout.c ---- */
void tui_draw(struct tui *t);

/* ---- panes: each draws into its rect, its first row being the title ---- */
struct tui_pane {
	const char *name;
	void (*draw)(struct tui *t, struct tui_scene *m, const struct rect *r);
	/* The same as sentences. */
	void (*twin)(const struct tui *t, const struct tui_scene *m, FILE *f);
};

extern const struct tui_pane pane_map, pane_window, pane_orders, pane_latency, pane_memory,
	pane_page, pane_events, pane_why, pane_source, pane_struct;

void draw_help(struct tui *t, const struct rect *r);
void draw_twin(struct tui *t, const struct rect *r);
void draw_title(struct tui *t);
void draw_hints(struct tui *t);
/* "83/967" (@of is "/"), or how far a machine is that runs: "83 live 12 %". Returns @buf. */
char *tui_place(const struct tui *t, const char *of, char *buf, size_t size);
/* All panes as text. */
void tui_twin(const struct tui *t, FILE *f);

/* "1.5 us", "250 ns"; 16 bytes. */
char *short_time(u64 ns, char *buf, size_t n);
/* "12", "3.4k", "1.2M"; 16 bytes. */
char *short_count(u64 n, char *buf, size_t size);
/* The text of an event's line, without its number. */
void event_line(const struct scene *s, const struct trace_event *ev, tui_op_text_t op_text,
		char *buf, size_t size);

#endif
