/*
 * cli/ext4_survey.h - the files of an ext4 image and what every kernel would make of them.
 *
 * Owner      ext4_survey_make() gives the survey to the caller; strings of the arguments stay
 *            the command line's.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_EXT4_SURVEY_H
#define FL_CLI_EXT4_SURVEY_H

#include "cli/out.h"
#include "host/ext4_verdict.h"

#define EXT4_SURVEY_KERNELS 32

struct ext4_survey_args {
	const char *word; /* IMAGE[:PATH] */
	const char *kernels[EXT4_SURVEY_KERNELS];
	unsigned int nr_kernels; /* 0: every profile */
	unsigned int page_size;
	const char *mount_options; /* or NULL */
	size_t max;		   /* files */
};

struct ext4_survey;

int ext4_survey_make(const struct ext4_survey_args *args, struct ext4_survey **ret,
		     struct fl_error *err);
/* NULL is fine. */
void ext4_survey_free(struct ext4_survey *survey);

/* For struct cli_result; @data is the survey. */
void ext4_survey_text(struct out *o, const void *data);
cJSON *ext4_survey_json(const void *data);

#endif
