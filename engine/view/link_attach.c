/* The end that looks on. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "view/link_internal.h"

#define HELLO_MS     5000 /* for the server to say what it shows */
#define EVENTS_MAX   RECORDING_EVENTS_MAX
#define INFO_PART    (sizeof(u64) + sizeof(struct recording_info))
#define INFO_TEXT(s) s[sizeof(s) - 1] = 0

struct shown {
	struct tape tape;
	struct recording_info info;
	bool there, whole;
};

struct attached {
	struct link link;
	struct link_connection c;
	struct shown machines[LINK_MACHINES];
	unsigned int nr;
	struct link_place told, heard;
	bool moved, broken;
};

/* ---- messages ---- */

static bool take_hello(struct attached *a, const u8 *bytes, u32 len)
{
	struct link_hello hello;

	if (len != sizeof(hello) || a->nr)
		return false;
	memcpy(&hello, bytes, sizeof(hello));
	if (memcmp(hello.magic, LINK_MAGIC, 8) || hello.version != LINK_VERSION ||
	    hello.info_size != sizeof(struct recording_info) || !hello.machines ||
	    hello.machines > LINK_MACHINES)
		return false;
	a->nr = hello.machines;
	return true;
}

/* The machine a message is about, or NULL. */
static struct shown *machine_of(struct attached *a, const u8 *bytes, u32 len)
{
	u64 nr;

	if (len < sizeof(nr))
		return NULL;
	memcpy(&nr, bytes, sizeof(nr));
	return nr < a->nr ? &a->machines[nr] : NULL;
}

static bool take_info(struct attached *a, const u8 *bytes, u32 len)
{
	struct shown *m = machine_of(a, bytes, len);
	struct recording_info info;
	u64 page;

	if (!m || m->there || len < INFO_PART)
		return false;
	memcpy(&info, bytes + sizeof(u64), sizeof(info));
	page = info.page_size;
	if (page < 4096 || page > 65536 || page & (page - 1))
		return false;
	INFO_TEXT(info.kernel);
	INFO_TEXT(info.fs);
	INFO_TEXT(info.disk);
	INFO_TEXT(info.file);
	INFO_TEXT(info.source);
	info.workload = strndup((const char *)bytes + INFO_PART, len - INFO_PART);
	if (!info.workload || tape_init(&m->tape, EVENTS_MAX)) {
		free(info.workload);
		return false;
	}
	m->info = info;
	m->there = true;
	return true;
}

static bool take_records(struct attached *a, const u8 *bytes, u32 len)
{
	struct shown *m = machine_of(a, bytes, len);
	u32 slots = (len - sizeof(u64)) / sizeof(struct trace_record);
	struct trace_record *records;
	s64 events;

	if (!m || !m->there || m->whole || !slots ||
	    len != sizeof(u64) + slots * sizeof(struct trace_record))
		return false;
	records = malloc(slots * sizeof(*records));
	if (!records)
		return false;
	memcpy(records, bytes + sizeof(u64), slots * sizeof(*records));
	events = trace_records_check(records, slots);
	for (u32 at = 0; events >= 0 && at < slots;) {
		struct trace_event ev;

		at += trace_record_unpack(records + at, slots - at, &ev);
		if (ev.id >= EV_NR || ev.order >= TRACE_ORDERS)
			events = -EINVAL;
		else
			tape_add(&m->tape, &ev);
	}
	free(records);
	return events >= 0;
}

static bool take_end(struct attached *a, const u8 *bytes, u32 len)
{
	struct shown *m = machine_of(a, bytes, len);

	if (m)
		m->whole = true;
	return m;
}

static bool take_move(struct attached *a, const u8 *bytes, u32 len)
{
	struct link_place to;

	if (len != sizeof(to))
		return false;
	memcpy(&to, bytes, sizeof(to));
	if (to.lead >= a->nr)
		return false;
	a->heard = a->told = to;
	a->moved = true;
	return true;
}

