// SPDX-License-Identifier: GPL-2.0
/*
 * Each status that a device may give a work request is told under its own name
 * by the completion of a channel, and counted with the link, which stays up.
 * That of a registration, which has no completion, is on the link's record. On
 * simulated devices.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define LEN		64
#define PAGE		4096
#define QUIET_MS	300	/* after this nothing else is sent */
#define LIMIT_MS	slow(20000)
#define TIMEOUT_S	120

/* In the order of the kernel's enum ib_wc_status. */
static const char *const names[SIM_STATUSES] = {
	"success", "local length error", "local QP operation error",
	"local EE context operation error", "local protection error",
	"work request flushed error", "memory window bind error",
	"bad response error",
	"local access error", "remote invalid request error",
	"remote access error", "remote operation error",
	"transport retry counter exceeded", "RNR retry counter exceeded",
	"local RDD violation error", "remote invalid RD request",
	"aborted operation", "invalid EE context number",
	"invalid EE context state", "fatal error", "response timeout error",
	"general error",
};

/* Link counters that count failures of channels, and some that do not */
static const uint16_t counters[] = {
	RCLINK_A_STATS_CHAN_ERRORS,
	RCLINK_A_STATS_LOCAL_ACCESS_ERRORS,
	RCLINK_A_STATS_REMOTE_ACCESS_ERRORS,
	RCLINK_A_STATS_COMPLETION_ERRORS,
	RCLINK_A_STATS_UNEXPLAINED_ERRORS,
};

FIXTURE(channel)
{
	struct rig r;
};

FIXTURE_VARIANT(channel)
{
	uint32_t recover;
};

FIXTURE_VARIANT_ADD(channel, reset) {
	.recover = RCLINK_RECOVER_RESET,
};

FIXTURE_VARIANT_ADD(channel, resume) {
	.recover = RCLINK_RECOVER_RESUME,
};

FIXTURE_SETUP(channel)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_begin_sims(r, ""));
	r->values.recover = variant->recover;
	/* A heartbeat could fail instead. */
	r->values.heartbeat = 0;
}

FIXTURE_TEARDOWN(channel)
{
	rig_end_sims(&self->r);
}

static int receive(struct rig *r, int number)
{
	int ret = rclink_recv(r->far, rclink_piece(r->far_region, number * LEN,
						   LEN), number);

	if (!ret)
		ret = rclink_submit(r->far, 0, 0);
	return ret < 0 ? ret : 0;
}

static int send_it(struct rig *r, int number)
{
	int ret;

	far_fill(r->near_memory, number, LEN);
	ret = rclink_send(r->near, rclink_piece(r->near_region, 0, LEN),
			  RCLINK_SQE_SIGNALED, number);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

/* Begin with a new link without failures, and let a message through. */
static void begin(struct __test_metadata *_metadata, struct rig *r)
{
	ASSERT_EQ(0, rcl_clean(&r->s));
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, receive(r, 0));
	ASSERT_EQ(0, receive(r, 1));
	ASSERT_EQ(0, send_it(r, 0));
	ASSERT_EQ(0, rig_completes(r->near));
	ASSERT_EQ(0, rig_completes(r->far));
	usleep(QUIET_MS * 1000);
}

static void tells(struct __test_metadata *_metadata, struct rclink_chan *chan,
		  int status, uint32_t vendor)
{
	struct rclink_dev_cqe cqe = { 0 };

	rclink_submit(chan, 1, LIMIT_MS);
	ASSERT_EQ(1, rclink_reap(chan, &cqe, 1)) TH_LOG("status %d", status);
	EXPECT_EQ(1, cqe.user_data);
	EXPECT_EQ(status, cqe.status);
	EXPECT_STREQ(names[status], rclink_status_name(cqe.status));
	EXPECT_EQ(vendor, cqe.vendor_err) TH_LOG("status %d", status);
	EXPECT_EQ(0, rclink_reap(chan, &cqe, 1)) TH_LOG("status %d", status);
}

