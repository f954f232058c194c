// SPDX-License-Identifier: GPL-2.0
/*
 * Each call checks its argument completely, then makes one call to the core.
 * A file is nothing at first, and then becomes a channel, a listener, a channel
 * to a group, or a share; this is decided once. What it may become depends on
 * the credentials of whoever opened it.
 */
#include "cdev.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/rclink_dev.h>

#include "chan.h"
#include "dmabuf.h"
#include "group-chan.h"
#include "listener.h"
#include "region.h"
#include "remote.h"
#include "ring.h"
#include "share.h"
#include "shm.h"
#include "user-memory.h"

enum rcl_file_kind {
	RCL_FILE_NOTHING,
	RCL_FILE_CHAN,
	RCL_FILE_LISTENER,
	RCL_FILE_GROUP,
	RCL_FILE_SHARE,
};

/* An open file holds a reference to what it is, which is decided once. */
struct rcl_file {
	struct mutex lock;	/* protects the decision */
	enum rcl_file_kind kind;
	union {
		struct rcl_chan *chan;
		struct rcl_listener *listener;
		struct rcl_group_chan *group;
		struct rcl_share *share;
	};
};

static const struct file_operations rcl_cdev_fops;

static struct rcl_file *rcl_file_new(void)
{
	struct rcl_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (file)
		mutex_init(&file->lock);
	return file;
}

/* Acquire: the union member that the kind selects is valid afterwards. */
static enum rcl_file_kind rcl_file_kind(const struct rcl_file *file)
{
	/* Pairs with the release in rcl_file_decide(). */
	return smp_load_acquire(&file->kind);
}

static void rcl_file_decide(struct rcl_file *file, enum rcl_file_kind kind)
{
	lockdep_assert_held(&file->lock);
	/* Pairs with the acquire in rcl_file_kind(). */
	smp_store_release(&file->kind, kind);
}

static int rcl_cdev_open(struct inode *inode, struct file *filp)
{
	filp->private_data = rcl_file_new();
	return filp->private_data ? stream_open(inode, filp) : -ENOMEM;
}

static int rcl_cdev_release(struct inode *inode, struct file *filp)
{
	struct rcl_file *file = filp->private_data;

	switch (file->kind) {
	case RCL_FILE_NOTHING:
		break;
	case RCL_FILE_CHAN:
		rcl_chan_close(file->chan);
		rcl_chan_put(file->chan);
		break;
	case RCL_FILE_LISTENER:
		rcl_chan_unlisten(file->listener);
		break;
	case RCL_FILE_GROUP:
		rcl_group_chan_close(file->group);
		break;
	case RCL_FILE_SHARE:
		rcl_share_close(file->share);
		break;
	}
	kfree(file);
	return 0;
}

static bool rcl_cdev_is_name(const char *name, size_t size)
{
	return name[0] && memchr(name, 0, size);
}

static int rcl_cdev_get_service(struct rclink_dev_service *arg,
				const void __user *from, u32 flags)
{
	if (copy_from_user(arg, from, sizeof(*arg)))
		return -EFAULT;
	if (!rcl_cdev_is_name(arg->link, sizeof(arg->link)) ||
	    !rcl_cdev_is_name(arg->service, sizeof(arg->service)) ||
	    arg->flags & ~flags)
		return -EINVAL;
	return 0;
}

static int rcl_cdev_connect(struct file *filp, const void __user *from)
{
	struct rcl_file *file = filp->private_data;
	struct rclink_dev_service arg;
	struct rcl_chan *chan;
	int ret;

	ret = rcl_cdev_get_service(&arg, from, RCLINK_CONNECT_WAIT |
				   RCLINK_CHAN_FLAGS);
	if (ret)
		return ret;
	if (arg.backlog)
		return -EINVAL;
	chan = rcl_ring_new(arg.flags);
	if (!chan)
		return -ENOMEM;
	ret = rcl_chan_connect(chan, filp->f_cred, arg.link, arg.service,
			       arg.flags & RCLINK_CONNECT_WAIT);
	if (ret) {
		rcl_chan_close(chan);
		rcl_chan_put(chan);
		return ret;
	}
	file->chan = chan;
	rcl_file_decide(file, RCL_FILE_CHAN);
	return 0;
}

