#include "host/ext4_verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/boot.h"
#include "fs/super.h"
#include "mm/pagemap.h"

#define JUDGE_MEMORY (16 << 20)

/* What a file can be: its journal flag is the only thing of its own that counts. */
enum { FLAG_CLEAR, FLAG_SET, FLAG_NR };

struct ext4_judge {
	struct ext4_verdict verdicts[FLAG_NR];
};

static const struct {
	const char *name, *text;
} obstacles[EXT4_OBSTACLES] = {
	[EXT4_OBSTACLE_KERNEL] = {"kernel", "ext4 of this kernel has no large folios"},
	[EXT4_OBSTACLE_REFUSED] = {"refused", "this kernel does not mount it"},
	[EXT4_OBSTACLE_VERITY] = {"verity", "the file system has the feature verity"},
	[EXT4_OBSTACLE_ENCRYPT] = {"encrypt", "the file system has the feature encrypt"},
	[EXT4_OBSTACLE_DATA_JOURNAL] = {"data=journal", "it is mounted with data=journal"},
	[EXT4_OBSTACLE_JOURNAL_FLAG] = {"flag +j", "the file has the flag journal_data"},
};

const char *ext4_obstacle_name(enum ext4_obstacle obstacle)
{
	return obstacles[obstacle].name;
}

const char *ext4_obstacle_text(enum ext4_obstacle obstacle)
{
	return obstacles[obstacle].text;
}

/* ---- from the image ---- */

void ext4_image_mount_config(const struct ext4_image_super *super, struct ext4_mount_config *config)
{
	u32 mode = super->default_mount_opts & EXT4_IMAGE_DEFM_JMODE;

	ext4_mount_config_init(config);
	config->features = ext4_features_of_masks(super->compat, super->incompat, super->ro_compat);
	config->cluster_blocks = super->cluster_size / super->block_size;
	if (super->default_mount_opts & EXT4_IMAGE_DEFM_NODELALLOC)
		config->opts &= ~EXT4_MOUNT_DELALLOC;
	if (!(config->features & EXT4_FEATURE_HAS_JOURNAL))
		return;
	config->opts &= ~EXT4_MOUNT_DATA_FLAGS;
	config->opts |= mode == EXT4_IMAGE_DEFM_JMODE_DATA    ? EXT4_MOUNT_JOURNAL_DATA
			: mode == EXT4_IMAGE_DEFM_JMODE_WBACK ? EXT4_MOUNT_WRITEBACK_DATA
							      : EXT4_MOUNT_ORDERED_DATA;
}

/* ---- asking ---- */

/* What one kernel says; on one machine, one mount after the other. */
struct question {
	struct machine *machine;
	struct mount_options options;
	struct ext4_mount_config config;
};

/* 0, or why it is not mounted. */
static int ask(const struct question *q, const struct ext4_mount_config *config,
	       unsigned long flags, struct ext4_verdict *ret)
{
	struct mount_options options = q->options;
	struct super_block *sb;
	struct inode *inode;
	int error;

	memset(ret, 0, sizeof(*ret));
	options.ext4 = config;
	error = mount_fs(q->machine, &options, &sb, NULL);
	if (error)
		return error;
	error = new_inode(sb, 0, false, &inode);
	if (!error) {
		ext4_set_inode_flags(inode, flags);
		ret->min_order = mapping_min_folio_order(inode->i_mapping);
		ret->max_order = mapping_max_folio_order(inode->i_mapping);
	}
	kill_super(sb);
	return error;
}

/* The question without obstacles, or with only the one that the asked has, too. */
static void config_with(const struct question *q, enum ext4_obstacle only,
			struct ext4_mount_config *config)
{
	static const u32 features[EXT4_OBSTACLES] = {
		[EXT4_OBSTACLE_VERITY] = EXT4_FEATURE_VERITY,
		[EXT4_OBSTACLE_ENCRYPT] = EXT4_FEATURE_ENCRYPT,
	};

