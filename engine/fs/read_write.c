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
	if (file->f_inode->i_fop->read_iter)
		ret = file->f_inode->i_fop->read_iter(&kiocb, &iter);
	else
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

	if (count > MAX_RW_COUNT(m) || file->f_inode->i_fop->read_iter)
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
	len = min(len, MAX_RW_COUNT(m));
	if (file->f_inode->i_fop->splice_read)
		return file->f_inode->i_fop->splice_read(file, &off, NULL, len);
	return filemap_splice_read(file, &off, len);
}

loff_t vfs_llseek(struct file *file, loff_t offset)
{
	charge(mapping_machine(file->f_mapping), COST_SYSCALL, 1);
	if (offset < 0)
		return -EINVAL;
	file->f_pos = offset;
	return offset;
}

ssize_t ksys_pwrite64(struct file *file, const char *buf, size_t count, loff_t pos)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct kiocb kiocb = { .ki_filp = file, .ki_pos = pos };
	struct iov_iter iter = { .count = min(count, MAX_RW_COUNT(m)), .ubuf = (char *)buf };

	charge(m, COST_SYSCALL, 1);
	if (pos < 0)
		return -EINVAL;
	if (!file->f_inode->i_fop->write_iter)
		return -EROFS;
	if (!iter.count)
		return 0;
	if (pos >= file->f_inode->i_sb->s_maxbytes)
		return -EFBIG;
	/* mm/filemap.c generic_write_checks_count(). */
	iter.count = min_t(u64, iter.count, file->f_inode->i_sb->s_maxbytes - pos);
	lock_acquire(m, LOCK_I_RWSEM);
	return file->f_inode->i_fop->write_iter(&kiocb, &iter);
}

int vfs_fsync(struct file *file)
{
	int ret, lost;

	charge(mapping_machine(file->f_mapping), COST_SYSCALL, 1);
	if (!file->f_inode->i_fop->fsync)
		return -EINVAL;
	ret = file->f_inode->i_fop->fsync(file);
	if (!inode_to_bdi(file->f_inode)->capabilities)
		return ret;
	lost = file_check_and_advance_wb_err(file);
	return ret ? ret : lost;
}

int do_sys_ftruncate(struct file *file, loff_t length)
{
	struct machine *m = mapping_machine(file->f_mapping);

	charge(m, COST_SYSCALL, 1);
	if (length < 0)
		return -EINVAL;
	if (!file->f_inode->i_fop->setattr_size)
		return -EROFS;
	if (length > file->f_inode->i_sb->s_maxbytes)
		return -EFBIG;
	lock_acquire(m, LOCK_I_RWSEM);
	return file->f_inode->i_fop->setattr_size(file->f_inode, length);
}

long vfs_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	struct machine *m = mapping_machine(file->f_mapping);

	charge(m, COST_SYSCALL, 1);
	if (offset < 0 || len <= 0)
		return -EINVAL;
	if (offset > file->f_inode->i_sb->s_maxbytes - len)
		return -EFBIG;
	if (!file->f_inode->i_fop->fallocate)
		return -EOPNOTSUPP;
	lock_acquire(m, LOCK_I_RWSEM);
	return file->f_inode->i_fop->fallocate(file, mode, offset, len);
}
