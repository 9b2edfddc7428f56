#include "lab/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fs/balloc.h"
#include "fs/boot.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "fs/falloc.h"
#include "fs/read_write.h"
#include "lab/run_poison.h"
#include "host/backing.h"
#include "host/ext4_verdict.h"
#include "lib/strutil.h"
#include "mm/internal.h"
#include "mm/mm.h"

void run_config_init(struct run_config *config)
{
	memset(config, 0, sizeof(*config));
	machine_config_init(&config->machine);
	config->fs = "xfs";
	config->size = 16 << 20;
	config->ra_bytes = 128 << 10;
}

/* ---- opening ---- */

static const char *disk_name(const struct run_config *config)
{
	if (config->disk)
		return config->disk;
	return run_has_backing(config) ? "host" : "hole";
}

static int unknown_name(struct fl_error *err, const char *option, const char *what,
			const char *word, const char *const *names, size_t nr)
{
	const struct name_list list = { .what = what, .names = names, .nr = nr };
	char text[400];

	return fl_error_set(err, -EINVAL, option, 0, "%s",
			    describe_unknown(text, sizeof(text), word, &list));
}

static int find_types(const struct run_config *config, struct mount_options *options,
		      struct fl_error *err)
{
	static const char *const disks[] = { "hole", "ram", "nvme", "nvme-plp", "host" };
	const char *names[16];
	size_t nr = 0;

	options->type = file_system_type(config->fs);
	options->disk = disk_model_by_name(disk_name(config));
	while (nr < ARRAY_SIZE(names) && (names[nr] = file_system_name(nr)))
		nr++;
	if (!options->type)
		return unknown_name(err, "--fs", "file system", config->fs, names, nr);
	if (!options->disk)
		return unknown_name(err, "--disk", "disk", config->disk, disks, ARRAY_SIZE(disks));
	if (options->type->alloc_inode && (run_has_backing(config) || config->disk))
		return fl_error_set(err, -EINVAL, config->disk ? "--disk" : "--file", 0,
				    "%s lives in memory, expected neither --file nor --disk",
				    options->type->name);
	if (!strcmp(options->disk->name, "host") && !run_has_backing(config))
		return fl_error_set(err, -EINVAL, "--disk", 0,
				    "disk host without a file, expected --file PATH");
	if (config->image && strcmp(options->type->s_type, "ext4"))
		return fl_error_set(err, -EINVAL, "--fs", 0,
				    "%s on an ext4 image, expected ext4", config->fs);
	return 0;
}

/* What the run's words say about ext4, on top of what the image says. */
static int parse_ext4(const struct run_config *config, const struct backing *b,
		      struct mount_options *options, struct ext4_mount_config *ext4,
		      struct fl_error *err)
{
	const char *given = config->features	    ? "--features"
			    : config->journal_bytes ? "--journal"
			    : config->mount_options ? "--mount-options"
			    : config->dir_flags	    ? "--dir-flags"
						    : NULL;
	int ret = 0;

	if (strcmp(options->type->s_type, "ext4"))
		return given ? fl_error_set(err, -EINVAL, given, 0,
					    "%s does not know it, expected --fs ext4 or ext4-1k",
					    config->fs)
			     : 0;
	ext4_mount_config_init(ext4);
	options->ext4 = ext4;
	if (b && b->is_image)
		ext4_image_mount_config(&b->super, ext4);
	ext4->journal_bytes = config->journal_bytes;
	if (config->features)
		ret = ext4_parse_features(ext4, config->features, err);
	if (!ret && config->mount_options)
		ret = ext4_parse_options(ext4, config->mount_options, err);
	if (!ret && config->dir_flags)
		ret = ext4_parse_flags(ext4, config->dir_flags, err);
	return ret;
}

/* What a file that exists brings along cannot be asked for, too. */
static int check_backed(const struct run_config *config, struct fl_error *err)
{
	const char *given = config->extent_blocks		 ? "--extent-blocks"
			    : config->image && config->features	 ? "--features"
			    : config->image && config->dir_flags ? "--dir-flags"
								 : NULL;

	if (!given || !run_has_backing(config))
		return 0;
	return fl_error_set(err, -EINVAL, given, 0, "%s has its own, expected no --%s",
			    run_backing_name(config), config->image ? "image" : "file");
}

