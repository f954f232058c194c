// SPDX-License-Identifier: GPL-2.0
/*
 * Each call checks its argument completely, then makes one call to the core.
 * What a file is, is decided once: nothing, then a channel, a listener, a
 * channel to a group, or a share. What it may become, by the credentials of who
 * opened it.
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
#include <linux/vmalloc.h>

#include <uapi/linux/rclink_dev.h>

#include "chan.h"
#include "chan-event.h"
#include "dmabuf.h"
#include "group-chan.h"
#include "listener.h"
#include "region.h"
#include "remote.h"
#include "ring.h"
#include "share.h"
#include "shm.h"

/**
 * struct rcl_file - an open file
 * @lock: protects the decision
 * @chan: with a reference, or NULL; set once
 * @listener: with a reference, or NULL; set once
 * @group: a channel to a group, or NULL; set once
 * @share: regions for all links, or NULL; set once
 */
struct rcl_file {
	struct mutex lock;	/* protects the decision */
	struct rcl_chan *chan;
	struct rcl_listener *listener;
	struct rcl_group_chan *group;
	struct rcl_share *share;
};

static const struct file_operations rcl_cdev_fops;

static struct rcl_file *rcl_file_new(struct rcl_chan *chan)
{
	struct rcl_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return NULL;
	mutex_init(&file->lock);
	file->chan = chan;
	return file;
}

static int rcl_cdev_open(struct inode *inode, struct file *filp)
{
	filp->private_data = rcl_file_new(NULL);
	return filp->private_data ? stream_open(inode, filp) : -ENOMEM;
}

