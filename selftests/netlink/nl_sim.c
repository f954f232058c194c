// SPDX-License-Identifier: GPL-2.0
/*
 * Links between two simulated InfiniBand ports, a on sim0 and b on sim1:
 * addressing by LID and by GRH, changes by a subnet manager, messages that the
 * wire loses, delays or damages, and events and errors of the device.
 */
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "harness.h"

#define FULL		0x8000	/* full member of a partition */
#define LOOKS		2	/* port queries: its state, and if it changed */
#define LATE_MS		6000	/* longer than a host stands still */

FIXTURE(ports)
{
	struct genl_sock s;
	int objects;		/* of other devices */
};

FIXTURE_SETUP(ports)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
}

FIXTURE_TEARDOWN(ports)
{
	sim_end(&self->s);
}

static int data_comes_back(struct genl_sock *s)
{
	static const int64_t sizes[] = { 1, 4095, 4096, 4097, 65536 };
	unsigned int i;
	uint32_t op;
	int ret = 0;

	for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_READ; op++)
		for (i = 0; !ret && i < ARRAY_SIZE(sizes); i++)
			ret = sim_ping(s, i % 2 ? "a" : "b", op, sizes[i]);
	for (; !ret && op <= RCLINK_PING_OP_FADD; op++)
		ret = sim_ping(s, "a", op, 8);
	return ret;
}

TEST_F(ports, a_link_finds_its_peer_by_lid)
{
	struct rcl_end end;

	ASSERT_EQ(0, rcl_prepare(&self->s, "b", &end));
	EXPECT_EQ(RCLINK_LINK_LAYER_INFINIBAND, end.link_layer);
	EXPECT_EQ(2, end.lid);
	EXPECT_EQ(4096, end.mtu);
	EXPECT_EQ(RCLINK_ATOMICS_HCA, end.atomics);
	EXPECT_EQ(RCLINK_ATOMICS_HCA, end.masked_atomics);
	EXPECT_EQ(0, rcl_disconnect(&self->s, "b"));
	ASSERT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, data_comes_back(&self->s));
}

/* The RDMA core updates its GID table in a work item, so poll for it. */
static bool gid_becomes(const char *device, const char *begins)
{
	char path[128], gid[64];
	int tries;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/0",
		 device);
	for (tries = slow(10000) / 10; tries; tries--) {
		in = fopen(path, "r");
		if (!in)
			return false;
		if (!fgets(gid, sizeof(gid), in))
			*gid = '\0';
		fclose(in);
		if (!strncmp(gid, begins, strlen(begins)))
			return true;
		usleep(10000);
	}
	return false;
}

TEST_F(ports, a_peer_in_another_subnet_is_found_by_its_gid)
{
	ASSERT_EQ(0, sim_knob("sim1", "prefix", "0xfec0000000000001"));
	ASSERT_TRUE(gid_becomes("sim1", "fec0:0000:0000:0001:"));
	ASSERT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, data_comes_back(&self->s));
}

/*
 * Connects a with b's values as changed by @change. The end that then finds no
 * answer goes down: a if @told_fails, else b.
 */
static void told_wrong(struct __test_metadata *_metadata,
		       struct _test_data_ports *self, struct rcl_end *b,
		       void (*change)(struct rcl_end *end), bool told_fails)
{
	struct rcl_view view;
	struct rcl_end a;
	uint64_t epoch;

	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &a));
	ASSERT_EQ(0, rcl_prepare(&self->s, "b", b));
	epoch = a.epoch > b->epoch ? a.epoch : b->epoch;
	a.pkey = 0;
	change(b);
	ASSERT_EQ(0, rcl_connect(&self->s, "a", a.epoch,
				 RCLINK_ROLE_INITIATOR, b, NULL));
	ASSERT_EQ(0, rcl_connect(&self->s, "b", b->epoch,
				 RCLINK_ROLE_RESPONDER, &a, NULL));
	ASSERT_EQ(0, rcl_activate(&self->s, "a", epoch, NULL));
	ASSERT_EQ(0, rcl_activate(&self->s, "b", epoch, NULL));
	ASSERT_EQ(0, sim_goes_down(&self->s, told_fails ? "a" : "b", &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, view.reason);
	EXPECT_EQ(SIM_RETRY_EXCEEDED, view.wc_status)
		TH_LOG("%s", view.reason_text);
}

