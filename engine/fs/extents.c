#include "fs/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned int extents_find(const struct inode *inode, u64 lblk)
{
	unsigned int lo = 0, hi = inode->i_nr_extents;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (inode->i_extents[mid].lblk + inode->i_extents[mid].len <= lblk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct fs_extent *extents_lookup(const struct inode *inode, u64 lblk)
{
	unsigned int i = extents_find(inode, lblk);

	if (i == inode->i_nr_extents || inode->i_extents[i].lblk > lblk)
		return NULL;
	return &inode->i_extents[i];
}

/* Room for @extra more extents. */
static int extents_reserve(struct inode *inode, unsigned int extra)
{
	unsigned int want = inode->i_nr_extents + extra, cap = inode->i_cap_extents;
	struct fs_extent *p;

	if (want <= cap)
		return 0;
	cap = max(want, max(2 * cap, 8u));
	p = realloc(inode->i_extents, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	inode->i_extents = p;
	inode->i_cap_extents = cap;
	return 0;
}

static void insert_at(struct inode *inode, unsigned int i, struct fs_extent e)
{
	memmove(&inode->i_extents[i + 1], &inode->i_extents[i],
		(inode->i_nr_extents - i) * sizeof(e));
	inode->i_extents[i] = e;
	inode->i_nr_extents++;
}

static void delete_at(struct inode *inode, unsigned int i)
{
	inode->i_nr_extents--;
	memmove(&inode->i_extents[i], &inode->i_extents[i + 1],
		(inode->i_nr_extents - i) * sizeof(*inode->i_extents));
}

/* The part of @e from @skip blocks on. */
static struct fs_extent tail_of(struct fs_extent e, u64 skip)
{
	e.lblk += skip;
	e.len -= skip;
	if (e.state != EXTENT_DELAYED)
		e.pblk += skip;
	return e;
}

/* Make an extent begin at @lblk if one lies across it. Needs room for one more. */
static void cut_at(struct inode *inode, u64 lblk)
{
	unsigned int i = extents_find(inode, lblk);
	struct fs_extent *e;

	if (i == inode->i_nr_extents || inode->i_extents[i].lblk >= lblk)
		return;
	e = &inode->i_extents[i];
	insert_at(inode, i + 1, tail_of(*e, lblk - e->lblk));
	inode->i_extents[i].len = lblk - inode->i_extents[i].lblk;
}

static bool continues(const struct fs_extent *a, const struct fs_extent *b)
{
	return a->state == b->state && a->lblk + a->len == b->lblk &&
	       (a->state == EXTENT_DELAYED || a->pblk + a->len == b->pblk);
}

static void merge_range(struct inode *inode, u64 first, u64 end)
{
	unsigned int i = extents_find(inode, first ? first - 1 : 0);

	while (i + 1 < inode->i_nr_extents && inode->i_extents[i].lblk <= end) {
		struct fs_extent *e = &inode->i_extents[i];

		if (continues(e, e + 1)) {
			e->len += e[1].len;
			delete_at(inode, i + 1);
		} else {
			i++;
		}
	}
}

int extents_remove(struct inode *inode, u64 lblk, u64 len,
		   void (*freed)(struct inode *inode, u64 pblk, u64 len))
{
	u64 end = lblk + len;
	unsigned int i;
	int ret = extents_reserve(inode, 2);

	if (ret)
		return ret;
	cut_at(inode, lblk);
	cut_at(inode, end);
	i = extents_find(inode, lblk);
	while (i < inode->i_nr_extents && inode->i_extents[i].lblk < end) {
		struct fs_extent e = inode->i_extents[i];

		delete_at(inode, i);
		if (freed && e.state != EXTENT_DELAYED)
			freed(inode, e.pblk, e.len);
	}
	return 0;
}

int extents_set(struct inode *inode, const struct fs_extent *e)
{
	int ret = extents_reserve(inode, 3);

	if (!ret)
		ret = extents_remove(inode, e->lblk, e->len, NULL);
	if (ret)
		return ret;
	insert_at(inode, extents_find(inode, e->lblk), *e);
	merge_range(inode, e->lblk, e->lblk + e->len);
	return 0;
}

int extents_set_state(struct inode *inode, u64 lblk, u64 len, enum extent_state state)
{
	u64 end = lblk + len;
	int ret = extents_reserve(inode, 2);

	if (ret)
		return ret;
	cut_at(inode, lblk);
	cut_at(inode, end);
	for (unsigned int i = extents_find(inode, lblk);
	     i < inode->i_nr_extents && inode->i_extents[i].lblk < end; i++)
		inode->i_extents[i].state = state;
	merge_range(inode, lblk, end);
	return 0;
}