static int rcl_cdev_release(struct inode *inode, struct file *filp)
{
	struct rcl_file *file = filp->private_data;

	if (file->listener)
		rcl_chan_unlisten(file->listener);
	if (file->group)
		rcl_group_chan_close(file->group);
	if (file->share)
		rcl_share_close(file->share);
	if (file->chan) {
		rcl_chan_close(file->chan);
		rcl_chan_put(file->chan);
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

static bool rcl_cdev_is_something(const struct rcl_file *file)
{
	lockdep_assert_held(&file->lock);
	return file->chan || file->listener || file->group || file->share;
}

static int rcl_cdev_connect(struct file *filp, const void __user *from)
{
	struct rcl_file *file = filp->private_data;
	struct rclink_dev_service arg;
	struct rcl_ring *ring;
	struct rcl_chan *chan;
	int ret;

	ret = rcl_cdev_get_service(&arg, from, RCLINK_CONNECT_WAIT |
				   RCLINK_CHAN_FLAGS);
	if (ret)
		return ret;
	if (arg.backlog)
		return -EINVAL;
	if (rcl_cdev_is_something(file))
		return -EISCONN;
	ring = rcl_ring_new(arg.flags);
	if (!ring)
		return -ENOMEM;
	chan = &ring->chan;
	ret = rcl_chan_connect(chan, filp->f_cred, arg.link, arg.service,
			       arg.flags & RCLINK_CONNECT_WAIT);
	if (ret) {
		rcl_chan_close(chan);
		rcl_chan_put(chan);
		return ret;
	}
	/* Pairs with the acquire in rcl_cdev_chan(). */
	smp_store_release(&file->chan, chan);
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
	if (rcl_cdev_is_something(file))
		return -EISCONN;
	listener = rcl_ring_listen(filp->f_cred, arg.link, arg.service,
				   arg.backlog, arg.flags);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	/* Pairs with rcl_cdev_listener(). */
	smp_store_release(&file->listener, listener);
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
	if (rcl_cdev_is_something(file))
		return -EISCONN;
	group = rcl_group_chan_open(arg.group, arg.service, filp->f_cred);
	if (IS_ERR(group))
		return PTR_ERR(group);
	/* Pairs with the acquire in rcl_cdev_group(). */
	smp_store_release(&file->group, group);
	return 0;
}

static struct rcl_group_chan *rcl_cdev_group(struct rcl_file *file)
{
	/* Pairs with the release in rcl_cdev_join(). */
	return smp_load_acquire(&file->group);
}

static int rcl_cdev_share(struct file *filp)
{
	struct rcl_file *file = filp->private_data;
	struct rcl_share *share;

	if (rcl_cdev_is_something(file))
		return -EISCONN;
	share = rcl_share_open(filp->f_cred);
	if (!share)
		return -ENOMEM;
	/* Pairs with the acquire in rcl_cdev_get_share(). */
	smp_store_release(&file->share, share);
	return 0;
}

static struct rcl_share *rcl_cdev_get_share(struct rcl_file *file)
{
	/* Pairs with the release in rcl_cdev_share(). */
	return smp_load_acquire(&file->share);
}

static int rcl_cdev_install(struct rcl_chan *chan)
{
	struct rcl_file *file = rcl_file_new(chan);
	int fd;

	if (!file)
		return -ENOMEM;
	fd = anon_inode_getfd("[rclink]", &rcl_cdev_fops, file,
			      O_RDWR | O_CLOEXEC);
	if (fd < 0)
		kfree(file);
	return fd;
}

static struct rcl_listener *rcl_cdev_listener(struct rcl_file *file)
{
	/* Pairs with the release in rcl_cdev_listen(). */
	return smp_load_acquire(&file->listener);
}

static int rcl_cdev_accept(struct rcl_file *file, bool nonblock)
{
	struct rcl_listener *listener = rcl_cdev_listener(file);
	struct rcl_chan *chan;
	int ret;

	if (!listener)
		return -EINVAL;
	while (!(chan = rcl_listener_take(listener))) {
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(listener->wait,
					       READ_ONCE(listener->n));
		if (ret)
			return ret;
	}
	ret = rcl_cdev_install(chan);
	/* For want of a file, the peer's channel does not end. */
	if (ret < 0)
		rcl_listener_untake(listener, chan);
	return ret;
}

static struct rcl_chan *rcl_cdev_chan(struct rcl_file *file)
{
	/* Pairs with the release in rcl_cdev_connect(). */
	return smp_load_acquire(&file->chan);
}

/* Of what is something else than a listener. */
static int rcl_cdev_register(struct rcl_file *file,
			     struct rclink_dev_region *arg, bool allocate)
{
	struct rcl_group_chan *group = rcl_cdev_group(file);
	struct rcl_share *share = rcl_cdev_get_share(file);
	struct rcl_chan *chan = rcl_cdev_chan(file);

	if (group)
		return rcl_group_chan_region(group, arg, allocate);
	if (share)
		return rcl_share_region(share, arg, allocate);
	return rcl_memory_register(chan, arg, allocate);
}

static int rcl_cdev_withdraw(struct rcl_file *file, u32 handle)
{
	struct rcl_group_chan *group = rcl_cdev_group(file);
	struct rcl_share *share = rcl_cdev_get_share(file);

	if (group)
		return rcl_group_chan_withdraw(group, handle);
	if (share)
		return rcl_share_withdraw(share, handle);
	return rcl_region_withdraw(rcl_cdev_chan(file), handle);
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
	ret = rcl_dmabuf_register(chan, &arg);
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
	ret = rcl_chan_import(chan, arg.name, &window, &arg.handle);
	if (ret)
		return ret;
	arg.len = window.len;
	arg.rights = window.rights;
	if (!copy_to_user(user, &arg, sizeof(arg)))
		return 0;
	rcl_remote_release(chan, arg.handle);
	return -EFAULT;
}

/* Who waits for completions waits for the end of a suspension first. */
static int rcl_cdev_submit_all(struct rcl_ring *ring,
			       const struct rclink_dev_submit *arg,
			       unsigned long end, u32 *taken)
{
	int ret;

	for (;;) {
		ret = rcl_ring_submit(ring, arg->count, taken);
		if (ret != -EAGAIN || !arg->wait)
			return ret;
		ret = rcl_ring_wait_resumed(ring, end);
		if (ret)
			return ret;
	}
}

static int rcl_cdev_get_submit(struct rclink_dev_submit *arg,
			       const void __user *user, unsigned long *end)
{
	if (copy_from_user(arg, user, sizeof(*arg)))
		return -EFAULT;
	if (arg->pad || arg->wait > RCLINK_DEV_CQ_DEPTH)
		return -EINVAL;
	/* 0 means never. */
	*end = arg->timeout_ms ?
	       (jiffies + msecs_to_jiffies(arg->timeout_ms)) | 1 : 0;
	return 0;
}

/* Who neither hands over anything nor waits looks what has completed. */
static int rcl_cdev_submit(struct rcl_chan *chan, void __user *user)
{
	struct rclink_dev_submit arg;
	unsigned long end;
	u32 taken = 0;
	int ret;

	ret = rcl_cdev_get_submit(&arg, user, &end);
	if (ret)
		return ret;
	ret = rcl_cdev_submit_all(rcl_ring_of(chan), &arg, end, &taken);
	arg.count = taken;
	if (copy_to_user(user, &arg, sizeof(arg)))
		return -EFAULT;
	if (!ret && arg.wait)
		return rcl_ring_wait(rcl_ring_of(chan), arg.wait, end);
	if (!ret && !taken)
		rcl_chan_look(chan);
	return ret;
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

/* What takes a link. */
static long rcl_cdev_link_ioctl(struct rcl_chan *chan, unsigned int cmd,
				void __user *user)
{
	if (!chan)
		return -EOPNOTSUPP;
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

static long rcl_cdev_chan_ioctl(struct rcl_file *file, unsigned int cmd,
				void __user *user)
{
	struct rcl_group_chan *group = rcl_cdev_group(file);
	struct rcl_chan *chan = rcl_cdev_chan(file);

	if (!chan && !group && !rcl_cdev_get_share(file))
		return -ENOTCONN;
	switch (cmd) {
	case RCLINK_IOC_REGION:
		return rcl_cdev_region(file, user, false);
	case RCLINK_IOC_MEMORY:
		return rcl_cdev_region(file, user, true);
	case RCLINK_IOC_WITHDRAW:
		return rcl_cdev_end_region(file, user);
	case RCLINK_IOC_SUBMIT:
		if (group)
			return rcl_cdev_group_submit(group, user);
		fallthrough;
	case RCLINK_IOC_DMABUF:
	case RCLINK_IOC_IMPORT:
	case RCLINK_IOC_RELEASE:
		return rcl_cdev_link_ioctl(chan, cmd, user);
	default:
		return -ENOTTY;
	}
}

static bool rcl_cdev_decides(unsigned int cmd)
{
	return cmd == RCLINK_IOC_CONNECT || cmd == RCLINK_IOC_LISTEN ||
	       cmd == RCLINK_IOC_JOIN || cmd == RCLINK_IOC_SHARE;
}

static long rcl_cdev_ioctl(struct file *filp, unsigned int cmd,
			   unsigned long arg)
{
	struct rcl_file *file = filp->private_data;
	void __user *user = (void __user *)arg;
	int ret;

	if (cmd == RCLINK_IOC_ACCEPT)
		return rcl_cdev_accept(file, filp->f_flags & O_NONBLOCK);
	if (!rcl_cdev_decides(cmd))
		return rcl_cdev_chan_ioctl(file, cmd, user);
	if (mutex_lock_interruptible(&file->lock))
		return -ERESTARTSYS;
	if (cmd == RCLINK_IOC_CONNECT)
		ret = rcl_cdev_connect(filp, user);
	else if (cmd == RCLINK_IOC_LISTEN)
		ret = rcl_cdev_listen(filp, user);
	else if (cmd == RCLINK_IOC_JOIN)
		ret = rcl_cdev_join(filp, user);
	else
		ret = rcl_cdev_share(filp);
	mutex_unlock(&file->lock);
	/* It has left nothing behind, so who was only stopped asks again. */
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

/* It is not polled any more, if it was. */
static void rcl_cdev_want_events(struct rcl_chan *chan)
{
	WRITE_ONCE(chan->polled, false);
	rcl_chan_look(chan);
	/*
	 * What came in before it was armed is for the event to handle. Armed in
	 * any case: who waits for edges comes back for the next one only.
	 */
	if (rcl_chan_arm(chan))
		irq_poll_sched(&chan->iop);
}

/* What a completion may make ready. */
#define RCL_CDEV_COMPLETES \
	(EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM)

static __poll_t rcl_cdev_poll_chan(struct rcl_chan *chan, struct file *filp,
				   poll_table *wait)
{
	struct rcl_ring *ring = rcl_ring_of(chan);
	__poll_t mask = 0;

	poll_wait(filp, &ring->wait, wait);
	/* Pairs with that of wq_has_sleeper(); not all kernels have it. */
	smp_mb();
	if (rcl_chan_is_over(chan))
		mask |= EPOLLHUP | EPOLLERR;
	/* Who only asks for its end goes on polling. */
	if (!READ_ONCE(chan->polled) ||
	    poll_requested_events(wait) & RCL_CDEV_COMPLETES)
		rcl_cdev_want_events(chan);
	if (rcl_chan_ready(chan))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (rcl_ring_has_room(ring))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static __poll_t rcl_cdev_poll_group(struct rcl_group_chan *group,
				    struct file *filp, poll_table *wait)
{
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	poll_wait(filp, &group->wait, wait);
	/* Pairs with that of wq_has_sleeper(); not all kernels have it. */
	smp_mb();
	if (rcl_group_chan_is_over(group))
		mask = EPOLLHUP | EPOLLERR;
	if (rcl_group_chan_ready(group))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static __poll_t rcl_cdev_poll(struct file *filp, poll_table *wait)
{
	struct rcl_file *file = filp->private_data;
	struct rcl_chan *chan = rcl_cdev_chan(file);
	struct rcl_listener *listener = rcl_cdev_listener(file);
	struct rcl_group_chan *group = rcl_cdev_group(file);

	if (chan)
		return rcl_cdev_poll_chan(chan, filp, wait);
	if (group)
		return rcl_cdev_poll_group(group, filp, wait);
	if (!listener)
		return EPOLLERR;
	poll_wait(filp, &listener->wait, wait);
	return READ_ONCE(listener->n) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int rcl_cdev_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct rcl_group_chan *group = rcl_cdev_group(filp->private_data);
	struct rcl_share *share = rcl_cdev_get_share(filp->private_data);
	struct rcl_chan *chan = rcl_cdev_chan(filp->private_data);

	if (!chan && !group && !share)
		return -ENOTCONN;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (group)
		return rcl_group_chan_mmap(group, vma);
	if (share)
		return rcl_share_mmap(share, vma);
	if (vma->vm_pgoff >> (RCL_SHM_SHIFT - PAGE_SHIFT))
		return rcl_shm_mmap(chan, vma);
	return remap_vmalloc_range(vma, rcl_ring_of(chan)->shared,
				   vma->vm_pgoff);
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
 * Return: 0, or what misc_register() says.
 */
int __init rcl_cdev_init(void)
{
	return misc_register(&rcl_cdev);
}

/**
 * rcl_cdev_exit - the mirror of rcl_cdev_init()
 *
 * Context: no file is open, because each holds the module.
 */
void rcl_cdev_exit(void)
{
	misc_deregister(&rcl_cdev);
}
