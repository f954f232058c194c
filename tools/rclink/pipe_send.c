// SPDX-License-Identifier: GPL-2.0
/*
 * The sending end. Buffers are used in turn and sent in this order; what was
 * sent and what has completed are counted, and wrap like the grants.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "pipe.h"

/*
 * Receives for the peer's messages. It grants after each PIPE_BUFS / 4 of its
 * buffers, so 5 grants can wait here, and one message that ends all.
 */
#define CONTROLS	8
#define CONTROL_AT	(PIPE_BUFS * PIPE_SIZE)

struct sender {
	struct pipe *p;
	uint32_t granted;
	uint32_t size;		/* of the largest message; 0 before a grant */
	bool ended;		/* stdin has ended */
	int error;		/* nothing can be sent any more */
};

static void submit(struct sender *s, int queued)
{
	int ret = queued ? queued : attach_submit(&s->p->at, 0);

	/* The completions tell more. */
	if (ret < 0)
		s->error = ret;
}

static int post_control(struct sender *s, uint64_t index)
{
	return rclink_recv(s->p->at.chan,
			   rclink_piece(s->p->region,
					CONTROL_AT + index * PIPE_MSG_LEN,
					PIPE_MSG_LEN), index);
}

static void granted(struct sender *s, const struct pipe_msg *msg)
{
	if (!msg->size || (s->size && msg->size < s->size)) {
		pipe_failed(s->p, "a grant that makes no sense",
			    "is this rclink at the other end?");
		return;
	}
	if (!s->size)
		s->size = msg->size < PIPE_SIZE ? msg->size : PIPE_SIZE;
	s->granted = msg->granted;
}

static void done(struct sender *s, const struct pipe_sum *sum)
{
	pipe_quiet(s->p);
	if (s->ended && sum->total == s->p->sum.total &&
	    !memcmp(sum->sha, s->p->sum.sha, PIPE_SHA_LEN))
		pipe_over(s->p, CLI_OK);
	else
		pipe_failed(s->p, "the receiver confirms other data",
			    "do not use what it got; send again");
}

static void control(void *end, const struct rclink_dev_cqe *cqe)
{
	struct sender *s = end;
	const uint8_t *buf = s->p->memory + CONTROL_AT +
			     cqe->user_data * PIPE_MSG_LEN;
	struct pipe_msg msg;

	if (!pipe_msg_unpack(&msg, buf, cqe->len)) {
		pipe_failed(s->p, "a message that makes no sense",
			    "is it `rclink recv`, of the same version, there?");
		return;
	}
	switch (msg.type) {
	case PIPE_GRANT:
		granted(s, &msg);
		if (!s->p->over)
			submit(s, post_control(s, cqe->user_data));
		break;
	case PIPE_DONE:
		done(s, &msg.sum);
		break;
	case PIPE_FAILED:
		pipe_failed(s->p, "the receiver gave up", msg.text);
		break;
	}
}

static void send_end(struct sender *s)
{
	uint8_t buf[PIPE_MSG_LEN];
	size_t len;

	pipe_finish(s->p);
	s->ended = true;
	len = pipe_sum_pack(&s->p->sum, buf);
	submit(s, rclink_send_imm(s->p->at.chan, rclink_bytes(buf, len),
				  PIPE_IMM_END, RCLINK_SQE_SIGNALED, 0));
}

/* The peer must not think that the end of the channel is the reason. */
static void send_abort(struct sender *s, const char *why)
{
	submit(s, rclink_send_imm(s->p->at.chan,
				  rclink_bytes(why, strnlen(why,
							    PIPE_TEXT_LEN)),
				  PIPE_IMM_ABORT, RCLINK_SQE_SIGNALED, 0));
	s->p->sent++;
	pipe_failed(s->p, "cannot read the input", why);
	pipe_linger(s->p);
}

/* There is input, and a buffer and a grant for it. */
static void send_more(struct sender *s)
{
	uint32_t offset = s->p->sent % PIPE_BUFS * PIPE_SIZE;
	uint8_t *buf = s->p->memory + offset;
	ssize_t len;

	len = read(STDIN_FILENO, buf, s->size);
	if (len < 0) {
		if (errno != EINTR && errno != EAGAIN)
			send_abort(s, strerror(errno));
		return;
	}
	if (len) {
		pipe_count(s->p, buf, len);
		submit(s, rclink_send(s->p->at.chan,
				      rclink_piece(s->p->region, offset, len),
				      RCLINK_SQE_SIGNALED, 0));
	} else {
		send_end(s);
	}
	s->p->sent++;
}

static void wait(struct sender *s)
{
	bool room = !s->ended && s->p->sent != s->granted &&
		    s->p->sent - s->p->completed < PIPE_BUFS;
	struct pollfd fds[] = {
		{ .fd = rclink_fd(s->p->at.chan), .events = POLLIN },
		{ .fd = room ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int num;

	num = poll(fds, 2, s->size ? -1 : ATTACH_TIMEOUT_MS);
	if (num < 0 && errno != EINTR)
		pipe_failed_errno(s->p, "poll", -errno);
	else if (!num && !attach_was_suspended(&s->p->at))
		pipe_failed_errno(s->p, "no grant", -ETIME);
	if (num <= 0)
		return;
	/* The channel hangs up when it has ended. */
	if (fds[0].revents & (POLLHUP | POLLERR))
		s->error = -ECONNRESET;
	else if (fds[1].revents)
		send_more(s);
	if (!pipe_reap(s->p, control, s) && s->error && !s->p->over)
		pipe_failed_errno(s->p, "broken off", s->error);
}

int pipe_send(struct pipe *p)
{
	struct sender s = { .p = p };
	uint64_t i;
	int ret = 0;

	for (i = 0; i < CONTROLS && !ret; i++)
		ret = post_control(&s, i);
	submit(&s, ret);
	if (!p->over && attach_offer(&p->at, p->memory + CONTROL_AT +
				     PIPE_SIZE / 2, 1, RCLINK_REGION_READ))
		pipe_over(p, CLI_FAILED);
	while (!p->over)
		wait(&s);
	return p->status;
}
