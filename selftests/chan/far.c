// SPDX-License-Identifier: GPL-2.0
/* usage: far LINK: the far end of chan_ops, one channel after the other. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "far.h"

#define PAGE	4096

/* Memory that the peer accesses, and a buffer for messages. */
struct arena {
	uint8_t *memory, *buffer;
	uint32_t memory_region, buffer_region;
};

struct far {
	struct rclink_chan *chan;
	struct arena small, big, giant;
	struct arena *at;
	uint8_t *page, *order;
	uint32_t page_region, order_region, brief_region;
	bool lent;
	struct rclink_share *share;
	uint32_t all_region;
	uint32_t last;			/* status that ended a channel */
};

static int enter(struct far *f, struct arena *to, uint64_t len,
		 const char *name, unsigned int rights)
{
	int ret = 0;

	if (to->buffer)
		ret = rclink_region(f->chan, to->buffer, len, NULL, 0,
				    &to->buffer_region);
	if (!ret)
		ret = rclink_region(f->chan, to->memory, len, name, rights,
				    &to->memory_region);
	f->at = to;
	return ret;
}

static int regions(struct far *f)
{
	int ret;

	ret = enter(f, &f->small, FAR_MEMORY, FAR_REGION, RCLINK_REGION_RIGHTS);
	if (!ret)
		ret = rclink_region(f->chan, f->order, PAGE, NULL, 0,
				    &f->order_region);
	if (!ret)
		ret = rclink_region(f->chan, f->page, PAGE, FAR_READ_ONLY,
				    RCLINK_REGION_READ, &f->page_region);
	return ret;
}

/* A region that takes more than one registration of the device. */
static int grow(struct far *f)
{
	if (!f->big.memory) {
		f->big.memory = memory(FAR_BIG_SIZE + PAGE) + FAR_BIG_AT;
		f->big.buffer = memory(FAR_BIG_SIZE + PAGE) + FAR_BIG_AT;
	}
	return enter(f, &f->big, FAR_BIG_SIZE, FAR_BIG,
		     RCLINK_REGION_WRITE | RCLINK_REGION_READ |
		     RCLINK_REGION_ATOMIC);
}

/* A region with more keys than fit a message: the same pages, many times. */
static int swell(struct far *f)
{
	uint64_t at, len = FAR_GIANT_TURN;
	int fd = memfd_create("giant", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, FAR_GIANT_TURN))
		return -errno;
	if (!f->giant.memory)
		f->giant.memory = mmap(NULL, FAR_GIANT_SIZE, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->giant.memory == MAP_FAILED)
		return -errno;
	for (at = 0; at < FAR_GIANT_SIZE; at += len) {
		if (len > FAR_GIANT_SIZE - at)
			len = FAR_GIANT_SIZE - at;
		if (mmap(f->giant.memory + at, len, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) ==
		    MAP_FAILED)
			return -errno;
	}
	close(fd);
	return enter(f, &f->giant, FAR_GIANT_SIZE, FAR_GIANT,
		     RCLINK_REGION_WRITE | RCLINK_REGION_READ);
}

/* The next completion; false when the channel has ended. */
static bool complete(struct far *f, struct rclink_dev_cqe *cqe)
{
	int ret = rclink_submit(f->chan, 1, 0);

	if (rclink_reap(f->chan, cqe, 1) != 1) {
		say("submit", ret);
		return false;
	}
	if (cqe->status)
		f->last = cqe->status;
	return !cqe->status;
}

/* Sends are not signaled, so that only receives complete. */
static void answer(struct far *f, const struct answer *a)
{
	rclink_send(f->chan, rclink_bytes(a, sizeof(*a)), 0, 0);
	rclink_submit(f->chan, 0, 0);
}

static void post_order(struct far *f)
{
	rclink_recv(f->chan, rclink_piece(f->order_region, 0,
					  sizeof(struct order)), 0);
}

static bool receive(struct far *f, const struct order *o, struct answer *a)
{
	uint8_t *where = o->post ? f->at->buffer : f->at->memory + o->offset;
	struct rclink_dev_cqe cqe;

	rclink_recv(f->chan, rclink_piece(f->at->buffer_region, 0, o->post), 0);
	answer(f, a);
	if (!complete(f, &cqe))
		return false;
	a->len = cqe.len;
	a->imm = cqe.imm;
	a->flags = cqe.flags;
	a->right = far_is(where, o->seed, o->size);
	return true;
}

