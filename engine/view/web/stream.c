#include "view/web/stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/export.h"
#include "view/narrate.h"

#define TEXT_MAX   600
#define DIGITS_MAX 15 /* a double holds them exactly */

/* ---- bytes ---- */

static void put_byte(struct web_stream *w, struct web_bytes *b, u8 byte)
{
	if (b->used == b->cap) {
		size_t cap = b->cap ? 2 * b->cap : 4096;
		u8 *at = realloc(b->at, cap);

		if (!at) {
			w->error = -ENOMEM;
			return;
		}
		b->at = at;
		b->cap = cap;
	}
	b->at[b->used++] = byte;
}

static void put(struct web_stream *w, struct web_bytes *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(w, b, v | 0x80);
	put_byte(w, b, v);
}

static void put_signed(struct web_stream *w, struct web_bytes *b, s64 v)
{
	put(w, b, (u64)v << 1 ^ (v < 0 ? ~0ULL : 0));
}

/* ---- templates ---- */

/* A text taken apart. */
struct parts {
	char text[TEXT_MAX];
	u64 numbers[WEB_NUMBERS];
	unsigned int nr;
};

/* A number at @s: its length, 0 if there is none that can be taken out. */
static size_t number_at(const char *s, bool *hex)
{
	size_t n = 0;

	*hex = s[0] == '0' && s[1] == 'x' && isxdigit((unsigned char)s[2]);
	if (*hex) {
		for (n = 2; isdigit((unsigned char)s[n]) || (s[n] >= 'a' && s[n] <= 'f'); n++)
			;
		return n <= 2 + DIGITS_MAX - 2 && (s[2] != '0' || n == 3) ? n : 0;
	}
	while (isdigit((unsigned char)s[n]))
		n++;
	return n <= DIGITS_MAX && (s[0] != '0' || n == 1) ? n : 0;
}

/* Text that looks like a place for a number is no template's: it gets another sign. */
static char plain(char c)
{
	return c == '#' ? '*' : c == '~' ? '-' : c;
}

static void take_apart(const char *s, struct parts *p)
{
	size_t used = 0;

	p->nr = 0;
	while (*s && used + 3 < sizeof(p->text)) {
		bool hex, digit = isdigit((unsigned char)*s);
		size_t n = p->nr < WEB_NUMBERS && digit ? number_at(s, &hex) : 0;

		if (n) {
			p->numbers[p->nr++] = strtoull(s, NULL, hex ? 16 : 10);
			p->text[used++] = hex ? '~' : '#';
			s += n;
			continue;
		}
		do
			p->text[used++] = plain(*s++);
		while (digit && isdigit((unsigned char)*s) && used + 3 < sizeof(p->text));
	}
	p->text[used] = 0;
}

static u32 hash(const char *s)
{
	u32 h = 2166136261u;

	while (*s)
		h = (h ^ (u8)*s++) * 16777619u;
	return h;
}

static void insert(struct web_stream *w, u32 nr)
{
	size_t at = hash(w->templates[nr].text) & (w->nr_slots - 1);

	while (w->slots[at])
		at = (at + 1) & (w->nr_slots - 1);
	w->slots[at] = nr + 1;
}

/* Room for one more template, and slots for twice as many as there are. */
static bool grow(struct web_stream *w)
{
	if (w->nr_templates == w->cap_templates) {
		size_t cap = w->cap_templates ? 2 * w->cap_templates : 64;
		struct web_template *t = realloc(w->templates, cap * sizeof(*t));

		if (!t)
			return false;
		w->templates = t;
		w->cap_templates = cap;
	}
	if (2 * (w->nr_templates + 1) > w->nr_slots) {
		size_t n = w->nr_slots ? 2 * w->nr_slots : 256;
		u32 *slots = calloc(n, sizeof(*slots));

		if (!slots)
			return false;
		free(w->slots);
		w->slots = slots;
		w->nr_slots = n;
		for (size_t i = 0; i < w->nr_templates; i++)
			insert(w, i);
	}
	return true;
}

static struct web_template *find_template(struct web_stream *w, const struct parts *p, u32 *nr)
{
	size_t at = hash(p->text) & (w->nr_slots - 1);
	struct web_template *t;

	for (; w->nr_slots && w->slots[at]; at = (at + 1) & (w->nr_slots - 1)) {
		*nr = w->slots[at] - 1;
		if (!strcmp(w->templates[*nr].text, p->text))
			return &w->templates[*nr];
	}
	if (!grow(w))
		return NULL;
	*nr = w->nr_templates;
	t = &w->templates[*nr];
	*t = (struct web_template){.text = strdup(p->text), .nr = p->nr};
	if (!t->text)
		return NULL;
	w->nr_templates++;
	insert(w, *nr);
	return t;
}

