/*
 * Playing recordings and comparing what happens, folio by folio.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/golden.h"
#include "lab/run.h"
#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"
#include "trace/format.h"

/* One thing that happened: a folio came or went, a tracepoint fired, a folio is there. */
struct fact {
	char sign; /* + - # = */
	u8 order;
	u8 flags;
	u64 index;
	const char *text; /* tracepoint: its text up to the newline; ours are in texts */
	size_t len;
};

struct facts {
	struct fact *v;
	size_t nr, cap;
};

struct player {
	struct trace_sink sink;
	const struct golden_run *golden;
	struct run *run;
	bool tracepoints;
	bool end_only; /* tmpfs has no '+' tracepoint: only the final state counts */
	struct facts want, got;
	char *texts; /* storage for our tracepoint texts of one operation */
	size_t texts_len;
	int error;
};

#define TEXTS_SIZE (1u << 20)

static void add_fact(struct player *p, struct facts *facts, struct fact f)
{
	if (facts->nr == facts->cap) {
		size_t cap = facts->cap ? 2 * facts->cap : 256;
		struct fact *v = realloc(facts->v, cap * sizeof(*v));

		if (!v) {
			p->error = -ENOMEM;
			return;
		}
		facts->v = v;
		facts->cap = cap;
	}
	facts->v[facts->nr++] = f;
}

static void got_tracepoint(struct player *p, const struct trace_event *ev)
{
	const struct trace_format fmt = {.page_shift = 12};
	char text[256], *args, *dst = p->texts + p->texts_len;
	const char *name = trace_event_info(ev->id)->name;
	size_t len;

	trace_format_event(&fmt, ev, text, sizeof(text));
	args = strstr(text, "index=");
	len = strlen(name) + 1 + strlen(args);
	if (p->texts_len + len + 1 > TEXTS_SIZE)
		return;
	sprintf(dst, "%s %s", name, args);
	p->texts_len += len + 1;
	add_fact(p, &p->got, (struct fact){.sign = '#', .text = dst, .len = len});
}

static void player_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct player *p = container_of(sink, struct player, sink);
	struct fact f = {.order = ev->order, .index = ev->index};

	switch (ev->id) {
	case EV_mm_filemap_add_to_page_cache:
		f.sign = '+';
		break;
	case EV_mm_filemap_delete_from_page_cache:
		f.sign = '-';
		break;
	case EV_page_cache_sync_ra:
	case EV_page_cache_async_ra:
	case EV_page_cache_ra_order:
	case EV_page_cache_ra_unbounded:
		if (p->tracepoints)
			got_tracepoint(p, ev);
		return;
	default:
		return;
	}
	add_fact(p, &p->got, f);
}

/* ---- what the recording wants ---- */

static void want_trace(struct player *p, const struct golden_change *c)
{
	const char *text = p->golden->traces[c->index];

	if (p->tracepoints)
		add_fact(p, &p->want,
			 (struct fact){.sign = '#', .text = text, .len = strcspn(text, "\n")});
}

static void want_changes(struct player *p, const struct golden_op *op)
{
	for (size_t i = 0; i < op->nr_changes; i++) {
		const struct golden_change *c = &p->golden->changes[op->first_change + i];

		if (c->sign == '#')
			want_trace(p, c);
		for (u32 n = 0; n < c->count; n++)
			add_fact(p, &p->want,
				 (struct fact){.sign = c->sign,
					       .order = c->order,
					       .index = c->index + ((u64)n << c->order)});
	}
}

static void want_states(struct player *p)
{
	for (size_t i = 0; i < p->golden->nr_states; i++) {
		const struct golden_state *s = &p->golden->states[i];

		for (u32 n = 0; n < s->count; n++)
			add_fact(p, &p->want,
				 (struct fact){.sign = '=',
					       .order = s->order,
					       .flags = s->flags,
					       .index = s->index + ((u64)n << s->order)});
	}
}

/* ---- what is there at the end ---- */

/* Pages past the end of the file are not listed: the folio shows what is inside. */
static u8 visible_order(const struct folio *folio, pgoff_t end)
{
	u64 inside = end - folio->index;

	if (inside >= folio_nr_pages(folio))
		return folio->_order;
	return inside <= 1 ? 0 : ilog2(inside - 1) + 1;
}

static void got_states(struct player *p)
{
	struct inode *inode = p->run->inode;
	pgoff_t end = (inode->i_size + 4095) >> 12;
	XA_STATE(xas, &inode->i_mapping->i_pages, 0);
	struct folio *folio;

	xas_for_each(&xas, folio, ~0UL) {
		if (xa_is_value(folio) || !folio_test_uptodate(folio) || folio->index >= end)
			continue;
		add_fact(p, &p->got,
			 (struct fact){.sign = '=',
				       .index = folio->index,
				       .order = visible_order(folio, end),
				       .flags = GOLDEN_UPTODATE |
						(folio_test_dirty(folio) ? GOLDEN_DIRTY : 0) |
						(folio_test_readahead(folio) ? GOLDEN_MARK : 0)});
	}
}

