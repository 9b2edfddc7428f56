/*
 * view/scene.h - what there is to see of one machine at one moment, built from its events alone.
 *
 * A scene stands after a number of events of a tape. It moves by one event (scene_forward(),
 * scene_back()) or to any (scene_goto()). Whatever an event overwrites goes to a journal, so a
 * step back is undone in the time the step took; counts are taken back by the event itself. The
 * journal has the latest events only. Behind it and for jumps there are keyframes, whole scenes
 * kept every few events: the nearest one and the events after it make any moment.
 *
 * Invariant  scene_goto(n) gives the same scene whatever was shown before. Tape, journal and
 *            keyframes take SCENE_MEMORY bytes at most; the present itself about 4.5 bytes a page
 *            that was ever cached.
 * Owner      the tape and the info belong to the caller and outlive the scene. The tape may grow.
 * Errors     -ENOMEM; a scene that ran out of memory stays where it is (scene->error).
 * Differs    events before the first of a tape (--from) are fed with scene_feed(); what happened
 *            before them is not known and shows as absent.
 */
#ifndef FL_VIEW_SCENE_H
#define FL_VIEW_SCENE_H

#include "lib/histogram.h"
#include "lib/xarray.h"
#include "trace/recording.h"
#include "trace/tape.h"

#define SCENE_FILES	  16
#define SCENE_DESCRIPTORS 8
#define SCENE_CHUNK_SHIFT 9
#define SCENE_CHUNK_PAGES (1u << SCENE_CHUNK_SHIFT)
#define SCENE_PROVENANCES 8
#define SCENE_NONE	  (~0ull)

/* Bytes of tape, journal and keyframes together; a tape that leaves less than the last for them...
 */
#define SCENE_MEMORY	    1000000000ull
#define SCENE_JOURNAL_MAX   (64ull << 20)
#define SCENE_KEYFRAMES_MIN (128ull << 20) /* ... gets that all the same */
/* Events looked back over for what concerns a page. */
#define SCENE_HISTORY_MAX 500000u
/* Events between two keyframes; doubled whenever they would take more than they may. */
#define SCENE_KEYFRAME_EVERY (1u << 15)

/*
 * A page in 32 bits. Order, presence, provenance and use are every page's; the other flags are the
 * folio's and stand at its first page.
 */
#define CELL_ORDER	      0x0000000fu
#define CELL_PRESENT	      0x00000010u
#define CELL_HEAD	      0x00000020u
#define CELL_USED	      0x00000040u
#define CELL_POISON	      0x00000080u
#define CELL_UPTODATE	      0x00000100u
#define CELL_MARK	      0x00000200u
#define CELL_DIRTY	      0x00000400u
#define CELL_WRITEBACK	      0x00000800u
#define CELL_LRU	      0x00007000u /* 1 + enum lru_list, 0: on none */
#define CELL_LRU_SHIFT	      12
#define CELL_PROVENANCE	      0x00070000u
#define CELL_PROVENANCE_SHIFT 16
#define CELL_FOLIO_FLAGS      (CELL_UPTODATE | CELL_MARK | CELL_DIRTY | CELL_WRITEBACK | CELL_LRU)

static inline unsigned int cell_order(u32 cell)
{
	return cell & CELL_ORDER;
}

static inline unsigned int cell_provenance(u32 cell)
{
	return (cell & CELL_PROVENANCE) >> CELL_PROVENANCE_SHIFT;
}

/* 1 + enum lru_list, 0 while on none. */
static inline unsigned int cell_lru(u32 cell)
{
	return (cell & CELL_LRU) >> CELL_LRU_SHIFT;
}

/* A stretch of pages as one thing to draw. */
struct scene_span {
	u32 pages; /* cached */
	u32 used;  /* of these, used */
	u32 flags; /* CELL_* of any folio or page in it */
	u8 order;  /* the largest */
};

#define SCENE_BLOCK_PAGES 64
#define SCENE_BLOCKS	  (SCENE_CHUNK_PAGES / SCENE_BLOCK_PAGES)

