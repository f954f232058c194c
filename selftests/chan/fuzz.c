// SPDX-License-Identifier: GPL-2.0
/*
 * A malicious process: random calls with random arguments on /dev/rclink, and a
 * ring whose every word may change at any time.
 *
 * usage: fuzz LINK SEED ROUNDS
 *        fuzz LINK SEED 0 listen
 *        fuzz GROUP SEED ROUNDS join
 *
 * Each round has a channel of its own, and a share beside it whose regions the
 * peer imports. A listener goes on until it is killed. What the calls return
 * does not matter; the caller must check that the kernel and all other
 * processes live on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/rclink_dev.h>

#include "udmabuf.h"

#define SERVICE		"fuzz"
#define STEPS		60		/* of a round */
#define ARENA		(64 * 4096)
#define DMABUF		(4 * 4096)
#define HANDLES		16
#define TRIES		500		/* to get a channel, 2 ms each */

struct fuzz {
	uint64_t state;
	const char *link;
	int listener;			/* or -1 */
	bool join;			/* @link is a group */
	int fd;
	int share;			/* a file, mostly a share */
	struct rclink_dev_shared *shared;
	uint8_t *arena;
	struct udmabuf dmabuf;
	uint32_t handle[HANDLES];	/* of regions; some are valid */
	uint32_t remote[HANDLES];	/* of imports; some are valid */
};

/* splitmix64: a seed always gives the same sequence. */
static uint64_t any(struct fuzz *f)
{
	uint64_t z = f->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(struct fuzz *f, uint64_t end)
{
	return any(f) % end;
}

/* Below @end in most cases, else any number */
static uint64_t mostly(struct fuzz *f, uint64_t end)
{
	return below(f, 8) ? below(f, end) : any(f) >> below(f, 64);
}

static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };

	nanosleep(&pause, NULL);
}

static uint32_t some_handle(struct fuzz *f)
{
	return below(f, 6) ? f->handle[below(f, HANDLES)] : any(f);
}

static uint32_t some_remote(struct fuzz *f)
{
	return below(f, 6) ? f->remote[below(f, HANDLES)] : any(f);
}

static void name(struct fuzz *f, char *to, size_t size)
{
	memset(to, 0, size);
	if (!below(f, 10))
		memset(to, 'x', size);
	else
		snprintf(to, size, "f%u", (unsigned int)below(f, 6));
}

static void entry(struct fuzz *f, struct rclink_dev_sqe *sqe)
{
	unsigned int i;

	memset(sqe, 0, sizeof(*sqe));
	sqe->op = mostly(f, RCLINK_OP_MAX);
	sqe->flags = mostly(f, RCLINK_SQE_FLAGS + 1);
	if (!(sqe->flags & RCLINK_SQE_INLINE))
		sqe->num_sge = mostly(f, RCLINK_DEV_SGE_MAX + 1);
	sqe->len = mostly(f, RCLINK_DEV_INLINE_MAX + 1);
	sqe->user_data = any(f);
	sqe->remote = some_remote(f);
	sqe->remote_offset = mostly(f, 8192);
	sqe->imm = any(f);
	sqe->compare_add = any(f);
	if (sqe->op >= RCLINK_OP_MCAS)
		sqe->compare_mask = any(f);
	if (!below(f, 16))
		sqe->pad = any(f);
	for (i = 0; i < RCLINK_DEV_SGE_MAX; i++) {
		sqe->sge[i].region = some_handle(f);
		sqe->sge[i].offset = mostly(f, 4096);
		sqe->sge[i].len = mostly(f, 4096);
	}
}

static void submit(struct fuzz *f)
{
	struct rclink_dev_submit arg = {
		.count = mostly(f, 32),
		.wait = below(f, 3),
		.timeout_ms = 1 + below(f, 10),
		.pad = !below(f, 32),
	};
	struct rclink_dev_ring *sq = &f->shared->sq;
	uint32_t i, num = below(f, 8);

	for (i = 0; i < num; i++)
		entry(f, &f->shared->sqe[(sq->tail + i) % RCLINK_DEV_DEPTH]);
	sq->tail += num;
	ioctl(f->fd, RCLINK_IOC_SUBMIT, &arg);
}