/* ---- comparing ---- */

static int compare_index(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* What was added matches in order, what was removed as a set: '-' goes to the end, sorted. */
static int normalise(struct facts *facts)
{
	size_t kept = 0, removed = 0;
	struct fact *minus;

	for (size_t i = 0; i < facts->nr; i++)
		removed += facts->v[i].sign == '-';
	if (!removed)
		return 0;
	minus = malloc(removed * sizeof(*minus));
	if (!minus)
		return -ENOMEM;
	removed = 0;
	for (size_t i = 0; i < facts->nr; i++)
		if (facts->v[i].sign == '-')
			minus[removed++] = facts->v[i];
		else
			facts->v[kept++] = facts->v[i];
	qsort(minus, removed, sizeof(*minus), compare_index);
	memcpy(facts->v + kept, minus, removed * sizeof(*minus));
	free(minus);
	return 0;
}

static bool same_fact(const struct fact *a, const struct fact *b)
{
	if (a->sign != b->sign || a->index != b->index || a->order != b->order ||
	    a->flags != b->flags || a->len != b->len)
		return false;
	return !a->len || !memcmp(a->text, b->text, a->len);
}

static bool same_facts(struct facts *a, struct facts *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!same_fact(&a->v[i], &b->v[i]))
			return false;
	return true;
}