/*
 * Not by one: the peer would take the first message for a duplicate, and its
 * ACK would be as expected (IBA 9.7.5.1.2).
 */
static void later_psn(struct rcl_end *end)
{
	end->qp[0].psn = (end->qp[0].psn + 1000) & 0xffffff;
}

static void older_psn(struct rcl_end *end)
{
	end->qp[0].psn = (end->qp[0].psn - 1) & 0xffffff;
}

static void other_qpn(struct rcl_end *end)
{
	end->qp[0].qpn ^= 0x800000;
	if (end->qp[0].qpn < 2)
		end->qp[0].qpn += 2;
}

static void other_lid(struct rcl_end *end)
{
	end->lid = 77;
}

static void no_partition(struct rcl_end *end)
{
	end->pkey = 0;
}

TEST_F(ports, what_does_not_fit_is_not_answered)
{
	static const struct {
		void (*change)(struct rcl_end *end);
		bool told_fails;	/* a goes down, else b */
	} cases[] = {
		{ later_psn, false },
		{ older_psn, false },
		{ other_qpn, true },
		{ other_lid, true },
	};
	struct rcl_end end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		told_wrong(_metadata, self, &end, cases[i].change,
			   cases[i].told_fails);
		rcl_disconnect(&self->s, "a");
		rcl_disconnect(&self->s, "b");
	}
	ASSERT_EQ(0, sim_again(&self->s));
}

/* Makes both links anew, in other partitions of the same ports. */
static int partition(struct genl_sock *s, uint16_t a, uint16_t b)
{
	int ret;

	rcl_del(s, "a");
	rcl_del(s, "b");
	ret = sim_knob("sim0", "pkey", "1 0x%x", a);
	if (!ret)
		ret = sim_knob("sim1", "pkey", "1 0x%x", b);
	if (!ret)
		ret = sim_link(s, "a", "sim0", RCLINK_A_LINK_PKEY_INDEX, 1);
	return ret ? ret : sim_link(s, "b", "sim1", RCLINK_A_LINK_PKEY_INDEX,
				    1);
}

TEST_F(ports, members_of_a_partition_reach_each_other)
{
	ASSERT_EQ(0, partition(&self->s, 5 | FULL, 5 | FULL));
	EXPECT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, partition(&self->s, 5 | FULL, 5));
	EXPECT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, data_comes_back(&self->s));
}

/* 0 if a refuses b's end, which claims to be in partition @said, with @why. */
static int refused_as(struct genl_sock *s, uint32_t said, const char *why)
{
	struct rcl_end a, b;
	struct genl_ack ack;
	int ret;

	ret = rcl_prepare(s, "a", &a);
	if (!ret)
		ret = rcl_prepare(s, "b", &b);
	if (ret)
		return ret;
	b.pkey = said;
	ret = rcl_connect(s, "a", a.epoch, RCLINK_ROLE_INITIATOR, &b, &ack);
	rcl_disconnect(s, "a");
	rcl_disconnect(s, "b");
	return ret == -EINVAL && strstr(ack.text, why) ? 0 : -EPROTO;
}

TEST_F(ports, others_are_refused_or_do_not_if_they_do_not_say)
{
	struct rcl_end end;

	ASSERT_EQ(0, partition(&self->s, 5 | FULL, 6 | FULL));
	EXPECT_EQ(0, refused_as(&self->s, 6 | FULL, "another partition"));
	told_wrong(_metadata, self, &end, no_partition, true);
	ASSERT_EQ(0, partition(&self->s, 5, 5));
	EXPECT_EQ(0, refused_as(&self->s, 5, "limited members"));
	ASSERT_EQ(0, partition(&self->s, 0x8000, 5));
	EXPECT_EQ(-ENODATA, rcl_prepare(&self->s, "a", &end));
}

TEST_F(ports, another_subnet_manager_changes_nothing)
{
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_knob("sim0", "sm_lid", "9"));
	ASSERT_EQ(0, sim_knob("sim1", "sm_lid", "9"));
	EXPECT_EQ(0, data_comes_back(&self->s));
}