/* Only what ext4 writes to its journal can be found again after a power cut. */
static int check_power_cut(const struct run_config *config, const struct mount_options *options,
			   struct fl_error *err)
{
	if (!config->power_cut)
		return 0;
	if (!options->ext4 || !(options->ext4->features & EXT4_FEATURE_HAS_JOURNAL) ||
	    !(options->ext4->features & EXT4_FEATURE_EXTENTS))
		return fl_error_set(err, -EINVAL, "--power-cut", 0,
				    "nothing is replayed here, expected ext4 with journal and "
				    "extents");
	if (options->ext4->features & EXT4_FEATURE_INLINE_DATA)
		return fl_error_set(err, -EINVAL, "--power-cut", 0,
				    "the journal has no inline data, expected no feature "
				    "inline_data");
	if (run_has_backing(config))
		return fl_error_set(err, -EINVAL, "--power-cut", 0,
				    "%s is never written, expected no --%s",
				    run_backing_name(config), config->image ? "image" : "file");
	return 0;
}

/* It is the image that a kernel refuses, not an option that nobody gave. */
static int mount_backed(struct run *run, const struct mount_options *options,
			const struct backing *b, struct fl_error *err)
{
	int ret = mount_fs(run->machine, options, &run->sb, err);

	if (ret && b && b->is_image && err && !strcmp(err->file, "--block-size"))
		snprintf(err->file, sizeof(err->file), "%s", run->config.image);
	return ret;
}

/* The file as the disk has it. What lies behind its end was on its way out. ext4_orphan_cleanup() */
static int load_inode(struct run *run)
{
	int ret = new_inode(run->sb, 0, false, &run->inode);

	if (!ret)
		ret = ext4_iget(run->inode);
	run->config.after_crash = NULL;
	return ret;
}

/* The file of the run: made up, or what @b has. */
static int make_inode(struct run *run, const struct backing *b, struct fl_error *err)
{
	const struct run_config *config = &run->config;
	bool hole = !strcmp(disk_name(config), "hole");
	bool written = !b && !config->extents && (config->written || !hole);
	int ret = new_inode(run->sb, config->size, written, &run->inode);

	if (ret == -EFBIG && b)
		return fl_error_set(err, ret, run_backing_name(config), 0,
				    "%" PRId64 " bytes, expected at most %" PRId64 " on %s",
				    config->size, (s64)run->sb->s_maxbytes, config->fs);
	if (!ret && b)
		ret = backing_fill_inode(b, run->inode);
	if (!ret && b && b->is_image && !strcmp(run->sb->s_type, "ext4"))
		ext4_set_inode_flags(run->inode, b->inode.flags);
	if (!ret && config->extents)
		ret = inode_set_extents(run->inode, config->extents, config->nr_extents);
	run->config.extents = NULL;
	return ret;
}

static int mount_disk(struct run *run, struct backing *b, struct fl_error *err)
{
	const struct run_config *config = &run->config;
	struct mount_options options = { .host_fd = -1, .block_size = config->block_size,
					 .ra_bytes = config->ra_bytes,
					 .io_bytes = config->io_bytes,
					 .extent_blocks = config->extent_blocks,
					 .extent_gap = config->extent_gap,
					 .fs_bytes = round_down(config->fs_bytes, 65536ULL),
					 .power_cut = config->power_cut };
	struct ext4_mount_config ext4;
	int ret = find_types(config, &options, err);

	if (!ret)
		ret = parse_ext4(config, b, &options, &ext4, err);
	if (!ret)
		ret = check_backed(config, err);
	if (!ret)
		ret = check_power_cut(config, &options, err);
	if (ret)
		return ret;
	if (config->after_crash)
		options.after_crash = config->after_crash->sb->s_bdev;
	if (b && b->is_image)
		options.block_size = b->super.block_size;
	if (b)
		options.host_fd = backing_take_fd(b);
	return mount_backed(run, &options, b, err);
}

