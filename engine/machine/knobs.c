#include "machine/knobs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/strutil.h"

static const struct knob_info knob_table[] = {
#define KNOB(name, commit, since, what) {#name, commit, since, what},
#include "machine/knobs.def"
#undef KNOB
};

static const struct profile_info profile_table[] = {
#define PROFILE(name, base, knobs, what) {name, base, knobs, what},
#include "machine/profiles.def"
#undef PROFILE
};

/* A knob that means nothing without another (spec of the patch series they came in). */
static const struct {
	enum knob_id id, needs;
} knob_requires[] = {
	{KNOB_NEXT_MISS_FIX, KNOB_NEXT_MISS_OUTSIDE},
	{KNOB_FALLBACK_GUARD, KNOB_FALLBACK_SHORTEN},
	{KNOB_END_ALIGN, KNOB_HONOUR_NEW_ORDER},
	{KNOB_RA_ORDER_FIELD, KNOB_HONOUR_NEW_ORDER},
	{KNOB_EXEC_OVER_RAND, KNOB_EXEC_RA},
	{KNOB_GATHER_PAIR, KNOB_STAT_PER_UNMAP},
	{KNOB_ZAP_MARK_ACCESSED, KNOB_STAT_PER_UNMAP},
	{KNOB_MM_OWNER_LOCK, KNOB_LARGE_MAPCOUNT},
	{KNOB_NR_MAPPED_RMW, KNOB_MAP_BATCH},
	{KNOB_MAP_RMW_ORDER0, KNOB_MAP_BATCH},
	{KNOB_WHOLE_FOLIO_AROUND, KNOB_MAP_BATCH},
	{KNOB_EXT4_JDATA_BIG_BLOCK, KNOB_EXT4_BS_GT_PS},
	{KNOB_SHMEM_READ_FOLIO, KNOB_SHMEM_READ_KIPOS},
	{KNOB_SHMEM_READ_V1, KNOB_SHMEM_READ_KIPOS},
	{KNOB_SHMEM_SPLICE_FALLBACK, KNOB_SHMEM_SPLICE},
	{KNOB_SHMEM_PMD_FIRST, KNOB_SHMEM_SIZE_ORDERS},
};

/* Releases of recorded kernels and the profile each plays as. */
static const struct {
	const char *prefix, *profile;
} releases[] = {
	{"6.1.", "v6.1.y"},   {"6.12.", "v6.12.y"}, {"6.16.", "v6.16.y"},
	{"6.17.", "v6.17.y"}, {"6.18.", "v6.18"},   {"7.3.", "v7.3"},
};

const struct knob_info *knob_info(unsigned int id)
{
	return id < ARRAY_SIZE(knob_table) ? &knob_table[id] : NULL;
}

const struct profile_info *profile_info(unsigned int nr)
{
	return nr < ARRAY_SIZE(profile_table) ? &profile_table[nr] : NULL;
}

void knobs_assign(struct knobs *k, enum knob_id id, bool on)
{
	u64 bit = 1ULL << (id % 64);

	if (on)
		k->bits[id / 64] |= bit;
	else
		k->bits[id / 64] &= ~bit;
}

static bool is_commit(const char *s, size_t len)
{
	if (len < 7 || len > 40)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

int knob_by_name(const char *name, size_t len)
{
	for (unsigned int i = 0; i < KNOB_NR; i++) {
		const char *commit = knob_table[i].commit;

		if (strlen(knob_table[i].name) == len &&
		    !strncasecmp(knob_table[i].name, name, len))
			return i;
		if (*commit && is_commit(name, len) &&
		    !strncasecmp(commit, name, min_t(size_t, len, 12)))
			return i;
	}
	return -ENOENT;
}

static const struct profile_info *profile_by_name(const char *name, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(profile_table); i++)
		if (strlen(profile_table[i].name) == len &&
		    !strncasecmp(profile_table[i].name, name, len))
			return &profile_table[i];
	return NULL;
}

/* "v6.8" or "6.8.3" as a number to compare; 0 if it is no version. @stable: is it of a stable tree?
 */
static unsigned int version_of(const char *name, bool *stable)
{
	unsigned int major, minor;
	int len = 0;

	name += *name == 'v' || *name == 'V';
	if (sscanf(name, "%4u.%4u%n", &major, &minor, &len) != 2)
		return 0;
	*stable = name[len] == '.';
	return major * 10000 + minor;
}

