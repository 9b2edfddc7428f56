#include "cli/machine_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/costs_file.h"
#include "fs/ext4/ext4.h"
#include "lab/run_tasks.h"
#include "lib/strutil.h"

#define WORD_SHOWN 40	   /* bytes of a wrong word repeated in a message */
#define KB_MAX	   1048576 /* 1 GiB */

void machine_options_init(struct machine_options *o)
{
	memset(o, 0, sizeof(*o));
	run_config_init(&o->config);
}

/* ---- words ---- */

static int not_a(struct fl_error *err, const char *option, const char *word, const char *expected)
{
	return fl_error_set(err, -EINVAL, option, 0, "'%.*s', expected %s",
			    shown_len(word, WORD_SHOWN), word, expected);
}

static int take_size(const char *option, const char *word, s64 *ret, struct fl_error *err)
{
	int error = parse_size(word, ret);

	if (error == -ERANGE)
		return fl_error_set(err, error, option, 0,
				    "'%.*s' is past 2^63-1 bytes, expected a smaller size",
				    shown_len(word, WORD_SHOWN), word);
	if (error)
		return not_a(err, option, word, "a size such as 4096, 64k, 16m or 12g");
	return 0;
}

/* A plain number of @low to @high. */
static int take_number(const char *option, const char *word, u64 low, u64 high, u64 *ret,
		       struct fl_error *err)
{
	char expected[80], *end;
	u64 v;

	errno = 0;
	v = strtoull(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	if (*word < '0' || *word > '9' || *end || errno || v < low || v > high) {
		snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, low,
			 high);
		return not_a(err, option, word, expected);
	}
	*ret = v;
	return 0;
}

/* ---- one setter an option ---- */

static int set_kernel(struct machine_options *o, const char *value, struct fl_error *err)
{
	struct knobs knobs;

	if (o->nr_kernels == MACHINE_KERNELS_MAX)
		return fl_error_set(err, -E2BIG, "--kernel", 0,
				    "too many kernels, expected up to %u", MACHINE_KERNELS_MAX);
	if (strlen(value) >= sizeof(((struct machine *)0)->kernel))
		return not_a(err, "--kernel", value, "a profile with fewer knobs");
	o->kernels[o->nr_kernels++] = value;
	return knobs_parse(&knobs, value, err);
}

static int set_fs(struct machine_options *o, const char *value, struct fl_error *err)
{
	(void)err;
	o->fs_given = true;
	o->config.fs = value;
	return 0;
}

static int set_size(struct machine_options *o, const char *value, struct fl_error *err)
{
	o->size_given = true;
	return take_size("--size", value, &o->config.size, err);
}

static int set_ra_kb(struct machine_options *o, const char *value, struct fl_error *err)
{
	u64 kb;
	int ret = take_number("--ra-kb", value, 0, KB_MAX, &kb, err);

	if (!ret)
		o->config.ra_bytes = kb << 10;
	return ret;
}

static int set_page_size(struct machine_options *o, const char *value, struct fl_error *err)
{
	s64 size;
	int ret = take_size("--page-size", value, &size, err);

	if (!ret)
		ret = machine_check_page_size(size, err);
	if (!ret)
		o->config.machine.page_size = size;
	return ret;
}

static int set_memory(struct machine_options *o, const char *value, struct fl_error *err)
{
	s64 size;
	int ret = take_size("--memory", value, &size, err);

	if (!ret)
		o->config.machine.memory = size;
	return ret;
}

static int set_disk(struct machine_options *o, const char *value, struct fl_error *err)
{
	(void)err;
	o->config.disk = value;
	return 0;
}

static int set_file(struct machine_options *o, const char *value, struct fl_error *err)
{
	if (!*value)
		return not_a(err, "--file", value, "the path of a file");
	o->config.file = value;
	return 0;
}

static int set_image(struct machine_options *o, const char *value, struct fl_error *err)
{
	if (!*value)
		return not_a(err, "--image", value, "IMAGE:PATH of a file in an ext4 image");
	o->config.image = value;
	return 0;
}

static int set_data(struct machine_options *o, const char *value, struct fl_error *err)
{
	(void)value;
	(void)err;
	o->config.machine.data = true;
	return 0;
}

