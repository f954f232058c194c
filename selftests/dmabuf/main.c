// SPDX-License-Identifier: GPL-2.0
/*
 * An exporter of dma-bufs for tests: memory like that of udmabuf, which not all
 * kernels have, or like that of accelerators: it is pinned, moves, and fails.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "buf.h"

static int exporter_ioc_new(struct file *file, struct exporter_new __user *to)
{
	struct exporter_buf *buf;
	struct exporter_new arg;

	if (copy_from_user(&arg, to, sizeof(arg)))
		return -EFAULT;
	buf = exporter_buf_new(&arg);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	if (cmpxchg(&file->private_data, NULL, buf)) {
		exporter_buf_put(buf);
		return -EBUSY;
	}
	arg.fd = exporter_buf_export(buf);
	if (arg.fd < 0)
		return arg.fd;
	return copy_to_user(to, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static int exporter_ioc_set(struct exporter_buf *buf,
			    const struct exporter_new __user *from)
{
	struct exporter_new arg;

	if (copy_from_user(&arg, from, sizeof(arg)))
		return -EFAULT;
	WRITE_ONCE(buf->what.error, arg.error);
	WRITE_ONCE(buf->what.flags, arg.flags);
	return 0;
}

static int exporter_ioc_count(struct exporter_buf *buf,
			      struct exporter_count __user *to)
{
	struct exporter_count count;

	exporter_buf_count(buf, &count);
	return copy_to_user(to, &count, sizeof(count)) ? -EFAULT : 0;
}

static int exporter_ioc_move(const __s32 __user *from)
{
	__s32 fd;

	return get_user(fd, from) ? : exporter_buf_move(fd);
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long data)
{
	struct exporter_buf *buf = READ_ONCE(file->private_data);
	void __user *arg = (void __user *)data;

	if (cmd == EXPORTER_IOC_NEW)
		return exporter_ioc_new(file, arg);
	if (!buf)
		return -ENOENT;
	switch (cmd) {
	case EXPORTER_IOC_SET:
		return exporter_ioc_set(buf, arg);
	case EXPORTER_IOC_MOVE:
		return exporter_ioc_move(arg);
	case EXPORTER_IOC_COUNT:
		return exporter_ioc_count(buf, arg);
	default:
		return -ENOTTY;
	}
}

static int exporter_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct exporter_buf *buf = READ_ONCE(file->private_data);

	return buf ? exporter_buf_mmap(buf, vma) : -ENOENT;
}

/* misc_open() has stored the miscdevice there. */
static int exporter_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static int exporter_close(struct inode *inode, struct file *file)
{
	if (file->private_data)
		exporter_buf_put(file->private_data);
	return 0;
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.open = exporter_open,
	.release = exporter_close,
	.unlocked_ioctl = exporter_ioctl,
	.mmap = exporter_mmap,
};

static struct miscdevice exporter_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = EXPORTER_DEVICE,
	.mode = 0600,
	.fops = &exporter_fops,
};

module_misc_device(exporter_misc);
MODULE_DESCRIPTION("Exporter of dma-bufs for tests of rclink");
MODULE_LICENSE("GPL");
