// SPDX-License-Identifier: GPL-2.0
/*
 * A link fails while operations are in flight, of which the peer has carried
 * out the first few; all numbers of these are tried. The tests check what
 * becomes of each operation at both ends, in which order, and that the channel
 * goes on in the next epoch, or ends if it is not to go on. While the link is
 * down they reset the memory, so that an operation carried out twice shows.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cut.h"
#include "far.h"
#include "harness.h"
#include "sim.h"

#define LIMIT_MS	slow(20000)
#define QUIET_MS	300	/* nothing completes for so long */
#define POLL_MS		5
#define TIMEOUT_S	120
#define THERE		1000	/* added to user_data of messages that */
#define BACK		2000	/* are no steps: to the far end; back */

FIXTURE(link)
{
	struct cut c;
};

/*
 * @plain: what becomes of each step, one word for each number of steps that the
 *	peer has carried out, 0 first: D done, A carried out in the next epoch,
 *	maybe again, U unknown, F flushed
 * @replay: the same with RCLINK_CHAN_REPLAY
 */
FIXTURE_VARIANT(link)
{
	struct cut_step step[CUT_STEPS];
	const char *plain;
	const char *replay;
};

#define S	RCLINK_SQE_SIGNALED
#define I	RCLINK_SQE_INLINE