static int open_backing(const struct run_config *config, struct backing *b, struct fl_error *err)
{
	struct backing_source *source = config->source;

	if (source)
		return source->open(source, config->file, config->image, b, err);
	return backing_open(config->file, config->image, b, err);
}

static int mount_file(struct run *run, struct backing *b, struct fl_error *err)
{
	int ret;

	if (b)
		run->config.size = b->size;
	ret = mount_disk(run, b, err);
	if (ret)
		return ret;
	return run->config.after_crash ? load_inode(run) : make_inode(run, b, err);
}

static int open_file_system(struct run *run, struct fl_error *err)
{
	const struct run_config *config = &run->config;
	struct backing b;
	int ret;

	if (!run_has_backing(config))
		return mount_file(run, NULL, err);
	if (config->image_file) {
		b = *config->image_file;
		return mount_file(run, &b, err);
	}
	ret = open_backing(config, &b, err);
	if (ret)
		return ret;
	ret = mount_file(run, &b, err);
	backing_fini(&b);
	return ret;
}

int run_open(const struct run_config *config, struct run **ret, struct fl_error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int error;

	*ret = NULL;
	if (!run)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	run->config = *config;
	histogram_init(&run->latency);
	error = machine_boot(&config->machine, &run->machine, err);
	if (!error)
		error = open_file_system(run, err);
	if (!error) {
		run->machine->mm->mf.split_fails = config->split_fails;
		run->machine->mm->mf.early_kill = config->early_kill;
		run->files[0] = filp_open(run->inode);
		run->mm = mm_alloc(run->machine);
		if (!run->files[0] || !run->mm)
			error = -ENOMEM;
	}
	if (error) {
		if (err && !err->code)
			fl_error_set(err, error, NULL, 0, "%s", strerror(-error));
		run_close(run);
		return error;
	}
	*ret = run;
	return 0;
}

void run_close_descriptors(struct run *run)
{
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++) {
		if (run->files[i])
			fput(run->files[i]);
		run->files[i] = NULL;
	}
	if (run->sb)
		blk_drain(run->machine);
}

/* The mapping and the descriptors; of a @broken machine only the memory they take. */
void run_end_process(struct run *run, bool broken)
{
	if (broken)
		mm_drop(run->mm);
	else
		mmput(run->mm);
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++) {
		if (run->files[i] && broken)
			file_drop(run->files[i]);
		else if (run->files[i])
			fput(run->files[i]);
		run->files[i] = NULL;
	}
}

static void end_machine(struct run *run)
{
	if (run->sb && !run->broken)
		blk_drain(run->machine);
#ifdef FL_DEBUG
	if (!run->broken) {
		kill_super(run->sb);
		if (run->machine)
			vm_check_nothing_left(run->machine);
		return;
	}
#endif
	poweroff_super(run->sb);
}

void run_close(struct run *run)
{
	if (!run)
		return;
	run_end_process(run, run->broken);
	run_poison_fini(run);
	end_machine(run);
	machine_shutdown(run->machine);
	if (run->buf)
		munmap(run->buf, run->buf_size);
	free(run);
}

/* ---- reading ---- */

