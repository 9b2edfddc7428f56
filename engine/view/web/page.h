/*
 * view/web/page.h - a recording and a small viewer in one HTML file that needs no network.
 *
 * The viewer (assets/html/) is part of the program. What it shows are the scene's own cells,
 * windows and sentences, written event by event (view/web/stream.h).
 *
 * Invariant  the same recording gives the same bytes.
 * Owner      nothing is kept.
 * Errors     negative errno with struct fl_error; write errors are the stream's.
 */
#ifndef FL_VIEW_WEB_PAGE_H
#define FL_VIEW_WEB_PAGE_H

#include <stdio.h>

#include "lib/error.h"
#include "view/scene.h"

/* The most events a page holds: a browser keeps all of them. */
#define WEB_EVENTS_MAX 2000000u

struct web_page {
	const char *title;
	u64 first_event; /* number of the tape's first event */
	u64 at;		 /* the event it opens behind */
	const char *lab; /* JSON of a lab's texts, or NULL: {"title","steps":[...]} */
};

int web_page_write(const struct tape *tape, const struct recording_info *info,
		   const struct web_page *page, FILE *f, struct fl_error *err);

#endif