static void hear(struct attached *a)
{
	static bool (*const takers[])(struct attached * a, const u8 *bytes, u32 len) = {
		[LINK_HELLO] = take_hello, [LINK_INFO] = take_info, [LINK_RECORDS] = take_records,
		[LINK_END] = take_end,	   [LINK_MOVE] = take_move,
	};
	const u8 *bytes;
	u32 type, len;

	connection_receive(&a->c);
	while ((type = connection_message(&a->c, &bytes, &len))) {
		if (type >= ARRAY_SIZE(takers) || !takers[type](a, bytes, len)) {
			connection_fini(&a->c);
			a->broken = true;
			return;
		}
		connection_drop(&a->c);
	}
}

static void wait_for_more(const struct attached *a, int ms)
{
	struct pollfd p = {.fd = a->c.fd, .events = POLLIN};

	if (a->c.fd >= 0 && ms > 0)
		poll(&p, 1, ms);
}

/* ---- the view's side ---- */

static bool attached_turn(struct link *link, struct link_place *place)
{
	struct attached *a = container_of(link, struct attached, link);
	bool moved;

	/* Who was heard of since the last turn has moved after us. */
	if (!a->moved && (place->pos != a->told.pos || place->lead != a->told.lead)) {
		a->told = *place;
		if (a->c.fd >= 0)
			connection_put(&a->c, LINK_MOVE, place, sizeof(*place), NULL, 0);
	}
	connection_send(&a->c);
	hear(a);
	moved = a->moved;
	if (moved)
		*place = a->heard;
	a->moved = false;
	return moved;
}

bool link_pull(struct link *link, unsigned int machine, int ms)
{
	struct attached *a = container_of(link, struct attached, link);

	wait_for_more(a, ms);
	hear(a);
	return !a->machines[machine].whole && a->c.fd >= 0;
}

unsigned int link_machines(const struct link *link)
{
	return container_of(link, struct attached, link)->nr;
}

const struct tape *link_tape(const struct link *link, unsigned int machine)
{
	return &container_of(link, struct attached, link)->machines[machine].tape;
}

const struct recording_info *link_info(const struct link *link, unsigned int machine)
{
	return &container_of(link, struct attached, link)->machines[machine].info;
}

bool link_is_cut(const struct link *link)
{
	const struct attached *a = container_of(link, struct attached, link);

	for (unsigned int i = 0; i < a->nr; i++)
		if (!a->machines[i].whole && a->c.fd < 0)
			return true;
	return false;
}

static bool is_ready(const struct attached *a)
{
	for (unsigned int i = 0; i < a->nr; i++)
		if (!a->machines[i].there)
			return false;
	return a->nr;
}

static void release(struct attached *a)
{
	connection_fini(&a->c);
	for (unsigned int i = 0; i < LINK_MACHINES; i++) {
		if (a->machines[i].there)
			tape_fini(&a->machines[i].tape);
		recording_info_fini(&a->machines[i].info);
	}
	free(a);
}

/* A connected socket, or -errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, ret = 0;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

int link_attach(const char *path, struct link **ret, struct fl_error *err)
{
	struct attached *a;
	int fd = connect_to(path);

	if (fd < 0)
		return fl_error_set(err, fd, path, 0,
				    "%s, expected the socket of 'foliolab run --serve'",
				    strerror(-fd));
	a = calloc(1, sizeof(*a));
	if (!a) {
		close(fd);
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	}
	a->link.turn = attached_turn;
	if (connection_init(&a->c, fd))
		for (int ms = 0; ms < HELLO_MS && a->c.fd >= 0 && !is_ready(a); ms += 50) {
			wait_for_more(a, 50);
			hear(a);
		}
	if (is_ready(a)) {
		*ret = &a->link;
		return 0;
	}
	fl_error_set(err, -EPROTO, path, 0,
		     "no answer that is understood, expected a 'foliolab run --serve' of the same "
		     "version and user");
	release(a);
	return -EPROTO;
}

void link_close(struct link *link)
{
	if (!link)
		return;
	if (link_is_server(link))
		link_stop(link);
	else
		release(container_of(link, struct attached, link));
}
