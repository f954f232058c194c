// SPDX-License-Identifier: GPL-2.0
/* Channels and regions: everything that is not done for each operation. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chan.h"

#define DEVICE	"/dev/rclink"

static int copy_name(char *to, const char *name, size_t size)
{
	size_t len = strlen(name);

	if (!len || len >= size)
		return -EINVAL;
	memcpy(to, name, len + 1);
	return 0;
}

/* A thread that was cancelled in close() would leave the rest undone. */
static void close_file(int fd)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	close(fd);
	pthread_setcancelstate(state, NULL);
}

/*
 * Returns an open device that request has made into something, or an error. The
 * node may exist without the module, or a cgroup's device rules may forbid it.
 */
static int open_device(unsigned long request, void *arg)
{
	int fd, ret;

	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 && (errno == ENODEV || errno == ENXIO))
		return -ENOENT;
	if (fd < 0)
		return errno == EPERM ? -EACCES : -errno;
	if (ioctl(fd, request, arg)) {
		ret = -errno;
		close_file(fd);
		return ret;
	}
	return fd;
}

static int open_service(unsigned long request, const char *link,
			const char *service, unsigned int flags,
			unsigned int backlog)
{
	struct rclink_dev_service s = { .flags = flags, .backlog = backlog };

	if (copy_name(s.link, link, sizeof(s.link)) ||
	    copy_name(s.service, service, sizeof(s.service)))
		return -EINVAL;
	return open_device(request, &s);
}

