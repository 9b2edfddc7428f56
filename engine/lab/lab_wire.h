/*
 * lab/lab_wire.h - what a locked-in child with Lua and its parent say to each other.
 *
 * Both ways: records of a struct wire_head and len bytes over one socket. The parent sends asks;
 * the child answers each with REPLY, after anything else it has to say meanwhile. OPEN alone is
 * answered by the parent: a struct wire_opened (with the descriptor, where there is one), extents,
 * inline bytes.
 *
 * Invariant  no record is longer than WIRE_MAX. Structs are of the same program on both sides;
 *            pointers in them mean nothing.
 */
#ifndef FL_LAB_LAB_WIRE_H
#define FL_LAB_LAB_WIRE_H

#include "host/backing.h"
#include "lab/lab_remote.h"

#define WIRE_MAX    (20u << 20) /* a figure may be a string of Lua's largest size */
#define WIRE_EVENTS 2048u	/* slots of one record */

#define WIRE_STEPS_MAX	   64u
#define WIRE_QUESTIONS_MAX 64u /* of a step */

struct wire_head {
	u32 type;
	u32 len;
};

/* ---- from the parent ---- */

/* Type: enum lab_ask_type. A value if has_value, then name and bytes. */
struct wire_ask {
	u32 step, question, text, nr;
	u32 of_question, has_value, quiet;
	u32 name_len, bytes_len;
};

struct wire_opened {
	s32 error;
	u32 is_image;
	struct fl_error err;
	s64 size;
	struct ext4_image_super super;
	struct {
		u32 ino, mode, flags, nr_extents, inline_len;
		u64 size;
	} inode;
};

/* ---- from the child ---- */

enum wire_say {
	SAY_SHAPE,    /* struct lab, its steps, their questions */
	SAY_PRINT,    /* text */
	SAY_FIGURE,   /* name, 0, svg, 0 */
	SAY_MACHINE,  /* struct wire_machine: the next number */
	SAY_EVENTS,   /* struct wire_events, records */
	SAY_ENDED,    /* u32: machine */
	SAY_CAPPED,   /* u32: machine */
	SAY_OPEN,     /* struct wire_open */
	SAY_PROGRESS, /* u32 done, u32 total */
	SAY_REPLY,    /* struct wire_reply, then its texts, each with a 0 */
};

struct wire_machine {
	u32 twin;
	struct recording_info info;
};

struct wire_events {
	u32 machine;
	u32 slots;
};

struct wire_open {
	u32 is_image;
	char path[4096];
};

struct wire_reply {
	u32 type; /* enum lab_ask_type */
	u32 limit;
	u32 given, unfit, right;
	u32 last; /* the child ends now */
	s32 error;
	struct fl_error err;
	char why[sizeof(((struct lab_verdict *)0)->why)];
	struct lab_value value;
	u32 index[LAB_OPTIONS_MAX];
	u32 nr_options, has_text;
};

/* Exit status of a child that could not be locked in. */
#define WIRE_NO_JAIL 2

/* All that a child is given by birth; the rest it is asked. */
struct lab_child_task {
	const struct lab_remote_config *config;
	const char *source; /* lab.lua or the script */
	size_t source_len;
	const struct lab_images *images; /* read before the door was locked */
	int talk;
	struct lab_played *played; /* shared with the parent */
};

/* The child. Returns the exit status for _exit(). */
int lab_child(const struct lab_child_task *task);

/* ---- for the files of the child ---- */

struct lab_stream;

/* The limit that Lua itself hit since its budget was set. */
static inline enum lab_limit lab_limit_of(const struct lab_lua *ll)
{
	return ll->exhausted ? LAB_INSTRUCTIONS : ll->starved ? LAB_MEMORY : LAB_NO_LIMIT;
}

/* Send a record of up to two pieces; ends the process when nobody listens. */
void wire_say(enum wire_say type, const void *a, size_t a_len, const void *b, size_t b_len);
/* Read exactly @len bytes; ends the process when there are none. */
void wire_hear(void *buf, size_t len);

/* Files come from the parent: a source for run_config. */
struct backing_source *lab_child_files(void);

/* Tell the parent of the machines of @ll, @events of each. NULL without memory. */
struct lab_stream *lab_stream_open(u64 events);
void lab_stream_watch(struct lab_stream *s, struct lab_lua *ll);
/* New machines are told of from now on, or not. */
void lab_stream_new_machines(struct lab_stream *s, bool on);
/* Numbers start again. */
void lab_stream_restart(struct lab_stream *s);
void lab_stream_flush(struct lab_stream *s);

#endif
