#include "view/narrate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine/knobs.h"
#include "mm/page_state.h"

struct text {
	char *buf;
	size_t size, len;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->len + 1 >= t->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len = min(t->len + n, t->size - 1);
}

const char *narrate_provenance(unsigned int provenance)
{
	return page_provenance_name(provenance);
}

const char *narrate_source(const struct recording_info *info)
{
	if (!info->source[0])
		return "";
	return strcmp(info->source, "host") ? "imported, a real kernel's" : "recorded on this host";
}

const char *narrate_list(unsigned int list)
{
	static const char *const names[] = {"inactive anon", "active anon", "inactive file",
					    "active file", "unevictable"};

	return list < ARRAY_SIZE(names) ? names[list] : "no";
}

/* "page 5" or "pages 5-8". */
static void say_pages(struct text *t, u64 first, u64 nr, bool capital)
{
	if (nr == 1)
		say(t, "%s %" PRIu64, capital ? "Page" : "page", first);
	else
		say(t, "%s %" PRIu64 "-%" PRIu64, capital ? "Pages" : "pages", first,
		    first + nr - 1);
}

static void say_time(struct text *t, u64 ns)
{
	if (ns < 10000)
		say(t, "%" PRIu64 " ns", ns);
	else if (ns < 10000000)
		say(t, "%" PRIu64 ".%" PRIu64 " us", ns / 1000, ns / 100 % 10);
	else
		say(t, "%" PRIu64 ".%" PRIu64 " ms", ns / 1000000, ns / 100000 % 10);
}

/* ---- one function a family ---- */

static void say_call(struct text *t, const struct scene *s, const struct trace_event *ev)
{
	u64 first, nr;

	say(t, ev->id == EV_fl_read    ? "The read returned"
	       : ev->id == EV_fl_write ? "The write returned"
	       : ev->b		       ? "A byte was stored"
				       : "A byte was loaded");
	if (ev->id != EV_fl_touch)
		say(t, " %u bytes", ev->a);
	if (scene_event_pages(s, ev, &first, &nr)) {
		say(t, ev->id == EV_fl_write ? " into " : ev->id == EV_fl_read ? " from " : " at ");
		say_pages(t, first, nr, false);
	} else {
		say(t, " at byte %" PRIu64, ev->index);
	}
	say(t, " after ");
	say_time(t, ev->c);
	say(t, ".");
}

static void say_window(struct text *t, const struct trace_event *ev)
{
	if (!ev->a) {
		say(t, "No window is opened: %s.", trace_rule_text(ev->e));
		return;
	}
	say(t, "A window is opened over ");
	say_pages(t, ev->index, ev->a, false);
	say(t, ", because %s.", trace_rule_text(ev->e));
	if (ev->b == ev->a)
		say(t, " All of it is ahead of the reader; the mark goes to its first page.");
	else if (ev->b)
		say(t, " The last %u are ahead of the reader; the mark goes to page %" PRIu64 ".",
		    ev->b, ev->index + ev->a - ev->b);
}

static void say_readahead(struct text *t, const struct trace_event *ev)
{
	switch (ev->id) {
	case EV_page_cache_sync_ra:
		say(t,
		    "Page %" PRIu64 " is not cached. The reader wants %u and has to wait, so "
		    "readahead decides what to fetch.",
		    ev->index, ev->a);
		break;
	case EV_page_cache_async_ra:
		say(t,
		    "The read touched page %" PRIu64 ", the folio with the readahead mark, so "
		    "the next window starts before it is needed.",
		    ev->index);
		break;
	case EV_page_cache_ra_order:
		say(t,
		    "The window from page %" PRIu64 " on, %u pages, is filled with folios of "
		    "order %u or what fits.",
		    ev->index, ev->b, ev->order);
		break;
	case EV_page_cache_ra_unbounded:
		say(t,
		    "%" PRIu64 " pages from page %" PRIu64 " on are read in folios of the "
		    "smallest order.",
		    ev->c, ev->index);
		break;
	case EV_fl_read_pages:
		say(t, "The file system is asked to read ");
		say_pages(t, ev->index, ev->a, false);
		say(t, " in one call.");
		break;
	case EV_fl_mark:
		say(t,
		    "The readahead mark is put on page %" PRIu64 ": reading it will start the "
		    "next window.",
		    ev->index);
		break;
	default:
		say(t, "The readahead mark at page %" PRIu64 " was met and is used up.", ev->index);
	}
}

/* Which of its pages were used, as far as the kernel that left it says so. */
static void say_use(struct text *t, const struct scene *s, const struct trace_event *ev)
{
	u64 nr = 1ull << ev->order;

	if (s->info->source[0])
		say(t, ".");
	else if (ev->b == nr)
		say(t, "; all of it had been used.");
	else if (ev->b)
		say(t, "; %u had been used, %" PRIu64 " had been read in vain.", ev->b, nr - ev->b);
	else
		say(t, "; nobody ever used %s.", nr == 1 ? "it" : "them");
}

