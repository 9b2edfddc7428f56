/*
 * host/ext4_image_check.h - is what the reader of an image says possible?
 *
 * Errors     NULL, or a text "what is wrong, expected what" that is constant.
 */
#ifndef FL_HOST_EXT4_IMAGE_CHECK_H
#define FL_HOST_EXT4_IMAGE_CHECK_H

#include "host/ext4_image.h"

/* @size: bytes of the image. */
const char *ext4_image_check_super(const struct ext4_image_super *super, u64 size);
const char *ext4_image_check_inode(const struct ext4_image_super *super,
				   const struct ext4_image_inode *inode);

#endif
