/* What every event does to the scene. */
#include "view/scene_internal.h"

#include <string.h>

/* ---- what is overwritten ---- */

typedef void (*overwrite_t)(struct scene *s, const struct trace_event *ev);

static int file_of(struct scene *s, const struct trace_event *ev)
{
	return ev->ino ? pages_file(s, ev->ino) : -1;
}

/* A real kernel's: it has the kernel's own events only, none of fl_*. */
static bool is_real(const struct scene *s)
{
	return s->info->source[0];
}

static u32 provenance_bits(u32 provenance)
{
	return (provenance << CELL_PROVENANCE_SHIFT) & CELL_PROVENANCE;
}

/* A real kernel's fault waits for this page. */
static void use_faulted(struct scene *s, const struct trace_event *ev)
{
	u64 page = s->state.call.pos >> s->page_shift;

	if (page - ev->index < 1ull << ev->order)
		pages_change(s, file_of(s, ev), page, 1, 0, CELL_USED);
}

static void on_add(struct scene *s, const struct trace_event *ev)
{
	int file = file_of(s, ev);
	u32 cell = CELL_PRESENT | ev->order | provenance_bits(ev->b);

	pages_fill(s, file, ev->index, 1ull << ev->order, cell);
	/* Nobody says when its bytes arrive: not called missing, then. */
	pages_change(s, file, ev->index, 1, 0, CELL_HEAD | (is_real(s) ? CELL_UPTODATE : 0));
	if (s->state.call.id == EV_mm_filemap_fault)
		use_faulted(s, ev);
}

static void on_delete(struct scene *s, const struct trace_event *ev)
{
	u64 nr = 1ull << ev->order;

	pages_fill(s, file_of(s, ev), ev->index, nr, 0);
	scene_set(s, evicted, s->state.evicted + nr);
	if (ev->b < nr)
		scene_set(s, evicted_unused, s->state.evicted_unused + nr - ev->b);
}

/* A folio's flags stand at its first page. */
static void change_folio(struct scene *s, const struct trace_event *ev, u32 clear, u32 set)
{
	pages_change(s, file_of(s, ev), ev->index, 1, clear, set);
}

static void on_mark(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, 0, CELL_MARK);
}

static void on_mark_hit(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, CELL_MARK, 0);
}

static void on_uptodate(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, 0, CELL_UPTODATE);
}

static void on_dirty(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, 0, CELL_DIRTY);
}

static void on_clean(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, CELL_DIRTY, 0);
}

static void on_writeback_start(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, 0, CELL_WRITEBACK);
}

static void on_writeback_end(struct scene *s, const struct trace_event *ev)
{
	change_folio(s, ev, CELL_WRITEBACK, 0);
}

static void on_hwpoison(struct scene *s, const struct trace_event *ev)
{
	pages_change(s, file_of(s, ev), ev->index, 1, CELL_POISON, ev->b ? CELL_POISON : 0);
}

static void to_list(struct scene *s, const struct trace_event *ev, u32 list)
{
	change_folio(s, ev, CELL_LRU, ((list + 1) << CELL_LRU_SHIFT) & CELL_LRU);
}

static void on_lru_insertion(struct scene *s, const struct trace_event *ev)
{
	to_list(s, ev, ev->b);
}

/* enum lru_list: an active list follows its inactive one. */
static void on_lru_activate(struct scene *s, const struct trace_event *ev)
{
	to_list(s, ev, ev->b | 1);
}

static void on_lru_deactivate(struct scene *s, const struct trace_event *ev)
{
	to_list(s, ev, ev->b & ~1u);
}

static void on_lru_move(struct scene *s, const struct trace_event *ev)
{
	to_list(s, ev, ev->b >> 8);
}

/* The first page of every piece becomes a head with the folio's flags, but for the mark. */
static void cut(struct scene *s, int file, u64 first, unsigned int order, u32 flags)
{
	pages_change(s, file, first, 1ull << order, CELL_ORDER, order);
	pages_change(s, file, first, 1, CELL_FOLIO_FLAGS, CELL_HEAD | flags);
}

/* mm/huge_memory.c piece_order(): the piece that starts at @page of the folio @ev splits. */
static unsigned int piece_order(const struct trace_event *ev, u64 page)
{
	unsigned int order = ev->order, smallest = min_t(u32, ev->b, ev->order);
	u64 base = ev->index;

	if (ev->d)
		return smallest;
	while (order > smallest) {
		u64 half = base + (1ull << (order - 1));
		bool low = ev->c < half;

		if (low ? page >= half : page < half)
			return order - 1;
		if (!low)
			base = half;
		order--;
	}
	return order;
}

