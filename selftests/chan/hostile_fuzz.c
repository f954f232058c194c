// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer talks at random, more or less well, while threads open
 * channels and look regions up at this end. However an epoch ends, another one
 * follows, and the links beside it never notice.
 *
 * HOSTILE_SEED repeats the run that printed this seed, as far as timing allows;
 * HOSTILE_EPOCHS is the number of epochs.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <rclink.h>

#include "harness.h"
#include "hostile.h"

#define TIMEOUT_S	600
#define EPOCHS		40
#define TALK		300	/* messages of an epoch, at most */
#define PAUSE_MS	20	/* for credits */
#define TRIES		50
#define PENDING		8

/* The state of a pooled QP, as far as the peer knows. */
enum phase { FREE, OPEN, ENDING, PHASES };

struct fuzz {
	struct hostile h;
	enum phase phase[PEER_QPS];
	uint32_t random;		/* state of draw() */
	struct rcl_msg asked[PENDING];	/* a ring: not answered */
	uint32_t first, n;
	bool over;			/* the threads are to end */
	pthread_t opener, listener;
	uint32_t opened, accepted, looked_up, said;
};

/* xorshift32 */
static uint32_t draw(struct fuzz *f, uint32_t below)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 17;
	f->random ^= f->random << 5;
	return f->random % below;
}

static uint32_t number(struct fuzz *f)
{
	static const uint32_t odd[] = {
		0, 1, 2, 3, 4, 17, 255, 4095, 4096, 65535, 65536, 65537,
		0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	return draw(f, 4) ? odd[draw(f, sizeof(odd) / sizeof(*odd))] :
			    f->random;
}

/* A local user. When an open fails, another epoch follows soon. */
static void *opens(void *arg)
{
	struct fuzz *f = arg;
	struct rclink_remote remote;
	struct rclink_chan *chan;

	while (!f->over) {
		if (rclink_connect(&chan, HOSTILE_LINK, "s", 0)) {
			usleep(1000);
			continue;
		}
		f->opened++;
		f->looked_up += !rclink_import(chan, "r", &remote);
		rclink_recv(chan, rclink_none(), 1);
		rclink_submit(chan, 1, PAUSE_MS);
		rclink_close(chan);
	}
	return NULL;
}

static void *accepts(void *arg)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	struct fuzz *f = arg;

	if (rclink_listen(&listener, HOSTILE_LINK, "s", 4, 0))
		return NULL;
	while (!f->over) {
		struct pollfd fd = {
			.fd = rclink_listener_fd(listener), .events = POLLIN,
		};

		if (poll(&fd, 1, PAUSE_MS) < 1 ||
		    rclink_accept(listener, &chan))
			continue;
		f->accepted++;
		rclink_recv(chan, rclink_none(), 1);
		rclink_submit(chan, 1, PAUSE_MS);
		rclink_close(chan);
	}
	rclink_listener_close(listener);
	return NULL;
}

/* Note what a message of either direction says of a pooled QP. */
static void note(struct fuzz *f, const struct rcl_msg *msg)
{
	if (msg->offset >= PEER_QPS || msg->status)
		return;
	if (msg->type == RCL_MSG_OPENED || msg->type == RCL_MSG_RESUMED)
		f->phase[msg->offset] = OPEN;
	else if (msg->type == RCL_MSG_RECYCLED)
		f->phase[msg->offset] = ENDING;
	else if (msg->type == RCL_MSG_GONE)
		f->phase[msg->offset] = FREE;
}

/*
 * Keep the module's questions. Return: 0, or an errno if the epoch has ended.
 */
static int listen_to(struct fuzz *f, int ms)
{
	struct rcl_msg msg;
	int ret;

	while (!(ret = peer_hear(&f->h.p, &msg, ms))) {
		ms = 0;
		note(f, &msg);
		if (rcl_msg_is_answer(msg.type) || f->n == PENDING)
			continue;
		f->asked[(f->first + f->n++) % PENDING] = msg;
	}
	return ret == -ETIMEDOUT ? 0 : ret;
}

