/*
 * The locked-in side: everything that touches libext2fs. It may be fooled, crash or loop; the
 * parent (ext4_image.c) sees to it that nothing comes of that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ext2fs/ext2_err.h>

#include "host/ext4_image_io.h"
#include "host/ext4_image_wire.h"
#include "host/jail.h"

#define MEMORY_LIMIT  (256ULL << 20)
#define CPU_LIMIT     10 /* seconds */
#define EXTENTS_BATCH 1024
#define DIRS_MAX      (1u << 16)

/* What is going on in the child. */
struct reader {
	ext2_filsys fs;
	bool broken; /* the parent is gone or an ERROR was sent: say no more */
};

/* ---- answers ---- */

static void send_bytes(struct reader *r, const void *data, size_t len)
{
	const char *p = data;

	while (len && !r->broken) {
		ssize_t n = write(JAIL_TALK, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r->broken = true;
			return;
		}
		p += n;
		len -= n;
	}
}

static void send_record(struct reader *r, u32 type, const void *a, size_t a_len, const void *b,
			size_t b_len)
{
	struct image_record head = {.type = type, .len = a_len + b_len};

	send_bytes(r, &head, sizeof(head));
	send_bytes(r, a, a_len);
	send_bytes(r, b, b_len);
}

static void send_end(struct reader *r, u32 more)
{
	send_record(r, IMAGE_END, &more, sizeof(more), NULL, 0);
}

/* Ends the answer; what comes after it is not sent. Returns an error code for callbacks. */
static errcode_t fail(struct reader *r, enum image_failure failure, const char *text)
{
	struct image_error e = {.failure = failure};

	send_record(r, IMAGE_ERROR, &e, sizeof(e), text, strlen(text));
	r->broken = true;
	return EXT2_ET_CANCEL_REQUESTED;
}

static errcode_t damaged(struct reader *r, errcode_t code)
{
	return fail(r, IMAGE_DAMAGED, error_message(code));
}

/* ---- extents ---- */

struct extent_list {
	struct reader *r;
	struct image_extent batch[EXTENTS_BATCH];
	unsigned int nr; /* in the batch; the last one may still grow */
	u64 total;
	u64 end; /* first block behind what was taken */
};

static void flush_extents(struct extent_list *l)
{
	if (l->nr)
		send_record(l->r, IMAGE_EXTENTS, l->batch, l->nr * sizeof(l->batch[0]), NULL, 0);
	l->nr = 0;
}

/* Take an extent in order, joined with the one before it where it goes on. */
static errcode_t take_extent(struct extent_list *l, const struct image_extent *e)
{
	struct image_extent *last = l->nr ? &l->batch[l->nr - 1] : NULL;

	if (e->lblk < l->end)
		return fail(l->r, IMAGE_DAMAGED, "extents out of order");
	l->end = e->lblk + e->len;
	if (last && last->lblk + last->len == e->lblk && last->pblk + last->len == e->pblk &&
	    last->unwritten == e->unwritten && (u64)last->len + e->len <= UINT32_MAX) {
		last->len += e->len;
		return 0;
	}
	if (++l->total > IMAGE_EXTENTS_MAX)
		return fail(l->r, IMAGE_TOO_MUCH, "more than 1048576 extents in one file");
	if (l->nr == EXTENTS_BATCH)
		flush_extents(l);
	l->batch[l->nr++] = *e;
	return 0;
}

/* One step of the walk over an extent tree: leaves are taken once. */
static errcode_t take_tree_extent(struct extent_list *l, const struct ext2fs_extent *e)
{
	struct image_extent x = {
		.lblk = e->e_lblk,
		.pblk = e->e_pblk,
		.len = e->e_len,
		.unwritten = !!(e->e_flags & EXT2_EXTENT_FLAGS_UNINIT),
	};

	if (!(e->e_flags & EXT2_EXTENT_FLAGS_LEAF) || e->e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT)
		return 0;
	return take_extent(l, &x);
}

