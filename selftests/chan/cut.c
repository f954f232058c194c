// SPDX-License-Identifier: GPL-2.0
#include "cut.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "sim.h"
#include "slow.h"

#define REGION		"cut"
#define BRIEF		"brief"
#define PAGE		4096
#define RECV_AT		PAGE		/* in the near end's memory */
#define OWN_AT		(2 * PAGE)
#define QUIET_MS	50
#define LIMIT_MS	20000

int cut_begin(struct cut *c)
{
	int ret = rig_begin_sims(&c->r, "");

	/* A timeout of 2 s, so that nothing is sent again. */
	c->r.values.timeout = 19;
	c->r.values.retry = -1;
	/* A heartbeat would be lost, too. */
	c->r.values.heartbeat = 0;
	c->words = NULL;
	return ret;
}

void cut_end(struct cut *c)
{
	cut_close(c);
	rig_end_sims(&c->r);
}

void cut_close(struct cut *c)
{
	rig_close(&c->r);
	if (c->words)
		munmap(c->words, PAGE);
	c->words = NULL;
}

static int receives(struct rclink_chan *chan, uint32_t region, uint64_t at)
{
	int ret = 0;
	int i;

	for (i = 0; !ret && i < CUT_RECVS; i++)
		ret = rclink_recv(chan, rclink_piece(region, at + CUT_SIZE * i,
						     CUT_SIZE), i);
	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	return ret < 0 ? ret : 0;
}

static int find_epoch(struct cut *c)
{
	struct rcl_view view;
	int ret = rcl_view(&c->r.s, RIG_NEAR, &view);

	if (!ret)
		c->epoch = view.epoch;
	return ret;
}

int cut_open(struct cut *c, uint32_t recover)
{
	struct rig *r = &c->r;
	void *words;
	int ret;

	c->r.values.recover = recover;
	ret = rig_link(r);
	if (!ret)
		ret = rig_open(r);
	if (!ret)
		ret = rclink_memory(r->far, &words, PAGE, REGION,
				    RCLINK_REGION_WRITE | RCLINK_REGION_READ |
				    RCLINK_REGION_ATOMIC, &c->words_region);
	if (ret)
		return ret;
	c->words = words;
	c->brief_region = 0;
	c->sent = 0;
	c->got = 0;
	c->heard = 0;
	ret = rclink_import(r->near, REGION, &c->remote);
	if (!ret)
		ret = receives(r->far, r->far_region, 0);
	if (!ret)
		ret = receives(r->near, r->near_region, RECV_AT);
	return ret ? ret : find_epoch(c);
}

uint64_t *cut_word(struct cut *c, int i)
{
	return c->words + CUT_SIZE * i / sizeof(*c->words);
}

uint64_t *cut_own(struct cut *c, int i)
{
	return (uint64_t *)(c->r.near_memory + OWN_AT + CUT_SIZE * i);
}

uint8_t *cut_heard(struct cut *c, int i)
{
	return c->r.near_memory + RECV_AT + CUT_SIZE * i;
}

bool cut_is_send(const struct cut_step *step)
{
	return step->op == RCLINK_OP_SEND || step->op == RCLINK_OP_SEND_IMM ||
	       step->op == RCLINK_OP_SEND_INV;
}

bool cut_is_message(const struct cut_step *step)
{
	return cut_is_send(step) || step->op == RCLINK_OP_WRITE_IMM;
}

bool cut_is_write(const struct cut_step *step)
{
	return step->op == RCLINK_OP_WRITE || step->op == RCLINK_OP_WRITE_IMM;
}

uint64_t cut_makes(const struct cut_step *step)
{
	return cut_is_send(step) || step->op == RCLINK_OP_READ ? CUT_BEFORE :
								 CUT_AFTER;
}

void cut_clear(struct cut *c)
{
	int i;

	for (i = 0; i < c->n; i++) {
		*cut_word(c, i) = CUT_BEFORE;
		*cut_own(c, i) = cut_is_write(&c->step[i]) ? CUT_AFTER : 0;
	}
}

static int post_send(struct cut *c, const struct cut_step *step, int tag)
{
	struct rig *r = &c->r;
	int i = c->sent++;
	uint8_t *from = r->near_memory + CUT_SIZE * i;
	unsigned int flags = step->flags & RCLINK_SQE_SIGNALED;
	struct rclink_data data;
	int ret;

	far_fill(from, i, CUT_SIZE);
	data = step->flags & RCLINK_SQE_INLINE ?
	       rclink_bytes(from, CUT_SIZE) :
	       rclink_piece(r->near_region, CUT_SIZE * i, CUT_SIZE);
	if (step->op == RCLINK_OP_SEND)
		ret = rclink_send(r->near, data, flags, tag);
	else if (step->op == RCLINK_OP_SEND_INV)
		ret = rclink_send_inv(r->near, data, &c->brief, flags, tag);
	else
		ret = rclink_send_imm(r->near, data, CUT_IMM + i, flags, tag);
	/* Inline data have been copied already. */
	if (step->flags & RCLINK_SQE_INLINE)
		memset(from, 0, CUT_SIZE);
	return ret;
}

