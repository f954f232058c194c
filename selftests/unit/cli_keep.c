// SPDX-License-Identifier: GPL-2.0
/* Which link is dialled next; the test stands in for module and dialler. */
#include "links_keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <kselftest_harness.h>

#include "keep_module.h"
#include "links_core.h"

#define LINKS	20	/* more than are dialled at once */
#define AGAIN	12	/* dials at once of links that failed before */
#define AT_ONCE	16
#define QUIET	128	/* dials at once that nobody answers */

static double waited;	/* a link's time to wait, seen in the event loop */

FIXTURE(keep)
{
	struct rcd_links all;
	struct rcd_link *up[LINKS];
	struct rcd_link *down;
};

static struct rcd_link *new_link(struct rcd_links *all)
{
	const struct rcd_link_conf conf = { .name = "l", .host = "peer" };
	struct rcd_link *link = rcd_link_new(all, &conf);

	if (!link)
		abort();
	return link;
}

FIXTURE_SETUP(keep)
{
	struct rcd_links *all = &self->all;
	int i;

	now = 1000 * SECOND;
	age = 0;
	refusal = 0;
	end = RCD_STAYS;
	there = NULL;
	looks = 0;
	changes = 0;
	ends = 0;
	yields = 0;
	errors = 0;
	others = 0;
	warnings = 0;
	memset(all, 0, sizeof(*all));
	LIST_INIT(&all->list);
	TAILQ_INIT(&all->turns);
	all->base = event_base_new();
	all->ops = &ops;
	self->down = new_link(all);
	for (i = 0; i < LINKS; i++) {
		self->up[i] = new_link(all);
		rcd_link_up(self->up[i], 1);
	}
	now += 60 * SECOND;
}

FIXTURE_TEARDOWN(keep)
{
	while (!LIST_EMPTY(&self->all.list))
		rcd_link_free(LIST_FIRST(&self->all.list));
	event_base_free(self->all.base);
}

static unsigned int dials(const struct rcd_links *all)
{
	return rcd_links_count(all).dials;
}

/* Let the link's timer expire. */
static void wake(struct rcd_link *link)
{
	event_active(link->timer, EV_TIMEOUT, 0);
	event_base_loop(link->all->base, EVLOOP_NONBLOCK);
	event_del(link->timer);
}

/* The peer's host does not answer for as long as the dial keeps its place. */
static void be_quiet(struct rcd_link *link)
{
	event_active(link->patience, EV_TIMEOUT, 0);
	event_base_loop(link->all->base, EVLOOP_NONBLOCK);
	event_del(link->patience);
}

static void fail(struct rcd_link *link)
{
	dial_ops->done(link, -ETIMEDOUT, "nobody answers");
}

/* Rotate each link once, in vain; then let each be tried again. */
static void rotate_all_again(struct rcd_link *up[LINKS])
{
	int i;

	for (i = 0; i < LINKS; i++) {
		rcd_link_rotate(up[i]);
		fail(up[i]);
	}
	now += 60 * SECOND;
	for (i = 0; i < LINKS; i++)
		wake(up[i]);
}

TEST_F(keep, a_rotation_is_begun_at_once)
{
	rcd_link_rotate(self->up[0]);
	EXPECT_NE(NULL, self->up[0]->dial);
	EXPECT_FALSE(event_pending(self->up[0]->timer, EV_TIMEOUT, NULL));
}

TEST_F(keep, a_rotation_that_failed_is_tried_again)
{
	struct rcd_link *link = self->up[0];

	rcd_link_rotate(link);
	fail(link);
	EXPECT_EQ(NULL, link->dial);
	EXPECT_EQ(0, link->failures);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
	now += 60 * SECOND;
	wake(link);
	EXPECT_NE(NULL, link->dial);
	dial_ops->done(link, 0, NULL);
	EXPECT_EQ(0, link->vain);
	EXPECT_FALSE(link->asked);
}

TEST_F(keep, a_dial_that_met_the_one_of_the_peer_is_no_failure)
{
	struct rcd_link *link = self->down;

	rcd_link_want(link);
	wake(link);
	ASSERT_NE(NULL, link->dial);
	dial_ops->done(link, -EALREADY, "the peer dials");
	EXPECT_EQ(0, link->failures);
	EXPECT_EQ(1, link->tally.dialled[RCD_GIVEN_UP]);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
	wake(link);
	dial_ops->done(link, -EISCONN, "the link came up meanwhile");
	EXPECT_EQ(0, link->failures);
	EXPECT_EQ(2, link->tally.dialled[RCD_GIVEN_UP]);
	wake(link);
	fail(link);
	EXPECT_EQ(1, link->failures);
	EXPECT_EQ(1, link->tally.dialled[RCD_FAILED]);
}

