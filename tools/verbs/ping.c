// SPDX-License-Identifier: GPL-2.0
#include "ping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../../kmod/pattern.h"
#include "process.h"

enum { DONE, ECHO, FILL, RUN, CHECK };

static const uint8_t steps[][4] = {
	[RCLINK_PING_OP_SEND] = { ECHO },
	[RCLINK_PING_OP_WRITE] = { RUN, CHECK },
	[RCLINK_PING_OP_READ] = { FILL, RUN },
	[RCLINK_PING_OP_CAS] = { FILL, RUN, CHECK },
	[RCLINK_PING_OP_FADD] = { FILL, RUN, CHECK },
};

static const char data_differs[] =
	"the data that came back is not what was sent";
static const char peer_differs[] = "the peer found other data than was sent";

/* The owner may start the next ping from within done(). */
static void finish(struct rcv_pinger *p, int error, const char *why)
{
	const struct rcv_ping *ping = p->ping;

	p->ping = NULL;
	ping->done(ping->ctx, error, why, error ? 0 : p->end - p->start);
}

void rcv_ping_release(struct rcv_pinger *p)
{
	if (p->mr)
		ibv_dereg_mr(p->mr);
	free(p->mem);
	p->mr = NULL;
	p->mem = NULL;
}

int rcv_ping_memory(struct rcv_pinger *p, uint32_t size)
{
	/* Empty memory cannot be registered. */
	if (!size)
		size = 1;
	if (p->mr && p->mr->length >= size)
		return 0;
	rcv_ping_release(p);
	if (posix_memalign((void **)&p->mem, sysconf(_SC_PAGESIZE), size)) {
		p->mem = NULL;
		return -ENOMEM;
	}
	/* Not every user fills it, and all of it goes to the peer. */
	memset(p->mem, 0, size);
	p->mr = ibv_reg_mr(p->pd, p->mem, size, IBV_ACCESS_LOCAL_WRITE);
	return p->mr ? 0 : -errno;
}

void rcv_ping_start(struct rcv_pinger *p, const struct rcv_ping *ping)
{
	const char *why = NULL;
	int ret;

	ret = rcv_remote_check(p->local, p->remote, ping->op, ping->size, &why);
	if (!ret && ping->op != RCLINK_PING_OP_SEND) {
		ret = rcv_ping_memory(p, ping->size);
		why = "no memory for the payload: see `ulimit -l`";
	}
	if (!ret && getrandom(&p->seed, sizeof(p->seed), 0) !=
	    sizeof(p->seed)) {
		ret = -EIO;
		why = "cannot draw a random seed";
	}
	if (ret) {
		ping->done(ping->ctx, ret, why, 0);
		return;
	}
	p->ping = ping;
	p->step = steps[ping->op];
	p->asked = false;
	p->completed = false;
	p->sent = 0;
	p->echoed = 0;
	p->cookie++;
	if (ping->op == RCLINK_PING_OP_WRITE)
		rcl_pattern_fill(p->mem, 0, ping->size, ~p->seed);
}

/* How much of the payload is in the message that begins at offset? */
static uint32_t piece(const struct rcv_ping *ping, uint32_t offset)
{
	uint32_t left = ping->size - offset;

	return left < RCL_MSG_DATA_MAX ? left : RCL_MSG_DATA_MAX;
}

static int send_echo(struct rcv_pinger *p)
{
	uint8_t data[RCL_MSG_DATA_MAX];
	struct rcl_msg msg = {
		.type = RCL_MSG_PING,
		.cookie = p->cookie,
		.offset = p->sent,
		.len = piece(p->ping, p->sent),
		.seed = p->seed,
		.data = data,
	};
	int ret;

	rcl_pattern_fill(data, msg.offset, msg.len, msg.seed);
	if (!p->asked)
		p->start = rcl_now();
	ret = rcv_ctrl_send(p->ctrl, &msg);
	if (ret)
		return ret;
	p->asked = true;
	p->sent += msg.len;
	return 0;
}

static int echo(struct rcv_pinger *p)
{
	int ret = 0;

	while (!ret && (!p->asked || p->sent < p->ping->size) &&
	       rcv_ctrl_can_ask(p->ctrl))
		ret = send_echo(p);
	return ret;
}

static int ask(struct rcv_pinger *p, uint8_t type, uint32_t seed)
{
	struct rcl_msg msg = {
		.type = type,
		.cookie = p->cookie,
		.len = p->ping->size,
		.seed = seed,
	};
	int ret;

	if (p->asked || !rcv_ctrl_can_ask(p->ctrl))
		return 0;
	ret = rcv_ctrl_send(p->ctrl, &msg);
	p->asked = !ret;
	return ret;
}

