#include "lab/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory the decoder may take: the xz format allows dictionaries of 1.5 GiB. */
#define LZMA_MEMORY_LIMIT (256ULL << 20)

struct buffer {
	char *p;
	size_t len, cap, limit;
};

static int buffer_room(struct buffer *b)
{
	size_t cap = b->cap ? 2 * b->cap : 65536;
	char *p;

	if (b->cap - b->len > 1)
		return 0;
	if (b->cap > b->limit)
		return -EFBIG;
	p = realloc(b->p, cap);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

static int read_plain(int fd, struct buffer *b)
{
	for (;;) {
		int ret = buffer_room(b);
		ssize_t n;

		if (ret)
			return ret;
		n = read(fd, b->p + b->len, b->cap - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		b->len += n;
	}
}

static int unpack_xz(const struct buffer *in, struct buffer *out)
{
	lzma_stream strm = LZMA_STREAM_INIT;
	lzma_ret lret = lzma_stream_decoder(&strm, LZMA_MEMORY_LIMIT, LZMA_CONCATENATED);
	int ret = 0;

	strm.next_in = (const u8 *)in->p;
	strm.avail_in = in->len;
	while (lret == LZMA_OK && !ret) {
		ret = buffer_room(out);
		if (ret)
			break;
		strm.next_out = (u8 *)out->p + out->len;
		strm.avail_out = out->cap - out->len - 1;
		lret = lzma_code(&strm, LZMA_FINISH);
		out->len = (char *)strm.next_out - out->p;
	}
	lzma_end(&strm);
	if (!ret && lret != LZMA_STREAM_END)
		ret = lret == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	return ret;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;
	struct stat st;

	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st)	    ? -errno
	      : S_ISDIR(st.st_mode) ? -EISDIR
	      : S_ISREG(st.st_mode) ? 0
				    : -EINVAL;
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

static int explain(int code, const char *path, size_t limit, struct fl_error *err)
{
	if (code == -EBADMSG)
		return fl_error_set(err, code, path, 0,
				    "truncated or damaged, expected a whole .xz file");
	if (code == -EFBIG)
		return fl_error_set(err, code, path, 0,
				    "too large, expected at most %zu bytes of text", limit);
	if (code == -EINVAL)
		return fl_error_set(err, code, path, 0, "not a regular file, expected one");
	return fl_error_set(err, code, path, 0, "%s, expected a readable file", strerror(-code));
}

int textfile_read(const char *path, size_t limit, char **text_ret, size_t *len_ret,
		  struct fl_error *err)
{
	static const char xz_magic[6] = {(char)0xfd, '7', 'z', 'X', 'Z', 0};
	struct buffer raw = {.limit = limit}, text = {.limit = limit};
	int fd = open_regular(path), ret;

	*text_ret = NULL;
	*len_ret = 0;
	if (fd < 0)
		return explain(fd, path, limit, err);
	ret = read_plain(fd, &raw);
	close(fd);
	if (!ret && raw.len >= sizeof(xz_magic) && !memcmp(raw.p, xz_magic, sizeof(xz_magic))) {
		ret = unpack_xz(&raw, &text);
		free(raw.p);
		raw = text;
	}
	if (ret) {
		free(raw.p);
		return explain(ret, path, limit, err);
	}
	raw.p[raw.len] = 0;
	*text_ret = raw.p;
	*len_ret = raw.len;
	return 0;
}
