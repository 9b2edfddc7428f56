#include "view/tui/menu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

#define LOAD_MS	     5	 /* between two looks at items that are being loaded */
#define BESIDE_WIDTH 100 /* from here on list and text stand beside each other */

struct menu {
	struct tui_menu *menu;
	struct canvas canvas;
	struct tui_said about;
	int about_of;			  /* item, or -1 */
	unsigned int shown[TUI_MENU_MAX]; /* items that match */
	unsigned int nr_shown, at;	  /* which of them is selected */
	int first;			  /* of the list's rows */
	struct rect list;
	bool searching, quit, chose;
	struct tui_line search;
};

/* ---- what is shown ---- */

static bool matches(const struct tui_menu_item *item, const char *words)
{
	return !*words || strcasestr(item->name, words) ||
	       (item->title && strcasestr(item->title, words)) ||
	       (item->summary && strcasestr(item->summary, words));
}

static int selected(const struct menu *m)
{
	return m->nr_shown ? (int)m->shown[m->at] : -1;
}

/* The selection stays where it was if that still matches. */
static void match(struct menu *m)
{
	int was = selected(m);

	m->nr_shown = m->at = 0;
	for (unsigned int i = 0; i < m->menu->nr; i++) {
		if (!matches(&m->menu->items[i], m->search.text))
			continue;
		if ((int)i == was)
			m->at = m->nr_shown;
		m->shown[m->nr_shown++] = i;
	}
}

static void select_by(struct menu *m, int by)
{
	if (m->nr_shown)
		m->at = max(min((int)m->at + by, (int)m->nr_shown - 1), 0);
}

/* ---- drawing ---- */

static void draw_item(struct menu *m, unsigned int row, int x, int y, int w)
{
	const struct tui_menu_item *item = &m->menu->items[m->shown[row]];
	bool here = row == m->at;
	enum canvas_role role = here ? ROLE_CURRENT : ROLE_TEXT;
	const char *state = item->state ? item->state : "";
	int room = canvas_width(state) + 4 < w / 2 ? canvas_width(state) : 0;

	canvas_fill(&m->canvas, &(struct rect){x, y, w, 1}, ' ', role);
	canvas_put(&m->canvas, x, y, here ? 0x25b6 : ' ', role);
	canvas_printf(&m->canvas, x + 2, y, 3, here ? role : ROLE_KEY, "%.2s", item->name);
	canvas_text(&m->canvas, x + 6, y, w - 8 - room, role,
		    item->title ? item->title : item->name + min(strlen(item->name), (size_t)3));
	if (room)
		canvas_text(&m->canvas, x + w - room - 1, y, room, here ? role : ROLE_DIM, state);
}

static void draw_list(struct menu *m, const struct rect *r)
{
	struct rect in = canvas_pane(&m->canvas, r, m->menu->title);

	m->list = in;
	m->first = max(min(m->first, (int)m->at), (int)m->at - in.h + 1);
	for (int i = 0; i < in.h && m->first + i < (int)m->nr_shown; i++)
		draw_item(m, m->first + i, in.x, in.y + i, in.w);
	if (!m->nr_shown)
		canvas_text(&m->canvas, in.x + 2, in.y, in.w - 2, ROLE_DIM, "nothing matches");
}

static void read_about(struct menu *m, int item, unsigned int columns)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (m->about_of == item && m->about.columns == columns)
		return;
	f = open_memstream(&text, &size);
	if (!f)
		return;
	m->menu->print(m->menu, item, f, columns);
	fclose(f);
	said_take(&m->about, text);
	m->about.columns = columns;
	m->about.scroll = 0;
	m->about_of = item;
}

static void draw_about(struct menu *m, const struct rect *r)
{
	int item = selected(m);
	struct rect in;

	if (item < 0 || !m->menu->items[item].title)
		return;
	in = canvas_pane(&m->canvas, r, m->menu->items[item].title);
	in.x++;
	in.w -= 2;
	read_about(m, item, max(in.w, 20));
	said_draw(&m->canvas, &m->about, &in);
}

static void draw_foot(struct menu *m)
{
	static const char *const hints[][2] = {
		{"Enter", "start"}, {"/", "search"}, {"PgDn", "read on"},
		{"T", "theme"},	    {"q", "quit"},
	};
	int x = 1, y = m->canvas.height - 1;

	if (m->searching) {
		line_draw(&m->canvas, 1, y, m->canvas.width - 2, "search", &m->search);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		x += canvas_text(&m->canvas, x, y, m->canvas.width - x, ROLE_KEY, hints[i][0]) + 1;
		x += canvas_text(&m->canvas, x, y, m->canvas.width - x, ROLE_HINT, hints[i][1]) + 2;
	}
}