static void send_data(struct far *f, const struct order *o)
{
	struct rclink_data data;

	far_fill(f->at->buffer, o->seed, o->size);
	data = rclink_piece(f->at->buffer_region, 0, o->size);
	if (o->what == FAR_SEND)
		rclink_send(f->chan, data, RCLINK_SQE_SOLICITED, 0);
	else
		rclink_send_imm(f->chan, data, o->seed, 0, 0);
}

/* The peer has invalidated the previous region, which still exists. */
static bool lend(struct far *f, struct answer *a)
{
	if (f->lent && rclink_withdraw(f->chan, f->brief_region))
		return false;
	f->lent = !rclink_region(f->chan, f->page, PAGE, FAR_BRIEF,
				 RCLINK_REGION_READ | RCLINK_REGION_INVALIDATE,
				 &f->brief_region);
	a->value = f->brief_region;
	return f->lent;
}

static int share_all(struct far *f)
{
	int ret;

	rclink_share_close(f->share);
	f->share = NULL;
	ret = rclink_share(&f->share);
	return ret ? ret : rclink_share_region(f->share, f->small.memory,
					       FAR_MEMORY, FAR_ALL,
					       RCLINK_REGION_WRITE |
					       RCLINK_REGION_READ |
					       RCLINK_REGION_ATOMIC,
					       &f->all_region);
}

static bool obey(struct far *f, const struct order *o)
{
	struct answer a = { .right = 1 };
	uint8_t *at = f->at->memory + o->offset;

	switch (o->what) {
	case FAR_RECV:
		if (!receive(f, o, &a))
			return false;
		break;
	case FAR_CHECK:
		a.right = far_is(at, o->seed, o->size);
		break;
	case FAR_FILL:
		far_fill(at, o->seed, o->size);
		break;
	case FAR_POKE:
	case FAR_PEEK:
		memcpy(&a.value, at, sizeof(a.value));
		if (o->what == FAR_POKE)
			memcpy(at, &o->value, sizeof(o->value));
		break;
	case FAR_WITHDRAW:
		a.right = !rclink_withdraw(f->chan, f->at->memory_region);
		break;
	case FAR_LEND:
		a.right = lend(f, &a);
		break;
	case FAR_GROW:
		a.right = !grow(f);
		break;
	case FAR_SWELL:
		a.right = !swell(f);
		break;
	case FAR_LAST:
		a.value = f->last;
		break;
	case FAR_SHARE:
		a.right = !share_all(f);
		break;
	case FAR_UNSHARE:
		a.right = !rclink_share_withdraw(f->share, f->all_region);
		break;
	case FAR_DIE:
		raise(SIGKILL);
	}
	if (o->what != FAR_DEAF)
		post_order(f);
	answer(f, &a);
	if (o->what == FAR_SEND || o->what == FAR_SEND_IMM)
		send_data(f, o);
	return o->what != FAR_CLOSE;
}

static void serve(struct far *f)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct rclink_dev_cqe cqe;
	struct rclink_remote near;
	struct order o;
	int ret;

	f->lent = false;
	ret = regions(f);
	if (ret) {
		say("regions", ret);
		return;
	}
	post_order(f);
	rclink_submit(f->chan, 0, 0);
	while ((ret = rclink_import(f->chan, FAR_NEAR, &near)) == -ENOENT)
		nanosleep(&pause, NULL);
	if (ret) {
		say("import", ret);
		return;
	}
	answer(f, &(struct answer){ .right = 1 });
	do {
		if (!complete(f, &cqe))
			return;
		memcpy(&o, f->order, sizeof(o));
	} while (obey(f, &o));
	/* A close takes the answer back; the peer may be slow to read it. */
	sleep(4);
}

int main(int argc, char **argv)
{
	struct rclink_listener *listener;
	struct far f = { 0 };
	int ret;

	if (argc != 2)
		return 2;
	f.small.memory = memory(FAR_MEMORY);
	f.small.buffer = memory(FAR_MEMORY);
	f.page = memory(PAGE);
	f.order = memory(PAGE);
	ret = rclink_listen(&listener, argv[1], FAR_SERVICE, 8, 0);
	if (ret)
		return say("listen", ret) != 0;
	puts("listening");
	fflush(stdout);
	for (;;) {
		ret = rclink_accept(listener, &f.chan);
		if (ret)
			return say("accept", ret) != 0;
		serve(&f);
		rclink_close(f.chan);
	}
}