static errcode_t walk_extent_tree(struct extent_list *l, ext2_ino_t ino, struct ext2_inode *inode)
{
	ext2_extent_handle_t handle;
	struct ext2fs_extent extent;
	errcode_t ret = ext2fs_extent_open2(l->r->fs, ino, inode, &handle);
	int op = EXT2_EXTENT_ROOT;

	if (ret)
		return damaged(l->r, ret);
	for (u64 steps = 0; steps < IMAGE_STEPS_MAX; steps++) {
		ret = ext2fs_extent_get(handle, op, &extent);
		if (!ret)
			ret = take_tree_extent(l, &extent);
		if (ret)
			break;
		op = EXT2_EXTENT_NEXT;
	}
	ext2fs_extent_free(handle);
	if (!ret)
		return fail(l->r, IMAGE_DAMAGED, "an extent tree without end");
	/* An empty tree has no root entry, a full one ends behind its last. */
	if (ret == EXT2_ET_EXTENT_NO_NEXT || ret == EXT2_ET_NO_CURRENT_NODE)
		return 0;
	return l->r->broken ? ret : damaged(l->r, ret);
}

static int take_mapped_block(ext2_filsys fs, blk64_t *pblk, e2_blkcnt_t lblk, blk64_t ref_blk,
			     int ref_offset, void *data)
{
	struct extent_list *l = data;
	struct image_extent x = {.lblk = lblk, .pblk = *pblk, .len = 1};

	(void)fs;
	(void)ref_blk;
	(void)ref_offset;
	return take_extent(l, &x) ? BLOCK_ABORT : 0;
}

static errcode_t walk_block_map(struct extent_list *l, ext2_ino_t ino)
{
	errcode_t ret =
		ext2fs_block_iterate3(l->r->fs, ino, BLOCK_FLAG_READ_ONLY | BLOCK_FLAG_DATA_ONLY,
				      NULL, take_mapped_block, l);

	if (l->r->broken)
		return EXT2_ET_CANCEL_REQUESTED;
	return ret ? damaged(l->r, ret) : 0;
}

static errcode_t send_extents(struct reader *r, ext2_ino_t ino, struct ext2_inode *inode)
{
	struct extent_list *l = calloc(1, sizeof(*l));
	errcode_t ret;

	if (!l)
		return damaged(r, ENOMEM);
	l->r = r;
	if (inode->i_flags & EXT4_EXTENTS_FL)
		ret = walk_extent_tree(l, ino, inode);
	else
		ret = walk_block_map(l, ino);
	if (!ret)
		flush_extents(l);
	free(l);
	return ret;
}

static errcode_t send_inline(struct reader *r, ext2_ino_t ino, struct ext2_inode *inode)
{
	size_t size = 0;
	char *buf;
	errcode_t ret = ext2fs_inline_data_size(r->fs, ino, &size);

	if (ret)
		return damaged(r, ret);
	if (size > IMAGE_RECORD_MAX)
		return fail(r, IMAGE_DAMAGED, "inline data larger than any inode");
	buf = calloc(1, IMAGE_RECORD_MAX + EXT2_MAX_BLOCK_SIZE);
	if (!buf)
		return damaged(r, ENOMEM);
	ret = ext2fs_inline_data_get(r->fs, ino, inode, buf, &size);
	if (ret || size > IMAGE_RECORD_MAX)
		ret = damaged(r, ret ? ret : EXT2_ET_INLINE_DATA_NO_SPACE);
	else
		send_record(r, IMAGE_INLINE, buf, size, NULL, 0);
	free(buf);
	return ret;
}

/* ---- one file ---- */

static struct image_inode inode_facts(ext2_ino_t ino, const struct ext2_inode *inode)
{
	return (struct image_inode){
		.ino = ino,
		.mode = inode->i_mode,
		.flags = inode->i_flags,
		.size = EXT2_I_SIZE(inode),
	};
}

static const char *kind_of(const struct ext2_inode *inode)
{
	if (LINUX_S_ISDIR(inode->i_mode))
		return "a directory";
	if (LINUX_S_ISLNK(inode->i_mode))
		return "a symbolic link";
	return "not a regular file";
}

/* The inode called @path; "" is the root. */
static errcode_t find(struct reader *r, const char *path, ext2_ino_t *ino, struct ext2_inode *inode)
{
	errcode_t ret = ext2fs_namei(r->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, *path ? path : "/", ino);

	if (ret == EXT2_ET_FILE_NOT_FOUND || ret == EXT2_ET_NO_DIRECTORY)
		return fail(r, IMAGE_NOT_FOUND, "no such file");
	if (ret == EXT2_ET_SYMLINK_LOOP)
		return fail(r, IMAGE_NOT_FOUND, "a loop of symbolic links");
	if (!ret)
		ret = ext2fs_read_inode(r->fs, *ino, inode);
	return ret ? damaged(r, ret) : 0;
}

