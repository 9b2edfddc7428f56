/*
 * view/web/stream.h - events as the page's viewer reads them.
 *
 * A stream of varints (7 bits a byte, low first; signed ones zigzag), an event after the other:
 *
 *     ns since the event before
 *     the event's line: its template, then its numbers
 *     the sentence: its template, then its numbers
 *     the rule: its template (0: none), then its numbers
 *     flags (enum web_flag), then for each that is set, in this order
 *     CELLS    how many runs; each: file, page since the run before (signed), cells, value
 *     WINDOW   start, size, async_size
 *     CALL     latency in ns, first page, pages, 1 for a write
 *
 * A template is a text with # for a decimal number and ~ for a hexadecimal one; its numbers are
 * written as differences to the last time it was used. Template and cell value are numbers of
 * tables that come first in the data, in the order of their first use.
 *
 * Owner      struct web_stream owns all it points to; web_stream_fini() releases it.
 * Errors     -ENOMEM is kept in error.
 */
#ifndef FL_VIEW_WEB_STREAM_H
#define FL_VIEW_WEB_STREAM_H

#include "view/scene.h"

enum web_flag { WEB_CELLS = 1, WEB_WINDOW = 2, WEB_CALL = 4, WEB_OP = 8 };

#define WEB_NUMBERS 24 /* in one template; what is beyond stays text */

struct web_template {
	char *text;
	unsigned int nr;
	u64 last[WEB_NUMBERS];
};

struct web_bytes {
	u8 *at;
	size_t used, cap;
};

struct web_stream {
	struct scene_watch watch;
	struct scene *scene;
	struct web_bytes out;
	struct web_bytes runs; /* changes of cells not yet written */
	u64 nr_runs, last_page;
	struct web_template *templates; /* [0] is "" */
	size_t nr_templates, cap_templates;
	u32 *slots; /* hash of templates */
	size_t nr_slots;
	u32 *values; /* of cells */
	size_t nr_values, cap_values;
	u64 ns;
	int error;
};

int web_stream_init(struct web_stream *w, struct scene *scene);
void web_stream_fini(struct web_stream *w);
/* The scene goes one event forward, which is written; false at the end. */
bool web_stream_event(struct web_stream *w);

#endif