static void say_cache(struct text *t, const struct scene *s, const struct trace_event *ev)
{
	u64 nr = 1ull << ev->order;

	say_pages(t, ev->index, nr, true);
	switch (ev->id) {
	case EV_mm_filemap_add_to_page_cache:
		say(t, " %s cached as one folio of order %u (%s).", nr == 1 ? "is" : "are",
		    ev->order, narrate_provenance(ev->b));
		break;
	case EV_mm_filemap_delete_from_page_cache:
		say(t, " %s the cache", nr == 1 ? "leaves" : "leave");
		say_use(t, s, ev);
		break;
	case EV_fl_uptodate:
		say(t, " %s arrived: the folio is uptodate and unlocked.",
		    nr == 1 ? "has" : "have");
		break;
	case EV_writeback_dirty_folio:
	case EV_fl_dirty:
		say(t, " %s dirty: the disk does not have these bytes yet.",
		    nr == 1 ? "is" : "are");
		break;
	case EV_fl_clean:
		say(t, " %s no longer dirty.", nr == 1 ? "is" : "are");
		break;
	case EV_fl_writeback_start:
		say(t, " %s being written to the disk.", nr == 1 ? "is" : "are");
		break;
	case EV_fl_writeback_end:
		say(t, " %s on the disk now.", nr == 1 ? "is" : "are");
		break;
	case EV_fl_add_failed:
		say(t, " could not be cached: something is there already, or memory ran out.");
		break;
	case EV_fl_folio_wait:
		say(t, ": a task waited ");
		say_time(t, ev->c);
		say(t, " for the folio to be unlocked.");
		break;
	case EV_fl_folio_split:
		say(t, ": the folio of order %u is split%s.", ev->order,
		    ev->d ? " into the smallest folios" : ", only as far as needed");
		break;
	default:
		say(t, " came back soon after being evicted%s.",
		    ev->b ? ", so the folio is activated" : "");
	}
}

static void say_memory(struct text *t, const struct trace_event *ev)
{
	u64 nr = 1ull << ev->order;

	switch (ev->id) {
	case EV_fl_buddy_alloc:
		say(t, "The buddy system gives a block of order %u", ev->order);
		if (ev->b > ev->order)
			say(t, ", cut from a free block of order %u", ev->b);
		say(t, ".");
		break;
	case EV_fl_buddy_free:
		say(t, "A block of order %u is free again", ev->order);
		if (ev->b > ev->order)
			say(t, " and merges with its buddies to order %u", ev->b);
		say(t, ".");
		break;
	case EV_fl_folio_alloc:
		say(t,
		    ev->b ? "There is no memory for a folio of order %u."
			  : "A folio of order %u is allocated for the cache.",
		    ev->order);
		break;
	case EV_mm_lru_insertion:
		say_pages(t, ev->index, nr, true);
		say(t, " %s put at the head of the %s list.", nr == 1 ? "is" : "are",
		    narrate_list(ev->b));
		break;
	case EV_mm_lru_activate:
		say_pages(t, ev->index, nr, true);
		say(t, " %s used twice: to the active list.", nr == 1 ? "was" : "were");
		break;
	case EV_fl_lru_deactivate:
		say_pages(t, ev->index, nr, true);
		say(t, " %s to the inactive list, where reclaim starts.", nr == 1 ? "goes" : "go");
		break;
	case EV_fl_lru_move:
		say_pages(t, ev->index, nr, true);
		say(t, " %s from the %s to the %s list.", nr == 1 ? "goes" : "go",
		    narrate_list(ev->b & 255), narrate_list(ev->b >> 8));
		break;
	case EV_mm_vmscan_lru_shrink_inactive:
		say(t, "Reclaim looked at %u pages of the inactive list and freed %u.", ev->a,
		    ev->b);
		break;
	default:
		say(t, "Reclaim moved %u pages from the active to the inactive list.", ev->b);
	}
}

static void say_other(struct text *t, const struct scene *s, const struct trace_event *ev)
{
	u64 first, nr;

	switch (ev->id) {
	case EV_fl_op:
		say(t, "The program's next operation begins (line %u).", ev->a);
		break;
	case EV_fl_open:
		say(t, "Descriptor %" PRIu64 " is opened; it knows no window yet.", ev->index);
		break;
	case EV_mm_filemap_get_pages:
		scene_event_pages(s, ev, &first, &nr);
		say(t, "The read found its folios for ");
		say_pages(t, first, nr, false);
		say(t, ".");
		break;
	case EV_mm_filemap_fault:
		say(t, "A task touches page %" PRIu64 " of its mapping, which is not mapped.",
		    ev->index);
		break;
	case EV_mm_filemap_map_pages:
		scene_event_pages(s, ev, &first, &nr);
		say(t, "What is cached of ");
		say_pages(t, first, nr, false);
		say(t, " is mapped.");
		break;
	case EV_ext4_da_write_begin:
	case EV_ext4_write_begin:
		say(t, "A write wants to put %u bytes at byte %" PRIu64 ".", ev->a, ev->index);
		break;
	case EV_block_rq_complete:
		say(t, "The disk has done a %s of %u KiB at sector %" PRIu64 ".",
		    ev->b ? "write" : "read", ev->a / 2, ev->index);
		break;
	case EV_block_bio_queue:
		say(t, "A %s of %u KiB at sector %" PRIu64 " is queued.", ev->b ? "write" : "read",
		    ev->a / 2, ev->index);
		break;
	case EV_block_rq_issue:
		say(t, "The disk gets a %s of %u KiB at sector %" PRIu64 ".",
		    ev->b ? "write" : "read", ev->a / 2, ev->index);
		break;
	case EV_fl_hwpoison:
		say(t, "The memory behind page %" PRIu64 " %s.", ev->index,
		    ev->b ? "went bad" : "is good again");
		break;
	case EV_fl_page_fault:
		say(t, "Page %" PRIu64 " of the mapping is not mapped: a %s fault.", ev->index,
		    ev->a ? "write" : "read");
		break;
	case EV_fl_set_pte_range:
		say(t, "%u pages from page %" PRIu64 " on are mapped.", ev->a, ev->index);
		break;
	default:
		say(t, "%s", trace_event_info(ev->id)->name);
	}
}

