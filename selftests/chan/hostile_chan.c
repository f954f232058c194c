// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer at the other end of channels: it sends answers without a
 * question, impossible answers, and requests that the state of a lease does not
 * allow. The epoch or the channel ends, and the channel's process is told. An
 * honest peer is woken by solicited messages.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "harness.h"
#include "hostile.h"

#define TIMEOUT_S	400
#define SERVICE		"s"
#define QPN		17	/* any */
#define NOT_24BIT	0x1000000
#define QUIET_MS	200

#define SAY(t, ...)	{ .type = RCL_MSG_##t, ##__VA_ARGS__ }
#define NAME(n)		.data = (const uint8_t *)(n), .len = sizeof(n) - 1
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

FIXTURE(chan)
{
	struct hostile h;
	struct rclink_chan *chan;
	struct rcl_msg open;		/* OPEN of the module */
	pthread_t thread;
	struct rclink_remote remote;
	int ret;			/* of the thread */
};

FIXTURE_VARIANT(chan)
{
	uint32_t role;			/* of the module */
};

FIXTURE_VARIANT_ADD(chan, dialled)
{
	.role = RCLINK_ROLE_INITIATOR,
};

FIXTURE_VARIANT_ADD(chan, answered)
{
	.role = RCLINK_ROLE_INITIATOR + 1,
};

FIXTURE_SETUP(chan)
{
	ASSERT_EQ(0, hostile_begin(&self->h, variant->role));
}

FIXTURE_TEARDOWN(chan)
{
	if (self->chan)
		rclink_close(self->chan);
	EXPECT_EQ(0, hostile_end(&self->h));
}

static void *connects(void *arg)
{
	struct _test_data_chan *self = arg;

	self->ret = rclink_connect(&self->chan, HOSTILE_LINK, SERVICE, 0);
	return NULL;
}

static void *imports(void *arg)
{
	struct _test_data_chan *self = arg;

	self->ret = rclink_import(self->chan, "r", &self->remote);
	return NULL;
}

/* A thread makes a call, for which the module sends us a request. */
static void asks(struct __test_metadata *_metadata,
		 struct _test_data_chan *self, void *(*what)(void *arg),
		 uint8_t type, struct rcl_msg *msg)
{
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, what, self));
	ASSERT_EQ(0, peer_await(&self->h.p, type, msg));
}

static int answered(struct _test_data_chan *self)
{
	pthread_join(self->thread, NULL);
	return self->ret;
}

/* Cookie and offset of @with say which bits of the right ones to flip. */
static int answer(struct hostile *h, const struct rcl_msg *to,
		  const struct rcl_msg *with)
{
	struct rcl_msg msg = *with;

	msg.cookie ^= to->cookie;
	if (msg.type != RCL_MSG_IMPORTED && msg.type != RCL_MSG_GROUPED)
		msg.offset ^= to->offset;
	return peer_say(&h->p, &msg);
}

static void opens(struct __test_metadata *_metadata,
		  struct _test_data_chan *self)
{
	static const struct rcl_msg opened = SAY(OPENED);

	asks(_metadata, self, connects, RCL_MSG_OPEN, &self->open);
	ASSERT_EQ(0, answer(&self->h, &self->open, &opened));
	ASSERT_EQ(0, answered(self));
}

static void closes(struct _test_data_chan *self)
{
	rclink_close(self->chan);
	self->chan = NULL;
}

static void ended(struct __test_metadata *_metadata,
		  struct _test_data_chan *self, const char *what)
{
	EXPECT_EQ(0, hostile_ends(&self->h, what, RCLINK_DOWN_REASON_PROTOCOL));
}

