// SPDX-License-Identifier: GPL-2.0
#include "exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slow.h"

#define POLL_MS	10

static int call(const struct exporter *e, unsigned long request, void *arg)
{
	return ioctl(e->control, request, arg) ? -errno : 0;
}

int exporter_new(struct exporter *e, size_t len, uint32_t flags, int error,
		 int fence_ms)
{
	struct exporter_new arg = {
		.len = len, .flags = flags, .error = error,
		.fence_ms = fence_ms,
	};
	int ret;

	e->len = len;
	e->fd = -1;
	e->memory = MAP_FAILED;
	e->control = open("/dev/" EXPORTER_DEVICE, O_RDWR | O_CLOEXEC);
	if (e->control < 0)
		return -errno;
	ret = call(e, EXPORTER_IOC_NEW, &arg);
	if (!ret) {
		e->fd = arg.fd;
		ret = exporter_look(e);
	}
	if (ret)
		exporter_end(e);
	return ret;
}

int exporter_set(struct exporter *e, uint32_t flags, int error)
{
	struct exporter_new arg = { .flags = flags, .error = error };

	return call(e, EXPORTER_IOC_SET, &arg);
}

int exporter_move(struct exporter *e)
{
	return call(e, EXPORTER_IOC_MOVE, &e->fd);
}

int exporter_look(struct exporter *e)
{
	if (e->memory != MAP_FAILED)
		munmap(e->memory, e->len);
	e->memory = mmap(NULL, e->len, PROT_READ | PROT_WRITE, MAP_SHARED,
			 e->control, 0);
	return e->memory == MAP_FAILED ? -errno : 0;
}

void exporter_close(struct exporter *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

void exporter_end(struct exporter *e)
{
	exporter_close(e);
	if (e->memory != MAP_FAILED)
		munmap(e->memory, e->len);
	close(e->control);
}

int exporter_pinned(struct exporter *e, int ms)
{
	struct exporter_count have;
	int ret;

	for (ms = slow(ms);; ms -= POLL_MS) {
		ret = call(e, EXPORTER_IOC_COUNT, &have);
		if (ret || have.pinned)
			return ret;
		if (ms <= 0)
			return -ETIME;
		usleep(POLL_MS * 1000);
	}
}

int exporter_has(struct exporter *e, const struct exporter_count *want, int ms)
{
	struct exporter_count have;
	int ret;

	for (ms = slow(ms);; ms -= POLL_MS) {
		ret = call(e, EXPORTER_IOC_COUNT, &have);
		/* With dma_buf_pin(), or twice: that is up to the kernel. */
		have.pinned = !!have.pinned;
		if (ret || !memcmp(&have, want, sizeof(have)))
			return ret;
		if (ms <= 0)
			return -EBUSY;
		usleep(POLL_MS * 1000);
	}
}