	*config = q->config;
	config->features &= ~(EXT4_FEATURE_VERITY | EXT4_FEATURE_ENCRYPT) | features[only];
	if (only == EXT4_OBSTACLE_DATA_JOURNAL || !(config->opts & EXT4_MOUNT_JOURNAL_DATA))
		return;
	config->opts &= ~EXT4_MOUNT_DATA_FLAGS;
	config->opts |= EXT4_MOUNT_ORDERED_DATA;
}

static bool is_there(const struct question *q, enum ext4_obstacle obstacle, unsigned long flags)
{
	switch (obstacle) {
	case EXT4_OBSTACLE_VERITY:
		return q->config.features & EXT4_FEATURE_VERITY;
	case EXT4_OBSTACLE_ENCRYPT:
		return q->config.features & EXT4_FEATURE_ENCRYPT;
	case EXT4_OBSTACLE_DATA_JOURNAL:
		return q->config.opts & EXT4_MOUNT_JOURNAL_DATA;
	default:
		return flags & EXT4_JOURNAL_DATA_FL;
	}
}

/* Which obstacles lower what would be there without any? */
static u32 find_obstacles(const struct question *q, unsigned long flags)
{
	struct ext4_mount_config config;
	struct ext4_verdict best, with;
	u32 found = 0;

	config_with(q, EXT4_OBSTACLE_KERNEL, &config);
	if (ask(q, &config, 0, &best))
		return BIT(EXT4_OBSTACLE_REFUSED);
	if (!best.max_order)
		return BIT(EXT4_OBSTACLE_KERNEL);
	for (enum ext4_obstacle i = EXT4_OBSTACLE_VERITY; i < EXT4_OBSTACLES; i++) {
		unsigned long flag = i == EXT4_OBSTACLE_JOURNAL_FLAG ? flags : 0;

		if (!is_there(q, i, flags))
			continue;
		config_with(q, i, &config);
		if (ask(q, &config, flag, &with) || with.max_order < best.max_order)
			found |= BIT(i);
	}
	return found;
}

static struct ext4_verdict judge(const struct question *q, unsigned long flags)
{
	struct ext4_verdict v;

	if (ask(q, &q->config, flags, &v))
		v.obstacles = BIT(EXT4_OBSTACLE_REFUSED) | find_obstacles(q, flags);
	else
		v.obstacles = find_obstacles(q, flags);
	return v;
}

int ext4_judge_open(const char *kernel, unsigned int page_size, unsigned int block_size,
		    const struct ext4_mount_config *config, struct ext4_judge **ret,
		    struct fl_error *err)
{
	struct machine_config machine;
	struct question q = {
		.options = {.type = file_system_type("ext4"),
			    .block_size = block_size,
			    .disk = disk_model_by_name("hole"),
			    .host_fd = -1},
		.config = *config,
	};
	struct ext4_judge *judge_ret = calloc(1, sizeof(*judge_ret));
	int error;

	*ret = NULL;
	if (!judge_ret)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	machine_config_init(&machine);
	machine.kernel = kernel;
	machine.page_size = page_size;
	machine.memory = JUDGE_MEMORY;
	error = machine_boot(&machine, &q.machine, err);
	if (error) {
		free(judge_ret);
		return error;
	}
	judge_ret->verdicts[FLAG_CLEAR] = judge(&q, 0);
	judge_ret->verdicts[FLAG_SET] = judge(&q, EXT4_JOURNAL_DATA_FL);
	machine_shutdown(q.machine);
	*ret = judge_ret;
	return 0;
}

void ext4_judge_close(struct ext4_judge *judge)
{
	free(judge);
}

struct ext4_verdict ext4_judge_file(const struct ext4_judge *judge, u32 flags)
{
	return judge->verdicts[flags & EXT4_JOURNAL_DATA_FL ? FLAG_SET : FLAG_CLEAR];
}
