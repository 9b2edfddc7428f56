/* Which events somebody looks for: words of their line, pages, an order, where they were raised. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/export.h"
#include "view/tui/internal.h"

#define SEPARATORS " \t"

static void take_pages(struct tui_condition *c, const char *word)
{
	char *end;

	c->first = strtoull(word, &end, 0);
	c->last = *end == '-' ? strtoull(end + 1, NULL, 0) : c->first;
}

static void add_word(struct tui_condition *c, const char *word)
{
	size_t len = strlen(c->words);

	snprintf(c->words + len, sizeof(c->words) - len, "%s%s", len ? " " : "", word);
}

/* Takes the next word. */
static bool is_keyword(const char *word)
{
	return !strcmp(word, "page") || !strcmp(word, "pages") || !strcmp(word, "order") ||
	       !strcmp(word, "in");
}

void condition_parse(struct tui_condition *c, const char *text)
{
	char copy[sizeof(c->text)], *save, *word;

	*c = (struct tui_condition){.first = 1, .last = 0, .order = -1};
	snprintf(c->text, sizeof(c->text), "%s", text);
	memcpy(copy, c->text, sizeof(copy));
	for (word = strtok_r(copy, SEPARATORS, &save); word;
	     word = strtok_r(NULL, SEPARATORS, &save)) {
		char *next;

		if (!is_keyword(word)) {
			add_word(c, word);
			continue;
		}
		next = strtok_r(NULL, SEPARATORS, &save);
		if (next && *word == 'o')
			c->order = atoi(next);
		else if (next && *word == 'i')
			snprintf(c->place, sizeof(c->place), "%s", next);
		else if (next)
			take_pages(c, next);
	}
}

bool condition_any(const struct tui_condition *c)
{
	return !c->words[0] && !c->place[0] && c->first > c->last && c->order < 0;
}

static bool has_word(const struct scene *s, const struct trace_event *ev, const char *word)
{
	char line[400];

	if (strcasestr(trace_event_info(ev->id)->name, word))
		return true;
	export_line(s->info, ev, line, sizeof(line));
	return strcasestr(line, word);
}

static bool has_all_words(const struct tui_condition *c, const struct scene *s,
			  const struct trace_event *ev)
{
	char copy[sizeof(c->words)], *save;

	memcpy(copy, c->words, sizeof(copy));
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!has_word(s, ev, w))
			return false;
	return true;
}

bool condition_matches(const struct tui_condition *c, const struct tui_scene *m, u64 nr,
		       const struct trace_event *ev)
{
	const struct scene *s = &m->scene;
	u64 first, pages;

	if (c->order >= 0 && ev->order != c->order)
		return false;
	if (c->first <= c->last) {
		if (!scene_event_pages(s, ev, &first, &pages))
			return false;
		if (first > c->last || first + pages <= c->first)
			return false;
	}
	if (c->words[0] && !has_all_words(c, s, ev))
		return false;
	return !c->place[0] || (m->inspect && m->inspect->inside(m->inspect, nr, c->place));
}