TEST_F_TIMEOUT(chan, other_answers_to_open, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "OPENED, cookie", SAY(OPENED, .cookie = 1) },
		{ "OPENED, cookie, busy", SAY(OPENED, .cookie = 1, .status =
					      RCL_MSG_BUSY) },
		{ "OPENED, other QP", SAY(OPENED, .offset = 1) },
		{ "OPENED, other QP, busy", SAY(OPENED, .offset = 1, .status =
						RCL_MSG_BUSY) },
		{ "OPENED, no QP", SAY(OPENED, .offset = 1 << 31) },
		{ "PONG", SAY(PONG) },
		{ "FILLED", SAY(FILLED) },
		{ "RECYCLED", SAY(RECYCLED, .len = QPN) },
		{ "GONE", SAY(GONE) },
		{ "IMPORTED", SAY(IMPORTED, .status = RCL_MSG_REFUSED) },
		{ "HEARD", SAY(HEARD) },
		{ "BEAT_ACK", SAY(BEAT_ACK) },
		{ "RESUMED", SAY(RESUMED) },
		{ "GROUPED", SAY(GROUPED) },
	};
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(&self->h));
		asks(_metadata, self, connects, RCL_MSG_OPEN, &self->open);
		ASSERT_EQ(0, answer(&self->h, &self->open, &wrong[i].msg));
		ended(_metadata, self, wrong[i].what);
		EXPECT_EQ(-ENOTCONN, answered(self))
			TH_LOG("%s", wrong[i].what);
	}
}

TEST_F_TIMEOUT(chan, every_status_of_opened, TIMEOUT_S)
{
	static const int ret[] = {
		[RCL_MSG_DIFFERS] = -EAGAIN,
		[RCL_MSG_REFUSED] = -ECONNREFUSED,
		[RCL_MSG_BUSY] = -EAGAIN,
	};
	struct rcl_msg opened = SAY(OPENED);
	struct hostile *h = &self->h;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	for (i = RCL_MSG_DIFFERS; i <= RCL_MSG_BUSY; i++) {
		asks(_metadata, self, connects, RCL_MSG_OPEN, &self->open);
		opened.status = i;
		ASSERT_EQ(0, answer(h, &self->open, &opened));
		EXPECT_EQ(ret[i], answered(self));
	}
	EXPECT_EQ(0, hostile_lives(h, "refused"));
	/* The peer fails each QP of the pool. */
	asks(_metadata, self, connects, RCL_MSG_OPEN, &self->open);
	opened.status = RCL_MSG_FAILED;
	for (i = 0; i < PEER_QPS; i++) {
		ASSERT_EQ(0, answer(h, &self->open, &opened));
		if (i < PEER_QPS - 1)
			ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_OPEN,
						&self->open));
	}
	EXPECT_EQ(0, hostile_ends(h, "all failed",
				  RCLINK_DOWN_REASON_LOCAL_ERROR));
	i = answered(self);
	EXPECT_TRUE(i == -ENOTCONN || i == -EAGAIN) TH_LOG("%d", i);
}

TEST_F_TIMEOUT(chan, questions_while_it_is_open, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "OPEN", SAY(OPEN, NAME(SERVICE)) },
		{ "GO", SAY(GO) },
		{ "RECYCLE, QPN 0", SAY(RECYCLE) },
		{ "RECYCLE, QPN 1", SAY(RECYCLE, .len = 1) },
		{ "RECYCLE, QPN", SAY(RECYCLE, .len = NOT_24BIT) },
		{ "RECYCLE, QPN", SAY(RECYCLE, .len = NOT_24BIT | QPN) },
		{ "RECYCLE, PSN", SAY(RECYCLE, .len = QPN,
				      .seed = NOT_24BIT) },
		{ "RECYCLE, PSN", SAY(RECYCLE, .len = QPN,
				      .seed = UINT32_MAX) },
	};
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		struct rcl_msg msg = wrong[i].msg;

		ASSERT_EQ(0, hostile_up(&self->h));
		opens(_metadata, self);
		msg.offset = self->open.offset;
		ASSERT_EQ(0, peer_say(&self->h.p, &msg));
		ended(_metadata, self, wrong[i].what);
		/* The channel could go on in another epoch. */
		EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, QUIET_MS));
		closes(self);
	}
}

