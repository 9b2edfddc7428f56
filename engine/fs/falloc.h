/*
 * fs/falloc.h - modes of fallocate(2).
 *
 * Mirrors    include/uapi/linux/falloc.h.
 */
#ifndef FL_FS_FALLOC_H
#define FL_FS_FALLOC_H

#define FALLOC_FL_PUNCH_HOLE 0x02

#endif