TEST_F(keep, a_dial_of_what_came_up_by_hand_is_no_failure)
{
	struct rcd_link *link = self->down;

	rcd_link_want(link);
	wake(link);
	ASSERT_NE(NULL, link->dial);
	rcd_link_up(link, 1);
	dial_ops->done(link, -EBUSY, "the link is up: disconnect it first");
	EXPECT_EQ(1, link->tally.dialled[RCD_GIVEN_UP]);
	EXPECT_EQ(0, link->tally.dialled[RCD_FAILED]);
	EXPECT_EQ(0, warnings);
	/* The next dial is a rotation. */
	now += 60 * SECOND;
	rcd_link_rotate(link);
	ASSERT_NE(NULL, link->dial);
	fail(link);
	EXPECT_EQ(1, link->tally.dialled[RCD_FAILED]);
	EXPECT_EQ(1, warnings);
}

/* This end has told the peer that it is up, but gets no answer. */
TEST_F(keep, a_dial_that_fails_after_this_end_came_up_is_a_failure)
{
	struct rcd_link *link = self->down;

	rcd_link_want(link);
	wake(link);
	ASSERT_NE(NULL, link->dial);
	rcd_link_up(link, DIALLED);
	dial_ops->done(link, -ECONNRESET, "the peer closed the connection");
	EXPECT_EQ(1, link->tally.dialled[RCD_FAILED]);
	EXPECT_EQ(0, link->tally.dialled[RCD_GIVEN_UP]);
	EXPECT_EQ(1, warnings);
	/* The failure is counted once. */
	rcd_link_down(link, "one end gave this epoch up");
	EXPECT_EQ(1, link->failures);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
}

TEST_F(keep, rotations_that_failed_leave_room_for_others)
{
	rotate_all_again(self->up);
	EXPECT_EQ(AGAIN, dials(&self->all));
	rcd_link_want(self->down);
	wake(self->down);
	EXPECT_NE(NULL, self->down->dial);
}

TEST_F(keep, a_link_that_failed_has_its_turn_before_rotations_that_did_later)
{
	struct rcd_link *link = self->down;
	int i;

	for (i = 0; i < AGAIN; i++) {
		rcd_link_rotate(self->up[i]);
		fail(self->up[i]);
	}
	now += 60 * SECOND;
	for (i = 0; i < AGAIN; i++)
		wake(self->up[i]);
	link->failures = 1;
	wake(link);
	EXPECT_TRUE(link->queued);
	self->up[AGAIN]->vain = 1;
	rcd_link_rotate(self->up[AGAIN]);
	fail(self->up[0]);
	EXPECT_NE(NULL, link->dial);
	EXPECT_TRUE(self->up[AGAIN]->queued);
}

TEST_F(keep, a_link_that_is_down_has_its_turn_before_rotations)
{
	int i;

	for (i = 0; i <= AT_ONCE; i++)
		rcd_link_rotate(self->up[i]);
	EXPECT_TRUE(self->up[AT_ONCE]->queued);
	rcd_link_want(self->down);
	wake(self->down);
	EXPECT_TRUE(self->down->queued);
	rcd_link_rotate(self->up[AT_ONCE + 1]);
	fail(self->up[0]);
	EXPECT_NE(NULL, self->down->dial);
	EXPECT_EQ(NULL, self->up[AT_ONCE + 1]->dial);
	/* Among rotations, the first one in the queue has its turn. */
	fail(self->up[1]);
	EXPECT_NE(NULL, self->up[AT_ONCE]->dial);
	EXPECT_TRUE(self->up[AT_ONCE + 1]->queued);
}

TEST_F(keep, a_link_that_goes_down_does_not_wait_as_its_rotation_did)
{
	struct rcd_link *last = self->up[LINKS - 1];

	rotate_all_again(self->up);
	EXPECT_TRUE(last->queued);
	rcd_link_down(last, "a test");
	EXPECT_FALSE(last->queued);
	EXPECT_TRUE(event_pending(last->timer, EV_TIMEOUT, NULL));
	wake(last);
	EXPECT_NE(NULL, last->dial);
}