static void on_split(struct scene *s, const struct trace_event *ev)
{
	int file = file_of(s, ev);
	u32 head = file < 0 ? 0 : scene_cell(&s->files[file], ev->index);
	u32 flags = head & CELL_FOLIO_FLAGS;
	u64 end = ev->index + (1ull << ev->order);

	if (!(head & CELL_PRESENT))
		return;
	for (u64 page = ev->index; page < end;) {
		unsigned int order = piece_order(ev, page);

		cut(s, file, page, order, flags);
		flags &= ~CELL_MARK;
		page += 1ull << order;
	}
}

/* ---- windows, calls, operations ---- */

static void set_window(struct scene *s, const struct scene_window *w)
{
	u32 fd = s->state.fd % SCENE_DESCRIPTORS;

	scene_set(s, window[fd], *w);
	scene_set(s, last_fd_window, fd);
}

static void on_window(struct scene *s, const struct trace_event *ev)
{
	const struct scene_window w = {
		.start = ev->index,
		.size = ev->a,
		.async_size = ev->b,
		.req_count = ev->c,
		.max_pages = ev->d,
		.rule = ev->e,
		.knob = ev->f,
		.ino = ev->ino,
		.valid = true,
	};

	set_window(s, &w);
}

/* A real kernel's windows, as its readahead tells them; whose descriptor it is stays unknown. */
static void on_readahead(struct scene *s, const struct trace_event *ev)
{
	bool order = ev->id == EV_page_cache_ra_order;
	const struct scene_window w = {
		.start = ev->index,
		.size = order ? ev->b : ev->c,
		.async_size = order ? ev->e : ev->d,
		.max_pages = order ? ev->f : 0,
		.rule = RULE_UNTOLD,
		.ino = ev->ino,
		.valid = true,
	};

	if (is_real(s))
		set_window(s, &w);
}

/* A real kernel's read has found its folios: the reader is there, and uses them. */
static void on_get_pages(struct scene *s, const struct trace_event *ev)
{
	u64 nr = ev->c - ev->index + 1;

	if (!is_real(s) || ev->c < ev->index || nr >> (32 - s->page_shift))
		return;
	scene_set(s, call,
		  ((struct scene_call){ev->index << s->page_shift, nr << s->page_shift, ev->id}));
	scene_set(s, next_pos[s->state.fd % SCENE_DESCRIPTORS], (ev->c + 1) << s->page_shift);
	pages_change(s, file_of(s, ev), ev->index, nr, 0, CELL_USED);
}

static void on_open(struct scene *s, const struct trace_event *ev)
{
	u32 fd = ev->index % SCENE_DESCRIPTORS;

	scene_set(s, window[fd], (struct scene_window){0});
	scene_set(s, next_pos[fd], 0);
}

static void on_op(struct scene *s, const struct trace_event *ev)
{
	scene_set(s, op_event, s->pos);
	if (s->state.fd != ev->f)
		scene_set(s, fd, ev->f);
}

static void on_call(struct scene *s, const struct trace_event *ev)
{
	u64 first = ev->index >> s->page_shift;

	scene_set(s, call, ((struct scene_call){ev->index, ev->a, ev->id}));
	if (ev->id == EV_fl_read)
		scene_set(s, next_pos[s->state.fd % SCENE_DESCRIPTORS], ev->index + ev->a);
	if (ev->c > s->state.latency_max)
		scene_set(s, latency_max, ev->c);
	if (ev->a)
		pages_change(s, file_of(s, ev), first,
			     ((ev->index + ev->a - 1) >> s->page_shift) - first + 1, 0, CELL_USED);
}

/* The page a real kernel's task faults on; it may be cached only later. */
static void on_fault(struct scene *s, const struct trace_event *ev)
{
	if (!is_real(s))
		return;
	scene_set(s, call,
		  ((struct scene_call){ev->index << s->page_shift, 1u << s->page_shift, ev->id}));
	pages_change(s, file_of(s, ev), ev->index, 1, 0, CELL_USED);
}

/* ---- lanes ---- */

static void set_cpu(struct scene *s, const struct trace_event *ev, struct scene_cpu cpu)
{
	if (ev->cpu < SCENE_CPUS)
		scene_set(s, cpu[ev->cpu], cpu);
}

/* What the event's CPU does so far; of one without a lane: nothing. */
static struct scene_cpu cpu_of(const struct scene *s, const struct trace_event *ev)
{
	return ev->cpu < SCENE_CPUS ? s->state.cpu[ev->cpu] : (struct scene_cpu){0};
}

static void on_task(struct scene *s, const struct trace_event *ev)
{
	struct scene_cpu cpu = cpu_of(s, ev);

	cpu.does = SCENE_RUNS + min(ev->a, 2u);
	cpu.since = ev->ns;
	set_cpu(s, ev, cpu);
}

