#include "host/play.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Longest single read a run may ask for; the kernel cuts there, too. */
#define MAX_READ 0x7ffff000L

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static size_t longest_read(const struct workload *w)
{
	s64 len = 4096;

	for (size_t i = 0; i < w->nr; i++)
		if (w->ops[i].type == WL_READ || w->ops[i].type == WL_PREAD ||
		    w->ops[i].type == WL_SPLICE)
			len = max(len, w->ops[i].len);
	return min_t(s64, len, MAX_READ);
}

int host_player_open(struct host_player *p, const char *path, const struct workload *w,
		     struct fl_error *err)
{
	struct stat st;
	void *buf;

	*p = (struct host_player){.path = path, .fds = {-1, -1, -1, -1}};
	p->fds[0] = open_file(path);
	if (p->fds[0] < 0)
		return fl_error_set(err, p->fds[0], path, 0, "%s, expected a readable file",
				    strerror(-p->fds[0]));
	if (fstat(p->fds[0], &st) || !S_ISREG(st.st_mode)) {
		host_player_close(p);
		return fl_error_set(err, -EINVAL, path, 0, "not a regular file, expected one");
	}
	host_device_read(p->fds[0], &p->dev);
	p->buf_size = longest_read(w);
	buf = mmap(NULL, p->buf_size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (buf == MAP_FAILED) {
		host_player_close(p);
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	}
	p->buf = buf;
	return 0;
}

static void unmap(struct host_player *p)
{
	if (p->map)
		munmap(p->map, p->map_size);
	p->map = NULL;
}

void host_player_close(struct host_player *p)
{
	unmap(p);
	for (unsigned int i = 0; i < HOST_DESCRIPTORS; i++)
		if (p->fds[i] >= 0)
			close(p->fds[i]);
	if (p->buf)
		munmap(p->buf, p->buf_size);
	*p = (struct host_player){.fds = {-1, -1, -1, -1}};
}

/* Cached pages by mincore(2); -errno. */
static s64 cached_pages(int fd, u64 size)
{
	size_t page = sysconf(_SC_PAGESIZE), nr = (size + page - 1) / page;
	unsigned char vec[4096];
	s64 cached = 0;
	char *map = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : NULL;

	if (map == MAP_FAILED)
		return -errno;
	for (size_t at = 0; at < nr; at += sizeof(vec)) {
		size_t n = min(sizeof(vec), nr - at);

		if (mincore(map + at * page, n * page, vec))
			break;
		for (size_t i = 0; i < n; i++)
			cached += vec[i] & 1;
	}
	if (map)
		munmap(map, size);
	return cached;
}

int host_player_drop(struct host_player *p, struct fl_error *err)
{
	s64 left = 0;

	fsync(p->fds[0]);
	for (unsigned int i = 0; i < 10; i++) {
		host_device_wait_idle(&p->dev);
		posix_fadvise(p->fds[0], 0, 0, POSIX_FADV_DONTNEED);
		left = cached_pages(p->fds[0], p->dev.size);
		if (left <= 0)
			break;
	}
	if (left > 0)
		return fl_error_set(
			err, -EBUSY, p->path, 0,
			"%lld of its pages stay cached, expected a file nobody else uses",
			(long long)left);
	return left < 0 ? (int)left : 0;
}

static int play_read(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)turn;
	return read(p->fds[p->current], p->buf, min_t(u64, op->len, p->buf_size)) < 0 ? -errno : 0;
}

static int play_pread(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)turn;
	return pread(p->fds[p->current], p->buf, min_t(u64, op->len, p->buf_size), op->off) < 0
		       ? -errno
		       : 0;
}

static int play_seek(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)turn;
	return lseek(p->fds[p->current], op->off, SEEK_SET) < 0 ? -errno : 0;
}

static int use_descriptor(struct host_player *p, unsigned int nr)
{
	if (p->fds[nr] < 0)
		p->fds[nr] = open_file(p->path);
	if (p->fds[nr] < 0)
		return p->fds[nr];
	p->current = nr;
	return 0;
}

static int play_fd(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)turn;
	return use_descriptor(p, op->n % HOST_DESCRIPTORS);
}

static int play_reopen(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)op;
	(void)turn;
	close(p->fds[p->current]);
	p->fds[p->current] = -1;
	return use_descriptor(p, p->current);
}

