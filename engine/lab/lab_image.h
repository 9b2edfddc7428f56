/*
 * lab/lab_image.h - the ext4 images in a lab's folder.
 *
 * machine{ image = "NAME:PATH" } must work where no file can be opened (lab/grade.h), so every file
 * of every image is read when the lab is: NAME.img, or NAME.img.xz packed with xz. Images of labs
 * are small; host/ext4_image.h reads them, locked in.
 *
 * Invariant  names have no '/': nothing outside the folder is read.
 * Owner      lab_images_open() fills the struct for the caller, lab_images_fini() releases it.
 * Errors     negative errno with struct fl_error named after the image; -E2BIG past the limits.
 */
#ifndef FL_LAB_LAB_IMAGE_H
#define FL_LAB_LAB_IMAGE_H

#include "host/backing.h"

#define LAB_IMAGE_BYTES	     (32u << 20) /* of an image, unpacked */
#define LAB_IMAGE_FILE_BYTES (4u << 20)	 /* in the blocks of one of its files */
#define LAB_IMAGE_FILES	     64		 /* of one image */

struct lab_image_file {
	char *word; /* "NAME.img.xz:dir/file" */
	struct backing backing;
};

struct lab_images {
	struct lab_image_file *files;
	size_t nr;
};

/* No image in @dir is no error. */
int lab_images_open(const char *dir, struct lab_images *ret, struct fl_error *err);
void lab_images_fini(struct lab_images *images);

/* What @word ("NAME.img.xz:PATH") names, NULL if nothing; a '/' before the path is fine. */
const struct lab_image_file *lab_images_find(const struct lab_images *images, const char *word);

#endif