TEST_F(ports, another_lid_or_a_port_that_is_down_ends_the_epoch)
{
	static const struct {
		const char *knob, *value;
		uint32_t reason;
	} cases[] = {
		{ "lid", "11", RCLINK_DOWN_REASON_GID_CHANGED },
		{ "up", "0", RCLINK_DOWN_REASON_PORT_DOWN },
	};
	struct rcl_view view;
	struct rcl_end end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, sim_up(&self->s));
		ASSERT_EQ(0, sim_knob("sim0", cases[i].knob, "%s",
				      cases[i].value));
		ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view));
		EXPECT_EQ(cases[i].reason, view.reason)
			TH_LOG("%s: %s", cases[i].knob, view.reason_text);
		rcl_disconnect(&self->s, "b");
	}
	EXPECT_EQ(-ENODEV, rcl_prepare(&self->s, "a", &end));
	ASSERT_EQ(0, sim_knob("sim0", "up", "1"));
	ASSERT_EQ(0, sim_again(&self->s));
}

/* A thread that asks for something on the port of sim0. */
struct asker {
	struct genl_sock s;
	int (*ask)(struct genl_sock *s, struct genl_ack *ack);
	struct genl_ack ack;
	int ret;
};

static int prepare(struct genl_sock *s, struct genl_ack *ack)
{
	return rcl_named(s, RCLINK_CMD_LINK_PREPARE, "a", ack);
}

static void *run(void *arg)
{
	struct asker *asker = arg;

	asker->ret = asker->ask(&asker->s, &asker->ack);
	return NULL;
}

/* Waits for RCLINK_CMD_DEV_NTF: then the users of the port were told. */
static int hear_of_port(struct genl_sock *events)
{
	struct genl_msg m;
	int ret;

	do
		ret = genl_recv(events, &m, slow(5000));
	while (!ret && genl_cmd(&m) != RCLINK_CMD_DEV_NTF);
	return ret;
}

/* Changes the LID of sim0 while the device is slow to answer the asker. */
static void lid_changes(struct __test_metadata *_metadata, struct asker *asker)
{
	struct genl_sock events;
	pthread_t thread;
	long seen;

	ASSERT_EQ(0, rcl_open(&asker->s));
	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "slow_port %d 1 %d", LOOKS,
			      LATE_MS));
	seen = sim_seen("sim0", "slow_port");
	ASSERT_EQ(0, pthread_create(&thread, NULL, run, asker));
	while (sim_seen("sim0", "slow_port") < seen + LOOKS)
		usleep(1000);
	EXPECT_EQ(0, sim_knob("sim0", "lid", "11"));
	EXPECT_EQ(0, hear_of_port(&events));
	pthread_join(thread, NULL);
	genl_close(&events);
	genl_close(&asker->s);
}

TEST_F(ports, a_lid_that_changes_while_a_link_is_prepared_is_told)
{
	struct asker asker = { .ask = prepare };

	lid_changes(_metadata, &asker);
	EXPECT_EQ(-EAGAIN, asker.ret);
	EXPECT_NE(NULL, strstr(asker.ack.text, "another LID"))
		TH_LOG("%s", asker.ack.text);
	ASSERT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, data_comes_back(&self->s));
}

