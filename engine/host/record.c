#include "host/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cached.h"
#include "host/play.h"
#include "host/tracefs.h"
#include "trace/parse.h"

/* What is traced; the readahead events exist since v6.18. */
static const struct {
	const char *event;
	bool needed;
} traced[] = {
	{"filemap/mm_filemap_add_to_page_cache", true},
	{"filemap/mm_filemap_delete_from_page_cache", true},
	{"readahead/page_cache_sync_ra", false},
	{"readahead/page_cache_async_ra", false},
	{"readahead/page_cache_ra_order", false},
	{"readahead/page_cache_ra_unbounded", false},
};

/* One thing an operation caused. */
struct caused {
	char sign; /* + - # */
	u8 order;
	u64 index;
	char text[200]; /* of a tracepoint */
};

struct recorder {
	struct host_player player;
	struct host_tracefs trace;
	FILE *f;
	struct caused *caused; /* by the turn in hand */
	size_t nr, cap;
	int error;
	char idle[128]; /* an operation that caused nothing, and how often in a row */
	u64 idle_turns;
};

/* ---- listening ---- */

static struct caused *add_caused(struct recorder *r)
{
	if (r->nr == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 256;
		void *p = realloc(r->caused, cap * sizeof(*r->caused));

		if (!p) {
			r->error = -ENOMEM;
			return NULL;
		}
		r->caused = p;
		r->cap = cap;
	}
	return &r->caused[r->nr++];
}

static char sign_of(unsigned int id)
{
	switch (id) {
	case EV_mm_filemap_add_to_page_cache:
		return '+';
	case EV_mm_filemap_delete_from_page_cache:
		return '-';
	default:
		return '#';
	}
}

static void record_event(void *ctx, const char *line)
{
	struct recorder *r = ctx;
	struct trace_format fmt = {.page_shift = 12};
	struct trace_event ev;
	struct trace_line info;
	struct caused *c;
	const char *args;

	if (trace_parse_line(&fmt, line, &ev, &info) != 1)
		return;
	c = add_caused(r);
	if (!c)
		return;
	*c = (struct caused){.sign = sign_of(ev.id), .order = ev.order, .index = ev.index};
	args = strstr(info.args, "index=");
	if (c->sign == '#')
		snprintf(c->text, sizeof(c->text), "%s %s", trace_event_info(ev.id)->name,
			 args ? args : "");
}

/* ---- writing, with equal neighbours folded ---- */

static void write_idle(struct recorder *r)
{
	if (!r->idle_turns)
		return;
	fprintf(r->f, "> %s", r->idle);
	if (r->idle_turns > 1)
		fprintf(r->f, " x%" PRIu64, r->idle_turns);
	fputc('\n', r->f);
	r->idle_turns = 0;
}

/* Folios from @i on that continue each other. */
static size_t folded(const struct recorder *r, size_t i)
{
	const struct caused *c = &r->caused[i];
	size_t n = 1;

	while (i + n < r->nr && c[n].sign == c->sign && c[n].order == c->order &&
	       c[n].index == c->index + ((u64)n << c->order))
		n++;
	return n;
}

static void write_caused(struct recorder *r)
{
	for (size_t i = 0; i < r->nr;) {
		const struct caused *c = &r->caused[i];
		size_t n = c->sign == '#' ? 1 : folded(r, i);

		if (c->sign == '#')
			fprintf(r->f, "# %s\n", c->text);
		else if (n == 1)
			fprintf(r->f, "%c %" PRIu64 " %u\n", c->sign, c->index, c->order);
		else
			fprintf(r->f, "%c %" PRIu64 " %u x%zu\n", c->sign, c->index, c->order, n);
		i += n;
	}
}

static void write_turn(struct recorder *r, const char *op)
{
	if (r->idle_turns && (r->nr || strcmp(op, r->idle)))
		write_idle(r);
	if (!r->nr) {
		snprintf(r->idle, sizeof(r->idle), "%s", op);
		r->idle_turns++;
		return;
	}
	fprintf(r->f, "> %s\n", op);
	write_caused(r);
}

/* ---- one run ---- */

static int start_tracing(struct recorder *r, struct fl_error *err)
{
	const struct host_device *dev = &r->player.dev;
	const struct host_trace_filter filter = {.ino = dev->ino,
						 .dev = dev->major << 20 | dev->minor};
	int ret = host_tracefs_open(&r->trace, err);

	for (unsigned int i = 0; i < ARRAY_SIZE(traced) && !ret; i++) {
		ret = host_tracefs_enable(&r->trace, traced[i].event, &filter);
		if (ret && !traced[i].needed)
			ret = 0;
		if (ret)
			fl_error_set(err, ret, "tracefs", 0, "%s: %s, expected the event",
				     traced[i].event, strerror(-ret));
	}
	return ret;
}

static void write_header(struct recorder *r, const char *name)
{
	const struct host_device *dev = &r->player.dev;
	u64 ra_kb = dev->read_ahead_kb ? dev->read_ahead_kb : 128;
	u64 io_kb = dev->max_sectors_kb ? dev->max_sectors_kb : 1280;

	fprintf(r->f, "=== %s\nkernel %s\nfs %s\nfile host %" PRIu64 "\n", name, dev->release,
		dev->fs[0] ? dev->fs : "unknown", dev->size);
	fprintf(r->f, "ra_pages %" PRIu64 "\nio_pages %" PRIu64 "\n---\n", ra_kb / 4, io_kb / 4);
}

/* The operation as one turn of it reads. */
static void turn_text(const struct wl_op *op, u64 turn, char *buf, size_t size)
{
	struct wl_op single = *op;

	if (op->type != WL_FD)
		single.n = 1;
	if (op->type == WL_TOUCH) {
		single.off = op->off + (s64)turn * op->step;
		single.step = 0;
	}
	workload_format_op(&single, buf, size);
}