/* The recording's own notation, equal neighbours folded, at most a screenful. */
static char *facts_text(const struct facts *facts)
{
	char *text = NULL;
	size_t len, lines = 0, i = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	while (i < facts->nr && lines++ < 24) {
		const struct fact *a = &facts->v[i];
		size_t n = 1;

		while (i + n < facts->nr && a->sign != '#' && facts->v[i + n].sign == a->sign &&
		       facts->v[i + n].order == a->order && facts->v[i + n].flags == a->flags &&
		       facts->v[i + n].index == a->index + ((u64)n << a->order))
			n++;
		if (a->sign == '#')
			fprintf(f, "# %.*s", (int)a->len, a->text);
		else
			fprintf(f, "%c %" PRIu64 " %u", a->sign, a->index, a->order);
		if (a->sign == '=')
			fprintf(f, " %s%s%s", a->flags & GOLDEN_UPTODATE ? "u" : "",
				a->flags & GOLDEN_DIRTY ? "d" : "",
				a->flags & GOLDEN_MARK ? "m" : "");
		if (n > 1)
			fprintf(f, " x%zu", n);
		fputc('\n', f);
		i += n;
	}
	if (i < facts->nr)
		fprintf(f, "... %zu more\n", facts->nr - i);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static void describe_window(const struct run *run, char *buf, size_t size)
{
	const struct file_ra_state *ra = &run_file(run)->f_ra;

	snprintf(
		buf, size,
		"start=%lu size=%u async_size=%u ra_pages=%u order=%u mmap_miss=%u prev_pos=%" PRId64,
		ra->start, ra->size, ra->async_size, ra->ra_pages, ra->order, ra->mmap_miss,
		(s64)ra->prev_pos);
}

static void differ(struct player *p, const struct golden_op *op, struct golden_result *result)
{
	result->verdict = GOLDEN_DIFFERENT;
	result->line = op ? op->op.line : p->golden->line;
	if (op)
		workload_format_op(&op->op, result->op, sizeof(result->op));
	else
		snprintf(result->op, sizeof(result->op), "end");
	result->expected = facts_text(&p->want);
	result->got = facts_text(&p->got);
	if (op)
		describe_window(p->run, result->window, sizeof(result->window));
}

/* ---- playing ---- */

static int play_one(struct player *p, const struct golden_op *op, struct fl_error *err)
{
	int ret = 0;

	p->want.nr = p->got.nr = p->texts_len = 0;
	for (u64 n = 0; n < op->repeat && !ret; n++)
		ret = run_op(p->run, &op->op, err);
	blk_drain(p->run->machine);
	want_changes(p, op);
	if (!ret)
		ret = normalise(&p->want);
	if (!ret)
		ret = normalise(&p->got);
	return ret ? ret : p->error;
}

static int play_ops(struct player *p, struct golden_result *result, struct fl_error *err)
{
	for (size_t i = 0; i < p->golden->nr_ops; i++) {
		int ret = play_one(p, &p->golden->ops[i], err);

		if (ret)
			return ret;
		if (!p->end_only && !same_facts(&p->want, &p->got)) {
			differ(p, &p->golden->ops[i], result);
			return 0;
		}
	}
	return 0;
}

static int compare_end(struct player *p, struct golden_result *result)
{
	if (p->run->vma)
		do_munmap(p->run->vma);
	p->run->vma = NULL;
	p->want.nr = p->got.nr = 0;
	want_states(p);
	describe_window(p->run, result->window, sizeof(result->window));
	run_close_descriptors(p->run);
	p->got.nr = 0;
	got_states(p);
	if (!p->error && !same_facts(&p->want, &p->got))
		differ(p, NULL, result);
	return p->error;
}

/* ---- files that stay ---- */

struct golden_file {
	struct golden_file *next;
	char kernel[64], fs[32], name[32];
	struct fs_extent *extents;
	unsigned int nr;
};

void golden_files_fini(struct golden_files *files)
{
	while (files->first) {
		struct golden_file *f = files->first;

		files->first = f->next;
		free(f->extents);
		free(f);
	}
}

static struct golden_file *find_file(const struct golden_files *files,
				     const struct golden_run *golden)
{
	for (struct golden_file *f = files->first; f; f = f->next)
		if (!strcmp(f->kernel, golden->kernel) && !strcmp(f->fs, golden->fs) &&
		    !strcmp(f->name, golden->file))
			return f;
	return NULL;
}

static struct golden_file *make_file(struct golden_files *files, const struct golden_run *golden)
{
	struct golden_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	snprintf(f->kernel, sizeof(f->kernel), "%s", golden->kernel);
	snprintf(f->fs, sizeof(f->fs), "%s", golden->fs);
	snprintf(f->name, sizeof(f->name), "%s", golden->file);
	f->next = files->first;
	files->first = f;
	return f;
}

/* The next run begins with sync, so everything has its place by then. "new" is made anew. */
static int keep_file(struct golden_files *files, struct player *p)
{
	struct golden_file *f = find_file(files, p->golden);
	const struct inode *inode = p->run->inode;
	struct fs_extent *copy;

	if (!strcmp(p->golden->file, "new"))
		return 0;
	if (!f)
		f = make_file(files, p->golden);
	filemap_write_and_wait_range(inode->i_mapping, 0, INT64_MAX);
	copy = malloc((inode->i_nr_extents + 1) * sizeof(*copy));
	if (!f || !copy) {
		free(copy);
		return -ENOMEM;
	}
	if (inode->i_nr_extents)
		memcpy(copy, inode->i_extents, inode->i_nr_extents * sizeof(*copy));
	free(f->extents);
	f->extents = copy;
	f->nr = inode->i_nr_extents;
	return 0;
}

static const char *skip_reason(const struct golden_run *golden)
{
	if (!file_system_type(golden->fs))
		return "unknown file system";
	for (size_t i = 0; i < golden->nr_ops; i++) {
		const char *reason = run_unsupported(NULL, golden->ops[i].op.type);

		if (reason)
			return reason;
	}
	return NULL;
}

static int open_player(struct player *p, const struct golden_run *golden,
		       const struct golden_files *files, const char *knobs, struct fl_error *err)
{
	const struct golden_file *file = find_file(files, golden);
	const char *profile =
		golden->profile[0] ? golden->profile : profile_of_release(golden->kernel);
	struct run_config config;
	char kernel[128];
	int ret;

	if (!profile)
		return fl_error_set(err, -EINVAL, NULL, golden->line,
				    "kernel %s, expected one with a profile", golden->kernel);
	snprintf(kernel, sizeof(kernel), "%s%s", profile, knobs);
	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 3ULL << 30;
	config.fs = golden->fs;
	p->end_only = !strncmp(golden->fs, "tmpfs", 5);
	config.disk = p->end_only ? NULL : "ram";
	/* "new" is created empty; some headers give the size it reaches. */
	config.size = strcmp(golden->file, "new") ? golden->size : 0;
	config.written = strcmp(golden->file, "sparse");
	if (file) {
		config.extents = file->extents;
		config.nr_extents = file->nr;
	}
	config.ra_bytes = golden->ra_pages << 12;
	config.io_bytes = golden->io_pages << 12;
	ret = run_open(&config, &p->run, err);
	if (ret)
		return ret;
	p->sink.event = player_event;
	p->tracepoints = p->tracepoints && knob(p->run->machine, RA_TRACE);
	trace_add_sink(&p->run->machine->trace, &p->sink);
	return 0;
}

int golden_play(const struct golden_run *golden, struct golden_files *files, const char *knobs,
		bool tracepoints, struct golden_result *result, struct fl_error *err)
{
	struct player p = {.golden = golden, .tracepoints = tracepoints};
	int ret;

	memset(result, 0, sizeof(*result));
	result->reason = skip_reason(golden);
	if (result->reason) {
		result->verdict = GOLDEN_SKIPPED;
		return 0;
	}
	p.texts = tracepoints ? malloc(TEXTS_SIZE) : NULL;
	if (tracepoints && !p.texts)
		return -ENOMEM;
	ret = open_player(&p, golden, files, knobs, err);
	if (!ret)
		ret = play_ops(&p, result, err);
	if (!ret && result->verdict == GOLDEN_IDENTICAL)
		ret = compare_end(&p, result);
	if (!ret)
		ret = keep_file(files, &p);
	if (p.run)
		trace_remove_sink(&p.run->machine->trace, &p.sink);
	run_close(p.run);
	free(p.texts);
	free(p.want.v);
	free(p.got.v);
	return ret;
}

void golden_result_fini(struct golden_result *result)
{
	free(result->expected);
	free(result->got);
	result->expected = result->got = NULL;
}
