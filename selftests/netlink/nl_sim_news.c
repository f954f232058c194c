// SPDX-License-Identifier: GPL-2.0
/*
 * What a device reports to a link (a on sim0, b on sim1): failed completions,
 * and events of the control QP, of channels, of the port and of the device.
 */
#include "sim.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

/* Counters of the tripwire, which an intruder may have set off. */
static const uint16_t tripwires[] = {
	RCLINK_A_STATS_LOCAL_ACCESS_ERRORS,
	RCLINK_A_STATS_REMOTE_ACCESS_ERRORS,
	RCLINK_A_STATS_QP_ACCESS_EVENTS,
	RCLINK_A_STATS_QP_REQUEST_EVENTS,
	RCLINK_A_STATS_UNEXPLAINED_ERRORS,
};

FIXTURE(device)
{
	struct genl_sock s;
	int objects;		/* of other devices */
	uint64_t counted[ARRAY_SIZE(tripwires)];
};

FIXTURE_SETUP(device)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
}

FIXTURE_TEARDOWN(device)
{
	sim_end(&self->s);
}

/* Link a has counted one more of @counter, and no more of others; 0: none. */
static void is_counted(struct __test_metadata *_metadata,
		       struct _test_data_device *self, uint16_t counter)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tripwires); i++) {
		self->counted[i] += tripwires[i] == counter;
		EXPECT_EQ(self->counted[i],
			  rcl_stat(&self->s, "a", tripwires[i]))
			TH_LOG("counter %u", tripwires[i]);
	}
}

static uint16_t counter_of_status(int status)
{
	switch (status) {
	case SIM_LOC_PROT_ERR:
	case SIM_LOC_ACCESS_ERR:
		return RCLINK_A_STATS_LOCAL_ACCESS_ERRORS;
	case SIM_REM_ACCESS_ERR:
		return RCLINK_A_STATS_REMOTE_ACCESS_ERRORS;
	case SIM_FLUSHED:
		return RCLINK_A_STATS_UNEXPLAINED_ERRORS;
	default:
		return 0;
	}
}

static uint16_t counter_of_event(int event)
{
	return event == SIM_QP_ACCESS_ERR ? RCLINK_A_STATS_QP_ACCESS_EVENTS :
	       event == SIM_QP_REQ_ERR ? RCLINK_A_STATS_QP_REQUEST_EVENTS : 0;
}

/* Does a receive of the module with this status mean a wrong size? */
static bool is_wrong_size(int status)
{
	return status == SIM_LOC_LEN_ERR || status == SIM_LOC_QP_OP_ERR ||
	       status == SIM_REM_INV_REQ_ERR;
}

/* All statuses of sends; of receives only some, as the rest is the same. */
TEST_F_TIMEOUT(device, every_status_of_a_completion_is_told, 120)
{
	struct rcl_view view;
	int status, kind;

	for (kind = 0; kind < 2; kind++)
		for (status = 1; status < SIM_STATUSES;
		     status += kind ? 8 : 1) {
			ASSERT_EQ(0, sim_up(&self->s));
			ASSERT_EQ(0, sim_knob("sim0", "fault", "%s 1 1 %d",
					      kind ? "recv" : "send", status));
			rcl_ping(&self->s, kind ? "b" : "a",
				 RCLINK_PING_OP_SEND, 8, 1, NULL);
			ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view));
			rcl_disconnect(&self->s, "b");
			if (kind && is_wrong_size(status)) {
				EXPECT_EQ(RCLINK_DOWN_REASON_NOT_A_MESSAGE,
					  view.reason);
				EXPECT_EQ(status, view.wc_status);
				is_counted(_metadata, self, 0);
				continue;
			}
			is_counted(_metadata, self, counter_of_status(status));
			EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, view.reason);
			EXPECT_EQ(status, view.wc_status)
				TH_LOG("%s", view.reason_text);
			if (!kind && status != SIM_FLUSHED)
				EXPECT_EQ(SIM_VENDOR + status, view.vendor_err);
		}
}

/* A completion tells more than an event that some devices raise before it. */
TEST_F(device, an_event_of_the_qp_gives_way_to_what_completed)
{
	struct genl_sock events;
	struct rcl_view view;
	struct genl_msg m;

	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, genl_join(&events));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "fatal 1 1"));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "send 1 1 %d",
			      SIM_RETRY_EXCEEDED));
	rcl_ping(&self->s, "a", RCLINK_PING_OP_SEND, 8, 1, NULL);
	ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, view.reason)
		TH_LOG("%s", view.reason_text);
	EXPECT_EQ(SIM_RETRY_EXCEEDED, view.wc_status);
	EXPECT_EQ(0, rcl_hear_down(&events, "a", &m, slow(3000)));
	EXPECT_EQ(SIM_RETRY_EXCEEDED,
		  genl_u32(genl_attr(&m, RCLINK_A_LINK_WC_STATUS)));
	EXPECT_EQ(SIM_VENDOR + SIM_RETRY_EXCEEDED,
		  genl_u32(genl_attr(&m, RCLINK_A_LINK_VENDOR_ERR)));
	genl_close(&events);
	rcl_disconnect(&self->s, "b");
}