/* Seconds until the link is dialled; no other link may have its name. */
static double waits_for(const struct rcd_link *link)
{
	struct rcd_link_state *states;
	double waits = 0;
	size_t i, num;

	states = rcd_links_states(link->all, &num);
	for (i = 0; i < num; i++)
		if (!strcmp(states[i].name, link->conf.name))
			waits = states[i].waits;
	free(states);
	return waits;
}

/* Adopt a link that was up that long; returns the seconds until it rotates. */
static double rotates_in(struct rcd_link *link, unsigned int every,
			 uint64_t was_up)
{
	struct rcl_link_info info = {
		.state = RCLINK_LINK_STATE_UP,
		.epoch = 1,
	};

	strcpy(link->conf.name, "r");
	link->conf.rotate = every;
	age = was_up * SECOND;
	rcd_link_rest(link);
	rcd_link_adopt(link, &info);
	return waits_for(link);
}

TEST_F(keep, a_rotation_is_due_when_the_epoch_is_old_enough)
{
	double s = rotates_in(self->down, 1000, 0);

	EXPECT_LT(890, s);
	EXPECT_GT(1101, s);
	s = rotates_in(self->down, 1000, 700);
	EXPECT_LT(190, s);
	EXPECT_GT(401, s);
	EXPECT_EQ(NULL, self->down->dial);
}

/* Called from the event loop, like the code that writes metrics. */
static void set_clock(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	step = 3600;
	waited = waits_for(arg);
	step = 0;
}

TEST_F(keep, that_somebody_sets_the_clock_changes_no_time_to_wait)
{
	const struct timeval soon = { .tv_sec = 0 };
	double s = rotates_in(self->down, 1000, 0);

	event_base_once(self->all.base, -1, EV_TIMEOUT, set_clock, self->down,
			&soon);
	event_base_loop(self->all.base, EVLOOP_ONCE);
	EXPECT_GT(s + 1, waited);
	EXPECT_LT(s - 10, waited);
}

TEST_F(keep, a_rotation_that_is_overdue_is_soon)
{
	int i;

	for (i = 0; i < LINKS; i++) {
		EXPECT_GT(1, rotates_in(self->down, 10, 1000));
		EXPECT_GT(61, rotates_in(self->down, 2592000, 3000000));
	}
	EXPECT_EQ(NULL, self->down->dial);
	wake(self->down);
	EXPECT_NE(NULL, self->down->dial);
}

TEST_F(keep, a_link_without_a_peer_is_not_dialled)
{
	struct rcd_link *link = self->down;

	link->conf.host[0] = 0;
	/* It is made anew then, so that it can answer; that was done. */
	link->broken = true;
	rcd_link_want(link);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
	strcpy(link->conf.name, "r");
	EXPECT_EQ(0, waits_for(link));
	rcd_link_adopt(link, NULL);
	wake(link);
	EXPECT_EQ(NULL, link->dial);
	EXPECT_FALSE(link->queued);
}

TEST_F(keep, dials_that_nobody_answers_leave_room_for_others)
{
	int i;

	for (i = 0; i < LINKS; i++)
		rcd_link_rotate(self->up[i]);
	EXPECT_EQ(AT_ONCE, dials(&self->all));
	rcd_link_want(self->down);
	wake(self->down);
	EXPECT_EQ(NULL, self->down->dial);
	be_quiet(self->up[0]);
	EXPECT_NE(NULL, self->down->dial);
	EXPECT_EQ(AT_ONCE + 1, dials(&self->all));
	/* Once its host has answered, it is an exchange like any other. */
	dial_ops->step(self->up[0], RCX_STEP_TCP, "");
	dial_ops->done(self->down, 0, NULL);
	EXPECT_EQ(AT_ONCE, dials(&self->all));
	dial_ops->done(self->up[0], 0, NULL);
	EXPECT_EQ(AT_ONCE, dials(&self->all));
	/* That exchange goes on, and no timer waits for its host any more. */
	dial_ops->step(self->up[1], RCX_STEP_TCP, "");
	EXPECT_FALSE(event_pending(self->up[1]->patience, EV_TIMEOUT, NULL));
}

TEST_F(keep, not_all_are_dialled_that_nobody_answers)
{
	struct rcd_link *link[2 * QUIET];
	int i, last = 0;

	for (i = 0; i < 2 * QUIET; i++)
		link[i] = new_link(&self->all);
	for (i = 0; i < 2 * QUIET; i++) {
		rcd_link_want(link[i]);
		wake(link[i]);
		if (!link[i]->dial)
			continue;
		be_quiet(link[i]);
		last = i;
	}
	EXPECT_EQ(QUIET - 1, last);
	EXPECT_EQ(QUIET, dials(&self->all));
	fail(link[0]);
	EXPECT_EQ(QUIET - 1 + AT_ONCE, dials(&self->all));
}