struct scene_chunk {
	u32 refs;    /* the scene that shows it and keyframes: written while it is 1 only */
	u32 present; /* cells that are */
	u8 stale;    /* bit i: blocks[i] has to be summed up again */
	struct scene_span blocks[SCENE_BLOCKS];
	u32 cells[SCENE_CHUNK_PAGES];
} __attribute__((aligned(8)));

/* One file of the machine that some event named. */
struct scene_file {
	u32 ino;
	struct xarray chunks; /* struct scene_chunk by page >> SCENE_CHUNK_SHIFT */
	u64 last_chunk_nr;    /* cache of the last one looked up */
	struct scene_chunk *last_chunk;
	u64 end; /* one past the last page ever cached */
};

/* The readahead window of a descriptor, as last chosen. */
struct scene_window {
	u64 start;
	u32 size, async_size;
	u64 req_count, max_pages;
	u32 rule, knob; /* as of fl_window */
	u32 ino;
	bool valid;
};

/* CPUs and locks that have a lane; more CPUs run unseen. */
#define SCENE_CPUS  32
#define SCENE_LOCKS 16 /* by enum lock_id */

/* What a CPU does. With one task there are no lanes: all are absent. */
enum scene_does { SCENE_ABSENT, SCENE_RUNS, SCENE_SLEEPS, SCENE_ENDED, SCENE_WAITS };

struct scene_cpu {
	u8 does;   /* enum scene_does */
	u8 lock;   /* that it waits for, while it does */
	u8 holder; /* CPU that had it then, 255: readers */
	u16 held;  /* bits of enum lock_id: what it has for itself or shares */
	u64 since; /* virtual ns, when it began to do so */
};

/* All locks of one name together. */
struct scene_lock {
	u16 waiting; /* CPUs */
	u16 holders; /* of these names, exclusive and shared */
	u8 cpu;	     /* that took one last */
	u64 taken;   /* times */
	u64 waited;  /* ns, all waits together */
};

/* A read, write or touch. */
struct scene_call {
	u64 pos;       /* byte */
	u32 bytes, id; /* moved; which event told */
};

/* Sums over all cells; kept by whoever writes cells. */
struct scene_sums {
	u64 folios[TRACE_ORDERS];	/* cached, by order */
	u64 pages, used;		/* cached; of these, used */
	u64 brought[SCENE_PROVENANCES]; /* cached pages by what brought them */
	u64 lru[8];			/* pages by 1 + enum lru_list */
	u64 dirty, writeback, poisoned; /* pages */
};

/* What events overwrite: saved to the journal before it changes. */
struct scene_state {
	struct scene_window window[SCENE_DESCRIPTORS];
	u64 next_pos[SCENE_DESCRIPTORS]; /* byte behind the last read, by descriptor */
	u32 fd;				 /* descriptor in use */
	u32 last_fd_window;		 /* descriptor whose window was chosen last */
	u64 op_event;			 /* event of the operation under way, or SCENE_NONE */
	struct scene_call call;		 /* the last that returned */
	u64 latency_max;
	u64 evicted, evicted_unused; /* pages that left; of these, never used */
	struct scene_cpu cpu[SCENE_CPUS];
	struct scene_lock lock[SCENE_LOCKS];
};

/* What events add to: taken back by the event itself. */
struct scene_counts {
	u64 events[EV_NR][TRACE_ORDERS];
	u64 free[RECORDING_ORDERS]; /* free blocks of the buddy system */
	u64 calls;		    /* reads, writes, touches that returned */
	struct histogram latency;   /* of them, in virtual ns; min and max are not kept */
};

struct scene_journal {
	/* Filled in turn: what is in the other half is older. */
	struct scene_journal_half {
		u8 *bytes;
		u64 pos, events; /* bytes used, events in them */
	} halves[2];
	unsigned int now; /* the half that is filled */
	u64 begin;	  /* of the event's group, in that half */
	bool off;	  /* nothing is kept */
	bool lost;	  /* the event is too large to be kept */
};

struct scene_keyframe;

