// SPDX-License-Identifier: GPL-2.0
/* usage: far LINK: the far end of chan_ops, one channel after the other. */
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "far.h"

#define PAGE	4096

struct far {
	struct rclink_chan *chan;
	uint8_t *memory, *buffer, *page, *order;
	uint32_t memory_region, buffer_region, page_region, order_region;
	uint32_t brief_region;
	bool lent;
	uint32_t last;			/* status that ended a channel */
};

static int regions(struct far *f)
{
	int ret;

	ret = rclink_region(f->chan, f->buffer, FAR_MEMORY, NULL, 0,
			    &f->buffer_region);
	if (!ret)
		ret = rclink_region(f->chan, f->order, PAGE, NULL, 0,
				    &f->order_region);
	if (!ret)
		ret = rclink_region(f->chan, f->memory, FAR_MEMORY, FAR_REGION,
				    RCLINK_REGION_RIGHTS, &f->memory_region);
	if (!ret)
		ret = rclink_region(f->chan, f->page, PAGE, FAR_READ_ONLY,
				    RCLINK_REGION_READ, &f->page_region);
	return ret;
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
	uint8_t *where = o->post ? f->buffer : f->memory + o->offset;
	struct rclink_dev_cqe cqe;

	rclink_recv(f->chan, rclink_piece(f->buffer_region, 0, o->post), 0);
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

	far_fill(f->buffer, o->seed, o->size);
	data = rclink_piece(f->buffer_region, 0, o->size);
	if (o->what == FAR_SEND)
		rclink_send(f->chan, data, RCLINK_SQE_SOLICITED, 0);
	else
		rclink_send_imm(f->chan, data, o->seed, 0, 0);
}

/* The one before has been ended by the peer, but is still there. */
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

static bool obey(struct far *f, const struct order *o)
{
	struct answer a = { .right = 1 };
	uint8_t *at = f->memory + o->offset;

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
		a.right = !rclink_withdraw(f->chan, f->memory_region);
		break;
	case FAR_LEND:
		a.right = lend(f, &a);
		break;
	case FAR_LAST:
		a.value = f->last;
		break;
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
	/* Until then a close would take the answer back. */
	sleep(1);
}

int main(int argc, char **argv)
{
	struct rclink_listener *listener;
	struct far f = { 0 };
	int ret;

	if (argc != 2)
		return 2;
	f.memory = memory(FAR_MEMORY);
	f.buffer = memory(FAR_MEMORY);
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