/* A buffer for the largest read or write so far; untouched parts cost nothing. */
static int want_buffer(struct run *run, s64 len, bool writes)
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
		struct trace_event ev = { .id = id, .ino = run->inode->i_ino, .index = pos,
					  .a = bytes, .b = b,
					  .c = (m->clock_ps - start_ps) / 1000 };

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
	struct file file = { 0 };
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
		[WL_ADV_NORMAL] = POSIX_FADV_NORMAL_,	  [WL_ADV_RANDOM] = POSIX_FADV_RANDOM_,
		[WL_ADV_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL_,
		[WL_ADV_WILLNEED] = POSIX_FADV_WILLNEED_, [WL_ADV_DONTNEED] = POSIX_FADV_DONTNEED_,
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
	int ret;

	(void)op;
	charge(m, COST_SYSCALL, 1);
	if (run->vma)
		do_munmap(run->vma);
	ret = do_mmap(run->mm, run_file(run), 0, i_size_read(run->inode), VM_READ | VM_WRITE, 0,
		      &run->vma);
	account_call(run, ret);
	return ret == -ENOMEM ? ret : 0;
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
		[WL_ADV_NORMAL] = MADV_NORMAL_,	      [WL_ADV_RANDOM] = MADV_RANDOM_,
		[WL_ADV_SEQUENTIAL] = MADV_SEQUENTIAL_, [WL_ADV_WILLNEED] = MADV_WILLNEED_,
		[WL_ADV_DONTNEED] = MADV_DONTNEED_,   [WL_ADV_HUGEPAGE] = MADV_HUGEPAGE_,
		[WL_ADV_NOHUGEPAGE] = MADV_NOHUGEPAGE_, [WL_ADV_COLD] = MADV_COLD_,
		[WL_ADV_PAGEOUT] = MADV_PAGEOUT_,     [WL_ADV_POPULATE_READ] = MADV_POPULATE_READ_,
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
	[WL_READ] = { play_read, NULL },
	[WL_PREAD] = { play_pread, NULL },
	[WL_SPLICE] = { play_splice, NULL },
	[WL_SEEK] = { play_seek, NULL },
	[WL_FD] = { play_fd, NULL },
	[WL_REOPEN] = { play_reopen, NULL },
	[WL_FADVISE] = { play_fadvise, NULL },
	[WL_READAHEAD] = { play_readahead, NULL },
	[WL_MMAP] = { play_mmap, NULL },
	[WL_MUNMAP] = { play_munmap, NULL },
	[WL_MADVISE] = { play_madvise, NULL },
	[WL_TOUCH] = { play_touch, NULL },
	[WL_WTOUCH] = { play_wtouch, NULL },
	[WL_PWRITE] = { play_pwrite, NULL },
	[WL_FSYNC] = { play_fsync, NULL },
	[WL_FTRUNCATE] = { play_ftruncate, NULL },
	[WL_PUNCH] = { play_punch, NULL },
	[WL_FALLOCATE] = { play_fallocate, NULL },
	[WL_POISON] = { play_poison, NULL },
	[WL_SOFT_OFFLINE] = { play_soft_offline, NULL },
	[WL_UNPOISON] = { play_unpoison, NULL },
	[WL_DEFRAG] = { play_defrag, NULL },
	[WL_TASK] = { NULL, "several processors" },
};

const char *run_unsupported(const struct run *run, enum wl_op_type type)
{
	(void)run;
	return players[type].missing;
}

/* ---- playing ---- */

#ifdef FL_DEBUG
/* After every operation the folios around it, after every 1,000 everything. */
static int check_invariants(struct run *run, const struct wl_op *op, struct fl_error *err)
{
	unsigned int shift = run->machine->page_shift;
	pgoff_t first = op->off >> shift;
	int ret = 0;

	if (op->type == WL_READ)
		first = run_file(run)->f_pos >> shift;
	first = first > 32 ? first - 32 : 0;
	for (pgoff_t i = first; i < first + 96 && !ret;) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		i = folio ? folio_next_index(folio) : i + 1;
		if (folio) {
			ret = vm_check_folio(folio, err);
			folio_put(folio);
		}
	}
	if (!ret && run->ops % 1000 == 0)
		ret = vm_check_machine(run->machine, err);
	return ret;
}
#endif

static void trace_op(struct run *run, const struct wl_op *op)
{
	const struct trace_event ev = {
		.id = EV_fl_op, .ino = run->inode->i_ino, .index = run->ops, .a = op->line,
		.b = op->type, .c = op->off, .d = op->len, .e = min_t(u64, op->n, UINT32_MAX),
		.f = op->type == WL_FD ? op->n % RUN_DESCRIPTORS : run->current,
	};

	trace_event2(&run->machine->trace, &ev);
}

