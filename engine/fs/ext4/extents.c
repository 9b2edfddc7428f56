/*
 * Mirrors fs/ext4/extents.c: the tree of blocks that holds a file's extents on disk. The extents
 * themselves are kept by fs/extents.c; this decides which block of the tree each of them lies in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/balloc.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"

#define EXT4_EXT_MAGIC	      0xf30a
#define HEADER_SIZE	      12
#define ENTRY_SIZE	      12
#define ROOT_ENTRIES	      4
#define EXT_INIT_MAX_LEN      32768
#define EXT_UNWRITTEN_MAX_LEN 32767

/* ---- entries: extents cut at the borders of leaves and at what a length can say ---- */

static u64 most_blocks(const struct fs_extent *e)
{
	return e->state == EXTENT_UNWRITTEN ? EXT_UNWRITTEN_MAX_LEN : EXT_INIT_MAX_LEN;
}

/* The extent with blocks on disk at or behind @from, cut to [from, end); false if there is none. */
static bool next_extent(const struct inode *inode, u64 from, u64 end, struct fs_extent *e)
{
	unsigned int i = extents_find(inode, from);

	while (i < inode->i_nr_extents && inode->i_extents[i].state == EXTENT_DELAYED)
		i++;
	if (from >= end || i == inode->i_nr_extents || inode->i_extents[i].lblk >= end)
		return false;
	*e = inode->i_extents[i];
	if (e->lblk < from) {
		e->pblk += from - e->lblk;
		e->len -= from - e->lblk;
		e->lblk = from;
	}
	e->len = min(e->len, end - e->lblk);
	return true;
}

/* Entries in [from, end), counted up to @most; *last is the first block of the last one counted. */
static u64 count_entries(const struct inode *inode, u64 from, u64 end, u64 most, u64 *last)
{
	struct fs_extent e;
	u64 nr = 0;

	while (nr < most && next_extent(inode, from, end, &e)) {
		u64 entries = min(DIV_ROUND_UP(e.len, most_blocks(&e)), most - nr);

		*last = e.lblk + (entries - 1) * most_blocks(&e);
		from = e.lblk + e.len;
		nr += entries;
	}
	return nr;
}

/* ---- shape ---- */

int ext_depth(const struct inode *inode)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	int depth = t->nr_leaves != 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(t->index) && t->nr_index[i]; i++)
		depth++;
	return depth;
}

static u64 leaf_end(const struct ext4_ext_tree *t, unsigned int i)
{
	return i + 1 < t->nr_leaves ? t->leaves[i + 1].lblk : ~0ULL;
}

/* The leaf whose share holds @lblk. */
static unsigned int find_leaf(const struct ext4_ext_tree *t, u64 lblk)
{
	unsigned int lo = 0, hi = t->nr_leaves;

	while (hi - lo > 1) {
		unsigned int mid = (lo + hi) / 2;

		if (t->leaves[mid].lblk <= lblk)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int new_tree_block(struct inode *inode, u64 *blocknr)
{
	struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	s64 got = block_alloc(&sbi->s_tree_space, 0, 1, blocknr);

	*blocknr += sbi->s_tree_at;
	return got < 0 ? (int)got : 0;
}

static void free_tree_block(struct inode *inode, u64 blocknr)
{
	struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);

	block_free(&sbi->s_tree_space, blocknr - sbi->s_tree_at, 1);
}

static int insert_leaf(struct inode *inode, unsigned int i, u64 lblk, u64 blocknr)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	struct ext4_ext_leaf *p = realloc(t->leaves, (t->nr_leaves + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->leaves = p;
	memmove(&p[i + 1], &p[i], (t->nr_leaves - i) * sizeof(*p));
	p[i] = (struct ext4_ext_leaf){lblk, blocknr};
	t->nr_leaves++;
	return 0;
}

static int add_leaf(struct inode *inode, unsigned int i, u64 lblk)
{
	u64 blocknr;
	int ret = new_tree_block(inode, &blocknr);

	return ret ? ret : insert_leaf(inode, i, lblk, blocknr);
}

static void remove_leaf(struct inode *inode, unsigned int i)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;

	free_tree_block(inode, t->leaves[i].blocknr);
	t->nr_leaves--;
	memmove(&t->leaves[i], &t->leaves[i + 1], (t->nr_leaves - i) * sizeof(*t->leaves));
	if (!i && t->nr_leaves)
		t->leaves[0].lblk = 0;
}

/*
 * Split leaf @i until its share fits: where the change is at its end the new leaf takes what is too
 * much, else half of it. ext4_ext_split()
 */
static int split_leaf(struct inode *inode, unsigned int i, u64 changed)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	unsigned int most = ext4_extents_per_block(inode);

	for (;; i++) {
		u64 from = t->leaves[i].lblk, last = 0, border = 0;
		u64 nr = count_entries(inode, from, leaf_end(t, i), 2 * most + 1, &last);
		int ret;

		if (nr <= most)
			return 0;
		nr = nr > 2 * most || last >= changed ? most : nr / 2;
		count_entries(inode, from, leaf_end(t, i), nr + 1, &border);
		ret = add_leaf(inode, i + 1, border);
		if (ret)
			return ret;
	}
}

