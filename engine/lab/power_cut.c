#include "lab/power_cut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ondisk.h"
#include "fs/read_write.h"

/* Whose every byte of the file is: 1 + number of the write; 0: nobody's. */
struct owners {
	u32 *of;
	s64 size;
	u32 nr_writes;
	u32 *row_of; /* of each write, by its number */
};

/* How large the file can get. */
static int check_size(const struct run_config *config, const struct workload *w, s64 *max,
		      struct fl_error *err)
{
	*max = config->size;
	for (size_t i = 0; i < w->nr; i++) {
		const struct wl_op *op = &w->ops[i];

		if (op->type == WL_PWRITE || op->type == WL_FALLOCATE || op->type == WL_PUNCH)
			*max = max(*max, op->off + op->len * (s64)op->n);
		else if (op->type == WL_FTRUNCATE)
			*max = max(*max, op->len);
		if (*max > POWER_CUT_MAX_SIZE)
			return fl_error_set(err, -E2BIG, "--power-cut", 0,
					    "a file of up to %" PRId64 " bytes, expected at most "
					    "%lld",
					    *max, POWER_CUT_MAX_SIZE);
	}
	return 0;
}

static void own(struct owners *o, s64 from, s64 to, u32 who)
{
	for (s64 i = from; i < to; i++)
		o->of[i] = who;
}

static int own_write(struct owners *o, const struct wl_op *op, u32 row)
{
	u32 *rows = realloc(o->row_of, (o->nr_writes + op->n) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	o->row_of = rows;
	for (u64 i = 0; i < op->n; i++) {
		s64 pos = op->off + i * op->len;

		rows[o->nr_writes++] = row;
		own(o, pos, pos + op->len, o->nr_writes);
	}
	o->size = max(o->size, op->off + op->len * (s64)op->n);
	return 0;
}

static int add_row(struct power_cut *p, const struct wl_op *op)
{
	struct power_cut_row *rows = realloc(p->rows, (p->nr_rows + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	p->rows = rows;
	rows[p->nr_rows++] = (struct power_cut_row){.op = *op};
	return 0;
}

/* What @op makes of the file. */
static int follow(struct power_cut *p, struct owners *o, const struct wl_op *op)
{
	int ret = 0;

	switch (op->type) {
	case WL_PWRITE:
		ret = add_row(p, op);
		return ret ? ret : own_write(o, op, p->nr_rows - 1);
	case WL_FTRUNCATE:
		own(o, op->len, o->size, 0);
		o->size = op->len;
		break;
	case WL_PUNCH:
		own(o, op->off, min(op->off + op->len, o->size), 0);
		break;
	case WL_FALLOCATE:
		o->size = max(o->size, op->off + op->len);
		break;
	default:
		break;
	}
	return ret;
}

static void mark_synced(struct power_cut *p)
{
	for (size_t i = 0; i < p->nr_rows; i++)
		p->rows[i].synced = true;
}

static int play_until_out(struct run *run, const struct workload *w, struct power_cut *p,
			  struct owners *o, struct fl_error *err)
{
	for (size_t i = 0; i < w->nr && !p->out; i++) {
		int ret = follow(p, o, &w->ops[i]);

		if (!ret)
			ret = run_op(run, &w->ops[i], err);
		if (ret)
			return ret;
		p->op = w->ops[i];
		p->out = run_power_is_out(run);
		if (!p->out && w->ops[i].type == WL_FSYNC)
			mark_synced(p);
	}
	blk_drain(run->machine);
	p->out = run_power_is_out(run);
	p->writes = blk_writes_completed(run->sb->s_bdev);
	return 0;
}

/* Is the byte at @pos what write @nr put there? */
static bool is_of(u32 nr, s64 pos, u8 byte)
{
	u8 want;

	run_fill_pattern(nr, pos, &want, 1);
	return byte == want;
}

static void compare_byte(struct power_cut *p, const struct owners *o, s64 pos, u8 byte)
{
	u32 nr = o->of[pos];

	if (nr && is_of(nr, pos, byte))
		p->rows[o->row_of[nr - 1]].survived++;
	else if (!byte)
		p->zeros++;
	else
		p->others++;
}

static int compare_file(struct run *run, struct power_cut *p, const struct owners *o)
{
	char buf[4096];

	for (s64 i = 0; i < o->size; i++)
		if (o->of[i])
			p->rows[o->row_of[o->of[i] - 1]].bytes++;
	for (s64 pos = 0; pos < p->size_after; pos += sizeof(buf)) {
		ssize_t n = ksys_pread64(run->files[0], buf, sizeof(buf), pos);

		if (n < 0)
			return n;
		for (ssize_t i = 0; i < n; i++)
			compare_byte(p, o, pos + i, buf[i]);
	}
	p->bytes_lost = max(o->size - p->size_after, 0);
	return 0;
}

static int look_at_rest(struct run *dead, struct power_cut *p, const struct owners *o,
			struct fl_error *err)
{
	struct run *run;
	int ret = run_open_after_crash(dead, &run, err);

	if (ret)
		return ret;
	p->recovery = EXT4_SB(run->sb)->s_recovery;
	p->size_before = o->size;
	p->size_after = run->inode->i_size;
	p->extents = run->inode->i_nr_extents;
	p->bad_groups = ext4_check_bitmaps(run->sb);
	ret = compare_file(run, p, o);
	run_close(run);
	return ret;
}

int power_cut_play(const struct run_config *config, const struct workload *w, struct power_cut *ret,
		   struct fl_error *err)
{
	struct owners o = {.size = config->size};
	struct run *run = NULL;
	s64 max;
	int error = check_size(config, w, &max, err);

	*ret = (struct power_cut){0};
	if (!error)
		o.of = calloc(max + 1, sizeof(*o.of));
	if (!error && !o.of)
		error = -ENOMEM;
	if (!error)
		error = run_open(config, &run, err);
	if (!error)
		error = play_until_out(run, w, ret, &o, err);
	if (!error && ret->out)
		error = look_at_rest(run, ret, &o, err);
	if (error && err && !err->code)
		fl_error_set(err, error, NULL, 0, "%s", strerror(-error));
	run_close(run);
	free(o.of);
	free(o.row_of);
	return error;
}

void power_cut_fini(struct power_cut *p)
{
	free(p->rows);
	p->rows = NULL;
}
