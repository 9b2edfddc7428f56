#include "lab/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fs/boot.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "lab/run_ops.h"
#include "lab/run_poison.h"
#include "host/backing.h"
#include "host/ext4_verdict.h"
#include "lib/strutil.h"
#include "mm/internal.h"

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
	const struct name_list list = {.what = what, .names = names, .nr = nr};
	char text[400];

	return fl_error_set(err, -EINVAL, option, 0, "%s",
			    describe_unknown(text, sizeof(text), word, &list));
}

static int find_types(const struct run_config *config, struct mount_options *options,
		      struct fl_error *err)
{
	static const char *const disks[] = {"hole", "ram", "nvme", "nvme-plp", "host"};
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
		return fl_error_set(err, -EINVAL, "--fs", 0, "%s on an ext4 image, expected ext4",
				    config->fs);
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

/* The file as the disk has it. What lies behind its end was on its way out. ext4_orphan_cleanup()
 */
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
	struct mount_options options = {.host_fd = -1,
					.block_size = config->block_size,
					.ra_bytes = config->ra_bytes,
					.io_bytes = config->io_bytes,
					.extent_blocks = config->extent_blocks,
					.extent_gap = config->extent_gap,
					.fs_bytes = round_down(config->fs_bytes, 65536ULL),
					.power_cut = config->power_cut};
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
		.id = EV_fl_op,
		.ino = run->inode->i_ino,
		.index = run->ops,
		.a = op->line,
		.b = op->type,
		.c = op->off,
		.d = op->len,
		.e = min_t(u64, op->n, UINT32_MAX),
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

	if (!run_has_player(op->type))
		return fl_error_set(err, -EOPNOTSUPP, NULL, op->line,
				    "%s cannot be played here (%s are missing), expected a read, "
				    "an advice or a descriptor operation",
				    workload_op_name(op->type), run_unsupported(run, op->type));
	sched_op_begin(m);
	ret = run_want_buffer(run, op->len, op->type == WL_PWRITE);
	if (!ret)
		ret = run_play(run, op);
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
	if (run_has_player(op->type))
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
