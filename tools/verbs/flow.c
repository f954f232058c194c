// SPDX-License-Identifier: GPL-2.0
#include "flow.h"

#include <errno.h>
#include <string.h>

#include "epoch.h"
#include "fail.h"
#include "process.h"

#define TURNS	256	/* between two calls of go_on() */

struct state {
	struct rcv_epoch *ep;
	struct rcv_flow *flow;
	uint32_t posted, done;
	uint64_t begun;		/* ns, of the last one */
};

/* Completions come in the order of the posts. */
static void on_done(void *ctx)
{
	struct state *s = ctx;

	if (s->flow->times)
		s->flow->times[s->done] = rcl_now() - s->begun;
	s->done++;
}

static int post(struct state *s)
{
	const struct rcv_remote_op op = {
		.op = s->flow->op,
		.wr_id = rcv_wr_id(RCV_WR_BENCH, 0),
		.addr = (uintptr_t)s->ep->pinger.mem,
		.lkey = s->ep->pinger.mr->lkey,
		.len = s->flow->size,
		.compare = 1,
	};

	s->begun = rcl_now();
	s->posted++;
	return rcv_remote_post(&s->ep->qp[0], &s->ep->remote, &op);
}

static int run(struct state *s, char *err)
{
	const struct rcv_flow *flow = s->flow;
	uint32_t turns = 0;
	int ret = 0;

	while (s->done < flow->iters) {
		while (!ret && s->posted < flow->iters &&
		       s->posted - s->done < flow->depth)
			ret = post(s);
		if (ret)
			return rcl_fail(err, ret,
					"the device refused operation %u: %s",
					s->posted, strerror(-ret));
		rcv_epoch_turn(s->ep);
		if (s->ep->why[0])
			return rcl_fail(err, -ENOTCONN,
					"the link went down: %s", s->ep->why);
		if (!(++turns % TURNS) && !flow->go_on(flow->ctx))
			return rcl_fail(err, -EINTR, "%s", s->ep->why[0] ?
					s->ep->why : "interrupted");
	}
	return 0;
}

/* For an operation given up: its memory belongs to the epoch, and stays. */
static void on_late(void *ctx)
{
	(void)ctx;
}

int rcv_flow_run(struct rcv_epoch *ep, struct rcv_flow *flow, char *err)
{
	struct state s = { .ep = ep, .flow = flow };
	const char *why;
	uint64_t begun;
	int ret;

	ret = rcv_remote_check(&ep->local, &ep->remote, flow->op, flow->size,
			       &why);
	if (ret)
		return rcl_fail(err, ret, "%s", why);
	ret = rcv_ping_memory(&ep->pinger, flow->size);
	if (ret)
		return rcl_fail(err, ret,
				"cannot register %u bytes: %s; see `ulimit -l`",
				flow->size, strerror(-ret));
	ep->bench_done = on_done;
	ep->bench_ctx = &s;
	ep->busy = true;
	begun = rcl_now();
	ret = run(&s, err);
	flow->duration = rcl_now() - begun;
	ep->busy = false;
	ep->bench_done = on_late;
	rcv_epoch_turn(ep);
	return ret;
}
