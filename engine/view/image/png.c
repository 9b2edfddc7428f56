#include <errno.h>
#include <png.h>
#include <stdlib.h>

#include "view/image/picture.h"
#include "view/image/raster.h"

int picture_png_pixels(const u32 *pixels, int w, int h, FILE *f)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = w,
		.height = h,
		.format = PNG_FORMAT_RGB,
	};
	u8 *rgb = malloc((size_t)w * h * 3), *to = rgb;
	int ok;

	if (!rgb)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)w * h; i++) {
		*to++ = pixels[i] >> 16;
		*to++ = pixels[i] >> 8;
		*to++ = pixels[i];
	}
	ok = png_image_write_to_stdio(&image, f, 0, rgb, 0, NULL);
	free(rgb);
	return ok ? 0 : -EIO;
}

int picture_png(const struct draw *d, FILE *f)
{
	u32 *pixels = malloc((size_t)d->width * d->height * sizeof(*pixels));
	int ret;

	if (!pixels)
		return -ENOMEM;
	raster(d, pixels, d->width);
	ret = picture_png_pixels(pixels, d->width, d->height, f);
	free(pixels);
	return ret;
}
