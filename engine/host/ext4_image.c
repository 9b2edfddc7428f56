/*
 * The parent's side: starts the locked-in reader, asks it, believes nothing.
 */
#include "host/ext4_image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/ext4_image_check.h"
#include "host/ext4_image_wire.h"

#define ANSWER_MS 30000 /* the longest an answer may take */

struct ext4_image {
	char name[256];
	int fd;	  /* the image */
	int talk; /* to the child, -1 when it is gone */
	pid_t child;
	u64 size; /* bytes of the image */
	struct ext4_image_super super;
	u64 deadline_ms;		   /* of the answer under way */
	struct image_record head;	   /* of the record in @record */
	char record[IMAGE_RECORD_MAX + 1]; /* its bytes; a 0 behind them */
};

/* ---- errors ---- */

static int damaged(struct ext4_image *image, struct fl_error *err, const char *what)
{
	return fl_error_set(err, -EUCLEAN, image->name, 0, "damaged image: %s", what);
}

/* Why the child ended; the socket is closed already. */
static int child_ended(struct ext4_image *image, struct fl_error *err)
{
	int status = 0;

	close(image->talk);
	image->talk = -1;
	kill(image->child, SIGKILL); /* if it only closed its socket */
	while (waitpid(image->child, &status, 0) < 0 && errno == EINTR)
		;
	image->child = -1;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return damaged(image, err,
			       "reading it takes more than 10 s of processor time, "
			       "expected an end");
	if (WIFSIGNALED(status))
		return fl_error_set(err, -EUCLEAN, image->name, 0,
				    "damaged image: its reader was ended by signal %d (%s), "
				    "expected an answer",
				    WTERMSIG(status), strsignal(WTERMSIG(status)));
	return damaged(image, err, "its reader gave up, expected an answer");
}

static int too_slow(struct ext4_image *image, struct fl_error *err)
{
	kill(image->child, SIGKILL);
	child_ended(image, NULL);
	return damaged(image, err, "reading it takes more than 30 s, expected an end");
}

/* ERROR: the child says why. */
static int child_failed(struct ext4_image *image, const char *path, struct fl_error *err)
{
	struct image_error e;
	const char *text = image->record + sizeof(e);
	char name[sizeof(err->file)];

	if (image->head.len < sizeof(e))
		return damaged(image, err, "a broken answer, expected one with its reason");
	memcpy(&e, image->record, sizeof(e));
	snprintf(name, sizeof(name), "%.120s%s%.120s", image->name, path ? ":" : "",
		 path ? path : "");
	switch (e.failure) {
	case IMAGE_NOT_FOUND:
		return fl_error_set(err, -ENOENT, name, 0, "%.200s, expected a regular file", text);
	case IMAGE_NOT_A_FILE:
		return fl_error_set(err, -EISDIR, name, 0, "%.200s, expected a regular file", text);
	case IMAGE_TOO_MUCH:
		return fl_error_set(err, -E2BIG, name, 0, "%.200s, expected fewer", text);
	case IMAGE_NO_JAIL:
		return fl_error_set(err, -EPERM, image->name, 0,
				    "its reader cannot be locked in, expected seccomp and limits "
				    "on this host");
	default:
		return fl_error_set(err, -EUCLEAN, image->name, 0,
				    "damaged image: %.200s, expected a sound file system", text);
	}
}

/* ---- talking ---- */

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int receive(struct ext4_image *image, void *buf, size_t len, struct fl_error *err)
{
	char *p = buf;

	while (len) {
		struct pollfd pfd = {.fd = image->talk, .events = POLLIN};
		u64 now = now_ms();
		ssize_t n;

		if (now >= image->deadline_ms)
			return too_slow(image, err);
		if (poll(&pfd, 1, image->deadline_ms - now) <= 0)
			continue;
		n = recv(image->talk, p, len, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return child_ended(image, err);
		p += n;
		len -= n;
	}
	return 0;
}

/* The next record into @image->record. */
static int next_record(struct ext4_image *image, const char *path, struct fl_error *err)
{
	int ret = receive(image, &image->head, sizeof(image->head), err);

	if (ret)
		return ret;
	if (image->head.len > IMAGE_RECORD_MAX)
		return damaged(image, err, "a broken answer, expected a short record");
	ret = receive(image, image->record, image->head.len, err);
	if (ret)
		return ret;
	image->record[image->head.len] = 0;
	return image->head.type == IMAGE_ERROR ? child_failed(image, path, err) : 0;
}

/* Is the record one of @type with at least @len bytes? */
static bool record_is(const struct ext4_image *image, u32 type, size_t len)
{
	return image->head.type == type && image->head.len >= len;
}

static int broken_answer(struct ext4_image *image, struct fl_error *err)
{
	return damaged(image, err, "a broken answer, expected what was asked for");
}

/* Once an answer was broken nobody knows where the next one starts. */
static int ask(struct ext4_image *image, enum image_op op, const char *path, u32 max,
	       struct fl_error *err)
{
	struct image_request request = {.op = op, .path_len = strlen(path), .max = max};

	if (strlen(path) > IMAGE_PATH_MAX)
		return fl_error_set(err, -ENAMETOOLONG, image->name, 0,
				    "a path of %zu bytes, expected at most %u", strlen(path),
				    IMAGE_PATH_MAX);
	if (image->talk < 0)
		return damaged(image, err, "its reader has ended, expected an answer");
	image->deadline_ms = now_ms() + ANSWER_MS;
	if (send(image->talk, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request) ||
	    send(image->talk, path, request.path_len, MSG_NOSIGNAL) != request.path_len)
		return child_ended(image, err);
	return 0;
}

/* ---- opening ---- */

/* What is open as image->fd. */
static int check_readable(struct ext4_image *image, struct fl_error *err)
{
	const char *path = image->name;
	struct stat st;
	off_t size;

	if (fstat(image->fd, &st) || !(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)))
		return fl_error_set(err, -EINVAL, path, 0,
				    "not a regular file or block device, expected an ext4 image");
	size = lseek(image->fd, 0, SEEK_END);
	if (size < 0)
		return fl_error_set(err, -errno, path, 0, "%s, expected an ext4 image",
				    strerror(errno));
	image->size = size;
	return 0;
}

