#include "host/cached.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Documentation/admin-guide/mm/pagemap.rst */
#define PM_PRESENT  (1ULL << 63)
#define PM_PFN_MASK ((1ULL << 55) - 1)

enum kpf {
	KPF_REFERENCED = 2,
	KPF_UPTODATE = 3,
	KPF_DIRTY = 4,
	KPF_ACTIVE = 6,
	KPF_WRITEBACK = 8,
	KPF_RECLAIM = 9,
	KPF_COMPOUND_HEAD = 15,
	KPF_COMPOUND_TAIL = 16
};

#define NR_CACHESTAT 451

/* Pages looked at in one go. */
#define BATCH 4096u

struct looker {
	int pagemap, kpageflags;
	char *map;
	size_t bytes;
	u64 page_size;
	struct host_cached *out;
	size_t cap;
};

static bool flag(u64 flags, enum kpf bit)
{
	return flags >> bit & 1;
}

static u8 our_flags(u64 f)
{
	static const struct {
		enum kpf kpf;
		u8 ours;
	} table[] = {
		{KPF_UPTODATE, HOST_FOLIO_UPTODATE},	 {KPF_DIRTY, HOST_FOLIO_DIRTY},
		{KPF_REFERENCED, HOST_FOLIO_REFERENCED}, {KPF_ACTIVE, HOST_FOLIO_ACTIVE},
		{KPF_WRITEBACK, HOST_FOLIO_WRITEBACK},
	};
	u8 ours = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (flag(f, table[i].kpf))
			ours |= table[i].ours;
	/* One bit with two meanings: only without writeback is it the readahead mark. */
	if (flag(f, KPF_RECLAIM) && !flag(f, KPF_WRITEBACK))
		ours |= HOST_FOLIO_MARK;
	return ours;
}

static int add_folio(struct looker *l, struct host_folio f)
{
	struct host_cached *out = l->out;

	if (out->nr == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 1024;
		void *p = realloc(out->folios, cap * sizeof(f));

		if (!p)
			return -ENOMEM;
		out->folios = p;
		l->cap = cap;
	}
	out->folios[out->nr++] = f;
	return 0;
}

static u64 count_tails(const struct looker *l, u64 pfn)
{
	u64 flags[512], total = 0, n;

	do {
		ssize_t got = pread(l->kpageflags, flags, sizeof(flags), (pfn + 1 + total) * 8);

		if (got <= 0)
			return total;
		for (n = 0; n < (u64)got / 8 && flag(flags[n], KPF_COMPOUND_TAIL); n++)
			;
		total += n;
	} while (n == ARRAY_SIZE(flags));
	return total;
}

/* The folio over a page frame: its head's flags, and its order from the tails behind the head. */
static int look_at_frame(const struct looker *l, u64 pfn, u64 *flags, u8 *order)
{
	do {
		if (pread(l->kpageflags, flags, 8, pfn * 8) != 8)
			return -EPERM;
	} while (flag(*flags, KPF_COMPOUND_TAIL) && pfn--);
	*order = flag(*flags, KPF_COMPOUND_HEAD) ? ilog2(count_tails(l, pfn) + 1) : 0;
	return 0;
}

/* A page without a frame we may see: its folio's size is unknown. */
static int look_at_page(struct looker *l, u64 index, u64 nr_pages, u64 *next)
{
	struct host_folio f = {.index = index, .nr = 1};
	u64 entry = 0, flags, folio_start;
	int ret;

	*next = index + 1;
	if (l->out->exact) {
		volatile char c = l->map[index * l->page_size];
		u64 vpn = (uintptr_t)l->map / l->page_size + index;

		(void)c;
		if (pread(l->pagemap, &entry, 8, vpn * 8) != 8 || !(entry & PM_PRESENT))
			return 0; /* gone meanwhile */
		if (!(entry & PM_PFN_MASK))
			return -EPERM;
		ret = look_at_frame(l, entry & PM_PFN_MASK, &flags, &f.order);
		if (ret)
			return ret;
		folio_start = index & ~((1ULL << f.order) - 1);
		f.flags = our_flags(flags);
		*next = folio_start + (1ULL << f.order);
		f.nr = min(*next, nr_pages) - index;
	}
	l->out->pages += f.nr;
	return add_folio(l, f);
}