/* Says @msg of the channel's QP; the answer must have @status. */
static void told(struct __test_metadata *_metadata,
		 struct _test_data_chan *self, struct rcl_msg msg, int status)
{
	struct rcl_msg got;

	msg.offset = self->open.offset;
	ASSERT_EQ(0, peer_say(&self->h.p, &msg));
	ASSERT_EQ(0, peer_await(&self->h.p, msg.type + 1, &got));
	EXPECT_EQ(status, got.status);
	EXPECT_EQ(msg.offset, got.offset);
}

TEST_F_TIMEOUT(chan, the_lease_ends_out_of_turn, TIMEOUT_S)
{
	static const struct rcl_msg recycle = SAY(RECYCLE, .len = 0xffffff,
						  .seed = 0xffffff);
	static const struct rcl_msg failed = SAY(RECYCLE, .status =
						 RCL_MSG_FAILED);
	static const struct rcl_msg open = SAY(OPEN, NAME("nobody"));
	static const struct rcl_msg go = SAY(GO);
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	int i;

	/* RECYCLE twice, GO twice, GO of a QP that failed */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, hostile_up(h));
		opens(_metadata, self);
		told(_metadata, self, i == 2 ? failed : recycle,
		     i == 2 ? RCL_MSG_FAILED : RCL_MSG_OK);
		EXPECT_EQ(-ECONNRESET, rclink_submit(self->chan, 1,
						     slow(HOSTILE_MS)));
		closes(self);
		if (i == 1) {
			told(_metadata, self, go, RCL_MSG_OK);
			told(_metadata, self, open, RCL_MSG_REFUSED);
		} else if (i == 2) {
			told(_metadata, self, recycle, RCL_MSG_FAILED);
			told(_metadata, self, open, RCL_MSG_FAILED);
		}
		EXPECT_EQ(0, hostile_lives(h, "recycled"));
		msg = i ? go : recycle;
		msg.offset = self->open.offset;
		ASSERT_EQ(0, peer_say(&h->p, &msg));
		ended(_metadata, self, "out of turn");
	}
}

/* The peer owes no answer, but the module does not wait for GO for ever. */
TEST_F_TIMEOUT(chan, the_end_of_a_lease_does_not_come, TIMEOUT_S)
{
	static const struct rcl_msg recycle = SAY(RECYCLE, .len = QPN);
	struct hostile *h = &self->h;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	told(_metadata, self, recycle, RCL_MSG_OK);
	closes(self);
	EXPECT_EQ(0, hostile_lives(h, "no GO yet"));
	EXPECT_EQ(0, hostile_ends(h, "no GO", RCLINK_DOWN_REASON_TIMED_OUT));
}

TEST_F_TIMEOUT(chan, other_answers_to_recycle, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(RECYCLED, .len = QPN, .cookie = 1 << 31) },
		{ "other QP", SAY(RECYCLED, .len = QPN, .offset = 1) },
		{ "no QP", SAY(RECYCLED, .len = QPN, .offset = 1 << 8) },
		{ "QPN 0", SAY(RECYCLED) },
		{ "QPN 1", SAY(RECYCLED, .len = 1) },
		{ "QPN", SAY(RECYCLED, .len = UINT32_MAX) },
		{ "PSN", SAY(RECYCLED, .len = QPN, .seed = NOT_24BIT) },
		{ "busy", SAY(RECYCLED, .len = QPN,
			      .status = RCL_MSG_BUSY) },
		{ "differs", SAY(RECYCLED, .len = QPN,
				 .status = RCL_MSG_DIFFERS) },
		{ "OPENED", SAY(OPENED) },
		{ "GONE", SAY(GONE) },
		{ "RESUMED", SAY(RESUMED) },
	};
	struct hostile *h = &self->h;
	struct rcl_msg recycle;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(h));
		opens(_metadata, self);
		closes(self);
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RECYCLE, &recycle));
		ASSERT_EQ(0, answer(h, &recycle, &wrong[i].msg));
		ended(_metadata, self, wrong[i].what);
	}
}

