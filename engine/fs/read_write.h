/*
 * fs/read_write.h - the system calls on an open file.
 *
 * Mirrors    fs/read_write.c, fs/splice.c, fs/sync.c, fs/open.c.
 * Owner      @buf belongs to the caller and holds @count bytes, or is NULL: then the bytes are
 *            counted but go nowhere.
 * Errors     bytes read (0 at the end of the file), or negative errno.
 */
#ifndef FL_FS_READ_WRITE_H
#define FL_FS_READ_WRITE_H

#include "mm/fs.h"

/* read(2) at the file position, which moves. */
ssize_t ksys_read(struct file *file, char *buf, size_t count);
/*
 * Up to @n read(2) calls at once where each only copies from the folio the one before ended in
 * (filemap_read_plain()). Returns how many were played; each delivered @count bytes.
 */
u64 ksys_read_plain(struct file *file, size_t count, u64 n);
/* pread(2): the position stays. -EINVAL for a negative one. */
ssize_t ksys_pread64(struct file *file, char *buf, size_t count, loff_t pos);
/* splice(2) from @off into a pipe that takes everything; the position stays. */
ssize_t do_splice_read(struct file *file, loff_t off, size_t len);
/*
 * pwrite(2): the position stays. @buf holds @count bytes or is NULL: then the file grows by bytes
 * nobody knows (machines without data). -EINVAL for a negative position, -EFBIG for one past the
 * largest file, whose end cuts a write; -EROFS, -ENOSPC.
 */
ssize_t ksys_pwrite64(struct file *file, const char *buf, size_t count, loff_t pos);
/* fsync(2) */
int vfs_fsync(struct file *file);
/* ftruncate(2) */
int do_sys_ftruncate(struct file *file, loff_t length);
/* fallocate(2); @mode of fs/falloc.h. -EINVAL for a negative offset or a length below 1. */
long vfs_fallocate(struct file *file, int mode, loff_t offset, loff_t len);
/* lseek(2) SEEK_SET: the new position, or -EINVAL. */
loff_t vfs_llseek(struct file *file, loff_t offset);

#endif
