/* Messages over a socket that never waits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "view/link_internal.h"

#define HEADER	     8
#define RECEIVE_MOST (2u << 20) /* bytes kept before they are looked at */

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.uid == geteuid();
}

bool connection_init(struct link_connection *c, int fd)
{
	*c = (struct link_connection){.fd = fd};
	if (is_ours(fd) && !fcntl(fd, F_SETFL, O_NONBLOCK))
		return true;
	connection_fini(c);
	return false;
}

void connection_fini(struct link_connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in.at);
	free(c->out.at);
	*c = (struct link_connection){.fd = -1};
}

static bool grow(struct link_buffer *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 65536;
	u8 *at;

	while (cap < b->used + more)
		cap *= 2;
	if (cap == b->cap)
		return true;
	at = realloc(b->at, cap);
	if (!at)
		return false;
	b->at = at;
	b->cap = cap;
	return true;
}

static void append(struct link_buffer *b, const void *bytes, size_t len)
{
	if (len)
		memcpy(b->at + b->used, bytes, len);
	b->used += len;
}

bool connection_put(struct link_connection *c, enum link_type type, const void *a, size_t a_len,
		    const void *b, size_t b_len)
{
	u32 head[2] = {type, a_len + b_len};

	if (c->fd < 0 || !grow(&c->out, HEADER + a_len + b_len)) {
		connection_fini(c);
		return false;
	}
	append(&c->out, head, sizeof(head));
	append(&c->out, a, a_len);
	append(&c->out, b, b_len);
	return true;
}

bool connection_send(struct link_connection *c)
{
	while (c->fd >= 0 && c->sent < c->out.used) {
		ssize_t n = send(c->fd, c->out.at + c->sent, c->out.used - c->sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0) {
			connection_fini(c);
			return false;
		}
		c->sent += n;
	}
	c->out.used = c->sent = 0;
	return c->fd >= 0;
}

bool connection_receive(struct link_connection *c)
{
	while (c->fd >= 0 && c->in.used < RECEIVE_MOST) {
		ssize_t n;

		if (!grow(&c->in, 65536)) {
			connection_fini(c);
			return false;
		}
		n = recv(c->fd, c->in.at + c->in.used, c->in.cap - c->in.used, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0) {
			/* What was said before the end is still heard. */
			close(c->fd);
			c->fd = -1;
			return false;
		}
		c->in.used += n;
	}
	return c->fd >= 0;
}

u32 connection_message(struct link_connection *c, const u8 **bytes, u32 *len)
{
	u32 head[2];

	if (c->in.used < HEADER)
		return 0;
	memcpy(head, c->in.at, sizeof(head));
	if (!head[0] || head[1] > LINK_MESSAGE) {
		connection_fini(c);
		return 0;
	}
	if (c->in.used < HEADER + (size_t)head[1])
		return 0;
	*bytes = c->in.at + HEADER;
	*len = head[1];
	return head[0];
}

void connection_drop(struct link_connection *c)
{
	u32 head[2];
	size_t len;

	memcpy(head, c->in.at, sizeof(head));
	len = HEADER + (size_t)head[1];
	c->in.used -= len;
	memmove(c->in.at, c->in.at + len, c->in.used);
}