/* ---- which is whose ---- */

enum family { OTHER, CALL, WINDOW, READAHEAD, CACHE, MEMORY };

static const u8 families[EV_NR] = {
	[EV_fl_read] = CALL,
	[EV_fl_write] = CALL,
	[EV_fl_touch] = CALL,
	[EV_fl_window] = WINDOW,
	[EV_page_cache_sync_ra] = READAHEAD,
	[EV_page_cache_async_ra] = READAHEAD,
	[EV_page_cache_ra_order] = READAHEAD,
	[EV_page_cache_ra_unbounded] = READAHEAD,
	[EV_fl_read_pages] = READAHEAD,
	[EV_fl_mark] = READAHEAD,
	[EV_fl_mark_hit] = READAHEAD,
	[EV_mm_filemap_add_to_page_cache] = CACHE,
	[EV_mm_filemap_delete_from_page_cache] = CACHE,
	[EV_fl_uptodate] = CACHE,
	[EV_writeback_dirty_folio] = CACHE,
	[EV_fl_clean] = CACHE,
	[EV_fl_dirty] = CACHE,
	[EV_fl_writeback_start] = CACHE,
	[EV_fl_writeback_end] = CACHE,
	[EV_fl_add_failed] = CACHE,
	[EV_fl_folio_wait] = CACHE,
	[EV_fl_folio_split] = CACHE,
	[EV_fl_workingset_refault] = CACHE,
	[EV_fl_buddy_alloc] = MEMORY,
	[EV_fl_buddy_free] = MEMORY,
	[EV_fl_folio_alloc] = MEMORY,
	[EV_mm_lru_insertion] = MEMORY,
	[EV_mm_lru_activate] = MEMORY,
	[EV_fl_lru_deactivate] = MEMORY,
	[EV_fl_lru_move] = MEMORY,
	[EV_mm_vmscan_lru_shrink_inactive] = MEMORY,
	[EV_mm_vmscan_lru_shrink_active] = MEMORY,
};

char *narrate_event(const struct scene *s, const struct trace_event *ev, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	*buf = 0;
	switch (families[ev->id]) {
	case CALL:
		say_call(&t, s, ev);
		break;
	case WINDOW:
		say_window(&t, ev);
		break;
	case READAHEAD:
		say_readahead(&t, ev);
		break;
	case CACHE:
		say_cache(&t, s, ev);
		break;
	case MEMORY:
		say_memory(&t, ev);
		break;
	default:
		say_other(&t, s, ev);
	}
	return buf;
}

char *narrate_rule(const struct scene *s, const struct trace_event *ev, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};
	const struct knob_info *knob;
	struct knobs knobs;
	bool on;

	*buf = 0;
	if (ev->id != EV_fl_window)
		return buf;
	say(&t, "%s", trace_rule_name(ev->e));
	knob = ev->f && s->info->knobs == KNOB_NR ? knob_info(ev->f - 1) : NULL;
	if (!knob || knobs_parse(&knobs, s->info->kernel, NULL))
		return buf;
	on = knobs_test(&knobs, ev->f - 1);
	say(&t, " \302\267 %s is %s here (%s): %s", knob->name, on ? "on" : "off", knob->since,
	    knob->what);
	return buf;
}

char *narrate_cell(u32 cell, u32 head, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	*buf = 0;
	if (!(cell & CELL_PRESENT)) {
		say(&t, "not cached");
		return buf;
	}
	say(&t, "folio of order %u", cell_order(cell));
	say(&t, head & CELL_UPTODATE ? ", uptodate" : ", not uptodate");
	if (head & CELL_MARK)
		say(&t, ", readahead mark");
	if (head & CELL_DIRTY)
		say(&t, ", dirty");
	if (head & CELL_WRITEBACK)
		say(&t, ", under writeback");
	if (cell & CELL_POISON)
		say(&t, ", bad memory");
	return buf;
}