static int rcl_cdev_listen(struct file *filp, const void __user *from)
{
	struct rcl_file *file = filp->private_data;
	struct rclink_dev_service arg;
	struct rcl_listener *listener;
	int ret;

	ret = rcl_cdev_get_service(&arg, from, RCLINK_CHAN_FLAGS);
	if (ret)
		return ret;
	if (!arg.backlog || arg.backlog > RCLINK_DEV_BACKLOG_MAX)
		return -EINVAL;
	listener = rcl_ring_listen(filp->f_cred, arg.link, arg.service,
				   arg.backlog, arg.flags);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	file->listener = listener;
	rcl_file_decide(file, RCL_FILE_LISTENER);
	return 0;
}

static int rcl_cdev_join(struct file *filp, const void __user *from)
{
	struct rcl_file *file = filp->private_data;
	struct rcl_group_chan *group;
	struct rclink_dev_group arg;

	if (copy_from_user(&arg, from, sizeof(arg)))
		return -EFAULT;
	if (!rcl_cdev_is_name(arg.group, sizeof(arg.group)) ||
	    !rcl_cdev_is_name(arg.service, sizeof(arg.service)) ||
	    arg.flags || arg.pad)
		return -EINVAL;
	group = rcl_group_chan_open(arg.group, arg.service, filp->f_cred);
	if (IS_ERR(group))
		return PTR_ERR(group);
	file->group = group;
	rcl_file_decide(file, RCL_FILE_GROUP);
	return 0;
}

static int rcl_cdev_share(struct file *filp)
{
	struct rcl_file *file = filp->private_data;
	struct rcl_share *share;

	share = rcl_share_open(filp->f_cred);
	if (!share)
		return -ENOMEM;
	file->share = share;
	rcl_file_decide(file, RCL_FILE_SHARE);
	return 0;
}

static int rcl_cdev_install(struct rcl_chan *chan)
{
	struct rcl_file *file = rcl_file_new();
	int fd;

	if (!file)
		return -ENOMEM;
	file->kind = RCL_FILE_CHAN;
	file->chan = chan;
	fd = anon_inode_getfd("[rclink]", &rcl_cdev_fops, file,
			      O_RDWR | O_CLOEXEC);
	if (fd < 0)
		kfree(file);
	return fd;
}

static int rcl_cdev_accept(struct rcl_file *file, bool nonblock)
{
	struct rcl_listener *from;
	struct rcl_chan *chan;
	int ret;

	if (rcl_file_kind(file) != RCL_FILE_LISTENER)
		return -EINVAL;
	from = file->listener;
	while (!(chan = rcl_listener_take(from))) {
		if (nonblock)
			return -EAGAIN;
		/* A link wakes one waiter for each channel, not all of them. */
		ret = wait_event_interruptible_exclusive(from->wait,
							 READ_ONCE(from->n));
		if (ret)
			return ret;
	}
	ret = rcl_cdev_install(chan);
	/* A lack of files here must not end the peer's channel. */
	if (ret < 0)
		rcl_listener_untake(from, chan);
	return ret;
}

static int rcl_cdev_register(struct rcl_file *file,
			     struct rclink_dev_region *arg, bool allocate)
{
	switch (rcl_file_kind(file)) {
	case RCL_FILE_CHAN:
		return rcl_ring_settle(file->chan,
				       rcl_memory_register(file->chan, arg,
							   allocate));
	case RCL_FILE_GROUP:
		return rcl_group_chan_region(file->group, arg, allocate);
	case RCL_FILE_SHARE:
		return rcl_share_region(file->share, arg, allocate);
	default:
		return -ENOTCONN;
	}
}

static int rcl_cdev_withdraw(struct rcl_file *file, u32 handle)
{
	switch (rcl_file_kind(file)) {
	case RCL_FILE_CHAN:
		return rcl_region_withdraw(file->chan, handle);
	case RCL_FILE_GROUP:
		return rcl_group_chan_withdraw(file->group, handle);
	case RCL_FILE_SHARE:
		return rcl_share_withdraw(file->share, handle);
	default:
		return -ENOTCONN;
	}
}

static int rcl_cdev_region(struct rcl_file *file, void __user *user,
			   bool allocate)
{
	struct rclink_dev_region arg;
	int ret;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	ret = rcl_cdev_register(file, &arg, allocate);
	if (ret)
		return ret;
	if (allocate)
		arg.addr = rcl_shm_offset(arg.handle);
	if (!copy_to_user(user, &arg, sizeof(arg)))
		return 0;
	rcl_cdev_withdraw(file, arg.handle);
	return -EFAULT;
}

static int rcl_cdev_end_region(struct rcl_file *file, const void __user *user)
{
	u32 handle;

	if (copy_from_user(&handle, user, sizeof(handle)))
		return -EFAULT;
	return rcl_cdev_withdraw(file, handle);
}