static void *map_rings(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/*
 * A channel to a group has more to map than other channels. @group: it may be
 * one; trying that takes a tenth of a millisecond on an emulated processor.
 */
static int map_channel(struct rclink_chan **chan, int fd, bool group)
{
	struct rclink_chan *c = malloc(sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	if (group)
		c->group = map_rings(fd, sizeof(*c->group));
	if (!group || (c->group == MAP_FAILED && errno == EINVAL)) {
		c->group = NULL;
		c->shared = map_rings(fd, sizeof(*c->shared));
	} else if (c->group == MAP_FAILED) {
		c->shared = MAP_FAILED;
	} else {
		c->shared = &c->group->shared;
		/* With large pages, both mappings have the same size. */
		if (!c->group->max)
			c->group = NULL;
	}
	/* The channel is there: these two would say that it comes later. */
	if (c->shared == MAP_FAILED) {
		ret = errno == EAGAIN || errno == ENFILE ? -ENOMEM : -errno;
		free(c);
		return ret;
	}
	*chan = c;
	return 0;
}

/*
 * Many kinds of files can be mapped, and looking at the mapping may kill. No
 * channel, not even an ended one, fails an empty SUBMIT with ENOTTY or EINVAL.
 */
static bool is_channel(int fd)
{
	struct rclink_dev_submit nothing = { .count = 0 };
	struct stat st;

	/* A regular file of FUSE may answer as it likes. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return false;
	return !ioctl(fd, RCLINK_IOC_SUBMIT, &nothing) ||
	       (errno != ENOTTY && errno != EINVAL);
}

int rclink_adopt(struct rclink_chan **chan, int fd)
{
	int ret = is_channel(fd) ? map_channel(chan, fd, true) : -EINVAL;

	/* Whoever passed it could not do this for us. */
	if (!ret)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return ret;
}

/* Like rclink_adopt(), for a file that nobody else has. */
static int take(struct rclink_chan **chan, int fd, bool group)
{
	int ret;

	if (fd < 0)
		return fd;
	ret = map_channel(chan, fd, group);
	if (ret)
		close_file(fd);
	return ret;
}

int rclink_connect(struct rclink_chan **chan, const char *link,
		   const char *service, unsigned int flags)
{
	return take(chan, open_service(RCLINK_IOC_CONNECT, link, service,
				       flags, 0), false);
}

int rclink_join(struct rclink_chan **chan, const char *group,
		const char *service, unsigned int flags)
{
	struct rclink_dev_group g = { .flags = flags };

	if (copy_name(g.group, group, sizeof(g.group)) ||
	    copy_name(g.service, service, sizeof(g.service)))
		return -EINVAL;
	return take(chan, open_device(RCLINK_IOC_JOIN, &g), true);
}

uint32_t rclink_max_message(const struct rclink_chan *chan)
{
	return chan->group ? __atomic_load_n(&chan->group->max,
					     __ATOMIC_RELAXED) : 0;
}

int rclink_listen(struct rclink_listener **listener, const char *link,
		  const char *service, unsigned int backlog,
		  unsigned int flags)
{
	int fd = open_service(RCLINK_IOC_LISTEN, link, service, flags, backlog);
	struct rclink_listener *l;

	if (fd < 0)
		return fd;
	l = malloc(sizeof(*l));
	if (!l) {
		close_file(fd);
		return -ENOMEM;
	}
	l->fd = fd;
	*listener = l;
	return 0;
}

int rclink_accept(struct rclink_listener *listener, struct rclink_chan **chan)
{
	int fd = ioctl(listener->fd, RCLINK_IOC_ACCEPT);

	return take(chan, fd < 0 ? -errno : fd, false);
}

int rclink_fd(const struct rclink_chan *chan)
{
	return chan->fd;
}

int rclink_listener_fd(const struct rclink_listener *listener)
{
	return listener->fd;
}

void rclink_close(struct rclink_chan *chan)
{
	if (!chan)
		return;
	munmap(chan->shared, chan->group ? sizeof(*chan->group) :
			     sizeof(*chan->shared));
	close_file(chan->fd);
	free(chan);
}

void rclink_listener_close(struct rclink_listener *listener)
{
	if (!listener)
		return;
	close_file(listener->fd);
	free(listener);
}

static int add_region(int fd, void *addr, uint64_t len, const char *name,
		      unsigned int rights, uint32_t *region)
{
	struct rclink_dev_region r = {
		.addr = (uintptr_t)addr, .len = len, .rights = rights,
	};

	if (name && copy_name(r.name, name, sizeof(r.name)))
		return -EINVAL;
	if (ioctl(fd, RCLINK_IOC_REGION, &r))
		return -errno;
	*region = r.handle;
	return 0;
}

static int end_region(int fd, uint32_t region)
{
	return ioctl(fd, RCLINK_IOC_WITHDRAW, &region) ? -errno : 0;
}

/* Cut to 32 bits, the offset of memory would become that of the rings. */
static_assert(sizeof(off_t) == 8, "built without -D_FILE_OFFSET_BITS=64");

static int add_memory(int fd, void **addr, uint64_t len, const char *name,
		      unsigned int rights, uint32_t *region)
{
	struct rclink_dev_region r = { .len = len, .rights = rights };
	void *mapped;
	int ret;

	if (name && copy_name(r.name, name, sizeof(r.name)))
		return -EINVAL;
	/* With 32-bit pointers, mmap() would map only what is left of it. */
	if (len != (size_t)len)
		return -ENOMEM;
	if (ioctl(fd, RCLINK_IOC_MEMORY, &r))
		return -errno;
	mapped = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      r.addr);
	if (mapped == MAP_FAILED) {
		ret = -errno;
		end_region(fd, r.handle);
		return ret;
	}
	*addr = mapped;
	*region = r.handle;
	return 0;
}

int rclink_region(struct rclink_chan *chan, void *addr, uint64_t len,
		  const char *name, unsigned int rights, uint32_t *region)
{
	return add_region(chan->fd, addr, len, name, rights, region);
}

int rclink_memory(struct rclink_chan *chan, void **addr, uint64_t len,
		  const char *name, unsigned int rights, uint32_t *region)
{
	return add_memory(chan->fd, addr, len, name, rights, region);
}

int rclink_dmabuf(struct rclink_chan *chan, int fd, uint64_t offset,
		  uint64_t len, const char *name, unsigned int rights,
		  uint32_t *region)
{
	struct rclink_dev_dmabuf r = {
		.offset = offset, .len = len, .rights = rights, .fd = fd,
	};

	if (name && copy_name(r.name, name, sizeof(r.name)))
		return -EINVAL;
	if (ioctl(chan->fd, RCLINK_IOC_DMABUF, &r))
		return -errno;
	*region = r.handle;
	return 0;
}

int rclink_withdraw(struct rclink_chan *chan, uint32_t region)
{
	return end_region(chan->fd, region);
}

int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote)
{
	struct rclink_dev_region r = { .len = 0 };

	if (copy_name(r.name, name, sizeof(r.name)))
		return -EINVAL;
	if (ioctl(chan->fd, RCLINK_IOC_IMPORT, &r))
		return -errno;
	remote->len = r.len;
	remote->handle = r.handle;
	remote->rights = r.rights;
	return 0;
}

int rclink_release(struct rclink_chan *chan, const struct rclink_remote *remote)
{
	uint32_t handle = remote->handle;

	return ioctl(chan->fd, RCLINK_IOC_RELEASE, &handle) ? -errno : 0;
}

int rclink_share(struct rclink_share **share)
{
	int fd = open_device(RCLINK_IOC_SHARE, NULL);
	struct rclink_share *s;

	if (fd < 0)
		return fd;
	s = malloc(sizeof(*s));
	if (!s) {
		close_file(fd);
		return -ENOMEM;
	}
	s->fd = fd;
	*share = s;
	return 0;
}

void rclink_share_close(struct rclink_share *share)
{
	if (!share)
		return;
	close_file(share->fd);
	free(share);
}

int rclink_share_region(struct rclink_share *share, void *addr, uint64_t len,
			const char *name, unsigned int rights, uint32_t *region)
{
	return add_region(share->fd, addr, len, name, rights, region);
}

int rclink_share_memory(struct rclink_share *share, void **addr, uint64_t len,
			const char *name, unsigned int rights, uint32_t *region)
{
	return add_memory(share->fd, addr, len, name, rights, region);
}

int rclink_share_withdraw(struct rclink_share *share, uint32_t region)
{
	return end_region(share->fd, region);
}
