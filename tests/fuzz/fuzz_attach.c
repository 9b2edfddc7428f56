#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "view/link_internal.h"
#include "view/scene.h"

#define EVENTS_MAX 2000

/* A server that says what it is told to and goes. */
struct speaker {
	int listens;
	const u8 *data;
	size_t size;
};

static void *speak(void *arg)
{
	struct speaker *s = arg;
	int fd = accept(s->listens, NULL, NULL);

	while (fd >= 0 && s->size) {
		ssize_t n = send(fd, s->data, s->size, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		s->data += n;
		s->size -= n;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(path);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	fuzz_require(fd >= 0);
	fuzz_require(!bind(fd, (struct sockaddr *)&addr, sizeof(addr)) && !listen(fd, 1));
	return fd;
}

/* What every server begins with, so that inputs need not guess it. */
static size_t greeting(u8 *to)
{
	struct link_hello hello = {.magic = LINK_MAGIC,
				   .version = LINK_VERSION,
				   .info_size = sizeof(struct recording_info),
				   .machines = 1};
	u32 head[2] = {LINK_HELLO, sizeof(hello)};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), &hello, sizeof(hello));
	return sizeof(head) + sizeof(hello);
}

static void show(const struct link *link)
{
	struct scene *s = malloc(sizeof(*s));

	fuzz_require(s);
	if (!scene_init(s, link_tape(link, 0), link_info(link, 0))) {
		for (u64 at = 0; at < EVENTS_MAX && scene_forward(s); at++)
			;
		scene_fini(s);
	}
	free(s);
}

/* The first byte says whether the greeting is the real one. */
void fuzz_attach(const u8 *data, size_t size)
{
	struct fl_error err = {0};
	struct speaker speaker = {0};
	struct link *link;
	pthread_t thread;
	char path[60];
	u8 *bytes;
	size_t start = 0;

	if (!size)
		return;
	bytes = malloc(size + sizeof(struct link_hello) + 8);
	fuzz_require(bytes);
	if (data[0] & 1)
		start = greeting(bytes);
	memcpy(bytes + start, data + 1, size - 1);
	snprintf(path, sizeof(path), "fuzz-attach.%d", getpid());
	speaker = (struct speaker){listen_at(path), bytes, start + size - 1};
	fuzz_require(!pthread_create(&thread, NULL, speak, &speaker));
	if (!link_attach(path, &link, &err)) {
		struct link_place place = {0};

		while (link_pull(link, 0, 10))
			;
		link->turn(link, &place);
		show(link);
		link_close(link);
	} else {
		fuzz_require_error(-1, &err);
	}
	pthread_join(thread, NULL);
	close(speaker.listens);
	unlink(path);
	free(bytes);
}