/* As many index blocks in every level as the one below needs. */
static int fit_index(struct inode *inode)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	unsigned int below = t->nr_leaves, most = ext4_extents_per_block(inode);

	for (unsigned int level = 0; level < ARRAY_SIZE(t->index); level++) {
		unsigned int want = below > ROOT_ENTRIES ? DIV_ROUND_UP(below, most) : 0;
		u64 *p = realloc(t->index[level], max(want, t->nr_index[level] + 1) * sizeof(*p));

		if (!p)
			return -ENOMEM;
		t->index[level] = p;
		while (t->nr_index[level] > want)
			free_tree_block(inode, p[--t->nr_index[level]]);
		for (; t->nr_index[level] < want; t->nr_index[level]++) {
			int ret = new_tree_block(inode, &p[t->nr_index[level]]);

			if (ret)
				return ret;
		}
		below = want;
	}
	return 0;
}

/* Leaves of the changed share that are empty go; a single one that fits into the root, too. */
static void drop_empty(struct inode *inode, u64 lblk, u64 end)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	u64 ignored;

	for (unsigned int i = find_leaf(t, lblk); i < t->nr_leaves && t->leaves[i].lblk < end;) {
		if (count_entries(inode, t->leaves[i].lblk, leaf_end(t, i), 1, &ignored))
			i++;
		else
			remove_leaf(inode, i);
	}
	if (t->nr_leaves == 1 &&
	    count_entries(inode, 0, ~0ULL, ROOT_ENTRIES + 1, &ignored) <= ROOT_ENTRIES)
		remove_leaf(inode, 0);
}

/* Make [*lblk, *end) fit; both grow to the borders of leaves that were split. */
static int reshape(struct inode *inode, u64 *lblk, u64 *end)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	u64 changed = *lblk, last = *end, ignored;
	int ret = 0;

	if (!t->nr_leaves) {
		if (count_entries(inode, 0, ~0ULL, ROOT_ENTRIES + 1, &ignored) <= ROOT_ENTRIES)
			return 0;
		ret = add_leaf(inode, 0, 0);
		*lblk = 0;
		*end = ~0ULL;
	}
	for (unsigned int i = find_leaf(t, changed); !ret && i < t->nr_leaves; i++) {
		u64 from = t->leaves[i].lblk, to = leaf_end(t, i);
		unsigned int before = t->nr_leaves;

		if (from >= last)
			break;
		ret = split_leaf(inode, i, changed);
		if (t->nr_leaves == before)
			continue;
		*lblk = min(*lblk, from);
		*end = max(*end, to);
	}
	if (!ret)
		drop_empty(inode, changed, last);
	return ret ? ret : fit_index(inode);
}

static int dirty_index(handle_t *handle, struct inode *inode, unsigned int pos)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	int ret = 0;

	for (unsigned int level = 0; level < ARRAY_SIZE(t->index); level++) {
		pos /= ext4_extents_per_block(inode);
		for (unsigned int i = pos; i < t->nr_index[level] && !ret; i++)
			ret = ext4_handle_dirty_metadata(handle, inode, t->index[level][i]);
	}
	return ret;
}