static void serve_file(struct reader *r, const char *path)
{
	struct image_inode facts;
	struct ext2_inode inode;
	ext2_ino_t ino;
	errcode_t ret;

	if (find(r, path, &ino, &inode))
		return;
	if (!LINUX_S_ISREG(inode.i_mode)) {
		fail(r, IMAGE_NOT_A_FILE, kind_of(&inode));
		return;
	}
	facts = inode_facts(ino, &inode);
	send_record(r, IMAGE_INODE, &facts, sizeof(facts), NULL, 0);
	if (inode.i_flags & EXT4_INLINE_DATA_FL)
		ret = send_inline(r, ino, &inode);
	else
		ret = send_extents(r, ino, &inode);
	if (!ret)
		send_end(r, 0);
}

/* ---- many files ---- */

struct walk_dir {
	ext2_ino_t ino;
	char *path;
};

struct walk {
	struct reader *r;
	struct walk_dir *dirs; /* DIRS_MAX; those before @next are done */
	u32 nr, next;
	u32 left; /* entries that may still be sent */
	bool more;
	u32 seen[4 * DIRS_MAX]; /* directories met, by hash: a loop is entered once */
	char path[IMAGE_PATH_MAX + 1];
};

/* Was this directory met before? It was from now on. */
static bool walk_seen(struct walk *w, ext2_ino_t ino)
{
	u32 i = ino * 2654435761u % ARRAY_SIZE(w->seen);

	for (; w->seen[i]; i = (i + 1) % ARRAY_SIZE(w->seen))
		if (w->seen[i] == ino)
			return true;
	w->seen[i] = ino;
	return false;
}

static errcode_t walk_push(struct walk *w, ext2_ino_t ino, const char *path)
{
	if (walk_seen(w, ino))
		return fail(w->r, IMAGE_DAMAGED, "a directory with two parents");
	if (w->nr == DIRS_MAX) {
		w->more = true;
		return 0;
	}
	w->dirs[w->nr].path = strdup(path);
	if (!w->dirs[w->nr].path)
		return damaged(w->r, ENOMEM);
	w->dirs[w->nr++].ino = ino;
	return 0;
}

static errcode_t walk_file(struct walk *w, ext2_ino_t ino, const struct ext2_inode *inode,
			   const char *path)
{
	struct image_inode facts = inode_facts(ino, inode);

	if (!w->left) {
		w->more = true;
		return 0;
	}
	w->left--;
	send_record(w->r, IMAGE_ENTRY, &facts, sizeof(facts), path, strlen(path));
	return w->r->broken ? EXT2_ET_CANCEL_REQUESTED : 0;
}

static errcode_t walk_name(struct walk *w, const struct walk_dir *dir, const char *name, size_t len,
			   ext2_ino_t ino)
{
	struct ext2_inode inode;
	int n = snprintf(w->path, sizeof(w->path), "%s%s%.*s", dir->path, *dir->path ? "/" : "",
			 (int)len, name);
	errcode_t ret;

	if (n >= (int)sizeof(w->path))
		return fail(w->r, IMAGE_TOO_MUCH, "a path longer than 4096 bytes");
	ret = ext2fs_read_inode(w->r->fs, ino, &inode);
	if (ret)
		return damaged(w->r, ret);
	if (LINUX_S_ISDIR(inode.i_mode))
		return walk_push(w, ino, w->path);
	return LINUX_S_ISREG(inode.i_mode) ? walk_file(w, ino, &inode, w->path) : 0;
}

/* "." and ".."; an inline directory passes them like any other name. */
static bool is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

static int walk_dirent(ext2_ino_t dir, int entry, struct ext2_dir_entry *dirent, int offset,
		       int blocksize, char *buf, void *data)
{
	struct walk *w = data;
	size_t len = ext2fs_dirent_name_len(dirent);
	const struct walk_dir *d = &w->dirs[w->next];

	(void)dir;
	(void)offset;
	(void)blocksize;
	(void)buf;
	if (entry != DIRENT_OTHER_FILE || !dirent->inode || is_dots(dirent->name, len))
		return 0;
	if (walk_name(w, d, dirent->name, len, dirent->inode))
		return DIRENT_ABORT;
	return w->more ? DIRENT_ABORT : 0;
}