/* Submit while another process writes to the ring. */
static void submit_while_it_changes(struct fuzz *f)
{
	uint32_t *words = (uint32_t *)f->shared;
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			words[below(f, sizeof(*f->shared) / 4)] = any(f);
	}
	any(f);
	submit(f);
	submit(f);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void break_ring(struct fuzz *f)
{
	struct rclink_dev_shared *s = f->shared;
	uint32_t *index[] = { &s->sq.head, &s->sq.tail, &s->cq.head,
			      &s->cq.tail };

	*index[below(f, 4)] = any(f) >> below(f, 32);
}

static uint32_t rights(struct fuzz *f, bool exported)
{
	uint32_t rights = exported ? mostly(f, RCLINK_REGION_RIGHTS + 1) :
				     !below(f, 16);

	return below(f, 4) ? rights : rights | RCLINK_REGION_READ_ONLY;
}

static void region(struct fuzz *f)
{
	struct rclink_dev_region arg = { 0 };
	bool exported = below(f, 2);

	if (exported)
		name(f, arg.name, sizeof(arg.name));
	arg.rights = rights(f, exported);
	arg.addr = below(f, 8) ? (uintptr_t)f->arena + below(f, ARENA) :
				 any(f) >> below(f, 64);
	arg.len = mostly(f, 3 * 4096);
	if (!ioctl(f->fd, RCLINK_IOC_REGION, &arg))
		f->handle[below(f, HANDLES)] = arg.handle;
}

/* A region that the kernel allocates; a mapping outlives its withdrawal. */
static void allocate(struct fuzz *f)
{
	struct rclink_dev_region arg = { .addr = !below(f, 16) };
	bool exported = below(f, 2);
	uint8_t *map;

	if (exported)
		name(f, arg.name, sizeof(arg.name));
	arg.rights = rights(f, exported);
	arg.len = below(f, 8) ? 4096 * below(f, 5) : any(f) >> below(f, 64);
	if (ioctl(f->fd, RCLINK_IOC_MEMORY, &arg))
		return;
	f->handle[below(f, HANDLES)] = arg.handle;
	map = mmap(NULL, arg.len, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd,
		   arg.addr);
	if (map == MAP_FAILED)
		return;
	if (!below(f, 3))
		ioctl(f->fd, RCLINK_IOC_WITHDRAW, &arg.handle);
	map[below(f, arg.len < ARENA ? arg.len : ARENA)] = any(f);
	if (below(f, 2))
		submit(f);
	munmap(map, arg.len);
}

/* A region of a dma-buf, if there are any here, or of some other file */
static void dmabuf(struct fuzz *f)
{
	struct rclink_dev_dmabuf arg = { .pad = !below(f, 16) };
	bool exported = below(f, 2);

	if (exported)
		name(f, arg.name, sizeof(arg.name));
	arg.rights = rights(f, exported);
	arg.fd = below(f, 4) ? f->dmabuf.fd : (int)mostly(f, 16);
	arg.offset = mostly(f, DMABUF);
	arg.len = mostly(f, DMABUF);
	if (!ioctl(f->fd, RCLINK_IOC_DMABUF, &arg))
		f->handle[below(f, HANDLES)] = arg.handle;
}

static void import(struct fuzz *f)
{
	struct rclink_dev_region arg = { .rights = !below(f, 16) };

	name(f, arg.name, sizeof(arg.name));
	if (!ioctl(f->fd, RCLINK_IOC_IMPORT, &arg))
		f->remote[below(f, HANDLES)] = arg.handle;
}

static void release(struct fuzz *f)
{
	uint32_t handle = some_remote(f);

	ioctl(f->fd, RCLINK_IOC_RELEASE, &handle);
}

static void withdraw(struct fuzz *f)
{
	uint32_t handle = some_handle(f);

	ioctl(f->fd, RCLINK_IOC_WITHDRAW, &handle);
}