TEST_F(ports, a_lid_that_changes_while_a_group_is_joined_is_looked_at_again)
{
	struct asker asker = { .ask = sim_group };

	lid_changes(_metadata, &asker);
	EXPECT_EQ(0, asker.ret) TH_LOG("%s", asker.ack.text);
	EXPECT_EQ(0, rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g", NULL));
	EXPECT_EQ(self->objects, rcl_all_objects());
}

/*
 * The RDMA core does not report a GID change of an InfiniBand port, but a
 * subnet manager that changed something also asks its clients to reregister.
 */
TEST_F(ports, another_gid_ends_the_epoch_when_it_is_told)
{
	struct rcl_view view;
	struct rcl_end end;

	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_knob("sim0", "event", "%d", SIM_REREGISTER));
	EXPECT_EQ(0, sim_ping(&self->s, "a", RCLINK_PING_OP_SEND, 8));
	ASSERT_EQ(0, sim_knob("sim0", "guid", "0x0200000000000077"));
	ASSERT_EQ(0, sim_knob("sim0", "event", "%d", SIM_REREGISTER));
	ASSERT_EQ(0, sim_goes_down(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_GID_CHANGED, view.reason)
		TH_LOG("%s", view.reason_text);
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	EXPECT_EQ(0x77, end.gid[RCLINK_GID_LEN - 1]);
	ASSERT_EQ(0, sim_again(&self->s));
}

TEST_F(ports, a_message_may_be_lost_or_late_or_come_twice)
{
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "drop 2"));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "lose_ack 5"));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "duplicate 3 4"));
	ASSERT_EQ(0, sim_knob("sim1", "fault", "delay 3 2 30"));
	EXPECT_EQ(0, data_comes_back(&self->s));
	ASSERT_EQ(0, sim_knob("sim1", "fault", "lose_ack 1"));
	EXPECT_EQ(0, sim_ping(&self->s, "b", RCLINK_PING_OP_FADD, 8));
	ASSERT_EQ(0, sim_knob("sim1", "fault", "lose_ack 1"));
	EXPECT_EQ(0, sim_ping(&self->s, "b", RCLINK_PING_OP_READ, 65536));
}

TEST_F(ports, a_message_that_was_damaged_is_not_believed)
{
	struct rcl_view view;

	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "corrupt 1"));
	rcl_ping(&self->s, "a", RCLINK_PING_OP_SEND, 8, 1, NULL);
	ASSERT_EQ(0, sim_goes_down(&self->s, "b", &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_UNAUTHENTICATED, view.reason)
		TH_LOG("%s", view.reason_text);
}

static int set_timeout(struct genl_sock *s, const char *name, uint32_t value)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_TIMEOUT, value);
	return genl_ask(s, &m, NULL, NULL);
}

/*
 * The hello gets through and nothing after it, as with a switch that forwards
 * only small packets. A device that retries for ever reports no error.
 */
TEST_F_TIMEOUT(ports, a_probe_that_is_lost_ends_the_epoch, 60)
{
	static const char text[] = "packets of 4096 bytes do not come through";
	struct rcl_view view;
	int for_ever;

	for (for_ever = 0; for_ever < 2; for_ever++) {
		if (for_ever)
			ASSERT_EQ(0, set_timeout(&self->s, "a", 31));
		ASSERT_EQ(0, sim_knob("sim0", "fault", "drop 2 1000"));
		ASSERT_EQ(0, rcl_pair(&self->s, "a", "b",
				      RCLINK_LINK_STATE_CONNECTED));
		ASSERT_EQ(0, rcl_view(&self->s, "a", &view));
		ASSERT_EQ(0, rcl_activate(&self->s, "a", view.epoch, NULL));
		ASSERT_EQ(0, rcl_activate(&self->s, "b", view.epoch, NULL));
		ASSERT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN,
				       15000));
		ASSERT_EQ(0, rcl_view(&self->s, "a", &view));
		EXPECT_EQ(RCLINK_DOWN_REASON_MTU, view.reason);
		EXPECT_EQ(0, strncmp(text, view.reason_text, strlen(text)))
			TH_LOG("%s", view.reason_text);
		ASSERT_EQ(0, rcl_view(&self->s, "b", &view));
		EXPECT_NE(RCLINK_LINK_STATE_UP, view.state);
		rcl_disconnect(&self->s, "b");
	}
}

TEST_F(ports, a_device_goes_with_everything_in_flight)
{
	struct timespec begin, end;
	struct rcl_pong pong;
	struct rcl_view view;
	int i, taken = 0;

	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "delay 40 1 60000"));
	for (i = 0; i < 60; i++)
		taken += !rcl_ping(&self->s, i % 2 ? "a" : "b",
				   RCLINK_PING_OP_SEND + i % 3, 65536, i,
				   NULL);
	EXPECT_EQ(60, taken);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	EXPECT_EQ(0, sim_del_device("sim0"));
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_GT(slow(10), end.tv_sec - begin.tv_sec);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, view.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_DEVICE_REMOVED, view.reason)
		TH_LOG("%s", view.reason_text);
	rcl_disconnect(&self->s, "b");
	for (i = 0; i < taken; i++)
		ASSERT_EQ(0, rcl_pong(&self->s, &pong, slow(10000)));
	EXPECT_EQ(self->objects, rcl_all_objects());
	ASSERT_EQ(0, sim_new_device("sim0 ib 1"));
	ASSERT_EQ(0, sim_again(&self->s));
}

