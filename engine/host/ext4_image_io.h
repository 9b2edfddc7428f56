/*
 * host/ext4_image_io.h - libext2fs reads the descriptor of the jail and cannot write at all.
 *
 * Differs    from unix_io_manager: opens nothing, has no cache, every write is EXT2_ET_RO_FILSYS.
 */
#ifndef FL_HOST_EXT4_IMAGE_IO_H
#define FL_HOST_EXT4_IMAGE_IO_H

#include <ext2fs/ext2fs.h>

extern struct struct_io_manager ext4_image_io_manager;

#endif
