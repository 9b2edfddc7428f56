/*
 * lab/lua_state.h - a Lua state for scripts nobody trusts.
 *
 * The state has an allocator of its own with a cap, a budget of instructions that coroutines
 * share and that no pcall survives, and environments made of what is allowed and nothing else
 * (labs/README.md, "The Lua API"). Scripts are text, never bytecode.
 *
 * Invariant  Lua never reaches a file, a program, the registry, an address or the host's clock;
 *            the same script with the same seed prints the same bytes.
 * Owner      lab_lua_open() gives the state to the caller, lab_lua_close() ends it with all of
 *            its machines. Strings of the struct are the caller's and outlive it.
 * Errors     -EINVAL with the script's file and line; -ENOMEM.
 * Differs    a C function of Lua's own library that runs long is stopped by limits on its
 *            arguments, not by a clock.
 */
#ifndef FL_LAB_LUA_STATE_H
#define FL_LAB_LUA_STATE_H

#include <lua.h>
#include <lauxlib.h>
#include <stdio.h>

#include "lab/run.h"
#include "lib/error.h"

#define LAB_LUA_MEMORY (64UL << 20) /* bytes a state may use */
/* Instructions; fuzzers are built with fewer, so that a loop is no finding. */
#ifndef LAB_LUA_BUDGET
#define LAB_LUA_BUDGET	       500000000LL /* of a file or of a lab's step */
#define LAB_LUA_STUDENT_BUDGET 20000000LL  /* and of a student's function */
#endif
#define LAB_LUA_STRING_MAX (16UL << 20) /* bytes of one string a function makes */
#define LAB_LUA_OUTPUT_MAX (4UL << 20)	/* bytes printed */
#define LAB_LUA_MACHINES   64		/* alive at once */

struct lab_images;
struct plot;

/* How far the machine that played last has got. */
struct lab_played {
	bool any;
	struct wl_op op; /* under way, or the last */
	u64 events;	 /* before it, or with it when it is over */
	u32 last;	 /* enum trace_event_id of the last of them */
};

struct lab_lua {
	lua_State *L;
	size_t used, cap;  /* bytes of the allocator */
	s64 budget;	   /* instructions left */
	bool exhausted;	   /* the budget ran out since it was last set */
	bool starved;	   /* a call ended for want of memory since then */
	u64 fail_alloc_in; /* tests: when > 0 counts down, the allocation reaching 0 fails */

	FILE *out;			 /* where print() goes; may change between calls */
	size_t printed;			 /* bytes since the budget was last set */
	unsigned int machines;		 /* alive */
	struct run_config defaults;	 /* of fl.machine */
	struct lab_played *played;	 /* kept up to date if not NULL; the caller's */
	const char *dir;		 /* folder whose files machines may read, or NULL */
	const struct lab_images *images; /* lab/lab_image.h: what machines may have, or NULL */

	/* A figure was made; NULL: it is only printed. The text is in the caller's memory. */
	void (*figure)(void *ctx, const char *name, const char *svg);
	void *figure_ctx;

	/* The event at which a loop over events stands, or left off. */
	struct {
		bool open; /* not at its end */
		u64 nr;	   /* from 1 */
		u16 id;
	} looked;

	/* A machine booted (@twin: as another stands) or ends; NULL: nobody watches. */
	void (*booted)(void *ctx, struct run *run, bool twin);
	void (*ends)(void *ctx, struct run *run);
	void *machine_ctx;

	/* Which file a chunk's short name stands for, for messages. */
	struct lab_lua_chunk {
		char name[60];
		char path[256];
	} chunks[4];
	unsigned int nr_chunks;
};

int lab_lua_open(struct lab_lua **ret, struct fl_error *err);
/* NULL is fine. */
void lab_lua_close(struct lab_lua *ll);

static inline struct lab_lua *lab_lua_of(lua_State *L)
{
	return *(struct lab_lua **)lua_getextraspace(L);
}

/* Give the script @budget instructions from now on. */
void lab_lua_set_budget(struct lab_lua *ll, s64 budget);
/* Work done for the script: raises an error when the budget is gone. */
void lab_lua_charge(lua_State *L, u64 units);

/* Push a fresh environment: copies of everything allowed. May raise. */
void lab_lua_push_env(lua_State *L);

/*
 * Load the file at @path as text and leave its function on the stack, with the environment at
 * index @env as its globals. -EINVAL (syntax, bytecode), -E2BIG, the file's errno.
 */
int lab_lua_load_file(struct lab_lua *ll, const char *path, int env, struct fl_error *err);
/* The same for a text called @name in messages. */
int lab_lua_load_text(struct lab_lua *ll, const char *name, const char *text, size_t len, int env,
		      struct fl_error *err);

/*
 * Call the function below its @nargs arguments, protected. On failure nothing is left on the
 * stack and @err has file, line and text of where the error was raised. 0, -EINVAL, -ENOMEM.
 */
int lab_lua_call(struct lab_lua *ll, int nargs, int nresults, struct fl_error *err);

/* Fill @err from a message "chunk:LINE: text". */
void lab_lua_error(struct lab_lua *ll, const char *message, struct fl_error *err);

/* Text of the value at @index, as tostring() says it; pushed. */
const char *lab_lua_tolstring(lua_State *L, int index, size_t *len);

/* ---- the parts of an environment: each adds to the table on top of the stack ---- */

void lab_lua_add_base(lua_State *L);	/* lua_base.c: the language's own */
void lab_lua_add_strings(lua_State *L); /* lua_strings.c */
void lab_lua_add_engine(lua_State *L);	/* lua_engine.c: fl, machine, plot, figure */

/* Copy the functions @names (ends with NULL) of the library table on top to a new table. */
void lab_lua_copy_allowed(lua_State *L, const char *const *names);

#endif
