#include "fs/read_write.h"

#include <errno.h>

#include "mm/pagemap.h"

static ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct kiocb kiocb = { .ki_filp = file, .ki_pos = *pos };
	struct iov_iter iter = { .count = min(count, MAX_RW_COUNT(m)), .ubuf = buf };
	ssize_t ret;

	charge2(m, COST_SYSCALL, 1, COST_VFS_READ, 1);
	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (*pos < 0)
		return -EINVAL;
	ret = filemap_read(&kiocb, &iter, 0);
	*pos = kiocb.ki_pos;
	return ret;
}

ssize_t ksys_read(struct file *file, char *buf, size_t count)
{
	lock_acquire(mapping_machine(file->f_mapping), LOCK_F_POS_LOCK);
	return vfs_read(file, buf, count, &file->f_pos);
}

u64 ksys_read_plain(struct file *file, size_t count, u64 n)
{
	struct machine *m = mapping_machine(file->f_mapping);

	if (count > MAX_RW_COUNT(m))
		return 0;
	n = filemap_read_plain(file, count, n);
	m->locks[LOCK_F_POS_LOCK] += n;
	charge2(m, COST_SYSCALL, n, COST_VFS_READ, n);
	return n;
}

ssize_t ksys_pread64(struct file *file, char *buf, size_t count, loff_t pos)
{
	return vfs_read(file, buf, count, &pos);
}

ssize_t do_splice_read(struct file *file, loff_t off, size_t len)
{
	struct machine *m = mapping_machine(file->f_mapping);

	charge(m, COST_SYSCALL, 1);
	if (off < 0)
		return -EINVAL;
	return filemap_splice_read(file, &off, min(len, MAX_RW_COUNT(m)));
}

loff_t vfs_llseek(struct file *file, loff_t offset)
{
	charge(mapping_machine(file->f_mapping), COST_SYSCALL, 1);
	if (offset < 0)
		return -EINVAL;
	file->f_pos = offset;
	return offset;
}
