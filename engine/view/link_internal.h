/*
 * view/link_internal.h - what both ends of a link share.
 *
 * Owner      a connection owns its descriptor and buffers.
 * Errors     false: the connection is over and closed.
 */
#ifndef FL_VIEW_LINK_INTERNAL_H
#define FL_VIEW_LINK_INTERNAL_H

#include "view/link.h"

#define LINK_MAGIC   "FOLIOLNK"
#define LINK_VERSION 1u
#define LINK_MESSAGE (1u << 20) /* bytes of one message at most */
#define LINK_UNSENT  (4u << 20) /* bytes waiting to be sent before events wait too */

enum link_type { LINK_HELLO = 1, LINK_INFO, LINK_RECORDS, LINK_END, LINK_MOVE };

struct link_hello {
	char magic[8];
	u32 version, info_size, machines;
};

struct link_buffer {
	u8 *at;
	size_t used, cap;
};

struct link_connection {
	int fd; /* -1: none */
	struct link_buffer in, out;
	size_t sent; /* of out */
};

/* Wrap a connected socket; false (and it is closed) if the peer is somebody else. */
bool connection_init(struct link_connection *c, int fd);
void connection_fini(struct link_connection *c);
/* Add a message of two parts to what is to be sent. */
bool connection_put(struct link_connection *c, enum link_type type, const void *a, size_t a_len,
		    const void *b, size_t b_len);
/* Send what goes without waiting. */
bool connection_send(struct link_connection *c);
/* Take what is there without waiting. */
bool connection_receive(struct link_connection *c);
/* The next whole message: its type and bytes, until connection_drop(); 0 if there is none. */
u32 connection_message(struct link_connection *c, const u8 **bytes, u32 *len);
void connection_drop(struct link_connection *c);

/* ---- link_serve.c ---- */
bool link_is_server(const struct link *link);
void link_stop(struct link *link);

#endif