/* Change the share, which the peer imports by the same few names. */
static void share_call(struct fuzz *f)
{
	int fd = f->fd;

	f->fd = f->share;
	switch (below(f, 4)) {
	case 0:
		allocate(f);
		break;
	case 1:
		withdraw(f);
		break;
	default:
		region(f);
	}
	f->fd = fd;
}

/* Often zero or small, as most calls check that first */
static void words(struct fuzz *f, void *to, size_t size)
{
	uint32_t *word = to;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i++)
		word[i] = below(f, 2) ? any(f) >> below(f, 64) : 0;
}

/* A call that exists, or half of the time one that does not */
static void nonsense(struct fuzz *f)
{
	static const unsigned int calls[] = {
		RCLINK_IOC_CONNECT, RCLINK_IOC_LISTEN, RCLINK_IOC_ACCEPT,
		RCLINK_IOC_REGION, RCLINK_IOC_WITHDRAW, RCLINK_IOC_IMPORT,
		RCLINK_IOC_SUBMIT, RCLINK_IOC_MEMORY, RCLINK_IOC_RELEASE,
		RCLINK_IOC_DMABUF, RCLINK_IOC_JOIN, RCLINK_IOC_SHARE,
	};
	unsigned int call = calls[below(f, sizeof(calls) / sizeof(calls[0]))];
	union {
		struct rclink_dev_submit submit;
		uint64_t bytes[16];
	} arg;

	words(f, &arg, sizeof(arg));
	/* A timeout of zero would be for ever. */
	arg.submit.timeout_ms = 1 + below(f, 10);
	/* Another size and direction */
	if (below(f, 2))
		call ^= any(f) & 0xffff0000;
	ioctl(f->fd, call, below(f, 4) ? (void *)&arg : (void *)any(f));
	if (read(f->fd, &arg, sizeof(arg)) >= 0 ||
	    write(f->fd, &arg, sizeof(arg)) >= 0) {
		fputs("fuzz: read or write did something\n", stderr);
		exit(EXIT_FAILURE);
	}
}

/* Make a new file a channel, a listener or a share, and close it at once. */
static void become(struct fuzz *f)
{
	static const unsigned int calls[] = {
		RCLINK_IOC_CONNECT, RCLINK_IOC_LISTEN, RCLINK_IOC_JOIN,
		RCLINK_IOC_SHARE,
	};
	unsigned int call = calls[below(f, sizeof(calls) / sizeof(calls[0]))];
	int fd = open("/dev/rclink", O_RDWR | O_CLOEXEC);
	struct rclink_dev_service arg;

	words(f, &arg, sizeof(arg));
	if (below(f, 4))
		snprintf(arg.link, sizeof(arg.link), "%s", f->link);
	if (below(f, 4))
		snprintf(arg.service, sizeof(arg.service), SERVICE);
	if (below(f, 2))
		arg.flags &= RCLINK_CHAN_FLAGS;
	if (below(f, 2))
		arg.backlog = call == RCLINK_IOC_LISTEN;
	/* Processes that each hold a QP would all wait for one more. */
	arg.flags &= ~RCLINK_CONNECT_WAIT;
	ioctl(fd, call, &arg);
	close(fd);
}

static void memory(struct fuzz *f)
{
	size_t len = 4096 << below(f, 6);
	void *map;

	map = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   below(f, 4) ? MAP_SHARED : MAP_PRIVATE, f->fd,
		   4096 * mostly(f, 20));
	if (map != MAP_FAILED)
		munmap(map, len);
	/* These pages may be registered. */
	madvise(f->arena + 4096 * below(f, 32), 4096 * (1 + below(f, 32)),
		MADV_DONTNEED);
}

static void look(struct fuzz *f)
{
	struct pollfd fd = { .fd = f->fd, .events = any(f) };

	poll(&fd, 1, below(f, 4));
	f->shared->cq.head = f->shared->cq.tail;
}