struct scene_keyframes {
	struct scene_keyframe **list; /* ascending; the first is the beginning */
	size_t nr, cap;
	u64 every; /* events */
	u64 bytes; /* they hold */
	u64 due;   /* the position that gets the next one */
	u64 most;  /* bytes they may hold, however many the tape leaves */
};

/* Somebody who wants to know which cells events change, while a scene moves forward. */
struct scene_watch {
	/* @nr cells of s->files[@file] from @page on became @value. */
	void (*cells)(struct scene_watch *watch, unsigned int file, u64 page, u32 value, u32 nr);
};

struct scene {
	struct scene_watch *watch; /* the caller's, or NULL */
	const struct tape *tape;
	const struct recording_info *info;
	unsigned int page_shift;
	u64 pos;   /* events applied, 0 .. tape->events */
	u64 slot;  /* of the tape, where the next event begins */
	int error; /* -ENOMEM once memory ran out */

	struct scene_state state;
	struct scene_counts counts;
	struct scene_sums sums;
	struct scene_file files[SCENE_FILES];
	unsigned int nr_files;
	struct xa_cache nodes;
	struct scene_journal journal;
	struct scene_keyframes *keyframes; /* owned but for a scout, who has its scene's */
	struct scene *scout;		   /* while scene_look_ahead() is under way, or NULL */
};

/* A scene before the first event. 0, -ENOMEM. */
int scene_init(struct scene *s, const struct tape *tape, const struct recording_info *info);
void scene_fini(struct scene *s);

/* One event that is not on the tape, before its first; there is no way back. */
void scene_feed(struct scene *s, const struct trace_event *ev);

/* To the next or previous event; false at the ends. */
bool scene_forward(struct scene *s);
bool scene_back(struct scene *s);
/* Stand after @pos events (cut to what there are). 0, -ENOMEM. */
int scene_goto(struct scene *s, u64 pos);

/*
 * Make keyframes for up to @events events of the tape that nobody has been to, so that a jump
 * there will be short. False once there are none left (or no memory: jumps are only longer then).
 */
bool scene_look_ahead(struct scene *s, u64 events);

/* Bytes of journal and keyframes. */
u64 scene_memory(const struct scene *s);

/* Virtual time of the event applied last, 0 at the beginning. */
u64 scene_ns(const struct scene *s);

/* The event applied last; false at the beginning. */
bool scene_event(const struct scene *s, struct trace_event *ev);

/* ---- looking ---- */

/* The file of inode @ino, or NULL. */
const struct scene_file *scene_file(const struct scene *s, u32 ino);

/* The cell of a page; 0 where nothing is cached. */
u32 scene_cell(const struct scene_file *f, u64 page);

/* The folio over @page: its first page and first cell; false if there is none. */
bool scene_folio(const struct scene_file *f, u64 page, u64 *first, u32 *head);

/*
 * Sum up @nr stretches of @pages pages each, from page @first on. Where stretches are long or
 * aligned to them, blocks of SCENE_BLOCK_PAGES count as a whole where they begin.
 */
void scene_spans(const struct scene_file *f, u64 first, u64 pages, struct scene_span *spans,
		 size_t nr);

/* The first page at or after @from where two files differ in their folios; SCENE_NONE if none. */
u64 scene_first_difference(const struct scene_file *a, const struct scene_file *b, u64 from);

/* Events in all of one kind. */
u64 scene_total(const struct scene *s, unsigned int id);

/* Free pages of memory. */
u64 scene_free_pages(const struct scene *s);

/* Does @ev concern page @page of file @ino? */
bool scene_concerns(const struct scene *s, const struct trace_event *ev, u32 ino, u64 page);

/* The pages an event is about: false for one that names none. */
bool scene_event_pages(const struct scene *s, const struct trace_event *ev, u64 *first, u64 *nr);

/*
 * The last @max events up to the present that concern a page, newest first, back to the folio's
 * arrival or over SCENE_HISTORY_MAX events; their numbers go to @nrs. Returns how many.
 */
size_t scene_history(const struct scene *s, u32 ino, u64 page, u64 *nrs, size_t max);

#endif
