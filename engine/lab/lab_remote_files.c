/* Files a child asks for: those of the lab's folder and the one the command line named. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lab/lab_remote_internal.h"

/* A name in the lab's folder; of an image what comes behind the ':' is inside of it. */
static bool is_in_folder(const struct lab_remote *r, const char *path, bool is_image)
{
	size_t len = strlen(r->dir);
	const char *name = path + len + 1;
	size_t name_len;

	if (!r->config.dir || strncmp(path, r->dir, len) || path[len] != '/')
		return false;
	name_len = is_image ? strcspn(name, ":") : strlen(name);
	return name_len && *name != '.' && !memchr(name, '/', name_len);
}

static bool may_open(const struct lab_remote *r, const struct wire_open *w)
{
	const struct run_config *defaults = r->config.defaults;
	const char *named = NULL;

	if (defaults)
		named = w->is_image ? defaults->image : defaults->file;
	return (named && !strcmp(named, w->path)) || is_in_folder(r, w->path, w->is_image);
}

/* The answer's first part, with the descriptor if there is one. The child waits for it. */
static bool send_opened(struct lab_remote *r, const struct wire_opened *opened, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {(void *)opened, sizeof(*opened)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	n = sendmsg(r->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	return n > 0 && bytes_add(&r->out, (const char *)opened + n, sizeof(*opened) - n);
}

bool remote_open_file(struct lab_remote *r, const char *data, size_t len)
{
	struct wire_opened opened = {0};
	struct backing b = {.fd = -1};
	struct wire_open w;
	bool good;

	if (len != sizeof(w) || r->out.len)
		return false;
	memcpy(&w, data, sizeof(w));
	w.path[sizeof(w.path) - 1] = 0;
	if (!may_open(r, &w))
		opened.error = fl_error_set(&opened.err, -EACCES, w.path, 0,
					    "not in the lab's folder, expected a file there");
	else
		opened.error = backing_open(w.is_image ? NULL : w.path, w.is_image ? w.path : NULL,
					    &b, &opened.err);
	if (opened.error)
		return send_opened(r, &opened, -1);
	opened.is_image = b.is_image;
	opened.size = b.size;
	opened.super = b.super;
	opened.inode.ino = b.inode.ino;
	opened.inode.mode = b.inode.mode;
	opened.inode.flags = b.inode.flags;
	opened.inode.size = b.inode.size;
	opened.inode.nr_extents = b.inode.nr_extents;
	opened.inode.inline_len = b.inode.inline_data ? b.inode.inline_len : 0;
	good = send_opened(r, &opened, b.fd) &&
	       bytes_add(&r->out, b.inode.extents,
			 opened.inode.nr_extents * sizeof(struct fs_extent)) &&
	       bytes_add(&r->out, b.inode.inline_data, opened.inode.inline_len);
	backing_fini(&b);
	return good;
}