static int start_child(struct ext4_image *image, struct fl_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fl_error_set(err, -errno, image->name, 0, "%s", strerror(errno));
	image->child = fork();
	if (!image->child) {
		close(pair[0]);
		_exit(ext4_image_serve(image->fd, pair[1]));
	}
	close(pair[1]);
	image->talk = pair[0];
	if (image->child > 0)
		return 0;
	close(image->talk);
	image->talk = -1;
	return fl_error_set(err, -errno, image->name, 0, "%s, expected room for a process",
			    strerror(errno));
}

static int read_super(struct ext4_image *image, struct fl_error *err)
{
	const char *wrong;
	int ret;

	image->deadline_ms = now_ms() + ANSWER_MS;
	ret = next_record(image, NULL, err);
	if (ret)
		return ret;
	if (!record_is(image, IMAGE_SUPER, sizeof(image->super)))
		return broken_answer(image, err);
	memcpy(&image->super, image->record, sizeof(image->super));
	ret = next_record(image, NULL, err);
	if (ret)
		return ret;
	wrong = ext4_image_check_super(&image->super, image->size);
	return wrong ? damaged(image, err, wrong) : 0;
}

int ext4_image_open(const char *path, struct ext4_image **ret, struct fl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*ret = NULL;
	if (fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s, expected an ext4 image",
				    strerror(errno));
	return ext4_image_open_fd(path, fd, ret, err);
}

int ext4_image_open_fd(const char *name, int fd, struct ext4_image **ret, struct fl_error *err)
{
	struct ext4_image *image = calloc(1, sizeof(*image));
	int error;

	*ret = NULL;
	if (!image) {
		close(fd);
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	}
	snprintf(image->name, sizeof(image->name), "%s", name);
	image->fd = fd;
	image->talk = image->child = -1;
	error = check_readable(image, err);
	if (!error)
		error = start_child(image, err);
	if (!error)
		error = read_super(image, err);
	if (error) {
		ext4_image_close(image);
		return error;
	}
	*ret = image;
	return 0;
}

void ext4_image_close(struct ext4_image *image)
{
	if (!image)
		return;
	if (image->talk >= 0)
		child_ended(image, NULL);
	if (image->fd >= 0)
		close(image->fd);
	free(image);
}

const struct ext4_image_super *ext4_image_super(const struct ext4_image *image)
{
	return &image->super;
}

int ext4_image_fd(const struct ext4_image *image)
{
	return image->fd;
}

/* ---- one file ---- */

static int take_inode(struct ext4_image *image, struct ext4_image_inode *ret, struct fl_error *err)
{
	struct image_inode facts;

	if (!record_is(image, IMAGE_INODE, sizeof(facts)))
		return broken_answer(image, err);
	memcpy(&facts, image->record, sizeof(facts));
	*ret = (struct ext4_image_inode){
		.ino = facts.ino,
		.mode = facts.mode,
		.flags = facts.flags,
		.size = facts.size,
	};
	return facts.size > INT64_MAX ? damaged(image, err, "a size above 2^63-1, expected less")
				      : 0;
}

static int take_extents(struct ext4_image *image, struct ext4_image_inode *inode,
			struct fl_error *err)
{
	size_t nr = image->head.len / sizeof(struct image_extent);
	struct fs_extent *p;

	if (inode->nr_extents + nr > IMAGE_EXTENTS_MAX)
		return broken_answer(image, err);
	p = realloc(inode->extents, (inode->nr_extents + nr) * sizeof(*p) + 1);
	if (!p)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	inode->extents = p;
	for (size_t i = 0; i < nr; i++) {
		struct image_extent e;

		memcpy(&e, image->record + i * sizeof(e), sizeof(e));
		p[inode->nr_extents++] = (struct fs_extent){
			.lblk = e.lblk,
			.pblk = e.pblk,
			.len = e.len,
			.state = e.unwritten ? EXTENT_UNWRITTEN : EXTENT_WRITTEN,
		};
	}
	return 0;
}