int ext4_ext_dirty(handle_t *handle, struct inode *inode, u64 lblk, u64 len)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	u64 end = len > ~lblk - 1 ? ~0ULL : lblk + len + 1;
	unsigned int before = t->nr_leaves, first;
	int ret;

	if (!ext4_journal(inode) || !(inode->i_flags & EXT4_EXTENTS_FL))
		return 0;
	lblk -= lblk != 0; /* the neighbour may have grown */
	ret = reshape(inode, &lblk, &end);
	if (!ret)
		ret = ext4_mark_inode_dirty(handle, inode);
	first = find_leaf(t, lblk);
	for (unsigned int i = first; i < t->nr_leaves && t->leaves[i].lblk < end && !ret; i++)
		ret = ext4_handle_dirty_metadata(handle, inode, t->leaves[i].blocknr);
	if (!ret && before != t->nr_leaves)
		ret = dirty_index(handle, inode, first);
	return ret;
}

/* ---- bytes ---- */

static void put_header(void *buf, unsigned int nr, unsigned int most, unsigned int depth)
{
	ext4_put16(buf, 0, EXT4_EXT_MAGIC);
	ext4_put16(buf, 2, nr);
	ext4_put16(buf, 4, most);
	ext4_put16(buf, 6, depth);
}

static void put_entry(char *p, const struct fs_extent *e)
{
	ext4_put32(p, 0, e->lblk);
	ext4_put16(p, 4, e->len + (e->state == EXTENT_UNWRITTEN ? EXT_INIT_MAX_LEN : 0));
	ext4_put16(p, 6, e->pblk >> 32);
	ext4_put32(p, 8, e->pblk);
}

static void put_index(char *p, u64 lblk, u64 blocknr)
{
	ext4_put32(p, 0, lblk);
	ext4_put32(p, 4, blocknr);
	ext4_put16(p, 8, blocknr >> 32);
}

static void fill_leaf(const struct inode *inode, u64 from, u64 end, unsigned int most, char *buf)
{
	struct fs_extent e;
	unsigned int nr = 0;

	while (nr < most && next_extent(inode, from, end, &e)) {
		e.len = min(e.len, most_blocks(&e));
		put_entry(buf + HEADER_SIZE + nr++ * ENTRY_SIZE, &e);
		from = e.lblk + e.len;
	}
	put_header(buf, nr, most, 0);
}

/* The first block of the file under node @i of a level; 0 is the leaves. */
static u64 first_block(const struct inode *inode, unsigned int level, unsigned int i)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;

	while (level--)
		i *= ext4_extents_per_block(inode);
	return t->leaves[i].lblk;
}

/* Nodes [i, i + nr) of @level as the entries of the block above them. */
static void fill_index(const struct inode *inode, unsigned int level, unsigned int i,
		       unsigned int nr, unsigned int most, char *buf)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;

	put_header(buf, nr, most, level + 1);
	for (unsigned int k = 0; k < nr; k++)
		put_index(buf + HEADER_SIZE + k * ENTRY_SIZE, first_block(inode, level, i + k),
			  level ? t->index[level - 1][i + k] : t->leaves[i + k].blocknr);
}

void ext4_ext_fill_root(struct inode *inode, void *buf)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	unsigned int depth = ext_depth(inode);

	if (!depth)
		fill_leaf(inode, 0, ~0ULL, ROOT_ENTRIES, buf);
	else
		fill_index(inode, depth - 1, 0, depth > 1 ? t->nr_index[depth - 2] : t->nr_leaves,
			   ROOT_ENTRIES, buf);
}

bool ext4_ext_fill_block(struct inode *inode, u64 blocknr, void *buf)
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	unsigned int most = ext4_extents_per_block(inode), below = t->nr_leaves;

	for (unsigned int i = 0; i < t->nr_leaves; i++) {
		if (t->leaves[i].blocknr != blocknr)
			continue;
		fill_leaf(inode, t->leaves[i].lblk, leaf_end(t, i), most, buf);
		return true;
	}
	for (unsigned int level = 0; level < ARRAY_SIZE(t->index); level++) {
		for (unsigned int i = 0; i < t->nr_index[level]; i++) {
			if (t->index[level][i] != blocknr)
				continue;
			fill_index(inode, level, i * most, min(most, below - i * most), most, buf);
			return true;
		}
		below = t->nr_index[level];
	}
	return false;
}