static void draw(struct menu *m)
{
	int w = m->canvas.width, h = m->canvas.height, left = w * 9 / 20;

	canvas_clear(&m->canvas);
	if (w < TUI_MIN_WIDTH || h < TUI_MIN_HEIGHT) {
		canvas_printf(&m->canvas, 0, 0, w, ROLE_TEXT, "%u of %u - needs %dx%d", m->at + 1,
			      m->nr_shown, TUI_MIN_WIDTH, TUI_MIN_HEIGHT);
		return;
	}
	canvas_fill(&m->canvas, &(struct rect){0, 0, w, 1}, ' ', ROLE_STATUS);
	canvas_text(&m->canvas, 1, 0, w - 2, ROLE_STATUS_STRONG, "FolioLab");
	canvas_text(&m->canvas, 13, 0, w - 14, ROLE_STATUS, "a kernel you can watch");
	if (w >= BESIDE_WIDTH) {
		draw_list(m, &(struct rect){0, 1, left, h - 2});
		for (int y = 1; y < h - 1; y++)
			canvas_put(&m->canvas, left, y, 0x2502, ROLE_RULE);
		draw_about(m, &(struct rect){left + 1, 1, w - left - 1, h - 2});
	} else {
		int list = min((int)m->menu->nr + 1, (h - 2) * 3 / 5);

		draw_list(m, &(struct rect){0, 1, w, list});
		draw_about(m, &(struct rect){0, 1 + list, w, h - 2 - list});
	}
	draw_foot(m);
}

/* ---- keys ---- */

static void search_key(struct menu *m, int key)
{
	if (key == TERM_ESC)
		line_clear(&m->search);
	if (key == TERM_ESC || key == TERM_ENTER || (key == TERM_BACKSPACE && !*m->search.text))
		m->searching = false;
	else
		line_key(&m->search, key);
	match(m);
}

static void click(struct menu *m, const struct term_mouse *mouse)
{
	int row = m->first + mouse->y - m->list.y;

	if (mouse->y < m->list.y || mouse->y >= m->list.y + m->list.h ||
	    mouse->x >= m->list.x + m->list.w || row >= (int)m->nr_shown)
		return;
	m->chose = row == (int)m->at;
	m->at = row;
}

/* Digits select the item of that name, one digit or two. */
static void select_number(struct menu *m, int digit)
{
	for (unsigned int i = 0; i < m->nr_shown; i++)
		if (atoi(m->menu->items[m->shown[i]].name) == digit) {
			m->at = i;
			return;
		}
}

static void menu_key(struct menu *m, int key, unsigned int *theme)
{
	switch (key) {
	case TERM_UP:
	case 'k':
		select_by(m, -1);
		break;
	case TERM_DOWN:
	case 'j':
		select_by(m, 1);
		break;
	case TERM_HOME:
	case TERM_END:
		select_by(m, key == TERM_HOME ? -TUI_MENU_MAX : TUI_MENU_MAX);
		break;
	case TERM_ENTER:
		m->chose = m->nr_shown > 0;
		break;
	case '/':
		m->searching = true;
		break;
	case 'T':
		*theme = theme_name(*theme + 1) ? *theme + 1 : 0;
		term_theme(*theme);
		break;
	case TERM_ESC:
		m->quit = !*m->search.text;
		line_clear(&m->search);
		match(m);
		break;
	case 'q':
	case TERM_F10:
	case TERM_GONE:
		m->quit = true;
		break;
	default:
		if (key >= '0' && key <= '9')
			select_number(m, key - '0');
		else
			said_key(&m->about, key);
	}
}

/* ---- the loop ---- */

static int resize(struct menu *m)
{
	int w, h;

	term_size(&w, &h);
	if (m->canvas.cells && m->canvas.width == w && m->canvas.height == h)
		return 0;
	return canvas_resize(&m->canvas, w, h);
}

static bool load(struct menu *m, int item)
{
	struct tui_menu_item *it = &m->menu->items[item];

	if (it->title)
		return false;
	m->menu->load(m->menu, item);
	if (!it->title)
		return true;
	m->about_of = -1;
	match(m);
	return false;
}

/* What is not there yet, the selected item first. True: call again. */
static bool load_items(struct menu *m)
{
	int item = selected(m);
	bool more = item >= 0 && load(m, item);

	for (item = 0; item < (int)m->menu->nr; item++)
		more |= load(m, item);
	return more;
}

static int loop(struct menu *m, unsigned int theme, int *signo)
{
	struct term_mouse mouse;
	bool more = true;
	int wait = 0;

	while (!m->quit && !m->chose) {
		int key, ret = resize(m);

		if (ret)
			return ret;
		draw(m);
		term_show(&m->canvas, -1, -1);
		key = term_key(more ? wait : -1, -1, &mouse);
		wait = LOAD_MS;
		if (term_signal()) {
			*signo = term_signal();
			return -EINTR;
		}
		if (key == TERM_NONE)
			more = load_items(m);
		else if (key == TERM_MOUSE)
			click(m, &mouse);
		else if (m->searching)
			search_key(m, key);
		else
			menu_key(m, key, &theme);
	}
	return m->chose;
}

int tui_menu_run(struct tui_menu *menu, int *signo, struct fl_error *err)
{
	struct menu m = {.menu = menu, .about_of = -1};
	unsigned int theme = menu->settings ? menu->settings->theme : 0;
	int ret = term_open(err);

	*signo = 0;
	if (ret)
		return ret;
	term_theme(theme);
	term_ascii(menu->settings && menu->settings->ascii);
	match(&m);
	m.at = min(menu->chosen, max(m.nr_shown, 1u) - 1);
	ret = loop(&m, theme, signo);
	term_close();
	if (ret < 0 && ret != -EINTR)
		fl_error_set(err, ret, NULL, 0, "out of memory");
	menu->chosen = max(selected(&m), 0);
	said_take(&m.about, NULL);
	canvas_fini(&m.canvas);
	return ret;
}
