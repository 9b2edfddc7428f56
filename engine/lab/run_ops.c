/* What each operation of a workload does: calls of the miniature, accounted in the run. */
#include "lab/run_ops.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "fs/falloc.h"
#include "fs/read_write.h"
#include "lab/run_poison.h"
#include "host/ext4_verdict.h"
#include "mm/internal.h"

/* ---- reading ---- */

int run_want_buffer(struct run *run, s64 len, bool writes)
{
	size_t want = min_t(u64, len, MAX_RW_COUNT(run->machine));
	void *p;

	if (!writes && !run->machine->sched) /* else another task may make the file larger */
		want = min_t(u64, want, run->inode->i_size);
	if (!run->machine->data || want <= run->buf_size)
		return 0;
	p = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	if (run->buf)
		munmap(run->buf, run->buf_size);
	run->buf = p;
	run->buf_size = want;
	return 0;
}

/* A call that moves bytes returned. */
static void trace_call(struct run *run, enum trace_event_id id, u64 pos, u32 bytes, u32 b,
		       u64 start_ps)
{
	struct machine *m = run->machine;

	sched_op_begin(m);
	if (trace_count(&m->trace, id, 0)) {
		struct trace_event ev = {.id = id,
					 .ino = run->inode->i_ino,
					 .index = pos,
					 .a = bytes,
					 .b = b,
					 .c = (m->clock_ps - start_ps) / 1000};

		trace_dispatch(&m->trace, &ev);
	}
}

/*
 * Is every byte at @pos the generated disk's, or zero where it was cut out? A run that writes
 * nothing can return nothing else.
 */
static void verify_bytes(struct run *run, u64 pos, const char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		u64 at;
		char want;

		if (!buf[i])
			continue;
		at = run->disk_base + pos + i;
		want = disk_pattern(at >> 3) >> (at & 7) * 8;
		if (buf[i] != want) {
			run->wrong_reads++;
			return;
		}
	}
}

static void account_read(struct run *run, loff_t pos, ssize_t ret, u64 start_ps)
{
	struct machine *m = run->machine;
	u64 ns = (m->clock_ps - start_ps) / 1000;

	trace_call(run, EV_fl_read, pos, ret < 0 ? 0 : ret, 0, start_ps);
	histogram_add(&run->latency, ns);
	run->reads++;
	if (ret < 0) {
		run->errors++;
		run->last_error = ret;
		return;
	}
	run->bytes += ret;
	if (run->verify && run->buf)
		verify_bytes(run, pos, run->buf, ret);
	if (run->consume && ret && run->buf)
		run->consume(run->consume_ctx, run->buf, ret);
}

/*
 * The same call again, @n times: it returned 0 bytes and so changed nothing but the time.
 * A read at the end of a file may be asked for billions of times; who listens hears each.
 */
static void repeat_idle_read(struct run *run, u64 n, const u64 *units_before, u64 start_ps)
{
	struct machine *m = run->machine;
	u64 delta = m->clock_ps - start_ps;

	for (unsigned int i = 0; i < COST_NR; i++)
		m->cost_units[CONTEXT_TASK][i] +=
			(m->cost_units[CONTEXT_TASK][i] - units_before[i]) * n;
	m->clock_ps += delta * n;
	m->locks[LOCK_F_POS_LOCK] += n;
	trace_count_many(&m->trace, EV_fl_read, n);
	histogram_add_n(&run->latency, delta / 1000, n);
	run->reads += n;
}

/* Returns how many of the @n were played. */
static u64 play_idle_reads(struct run *run, size_t len, u64 n)
{
	struct machine *m = run->machine;
	u64 units[COST_NR], start = m->clock_ps;
	struct file *file = run_file(run);
	ssize_t ret;

	memcpy(units, m->cost_units[CONTEXT_TASK], sizeof(units));
	ret = ksys_read(file, run->buf, len);
	account_read(run, file->f_pos - max_t(ssize_t, ret, 0), ret, start);
	if (m->trace.sinks || m->sched || m->next_io_ps != ~0ULL) {
		blk_poll(m);
		return 1;
	}
	repeat_idle_read(run, n - 1, units, start);
	return n;
}