static void put_window(struct fuzz *f, uint8_t *data, struct rcl_msg *msg)
{
	uint32_t keys = draw(f, 3) ? 1 : draw(f, 110);

	rcl_msg_put(data, (uint64_t)number(f) << draw(f, 33), 8);
	rcl_msg_put(data + 8, draw(f, 3) ? 4096 * keys : number(f), 8);
	rcl_msg_put(data + 16, draw(f, 8) ? 12 + draw(f, 19) : number(f), 4);
	rcl_msg_put(data + 20, draw(f, 8) ? draw(f, 16) : number(f), 4);
	msg->len = 24 + 4 * keys;
}

/* Answer the oldest question that was kept, mostly without an error. */
static void answer(struct fuzz *f, struct rcl_msg *msg)
{
	const struct rcl_msg *to = &f->asked[f->first++ % PENDING];

	f->n--;
	msg->type = to->type + 1;
	msg->cookie = to->cookie;
	msg->offset = to->offset;
	msg->status = draw(f, 3) ? RCL_MSG_OK : draw(f, RCL_MSG_STATUS_MAX);
	note(f, msg);
}

static void question(struct fuzz *f, struct rcl_msg *msg)
{
	static const uint8_t types[] = {
		RCL_MSG_PING, RCL_MSG_FILL, RCL_MSG_CHECK, RCL_MSG_IMPORT,
		RCL_MSG_HEARS, RCL_MSG_BEAT, RCL_MSG_RESUME, RCL_MSG_GROUP,
	};
	static const uint8_t next[PHASES] = {
		[FREE] = RCL_MSG_OPEN,
		[OPEN] = RCL_MSG_RECYCLE,
		[ENDING] = RCL_MSG_GO,
	};
	uint32_t i = draw(f, PEER_QPS);

	msg->type = types[draw(f, sizeof(types))];
	if (draw(f, 2))
		msg->type = next[draw(f, 32) ? f->phase[i] : draw(f, PHASES)];
	msg->offset = draw(f, 64) ? i : number(f);
	msg->cookie = f->said;
	msg->status = draw(f, 64) ? RCL_MSG_OK : draw(f, RCL_MSG_STATUS_MAX);
}

static int say(struct fuzz *f)
{
	uint8_t data[RCL_MSG_DATA_MAX] = "s", text[PEER_TEXT];
	struct rcl_msg msg = { .data = data, .credits = f->h.p.owed };
	uint32_t len;

	f->h.p.owed = 0;
	msg.len = draw(f, 32) ? 17 : number(f);
	msg.seed = draw(f, 32) ? draw(f, 1 << 24) : number(f);
	if (f->n && draw(f, 4))
		answer(f, &msg);
	else
		question(f, &msg);
	if (msg.type == RCL_MSG_IMPORTED)
		put_window(f, data, &msg);
	else if (msg.type == RCL_MSG_OPEN || msg.type == RCL_MSG_IMPORT ||
		 msg.type == RCL_MSG_GROUP)
		msg.len = 1;
	else if (msg.len > RCL_MSG_DATA_MAX && msg.type == RCL_MSG_PING)
		msg.len = draw(f, RCL_MSG_DATA_MAX);
	else if (msg.type == RCL_MSG_GROUPED)
		msg.len = draw(f, 60);
	len = rcl_msg_encode(text, &msg);
	/* Now and then, replace any one byte. */
	if (!draw(f, 100))
		text[draw(f, len)] = draw(f, 256);
	f->said++;
	return peer_say_text(&f->h.p, text, len);
}

