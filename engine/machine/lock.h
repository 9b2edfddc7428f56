/*
 * machine/lock.h - the kernel's locks, by name.
 *
 * A lock is a zeroed struct inside what it guards. With one task (machine->sched is NULL) taking
 * one only counts; with several it queues in order of arrival, hands over, and is accounted to the
 * function that took it (machine/sched.h).
 *
 * Mirrors    include/linux/spinlock.h, rwsem.h, mutex.h; qspinlock.c in that who came first is
 *            served first.
 * Invariant  an exclusive lock has one owner, a shared one readers and no owner; whoever waits is
 *            in its queue.
 * Owner      whoever embeds it; nobody may hold it or wait for it when its memory goes.
 * Errors     none: tasks that wait for each other for ever make sched_run() fail.
 * Differs    a sleeping lock is never spun for; in an interrupt (a completion) locks are not taken.
 */
#ifndef FL_MACHINE_LOCK_H
#define FL_MACHINE_LOCK_H

#include "machine/machine.h"

struct task;

struct lock {
	struct task *owner;	   /* who has it for itself, or NULL */
	struct task *first, *last; /* who waits, in order */
	u64 since_ps;		   /* when the owner got it */
	u32 readers;		   /* who share it */
	u16 site;		   /* of the owner, in the scheduler's table */
	u8 cpu;			   /* 1 + the CPU that had it last; 0: none had */
	bool moved;		   /* its holder found it in another CPU's cache */
	bool excluded;		   /* somebody wanted it for himself, some time */
};

/* How a function takes a lock. */
struct lock_call {
	enum lock_id id;
	bool shared;
	const char *function; /* lives for ever: __func__ */
};

void sched_lock(struct machine *m, struct lock *lock, const struct lock_call *call);
void sched_unlock(struct machine *m, struct lock *lock, enum lock_id id);
void sched_unlock_shared(struct machine *m, struct lock *lock, enum lock_id id);

static inline void lock_take(struct machine *m, struct lock *lock, enum lock_id id, bool shared,
			     bool count, const char *function)
{
	m->locks[id] += count || m->sched;
	if (unlikely(m->sched != NULL))
		sched_lock(m, lock,
			   &(struct lock_call){.id = id, .shared = shared, .function = function});
}

/* Take @lock for oneself; may switch to another task. */
#define lock_excl(m, id, lock) lock_take(m, lock, LOCK_##id, false, true, __func__)
/* Take it with other readers; may switch to another task. */
#define lock_shared(m, id, lock) lock_take(m, lock, LOCK_##id, true, true, __func__)
/*
 * The same where a lone task never meets anybody: not even counted then, so that the accounts of
 * one task stay those of the calls that matter to it.
 */
#define lock_excl_smp(m, id, lock)   lock_take(m, lock, LOCK_##id, false, false, __func__)
#define lock_shared_smp(m, id, lock) lock_take(m, lock, LOCK_##id, true, false, __func__)

static inline void unlock_excl_id(struct machine *m, struct lock *lock, enum lock_id id)
{
	if (unlikely(m->sched != NULL))
		sched_unlock(m, lock, id);
}

static inline void unlock_shared_id(struct machine *m, struct lock *lock, enum lock_id id)
{
	if (unlikely(m->sched != NULL))
		sched_unlock_shared(m, lock, id);
}

#define unlock_excl(m, id, lock)   unlock_excl_id(m, lock, LOCK_##id)
#define unlock_shared(m, id, lock) unlock_shared_id(m, lock, LOCK_##id)

/*
 * Did the task that holds @lock find it in another CPU's cache? Then the lines that @lock guards
 * are there, too: charge @n of them to @id.
 */
static inline void charge_lines(struct machine *m, const struct lock *lock, enum cost_id id,
				unsigned int n)
{
	if (unlikely(m->sched != NULL) && lock->moved)
		charge(m, id, n);
}

#endif
