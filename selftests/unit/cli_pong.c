// SPDX-License-Identifier: GPL-2.0
/*
 * `rclink --verbs pingpong`, with a peer that plays as it likes or not at all.
 * The test dials, and makes seconds pass quickly.
 */
#include "pong.h"

#include <stdarg.h>
#include <stdlib.h>

#include <event2/event.h>
#include <kselftest_harness.h>

#include "cli.h"
#include "pingpong.h"
#include "pingpong_report.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"
#include "verbs_peer.h"

#define ITERS		5
#define SIZE		64
#define LATE_US		200000	/* what the command takes for 20 s */
#define STEP_US		50000	/* until the peer does something */

static const char *options;	/* letters that are left */
static char said_why[RCL_ERR_LEN];
static bool reported;

static struct peer *peer;
static struct verbs_dial *dial;
static unsigned int plays;	/* messages that the peer has left to send */

typeof(event_add) __real_event_add, __wrap_event_add;

int __wrap_event_add(struct event *ev, const struct timeval *tv)
{
	const struct timeval late = { .tv_usec = LATE_US };

	return __real_event_add(ev, tv && tv->tv_sec == 20 ? &late : tv);
}

int dial_args_getopt(struct dial_args *a, int argc, char **argv,
		     const char *help)
{
	return *options ? *options++ : -1;
}

uint32_t cli_number(const char *cmd, const char *what, const char *text,
		    uint32_t min, uint32_t max)
{
	return what[1] == 'n' ? ITERS : SIZE;
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said_why, sizeof(said_why), fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

void pingpong_report(const char *link, const char *service,
		     const struct rcl_pingpong *args, uint64_t duration,
		     bool json)
{
	reported = true;
}

void verbs_dial_init(struct verbs_dial *d, const char *cmd,
		     const struct option *own)
{
	memset(d, 0, sizeof(*d));
	d->args.link = "l";
	d->base = peer->base;
	dial = d;
}

const char *verbs_dial_words(struct verbs_dial *d, int argc, char **argv,
			     bool kind)
{
	return NULL;
}

int verbs_dial_up(struct verbs_dial *d)
{
	return CLI_OK;
}

struct rcv_epoch *verbs_dial_epoch(const struct verbs_dial *d)
{
	return peer->ep;
}

void verbs_dial_run(struct verbs_dial *d)
{
	event_base_dispatch(d->base);
}

void verbs_dial_end(struct verbs_dial *d)
{
	rcv_epoch_free(peer->ep);
	peer->ep = NULL;
}

/* The peer grants what it is asked for, and sends what it has left. */
static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_lease *lease = &peer->ep->lease[0];

	while (said(peer))
		answer(peer, RCL_MSG_OK);
	if (lease->state != RCV_LEASE_OPEN || !plays)
		return;
	plays--;
	fake_arrive(fake_qp(lease->qp->qp), IBV_WC_SUCCESS, NULL, SIZE);
	rcv_epoch_turn(peer->ep);
}

static int pingpong(const char *letters)
{
	const struct timeval often = { .tv_usec = STEP_US };
	char name[] = "pingpong", *argv[] = { name, NULL };
	struct event *step;
	int status;

	options = letters;
	step = event_new(peer->base, -1, EV_PERSIST, on_step, NULL);
	event_add(step, &often);
	status = verbs_pingpong(1, argv);
	event_free(step);
	return status;
}

FIXTURE(pong)
{
	struct peer peer;
};

FIXTURE_VARIANT(pong)
{
	const char *options;
};

FIXTURE_VARIANT_ADD(pong, polls) { .options = "ns" };
FIXTURE_VARIANT_ADD(pong, sleeps) { .options = "nse" };

FIXTURE_SETUP(pong)
{
	peer = &self->peer;
	ASSERT_TRUE(meets(peer, NULL));
	ASSERT_TRUE(comes_up(peer));
}

FIXTURE_TEARDOWN(pong)
{
	leave(peer);
}

static const char late[] =
	"pingpong l: no answer for 20 s; look at the peer";

TEST_F(pong, does_not_wait_for_ever_for_a_peer_that_does_not_begin)
{
	EXPECT_EQ(CLI_FAILED, pingpong(variant->options));
	EXPECT_STREQ(late, said_why);
}

TEST_F(pong, does_not_wait_for_ever_for_a_peer_that_stops)
{
	plays = 3;
	EXPECT_EQ(CLI_FAILED, pingpong(variant->options));
	EXPECT_STREQ(late, said_why);
	EXPECT_EQ(0, plays);
}

/* The peer, or others on the link, may have them all. */
TEST_F(pong, does_not_wait_for_ever_for_a_qp)
{
	int i;

	for (i = 0; i < QPS; i++)
		peer->ep->lease[i].state = RCV_LEASE_OPEN;
	EXPECT_EQ(CLI_FAILED, pingpong(variant->options));
	EXPECT_STREQ(late, said_why);
}

/* All of it takes longer than the peer may be silent. */
TEST_F(pong, waits_while_the_peer_plays)
{
	plays = 1 + ITERS;
	EXPECT_EQ(CLI_OK, pingpong(variant->options));
	EXPECT_TRUE(reported);
	EXPECT_STREQ("", said_why);
}

TEST_HARNESS_MAIN
