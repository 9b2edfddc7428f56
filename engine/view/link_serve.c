/* The end that has the session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "view/link_internal.h"

#define SLOTS_AT_ONCE 8192

struct client {
	struct link_connection c;
	u64 slots[LINK_MACHINES]; /* of each tape, sent */
	bool ended[LINK_MACHINES];
	struct link_place told;
};

struct server {
	struct link link;
	int fd;
	char path[108];
	struct link_source *sources[LINK_MACHINES];
	unsigned int nr;
	struct client clients[LINK_CLIENTS];
};

static void greet(struct server *s, struct client *client)
{
	struct link_hello hello = {.magic = LINK_MAGIC,
				   .version = LINK_VERSION,
				   .info_size = sizeof(struct recording_info),
				   .machines = s->nr};

	connection_put(&client->c, LINK_HELLO, &hello, sizeof(hello), NULL, 0);
	for (u32 i = 0; i < s->nr; i++) {
		struct {
			u64 machine;
			struct recording_info info;
		} part = {i, *s->sources[i]->info};
		const char *workload = part.info.workload ? part.info.workload : "";

		part.info.workload = NULL;
		connection_put(&client->c, LINK_INFO, &part, sizeof(part), workload,
			       min(strlen(workload), (size_t)LINK_MESSAGE / 2));
	}
	client->told = (struct link_place){~0ull, ~0u};
}

static void take_clients(struct server *s)
{
	int fd;

	while ((fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct client *client = NULL;

		for (int i = 0; i < LINK_CLIENTS && !client; i++)
			if (s->clients[i].c.fd < 0)
				client = &s->clients[i];
		if (!client) {
			close(fd);
			continue;
		}
		connection_fini(&client->c);
		*client = (struct client){0};
		if (connection_init(&client->c, fd))
			greet(s, client);
	}
}

/* The next events of one machine, as many as there is room for. */
static void send_events(struct server *s, struct client *client, u32 machine)
{
	const struct link_source *source = s->sources[machine];
	u64 *from = &client->slots[machine], nr = machine;

	while (client->c.fd >= 0 && client->c.out.used < LINK_UNSENT &&
	       *from < source->tape->slots) {
		u64 n = min_t(u64, source->tape->slots - *from, SLOTS_AT_ONCE);

		/* An event of two slots stays whole. */
		if (*from + n < source->tape->slots &&
		    source->tape->records[*from + n].id == EV_CONTINUATION)
			n--;
		connection_put(&client->c, LINK_RECORDS, &nr, sizeof(nr),
			       source->tape->records + *from, n * sizeof(*source->tape->records));
		*from += n;
	}
	if (source->whole && *from == source->tape->slots && !client->ended[machine])
		client->ended[machine] =
			connection_put(&client->c, LINK_END, &nr, sizeof(nr), NULL, 0);
}

/* What the client has to say; true if it moved. */
static bool hear(struct server *s, struct client *client, struct link_place *place)
{
	bool moved = false;
	const u8 *bytes;
	u32 type, len;

	connection_receive(&client->c);
	while ((type = connection_message(&client->c, &bytes, &len))) {
		struct link_place to;

		if (type != LINK_MOVE || len != sizeof(to)) {
			connection_fini(&client->c);
			break;
		}
		memcpy(&to, bytes, sizeof(to));
		connection_drop(&client->c);
		if (to.lead >= s->nr)
			continue;
		*place = client->told = to;
		moved = true;
	}
	return moved;
}

static void tell(struct server *s, struct client *client, const struct link_place *place)
{
	for (u32 i = 0; i < s->nr; i++)
		send_events(s, client, i);
	if (client->told.pos != place->pos || client->told.lead != place->lead) {
		client->told = *place;
		connection_put(&client->c, LINK_MOVE, place, sizeof(*place), NULL, 0);
	}
	connection_send(&client->c);
}

static bool server_turn(struct link *link, struct link_place *place)
{
	struct server *s = container_of(link, struct server, link);
	bool moved = false;

	take_clients(s);
	for (int i = 0; i < LINK_CLIENTS; i++)
		if (s->clients[i].c.fd >= 0)
			moved |= hear(s, &s->clients[i], place);
	for (int i = 0; i < LINK_CLIENTS; i++)
		if (s->clients[i].c.fd >= 0)
			tell(s, &s->clients[i], place);
	return moved;
}

/* Does anybody listen there? */
static bool is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool alive = fd >= 0 && !connect(fd, (const struct sockaddr *)addr, sizeof(*addr));

	if (fd >= 0)
		close(fd);
	return alive;
}

static int listen_at(int fd, const struct sockaddr_un *addr)
{
	struct stat st;
	mode_t mask;
	int ret;

	if (!lstat(addr->sun_path, &st)) {
		if (!S_ISSOCK(st.st_mode) || is_alive(addr))
			return -EADDRINUSE;
		if (unlink(addr->sun_path))
			return -errno;
	}
	mask = umask(0177);
	ret = bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno : 0;
	umask(mask);
	if (!ret && listen(fd, LINK_CLIENTS))
		ret = -errno;
	return ret;
}

int link_serve(const char *path, struct link_source *const *sources, unsigned int nr,
	       struct link **ret, struct fl_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct server *s = calloc(1, sizeof(*s));
	int error = s ? 0 : -ENOMEM;

	if (!error && strlen(path) >= sizeof(addr.sun_path))
		error = -ENAMETOOLONG;
	if (!error) {
		strcpy(addr.sun_path, path);
		s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		error = s->fd < 0 ? -errno : listen_at(s->fd, &addr);
		if (error && s->fd >= 0)
			close(s->fd);
	}
	if (error) {
		free(s);
		return fl_error_set(err, error, path, 0, "%s, expected a path for a new socket",
				    strerror(-error));
	}
	s->link.turn = server_turn;
	memcpy(s->sources, sources, nr * sizeof(*sources));
	s->nr = nr;
	strcpy(s->path, path);
	for (int i = 0; i < LINK_CLIENTS; i++)
		s->clients[i].c.fd = -1;
	*ret = &s->link;
	return 0;
}

bool link_is_server(const struct link *link)
{
	return link->turn == server_turn;
}

void link_stop(struct link *link)
{
	struct server *s = container_of(link, struct server, link);

	for (int i = 0; i < LINK_CLIENTS; i++)
		connection_fini(&s->clients[i].c);
	close(s->fd);
	unlink(s->path);
	free(s);
}
