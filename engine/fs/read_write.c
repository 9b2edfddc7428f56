#include "fs/read_write.h"

#include <errno.h>

#include "machine/sched.h"
#include "mm/pagemap.h"

/* Some file systems keep truncation off while they read. fs/xfs/xfs_file.c */
static ssize_t read_through_cache(struct kiocb *kiocb, struct iov_iter *iter)
{
	struct inode *inode = kiocb->ki_filp->f_inode;
	struct machine *m = inode->i_sb->s_machine;
	bool iolock = inode->i_fop && inode->i_fop->read_iolock;
	ssize_t ret;

	if (iolock)
		lock_shared_smp(m, I_RWSEM, &inode->i_rwsem);
	ret = filemap_read(kiocb, iter, 0);
	if (iolock)
		unlock_shared(m, I_RWSEM, &inode->i_rwsem);
	return ret;
}

static ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct kiocb kiocb = {.ki_filp = file, .ki_pos = *pos};
	struct iov_iter iter = {.count = min(count, MAX_RW_COUNT(m)), .ubuf = buf};
	ssize_t ret;

	charge2(m, COST_SYSCALL, 1, COST_VFS_READ, 1);
	sched_point(m);
	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (*pos < 0)
		return -EINVAL;
	if (file->f_inode->i_fop->read_iter)
		ret = file->f_inode->i_fop->read_iter(&kiocb, &iter);
	else
		ret = read_through_cache(&kiocb, &iter);
	*pos = kiocb.ki_pos;
	return ret;
}

ssize_t ksys_read(struct file *file, char *buf, size_t count)
{
	struct machine *m = mapping_machine(file->f_mapping);
	ssize_t ret;

	bool alone = m->sched && file->f_count == 1; /* fs/file.c fdget_pos() */

	if (alone)
		return vfs_read(file, buf, count, &file->f_pos);
	lock_excl(m, F_POS_LOCK, &file->f_pos_lock);
	ret = vfs_read(file, buf, count, &file->f_pos);
	unlock_excl(m, F_POS_LOCK, &file->f_pos_lock);
	return ret;
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
	struct machine *m = mapping_machine(file->f_mapping);

	charge(m, COST_SYSCALL, 1);
	if (offset < 0)
		return -EINVAL;
	lock_excl_smp(m, F_POS_LOCK, &file->f_pos_lock);
	file->f_pos = offset;
	unlock_excl(m, F_POS_LOCK, &file->f_pos_lock);
	return offset;
}

ssize_t ksys_pwrite64(struct file *file, const char *buf, size_t count, loff_t pos)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct kiocb kiocb = {.ki_filp = file, .ki_pos = pos};
	struct iov_iter iter = {.count = min(count, MAX_RW_COUNT(m)), .ubuf = (char *)buf};
	struct inode *inode = file->f_inode;
	ssize_t ret;

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
	lock_excl(m, I_RWSEM, &inode->i_rwsem);
	ret = inode->i_fop->write_iter(&kiocb, &iter);
	unlock_excl(m, I_RWSEM, &inode->i_rwsem);
	return ret;
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
	struct inode *inode = file->f_inode;
	int ret;

	charge(m, COST_SYSCALL, 1);
	if (length < 0)
		return -EINVAL;
	if (!file->f_inode->i_fop->setattr_size)
		return -EROFS;
	if (length > file->f_inode->i_sb->s_maxbytes)
		return -EFBIG;
	lock_excl(m, I_RWSEM, &inode->i_rwsem);
	lock_excl_smp(m, INVALIDATE_LOCK, &inode->i_mapping->invalidate_lock);
	ret = inode->i_fop->setattr_size(inode, length);
	unlock_excl(m, INVALIDATE_LOCK, &inode->i_mapping->invalidate_lock);
	unlock_excl(m, I_RWSEM, &inode->i_rwsem);
	return ret;
}

long vfs_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct inode *inode = file->f_inode;
	long ret;

	charge(m, COST_SYSCALL, 1);
	if (offset < 0 || len <= 0)
		return -EINVAL;
	if (offset > file->f_inode->i_sb->s_maxbytes - len)
		return -EFBIG;
	if (!file->f_inode->i_fop->fallocate)
		return -EOPNOTSUPP;
	lock_excl(m, I_RWSEM, &inode->i_rwsem);
	lock_excl_smp(m, INVALIDATE_LOCK, &inode->i_mapping->invalidate_lock);
	ret = inode->i_fop->fallocate(file, mode, offset, len);
	unlock_excl(m, INVALIDATE_LOCK, &inode->i_mapping->invalidate_lock);
	unlock_excl(m, I_RWSEM, &inode->i_rwsem);
	return ret;
}