static int play_fadvise(struct host_player *p, const struct wl_op *op, u64 turn)
{
	static const int advice[WL_NR_ADVICES] = {
		[WL_ADV_NORMAL] = POSIX_FADV_NORMAL,
		[WL_ADV_RANDOM] = POSIX_FADV_RANDOM,
		[WL_ADV_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
		[WL_ADV_WILLNEED] = POSIX_FADV_WILLNEED,
		[WL_ADV_DONTNEED] = POSIX_FADV_DONTNEED,
		[WL_ADV_NOREUSE] = POSIX_FADV_NOREUSE,
	};

	(void)turn;
	/* What is still being read would survive. */
	if (op->advice == WL_ADV_DONTNEED)
		host_device_wait_idle(&p->dev);
	return -posix_fadvise(p->fds[p->current], op->off, op->len, advice[op->advice]);
}

static int play_readahead(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)turn;
	return readahead(p->fds[p->current], op->off, op->len) < 0 ? -errno : 0;
}

static int play_mmap(struct host_player *p, const struct wl_op *op, u64 turn)
{
	void *map;

	(void)op;
	(void)turn;
	unmap(p);
	map = mmap(NULL, p->dev.size, PROT_READ, MAP_SHARED, p->fds[p->current], 0);
	if (map == MAP_FAILED)
		return -errno;
	p->map = map;
	p->map_size = p->dev.size;
	return 0;
}

static int play_munmap(struct host_player *p, const struct wl_op *op, u64 turn)
{
	(void)op;
	(void)turn;
	unmap(p);
	return 0;
}

static int play_madvise(struct host_player *p, const struct wl_op *op, u64 turn)
{
	static const int advice[WL_NR_ADVICES] = {
		[WL_ADV_NORMAL] = MADV_NORMAL,
		[WL_ADV_RANDOM] = MADV_RANDOM,
		[WL_ADV_SEQUENTIAL] = MADV_SEQUENTIAL,
		[WL_ADV_WILLNEED] = MADV_WILLNEED,
		[WL_ADV_DONTNEED] = MADV_DONTNEED,
		[WL_ADV_HUGEPAGE] = MADV_HUGEPAGE,
		[WL_ADV_NOHUGEPAGE] = MADV_NOHUGEPAGE,
		[WL_ADV_POPULATE_READ] = 22,
		[WL_ADV_COLD] = 20,
		[WL_ADV_PAGEOUT] = 21,
	};

	(void)turn;
	if (!p->map || op->advice == WL_ADV_POPULATE_WRITE)
		return -EINVAL;
	return madvise(p->map, p->map_size, advice[op->advice]) ? -errno : 0;
}

static int play_touch(struct host_player *p, const struct wl_op *op, u64 turn)
{
	s64 at = op->off + (s64)turn * op->step;

	if (!p->map || at < 0 || (size_t)at >= p->map_size)
		return -EFAULT;
	*(volatile char *)p->buf = *(volatile char *)(p->map + at);
	return 0;
}

static const struct {
	int (*play)(struct host_player *p, const struct wl_op *op, u64 turn);
	bool io; /* may start reading: wait for it */
} players[WL_NR_OPS] = {
	[WL_READ] = {play_read, true},		 [WL_PREAD] = {play_pread, true},
	[WL_SEEK] = {play_seek, false},		 [WL_FD] = {play_fd, false},
	[WL_REOPEN] = {play_reopen, false},	 [WL_FADVISE] = {play_fadvise, true},
	[WL_READAHEAD] = {play_readahead, true}, [WL_MMAP] = {play_mmap, false},
	[WL_MUNMAP] = {play_munmap, false},	 [WL_MADVISE] = {play_madvise, true},
	[WL_TOUCH] = {play_touch, true},
};

const char *host_unsupported(enum wl_op_type type)
{
	return players[type].play ? NULL
				  : "it would write to the file or is not a system call here";
}

int host_player_op(struct host_player *p, const struct wl_op *op, u64 turn)
{
	int ret;

	if (!players[op->type].play)
		return -EOPNOTSUPP;
	ret = players[op->type].play(p, op, turn);
	if (players[op->type].io && !p->no_wait)
		host_device_wait_idle(&p->dev);
	return ret;
}