/* Talk for one epoch, until it fails or enough was said. */
static int talk(struct fuzz *f)
{
	uint32_t i, tries = 0;
	int ret = 0;

	f->n = 0;
	memset(f->phase, 0, sizeof(f->phase));
	for (i = 0; !ret && i < TALK && tries < TRIES; i++) {
		ret = listen_to(f, draw(f, 4) ? 0 : 1);
		for (tries = 0; !ret && f->h.p.credits < 3 && tries < TRIES;
		     tries++)
			ret = listen_to(f, PAUSE_MS);
		if (!ret)
			ret = say(f);
	}
	return ret;
}

static bool may_be(uint32_t reason)
{
	return reason == RCLINK_DOWN_REASON_PROTOCOL ||
	       reason == RCLINK_DOWN_REASON_PEER_DISCONNECTED ||
	       reason == RCLINK_DOWN_REASON_REPLACED ||
	       reason == RCLINK_DOWN_REASON_LOCAL_ERROR;
}

FIXTURE(fuzz)
{
	struct fuzz f;
};

FIXTURE_VARIANT(fuzz)
{
	uint32_t role;			/* of the module */
};

FIXTURE_VARIANT_ADD(fuzz, dialled)
{
	.role = RCLINK_ROLE_INITIATOR,
};

FIXTURE_VARIANT_ADD(fuzz, answered)
{
	.role = RCLINK_ROLE_INITIATOR + 1,
};

FIXTURE_SETUP(fuzz)
{
	struct fuzz *f = &self->f;
	const char *seed = getenv("HOSTILE_SEED");

	ASSERT_EQ(0, hostile_begin(&f->h, variant->role));
	if (seed)
		f->random = strtoul(seed, NULL, 0);
	else
		ASSERT_EQ(sizeof(f->random), getrandom(&f->random,
						       sizeof(f->random), 0));
	f->random += !f->random;
	printf("# seed %u\n", f->random);
	ASSERT_EQ(0, pthread_create(&f->opener, NULL, opens, f));
	ASSERT_EQ(0, pthread_create(&f->listener, NULL, accepts, f));
}

FIXTURE_TEARDOWN(fuzz)
{
	EXPECT_EQ(0, hostile_end(&self->f.h));
}

TEST_F_TIMEOUT(fuzz, it_says_anything, TIMEOUT_S)
{
	const char *epochs = getenv("HOSTILE_EPOCHS");
	struct fuzz *f = &self->f;
	struct rcl_msg bye = { .type = RCL_MSG_BYE };
	struct rcl_view view;
	int i, n = epochs ? atoi(epochs) : EPOCHS;
	int ends[32] = { 0 };

	for (i = 0; i < n || (i < 20 * n && !(f->opened && f->accepted)); i++) {
		ASSERT_EQ(0, hostile_up(&f->h));
		talk(f);
		bye.cookie = draw(f, 2);
		peer_say(&f->h.p, &bye);
		ASSERT_EQ(0, rcl_until(&f->h.s, HOSTILE_LINK,
				       RCLINK_LINK_STATE_DOWN, HOSTILE_MS));
		ASSERT_EQ(0, rcl_view(&f->h.s, HOSTILE_LINK, &view));
		EXPECT_TRUE(may_be(view.reason))
			TH_LOG("epoch %d: %s", i, view.reason_text);
		ends[view.reason % 32]++;
		peer_leave(&f->h.p);
	}
	f->over = true;
	pthread_join(f->opener, NULL);
	pthread_join(f->listener, NULL);
	ASSERT_EQ(0, hostile_up(&f->h));
	EXPECT_EQ(0, hostile_lives(&f->h, "after all"));
	printf("# %u messages, %u channels opened, %u accepted, %u regions\n",
	       f->said, f->opened, f->accepted, f->looked_up);
	printf("# %d of %d epochs ended for the protocol\n",
	       ends[RCLINK_DOWN_REASON_PROTOCOL], i);
	EXPECT_LT(10 * i, f->said);
	EXPECT_LT(0, f->opened);
	EXPECT_LT(0, f->accepted);
	EXPECT_LT(0, ends[RCLINK_DOWN_REASON_PROTOCOL]);
}

TEST_HARNESS_MAIN