/* The first 8 bytes of a pattern, as the device sees them. */
static uint64_t word(uint32_t seed)
{
	uint64_t value;

	rcl_pattern_fill((uint8_t *)&value, 0, sizeof(value), seed);
	return value;
}

static int post_op(struct rcv_pinger *p)
{
	uint64_t before = word(p->seed), after = word(~p->seed);
	bool cas = p->ping->op == RCLINK_PING_OP_CAS;
	const struct rcv_remote_op op = {
		.op = p->ping->op,
		.wr_id = rcv_wr_id(RCV_WR_PING, 0),
		.addr = (uintptr_t)p->mem,
		.lkey = p->mr->lkey,
		.len = p->ping->size,
		.compare = cas ? before : after - before,
		.swap = after,
	};

	p->start = rcl_now();
	return rcv_remote_post(p->ctrl->qp, p->remote, &op);
}

static void next(struct rcv_pinger *p)
{
	p->step++;
	p->asked = false;
}

static void run(struct rcv_pinger *p)
{
	int ret;

	if (!p->asked) {
		ret = post_op(p);
		p->asked = !ret;
		if (ret)
			finish(p, ret, "the device refused the work request");
	} else if (p->completed) {
		if (p->ping->op != RCLINK_PING_OP_WRITE &&
		    !rcl_pattern_check(p->mem, 0, p->ping->size, p->seed))
			finish(p, -EILSEQ, data_differs);
		else
			next(p);
	}
}

int rcv_ping_continue(struct rcv_pinger *p)
{
	const uint8_t *step;
	int ret = 0;

	do {
		if (!p->ping)
			return 0;
		step = p->step;
		if (*step == ECHO)
			ret = echo(p);
		else if (*step == FILL)
			ret = ask(p, RCL_MSG_FILL, p->seed);
		else if (*step == RUN)
			run(p);
		else if (*step == CHECK)
			ret = ask(p, RCL_MSG_CHECK, ~p->seed);
		else
			finish(p, 0, NULL);
	} while (!ret && (!p->ping || p->step != step));
	return ret == -EAGAIN ? 0 : ret;
}

void rcv_ping_completed(struct rcv_pinger *p)
{
	p->end = rcl_now();
	p->completed = true;
}

static int echoed(struct rcv_pinger *p, const struct rcv_in *in)
{
	const struct rcl_msg *msg = &in->msg;

	if (msg->offset != p->echoed || msg->seed != p->seed ||
	    msg->len != piece(p->ping, p->echoed))
		return -EPROTO;
	if (!rcl_pattern_check(msg->data, msg->offset, msg->len, p->seed)) {
		finish(p, -EILSEQ, data_differs);
		return 0;
	}
	p->echoed += msg->len;
	if (p->echoed == p->ping->size) {
		p->end = in->when;
		next(p);
	}
	return 0;
}

int rcv_ping_answer(struct rcv_pinger *p, const struct rcv_in *in)
{
	static const uint8_t answers[] = {
		[ECHO] = RCL_MSG_PONG,
		[FILL] = RCL_MSG_FILLED,
		[CHECK] = RCL_MSG_CHECKED,
	};

	/* For a ping that ended when another piece of it came back wrong. */
	if (!p->ping || in->msg.cookie != p->cookie)
		return 0;
	if (!p->asked || answers[*p->step] != in->msg.type)
		return -EPROTO;
	if (!in->msg.status && *p->step == ECHO)
		return echoed(p, in);
	if (in->msg.status)
		finish(p, -EILSEQ, peer_differs);
	else
		next(p);
	return 0;
}

int rcv_ping_question(struct rcv_pinger *p, const struct rcl_msg *msg)
{
	uint32_t length = p->local->length;
	struct rcl_msg answer = *msg;

	if (msg->type == RCL_MSG_PING) {
		answer.type = RCL_MSG_PONG;
		answer.status = !rcl_pattern_check(msg->data, msg->offset,
						   msg->len, msg->seed);
		return rcv_ctrl_send(p->ctrl, &answer);
	}
	if (msg->offset > length || msg->len > length - msg->offset)
		return -EPROTO;
	if (msg->type == RCL_MSG_FILL) {
		rcl_pattern_fill(p->buffer + msg->offset, 0, msg->len,
				 msg->seed);
		answer.type = RCL_MSG_FILLED;
		answer.status = RCL_MSG_OK;
	} else {
		answer.type = RCL_MSG_CHECKED;
		answer.status = !rcl_pattern_check(p->buffer + msg->offset, 0,
						   msg->len, msg->seed);
	}
	return rcv_ctrl_send(p->ctrl, &answer);
}

void rcv_ping_abort(struct rcv_pinger *p, const char *why)
{
	if (p->ping)
		finish(p, -ENOTCONN, why);
}