static int set_split_fails(struct machine_options *o, const char *value, struct fl_error *err)
{
	(void)value;
	(void)err;
	o->config.split_fails = true;
	return 0;
}

static int set_early_kill(struct machine_options *o, const char *value, struct fl_error *err)
{
	(void)value;
	(void)err;
	o->config.early_kill = true;
	return 0;
}

static int set_seed(struct machine_options *o, const char *value, struct fl_error *err)
{
	return take_number("--seed", value, 0, UINT64_MAX, &o->config.machine.seed, err);
}

static int set_cpus(struct machine_options *o, const char *value, struct fl_error *err)
{
	u64 cpus;
	int ret = take_number("--cpus", value, 1, MACHINE_MAX_CPUS, &cpus, err);

	if (!ret)
		o->config.machine.cpus = cpus;
	return ret;
}

static int set_tasks(struct machine_options *o, const char *value, struct fl_error *err)
{
	if (run_sharing_by_name(value, &o->config.sharing))
		return not_a(err, "--tasks", value, "own, same or threads");
	return 0;
}

static int set_schedule(struct machine_options *o, const char *value, struct fl_error *err)
{
	return take_number("--schedule", value, 0, UINT64_MAX, &o->config.schedule, err);
}

/* ORDER or ORDER:PERCENT; the largest order depends on the page size, see check_fragment(). */
static int set_fragment(struct machine_options *o, const char *value, struct fl_error *err)
{
	static const char expected[] = "ORDER or ORDER:PERCENT such as 3 or 3:50";
	size_t len = strcspn(value, ":");
	u64 order, percent = 100;
	char word[8];
	int ret;

	if (!len || len >= sizeof(word))
		return not_a(err, "--fragment", value, expected);
	memcpy(word, value, len);
	word[len] = 0;
	ret = take_number("--fragment", word, 0, UINT32_MAX, &order, NULL);
	if (!ret && value[len])
		ret = take_number("--fragment", value + len + 1, 0, 100, &percent, NULL);
	if (ret)
		return not_a(err, "--fragment", value, expected);
	o->config.machine.fragment_order = min_t(u64, order, INT32_MAX);
	o->config.machine.fragment_percent = percent;
	return 0;
}

static int set_block_size(struct machine_options *o, const char *value, struct fl_error *err)
{
	s64 size;
	int ret = take_size("--block-size", value, &size, err);

	if (!ret && (size < 1024 || size > 65536 || size & (size - 1)))
		return not_a(err, "--block-size", value, "a power of two from 1k to 64k");
	if (!ret)
		o->config.block_size = size;
	return ret;
}

static int set_io_kb(struct machine_options *o, const char *value, struct fl_error *err)
{
	u64 kb;
	int ret = take_number("--io-kb", value, 4, KB_MAX, &kb, err);

	if (!ret)
		o->config.io_bytes = kb << 10;
	return ret;
}

static int set_costs(struct machine_options *o, const char *value, struct fl_error *err)
{
	char path[512];
	int ret = 0;

	snprintf(path, sizeof(path), "%s", value);
	if (!strcmp(value, "host"))
		ret = costs_path(path, err);
	if (!ret)
		ret = costs_load(o->cost_ps, path, err);
	if (!ret)
		o->config.machine.cost_ps = o->cost_ps;
	return ret;
}

/* N or N:GAP. */
static int set_extent_blocks(struct machine_options *o, const char *value, struct fl_error *err)
{
	size_t len = strcspn(value, ":");
	char word[24];
	int ret;

	if (!value[len])
		return take_number("--extent-blocks", value, 1, UINT32_MAX,
				   &o->config.extent_blocks, err);
	if (len >= sizeof(word))
		return not_a(err, "--extent-blocks", value, "N or N:GAP such as 16 or 1:8192");
	memcpy(word, value, len);
	word[len] = 0;
	ret = take_number("--extent-blocks", word, 1, UINT32_MAX, &o->config.extent_blocks, err);
	if (!ret)
		ret = take_number("--extent-blocks", value + len + 1, 1, UINT32_MAX,
				  &o->config.extent_gap, err);
	return ret;
}