/* Let the back-off after a failed change of the link expire. */
static void try_again(struct rcd_link *link)
{
	event_active(link->mend, EV_TIMEOUT, 0);
	event_base_loop(link->all->base, EVLOOP_NONBLOCK);
}

TEST_F(keep, what_the_module_refuses_of_a_link_that_is_up_is_tried_again)
{
	struct rcd_link *link = self->up[0];

	refusal = -ENODEV;
	there = &is_up;
	rcd_link_adopt(link, &is_up);
	EXPECT_EQ(1, errors);
	EXPECT_EQ(0, link->failures);
	EXPECT_TRUE(event_pending(link->mend, EV_TIMEOUT, NULL));
	/* The link is rotated all the same; this does not delay the retry. */
	rcd_link_rotate(link);
	EXPECT_NE(NULL, link->dial);
	fail(link);
	EXPECT_TRUE(event_pending(link->mend, EV_TIMEOUT, NULL));
	try_again(link);
	EXPECT_EQ(2, changes);
	EXPECT_TRUE(event_pending(link->mend, EV_TIMEOUT, NULL));
	refusal = 0;
	end = RCD_ENDS;
	try_again(link);
	EXPECT_EQ(3, changes);
	EXPECT_EQ(1, ends);
	EXPECT_FALSE(event_pending(link->mend, EV_TIMEOUT, NULL));
}

TEST_F(keep, an_epoch_that_could_not_be_ended_is_ended_later)
{
	struct rcd_link *link = self->up[0];
	struct rcl_link_info later = is_up;

	there = &is_up;
	link->doomed = link->epoch;
	rcd_link_ended(link, -ENOMEM, "out of memory");
	EXPECT_EQ(1, errors);
	EXPECT_TRUE(event_pending(link->mend, EV_TIMEOUT, NULL));
	try_again(link);
	EXPECT_EQ(1, ends);
	/* A later epoch has what is configured. */
	later.epoch = 2;
	rcd_link_adopt(link, &later);
	EXPECT_EQ(1, ends);
}

/* By hand, the link was set like that before, so the module changes nothing. */
TEST_F(keep, an_epoch_with_what_was_configured_before_ends)
{
	struct rcd_link *link = self->up[0];
	struct rcl_link_info later = is_up;

	link->former = link->epoch;
	rcd_link_adopt(link, &is_up);
	EXPECT_EQ(1, ends);
	EXPECT_EQ(0, link->former);
	link->former = link->epoch;
	later.epoch = 2;
	rcd_link_adopt(link, &later);
	EXPECT_EQ(1, ends);
	/* Unless the module refuses what is configured now. */
	link->former = link->epoch;
	refusal = -ENODEV;
	rcd_link_adopt(link, &later);
	refusal = 0;
	rcd_link_adopt(link, &later);
	EXPECT_EQ(1, ends);
}

TEST_F(keep, that_a_link_is_for_another_peer_is_told_when_it_is_down)
{
	struct rcd_link *link = self->up[0];

	link->other = true;
	rcd_link_ended(link, -ENOMEM, "out of memory");
	EXPECT_EQ(0, others);
	/* An exchange that it answers may bring it up with the former peer. */
	link->answering = true;
	link->outdated = true;
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(1, others);
	link->answering = false;
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(2, others);
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(2, others);
}

TEST_F(keep, that_one_for_another_peer_is_told_when_it_goes_down_by_itself)
{
	struct rcd_link *link = self->up[0];

	link->other = true;
	rcd_link_ended(link, -ENOMEM, "out of memory");
	rcd_link_down(link, "a test");
	EXPECT_EQ(0, others);
	wake(link);
	EXPECT_EQ(1, looks);
	EXPECT_EQ(1, others);
	rcd_link_adopt(link, NULL);
	EXPECT_EQ(1, others);
}

/* Groups that are not configured may give their key by it. */
TEST_F(keep, that_a_link_is_for_nobody_is_told_when_it_is_deleted)
{
	self->up[0]->gone = true;
	rcd_link_ended(self->up[0], -ENOMEM, "out of memory");
	EXPECT_EQ(0, others);
	EXPECT_EQ(1, warnings);
	self->up[1]->gone = true;
	rcd_link_ended(self->up[1], 0, "");
	EXPECT_EQ(1, others);
}

