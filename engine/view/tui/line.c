/* A line that is typed: in the prompt, and as an answer. */
#include <string.h>

#include "view/tui/internal.h"

void line_clear(struct tui_line *l)
{
	*l = (struct tui_line){0};
}

static bool continues(char c)
{
	return ((u8)c & 0xc0) == 0x80;
}

static int before(const struct tui_line *l, int at)
{
	do
		at--;
	while (at > 0 && continues(l->text[at]));
	return max(at, 0);
}

static int after(const struct tui_line *l, int at)
{
	if (l->text[at])
		at++;
	while (continues(l->text[at]))
		at++;
	return at;
}

static void cut(struct tui_line *l, int from, int to)
{
	memmove(l->text + from, l->text + to, strlen(l->text + to) + 1);
	l->cursor = from;
}

static bool insert(struct tui_line *l, int key)
{
	size_t len = strlen(l->text);
	char utf8[5];
	int n;

	if (key < ' ' || key >= 0x10000 || key == 0x7f)
		return false;
	n = canvas_utf8(key, utf8);
	if (len + n >= sizeof(l->text))
		return true;
	memmove(l->text + l->cursor + n, l->text + l->cursor, len - l->cursor + 1);
	memcpy(l->text + l->cursor, utf8, n);
	l->cursor += n;
	return true;
}

bool line_key(struct tui_line *l, int key)
{
	switch (key) {
	case TERM_LEFT:
		l->cursor = before(l, l->cursor);
		return true;
	case TERM_RIGHT:
		l->cursor = after(l, l->cursor);
		return true;
	case TERM_BACKSPACE:
		cut(l, before(l, l->cursor), l->cursor);
		return true;
	case TERM_DELETE:
		cut(l, l->cursor, after(l, l->cursor));
		return true;
	default:
		return insert(l, key);
	}
}

/* Long lines are shown from where the cursor is in sight. */
int line_draw(struct canvas *c, int x, int y, int w, const char *label, const struct tui_line *l)
{
	int n = canvas_text(c, x, y, w, ROLE_STATUS_STRONG, label) + 1, columns = 0;
	const char *from = l->text;

	for (int at = 0; at < l->cursor; at = after(l, at))
		columns++;
	for (int room = max(w - n - 1, 1); columns > room; columns--)
		from = l->text + after(l, from - l->text);
	canvas_text(c, x + n, y, w - n, ROLE_STATUS, from);
	return x + n + columns;
}