static void on_lock_wait(struct scene *s, const struct trace_event *ev)
{
	struct scene_cpu cpu = cpu_of(s, ev);
	u32 id = ev->a % SCENE_LOCKS;

	cpu.does = SCENE_WAITS;
	cpu.lock = id;
	cpu.holder = ev->b;
	cpu.since = ev->ns;
	set_cpu(s, ev, cpu);
	scene_set(s, lock[id].waiting, s->state.lock[id].waiting + 1);
}

static void on_lock_taken(struct scene *s, const struct trace_event *ev)
{
	struct scene_cpu cpu = cpu_of(s, ev);
	u32 id = ev->a % SCENE_LOCKS;
	struct scene_lock lock = s->state.lock[id];

	lock.waiting -= ev->d && lock.waiting;
	lock.holders++;
	lock.cpu = ev->cpu;
	lock.taken++;
	lock.waited += ev->c;
	scene_set(s, lock[id], lock);
	if (cpu.does == SCENE_WAITS)
		cpu.since = ev->ns;
	cpu.does = SCENE_RUNS;
	cpu.held |= 1u << id;
	set_cpu(s, ev, cpu);
}

static void on_lock_released(struct scene *s, const struct trace_event *ev)
{
	struct scene_cpu cpu = cpu_of(s, ev);
	u32 id = ev->a % SCENE_LOCKS;

	cpu.held &= ~(1u << id);
	set_cpu(s, ev, cpu);
	if (s->state.lock[id].holders)
		scene_set(s, lock[id].holders, s->state.lock[id].holders - 1);
}

static const overwrite_t overwrites[EV_NR] = {
	[EV_mm_filemap_add_to_page_cache] = on_add,
	[EV_mm_filemap_delete_from_page_cache] = on_delete,
	[EV_fl_mark] = on_mark,
	[EV_fl_mark_hit] = on_mark_hit,
	[EV_fl_uptodate] = on_uptodate,
	[EV_writeback_dirty_folio] = on_dirty,
	[EV_fl_dirty] = on_dirty,
	[EV_fl_clean] = on_clean,
	[EV_fl_writeback_start] = on_writeback_start,
	[EV_fl_writeback_end] = on_writeback_end,
	[EV_fl_hwpoison] = on_hwpoison,
	[EV_mm_lru_insertion] = on_lru_insertion,
	[EV_mm_lru_activate] = on_lru_activate,
	[EV_fl_lru_deactivate] = on_lru_deactivate,
	[EV_fl_lru_move] = on_lru_move,
	[EV_fl_folio_split] = on_split,
	[EV_fl_window] = on_window,
	[EV_page_cache_ra_order] = on_readahead,
	[EV_page_cache_ra_unbounded] = on_readahead,
	[EV_mm_filemap_get_pages] = on_get_pages,
	[EV_mm_filemap_fault] = on_fault,
	[EV_fl_open] = on_open,
	[EV_fl_op] = on_op,
	[EV_fl_read] = on_call,
	[EV_fl_write] = on_call,
	[EV_fl_touch] = on_call,
	[EV_fl_task] = on_task,
	[EV_fl_lock_wait] = on_lock_wait,
	[EV_fl_lock_taken] = on_lock_taken,
	[EV_fl_lock_released] = on_lock_released,
};

void event_overwrite(struct scene *s, const struct trace_event *ev)
{
	if (overwrites[ev->id])
		overwrites[ev->id](s, ev);
}

/* ---- what is counted ---- */

/* A block of order @from was cut to one of @order (sign 1), or grown from it (sign -1). */
static void count_buddy(struct scene_counts *c, unsigned int order, unsigned int from, u64 sign)
{
	if (from >= RECORDING_ORDERS || order > from)
		return;
	c->free[from] -= sign;
	for (unsigned int o = order; o < from; o++)
		c->free[o] += sign;
}

static void count_call(struct scene_counts *c, u64 ns, u64 sign)
{
	c->calls += sign;
	c->latency.counts[histogram_bucket(ns)] += sign;
	c->latency.count += sign;
	c->latency.sum += ns * sign;
}

void event_count(struct scene *s, const struct trace_event *ev, int sign)
{
	struct scene_counts *c = &s->counts;

	c->events[ev->id][ev->order] += sign;
	switch (ev->id) {
	case EV_fl_buddy_alloc:
		count_buddy(c, ev->order, ev->b, sign);
		break;
	case EV_fl_buddy_free:
		count_buddy(c, ev->order, ev->b, -(u64)sign);
		break;
	case EV_fl_read:
	case EV_fl_write:
	case EV_fl_touch:
		count_call(c, ev->c, sign);
		break;
	default:
		break;
	}
}

u64 scene_total(const struct scene *s, unsigned int id)
{
	u64 sum = 0;

	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		sum += s->counts.events[id][o];
	return sum;
}

u64 scene_free_pages(const struct scene *s)
{
	u64 sum = 0;

	for (unsigned int o = 0; o < RECORDING_ORDERS; o++)
		sum += s->counts.free[o] << o;
	return sum;
}