int ext4_ext_for_each_block(struct inode *inode, int (*fn)(struct inode *inode, u64 blocknr))
{
	const struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	int ret = 0;

	for (unsigned int i = 0; i < t->nr_leaves && !ret; i++)
		ret = fn(inode, t->leaves[i].blocknr);
	for (unsigned int level = 0; level < ARRAY_SIZE(t->index); level++)
		for (unsigned int i = 0; i < t->nr_index[level] && !ret; i++)
			ret = fn(inode, t->index[level][i]);
	return ret;
}

void ext4_ext_release(struct inode *inode)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;

	free(t->leaves);
	for (unsigned int i = 0; i < ARRAY_SIZE(t->index); i++)
		free(t->index[i]);
}

/* ---- reading back ---- */

static int load_entry(struct inode *inode, const char *p)
{
	unsigned int len = ext4_get16(p, 4);
	bool unwritten = len > EXT_INIT_MAX_LEN;
	struct fs_extent e = {
		.lblk = ext4_get32(p, 0),
		.len = unwritten ? len - EXT_INIT_MAX_LEN : len,
		.pblk = ext4_get32(p, 8) | (u64)ext4_get16(p, 6) << 32,
		.state = unwritten ? EXTENT_UNWRITTEN : EXTENT_WRITTEN,
	};
	int ret = e.len ? block_alloc_exact(inode->i_sb->s_space, e.pblk, e.len) : -EUCLEAN;

	/* Two entries over the same blocks: somebody else's data would show. */
	return ret ? (ret == -EBUSY ? -EUCLEAN : ret) : extents_set(inode, &e);
}

static int note_index(struct inode *inode, unsigned int level, u64 blocknr)
{
	struct ext4_ext_tree *t = &EXT4_I(inode)->tree;
	u64 *p = realloc(t->index[level], (t->nr_index[level] + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->index[level] = p;
	p[t->nr_index[level]++] = blocknr;
	return 0;
}

static int load_node(struct inode *inode, const char *node, unsigned int depth);

/* The block an index entry points to. */
static int load_child(struct inode *inode, const char *p, unsigned int depth)
{
	struct super_block *sb = inode->i_sb;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int size = 1u << sb->s_blocksize_bits;
	u64 blocknr = ext4_get32(p, 4) | (u64)ext4_get16(p, 8) << 32;
	char *buf = malloc(size);
	int ret = -ENOMEM;

	if (buf && blocknr < sbi->s_tree_at)
		ret = -EUCLEAN;
	else if (buf)
		ret = block_alloc_exact(&sbi->s_tree_space, blocknr - sbi->s_tree_at, 1);
	if (!ret)
		ret = depth ? note_index(inode, depth - 1, blocknr)
			    : insert_leaf(inode, EXT4_I(inode)->tree.nr_leaves, ext4_get32(p, 0),
					  blocknr);
	if (!ret)
		ret = blk_rw_wait(sb->s_bdev, REQ_OP_READ | REQ_META,
				  blocknr << sb->s_blocksize_bits, buf, size);
	if (!ret)
		ret = load_node(inode, buf, depth);
	free(buf);
	return ret;
}

static int load_node(struct inode *inode, const char *node, unsigned int depth)
{
	unsigned int nr = ext4_get16(node, 2);
	int ret = 0;

	if (ext4_get16(node, 0) != EXT4_EXT_MAGIC || ext4_get16(node, 6) != depth ||
	    nr > max_t(unsigned int, ROOT_ENTRIES, ext4_extents_per_block(inode)))
		return -EUCLEAN;
	for (unsigned int i = 0; i < nr && !ret; i++) {
		const char *p = node + HEADER_SIZE + i * ENTRY_SIZE;

		ret = depth ? load_child(inode, p, depth - 1) : load_entry(inode, p);
	}
	return ret;
}

int ext4_ext_load(struct inode *inode, const void *buf)
{
	unsigned int depth = ext4_get16(buf, 6);

	if (depth > ARRAY_SIZE(EXT4_I(inode)->tree.index) + 1)
		return -EUCLEAN;
	return load_node(inode, buf, depth);
}
