/*
 * machine/knobs.h - which kernel a machine is.
 *
 * A profile is a set of knobs; --kernel v6.7+ab4443fe3ca6-READ_BATCH_END starts from a profile
 * and toggles single commits. The tables are machine/knobs.def and machine/profiles.def.
 *
 * Invariant  a knob that needs another (knob_requires) is never on without it.
 * Errors     -EINVAL with a sentence and the nearest name in struct fl_error.
 */
#ifndef FL_MACHINE_KNOBS_H
#define FL_MACHINE_KNOBS_H

#include "lib/error.h"
#include "lib/types.h"

enum knob_id {
#define KNOB(name, commit, since, what) KNOB_##name,
#include "machine/knobs.def"
#undef KNOB
	KNOB_NR,
};

#define KNOB_WORDS ((KNOB_NR + 63) / 64)

struct knobs {
	u64 bits[KNOB_WORDS];
};

struct knob_info {
	const char *name;   /* as in machine/knobs.def */
	const char *commit; /* 12 hex digits or "" */
	const char *since;  /* first mainline version */
	const char *what;   /* one line */
};

struct profile_info {
	const char *name;
	const char *base;  /* "" for the first */
	const char *knobs; /* "+A-B" against the base */
	const char *what;
};

static inline bool knobs_test(const struct knobs *k, enum knob_id id)
{
	return k->bits[id / 64] >> (id % 64) & 1;
}

void knobs_assign(struct knobs *k, enum knob_id id, bool on);

/* NULL past the end of the table. */
const struct knob_info *knob_info(unsigned int id);
const struct profile_info *profile_info(unsigned int nr);

/* The knob of that name (any case) or of that commit (at least 7 digits); -ENOENT. */
int knob_by_name(const char *name, size_t len);

/*
 * Parse PROFILE[+KNOB|-KNOB]... where KNOB is a knob's name or commit.
 * 0, or -EINVAL with @err filled: unknown profile or knob (and the nearest one), or a knob
 * without the one it needs.
 */
int knobs_parse(struct knobs *k, const char *expr, struct fl_error *err);

/* The profile a recorded kernel of that release ("6.12.117+deb13-amd64") plays as; NULL if none. */
const char *profile_of_release(const char *release);

#endif