FIXTURE_VARIANT_ADD(link, send) {
	.step = { { RCLINK_OP_SEND, S } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, send_imm) {
	.step = { { RCLINK_OP_SEND_IMM, S } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, send_inv) {
	.step = { { RCLINK_OP_SEND_INV, S } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, inline_send) {
	.step = { { RCLINK_OP_SEND, S | I } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, unsignaled_send) {
	.step = { { RCLINK_OP_SEND, 0 } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, unsignaled_inline_send) {
	.step = { { RCLINK_OP_SEND, I } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, write) {
	.step = { { RCLINK_OP_WRITE, S } },
	.plain = "U U", .replay = "A A",
};

FIXTURE_VARIANT_ADD(link, inline_write) {
	.step = { { RCLINK_OP_WRITE, S | I } },
	.plain = "U U", .replay = "A A",
};

FIXTURE_VARIANT_ADD(link, unsignaled_write) {
	.step = { { RCLINK_OP_WRITE, 0 } },
	.plain = "U U", .replay = "A A",
};

FIXTURE_VARIANT_ADD(link, write_imm) {
	.step = { { RCLINK_OP_WRITE_IMM, S } },
	.plain = "A D", .replay = "A D",
};

FIXTURE_VARIANT_ADD(link, read) {
	.step = { { RCLINK_OP_READ, S } },
	.plain = "F F", .replay = "A A",
};

FIXTURE_VARIANT_ADD(link, cas) {
	.step = { { RCLINK_OP_CAS, S } },
	.plain = "U U", .replay = "U U",
};

FIXTURE_VARIANT_ADD(link, fadd) {
	.step = { { RCLINK_OP_FADD, S } },
	.plain = "U U", .replay = "U U",
};

FIXTURE_VARIANT_ADD(link, masked_cas) {
	.step = { { RCLINK_OP_MCAS, S } },
	.plain = "U U", .replay = "U U",
};

FIXTURE_VARIANT_ADD(link, masked_fadd) {
	.step = { { RCLINK_OP_MFADD, S } },
	.plain = "U U", .replay = "U U",
};

FIXTURE_VARIANT_ADD(link, unsignaled_fadd) {
	.step = { { RCLINK_OP_FADD, 0 } },
	.plain = "U U", .replay = "U U",
};

FIXTURE_VARIANT_ADD(link, two_sends) {
	.step = { { RCLINK_OP_SEND, 0 }, { RCLINK_OP_SEND, S } },
	.plain = "AA DA DD", .replay = "AA DA DD",
};

FIXTURE_VARIANT_ADD(link, write_and_send) {
	.step = { { RCLINK_OP_WRITE, S }, { RCLINK_OP_SEND, S } },
	.plain = "UA UA DD", .replay = "AA AA DD",
};

FIXTURE_VARIANT_ADD(link, unsignaled_write_and_send) {
	.step = { { RCLINK_OP_WRITE, 0 }, { RCLINK_OP_SEND, 0 } },
	.plain = "UA UA DD", .replay = "AA AA DD",
};

FIXTURE_VARIANT_ADD(link, send_and_write) {
	.step = { { RCLINK_OP_SEND, S }, { RCLINK_OP_WRITE, S } },
	.plain = "AU DU DU", .replay = "AA DA DA",
};

FIXTURE_VARIANT_ADD(link, read_and_send) {
	.step = { { RCLINK_OP_READ, S }, { RCLINK_OP_SEND, S } },
	.plain = "FA FA FD", .replay = "AA AA FD",
};

FIXTURE_VARIANT_ADD(link, fadd_and_send) {
	.step = { { RCLINK_OP_FADD, S }, { RCLINK_OP_SEND, S } },
	.plain = "UA UA UD", .replay = "UA UA UD",
};

FIXTURE_VARIANT_ADD(link, fadd_between_sends) {
	.step = { { RCLINK_OP_SEND, S },
		  { RCLINK_OP_FADD, S },
		  { RCLINK_OP_SEND, S } },
	.plain = "AUA DUA DUA DUD", .replay = "AUA DUA DUA DUD",
};

FIXTURE_SETUP(link)
{
	struct cut *c = &self->c;

	ASSERT_EQ(0, cut_begin(c));
	c->step = variant->step;
	c->n = strcspn(variant->plain, " ");
}

FIXTURE_TEARDOWN(link)
{
	cut_end(&self->c);
}

static const char *status_of(char fate)
{
	switch (fate) {
	case 'U': return "outcome unknown";
	case 'F': return "work request flushed error";
	default: return "success";
	}
}

static struct rclink_dev_cqe completes(struct __test_metadata *_metadata,
				       struct rclink_chan *chan, int number,
				       char fate)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(chan, 1, LIMIT_MS));
	EXPECT_EQ(1, rclink_reap(chan, &cqe, 1)) TH_LOG("not %d", number);
	EXPECT_EQ((uint64_t)number, cqe.user_data);
	EXPECT_STREQ(status_of(fate), rclink_status_name(cqe.status));
	return cqe;
}

/* The next completion of the far end is that of the message of @step. */
static void arrives(struct __test_metadata *_metadata, struct cut *c,
		    const struct cut_step *step)
{
	int i = c->got++;
	struct rclink_dev_cqe cqe = completes(_metadata, c->r.far, i, 'D');
	uint32_t flags = RCLINK_CQE_IMM, imm = CUT_IMM + i;

	if (step->op == RCLINK_OP_SEND) {
		flags = 0;
		imm = 0;
	} else if (step->op == RCLINK_OP_SEND_INV) {
		flags = RCLINK_CQE_INVALIDATED;
		imm = c->brief_region;
	} else if (step->op == RCLINK_OP_WRITE_IMM) {
		flags |= RCLINK_CQE_WRITTEN;
	}
	EXPECT_EQ(flags, cqe.flags);
	EXPECT_EQ(imm, cqe.imm);
	if (!cut_is_send(step))
		return;
	EXPECT_EQ((uint32_t)CUT_SIZE, cqe.len);
	EXPECT_TRUE(far_is(c->r.far_memory + CUT_SIZE * i, i, CUT_SIZE))
		TH_LOG("message %d", i);
}

/* The messages of the first @n steps arrive. */
static void arrive(struct __test_metadata *_metadata, struct cut *c, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (cut_is_message(&c->step[i]))
			arrives(_metadata, c, &c->step[i]);
}

/* Queue a SEND behind all others. */
static void queue(struct __test_metadata *_metadata, struct cut *c)
{
	uint8_t data[CUT_SIZE];
	int i = c->sent++;

	far_fill(data, i, CUT_SIZE);
	ASSERT_EQ(0, rclink_send(c->r.near, rclink_bytes(data, CUT_SIZE), S,
				 THERE + i));
}

/* Next the SEND of queue() arrives, and then one from the far end. */
static void moves(struct __test_metadata *_metadata, struct cut *c)
{
	const struct cut_step send = { RCLINK_OP_SEND, S };
	uint8_t data[CUT_SIZE];
	int i = c->heard++;

	completes(_metadata, c->r.near, THERE + c->sent - 1, 'D');
	arrives(_metadata, c, &send);
	far_fill(data, ~i, CUT_SIZE);
	ASSERT_EQ(0, rclink_send(c->r.far, rclink_bytes(data, CUT_SIZE), S,
				 BACK + i));
	completes(_metadata, c->r.far, BACK + i, 'D');
	completes(_metadata, c->r.near, i, 'D');
	EXPECT_TRUE(far_is(cut_heard(c, i), ~i, CUT_SIZE));
}

static void begin(struct __test_metadata *_metadata, struct cut *c,
		  uint32_t recover)
{
	ASSERT_EQ(0, cut_open(c, recover));
	queue(_metadata, c);
	moves(_metadata, c);
	cut_clear(c);
}

/* The first @n steps have changed the memory, and no other one has. */
static void were_done(struct __test_metadata *_metadata, struct cut *c, int n)
{
	int i;

	for (i = 0; i < c->n; i++)
		EXPECT_EQ(i < n ? cut_makes(&c->step[i]) : CUT_BEFORE,
			  *cut_word(c, i)) TH_LOG("step %d", i);
}

/* Since cut_clear() just the steps of fate A were carried out. */
static void are_done_again(struct __test_metadata *_metadata, struct cut *c,
			   const char *fates)
{
	int i;

	for (i = 0; i < c->n; i++) {
		const struct cut_step *step = &c->step[i];
		bool again = fates[i] == 'A';
		uint64_t own = again && step->op == RCLINK_OP_READ ?
			       CUT_BEFORE : 0;

		EXPECT_EQ(again ? cut_makes(step) : CUT_BEFORE,
			  *cut_word(c, i)) TH_LOG("step %d", i);
		if (!cut_is_write(step))
			EXPECT_EQ(own, *cut_own(c, i)) TH_LOG("step %d", i);
	}
}

/* Steps complete in order, unsignaled ones only if unknown or flushed. */
static void end_as(struct __test_metadata *_metadata, struct cut *c,
		   const char *fates)
{
	struct rclink_dev_cqe cqe;
	int i;

	for (i = 0; i < c->n; i++) {
		if (!(c->step[i].flags & S) && !strchr("UF", fates[i]))
			continue;
		cqe = completes(_metadata, c->r.near, i, fates[i]);
		EXPECT_EQ(c->step[i].op, cqe.op);
	}
}

/* Nothing completes at the near end, and a queued SEND stays queued. */
static void is_suspended(struct __test_metadata *_metadata, struct cut *c)
{
	struct pollfd far = { rclink_fd(c->r.far), POLLOUT };
	struct rclink_dev_cqe cqe;

	queue(_metadata, c);
	EXPECT_EQ(-EAGAIN, rclink_submit(c->r.near, 0, 0));
	EXPECT_EQ(0, rclink_reap(c->r.near, &cqe, 1));
	EXPECT_EQ(0, poll(&far, 1, 0));
}

static int count(const char *fates, int n, char fate)
{
	int found = 0;

	while (n--)
		found += fates[n] == fate;
	return found;
}

/* Wait: the user of a channel may know of a resumption before it is counted. */
static int view_resumed(struct cut *c, const char *name, uint64_t resumes,
			struct rcl_view *view)
{
	int ms = LIMIT_MS;
	int ret;

	do {
		ret = rcl_view(&c->r.s, name, view);
		usleep(POLL_MS * 1000);
		ms -= POLL_MS;
	} while (!ret && view->resumes != resumes && ms > 0);
	return ret;
}

static void goes_on(struct __test_metadata *_metadata, struct cut *c, int done,
		    const char *fates)
{
	struct rcl_view near[2], far[2];
	struct genl_sock *s = &c->r.s;

	ASSERT_EQ(0, rcl_view(s, RIG_NEAR, &near[0]));
	ASSERT_EQ(0, rcl_view(s, RIG_FAR, &far[0]));
	ASSERT_EQ(0, cut_down(c, done));
	were_done(_metadata, c, done);
	is_suspended(_metadata, c);
	cut_clear(c);
	ASSERT_EQ(0, cut_up(c));
	end_as(_metadata, c, fates);
	arrive(_metadata, c, c->n);
	moves(_metadata, c);
	are_done_again(_metadata, c, fates);
	ASSERT_EQ(0, view_resumed(c, RIG_NEAR, near[0].resumes + 1, &near[1]));
	ASSERT_EQ(0, view_resumed(c, RIG_FAR, far[0].resumes + 1, &far[1]));
	EXPECT_EQ(near[0].resumes + 1, near[1].resumes);
	EXPECT_EQ(far[0].resumes + 1, far[1].resumes);
	EXPECT_EQ(near[0].resends + count(fates, c->n, 'A'), near[1].resends);
	EXPECT_EQ(far[0].resends, far[1].resends);
}

/* Use one channel, and an epoch for each word of @fates. */
static void go_on(struct __test_metadata *_metadata, struct cut *c,
		  const char *fates)
{
	int done;

	begin(_metadata, c, RCLINK_RECOVER_RESUME);
	for (done = 0; done <= c->n; done++) {
		const char *these = fates + done * (c->n + 1);
		bool before = _metadata->exit_code == KSFT_FAIL;

		cut_clear(c);
		goes_on(_metadata, c, done, these);
		if (_metadata->exit_code == KSFT_FAIL && !before)
			TH_LOG("carried out: %d; %.*s", done, c->n, these);
	}
}

TEST_F_TIMEOUT(link, goes_on, TIMEOUT_S)
{
	go_on(_metadata, &self->c, variant->plain);
}

TEST_F_TIMEOUT(link, goes_on_with_replay, TIMEOUT_S)
{
	self->c.r.flags = RCLINK_CHAN_REPLAY;
	go_on(_metadata, &self->c, variant->replay);
}

/* The receives from number @left on are flushed; the channel has ended. */
static void is_over(struct __test_metadata *_metadata, struct rclink_chan *chan,
		    int left)
{
	struct rclink_dev_cqe cqe;

	for (; left < CUT_RECVS; left++)
		completes(_metadata, chan, left, 'F');
	EXPECT_EQ(-ECONNRESET, rclink_submit(chan, 1, LIMIT_MS));
	EXPECT_EQ(0, rclink_reap(chan, &cqe, 1));
}

/* A flushed step may have been carried out, but never twice. */
static void ends(struct __test_metadata *_metadata, struct cut *c, int done)
{
	struct rcl_view view;

	begin(_metadata, c, RCLINK_RECOVER_RESET);
	ASSERT_EQ(0, cut_down(c, done));
	end_as(_metadata, c, "FFF");
	arrive(_metadata, c, done);
	is_over(_metadata, c->r.near, c->heard);
	is_over(_metadata, c->r.far, c->got);
	ASSERT_EQ(0, cut_up(c));
	were_done(_metadata, c, done);
	ASSERT_EQ(0, rcl_view(&c->r.s, RIG_NEAR, &view));
	EXPECT_EQ(0, view.resumes);
	EXPECT_EQ(0, view.resends);
	cut_close(c);
}

TEST_F_TIMEOUT(link, ends_where_channels_do_not_go_on, TIMEOUT_S)
{
	struct cut *c = &self->c;
	int done;

	c->r.flags = RCLINK_CHAN_REPLAY;
	for (done = 0; done <= c->n; done++)
		ends(_metadata, c, done);
	/* The next channel works. */
	begin(_metadata, c, RCLINK_RECOVER_RESET);
}

/* Three operations whose acknowledgments are late or false. */
FIXTURE(three)
{
	struct cut c;
};

FIXTURE_SETUP(three)
{
	static const struct cut_step steps[] = {
		{ RCLINK_OP_READ, S }, { RCLINK_OP_WRITE, S },
		{ RCLINK_OP_SEND, S },
	};

	ASSERT_EQ(0, cut_begin(&self->c));
	self->c.step = steps;
	self->c.n = sizeof(steps) / sizeof(steps[0]);
}

FIXTURE_TEARDOWN(three)
{
	cut_end(&self->c);
}

/* Test late_ack itself, on which cut_down() relies. */
TEST_F_TIMEOUT(three, answers_come_with_the_next_one, TIMEOUT_S)
{
	struct cut *c = &self->c;

	begin(_metadata, c, RCLINK_RECOVER_RESUME);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "late_ack 1 %d", c->n));
	ASSERT_EQ(0, cut_post(c));
	arrive(_metadata, c, c->n);
	EXPECT_EQ(-ETIME, rclink_submit(c->r.near, 1, QUIET_MS));
	queue(_metadata, c);
	ASSERT_EQ(1, rclink_submit(c->r.near, 0, 0));
	end_as(_metadata, c, "DDD");
	moves(_metadata, c);
	were_done(_metadata, c, c->n);
}

/* Has step @i been carried out? */
static bool is_made(struct cut *c, int i)
{
	return __atomic_load_n(cut_word(c, i), __ATOMIC_RELAXED) ==
	       cut_makes(&c->step[i]);
}

/* What was carried out long ago is not carried out again, nor reported. */
static void is_remembered(struct __test_metadata *_metadata, struct cut *c)
{
	int ms = LIMIT_MS;

	begin(_metadata, c, RCLINK_RECOVER_RESUME);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "forget 1 1000"));
	ASSERT_EQ(0, cut_post(c));
	while (!is_made(c, c->n - 1) && ms-- > 0)
		usleep(1000);
	arrive(_metadata, c, c->n);
	were_done(_metadata, c, c->n);
	/* The far end uses its memory for something else. */
	cut_clear(c);
	ASSERT_EQ(0, cut_ports_down(c));
	ASSERT_EQ(0, cut_up(c));
	queue(_metadata, c);
	moves(_metadata, c);
	are_done_again(_metadata, c, "DDD");
}