static int look_at_pages(struct looker *l)
{
	u64 nr_pages = (l->bytes + l->page_size - 1) / l->page_size, index = 0;
	unsigned char vec[BATCH];
	int ret = 0;

	for (u64 at = 0; at < nr_pages && !ret; at += BATCH) {
		u64 n = min_t(u64, BATCH, nr_pages - at);

		if (mincore(l->map + at * l->page_size, n * l->page_size, vec))
			return -errno;
		for (index = max(index, at); index < at + n && !ret;) {
			if (vec[index - at] & 1)
				ret = look_at_page(l, index, nr_pages, &index);
			else
				index++;
		}
	}
	return ret;
}

static void ask_cachestat(int fd, struct host_cached *cached)
{
	struct {
		u64 off, len;
	} range = {0, 0};
	struct {
		u64 cache, dirty, writeback, evicted, recently_evicted;
	} cs;

	if (syscall(NR_CACHESTAT, fd, &range, &cs, 0))
		return;
	cached->dirty = cs.dirty;
	cached->writeback = cs.writeback;
}

/* With rights: frames and flags of pages; 0 in them without. */
static bool open_proc(struct looker *l)
{
	u64 probe;

	l->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	l->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	return l->pagemap >= 0 && l->kpageflags >= 0 && pread(l->kpageflags, &probe, 8, 8) == 8;
}

static int map_file(struct looker *l, int fd)
{
	void *p = mmap(NULL, l->bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	l->map = p;
	return madvise(p, l->bytes, MADV_RANDOM) ? -errno : 0;
}

static void looker_fini(struct looker *l)
{
	if (l->map)
		munmap(l->map, l->bytes);
	if (l->pagemap >= 0)
		close(l->pagemap);
	if (l->kpageflags >= 0)
		close(l->kpageflags);
}

/* mm/mincore.c can_do_mincore(): the owner, or who may write. */
int host_cached_told(int fd, struct fl_error *err)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!geteuid() || (!fstat(fd, &st) && st.st_uid == geteuid()) ||
	    !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return 0;
	return fl_error_set(
		err, -EPERM, "mincore", 0,
		"the kernel does not say what is cached of somebody else's file, expected "
		"one that you own or may write to");
}

int host_cached_read(int fd, bool need_exact, struct host_cached *cached, struct fl_error *err)
{
	struct looker l = {
		.pagemap = -1, .kpageflags = -1, .out = cached, .page_size = sysconf(_SC_PAGESIZE)};
	struct stat st;
	int ret;

	memset(cached, 0, sizeof(*cached));
	if (fstat(fd, &st))
		return fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno));
	l.bytes = st.st_size;
	cached->exact = open_proc(&l);
	ask_cachestat(fd, cached);
	if (need_exact && !cached->exact) {
		looker_fini(&l);
		return fl_error_set(err, -EPERM, "/proc/kpageflags", 0,
				    "folio orders cannot be told, expected root (CAP_SYS_ADMIN)");
	}
	ret = cached->exact ? 0 : host_cached_told(fd, err);
	if (ret) {
		looker_fini(&l);
		return ret;
	}
	ret = l.bytes ? map_file(&l, fd) : 0;
	if (!ret && l.bytes)
		ret = look_at_pages(&l);
	looker_fini(&l);
	if (ret) {
		host_cached_fini(cached);
		return fl_error_set(err, ret, NULL, 0, "looking at the page cache: %s",
				    strerror(-ret));
	}
	return 0;
}

void host_cached_fini(struct host_cached *cached)
{
	free(cached->folios);
	memset(cached, 0, sizeof(*cached));
}