static int rcl_cdev_dmabuf(struct rcl_chan *chan, void __user *user)
{
	struct rclink_dev_dmabuf arg;
	int ret;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	ret = rcl_ring_settle(chan, rcl_dmabuf_register(chan, &arg));
	if (ret)
		return ret;
	if (!copy_to_user(user, &arg, sizeof(arg)))
		return 0;
	rcl_region_withdraw(chan, arg.handle);
	return -EFAULT;
}

static int rcl_cdev_release_import(struct rcl_chan *chan,
				   const void __user *user)
{
	u32 handle;

	if (copy_from_user(&handle, user, sizeof(handle)))
		return -EFAULT;
	return rcl_remote_release(chan, handle);
}

static int rcl_cdev_import(struct rcl_chan *chan, void __user *user)
{
	struct rclink_dev_region arg;
	struct rcl_window window;
	int ret;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (!rcl_cdev_is_name(arg.name, sizeof(arg.name)) || arg.addr ||
	    arg.len || arg.rights)
		return -EINVAL;
	ret = rcl_ring_settle(chan, rcl_chan_import(chan, arg.name, &window,
						    &arg.handle));
	if (ret)
		return ret;
	arg.len = window.len;
	arg.rights = window.rights;
	if (!copy_to_user(user, &arg, sizeof(arg)))
		return 0;
	rcl_remote_release(chan, arg.handle);
	return -EFAULT;
}

static int rcl_cdev_get_submit(struct rclink_dev_submit *arg,
			       const void __user *user, unsigned long *end)
{
	if (copy_from_user(arg, user, sizeof(*arg)))
		return -EFAULT;
	if (arg->pad || arg->wait > RCLINK_DEV_CQ_DEPTH)
		return -EINVAL;
	/* 0 means no timeout; part of the current tick is over. */
	*end = arg->timeout_ms ?
	       (jiffies + msecs_to_jiffies(arg->timeout_ms) + 1) | 1 : 0;
	return 0;
}

/*
 * A call that waits for completions first waits for the end of a suspension.
 * One that neither posts anything nor waits handles what has completed.
 */
static int rcl_cdev_submit(struct rcl_chan *chan, void __user *user)
{
	struct rclink_dev_submit arg;
	unsigned long end;
	u32 taken;
	int ret;

	ret = rcl_cdev_get_submit(&arg, user, &end);
	if (ret)
		return ret;
	ret = rcl_ring_submit(chan, arg.count, arg.wait, end, &taken);
	arg.count = taken;
	if (copy_to_user(user, &arg, sizeof(arg)))
		return -EFAULT;
	if (!ret && arg.wait)
		return rcl_ring_wait(chan, arg.wait, end);
	return ret || taken ? ret : rcl_ring_look(chan);
}

static int rcl_cdev_group_submit(struct rcl_group_chan *group,
				 void __user *user)
{
	struct rclink_dev_submit arg;
	unsigned long end;
	u32 taken;
	int ret;

	ret = rcl_cdev_get_submit(&arg, user, &end);
	if (ret)
		return ret;
	ret = rcl_group_chan_submit(group, arg.count, &taken);
	arg.count = taken;
	if (copy_to_user(user, &arg, sizeof(arg)))
		return -EFAULT;
	if (ret || !arg.wait)
		return ret;
	return rcl_group_chan_wait(group, arg.wait, end);
}

/* The calls that need a channel over a link. */
static long rcl_cdev_link_ioctl(struct rcl_chan *chan, unsigned int cmd,
				void __user *user)
{
	switch (cmd) {
	case RCLINK_IOC_SUBMIT:
		return rcl_cdev_submit(chan, user);
	case RCLINK_IOC_DMABUF:
		return rcl_cdev_dmabuf(chan, user);
	case RCLINK_IOC_IMPORT:
		return rcl_cdev_import(chan, user);
	default:
		return rcl_cdev_release_import(chan, user);
	}
}

static long rcl_cdev_use(struct rcl_file *file, unsigned int cmd,
			 void __user *user)
{
	enum rcl_file_kind kind = rcl_file_kind(file);

	if (kind == RCL_FILE_NOTHING || kind == RCL_FILE_LISTENER)
		return -ENOTCONN;
	switch (cmd) {
	case RCLINK_IOC_REGION:
		return rcl_cdev_region(file, user, false);
	case RCLINK_IOC_MEMORY:
		return rcl_cdev_region(file, user, true);
	case RCLINK_IOC_WITHDRAW:
		return rcl_cdev_end_region(file, user);
	case RCLINK_IOC_SUBMIT:
		if (kind == RCL_FILE_GROUP)
			return rcl_cdev_group_submit(file->group, user);
		fallthrough;
	default:
		return kind == RCL_FILE_CHAN ?
		       rcl_cdev_link_ioctl(file->chan, cmd, user) : -EOPNOTSUPP;
	}
}