static bool counts(uint16_t counter, int status)
{
	switch (counter) {
	case RCLINK_A_STATS_CHAN_ERRORS:
		return status != SIM_FLUSHED;
	case RCLINK_A_STATS_LOCAL_ACCESS_ERRORS:
		return status == SIM_LOC_PROT_ERR ||
		       status == SIM_LOC_ACCESS_ERR;
	case RCLINK_A_STATS_REMOTE_ACCESS_ERRORS:
		return status == SIM_REM_ACCESS_ERR;
	default:
		return false;
	}
}

/* That link has counted it once, and is still up in its first epoch. */
static void is_counted(struct __test_metadata *_metadata, struct genl_sock *s,
		       const char *name, int status)
{
	struct rcl_view view;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		EXPECT_EQ(counts(counters[i], status),
			  rcl_stat(s, name, counters[i]))
			TH_LOG("status %d, counter %u", status, counters[i]);
	ASSERT_EQ(0, rcl_view(s, name, &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(1, view.epoch);
}

/* These leave an operation in flight until the link has another epoch. */
static bool is_held(int status, bool send)
{
	return status == SIM_FLUSHED || status == SIM_RETRY_EXCEEDED ||
	       (status == SIM_LOC_QP_OP_ERR && send);
}

TEST_F_TIMEOUT(channel, every_status_of_a_send_is_told, TIMEOUT_S)
{
	struct rig *r = &self->r;
	int status;

	for (status = 1; status < SIM_STATUSES; status++) {
		if (variant->recover == RCLINK_RECOVER_RESUME &&
		    is_held(status, true))
			continue;
		begin(_metadata, r);
		ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "send 1 1 %d",
				      status));
		ASSERT_EQ(0, send_it(r, 1));
		tells(_metadata, r->near, status, status == SIM_FLUSHED ? 0 :
		      SIM_VENDOR + status);
		is_counted(_metadata, &r->s, RIG_NEAR, status);
		rig_close(r);
	}
}

/* The device has no vendor error for these. */
TEST_F_TIMEOUT(channel, every_status_of_a_receive_is_told, TIMEOUT_S)
{
	struct rig *r = &self->r;
	int status;

	for (status = 1; status < SIM_STATUSES; status++) {
		if (variant->recover == RCLINK_RECOVER_RESUME &&
		    is_held(status, false))
			continue;
		begin(_metadata, r);
		ASSERT_EQ(0, sim_knob(SIM_FAR, "fault", "recv 1 1 %d", status));
		ASSERT_EQ(0, send_it(r, 1));
		tells(_metadata, r->far, status, 0);
		is_counted(_metadata, &r->s, RIG_FAR, status);
		rig_close(r);
	}
}

/* The QP of the registrations is none of the link's, and has no number. */
static void is_on_record(struct __test_metadata *_metadata,
			 struct genl_sock *s, const char *name, int status)
{
	struct rcl_failure failure;
	int ret;

	ret = rcl_last_failure(s, name, &failure);
	if (status == SIM_FLUSHED) {
		EXPECT_EQ(-ENOENT, ret);
		return;
	}
	ASSERT_EQ(0, ret) TH_LOG("status %d", status);
	EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, failure.reason);
	EXPECT_EQ(status, failure.wc_status);
	EXPECT_EQ(SIM_VENDOR + status, failure.vendor_err);
	EXPECT_EQ(1, failure.times) TH_LOG("status %d", status);
	EXPECT_FALSE(failure.has_qp);
}

TEST_F_TIMEOUT(channel, every_status_of_a_registration_is_told, TIMEOUT_S)
{
	struct rig *r = &self->r;
	uint32_t region;
	int status;
	void *m;

	for (status = 1; status < SIM_STATUSES; status++) {
		begin(_metadata, r);
		ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "send 1 1 %d",
				      status));
		EXPECT_EQ(-EIO, rclink_memory(r->near, &m, PAGE, NULL, 0,
					      &region))
			TH_LOG("status %d", status);
		is_counted(_metadata, &r->s, RIG_NEAR, status);
		is_on_record(_metadata, &r->s, RIG_NEAR, status);
		/* The channel goes on, and the next region is registered. */
		ASSERT_EQ(0, rclink_memory(r->near, &m, PAGE, NULL, 0,
					   &region));
		EXPECT_EQ(0, rig_moves(r, status));
		munmap(m, PAGE);
		rig_close(r);
	}
}

TEST_HARNESS_MAIN
