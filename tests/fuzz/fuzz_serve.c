#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "view/link.h"

static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	fuzz_require(fd >= 0);
	fuzz_require(!connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
	return fd;
}

void fuzz_serve(const u8 *data, size_t size)
{
	struct recording_info info = {.page_size = 4096};
	struct link_source source = {.info = &info}, *sources[] = {&source, &source};
	struct link_place place = {0};
	struct fl_error err = {0};
	struct tape tape;
	struct link *link;
	char path[60];
	int fd;

	snprintf(path, sizeof(path), "fuzz-serve.%d", getpid());
	fuzz_require(!tape_init(&tape, 1000));
	source.tape = &tape;
	fuzz_require(!link_serve(path, sources, 2, &link, &err));
	fd = connect_to(path);
	link->turn(link, &place);
	for (size_t at = 0; at < size;) {
		ssize_t n = send(fd, data + at, size - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += n;
		if (link->turn(link, &place))
			fuzz_require(place.lead < 2);
	}
	link->turn(link, &place);
	close(fd);
	link->turn(link, &place);
	link_close(link);
	tape_fini(&tape);
}
