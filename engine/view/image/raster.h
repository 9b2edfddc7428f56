/*
 * view/image/raster.h - a draw list as pixels: what windows show and PNG files hold.
 *
 * Invariant  the same list and font give the same pixels everywhere.
 * Owner      the pixels are the caller's.
 * Errors     none.
 */
#ifndef FL_VIEW_IMAGE_RASTER_H
#define FL_VIEW_IMAGE_RASTER_H

#include "view/image/draw.h"

/* Draw all of @d to @pixels: 0xRRGGBB, d->height rows that lie @stride pixels apart. */
void raster(const struct draw *d, u32 *pixels, size_t stride);

#endif
