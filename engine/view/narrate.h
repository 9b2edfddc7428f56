/*
 * view/narrate.h - an event in one plain sentence: what happened and why.
 *
 * Owner      text goes to the caller's buffer, cut at its end.
 * Errors     none; an event nobody wrote a sentence for gets its name.
 */
#ifndef FL_VIEW_NARRATE_H
#define FL_VIEW_NARRATE_H

#include "view/scene.h"

/* The sentence of @ev on the scene's machine. Returns @buf. */
char *narrate_event(const struct scene *s, const struct trace_event *ev, char *buf, size_t size);

/* The rule and knob behind it: "EXPECTED, knob MARK_ROUND_DOWN (since v6.16): ..."; "" if none. */
char *narrate_rule(const struct scene *s, const struct trace_event *ev, char *buf, size_t size);

/* Why a page is there: "sync window", "willneed", ... */
const char *narrate_provenance(unsigned int provenance);

/* What a cell says of its page and folio: "order 2, uptodate, read ahead, not used yet". */
char *narrate_cell(u32 cell, u32 head, char *buf, size_t size);

/* Where a recording comes from: "recorded on this host", ...; "" for a miniature's run. */
const char *narrate_source(const struct recording_info *info);

/* The list of enum lru_list. */
const char *narrate_list(unsigned int list);

#endif