static int post_word(struct cut *c, const struct cut_step *step, int i)
{
	const struct rclink_remote *to = &c->remote;
	struct rclink_chan *chan = c->r.near;
	unsigned int flags = step->flags & RCLINK_SQE_SIGNALED;
	uint64_t at = CUT_SIZE * i, add = CUT_AFTER - CUT_BEFORE;
	struct rclink_data data;

	data = step->flags & RCLINK_SQE_INLINE ?
	       rclink_bytes(cut_own(c, i), sizeof(uint64_t)) :
	       rclink_piece(c->r.near_region, OWN_AT + at, sizeof(uint64_t));
	switch (step->op) {
	case RCLINK_OP_WRITE:
		return rclink_write(chan, data, to, at, flags, i);
	case RCLINK_OP_WRITE_IMM:
		return rclink_write_imm(chan, data, to, at,
					CUT_IMM + c->sent++, flags, i);
	case RCLINK_OP_READ:
		return rclink_read(chan, data, to, at, flags, i);
	case RCLINK_OP_CAS:
		return rclink_cas(chan, data, to, at, CUT_BEFORE, CUT_AFTER,
				  flags, i);
	case RCLINK_OP_FADD:
		return rclink_fadd(chan, data, to, at, add, flags, i);
	case RCLINK_OP_MCAS:
		return rclink_mcas(chan, data, to, at, CUT_BEFORE, CUT_AFTER,
				   ~0ULL, ~0ULL, flags, i);
	case RCLINK_OP_MFADD:
		return rclink_mfadd(chan, data, to, at, add, 0, flags, i);
	default:
		return -EINVAL;
	}
}

static void become_quiet(void)
{
	long before;

	do {
		before = sim_seen(SIM_NEAR, "drop") + sim_seen(SIM_FAR, "drop");
		usleep(QUIET_MS * 1000);
	} while (before !=
		 sim_seen(SIM_NEAR, "drop") + sim_seen(SIM_FAR, "drop"));
}

int cut_post(struct cut *c)
{
	int ret = 0;
	int i;

	for (i = 0; !ret && i < c->n; i++)
		ret = cut_is_send(&c->step[i]) ?
		      post_send(c, &c->step[i], i) :
		      post_word(c, &c->step[i], i);
	if (!ret)
		ret = rclink_submit(c->r.near, 0, 0);
	return ret < 0 ? ret : ret == c->n ? 0 : -EBUSY;
}

/* Wait until the fault has had exactly @n chances to happen. */
static int until_seen(const char *fault, long n)
{
	int ms;

	for (ms = slow(LIMIT_MS); ms > 0; ms--) {
		if (sim_seen(SIM_NEAR, fault) >= n)
			return sim_seen(SIM_NEAR, fault) == n ? 0 : -ERANGE;
		usleep(1000);
	}
	return -ETIMEDOUT;
}

/* Post all steps; wait for the @done that succeed, and one that is dropped. */
static int post_and_wait(struct cut *c, int done)
{
	long acks = sim_seen(SIM_NEAR, "late_ack");
	long drops = sim_seen(SIM_NEAR, "drop");
	int ret = 0;

	if (done)
		ret = sim_knob(SIM_NEAR, "fault", "late_ack 1 %d", done);
	if (!ret && done < c->n)
		ret = sim_knob(SIM_NEAR, "fault", "drop %d 1000", done + 1);
	if (!ret)
		ret = cut_post(c);
	if (!ret)
		ret = until_seen("drop", drops + done + (done < c->n));
	return ret ? ret : until_seen("late_ack", acks + done);
}

static int set_ports(int up)
{
	int ret = sim_knob(SIM_NEAR, "up", "%d", up);

	return ret ? ret : sim_knob(SIM_FAR, "up", "%d", up);
}

/* The old region may have been invalidated; its withdrawal still succeeds. */
static int new_brief(struct cut *c)
{
	struct rig *r = &c->r;
	int ret = 0;

	if (c->brief_region)
		ret = rclink_withdraw(r->far, c->brief_region);
	if (!ret)
		ret = rclink_region(r->far, r->far_memory, PAGE, BRIEF,
				    RCLINK_REGION_READ |
				    RCLINK_REGION_INVALIDATE, &c->brief_region);
	return ret ? ret : rclink_import(r->near, BRIEF, &c->brief);
}

int cut_ports_down(struct cut *c)
{
	int ret = set_ports(0);

	if (!ret)
		ret = rcl_until(&c->r.s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
				LIMIT_MS);
	return ret ? ret : rcl_until(&c->r.s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
				     LIMIT_MS);
}

int cut_down(struct cut *c, int done)
{
	int ret = new_brief(c);

	become_quiet();
	if (!ret)
		ret = post_and_wait(c, done);
	if (!ret)
		ret = cut_ports_down(c);
	return ret ? ret : sim_knob(SIM_NEAR, "fault", "drop 1 0");
}

int cut_connect(struct cut *c)
{
	int ret = set_ports(1);

	return ret ? ret : rcl_pair(&c->r.s, RIG_NEAR, RIG_FAR,
				    RCLINK_LINK_STATE_CONNECTED);
}

int cut_activate(struct cut *c, int ms)
{
	struct rcl_end near, far;
	struct genl_sock *s = &c->r.s;
	uint64_t before = c->epoch;
	int ret = rcl_local(s, RIG_NEAR, &near);

	if (!ret)
		ret = rcl_local(s, RIG_FAR, &far);
	if (ret)
		return ret;
	c->epoch = near.epoch > far.epoch ? near.epoch : far.epoch;
	ret = rcl_activate(s, RIG_NEAR, c->epoch, NULL);
	if (!ret)
		ret = rcl_activate(s, RIG_FAR, c->epoch, NULL);
	if (!ret)
		ret = rcl_until(s, RIG_NEAR, RCLINK_LINK_STATE_UP, ms);
	if (!ret)
		ret = rcl_until(s, RIG_FAR, RCLINK_LINK_STATE_UP, ms);
	return ret || c->epoch > before ? ret : -ESTALE;
}

int cut_up(struct cut *c)
{
	int ret = cut_connect(c);

	return ret ? ret : cut_activate(c, LIMIT_MS);
}