static int set_fs_size(struct machine_options *o, const char *value, struct fl_error *err)
{
	s64 size;
	int ret = take_size("--fs-size", value, &size, err);

	if (!ret && (size < 4 << 20 || size > 1LL << 46))
		return not_a(err, "--fs-size", value, "4m to 64t");
	if (!ret)
		o->config.fs_bytes = size;
	return ret;
}

static int set_journal(struct machine_options *o, const char *value, struct fl_error *err)
{
	s64 size;
	int ret = take_size("--journal", value, &size, err);

	if (!ret && (size < 1 << 20 || size > 1LL << 40))
		return not_a(err, "--journal", value, "1m to 1t");
	if (!ret)
		o->config.journal_bytes = size;
	return ret;
}

static int set_power_cut(struct machine_options *o, const char *value, struct fl_error *err)
{
	o->config.machine.data = true;
	return take_number("--power-cut", value, 1, UINT64_MAX, &o->config.power_cut, err);
}

/* The three lists are parsed here once for their errors, and with the file system for good. */
static int set_features(struct machine_options *o, const char *value, struct fl_error *err)
{
	struct ext4_mount_config scratch = {0};

	o->config.features = value;
	return ext4_parse_features(&scratch, value, err);
}

static int set_mount_options(struct machine_options *o, const char *value, struct fl_error *err)
{
	struct ext4_mount_config scratch = {0};

	o->config.mount_options = value;
	return ext4_parse_options(&scratch, value, err);
}

static int set_dir_flags(struct machine_options *o, const char *value, struct fl_error *err)
{
	struct ext4_mount_config scratch = {0};

	o->config.dir_flags = value;
	return ext4_parse_flags(&scratch, value, err);
}

static int (*const setters[])(struct machine_options *o, const char *value,
			      struct fl_error *err) = {
#define X(id, setter, ...) [MACHINE_OPT_##id - MACHINE_OPT_FIRST] = set_##setter,
	MACHINE_OPTION_TABLE(X)
#undef X
};

int machine_option_set(struct machine_options *o, int id, const char *value, struct fl_error *err)
{
	return setters[id - MACHINE_OPT_FIRST](o, value, err);
}

/* ---- all of them together ---- */

/* Orders of the buddy allocator: 0..10, 0..11 and 0..13 for 4K, 16K and 64K pages. */
static int check_fragment(const struct machine_config *m, struct fl_error *err)
{
	int top = m->page_size == 4096 ? 10 : m->page_size == 16384 ? 11 : 13;

	if (m->fragment_order <= top)
		return 0;
	return fl_error_set(err, -EINVAL, "--fragment", 0,
			    "order %d, expected 0 to %d with pages of %u bytes", m->fragment_order,
			    top, m->page_size);
}

static int check_file(const struct machine_options *o, struct fl_error *err)
{
	const struct run_config *c = &o->config;

	if (!run_has_backing(c))
		return 0;
	if (c->file && c->image)
		return fl_error_set(err, -EINVAL, "--image", 0,
				    "a file of --file, too, expected one of the two");
	if (c->image && c->block_size)
		return fl_error_set(err, -EINVAL, "--block-size", 0,
				    "the image of --image has its own block size, expected one of "
				    "the two");
	if (o->size_given)
		return fl_error_set(err, -EINVAL, "--size", 0,
				    "the file of --%s has its own size, expected one of the two",
				    c->image ? "image" : "file");
	if (c->disk && !strcmp(c->disk, "hole"))
		return fl_error_set(err, -EINVAL, "--disk", 0,
				    "a hole has no bytes of a file, expected host, ram or nvme "
				    "with --%s",
				    c->image ? "image" : "file");
	return 0;
}

int machine_options_check(struct machine_options *o, struct fl_error *err)
{
	int ret = check_fragment(&o->config.machine, err);

	if (o->config.image && !o->fs_given)
		o->config.fs = "ext4";
	if (o->nr_kernels)
		o->config.machine.kernel = o->kernels[o->nr_kernels - 1];
	return ret ? ret : check_file(o, err);
}