/* The reason for which an event of port or device ends the link, or 0. */
static uint32_t ends_with(int event)
{
	return event == SIM_DEVICE_FATAL ? RCLINK_DOWN_REASON_DEVICE_FATAL :
	       event == 10 ? RCLINK_DOWN_REASON_PORT_DOWN :
	       event == 11 ? RCLINK_DOWN_REASON_GID_CHANGED : 0;
}

TEST_F(device, every_event_of_port_or_device_is_heard)
{
	struct rcl_view view;
	int event;

	ASSERT_EQ(0, sim_up(&self->s));
	for (event = SIM_DEVICE_FATAL; event < SIM_EVENTS; event++) {
		ASSERT_EQ(0, sim_knob("sim0", "event", "%d", event));
		if (!ends_with(event)) {
			EXPECT_EQ(0, sim_ping(&self->s, "a",
					      RCLINK_PING_OP_SEND, 8))
				TH_LOG("event %d", event);
			continue;
		}
		ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view))
			TH_LOG("event %d", event);
		EXPECT_EQ(ends_with(event), view.reason)
			TH_LOG("event %d: %s", event, view.reason_text);
		ASSERT_EQ(0, sim_again(&self->s));
	}
}

TEST_F(device, every_event_of_the_control_qp_is_heard)
{
	struct rcl_end end[2];
	struct rcl_view view;
	int event, i;

	for (event = 0; event < SIM_DEVICE_FATAL; event++) {
		bool ends = event <= SIM_QP_ACCESS_ERR;

		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, rcl_prepare(&self->s, i ? "b" : "a",
						 &end[i]));
		ASSERT_EQ(0, sim_knob("sim0", "event", "%d %u", event,
				      end[0].qp[0].qpn));
		EXPECT_EQ(-ENOENT, sim_knob("sim1", "event", "%d %u", event,
					    end[0].qp[0].qpn ^ 0x800000));
		if (ends) {
			ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view));
			EXPECT_EQ(event == SIM_QP_REQ_ERR ||
				  event == SIM_QP_ACCESS_ERR ?
				  RCLINK_DOWN_REASON_ACCESS :
				  RCLINK_DOWN_REASON_QP_FATAL, view.reason)
				TH_LOG("event %d: %s", event,
				       view.reason_text);
		} else {
			EXPECT_EQ(0, rcl_disconnect(&self->s, "a"))
				TH_LOG("event %d", event);
		}
		is_counted(_metadata, self, counter_of_event(event));
		rcl_disconnect(&self->s, "b");
	}
}

/* A link is not rotated where that would end channels, and not each time. */
TEST_F(device, a_channel_that_is_refused_access_has_its_link_rotated)
{
	struct genl_sock events;
	struct rcl_end a, b;
	struct rcl_view view;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_RECOVER,
			      RCLINK_RECOVER_RESUME));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, rcl_local(&self->s, "a", &a));
	ASSERT_EQ(0, rcl_local(&self->s, "b", &b));
	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	EXPECT_EQ(0, sim_knob("sim1", "event", "%d %u", SIM_QP_ACCESS_ERR,
			      b.qp[1].qpn));
	EXPECT_EQ(0, sim_knob("sim0", "event", "%d %u", SIM_QP_FATAL,
			      a.qp[2].qpn));
	EXPECT_STREQ("", rcl_to_be_rotated(&events, 500));
	EXPECT_EQ(0, sim_knob("sim0", "event", "%d %u", SIM_QP_ACCESS_ERR,
			      a.qp[1].qpn));
	/* Then the peer's link, too: its daemon may be the one that dials. */
	EXPECT_STREQ("a", rcl_to_be_rotated(&events, slow(5000)));
	EXPECT_STREQ("b", rcl_to_be_rotated(&events, slow(5000)));
	EXPECT_EQ(0, sim_knob("sim0", "event", "%d %u", SIM_QP_ACCESS_ERR,
			      a.qp[1].qpn));
	EXPECT_STREQ("", rcl_to_be_rotated(&events, 500));
	/* Each event is counted all the same. */
	EXPECT_EQ(2, rcl_stat(&self->s, "a", RCLINK_A_STATS_QP_ACCESS_EVENTS));
	EXPECT_EQ(0, rcl_stat(&self->s, "a", RCLINK_A_STATS_QP_REQUEST_EVENTS));
	EXPECT_EQ(1, rcl_stat(&self->s, "b", RCLINK_A_STATS_QP_ACCESS_EVENTS));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(0, sim_ping(&self->s, "a", RCLINK_PING_OP_WRITE, 4097));
	genl_close(&events);
}

TEST_HARNESS_MAIN