TEST_F_TIMEOUT(chan, other_answers_to_go, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(GONE, .cookie = 1) },
		{ "other QP", SAY(GONE, .offset = 1) },
		{ "no QP", SAY(GONE, .offset = 1 << 16) },
		{ "RECYCLED", SAY(RECYCLED, .len = QPN) },
		{ "HEARD", SAY(HEARD) },
	};
	static const struct rcl_msg recycled = SAY(RECYCLED, .len = QPN);
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(h));
		opens(_metadata, self);
		closes(self);
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RECYCLE, &msg));
		ASSERT_EQ(0, answer(h, &msg, &recycled));
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_GO, &msg));
		ASSERT_EQ(0, answer(h, &msg, &wrong[i].msg));
		ended(_metadata, self, wrong[i].what);
	}
}

struct window {
	const char *what;
	uint64_t addr, len;
	uint32_t shift, rights, keys;
	int more;			/* bytes, or, negative, fewer */
};

static int say_window(struct hostile *h, const struct rcl_msg *import,
		      const struct window *w)
{
	uint8_t data[RCL_MSG_DATA_MAX] = { 0 };
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORTED, .cookie = import->cookie,
		.len = 24 + 4 * w->keys + w->more, .data = data,
	};

	rcl_msg_put(data, w->addr, 8);
	rcl_msg_put(data + 8, w->len, 8);
	rcl_msg_put(data + 16, w->shift, 4);
	rcl_msg_put(data + 20, w->rights, 4);
	return peer_say(&h->p, &msg);
}

#define KEYS		109		/* in one answer */
#define TOP		0x8000000000000000ULL

TEST_F_TIMEOUT(chan, regions_that_cannot_be, TIMEOUT_S)
{
	static const struct window wrong[] = {
		{ "nothing", 0, 4096, 12, 1, 0, -24 },
		{ "cut", 0, 4096, 12, 1, 0, -1 },
		{ "no bytes", 4096, 0, 12, 1, 1 },
		{ "wraps", UINT64_MAX, 4096, 12, 1, 2 },
		{ "wraps to 0", UINT64_MAX - 4095, 4096, 12, 1, 1, 4 },
		{ "everything", 0, UINT64_MAX, 12, 1, KEYS },
		{ "everything, large", 1, UINT64_MAX - 1, 30, 1, KEYS },
		{ "half of it", TOP, TOP - 1, 30, 1, KEYS },
		{ "shift 11", 0, 4096, 11, 1, 2 },
		{ "shift 31", 0, 4096, 31, 1, 1 },
		{ "shift 64", 0, 4096, 64, 1, 1 },
		{ "shift", 0, 4096, UINT32_MAX, 1, 1 },
		{ "extents", 0, 4096 * 4096 + 1, 12, 1, KEYS },
		{ "extents, odd", 4095, 4096 * 4095 + 2, 12, 1, KEYS },
		{ "no key", 0, 4096, 12, 1, 0 },
		{ "a key too many", 0, 4096, 12, 1, 2 },
		{ "many keys", 0, 4096, 12, 1, KEYS },
		{ "half a key", 0, 4096, 12, 1, 0, 2 },
		{ "a key is missing", 0, 4096 * 1000, 12, 1, KEYS - 1 },
		{ "rights", 0, 4096, 12, 16, 1 },
		{ "all rights", 0, 4096, 12, UINT32_MAX, 1 },
	};
	struct rcl_msg import;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(&self->h));
		opens(_metadata, self);
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &import);
		ASSERT_EQ(0, say_window(&self->h, &import, &wrong[i]));
		ended(_metadata, self, wrong[i].what);
		EXPECT_EQ(-EAGAIN, answered(self)) TH_LOG("%s", wrong[i].what);
		closes(self);
	}
}