static int record_turn(struct recorder *r, const struct wl_op *op, u64 turn)
{
	char text[sizeof(r->idle)];
	int ret;

	r->nr = 0;
	host_player_op(&r->player, op, turn); /* a call may fail, as in the miniature */
	ret = host_tracefs_read(&r->trace, record_event, r);
	if (ret || r->error)
		return ret ? ret : r->error;
	turn_text(op, turn, text, sizeof(text));
	write_turn(r, text);
	return 0;
}

static int record_ops(struct recorder *r, const struct workload *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		const struct wl_op *op = &w->ops[i];
		u64 turns = workload_op_count(op);

		for (u64 turn = 0; turn < turns; turn++) {
			int ret = record_turn(r, op, turn);

			if (ret)
				return ret;
		}
	}
	write_idle(r);
	return 0;
}

static void write_states(struct recorder *r, const struct host_cached *cached)
{
	for (size_t i = 0; i < cached->nr; i++) {
		const struct host_folio *f = &cached->folios[i];
		unsigned int order = f->order;

		if (!(f->flags & HOST_FOLIO_UPTODATE))
			continue;
		if (f->nr < 1u << order)
			order = f->nr <= 1 ? 0 : ilog2(f->nr - 1) + 1;
		fprintf(r->f, "= %" PRIu64 " %u u%s%s%s%s\n", f->index, order,
			f->flags & HOST_FOLIO_DIRTY ? "d" : "",
			f->flags & HOST_FOLIO_REFERENCED ? "r" : "",
			f->flags & HOST_FOLIO_ACTIVE ? "a" : "",
			f->flags & HOST_FOLIO_MARK ? "m" : "");
	}
}

/* What is there at the end, after everything was closed. */
static int record_end(struct recorder *r, const char *path, struct fl_error *err)
{
	struct host_cached cached;
	int fd, ret;

	host_player_close(&r->player);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	ret = host_cached_read(fd, true, &cached, err);
	close(fd);
	if (ret)
		return ret;
	fprintf(r->f, "> end\n");
	write_states(r, &cached);
	host_cached_fini(&cached);
	return 0;
}

static int check_workload(const struct workload *w, struct fl_error *err)
{
	for (size_t i = 0; i < w->nr; i++)
		if (host_unsupported(w->ops[i].type))
			return fl_error_set(err, -EOPNOTSUPP, w->name, w->ops[i].line,
					    "%s: %s, expected operations that only read",
					    workload_op_name(w->ops[i].type),
					    host_unsupported(w->ops[i].type));
	return 0;
}

static int drop_all_caches(struct fl_error *err)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0 || write(fd, "3", 1) != 1)
		ret = fl_error_set(err, -errno, "--drop-caches", 0, "%s, expected root",
				   strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int record_all(struct recorder *r, const char *path, const struct workload *w,
		      const struct host_record_options *options, struct fl_error *err)
{
	int ret = start_tracing(r, err);

	if (!ret && options->drop_caches)
		ret = drop_all_caches(err);
	if (!ret)
		ret = host_player_drop(&r->player, err);
	if (ret)
		return ret;
	host_tracefs_read(&r->trace, record_event, r); /* what dropping the cache caused */
	write_header(r, options->name);
	ret = record_ops(r, w);
	if (!ret && r->trace.lost)
		return fl_error_set(err, -ENOBUFS, "tracefs", 0,
				    "%" PRIu64
				    " events were lost, expected none: a shorter workload",
				    r->trace.lost);
	return ret ? ret : record_end(r, path, err);
}

int host_record(const char *path, const struct workload *w,
		const struct host_record_options *options, char **text_ret, size_t *len_ret,
		struct fl_error *err)
{
	struct recorder r = {.trace = {.pipe = -1}};
	int ret = check_workload(w, err);

	*text_ret = NULL;
	if (ret)
		return ret;
	r.f = open_memstream(text_ret, len_ret);
	if (!r.f)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = host_player_open(&r.player, path, w, err);
	if (!ret)
		ret = record_all(&r, path, w, options, err);
	host_tracefs_close(&r.trace);
	host_player_close(&r.player);
	free(r.caused);
	if (fclose(r.f) && !ret)
		ret = -ENOMEM;
	if (ret) {
		free(*text_ret);
		*text_ret = NULL;
		if (err && !err->code)
			fl_error_set(err, ret, path, 0, "%s", strerror(-ret));
	}
	return ret;
}

int host_record_counts(const char *path, const struct workload *w, u64 **counts_ret,
		       struct fl_error *err)
{
	struct host_player player;
	int ret = check_workload(w, err);

	*counts_ret = NULL;
	if (!ret)
		ret = host_player_open(&player, path, w, err);
	if (ret)
		return ret;
	ret = host_cached_told(player.fds[0], err);
	*counts_ret = calloc(w->nr + 1, sizeof(**counts_ret));
	if (!*counts_ret)
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = host_player_drop(&player, err);
	for (size_t i = 0; i < w->nr && !ret; i++) {
		const struct wl_op *op = &w->ops[i];
		struct host_cached cached;

		for (u64 turn = 0; turn < workload_op_count(op); turn++)
			host_player_op(&player, op, turn);
		ret = host_cached_read(player.fds[player.current], false, &cached, err);
		if (!ret)
			(*counts_ret)[i] = cached.pages;
		host_cached_fini(&cached);
	}
	host_player_close(&player);
	if (ret) {
		free(*counts_ret);
		*counts_ret = NULL;
	}
	return ret;
}
