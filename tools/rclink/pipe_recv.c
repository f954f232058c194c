// SPDX-License-Identifier: GPL-2.0
/* The receiving end: it grants a buffer again once it has written it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "pipe.h"

#define GRANT_AFTER	(PIPE_BUFS / 4)

struct receiver {
	struct pipe *p;
	uint32_t granted;
	uint32_t posted;	/* receives, since the start */
	int error;		/* nothing can be sent any more */
};

static void send_msg(struct receiver *r, const struct pipe_msg *msg)
{
	uint8_t buf[PIPE_MSG_LEN];
	size_t len = pipe_msg_pack(msg, buf);
	int ret;

	ret = rclink_send(r->p->at.chan, rclink_bytes(buf, len),
			  RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = attach_submit(&r->p->at, 0);
	if (ret >= 0)
		r->p->sent++;
	else
		r->error = ret;
}

/* This end cannot go on; tell the sender why. */
static void give_up(struct receiver *r, const char *what, const char *why)
{
	struct pipe_msg msg = { .type = PIPE_FAILED };

	snprintf(msg.text, sizeof(msg.text), "%s: %s", what, why);
	pipe_failed(r->p, what, why);
	send_msg(r, &msg);
}

static int post(struct receiver *r, uint64_t index)
{
	r->posted++;
	return rclink_recv(r->p->at.chan,
			   rclink_piece(r->p->region, index * PIPE_SIZE,
					PIPE_SIZE), index);
}

/* Posts what was queued before it, too: no grant without its receive. */
static void grant(struct receiver *r)
{
	struct pipe_msg msg = {
		.type = PIPE_GRANT,
		.granted = r->posted,
		.size = PIPE_SIZE,
	};

	r->granted = r->posted;
	send_msg(r, &msg);
}

/* Returns 0, or a positive errno. */
static int write_all(const uint8_t *data, size_t len)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t written;

	while (len) {
		written = write(STDOUT_FILENO, data, len);
		if (written >= 0) {
			data += written;
			len -= written;
		} else if (errno == EAGAIN) {
			poll(&out, 1, -1);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static void take_data(struct receiver *r, const struct rclink_dev_cqe *cqe)
{
	const uint8_t *data = r->p->memory + cqe->user_data * PIPE_SIZE;
	int ret;

	ret = write_all(data, cqe->len);
	if (ret) {
		give_up(r, "cannot write", strerror(ret));
		return;
	}
	pipe_count(r->p, data, cqe->len);
	ret = post(r, cqe->user_data);
	if (ret)
		r->error = ret;
	else if (r->posted - r->granted >= GRANT_AFTER)
		grant(r);
}

static void take_end(struct receiver *r, const uint8_t *data, size_t len)
{
	struct pipe_msg msg = { .type = PIPE_DONE };
	struct pipe_sum sum;

	pipe_finish(r->p);
	if (!pipe_sum_unpack(&sum, data, len) ||
	    sum.total != r->p->sum.total ||
	    memcmp(sum.sha, r->p->sum.sha, PIPE_SHA_LEN)) {
		give_up(r, "the data is not what was sent",
			"do not use it; send again");
		return;
	}
	/* Some file systems report only here that there was no room. */
	if (close(STDOUT_FILENO)) {
		give_up(r, "cannot write", strerror(errno));
		return;
	}
	pipe_quiet(r->p);
	msg.sum = r->p->sum;
	pipe_over(r->p, CLI_OK);
	send_msg(r, &msg);
	/* The sender takes it for lost, and may send it again. */
	if (r->error)
		pipe_failed_errno(r->p, "the sender was not told", r->error);
}

static void take(void *end, const struct rclink_dev_cqe *cqe)
{
	struct receiver *r = end;
	const uint8_t *data = r->p->memory + cqe->user_data * PIPE_SIZE;
	char text[PIPE_TEXT_LEN + 1];

	if (!(cqe->flags & RCLINK_CQE_IMM)) {
		take_data(r, cqe);
	} else if (cqe->imm == PIPE_IMM_END) {
		take_end(r, data, cqe->len);
	} else {
		pipe_text_unpack(text, data, cqe->len);
		pipe_failed(r->p, "the sender gave up", text);
	}
}

int pipe_recv(struct pipe *p)
{
	struct receiver r = { .p = p };
	struct rclink_remote hello;
	uint64_t i;
	int ret = 0;

	for (i = 0; i < PIPE_BUFS && !ret; i++)
		ret = post(&r, i);
	if (!ret)
		ret = attach_submit(&p->at, 0);
	if (ret < 0)
		pipe_failed_errno(p, "cannot receive", ret);
	else if (attach_find(&p->at, &hello))
		pipe_over(p, CLI_FAILED);
	else
		grant(&r);
	while (!p->over) {
		if (!r.error)
			ret = rclink_submit(p->at.chan, 1, 0);
		if (ret < 0 && ret != -EINTR)
			r.error = ret;
		/* The completions tell more. */
		if (!pipe_reap(p, take, &r) && r.error && !p->over)
			pipe_failed_errno(p, "broken off", r.error);
	}
	pipe_linger(p);
	return p->status;
}
