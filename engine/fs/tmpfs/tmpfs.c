#include "fs/tmpfs/tmpfs.h"

#include "fs/falloc.h"
#include "mm/shmem_fs.h"
#include "mm/writeback.h"

/* include/linux/fs.h: there is nothing that could be more durable. */
static int noop_fsync(struct file *file)
{
	(void)file;
	return 0;
}

static long tmpfs_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return shmem_punch_hole(file->f_inode, offset, len);
	return shmem_fallocate(file->f_inode, offset, len);
}

static const struct vm_operations_struct shmem_vm_ops = {
	.fault = shmem_fault,
	.map_pages = filemap_map_pages,
};

static const struct file_operations shmem_file_operations = {
	.read_iter = shmem_file_read_iter,
	.write_iter = generic_perform_write,
	.splice_read = shmem_file_splice_read,
	.fsync = noop_fsync,
	.fallocate = tmpfs_fallocate,
	.setattr_size = shmem_setattr_size,
	.vm_ops = &shmem_vm_ops,
};

int tmpfs_init_inode(struct inode *inode)
{
	inode->i_fop = &shmem_file_operations;
	return shmem_init_inode(inode);
}
