/* Text with SGR in a pane that scrolls: what a guide says, what a lab is about. */
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

void said_take(struct tui_said *said, char *text)
{
	free(said->text);
	said->text = text;
	said->rows = said->first_new = 0;
	for (const char *p = text; p && *p; p++) {
		if (*p == '\001')
			said->first_new = said->rows;
		said->rows += *p == '\n';
	}
}

/* The role behind an SGR sequence at @p, which ends at the 'm' that is returned. */
static const char *take_sgr(const char *p, enum canvas_role *role, u8 *attributes)
{
	static const struct {
		int code;
		enum canvas_role role;
		u8 attributes;
	} codes[] = {
		{0, ROLE_TEXT, 0}, {1, ROLE_TITLE, CANVAS_BOLD}, {3, ROLE_TEXT, CANVAS_UNDERLINE},
		{36, ROLE_KEY, 0}, {32, ROLE_BAR, CANVAS_BOLD},	 {31, ROLE_RULE_NAME, CANVAS_BOLD},
	};
	int code = strtol(p + 2, NULL, 10);

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code) {
			*role = codes[i].role;
			*attributes = codes[i].attributes;
		}
	while (*p && *p != 'm' && *p != '\n')
		p++;
	return *p == 'm' ? p + 1 : p;
}

/* One row up to its end, which is returned. */
static const char *draw_row(struct canvas *c, const char *p, int x, int y, int w)
{
	enum canvas_role role = ROLE_TEXT;
	u8 attributes = 0;
	int n = 0;

	while (*p && *p != '\n') {
		char piece[256];
		size_t len;
		int drawn;

		if (*p == '\033') {
			p = take_sgr(p, &role, &attributes);
			continue;
		}
		len = strcspn(p, "\033\n\001");
		if (!len) {
			p++;
			continue;
		}
		len = min(len, sizeof(piece) - 1);
		while (len > 1 && ((u8)p[len] & 0xc0) == 0x80)
			len--;
		memcpy(piece, p, len);
		piece[len] = 0;
		drawn = canvas_text(c, x + n, y, w - n, role, piece);
		for (int i = 0; i < drawn; i++)
			canvas_attributes(c, x + n + i, y, attributes);
		n += drawn;
		p += len;
	}
	return p;
}

void said_draw(struct canvas *c, struct tui_said *said, const struct rect *r)
{
	const char *p = said->text;

	said->shown = r->h;
	said->scroll = max(min(said->scroll, said->rows - r->h), 0);
	for (int row = 0; p && *p && row < said->scroll + r->h; row++) {
		if (row < said->scroll)
			p += strcspn(p, "\n");
		else
			p = draw_row(c, p, r->x, r->y + row - said->scroll, r->w);
		p += *p == '\n';
	}
}

bool said_key(struct tui_said *said, int key)
{
	static const struct {
		int key, rows, pages;
	} keys[] = {
		{TERM_UP, -1, 0},	 {TERM_DOWN, 1, 0},	{TERM_WHEEL_UP, -3, 0},
		{TERM_WHEEL_DOWN, 3, 0}, {TERM_PAGE_UP, 0, -1}, {TERM_PAGE_DOWN, 0, 1},
		{TERM_HOME, 0, -100000}, {TERM_END, 0, 100000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int rows = keys[i].rows + keys[i].pages * max(said->shown - 1, 1);

		if (keys[i].key != key)
			continue;
		said->scroll = max(min(said->scroll + rows, said->rows - said->shown), 0);
		return true;
	}
	return false;
}
