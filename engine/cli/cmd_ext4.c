#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/ext4_survey.h"
#include "lib/strutil.h"
#include "machine/machine.h"

enum { OPT_KERNEL, OPT_PAGE_SIZE, OPT_MOUNT_OPTIONS, OPT_MAX, OPT_FORMAT, OPT_OUTPUT };

static const struct cli_option ext4_options[] = {
	{"kernel", NULL, "P", "only this kernel; may be given several times (default all)",
	 OPT_KERNEL},
	{"page-size", NULL, "SIZE", "4k, 16k or 64k (default 4k)", OPT_PAGE_SIZE},
	{"mount-options", NULL, "LIST",
	 "as mounted with these: data=journal, data=ordered, data=writeback, delalloc, "
	 "nodelalloc, dioread_nolock, dioread_lock",
	 OPT_MOUNT_OPTIONS},
	{"max", NULL, "N", "files at most, 1 to 1000000 (default 1000)", OPT_MAX},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

struct ext4_args {
	struct ext4_survey_args survey;
	enum cli_format format;
	const char *output;
};

static int take_image(struct ext4_args *a, struct cli_args *args, const char *value,
		      struct fl_error *err)
{
	if (a->survey.word)
		return cli_unexpected(args, value, err);
	a->survey.word = value;
	return 0;
}

static int take_kernel(struct ext4_args *a, const char *value, struct fl_error *err)
{
	struct knobs knobs;

	if (a->survey.nr_kernels == EXT4_SURVEY_KERNELS)
		return fl_error_set(err, -E2BIG, "--kernel", 0,
				    "too many kernels, expected up to %u", EXT4_SURVEY_KERNELS);
	a->survey.kernels[a->survey.nr_kernels++] = value;
	return knobs_parse(&knobs, value, err);
}

static int take_page_size(struct ext4_args *a, const char *value, struct fl_error *err)
{
	s64 size = 0;

	if (parse_size(value, &size))
		size = 0;
	a->survey.page_size = size;
	return machine_check_page_size(size, err);
}

static int take_max(struct ext4_args *a, const char *value, struct fl_error *err)
{
	char *end;
	unsigned long max = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || !max || max > 1000000)
		return fl_error_set(err, -EINVAL, "--max", 0,
				    "'%.*s', expected a number from 1 to 1000000",
				    shown_len(value, 40), value);
	a->survey.max = max;
	return 0;
}

static int take(struct ext4_args *a, struct cli_args *args, int id, const char *value,
		struct fl_error *err)
{
	struct ext4_mount_config scratch = {0};

	switch (id) {
	case OPT_KERNEL:
		return take_kernel(a, value, err);
	case OPT_PAGE_SIZE:
		return take_page_size(a, value, err);
	case OPT_MOUNT_OPTIONS:
		a->survey.mount_options = value;
		return ext4_parse_options(&scratch, value, err);
	case OPT_MAX:
		return take_max(a, value, err);
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	case OPT_OUTPUT:
		a->output = value;
		return 0;
	default:
		return take_image(a, args, value, err);
	}
}

static int show(const struct ext4_args *a, struct fl_error *err)
{
	static const struct cli_result result = {ext4_survey_text, ext4_survey_json};
	struct ext4_survey *survey;
	int ret;

	if (!a->survey.word)
		return fl_error_set(err, -EINVAL, NULL, 0, "no image, expected IMAGE[:PATH]");
	ret = ext4_survey_make(&a->survey, &survey, err);
	if (!ret)
		ret = cli_show(&result, survey, a->format, a->output, err);
	ext4_survey_free(survey);
	return ret;
}

static int cmd_ext4_main(struct cli_args *args)
{
	struct ext4_args a = {.survey = {.page_size = 4096, .max = 1000}, .format = FORMAT_TEXT};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(&a, args, id, value, &err))
			return cli_fail(&err);
	}
	if (!ret)
		ret = show(&a, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_ext4 = {
	.name = "ext4",
	.synopsis = "IMAGE[:PATH] [options]",
	.summary =
		"Say which files of an ext4 image get large folios in which kernel, and why not.",
	.options = ext4_options,
	.details =
		"IMAGE is a regular file or a block device and is never written; PATH a file or\n"
		"a folder in it (default: all of it). A cell is the largest order the file's\n"
		"folios may have, or what keeps them small.\n"
		"\n"
		"JSON keys:\n"
		"  image block_size page_size   bytes\n"
		"  features         those that matter for folios, as mke2fs -O names them\n"
		"  mount_options    in force\n"
		"  kernels          [{name, files: how many, large: how many of them}]\n"
		"  files            [{path, ino, size, flags, kernels: {name: {min_order,\n"
		"                   max_order, why: [kernel, refused, verity, encrypt,\n"
		"                   data=journal, flag +j]}}}]\n"
		"  more             there are more files than --max\n",
	.run = cmd_ext4_main,
};
