// SPDX-License-Identifier: GPL-2.0
#include "udmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exporter.h"
#include "slow.h"

#define INFO	"/sys/kernel/debug/dma_buf/bufinfo"
#define POLL_MS	10

static int create(int memfd, size_t len)
{
	struct udmabuf_create arg = {
		.memfd = memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = len,
	};
	int fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = ioctl(fd, UDMABUF_CREATE, &arg);
	if (ret < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* For a kernel without udmabuf: an exporter that looks the same */
static int instead(struct udmabuf *u)
{
	struct exporter e;
	int ret = exporter_new(&e, u->len, 0, 0, 0);

	if (ret)
		return ret;
	u->fd = e.fd;
	u->memory = e.memory;
	u->control = e.control;
	return 0;
}

int udmabuf_new(struct udmabuf *u, size_t len)
{
	int memfd = memfd_create("udmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int ret;

	u->fd = -1;
	u->control = -1;
	u->len = len;
	u->memory = MAP_FAILED;
	if (memfd < 0)
		return -errno;
	if (!ftruncate(memfd, len) &&
	    !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		u->memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
				 memfd, 0);
	ret = u->memory == MAP_FAILED ? -errno : create(memfd, len);
	close(memfd);
	if (ret == -ENOENT) {
		munmap(u->memory, len);
		return instead(u);
	}
	if (ret < 0)
		return ret;
	u->fd = ret;
	return 0;
}

void udmabuf_close(struct udmabuf *u)
{
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
}

void udmabuf_end(struct udmabuf *u)
{
	udmabuf_close(u);
	munmap(u->memory, u->len);
	if (u->control >= 0)
		close(u->control);
}

int udmabuf_of_heap(size_t len, int mode)
{
	struct dma_heap_allocation_data arg = {
		.len = len, .fd_flags = mode | O_CLOEXEC,
	};
	int fd = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = ioctl(fd, DMA_HEAP_IOCTL_ALLOC, &arg) ? -errno : (int)arg.fd;
	close(fd);
	return ret;
}

/* The sum of the numbers in the lines that match all of @form */
static int total(const char *form)
{
	FILE *in = fopen(INFO, "r");
	int sum = 0, n, end;
	char line[256];

	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		end = -1;
		if (sscanf(line, form, &n, &end) == 1 && end >= 0)
			sum += n;
	}
	fclose(in);
	return sum;
}

int udmabuf_count(void)
{
	return total("Total %d objects%n");
}

int udmabuf_attached(void)
{
	return total("Total %d devices attached%n");
}

int udmabuf_until_attached(int want, int ms)
{
	int have;

	ms = slow(ms);
	for (; (have = udmabuf_attached()) != want && ms > 0; ms -= POLL_MS)
		usleep(POLL_MS * 1000);
	return have;
}
