/*
 * cli/picture.h - a moment of a recording as a picture file.
 *
 * Owner      nothing is kept.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_CLI_PICTURE_H
#define FL_CLI_PICTURE_H

#include <stdio.h>

#include "cli/recording_args.h"

struct picture_args {
	u64 at;		   /* the event it stands behind, in the file's numbers */
	u64 range[2];	   /* events, both included; equal: no range */
	int width, height; /* pixels */
	const char *theme; /* theme_name() */
	bool png;	   /* else SVG */
};

/* All of the recording at its end, 1280x800, dark. */
void picture_args_init(struct picture_args *p);
/* The values of --size (WxH), --theme and --range (A-B). */
int picture_args_size(const char *value, struct picture_args *p, struct fl_error *err);
int picture_args_theme(const char *value, struct picture_args *p, struct fl_error *err);
int picture_args_range(const char *value, struct picture_args *p, struct fl_error *err);

int picture_write(const struct recording_args *a, const struct picture_args *p, FILE *f,
		  struct fl_error *err);

#endif