static int take_inline(struct ext4_image *image, struct ext4_image_inode *inode,
		       struct fl_error *err)
{
	if (inode->inline_data)
		return broken_answer(image, err);
	inode->inline_data = malloc(image->head.len + 1);
	if (!inode->inline_data)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	memcpy(inode->inline_data, image->record, image->head.len);
	inode->inline_len = image->head.len;
	return 0;
}

/* What follows the inode, up to END. */
static int take_blocks(struct ext4_image *image, const char *path, struct ext4_image_inode *inode,
		       struct fl_error *err)
{
	int ret = next_record(image, path, err);

	while (!ret && !record_is(image, IMAGE_END, 0)) {
		if (record_is(image, IMAGE_EXTENTS, sizeof(struct image_extent)))
			ret = take_extents(image, inode, err);
		else if (record_is(image, IMAGE_INLINE, 0))
			ret = take_inline(image, inode, err);
		else
			ret = broken_answer(image, err);
		if (!ret)
			ret = next_record(image, path, err);
	}
	return ret;
}

int ext4_image_file(struct ext4_image *image, const char *path, struct ext4_image_inode *ret,
		    struct fl_error *err)
{
	const char *wrong;
	int error;

	memset(ret, 0, sizeof(*ret));
	error = ask(image, IMAGE_FILE, path, 0, err);
	if (!error)
		error = next_record(image, path, err);
	if (!error)
		error = take_inode(image, ret, err);
	if (!error)
		error = take_blocks(image, path, ret, err);
	if (!error) {
		wrong = ext4_image_check_inode(&image->super, ret);
		error = wrong ? damaged(image, err, wrong) : 0;
	}
	if (error)
		ext4_image_inode_fini(ret);
	return error;
}

void ext4_image_inode_fini(struct ext4_image_inode *inode)
{
	free(inode->extents);
	free(inode->inline_data);
	memset(inode, 0, sizeof(*inode));
}

/* ---- many files ---- */

static int add_entry(struct ext4_image *image, struct ext4_image_list *list, size_t max,
		     struct fl_error *err)
{
	struct image_inode facts;
	struct ext4_image_entry *p;

	if (!record_is(image, IMAGE_ENTRY, sizeof(facts)) || list->nr >= max)
		return broken_answer(image, err);
	memcpy(&facts, image->record, sizeof(facts));
	if (facts.size > INT64_MAX)
		return damaged(image, err, "a size above 2^63-1, expected less");
	if (!(list->nr & (list->nr - 1))) {
		p = realloc(list->entries, max_t(size_t, 2 * list->nr, 1) * sizeof(*p));
		if (!p)
			return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
		list->entries = p;
	}
	p = &list->entries[list->nr];
	*p = (struct ext4_image_entry){
		.path = strdup(image->record + sizeof(facts)),
		.ino = facts.ino,
		.mode = facts.mode,
		.flags = facts.flags,
		.size = facts.size,
	};
	if (!p->path)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	list->nr++;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct ext4_image_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int ext4_image_walk(struct ext4_image *image, const char *path, size_t max,
		    struct ext4_image_list *ret, struct fl_error *err)
{
	int error;
	u32 more = 0;

	memset(ret, 0, sizeof(*ret));
	max = min_t(size_t, max, IMAGE_ENTRIES_MAX);
	error = ask(image, IMAGE_WALK, path, max, err);
	if (!error)
		error = next_record(image, path, err);
	while (!error && !record_is(image, IMAGE_END, sizeof(more))) {
		error = add_entry(image, ret, max, err);
		if (!error)
			error = next_record(image, path, err);
	}
	if (error) {
		ext4_image_list_fini(ret);
		return error;
	}
	memcpy(&more, image->record, sizeof(more));
	ret->more = more;
	if (ret->nr)
		qsort(ret->entries, ret->nr, sizeof(*ret->entries), compare_entries);
	return 0;
}

void ext4_image_list_fini(struct ext4_image_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->entries[i].path);
	free(list->entries);
	memset(list, 0, sizeof(*list));
}

/* ---- names ---- */

const char *ext4_image_split(const char *word, char *image, size_t size)
{
	const char *colon = strchr(word, ':'), *first = colon;

	snprintf(image, size, "%s", word);
	if (!colon || !access(word, F_OK))
		return NULL;
	for (; colon; colon = strchr(colon + 1, ':')) {
		snprintf(image, size, "%.*s", (int)min_t(size_t, colon - word, size), word);
		if (!access(image, F_OK))
			return colon + 1;
	}
	snprintf(image, size, "%.*s", (int)min_t(size_t, first - word, size), word);
	return first + 1;
}
