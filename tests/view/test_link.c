/*
 * view/test_link.c - one session, two views, over a real socket.
 *
 * Proves that who attaches gets every event and description of every machine, while they come and
 * afterwards; that moves go both ways and to all; that the socket is the owner's alone, is removed
 * at the end, and replaces only one that nobody listens on; that more clients than there is room
 * for are turned away and others stay; and that a server and a client survive whatever the other
 * side sends: random bytes, damaged messages, messages cut off, and a peer that never reads.
 */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/prng.h"
#include "view/link_internal.h"
#include "view/views.h"

#define PATH	  "session"
#define TURNS	  2000 /* at most, until something happens */
#define OTHER_UID 65534

static struct link_source sources[2];
static struct link_source *const both[] = {&sources[0], &sources[1]};

static struct link *serve(unsigned int nr)
{
	struct link *link = NULL;

	for (unsigned int i = 0; i < 2; i++)
		sources[i] = (struct link_source){views_tape(i), views_info(i), true};
	assert_int_equal(link_serve(PATH, both, nr, &link, NULL), 0);
	return link;
}

/* ---- somebody who attaches while the server takes its turns ---- */

struct attacher {
	pthread_t thread;
	struct link *link;
	int ret;
	bool done;
};

static void *attach(void *arg)
{
	struct attacher *a = arg;

	a->ret = link_attach(PATH, &a->link, NULL);
	__atomic_store_n(&a->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static struct link *attach_to(struct link *server, struct link_place *place)
{
	struct attacher a = {0};

	assert_int_equal(pthread_create(&a.thread, NULL, attach, &a), 0);
	while (!__atomic_load_n(&a.done, __ATOMIC_ACQUIRE)) {
		server->turn(server, place);
		usleep(200);
	}
	assert_int_equal(pthread_join(a.thread, NULL), 0);
	assert_int_equal(a.ret, 0);
	return a.link;
}

/* Until the client has all of the machine's events. */
static void pull_all(struct link *server, struct link_place *place, struct link *client,
		     unsigned int machine)
{
	for (int i = 0; i < TURNS && link_pull(client, machine, 0); i++)
		server->turn(server, place);
	assert_false(link_pull(client, machine, 0));
}

static void check_machine(const struct link *client, unsigned int i)
{
	const struct tape *want = views_tape(i), *have = link_tape(client, i);
	struct recording_info info = *link_info(client, i);

	assert_int_equal(have->events, want->events);
	assert_int_equal(have->slots, want->slots);
	assert_memory_equal(have->records, want->records, want->slots * sizeof(*want->records));
	assert_string_equal(info.workload, views_info(i)->workload);
	info.workload = views_info(i)->workload;
	assert_memory_equal(&info, views_info(i), sizeof(info));
}

static void test_all_machines_arrive(void **state)
{
	struct link_place place = {0};
	struct link *server = serve(2), *client = attach_to(server, &place);

	assert_int_equal(link_machines(client), 2);
	for (unsigned int i = 0; i < 2; i++) {
		pull_all(server, &place, client, i);
		check_machine(client, i);
	}
	assert_false(link_is_cut(client));
	link_close(server);
	assert_false(link_pull(client, 0, 0));
	assert_false(link_is_cut(client)); /* it had all */
	link_close(client);
}

static void test_events_arrive_while_they_come(void **state)
{
	struct link_place place = {0};
	struct link *server, *client;
	struct trace_event ev;
	struct tape growing;

	assert_int_equal(tape_init(&growing, 100000), 0);
	server = serve(1);
	sources[0] = (struct link_source){&growing, views_info(0), false};
	client = attach_to(server, &place);
	for (u64 i = 0; i < views_tape(0)->events; i++) {
		tape_get(views_tape(0), i, &ev);
		tape_add(&growing, &ev);
		if (i % 50)
			continue;
		server->turn(server, &place);
		assert_true(link_pull(client, 0, 0));
		assert_int_equal(link_tape(client, 0)->events, i + 1);
	}
	sources[0].whole = true;
	pull_all(server, &place, client, 0);
	check_machine(client, 0);
	link_close(client);
	link_close(server);
	tape_fini(&growing);
}

static void test_a_server_that_goes_is_noticed(void **state)
{
	struct link_place place = {0};
	struct link *server = serve(1), *client;

	sources[0].whole = false;
	client = attach_to(server, &place);
	link_close(server);
	for (int i = 0; i < TURNS && link_pull(client, 0, 0); i++)
		;
	assert_true(link_is_cut(client));
	link_close(client);
}

/* ---- moves ---- */

static bool hears(struct link *link, struct link_place *place, u64 pos, u32 lead)
{
	for (int i = 0; i < 3; i++)
		if (link->turn(link, place) && place->pos == pos && place->lead == lead)
			return true;
	return false;
}

static void test_moves_go_to_all(void **state)
{
	struct link_place at_server = {7, 0}, at_a = {0}, at_b = {0};
	struct link *server = serve(2), *a = attach_to(server, &at_server);
	struct link *b = attach_to(server, &at_server);

	assert_true(hears(a, &at_a, 7, 0));
	assert_true(hears(b, &at_b, 7, 0));

	at_server.pos = 100;
	assert_false(server->turn(server, &at_server));
	assert_true(hears(a, &at_a, 100, 0));
	assert_true(hears(b, &at_b, 100, 0));

	at_a = (struct link_place){55, 1};
	assert_false(a->turn(a, &at_a));
	assert_true(hears(server, &at_server, 55, 1));
	assert_true(hears(b, &at_b, 55, 1));
	assert_false(a->turn(a, &at_a)); /* nobody is told what he said himself */
	assert_int_equal(at_a.pos, 55);
	link_close(a);
	link_close(b);
	link_close(server);
}

/* ---- the socket ---- */

static int raw_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct sockaddr_un address(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = PATH};

	return addr;
}

static int raw_connect(void)
{
	struct sockaddr_un addr = address();
	int fd = raw_socket();

	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void test_the_socket_is_the_owners(void **state)
{
	struct link *server = serve(1), *other = NULL;
	struct fl_error err = {0};
	struct stat st;

	assert_int_equal(lstat(PATH, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(link_serve(PATH, both, 1, &other, &err), -EADDRINUSE);
	assert_null(other);
	link_close(server);
	assert_int_equal(lstat(PATH, &st), -1);
	assert_int_equal(link_attach(PATH, &other, &err), -ENOENT);
}

static void test_only_a_stale_socket_is_replaced(void **state)
{
	struct sockaddr_un addr = address();
	struct link *server = NULL;
	int fd = raw_socket();
	FILE *f;

	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	assert_int_equal(access(PATH, F_OK), 0);
	link_close(serve(1));
	assert_int_equal(access(PATH, F_OK), -1);

	f = fopen(PATH, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(link_serve(PATH, both, 1, &server, NULL), -EADDRINUSE);
	assert_int_equal(access(PATH, F_OK), 0);
	assert_int_equal(unlink(PATH), 0);
	assert_int_equal(link_serve("a/folder/that/is/not/there", both, 1, &server, NULL), -ENOENT);
}

/* What another user gets: exit status 0 if nothing. */
static int as_another_user(void)
{
	struct sockaddr_un addr = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return 2;
	return read(fd, &byte, 1) == 0 ? 0 : 1;
}

static void test_another_user_is_turned_away(void **state)
{
	struct link_place place = {0};
	struct link *server;
	int status = 0;
	pid_t pid;

	if (geteuid())
		skip_because("becoming another user needs root");
	server = serve(1);
	/* Even where the file would let him. */
	assert_int_equal(chmod(PATH, 0666), 0);
	assert_int_equal(chmod(".", 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(as_another_user());
	for (int i = 0; i < TURNS && !waitpid(pid, &status, WNOHANG); i++) {
		server->turn(server, &place);
		usleep(1000);
	}
	link_close(server);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_more_clients_than_there_is_room_for(void **state)
{
	struct link_place place = {0};
	struct link *server = serve(1), *client;
	int fds[LINK_CLIENTS];
	char byte;
	int late;

	for (int i = 0; i < LINK_CLIENTS; i++) {
		fds[i] = raw_connect();
		server->turn(server, &place);
	}
	late = raw_connect();
	server->turn(server, &place);
	assert_int_equal(read(late, &byte, 1), 0);
	close(late);
	for (int i = 0; i < LINK_CLIENTS; i++)
		close(fds[i]);
	for (int i = 0; i < 3; i++)
		server->turn(server, &place);
	client = attach_to(server, &place);
	pull_all(server, &place, client, 0);
	check_machine(client, 0);
	link_close(client);
	link_close(server);
}

/* ---- hostile clients ---- */

/* A message with a header that may lie. */
static size_t some_message(struct prng *p, u8 *buf, size_t size)
{
	static const u32 lengths[] = {0, 1, 7, 16, 1 << 20, (1 << 20) + 1, 0x7fffffff, 0xffffffff};
	u32 head[2] = {prng_below(p, 8),
		       prng_below(p, 2) ? prng_below(p, 64) : lengths[prng_below(p, 8)]};
	size_t n = 8 + prng_below(p, size - 8);

	for (size_t i = 0; i < n; i++)
		buf[i] = prng_below(p, 256);
	if (prng_below(p, 4))
		memcpy(buf, head, sizeof(head));
	return n;
}

static void test_a_server_survives_its_clients(void **state)
{
	struct link_place place = {0};
	struct link *server = serve(1), *client = attach_to(server, &place);
	struct prng p;
	u8 buf[200];

	prng_seed(&p, 5);
	for (unsigned long n = soak_count(20000); n; n--) {
		int fd = raw_connect();

		for (u64 i = prng_below(&p, 4); i; i--)
			if (send(fd, buf, some_message(&p, buf, sizeof(buf)), MSG_NOSIGNAL) < 0)
				break;
		server->turn(server, &place);
		close(fd);
		server->turn(server, &place);
		assert_true(place.lead < 1);
	}
	pull_all(server, &place, client, 0);
	check_machine(client, 0);
	link_close(client);
	link_close(server);
}

/* What is meant for him waits until he reads: no more of it than is allowed. */
static void test_a_client_that_never_reads_costs_little(void **state)
{
	struct link_place place = {0};
	struct link *server = serve(1), *client;
	int fd = raw_connect();

	for (int i = 0; i < 200; i++) {
		place.pos = i;
		server->turn(server, &place);
	}
	client = attach_to(server, &place);
	pull_all(server, &place, client, 0);
	check_machine(client, 0);
	close(fd);
	link_close(client);
	link_close(server);
}

/* ---- hostile servers ---- */

struct hostile {
	pthread_t thread;
	int fd; /* listens */
	const u8 *bytes;
	size_t len;
};

static void *answer(void *arg)
{
	struct hostile *h = arg;
	int fd = accept(h->fd, NULL, NULL);

	for (size_t sent = 0; fd >= 0 && sent < h->len;) {
		ssize_t n = send(fd, h->bytes + sent, h->len - sent, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += n;
	}
	close(fd);
	return NULL;
}

/* What the view would do with what it got. */
static void look(struct link *link)
{
	struct link_place place = {0};

	for (unsigned int i = 0; i < link_machines(link); i++) {
		struct scene s;

		while (link_pull(link, i, 100))
			;
		link->turn(link, &place);
		assert_true(place.lead < link_machines(link));
		if (scene_init(&s, link_tape(link, i), link_info(link, i)))
			continue;
		scene_goto(&s, ~0ull);
		scene_fini(&s);
	}
}

/* Attach to a server that sends just that. True if the view believed it. */
static bool attach_to_bytes(const u8 *bytes, size_t len)
{
	struct hostile h = {.bytes = bytes, .len = len, .fd = raw_socket()};
	struct sockaddr_un addr = address();
	struct link *link = NULL;
	struct fl_error err = {0};
	bool believed;

	unlink(PATH);
	assert_int_equal(bind(h.fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(h.fd, 1), 0);
	assert_int_equal(pthread_create(&h.thread, NULL, answer, &h), 0);
	believed = !link_attach(PATH, &link, &err);
	if (believed)
		look(link);
	else
		assert_true(*err.text);
	link_close(link);
	assert_int_equal(pthread_join(h.thread, NULL), 0);
	close(h.fd);
	unlink(PATH);
	return believed;
}

/* All that a server says to who only listens. */
static size_t true_bytes(u8 **ret)
{
	struct link_place place = {3, 0};
	struct link *server = serve(1);
	size_t len = 0, size = 1 << 20;
	u8 *bytes = malloc(size);
	int fd = raw_connect(), quiet = 0;

	assert_non_null(bytes);
	while (quiet < 3) {
		ssize_t n;

		server->turn(server, &place);
		n = recv(fd, bytes + len, size - len, MSG_DONTWAIT);
		quiet = n > 0 ? 0 : quiet + 1;
		len += n > 0 ? n : 0;
		assert_true(len < size);
	}
	close(fd);
	link_close(server);
	*ret = bytes;
	return len;
}

static void damage(struct prng *p, u8 *bytes, size_t len)
{
	/* Half of the hits are on headers and the description, where they hurt. */
	for (u64 n = 1 + prng_below(p, 6); n; n--) {
		size_t at = prng_below(p, prng_below(p, 2) ? len : min(len, (size_t)700));

		bytes[at] = prng_below(p, 2) ? (u8)prng_below(p, 256)
					     : (u8)(bytes[at] ^ 1 << prng_below(p, 8));
	}
}

static void test_a_client_survives_its_server(void **state)
{
	u8 *bytes, *bad;
	size_t len = true_bytes(&bytes);
	unsigned long believed = 0, refused = 0;
	struct prng p;

	assert_true(attach_to_bytes(bytes, len));
	bad = malloc(len);
	assert_non_null(bad);
	prng_seed(&p, 9);
	for (unsigned long n = soak_count(3000); n; n--) {
		size_t cut = prng_below(&p, 4) ? len : prng_below(&p, len);

		memcpy(bad, bytes, len);
		damage(&p, bad, len);
		if (attach_to_bytes(bad, cut))
			believed++;
		else
			refused++;
	}
	assert_true(believed && refused);
	for (unsigned long n = soak_count(1000); n; n--)
		assert_false(attach_to_bytes(bad, some_message(&p, bad, 200)));
	free(bad);
	free(bytes);
}

static int setup(void **state)
{
	views_record(0, "v6.12", "nvme", "read 4k 100; pread 4m 64k; pwrite 1m 100k");
	views_record(1, "v6.18", "nvme", "read 4k 100; pread 4m 64k; pwrite 1m 100k");
	return 0;
}

static int teardown(void **state)
{
	views_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_machines_arrive),
		cmocka_unit_test(test_events_arrive_while_they_come),
		cmocka_unit_test(test_a_server_that_goes_is_noticed),
		cmocka_unit_test(test_moves_go_to_all),
		cmocka_unit_test(test_the_socket_is_the_owners),
		cmocka_unit_test(test_only_a_stale_socket_is_replaced),
		cmocka_unit_test(test_another_user_is_turned_away),
		cmocka_unit_test(test_no_more_clients_than_there_is_room_for),
		cmocka_unit_test(test_a_server_survives_its_clients),
		cmocka_unit_test(test_a_client_that_never_reads_costs_little),
		cmocka_unit_test(test_a_client_survives_its_server),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