/* Makes sim0 anew, with limits, and prepares a link there. */
static int limited(struct genl_sock *s, const char *limits,
		   struct rcl_end *end)
{
	char line[64];
	int ret;

	snprintf(line, sizeof(line), "sim0 ib 1 %s", limits);
	ret = sim_del_device("sim0");
	if (!ret)
		ret = sim_new_device(line);
	if (!ret)
		ret = rcl_prepare(s, "a", end);
	return ret;
}

TEST_F(ports, a_small_device_is_said_to_be_too_small)
{
	struct rcl_end end;
	int all;

	EXPECT_EQ(-EINVAL, limited(&self->s, "qps=4", &end));
	EXPECT_EQ(-EINVAL, limited(&self->s, "pages=15", &end));
	all = rcl_all_objects();
	EXPECT_EQ(-EINVAL, limited(&self->s, "cqes=30", &end));
	EXPECT_EQ(-ENOMEM, limited(&self->s, "mrs=1", &end));
	EXPECT_EQ(all, rcl_all_objects());
	EXPECT_EQ(0, limited(&self->s, "qps=5 pages=16 mrs=2 atomics=0",
			     &end));
	EXPECT_EQ(RCLINK_ATOMICS_NONE, end.atomics);
	EXPECT_EQ(RCLINK_ATOMICS_NONE, end.masked_atomics);
	EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(-EOPNOTSUPP, sim_ping(&self->s, "a", RCLINK_PING_OP_CAS, 8));
	EXPECT_EQ(0, sim_ping(&self->s, "a", RCLINK_PING_OP_READ, 65536));
}

static int ask_port(struct genl_sock *s, struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	genl_put_str(&m, RCLINK_A_DEV_NAME, SIM_NEAR);
	genl_put_u32(&m, RCLINK_A_DEV_PORT, 1);
	return genl_ask(s, &m, NULL, ack);
}

/* The port exists even if it cannot be read; -ENOMEM is not its fault. */
TEST_F(ports, why_a_port_is_not_read_is_told)
{
	struct genl_ack ack;

	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "query_port 1 100 %d", -EIO));
	EXPECT_EQ(-ENODEV, prepare(&self->s, &ack));
	EXPECT_STREQ("the port cannot be read", ack.text);
	EXPECT_EQ(-EIO, ask_port(&self->s, &ack));
	EXPECT_STREQ("the port cannot be read", ack.text);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "query_port 1 100 %d",
			      -ENOMEM));
	EXPECT_EQ(-ENOMEM, prepare(&self->s, &ack));
	EXPECT_STREQ("out of memory", ack.text);
	EXPECT_EQ(-ENOMEM, ask_port(&self->s, &ack));
	EXPECT_STREQ("out of memory", ack.text);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "query_port 1 0"));
	EXPECT_EQ(0, prepare(&self->s, &ack));
}

static void count(const struct genl_msg *m, void *arg)
{
	int *n = arg;

	(void)m;
	++*n;
}

/* The request fetches the first ports, reading the reply the rest. */
TEST_F(ports, a_dump_of_ports_says_that_a_device_came_or_went)
{
	struct genl_msg m;
	int i, n;

	for (i = 0; i < 3; i++) {
		n = 0;
		genl_begin(&m, &self->s, RCLINK_CMD_DEV_GET);
		ASSERT_EQ(0, genl_send(&self->s, &m, NLM_F_DUMP));
		if (i == 1)
			ASSERT_EQ(0, sim_new_device("sim2 ib 3"));
		if (i == 2)
			ASSERT_EQ(0, sim_del_device("sim2"));
		EXPECT_EQ(i ? -EINTR : 0, genl_dump_rest(&self->s, count, &n));
		EXPECT_LE(2, n);
	}
}

TEST_HARNESS_MAIN