/* Reads inside a folio are all alike: play them in one go. Returns how many. */
static u64 play_plain_reads(struct run *run, size_t len, u64 n)
{
	struct machine *m = run->machine;
	u64 start = m->clock_ps;

	n = ksys_read_plain(run_file(run), len, n);
	if (!n)
		return 0;
	histogram_add_n(&run->latency, (m->clock_ps - start) / n / 1000, n);
	trace_count_many(&m->trace, EV_fl_read, n);
	run->reads += n;
	run->bytes += n * len;
	return n;
}

static int play_read(struct run *run, const struct wl_op *op)
{
	struct machine *m = run->machine;
	struct file *file = run_file(run);

	for (u64 left = op->n; left;) {
		u64 start = m->clock_ps;
		ssize_t ret;

		if (file->f_pos >= run->inode->i_size || !op->len) {
			left -= play_idle_reads(run, op->len, left);
			continue;
		}
		ret = ksys_read(file, run->buf, op->len);
		account_read(run, file->f_pos - max_t(ssize_t, ret, 0), ret, start);
		blk_poll(m);
		left--;
		if (left)
			left -= play_plain_reads(run, op->len, left);
	}
	return 0;
}

static int play_pread(struct run *run, const struct wl_op *op)
{
	u64 start = run->machine->clock_ps;

	account_read(run, op->off, ksys_pread64(run_file(run), run->buf, op->len, op->off), start);
	return 0;
}

static int play_splice(struct run *run, const struct wl_op *op)
{
	run_consume_t consume = run->consume;
	u64 start = run->machine->clock_ps;
	bool verify = run->verify;

	run->consume = NULL; /* the pages went to the pipe, nothing was copied */
	run->verify = false;
	account_read(run, op->off, do_splice_read(run_file(run), op->off, op->len), start);
	run->consume = consume;
	run->verify = verify;
	return 0;
}

/* ---- the other operations ---- */

static int play_seek(struct run *run, const struct wl_op *op)
{
	vfs_llseek(run_file(run), op->off);
	return 0;
}

static int use_descriptor(struct run *run, unsigned int nr)
{
	if (!run->files[nr]) {
		run->files[nr] = filp_open(run->inode);
		trace_event(&run->machine->trace, EV_fl_open, 0, run->inode->i_ino, nr, 0, 0);
	}
	if (!run->files[nr])
		return -ENOMEM;
	run->current = nr;
	return 0;
}

static int play_fd(struct run *run, const struct wl_op *op)
{
	return use_descriptor(run, op->n % RUN_DESCRIPTORS);
}

static int play_reopen(struct run *run, const struct wl_op *op)
{
	unsigned int nr = run->current;

	(void)op;
	fput(run->files[nr]);
	run->files[nr] = NULL;
	return use_descriptor(run, nr);
}

static void account_call(struct run *run, long ret)
{
	if (ret >= 0)
		return;
	run->errors++;
	run->last_error = ret;
}

void run_fill_pattern(u64 nr, loff_t pos, void *buf, size_t len)
{
	u8 *p = buf;

	for (size_t i = 0; i < len; i++) {
		u64 at = pos + i;

		p[i] = disk_pattern(at >> 3 ^ nr << 40) >> (at & 7) * 8;
	}
}

static int play_pwrite(struct run *run, const struct wl_op *op)
{
	for (u64 i = 0; i < op->n; i++) {
		loff_t pos = op->off + i * op->len;
		u64 start = run->machine->clock_ps;
		ssize_t ret;

		run->writes++;
		if (run->buf)
			run_fill_pattern(run->writes, pos, run->buf,
					 min_t(u64, op->len, run->buf_size));
		ret = ksys_pwrite64(run_file(run), run->buf, op->len, pos);
		trace_call(run, EV_fl_write, pos, max_t(ssize_t, ret, 0), 0, start);
		account_call(run, min_t(ssize_t, ret, 0));
		if (ret > 0)
			run->bytes_written += ret;
		blk_poll(run->machine);
		if (ret <= 0)
			break;
	}
	return 0;
}

static int play_fsync(struct run *run, const struct wl_op *op)
{
	(void)op;
	account_call(run, vfs_fsync(run_file(run)));
	return 0;
}

static int play_ftruncate(struct run *run, const struct wl_op *op)
{
	account_call(run, do_sys_ftruncate(run_file(run), op->len));
	return 0;
}

static int play_punch(struct run *run, const struct wl_op *op)
{
	account_call(run, vfs_fallocate(run_file(run), FALLOC_FL_PUNCH_HOLE, op->off, op->len));
	return 0;
}

