/*
 * lab/lua_machine.h - a machine as Lua holds it; shared by the files that give it methods.
 *
 * Invariant  past is all that was played since boot, so that a twin can be made by playing it
 *            again; while busy (an operation is under way and a policy may run) only looking is
 *            allowed.
 * Owner      a full userdata; its run ends with it. User value 1 keeps the strings of the
 *            config, user value 2 the functions of the policy.
 * Errors     methods raise; nothing is held across a raise.
 */
#ifndef FL_LAB_LUA_MACHINE_H
#define FL_LAB_LUA_MACHINE_H

#include "lab/lua_state.h"
#include "mm/ra_policy.h"
#include "trace/ring.h"

#define MACHINE_TYPE	"machine"
#define MACHINE_OPS_MAX 1000000 /* queued or remembered */
/* In past only, what is no operation of the language. */
#define PAST_WAIT      WL_NR_OPS       /* waited for the disk */
#define PAST_CHATTR    (WL_NR_OPS + 1) /* n: the journal flag went on or off */
#define PAST_REMOUNT   (WL_NR_OPS + 2)
#define PAST_POWER_CUT (WL_NR_OPS + 3)
#define PAST_REPLAY    (WL_NR_OPS + 4) /* switched on again */
#define PAST_SLEEP     (WL_NR_OPS + 5) /* n: ns */

struct op_list {
	struct wl_op *ops;
	size_t nr, cap;
};

struct lab_machine {
	struct lab_lua *ll;
	struct run *run; /* NULL once closed */
	u64 power_cut;	 /* as it booted, which the run forgets when it is switched on again */
	bool twin;	 /* made by replaying another one's past */
	bool tasks;	 /* several tasks played on it: it cannot be made again */
	bool busy;
	lua_State *L; /* while busy: who plays; its index 1 is this machine */
	struct op_list past;
	struct op_list queue;
	size_t next;		/* of the queue */
	u64 repeat;		/* repeats of it already played */
	struct trace_ring ring; /* sink.event is NULL until record() */
	struct lab_policy {
		struct ra_policy ops;
		struct lab_machine *lm;
		bool on;
		struct fl_error err; /* of the first callback that failed */
	} policy;
};

/* The machine at @index; raises if it is none. */
struct lab_machine *lab_machine_check(lua_State *L, int index);
/* The same for a method that plays: refused inside a policy. */
struct lab_machine *lab_machine_idle(lua_State *L, int index);

/* Bytes: an integer of at least 0 or a string such as "4k". @what names it in the message. */
s64 lab_lua_size(lua_State *L, int index, const char *what);

/* Play one operation, remembered in past; raises what the run or a policy had to complain. */
void lab_machine_play(lua_State *L, struct lab_machine *lm, const struct wl_op *op);
/* Keep account of where the machine is, for those who are told of limits. */
void lab_machine_note(struct lab_machine *lm);
/* Play one entry of a past on a twin. */
void lab_machine_replay(lua_State *L, struct lab_machine *lm, const struct wl_op *op);
/*
 * What is done from outside, between two operations, remembered in past: 0 or -errno. A replay
 * raises when the disk does not hold the file.
 */
int lab_machine_handle(lua_State *L, struct lab_machine *lm, const struct wl_op *op);
/* ... of these, power cut, replay and sleep; lua_power.c */
int lab_machine_power(lua_State *L, struct lab_machine *lm, const struct wl_op *op);
/* The next queued operation without its repeats; false at the end. machine_advance() takes it. */
bool lab_machine_peek(const struct lab_machine *lm, struct wl_op *op);
void lab_machine_advance(struct lab_machine *lm);
/* A machine in the same state, pushed. */
struct lab_machine *lab_machine_twin(lua_State *L, int index);

/* Push the table of an event as seen on that machine. */
void lab_lua_push_event(lua_State *L, const struct lab_machine *lm, const struct trace_event *ev,
			u64 nr);
/* The event called by the string at @index; raises for an unknown one. */
int lab_lua_check_event(lua_State *L, int index);
/* Does the event on top of the stack pass the filter at @index (nil, function, table)? */
bool lab_lua_event_passes(lua_State *L, int index);

/* Methods, added to the table on top of the stack. */
void lab_machine_add_ops(lua_State *L);	   /* lua_ops.c */
void lab_machine_add_looks(lua_State *L);  /* lua_look.c */
void lab_machine_add_perf(lua_State *L);   /* lua_perf.c */
void lab_machine_add_events(lua_State *L); /* lua_events.c */
void lab_machine_add_policy(lua_State *L); /* lua_policy.c */
void lab_machine_add_tasks(lua_State *L);  /* lua_tasks.c */
void lab_machine_add_power(lua_State *L);  /* lua_power.c */

/* fl.pattern(nr, off, len): what the nr-th write of a machine puts there. lua_power.c */
int lab_lua_pattern(lua_State *L);

#endif