/* The newest profile up to the version called @name, else the oldest; NULL if it is no version. */
static const char *nearest_version(const char *name)
{
	const char *best = profile_table[0].name;
	bool stable = false, ignored;
	unsigned int wanted = version_of(name, &stable), found = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(profile_table); i++) {
		unsigned int version = version_of(profile_table[i].name, &ignored);

		if (version > wanted || version < found + !stable)
			continue;
		best = profile_table[i].name;
		found = version;
	}
	return wanted ? best : NULL;
}

static int unknown_profile(const char *name, struct fl_error *err)
{
	const char *names[ARRAY_SIZE(profile_table)], *near = nearest_version(name);

	for (unsigned int i = 0; i < ARRAY_SIZE(profile_table); i++)
		names[i] = profile_table[i].name;
	if (!near)
		near = nearest(name, names, ARRAY_SIZE(names));
	if (near)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "unknown kernel '%s', expected a profile of 'foliolab kernels' "
				    "(did you mean '%s'?)",
				    name, near);
	return fl_error_set(err, -EINVAL, "--kernel", 0,
			    "unknown kernel '%s', expected a profile of 'foliolab kernels'", name);
}

static int unknown_knob(const char *name, struct fl_error *err)
{
	const char *names[KNOB_NR], *near;
	char upper[64];
	size_t i;

	for (i = 0; i < sizeof(upper) - 1 && name[i]; i++)
		upper[i] = toupper((unsigned char)name[i]);
	upper[i] = 0;
	for (i = 0; i < KNOB_NR; i++)
		names[i] = knob_table[i].name;
	near = nearest(upper, names, KNOB_NR);
	if (near)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "unknown knob '%s', expected one of 'foliolab kernels --knobs' "
				    "(did you mean '%s'?)",
				    name, near);
	return fl_error_set(err, -EINVAL, "--kernel", 0,
			    "unknown knob '%s', expected one of 'foliolab kernels --knobs'", name);
}

/* Apply "+A-B..." to @k. */
static int apply_toggles(struct knobs *k, const char *s, struct fl_error *err)
{
	while (*s) {
		bool on = *s++ == '+';
		size_t len = strcspn(s, "+-");
		int id = knob_by_name(s, len);
		char name[64];

		if (id < 0) {
			snprintf(name, sizeof(name), "%.*s", (int)min_t(size_t, len, 63), s);
			return unknown_knob(name, err);
		}
		knobs_assign(k, id, on);
		s += len;
	}
	return 0;
}

/* Bases are short chains, so recursion is bounded by the table. */
static int apply_profile(struct knobs *k, const struct profile_info *p, struct fl_error *err)
{
	int ret;

	if (*p->base) {
		ret = apply_profile(k, profile_by_name(p->base, strlen(p->base)), err);
		if (ret)
			return ret;
	}
	return apply_toggles(k, p->knobs, err);
}

static int check_requires(const struct knobs *k, struct fl_error *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(knob_requires); i++)
		if (knobs_test(k, knob_requires[i].id) && !knobs_test(k, knob_requires[i].needs))
			return fl_error_set(err, -EINVAL, "--kernel", 0,
					    "%s is on without %s, expected both",
					    knob_table[knob_requires[i].id].name,
					    knob_table[knob_requires[i].needs].name);
	return 0;
}

int knobs_parse(struct knobs *k, const char *expr, struct fl_error *err)
{
	size_t len = strcspn(expr, "+-");
	const struct profile_info *p = profile_by_name(expr, len);
	char name[64];
	int ret;

	memset(k, 0, sizeof(*k));
	if (!p) {
		snprintf(name, sizeof(name), "%.*s", (int)min_t(size_t, len, 63), expr);
		return unknown_profile(name, err);
	}
	ret = apply_profile(k, p, err);
	if (!ret)
		ret = apply_toggles(k, expr + len, err);
	return ret ? ret : check_requires(k, err);
}

const char *profile_of_release(const char *release)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++)
		if (!strncmp(release, releases[i].prefix, strlen(releases[i].prefix)))
			return releases[i].profile;
	return NULL;
}
