/*
 * view/scene_internal.h - what the files of the scene share.
 *
 * Owner      the scene owns its chunks, nodes and journal.
 * Errors     functions that need memory set scene->error.
 */
#ifndef FL_VIEW_SCENE_INTERNAL_H
#define FL_VIEW_SCENE_INTERNAL_H

#include "view/scene.h"

/* ---- journal: a stack of groups, one an event ---- */

int journal_init(struct scene_journal *j);
void journal_fini(struct scene_journal *j);
void journal_forget(struct scene_journal *j);

/* Begin the group of an event, and end it. */
void journal_begin(struct scene *s);
void journal_end(struct scene *s);
/* How many events can be taken back, and take the last back: there is one. */
u64 journal_events(const struct scene_journal *j);
void journal_undo(struct scene *s);

/* Remember @size bytes at @field, inside scene->state, before they change. */
void journal_save(struct scene *s, const void *field, size_t size);
/* Remember that @nr cells of file @file from @page on were @value. */
void journal_cells(struct scene *s, unsigned int file, u64 page, u32 value, u32 nr);

/* Change one field of scene->state. */
#define scene_set(s, field, value)                                                                 \
	do {                                                                                       \
		journal_save(s, &(s)->state.field, sizeof((s)->state.field));                      \
		(s)->state.field = (value);                                                        \
	} while (0)

/* ---- pages ---- */

/* ---- keyframes ---- */

int keyframes_init(struct scene *s);
void keyframes_fini(struct scene *s);
/* Keep the present if it is due. */
void keyframes_keep(struct scene *s);
/* The last keyframe at or before @pos, or NULL; where it stands; and make it the present. */
const struct scene_keyframe *keyframes_find(const struct scene *s, u64 pos);
u64 keyframe_pos(const struct scene_keyframe *k);
void keyframe_show(struct scene *s, const struct scene_keyframe *k);

/* The file of @ino, made if there is room; -1 if not. */
int pages_file(struct scene *s, u32 ino);
void pages_fini(struct scene *s);
/* Forget all pages, the files stay; let a chunk be the one with number @nr. */
void pages_clear(struct scene *s);
void pages_put_chunk(struct scene *s, struct scene_file *f, u64 nr, struct scene_chunk *c);
void chunk_put(struct scene_chunk *c);
/* cell = (cell & ~@clear) | @set for present pages of a range (@absent: for all), journalled. */
void pages_change(struct scene *s, int file, u64 first, u64 nr, u32 clear, u32 set);
void pages_fill(struct scene *s, int file, u64 first, u64 nr, u32 value);
/* What journal_undo() calls. */
void pages_restore(struct scene *s, unsigned int file, u64 page, u32 value, u32 nr);

/* ---- events ---- */

/* What @ev does to the scene; +1 or -1 for what it adds to. */
void event_overwrite(struct scene *s, const struct trace_event *ev);
void event_count(struct scene *s, const struct trace_event *ev, int sign);

#endif