static void put_text(struct web_stream *w, const char *text)
{
	struct web_template *t;
	struct parts p;
	u32 nr;

	take_apart(text, &p);
	t = find_template(w, &p, &nr);
	if (!t) {
		w->error = -ENOMEM;
		return;
	}
	put(w, &w->out, nr);
	for (unsigned int i = 0; i < p.nr; i++) {
		put_signed(w, &w->out, p.numbers[i] - t->last[i]);
		t->last[i] = p.numbers[i];
	}
}

/* ---- cells ---- */

static u32 value_nr(struct web_stream *w, u32 value)
{
	for (size_t i = w->nr_values; i-- > 0;)
		if (w->values[i] == value)
			return i;
	if (w->nr_values == w->cap_values) {
		size_t cap = w->cap_values ? 2 * w->cap_values : 64;
		u32 *values = realloc(w->values, cap * sizeof(*values));

		if (!values) {
			w->error = -ENOMEM;
			return 0;
		}
		w->values = values;
		w->cap_values = cap;
	}
	w->values[w->nr_values] = value;
	return w->nr_values++;
}

static void cells_changed(struct scene_watch *watch, unsigned int file, u64 page, u32 value, u32 nr)
{
	struct web_stream *w = container_of(watch, struct web_stream, watch);

	put(w, &w->runs, file);
	put_signed(w, &w->runs, page - w->last_page);
	put(w, &w->runs, nr);
	put(w, &w->runs, value_nr(w, value));
	w->last_page = page;
	w->nr_runs++;
}

/* ---- an event ---- */

static unsigned int flags_of(const struct web_stream *w, const struct trace_event *ev)
{
	unsigned int flags = w->nr_runs ? WEB_CELLS : 0;

	switch (ev->id) {
	case EV_fl_window:
		return flags | WEB_WINDOW;
	case EV_fl_read:
	case EV_fl_write:
	case EV_fl_touch:
		return flags | WEB_CALL;
	case EV_fl_op:
		return flags | WEB_OP;
	default:
		return flags;
	}
}

static void put_call(struct web_stream *w, const struct trace_event *ev)
{
	unsigned int shift = w->scene->page_shift;
	u64 first = ev->index >> shift, last = (ev->index + max(ev->a, 1u) - 1) >> shift;

	put(w, &w->out, ev->c);
	put(w, &w->out, first);
	put(w, &w->out, last - first + 1);
	put(w, &w->out, ev->id == EV_fl_write || (ev->id == EV_fl_touch && ev->b));
}

static void put_changes(struct web_stream *w, const struct trace_event *ev)
{
	unsigned int flags = flags_of(w, ev);

	put(w, &w->out, flags);
	if (flags & WEB_CELLS) {
		put(w, &w->out, w->nr_runs);
		for (size_t i = 0; i < w->runs.used; i++)
			put_byte(w, &w->out, w->runs.at[i]);
	}
	if (flags & WEB_WINDOW) {
		put(w, &w->out, ev->index);
		put(w, &w->out, ev->a);
		put(w, &w->out, ev->b);
	}
	if (flags & WEB_CALL)
		put_call(w, ev);
}

bool web_stream_event(struct web_stream *w)
{
	struct scene *s = w->scene;
	struct trace_event ev;
	char text[TEXT_MAX];
	size_t n;

	if (!scene_forward(s) || !scene_event(s, &ev))
		return false;
	put(w, &w->out, ev.ns - min(w->ns, ev.ns));
	w->ns = max(w->ns, ev.ns);
	n = snprintf(text, sizeof(text), "%s: ", trace_event_info(ev.id)->name);
	export_line(s->info, &ev, text + n, sizeof(text) - n);
	put_text(w, text);
	put_text(w, narrate_event(s, &ev, text, sizeof(text)));
	put_text(w, narrate_rule(s, &ev, text, sizeof(text)));
	put_changes(w, &ev);
	w->runs.used = w->nr_runs = 0;
	if (s->error)
		w->error = s->error;
	return !w->error;
}

int web_stream_init(struct web_stream *w, struct scene *scene)
{
	static const struct parts nothing = {.text = ""};
	u32 nr;

	*w = (struct web_stream){.watch.cells = cells_changed, .scene = scene};
	scene->watch = &w->watch;
	return find_template(w, &nothing, &nr) ? 0 : -ENOMEM;
}

void web_stream_fini(struct web_stream *w)
{
	w->scene->watch = NULL;
	for (size_t i = 0; i < w->nr_templates; i++)
		free(w->templates[i].text);
	free(w->templates);
	free(w->slots);
	free(w->values);
	free(w->out.at);
	free(w->runs.at);
}