static int rcl_cdev_decide(struct file *filp, unsigned int cmd,
			   void __user *user)
{
	struct rcl_file *file = filp->private_data;

	lockdep_assert_held(&file->lock);
	if (file->kind != RCL_FILE_NOTHING)
		return -EISCONN;
	switch (cmd) {
	case RCLINK_IOC_CONNECT:
		return rcl_cdev_connect(filp, user);
	case RCLINK_IOC_LISTEN:
		return rcl_cdev_listen(filp, user);
	case RCLINK_IOC_JOIN:
		return rcl_cdev_join(filp, user);
	default:
		return rcl_cdev_share(filp);
	}
}

static long rcl_cdev_ioctl(struct file *filp, unsigned int cmd,
			   unsigned long arg)
{
	struct rcl_file *file = filp->private_data;
	void __user *user = (void __user *)arg;
	int ret;

	switch (cmd) {
	case RCLINK_IOC_ACCEPT:
		return rcl_cdev_accept(file, filp->f_flags & O_NONBLOCK);
	case RCLINK_IOC_SUBMIT:
		return rcl_cdev_use(file, cmd, user);
	case RCLINK_IOC_CONNECT:
	case RCLINK_IOC_LISTEN:
	case RCLINK_IOC_JOIN:
	case RCLINK_IOC_SHARE:
		if (mutex_lock_interruptible(&file->lock))
			return -ERESTARTSYS;
		ret = rcl_cdev_decide(filp, cmd, user);
		mutex_unlock(&file->lock);
		break;
	case RCLINK_IOC_REGION:
	case RCLINK_IOC_MEMORY:
	case RCLINK_IOC_WITHDRAW:
	case RCLINK_IOC_DMABUF:
	case RCLINK_IOC_IMPORT:
	case RCLINK_IOC_RELEASE:
		ret = rcl_cdev_use(file, cmd, user);
		break;
	default:
		return -ENOTTY;
	}
	/* Nothing was left behind: a caller that was only stopped retries. */
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

static __poll_t rcl_cdev_poll_listener(struct rcl_listener *listener,
				       struct file *filp, poll_table *wait)
{
	poll_wait(filp, &listener->wait, wait);
	return READ_ONCE(listener->n) ? EPOLLIN | EPOLLRDNORM : 0;
}

static __poll_t rcl_cdev_poll(struct file *filp, poll_table *wait)
{
	struct rcl_file *file = filp->private_data;

	switch (rcl_file_kind(file)) {
	case RCL_FILE_CHAN:
		return rcl_ring_poll(file->chan, filp, wait);
	case RCL_FILE_LISTENER:
		return rcl_cdev_poll_listener(file->listener, filp, wait);
	case RCL_FILE_GROUP:
		return rcl_group_chan_poll(file->group, filp, wait);
	default:
		return EPOLLERR;
	}
}

static int rcl_cdev_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct rcl_file *file = filp->private_data;
	enum rcl_file_kind kind = rcl_file_kind(file);

	if (kind == RCL_FILE_NOTHING || kind == RCL_FILE_LISTENER)
		return -ENOTCONN;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (kind == RCL_FILE_GROUP)
		return rcl_group_chan_mmap(file->group, vma);
	if (kind == RCL_FILE_SHARE)
		return rcl_share_mmap(file->share, vma);
	return rcl_ring_mmap(file->chan, vma);
}

static const struct file_operations rcl_cdev_fops = {
	.owner = THIS_MODULE,
	.open = rcl_cdev_open,
	.release = rcl_cdev_release,
	.unlocked_ioctl = rcl_cdev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = rcl_cdev_poll,
	.mmap = rcl_cdev_mmap,
};

static struct miscdevice rcl_cdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rclink",
	.fops = &rcl_cdev_fops,
	.mode = 0600,
};

/**
 * rcl_cdev_init - make the device node
 *
 * Return: 0, or what misc_register() returns.
 */
int __init rcl_cdev_init(void)
{
	return misc_register(&rcl_cdev);
}

/**
 * rcl_cdev_exit - the mirror of rcl_cdev_init()
 *
 * Context: no file is open, because each one holds the module.
 */
void rcl_cdev_exit(void)
{
	misc_deregister(&rcl_cdev);
}
