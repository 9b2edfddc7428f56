/*
 * view/link.h - one session, several views: a unix socket between them.
 *
 * Whoever serves sends every machine's description and events to each that attaches, and where it
 * stands; whoever moves tells all others. Everybody is the same user (checked on both sides) and
 * runs the same version.
 *
 *     u32 type, u32 bytes, then (numbers and structs as they lie in memory)
 *     HELLO    "FOLIOLNK", version, sizeof(struct recording_info), number of machines
 *     INFO     machine, struct recording_info, the workload's text
 *     RECORDS  machine, slots of trace/ring.h: whole events
 *     END      machine: there are no more
 *     MOVE     u64 position of the leader, u32 leader
 *
 * Invariant  nobody ever waits for the other side; what cannot be sent yet is sent at a later
 *            turn; messages are checked before they are believed.
 * Owner      tapes and infos of a server are the caller's; a client's are the link's.
 * Errors     negative errno with struct fl_error; a peer that breaks the rules is cut off.
 */
#ifndef FL_VIEW_LINK_H
#define FL_VIEW_LINK_H

#include "lib/error.h"
#include "trace/recording.h"

#define LINK_MACHINES 4
#define LINK_CLIENTS  8

/* Where a view stands. */
struct link_place {
	u64 pos;
	u32 lead;
};

/* One of the two ends, as a view sees it. Embed it. */
struct link {
	/*
	 * Tell and hear, once a turn: @place is where the view stands or is on its way to, and
	 * becomes where somebody else went. True if somebody did.
	 */
	bool (*turn)(struct link *link, struct link_place *place);
};

/* What a server shows. */
struct link_source {
	const struct tape *tape;
	const struct recording_info *info;
	bool whole; /* no more events will come; the caller's to set */
};

/*
 * Listen at @path, which must not be there (a socket nobody listens on any more is replaced). It
 * is the owner's alone. @sources stay the caller's. 0, errno.
 */
int link_serve(const char *path, struct link_source *const *sources, unsigned int nr,
	       struct link **ret, struct fl_error *err);

/* Connect to the server at @path and wait for what it shows. */
int link_attach(const char *path, struct link **ret, struct fl_error *err);
/* What the server shows: tapes grow in turn() and link_pull() only. */
unsigned int link_machines(const struct link *link);
const struct tape *link_tape(const struct link *link, unsigned int machine);
const struct recording_info *link_info(const struct link *link, unsigned int machine);
/* Hear for up to @ms; false once all of the machine's events are there or the server has gone. */
bool link_pull(struct link *link, unsigned int machine, int ms);
/* Has the server gone before all was there? */
bool link_is_cut(const struct link *link);

/* End either end; a server's socket is removed. NULL is fine. */
void link_close(struct link *link);

#endif