/*
 * A device that is told of unsignaled sends only by a signaled one, and flushes
 * all others. The SEND is first, since the far end counts it.
 */
static const struct cut_step unsignaled[] = {
	{ RCLINK_OP_SEND, 0 }, { RCLINK_OP_WRITE, I }, { RCLINK_OP_WRITE, 0 },
};

TEST_F_TIMEOUT(three, unsignaled_sends_are_remembered, TIMEOUT_S)
{
	self->c.step = unsignaled;
	is_remembered(_metadata, &self->c);
}

TEST_F_TIMEOUT(three, unsignaled_sends_are_remembered_with_replay, TIMEOUT_S)
{
	self->c.step = unsignaled;
	self->c.r.flags = RCLINK_CHAN_REPLAY;
	is_remembered(_metadata, &self->c);
}

/*
 * The last message is lost although it completes, and nothing behind it fails:
 * only in the next epoch does the far end's count of messages reveal the loss.
 */
TEST_F_TIMEOUT(three, a_message_that_was_lost_ends_it, TIMEOUT_S)
{
	struct cut *c = &self->c;

	begin(_metadata, c, RCLINK_RECOVER_RESUME);
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "swallow %d", c->n));
	ASSERT_EQ(0, cut_post(c));
	end_as(_metadata, c, "DDD");
	EXPECT_EQ(-ETIME, rclink_submit(c->r.far, 1, QUIET_MS));
	ASSERT_EQ(0, cut_ports_down(c));
	ASSERT_EQ(0, cut_up(c));
	is_over(_metadata, c->r.near, c->heard);
	is_over(_metadata, c->r.far, c->got);
	EXPECT_EQ(1, rcl_faults(&c->r.s, RIG_NEAR,
				RCLINK_DOWN_REASON_PROTOCOL));
	/* The link goes on, with another channel. */
	cut_close(c);
	begin(_metadata, c, RCLINK_RECOVER_RESUME);
}

TEST_HARNESS_MAIN