/* As found at a start of the daemon: that peer may have a group's key. */
TEST_F(keep, that_a_link_is_up_with_another_peer_is_told_when_it_is_down)
{
	struct rcd_link *link = self->down;

	end = RCD_ENDS_NOW;
	rcd_link_adopt(link, &is_up);
	EXPECT_EQ(1, ends);
	EXPECT_EQ(0, others);
	end = RCD_STAYS;
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(1, others);
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(1, others);
}

/* That peer may have driven the epoch number up, beyond the new one's. */
TEST_F(keep, one_that_is_down_and_was_up_with_another_peer_ends_as_well)
{
	const struct rcl_link_info info = {
		.state = RCLINK_LINK_STATE_DOWN,
		.epoch = 1,
	};
	struct rcd_link *link = self->up[0];

	end = RCD_ENDS_NOW;
	rcd_link_adopt(link, &info);
	EXPECT_FALSE(link->up);
	EXPECT_EQ(1, ends);
	EXPECT_TRUE(link->other);
	EXPECT_EQ(0, others);
	EXPECT_FALSE(event_pending(link->timer, EV_TIMEOUT, NULL));
	end = RCD_STAYS;
	rcd_link_ended(link, 0, "");
	EXPECT_EQ(1, others);
	rcd_link_adopt(link, &info);
	EXPECT_EQ(1, ends);
	EXPECT_EQ(1, others);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
}

TEST_F(keep, a_link_that_was_up_before_the_daemon_has_not_failed_when_it_falls)
{
	struct rcd_link *link = self->down;

	age = 60 * SECOND;
	rcd_link_adopt(link, &is_up);
	rcd_link_down(link, "a test");
	EXPECT_EQ(0, link->failures);
	age = 0;
	rcd_link_adopt(link, &is_up);
	rcd_link_down(link, "a test");
	EXPECT_EQ(1, link->failures);
}

TEST_F(keep, a_link_that_goes_down_is_changed_before_it_is_dialled)
{
	struct rcd_link *link = self->up[0];

	refusal = -ENODEV;
	rcd_link_adopt(link, &is_up);
	rcd_link_down(link, "a test");
	EXPECT_FALSE(event_pending(link->mend, EV_TIMEOUT, NULL));
	wake(link);
	EXPECT_EQ(1, looks);
	EXPECT_EQ(2, changes);
	EXPECT_EQ(NULL, link->dial);
}

TEST_F(keep, nothing_is_wrong_while_the_module_is_being_unloaded)
{
	refusal = -ESHUTDOWN;
	rcd_link_adopt(self->down, NULL);
	EXPECT_EQ(0, errors);
	EXPECT_EQ(0, self->down->failures);
	EXPECT_TRUE(event_pending(self->down->timer, EV_TIMEOUT, NULL));
	rcd_link_ended(self->up[0], -ESHUTDOWN, "the link is being deleted");
	EXPECT_EQ(0, errors);
}

TEST_F(keep, an_exchange_of_what_was_set_by_hand_begins_again)
{
	const struct rcl_link_info info = {
		.state = RCLINK_LINK_STATE_PREPARED,
		.epoch = 2,
	};
	struct rcd_link *link = self->down;

	rcd_link_want(link);
	wake(link);
	rcd_link_adopt(link, &info);
	EXPECT_EQ(0, yields);
	end = RCD_ENDS;
	link->answering = true;
	rcd_link_adopt(link, &info);
	EXPECT_EQ(1, yields);
	EXPECT_TRUE(link->outdated);
	EXPECT_EQ(0, ends);
	link->answering = false;
	dial_ops->done(link, -ECANCELED, "the link was set otherwise");
	EXPECT_EQ(0, link->failures);
	EXPECT_TRUE(event_pending(link->timer, EV_TIMEOUT, NULL));
}

/* Ending the epoch that is up does not end the one beside it. */
TEST_F(keep, a_rotation_of_what_was_set_by_hand_begins_again)
{
	struct rcd_link *link = self->up[0];

	rcd_link_rotate(link);
	link->answering = true;
	rcd_link_adopt(link, &is_up);
	EXPECT_EQ(0, yields);
	EXPECT_FALSE(link->outdated);
	end = RCD_ENDS;
	rcd_link_adopt(link, &is_up);
	EXPECT_EQ(1, yields);
	EXPECT_TRUE(link->outdated);
	EXPECT_EQ(1, ends);
}

TEST_HARNESS_MAIN