static void share(struct fuzz *f)
{
	pid_t pid = fork();

	if (!pid) {
		submit(f);
		withdraw(f);
		_exit(0);
	}
	submit(f);
	waitpid(pid, NULL, 0);
}

static void step(struct fuzz *f)
{
	static void (*const steps[])(struct fuzz *f) = {
		submit, submit, submit, submit, region, region, allocate,
		dmabuf, import, import,
		withdraw, release, nonsense, nonsense, become, memory, look,
		look, break_ring, share, share_call, share_call,
		submit_while_it_changes,
	};

	steps[below(f, sizeof(steps) / sizeof(steps[0]))](f);
}

static int join_group(struct fuzz *f)
{
	struct rclink_dev_group arg = {
		.service = "text",
		.flags = !below(f, 16),
	};
	int fd = open("/dev/rclink", O_RDWR | O_CLOEXEC);

	snprintf(arg.group, sizeof(arg.group), "%s", f->link);
	if (fd >= 0 && ioctl(fd, RCLINK_IOC_JOIN, &arg)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_channel(struct fuzz *f)
{
	struct rclink_dev_service arg = { .flags = below(f, 2) << 1 };
	int i, fd;

	snprintf(arg.link, sizeof(arg.link), "%s", f->link);
	snprintf(arg.service, sizeof(arg.service), SERVICE);
	for (i = 0; i < TRIES; i++, pause_ms(2)) {
		if (f->listener >= 0) {
			fd = ioctl(f->listener, RCLINK_IOC_ACCEPT);
			if (fd >= 0)
				return fd;
			continue;
		}
		fd = open("/dev/rclink", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -1;
		if (!ioctl(fd, RCLINK_IOC_CONNECT, &arg))
			return fd;
		close(fd);
	}
	return -1;
}

static bool go_round(struct fuzz *f)
{
	unsigned int i, steps = below(f, STEPS);

	f->fd = f->join ? join_group(f) : open_channel(f);
	if (f->fd < 0)
		return false;
	f->shared = mmap(NULL, sizeof(*f->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED, f->fd, 0);
	if (f->shared == MAP_FAILED)
		return false;
	f->share = open("/dev/rclink", O_RDWR | O_CLOEXEC);
	if (below(f, 8))
		ioctl(f->share, RCLINK_IOC_SHARE);
	for (i = 0; i < steps; i++)
		step(f);
	close(f->share);
	/* The channel ends when both its file and its mapping are gone. */
	if (below(f, 2)) {
		munmap(f->shared, sizeof(*f->shared));
		close(f->fd);
	} else {
		close(f->fd);
		munmap(f->shared, sizeof(*f->shared));
	}
	return true;
}

static int listen_on(const char *link)
{
	struct rclink_dev_service arg = { .backlog = 8 };
	int fd = open("/dev/rclink", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	snprintf(arg.link, sizeof(arg.link), "%s", link);
	snprintf(arg.service, sizeof(arg.service), SERVICE);
	if (fd < 0 || ioctl(fd, RCLINK_IOC_LISTEN, &arg)) {
		perror("fuzz: listen");
		exit(EXIT_FAILURE);
	}
	puts("listening");
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	struct fuzz f = { .listener = -1 };
	unsigned int i, rounds, done = 0;

	if (argc < 4)
		return 2;
	f.link = argv[1];
	f.state = strtoull(argv[2], NULL, 0);
	rounds = strtoul(argv[3], NULL, 0);
	f.arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f.arena == MAP_FAILED)
		return EXIT_FAILURE;
	/* Without dma-bufs, every descriptor is a wrong one. */
	if (udmabuf_new(&f.dmabuf, DMABUF))
		f.dmabuf.fd = -1;
	f.join = argc > 4 && !strcmp(argv[4], "join");
	if (argc > 4 && !f.join)
		f.listener = listen_on(f.link);
	for (i = 0; f.listener >= 0 || i < rounds; i++)
		done += go_round(&f);
	printf("%u of %u rounds\n", done, rounds);
	return done < rounds / 2;
}