/* Did every read of the host file give what it had when the run began? */
static int check_host_file(const struct run *run, struct fl_error *err)
{
	int error = run->sb->s_bdev ? run->sb->s_bdev->error : 0;

	if (!error)
		return 0;
	return fl_error_set(err, error, run_backing_name(&run->config), 0,
			    "%s, expected a file that stays as it is",
			    error == -ESTALE ? "became shorter while it was read"
					     : strerror(-error));
}

static int play_op(struct run *run, const struct wl_op *op, struct fl_error *err)
{
	struct machine *m = run->machine;
	int ret;

	if (!players[op->type].play)
		return fl_error_set(err, -EOPNOTSUPP, NULL, op->line,
				    "%s cannot be played here (%s are missing), expected a read, "
				    "an advice or a descriptor operation",
				    workload_op_name(op->type), players[op->type].missing);
	sched_op_begin(m);
	ret = want_buffer(run, op->len, op->type == WL_PWRITE);
	if (!ret)
		ret = players[op->type].play(run, op);
	if (ret)
		return fl_error_set(err, ret, NULL, op->line, "%s", strerror(-ret));
	run->ops += workload_op_count(op);
	blk_poll(m);
	if (m->bug[0])
		return fl_error_set(err, -ENOTRECOVERABLE, NULL, op->line,
				    "the kernel hit a BUG() in this operation");
	ret = check_host_file(run, err);
	if (ret)
		return ret;
#ifdef FL_DEBUG
	return m->sched ? 0 : check_invariants(run, op, err);
#else
	return 0;
#endif
}

int run_op(struct run *run, const struct wl_op *op, struct fl_error *err)
{
	if (players[op->type].play)
		trace_op(run, op);
	return play_op(run, op, err);
}

int run_op_piece(struct run *run, const struct wl_op *op, u64 done, u64 n, struct fl_error *err)
{
	struct wl_op piece = *op;

	if (!done)
		trace_op(run, op);
	piece.n = n;
	return play_op(run, &piece, err);
}

int run_set_journal_flag(struct run *run, bool on)
{
	if (strcmp(run->sb->s_type, "ext4"))
		return -EOPNOTSUPP;
	return ext4_change_inode_journal_flag(run->inode, on);
}

int run_remount(struct run *run)
{
	bool open[RUN_DESCRIPTORS];
	int ret;

	if (strcmp(run->sb->s_type, "ext4"))
		return -EOPNOTSUPP;
	if (run->vma)
		return -EBUSY;
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++)
		open[i] = run->files[i];
	run_close_descriptors(run);
	ret = ext4_reread_inode(run->inode);
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++) {
		run->files[i] = open[i] ? filp_open(run->inode) : NULL;
		if (open[i] && !run->files[i])
			ret = -ENOMEM;
	}
	return ret;
}

int run_sleep(struct run *run, u64 ns)
{
	journal_t *journal = strcmp(run->sb->s_type, "ext4") ? NULL : ext4_journal(run->inode);
	struct machine *m = run->machine;

	blk_drain(m);
	m->clock_ps += ns * 1000;
	if (!journal || !journal->j_running_transaction || journal->j_errno ||
	    m->clock_ps < journal->j_running_transaction->t_expires)
		return 0;
	return jbd2_journal_commit_transaction(journal);
}

bool run_power_is_out(const struct run *run)
{
	return run->sb->s_bdev && blk_power_is_out(run->sb->s_bdev);
}

int run_open_after_crash(struct run *dead, struct run **ret, struct fl_error *err)
{
	struct run_config config = dead->config;

	config.power_cut = 0;
	config.after_crash = dead;
	return run_open(&config, ret, err);
}

int run_workload(struct run *run, const struct workload *w, struct fl_error *err)
{
	for (size_t i = 0; i < w->nr && !run_power_is_out(run); i++) {
		int ret = run_op(run, &w->ops[i], err);

		if (ret) {
			if (err && !err->file[0])
				snprintf(err->file, sizeof(err->file), "%s", w->name);
			return ret;
		}
	}
	blk_drain(run->machine);
	return check_host_file(run, err);
}