TEST_F_TIMEOUT(chan, regions_that_change, TIMEOUT_S)
{
	static const struct window first = { "", 0, 4096 * 200, 12, 3, KEYS };
	static const struct window others[] = {
		{ "address", 4096, 4096 * 200, 12, 3, 200 - KEYS },
		{ "length", 0, 4096 * 201, 12, 3, 201 - KEYS },
		{ "less than it had", 0, 4096, 12, 3, 0 },
		{ "rights", 0, 4096 * 200, 12, 1, 200 - KEYS },
		{ "size", 0, 4096 * 200, 13, 3, 0 },
	};
	struct hostile *h = &self->h;
	struct rcl_msg import;
	size_t i;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	for (i = 0; i <= COUNT(others); i++) {
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &import);
		EXPECT_EQ(0, import.seed);
		ASSERT_EQ(0, say_window(h, &import, &first));
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_IMPORT, &import));
		EXPECT_EQ(KEYS, import.seed);
		if (i == COUNT(others))
			break;
		ASSERT_EQ(0, say_window(h, &import, &others[i]));
		EXPECT_EQ(-ENOENT, answered(self)) TH_LOG("%s", others[i].what);
	}
	/* The first answer again, with keys that the module has already. */
	ASSERT_EQ(0, say_window(h, &import, &first));
	ended(_metadata, self, "too many keys");
	EXPECT_EQ(-EAGAIN, answered(self));
}

TEST_F_TIMEOUT(chan, other_answers_to_import, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(IMPORTED, .cookie = 2, .status = 2) },
		{ "GROUPED", SAY(GROUPED, .status = 2) },
		{ "HEARD", SAY(HEARD) },
		{ "GONE", SAY(GONE) },
		{ "RESUMED", SAY(RESUMED) },
		{ "OPENED", SAY(OPENED) },
	};
	struct rcl_msg msg;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(&self->h));
		opens(_metadata, self);
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &msg);
		ASSERT_EQ(0, answer(&self->h, &msg, &wrong[i].msg));
		ended(_metadata, self, wrong[i].what);
		EXPECT_EQ(-EAGAIN, answered(self)) TH_LOG("%s", wrong[i].what);
		closes(self);
	}
}

static void wakes(int signal)
{
	(void)signal;
}

/* Without an answer, only a signal ends the call before the epoch ends. */
static void interrupts(struct __test_metadata *_metadata,
		       struct _test_data_chan *self)
{
	static const struct sigaction action = { .sa_handler = wakes };

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, pthread_kill(self->thread, SIGUSR1));
	EXPECT_EQ(-EINTR, answered(self));
}

static bool still_waits(struct _test_data_chan *self)
{
	struct timespec end;
	void *ret;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	return pthread_timedjoin_np(self->thread, &ret, &end) == ETIMEDOUT;
}

TEST_F_TIMEOUT(chan, who_connects_is_interrupted, TIMEOUT_S)
{
	static const struct rcl_msg opened = SAY(OPENED);
	struct hostile *h = &self->h;
	struct rcl_msg recycle;

	ASSERT_EQ(0, hostile_up(h));
	asks(_metadata, self, connects, RCL_MSG_OPEN, &self->open);
	interrupts(_metadata, self);
	self->chan = NULL;
	/* Nobody wants the channel any more, so the module ends the lease. */
	ASSERT_EQ(0, answer(h, &self->open, &opened));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RECYCLE, &recycle));
	EXPECT_EQ(self->open.offset, recycle.offset);
}

TEST_F_TIMEOUT(chan, who_imports_is_interrupted_and_leaves_one_question,
	       TIMEOUT_S)
{
	static const struct sigaction again = {
		.sa_handler = wakes, .sa_flags = SA_RESTART,
	};
	static const struct window right = { "", 0, 4096, 12, 3, 1 };
	struct hostile *h = &self->h;
	struct rcl_msg first, second;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	for (i = 0; i < 2; i++) {
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &first);
		interrupts(_metadata, self);
		/* Until it is answered, a signal ends no other import. */
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &second);
		ASSERT_EQ(0, pthread_kill(self->thread, SIGUSR1));
		EXPECT_TRUE(still_waits(self));
		ASSERT_EQ(0, say_window(h, &first, &right));
		ASSERT_EQ(0, say_window(h, &second, &right));
		EXPECT_EQ(0, answered(self));
	}
	/* With SA_RESTART, an interrupted import asks again by itself. */
	asks(_metadata, self, imports, RCL_MSG_IMPORT, &first);
	sigaction(SIGUSR1, &again, NULL);
	ASSERT_EQ(0, pthread_kill(self->thread, SIGUSR1));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_IMPORT, &second));
	ASSERT_EQ(0, say_window(h, &first, &right));
	ASSERT_EQ(0, say_window(h, &second, &right));
	EXPECT_EQ(0, answered(self));
	EXPECT_EQ(0, hostile_lives(h, "interrupted"));
}