static int play_fallocate(struct run *run, const struct wl_op *op)
{
	account_call(run, vfs_fallocate(run_file(run), 0, op->off, op->len));
	return 0;
}

/* A file of the same size in one piece, whatever else is laid out in pieces. */
static int make_donor(struct run *run, struct inode **donor)
{
	struct block_space *space = run->sb->s_space;
	u64 fragment = space->fragment;
	struct file file = {0};
	int ret = new_inode(run->sb, 0, false, donor);

	if (ret)
		return ret;
	file.f_inode = *donor;
	file.f_mapping = (*donor)->i_mapping;
	space->fragment = 0;
	ret = vfs_fallocate(&file, 0, 0, run->inode->i_size);
	space->fragment = fragment;
	return ret;
}

/* What e4defrag does: a donor file, EXT4_IOC_MOVE_EXT over all of it, and the donor goes. */
static int defrag(struct run *run)
{
	struct inode *inode = run->inode, *donor = NULL;
	u64 blocks = DIV_ROUND_UP((u64)inode->i_size, 1u << inode->i_blkbits);
	int ret = filemap_write_and_wait_range(inode->i_mapping, 0, INT64_MAX);

	if (!ret)
		ret = make_donor(run, &donor);
	if (!ret)
		ret = ext4_move_extents(inode, donor, 0, 0, blocks);
	if (donor) {
		ext4_setattr_size(donor, 0);
		evict_inode(donor);
	}
	return ret;
}

static int play_defrag(struct run *run, const struct wl_op *op)
{
	(void)op;
	charge(run->machine, COST_SYSCALL, 1);
	if (strcmp(run->sb->s_type, "ext4"))
		account_call(run, -EOPNOTSUPP);
	else
		account_call(run, run->inode->i_size ? defrag(run) : 0);
	return 0;
}

