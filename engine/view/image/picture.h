/*
 * view/image/picture.h - a draw list as a file.
 *
 * Owner      nothing is kept.
 * Errors     -ENOMEM, -EIO; write errors of the stream are the caller's to look for.
 */
#ifndef FL_VIEW_IMAGE_PICTURE_H
#define FL_VIEW_IMAGE_PICTURE_H

#include "view/image/draw.h"

/* @d as a PNG of d->width * d->height. */
int picture_png(const struct draw *d, FILE *f);
/* @pixels (0xRRGGBB, no gap between rows) as a PNG. */
int picture_png_pixels(const u32 *pixels, int w, int h, FILE *f);
/* @d as an SVG, texts as text. */
int picture_svg(const struct draw *d, FILE *f);

#endif