static void walk_dirs(struct walk *w)
{
	while (w->next < w->nr && !w->r->broken && !w->more) {
		errcode_t ret = ext2fs_dir_iterate2(w->r->fs, w->dirs[w->next].ino, 0, NULL,
						    walk_dirent, w);

		if (ret && !w->r->broken)
			damaged(w->r, ret);
		w->next++;
	}
}

static void walk_from(struct walk *w, const char *path)
{
	struct ext2_inode inode;
	ext2_ino_t ino;

	if (find(w->r, path, &ino, &inode))
		return;
	if (LINUX_S_ISREG(inode.i_mode))
		walk_file(w, ino, &inode, path);
	else if (!LINUX_S_ISDIR(inode.i_mode))
		fail(w->r, IMAGE_NOT_A_FILE, kind_of(&inode));
	else if (!walk_push(w, ino, path))
		walk_dirs(w);
	if (!w->r->broken)
		send_end(w->r, w->more);
}

static void serve_walk(struct reader *r, const char *path, u32 max)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct walk_dir *dirs = calloc(DIRS_MAX, sizeof(*dirs));

	if (w && dirs) {
		w->r = r;
		w->dirs = dirs;
		w->left = min(max, IMAGE_ENTRIES_MAX);
		walk_from(w, path);
	} else {
		damaged(r, ENOMEM);
	}
	for (u32 i = 0; w && i < w->nr; i++)
		free(w->dirs[i].path);
	free(dirs);
	free(w);
}

/* ---- the conversation ---- */

static void greet(struct reader *r)
{
	const struct ext2_super_block *sb = r->fs->super;
	struct ext4_image_super s = {
		.compat = sb->s_feature_compat,
		.incompat = sb->s_feature_incompat,
		.ro_compat = sb->s_feature_ro_compat,
		.block_size = r->fs->blocksize,
		.cluster_size = r->fs->blocksize * EXT2FS_CLUSTER_RATIO(r->fs),
		.blocks = ext2fs_blocks_count(r->fs->super),
		.first_block = sb->s_first_data_block,
		.default_mount_opts = sb->s_default_mount_opts,
	};

	send_record(r, IMAGE_SUPER, &s, sizeof(s), NULL, 0);
	send_end(r, 0);
}

static bool receive(void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(JAIL_TALK, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

static void serve(struct reader *r)
{
	struct image_request request;
	char path[IMAGE_PATH_MAX + 1];

	while (receive(&request, sizeof(request)) && request.path_len <= IMAGE_PATH_MAX &&
	       receive(path, request.path_len)) {
		path[request.path_len] = 0;
		r->broken = false;
		if (request.op == IMAGE_FILE)
			serve_file(r, path);
		else
			serve_walk(r, path, request.max);
	}
}

/* The jail may have failed before or after it moved the descriptors. */
static void tell_no_jail(int talk)
{
	struct {
		struct image_record head;
		struct image_error error;
	} record = {{IMAGE_ERROR, sizeof(record.error)}, {IMAGE_NO_JAIL}};

	if (write(talk, &record, sizeof(record)) < 0)
		(void)!write(JAIL_TALK, &record, sizeof(record));
}

int ext4_image_serve(int fd, int talk)
{
	static const struct jail_limits limits = {.memory = MEMORY_LIMIT, .cpu_seconds = CPU_LIMIT};
	struct reader r = {0};
	errcode_t ret;
	int error;

	initialize_ext2_error_table();
	error = jail_enter(fd, talk, &limits);
	if (error) {
		tell_no_jail(talk);
		return 1;
	}
	ret = ext2fs_open("image",
			  EXT2_FLAG_64BITS | EXT2_FLAG_SOFTSUPP_FEATURES | EXT2_FLAG_SKIP_MMP, 0, 0,
			  &ext4_image_io_manager, &r.fs);
	if (ret) {
		damaged(&r, ret);
		return 1;
	}
	greet(&r);
	serve(&r);
	return 0;
}