static int play_fadvise(struct run *run, const struct wl_op *op)
{
	static const int advice[WL_NR_ADVICES] = {
		[WL_ADV_NORMAL] = POSIX_FADV_NORMAL_,
		[WL_ADV_RANDOM] = POSIX_FADV_RANDOM_,
		[WL_ADV_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL_,
		[WL_ADV_WILLNEED] = POSIX_FADV_WILLNEED_,
		[WL_ADV_DONTNEED] = POSIX_FADV_DONTNEED_,
		[WL_ADV_NOREUSE] = POSIX_FADV_NOREUSE_,
	};

	charge(run->machine, COST_SYSCALL, 1);
	account_call(run, vfs_fadvise(run_file(run), op->off, op->len, advice[op->advice]));
	return 0;
}

static int play_readahead(struct run *run, const struct wl_op *op)
{
	charge(run->machine, COST_SYSCALL, 1);
	account_call(run, ksys_readahead(run_file(run), op->off, op->len));
	return 0;
}

/* ---- the mapping ---- */

static int play_mmap(struct run *run, const struct wl_op *op)
{
	struct machine *m = run->machine;
	loff_t size = i_size_read(run->inode);
	int ret;

	(void)op;
	charge(m, COST_SYSCALL, 1);
	if (run->vma)
		do_munmap(run->vma);
	run->vma = NULL;
	ret = do_mmap(run->mm, run_file(run), 0, size, VM_READ | VM_WRITE, 0, &run->vma);
	account_call(run, ret);
	return ret == -ENOMEM && mm_has_room(run->mm, size) ? ret : 0;
}

static int play_munmap(struct run *run, const struct wl_op *op)
{
	(void)op;
	charge(run->machine, COST_SYSCALL, 1);
	if (run->vma)
		do_munmap(run->vma);
	else
		account_call(run, -EINVAL);
	run->vma = NULL;
	return 0;
}

static int play_madvise(struct run *run, const struct wl_op *op)
{
	static const int advice[WL_NR_ADVICES] = {
		[WL_ADV_NORMAL] = MADV_NORMAL_,
		[WL_ADV_RANDOM] = MADV_RANDOM_,
		[WL_ADV_SEQUENTIAL] = MADV_SEQUENTIAL_,
		[WL_ADV_WILLNEED] = MADV_WILLNEED_,
		[WL_ADV_DONTNEED] = MADV_DONTNEED_,
		[WL_ADV_HUGEPAGE] = MADV_HUGEPAGE_,
		[WL_ADV_NOHUGEPAGE] = MADV_NOHUGEPAGE_,
		[WL_ADV_COLD] = MADV_COLD_,
		[WL_ADV_PAGEOUT] = MADV_PAGEOUT_,
		[WL_ADV_POPULATE_READ] = MADV_POPULATE_READ_,
		[WL_ADV_POPULATE_WRITE] = MADV_POPULATE_WRITE_,
	};

	charge2(run->machine, COST_SYSCALL, 1, COST_MADVISE, 1);
	if (run->vma)
		account_call(run, do_madvise(run->vma, run->vma->vm_start, run->vma->vm_end,
					     advice[op->advice]));
	else
		account_call(run, -ENOMEM);
	return 0;
}

static void touch_one(struct run *run, const struct wl_op *op, u64 off, bool write)
{
	char byte = write ? 1 : 0;
	u64 start = run->machine->clock_ps;
	int ret = -EFAULT;

	if (run->vma && off < run->vma->vm_end - run->vma->vm_start)
		ret = access_user_byte(run->mm, run->vma->vm_start + off, write, &byte);
	trace_call(run, EV_fl_touch, off, ret ? 0 : 1, write, start);
	run->touches++;
	account_call(run, ret);
	run_note_signals(run, op, off);
	if (!ret && !write && run->verify && run->machine->data)
		verify_bytes(run, off, &byte, 1);
	if (!ret && !write && run->consume && run->machine->data)
		run->consume(run->consume_ctx, &byte, 1);
	blk_poll(run->machine);
}

static int play_touches(struct run *run, const struct wl_op *op, bool write)
{
	for (u64 i = 0; i < op->n; i++)
		touch_one(run, op, op->off + (u64)op->step * i, write);
	return 0;
}

static int play_touch(struct run *run, const struct wl_op *op)
{
	return play_touches(run, op, false);
}

static int play_wtouch(struct run *run, const struct wl_op *op)
{
	return play_touches(run, op, true);
}

/* ---- memory failures ---- */

static int play_madvise_error(struct run *run, const struct wl_op *op, bool soft)
{
	charge2(run->machine, COST_SYSCALL, 1, COST_MADVISE, 1);
	account_call(run, run_poison(run, op, soft));
	return 0;
}

static int play_poison(struct run *run, const struct wl_op *op)
{
	return play_madvise_error(run, op, false);
}

static int play_soft_offline(struct run *run, const struct wl_op *op)
{
	return play_madvise_error(run, op, true);
}

static int play_unpoison(struct run *run, const struct wl_op *op)
{
	charge(run->machine, COST_SYSCALL, 1);
	account_call(run, run_unpoison(run, op->off));
	return 0;
}

/* What can be played, and why the rest cannot. */
static const struct {
	int (*play)(struct run *run, const struct wl_op *op);
	const char *missing;
} players[WL_NR_OPS] = {
	[WL_READ] = {play_read, NULL},
	[WL_PREAD] = {play_pread, NULL},
	[WL_SPLICE] = {play_splice, NULL},
	[WL_SEEK] = {play_seek, NULL},
	[WL_FD] = {play_fd, NULL},
	[WL_REOPEN] = {play_reopen, NULL},
	[WL_FADVISE] = {play_fadvise, NULL},
	[WL_READAHEAD] = {play_readahead, NULL},
	[WL_MMAP] = {play_mmap, NULL},
	[WL_MUNMAP] = {play_munmap, NULL},
	[WL_MADVISE] = {play_madvise, NULL},
	[WL_TOUCH] = {play_touch, NULL},
	[WL_WTOUCH] = {play_wtouch, NULL},
	[WL_PWRITE] = {play_pwrite, NULL},
	[WL_FSYNC] = {play_fsync, NULL},
	[WL_FTRUNCATE] = {play_ftruncate, NULL},
	[WL_PUNCH] = {play_punch, NULL},
	[WL_FALLOCATE] = {play_fallocate, NULL},
	[WL_POISON] = {play_poison, NULL},
	[WL_SOFT_OFFLINE] = {play_soft_offline, NULL},
	[WL_UNPOISON] = {play_unpoison, NULL},
	[WL_DEFRAG] = {play_defrag, NULL},
	[WL_TASK] = {NULL, "several processors"},
};

bool run_has_player(enum wl_op_type type)
{
	return players[type].play;
}

int run_play(struct run *run, const struct wl_op *op)
{
	return players[op->type].play(run, op);
}

const char *run_unsupported(const struct run *run, enum wl_op_type type)
{
	(void)run;
	return players[type].missing;
}
