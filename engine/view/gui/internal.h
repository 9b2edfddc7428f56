/*
 * view/gui/internal.h - what the files of the window share.
 *
 * Owner      struct gui owns its view, timelines and draw list; the font is its maker's.
 * Errors     as said at each function.
 */
#ifndef FL_VIEW_GUI_INTERNAL_H
#define FL_VIEW_GUI_INTERNAL_H

#include "view/gui/gui.h"
#include "view/timeline.h"
#include "view/tui/internal.h"

enum gui_panel {
#define PANEL(name, title, draw) PANEL_##name,
#include "view/gui/panels.def"
#undef PANEL
	PANEL_NR,
	PANEL_NONE = PANEL_NR,
};

/* What happened in a range of events: the sums of the panels while a range is selected. */
struct gui_range {
	u64 from_ns, to_ns;
	u64 from, to; /* events */
	u64 added[TRACE_ORDERS];
	struct histogram latency;
};

/* What panels keep from one picture to the next. */
enum gui_kept_what {
	KEPT_TIME,    /* pixels of PANEL_TIME */
	KEPT_HEAT,    /* of PANEL_HEAT: log2 of the lowest and highest row, then its counts */
	KEPT_DENSITY, /* of PANEL_TIMELINE: events of each column */
	KEPT_NR,
};

/* All that these depend on; compared as bytes, so it has no holes. */
struct gui_kept_key {
	u64 events, from_ns, to_ns, pages;
	u32 w, h, unit, theme;
};

struct gui_kept {
	struct gui_kept_key key;
	u32 *numbers; /* NULL: nothing yet */
};

struct gui {
	struct tui view;
	struct timeline lines[TUI_MACHINES];
	struct draw draw;
	int unit;	    /* how many times larger than 16-pixel text everything is */
	int cell;	    /* width of a cell of the map, in units */
	u64 from_ns, to_ns; /* shown by the panels over time */
	bool ranged;
	struct gui_range range; /* of the leader, while ranged */
	enum gui_panel focus;
	bool presenter; /* the panel in focus alone */
	bool full_screen;
	struct gui_kept kept[TUI_MACHINES][KEPT_NR];

	/* Where things are in the last picture. */
	struct box boxes[PANEL_NR]; /* of the panels; no width: not shown */
	struct box plot;	    /* of PANEL_TIME, without its labels */
	struct box heat, line;	    /* of PANEL_HEAT and PANEL_TIMELINE */
	struct box cells;	    /* of the leader's map */
	int cell_w, cell_h;

	/* The pointer. */
	int x, y;
	bool hover;
	enum gui_panel drag;
	u64 drag_ns;
	int drag_x, drag_y;
};

struct gui_panel_info {
	const char *title;
	/* @m: number of the machine; the box is inside of the panel's card. */
	void (*draw)(struct gui *g, unsigned int m, struct box box);
};

const struct gui_panel_info *gui_panel_info(enum gui_panel panel);

/* ---- state.c ---- */
int gui_init(struct gui *g, const struct tui_machine *machines, unsigned int nr,
	     const struct tui_options *options, struct font *font, struct fl_error *err);
void gui_fini(struct gui *g);
/* Read what tapes got since; follow the moment. 0, -ENOMEM. */
int gui_update(struct gui *g);
void gui_show_all(struct gui *g);
/* Select the range between two times; the same twice: none. */
void gui_select(struct gui *g, u64 a, u64 b);
/* Zoom the panels over time by @factor around @ns. */
void gui_zoom_time(struct gui *g, u64 ns, double factor);
/* Move them by a part of what they show. */
void gui_pan_time(struct gui *g, double part);
/* Zoom the map by @steps around the page under the pointer, or the selected one. */
void gui_zoom_map(struct gui *g, int steps, u64 page);

/* ---- layout.c ---- */
/* Fill g->draw with the picture of now. */
void gui_draw(struct gui *g, int width, int height);

/* ---- frame.c ---- */
void gui_draw_head(struct gui *g, struct box box);
/* The keys, what is asked for, or what happened. */
void gui_draw_foot(struct gui *g, struct box box);
void gui_draw_tip(struct gui *g);
void gui_draw_help(struct gui *g, struct box all);

/* ---- look.c ---- */
static inline int px(const struct gui *g, int units)
{
	return g->unit * units;
}
u32 gui_ground(const struct gui *g);
u32 gui_card(const struct gui *g);
/* The colour of a role's ink and ground. */
u32 gui_ink(const struct gui *g, enum canvas_role role);
u32 gui_fill(const struct gui *g, enum canvas_role role);
/* @percent of @colour over @under. */
u32 gui_mix(u32 colour, u32 under, unsigned int percent);
bool gui_prints(const struct gui *g);
/* Text of the usual size in the first line of @box; returns what is below. */
struct box gui_line(struct gui *g, struct box box, enum canvas_role role, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "name  ████   value" in the first line of @box; returns what is below. */
struct box gui_bar(struct gui *g, struct box box, int name_columns, const char *name, u64 value,
		   u64 most, u32 colour, const char *text);
/* Cut @box in @nr parts beside each other and give the @i-th. */
struct box gui_part(const struct gui *g, struct box box, unsigned int nr, unsigned int i);

/* ---- panels over time share these ---- */
int gui_x_of(const struct gui *g, struct box plot, u64 ns);
u64 gui_ns_at(const struct gui *g, struct box plot, int x);
/* The lines over a plot: the moment, the range. */
void gui_plot_marks(struct gui *g, unsigned int m, struct box plot);

/* ---- kept.c ---- */
/* The key of a panel in @box over the times that are shown; @pages is 0. */
struct gui_kept_key gui_kept_key(const struct gui *g, unsigned int m, struct box box);
/*
 * What was kept for @key; or, with @fresh true, @nr zeros to be filled. Owned by @g, valid until
 * the next call for the same @what. NULL without memory, which the draw list is told.
 */
u32 *gui_keep(struct gui *g, unsigned int m, enum gui_kept_what what,
	      const struct gui_kept_key *key, size_t nr, bool *fresh);
void gui_kept_fini(struct gui *g);

/* ---- panels_sums.c ---- */
/* How many orders, from 0 on, the panels have rows for: all that were ever cached, at least 5. */
unsigned int gui_orders(const struct gui *g);

/* ---- panel_lanes.c ---- */
/*
 * How many CPUs have lanes, the most of all machines; 0 where none has more than one. Of a real
 * kernel nobody knows.
 */
unsigned int gui_lanes(const struct gui *g);

/* ---- map.c ---- */
/* The page under a point; false if none is. */
bool gui_page_at(const struct gui *g, int x, int y, u64 *page);
u64 gui_file_pages(const struct gui *g, unsigned int m);

/* ---- input.c ---- */
enum gui_own {
#define OWN(name, key, shown, help) OWN_##name,
#include "view/gui/keys.def"
#undef OWN
	OWN_NR,
};

struct gui_own_key {
	int key;
	const char *shown, *help;
};

const struct gui_own_key *gui_own_key(enum gui_own own);

/* A key as term_key() would give it. */
void gui_key(struct gui *g, int key);
void gui_press(struct gui *g, int x, int y, bool shift);
void gui_move(struct gui *g, int x, int y);
void gui_release(struct gui *g, int x, int y);
void gui_wheel(struct gui *g, int x, int y, int steps, bool shift);

#endif