/* The process ends at once, not when the missing answer ends the epoch. */
TEST_F_TIMEOUT(chan, who_imports_is_killed, TIMEOUT_S)
{
	static const struct window right = { "", 0, 4096, 12, 3, 1 };
	struct hostile *h = &self->h;
	struct rcl_msg import;
	int status;
	pid_t pid;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		imports(self);
		_exit(EXIT_SUCCESS);
	}
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_IMPORT, &import));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, say_window(h, &import, &right));
	EXPECT_EQ(0, hostile_lives(h, "killed"));
}

TEST_F_TIMEOUT(chan, other_answers_to_hears, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(HEARD, .cookie = 4) },
		{ "no QP", SAY(HEARD, .offset = 64) },
		{ "GONE", SAY(GONE) },
		{ "OPENED", SAY(OPENED) },
		{ "BEAT_ACK", SAY(BEAT_ACK) },
	};
	struct rcl_msg msg;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(&self->h));
		opens(_metadata, self);
		ASSERT_EQ(0, rclink_recv(self->chan, rclink_none(), 1));
		ASSERT_LE(0, rclink_submit(self->chan, 0, 0));
		ASSERT_EQ(0, peer_await(&self->h.p, RCL_MSG_HEARS, &msg));
		ASSERT_EQ(0, answer(&self->h, &msg, &wrong[i].msg));
		ended(_metadata, self, wrong[i].what);
		closes(self);
	}
}

/* The peer posts receives, and wants an event for solicited messages only. */
static void sleeps(struct __test_metadata *_metadata,
		   struct _test_data_chan *self, int receives)
{
	struct peer *p = &self->h.p;
	const struct ibv_sge sge = {
		.addr = (uintptr_t)peer_buffer(p),
		.length = PEER_BUFFER,
		.lkey = p->mr->lkey,
	};
	struct rcl_msg hears = SAY(HEARS, .offset = self->open.offset);

	ASSERT_EQ(0, ibv_req_notify_cq(p->pool_cq.cq, 1));
	while (receives--)
		ASSERT_EQ(0, rcv_qp_recv(&p->qp[1 + self->open.offset], 0,
					 &sge));
	ASSERT_EQ(0, peer_say(p, &hears));
}

/* Sends a message and waits until it has arrived. */
static void sends(struct __test_metadata *_metadata,
		  struct _test_data_chan *self, unsigned int flags)
{
	struct rclink_dev_cqe cqe = { 0 };

	ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes("x", 1),
				 RCLINK_SQE_SIGNALED | flags, 0));
	EXPECT_LE(0, rclink_submit(self->chan, 1, slow(HOSTILE_MS)));
	ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
	EXPECT_EQ(0, cqe.status);
}

TEST_F_TIMEOUT(chan, what_is_solicited_wakes_the_peer, TIMEOUT_S)
{
	struct rcv_cq *cq = &self->h.p.pool_cq;

	ASSERT_EQ(0, hostile_up(&self->h));
	opens(_metadata, self);
	sleeps(_metadata, self, 2);
	sends(_metadata, self, 0);
	EXPECT_EQ(-ETIMEDOUT, rcv_cq_wait(cq, QUIET_MS));
	sends(_metadata, self, RCLINK_SQE_SOLICITED);
	EXPECT_EQ(0, rcv_cq_wait(cq, slow(HOSTILE_MS)));
}

TEST_HARNESS_MAIN
