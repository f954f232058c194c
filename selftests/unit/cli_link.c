// SPDX-License-Identifier: GPL-2.0
/* Structs into netlink messages and back, and what refusals say. */
#include "link.h"

#include <errno.h>
#include <string.h>

#include <kselftest_harness.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "group.h"
#include "nl.h"
#include "text.h"

#define FAMILY	0x20

FIXTURE(msg)
{
	struct nl_msg *msg;
	struct nlmsghdr *hdr;
};

FIXTURE_SETUP(msg)
{
	self->msg = nlmsg_alloc();
	ASSERT_NE(NULL, self->msg);
	genlmsg_put(self->msg, 0, 1, FAMILY, 0, 0, RCLINK_CMD_LINK_GET, 1);
	self->hdr = nlmsg_hdr(self->msg);
}

FIXTURE_TEARDOWN(msg)
{
	rcl_nl_msg_free(self->msg);
}

static struct rcl_endpoint endpoint(uint32_t nqps)
{
	struct rcl_endpoint ep = {
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid = { 0x20, 1, 0x0d, 0xb8, [15] = 9 },
		.lid = 0xbfff,
		.mtu = 4096,
		.rd_atomic = 16,
		.atomics = RCLINK_ATOMICS_HCA,
		.epoch = 1ULL << 40,
		.addr = ~0ULL,
		.rkey = 0xdeadbeef,
		.length = 65536,
		.nqps = nqps,
	};
	uint32_t i;

	for (i = 0; i < nqps; i++)
		ep.qp[i] = (struct rcl_qp_id){ 2 + i, 0xffffff - i };
	return ep;
}

TEST_F(msg, a_policy_comes_back)
{
	struct rcl_policy policy = {
		.device = "rxe0", .device_given = true,
		.netdev = "123456789012345", .netdev_given = true,
	};
	struct rcl_link_info info;
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		policy.v[i] = 100 + i;
		policy.given |= 1u << i;
	}
	ASSERT_EQ(0, rcl_link_put_policy(self->msg, "alpha", &policy));
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	EXPECT_STREQ("alpha", info.name);
	EXPECT_EQ(0, memcmp(&policy, &info.policy, sizeof(policy)));
}

TEST_F(msg, what_is_not_given_is_not_sent)
{
	struct rcl_policy policy = { .given = 1u << RCL_P_RETRY };
	struct rcl_link_info info;

	ASSERT_EQ(0, rcl_link_put_policy(self->msg, "alpha", &policy));
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	EXPECT_EQ(1u << RCL_P_RETRY, info.policy.given);
	EXPECT_EQ(0, info.policy.v[RCL_P_RETRY]);
	EXPECT_STREQ("", info.policy.device);
	EXPECT_STREQ("", info.policy.netdev);
	EXPECT_TRUE(rcl_gid_is_unset(info.gid));
	EXPECT_FALSE(info.has_local || info.has_remote);
}

TEST_F(msg, the_largest_endpoint_comes_back)
{
	struct rcl_endpoint ep = endpoint(1 + RCLINK_QPS_MAX);
	struct rcl_connect connect = {
		.link = "alpha", .epoch = 5, .peer = "host.example",
		.role = RCLINK_ROLE_INITIATOR, .remote = &ep,
	};
	struct rcl_link_info info;

	ASSERT_EQ(0, rcl_link_put_connect(self->msg, &connect));
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	ASSERT_TRUE(info.has_remote);
	EXPECT_EQ(0, memcmp(&ep, &info.remote, sizeof(ep)));
	EXPECT_EQ(5, info.epoch);
	EXPECT_STREQ("host.example", info.peer);
	EXPECT_EQ(RCLINK_ROLE_INITIATOR, info.role);
}

TEST_F(msg, nests_say_that_they_are)
{
	struct rcl_endpoint ep = endpoint(1);
	struct rcl_connect connect = {
		.link = "a", .peer = "b", .remote = &ep,
	};
	const struct nlattr *nla;

	ASSERT_EQ(0, rcl_link_put_connect(self->msg, &connect));
	nla = nlmsg_find_attr(self->hdr, GENL_HDRLEN, RCLINK_A_LINK_REMOTE);
	ASSERT_NE(NULL, nla);
	EXPECT_TRUE(nla->nla_type & NLA_F_NESTED);
	nla = nla_find(nla_data(nla), nla_len(nla), RCLINK_A_ENDPOINT_QP);
	ASSERT_NE(NULL, nla);
	EXPECT_TRUE(nla->nla_type & NLA_F_NESTED);
}

TEST_F(msg, an_endpoint_with_too_many_qps_is_refused)
{
	struct rcl_endpoint ep = endpoint(1 + RCLINK_QPS_MAX);
	struct rcl_connect connect = {
		.link = "a", .peer = "b", .remote = &ep,
	};
	struct rcl_link_info info;
	struct nlattr *nest, *qp;

	ASSERT_EQ(0, rcl_link_put_connect(self->msg, &connect));
	nest = nlmsg_find_attr(self->hdr, GENL_HDRLEN, RCLINK_A_LINK_REMOTE);
	qp = nla_nest_start(self->msg, RCLINK_A_ENDPOINT_QP);
	nla_put_u32(self->msg, RCLINK_A_QP_QPN, 1);
	nla_put_u32(self->msg, RCLINK_A_QP_PSN, 1);
	nla_nest_end(self->msg, qp);
	nla_nest_end(self->msg, nest);
	EXPECT_EQ(-EPROTO, rcl_link_get(self->hdr, &info));
}

TEST_F(msg, a_message_that_is_full_is_noticed)
{
	struct rcl_endpoint ep = endpoint(1 + RCLINK_QPS_MAX);
	struct rcl_connect connect = {
		.link = "a", .peer = "b", .remote = &ep,
	};
	struct nl_msg *small = nlmsg_alloc_size(512);

	genlmsg_put(small, 0, 1, FAMILY, 0, 0, RCLINK_CMD_LINK_CONNECT, 1);
	EXPECT_EQ(-EMSGSIZE, rcl_link_put_connect(small, &connect));
	rcl_nl_msg_free(small);
}

TEST_F(msg, counters_and_what_is_unknown)
{
	struct rcl_link_info info;
	struct nlattr *nest;
	int i;

	nla_put_string(self->msg, RCLINK_A_LINK_NAME, "alpha");
	nla_put_u32(self->msg, RCLINK_A_LINK_MAX + 5, 1);
	nest = nla_nest_start(self->msg, RCLINK_A_LINK_STATS);
	for (i = RCLINK_A_STATS_EPOCHS; i < RCLINK_A_STATS_PAD; i++)
		nla_put_u64(self->msg, i, (1ULL << 33) + i);
	nla_nest_end(self->msg, nest);
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	for (i = RCLINK_A_STATS_EPOCHS; i < RCLINK_A_STATS_PAD; i++)
		EXPECT_EQ((1ULL << 33) + i, info.counter[i]);
}

static void put_latency(struct nl_msg *msg, unsigned int buckets)
{
	struct nlattr *nest = nla_nest_start(msg, RCLINK_A_LINK_LATENCY);
	unsigned int i;

	nla_put_u64(msg, RCLINK_A_LATENCY_SUM, 1ULL << 40);
	for (i = 0; i < buckets; i++)
		nla_put_u64(msg, RCLINK_A_LATENCY_BUCKET, i);
	nla_nest_end(msg, nest);
}

TEST_F(msg, round_trips_and_what_they_tell)
{
	struct rcl_link_info info;

	put_latency(self->msg, RCLINK_LATENCY_BUCKETS);
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	EXPECT_EQ(1ULL << 40, info.latency.sum);
	EXPECT_EQ(5, info.latency.bucket[5]);
	/* 23 * 24 / 2, as each bucket has as many as its index */
	EXPECT_EQ(276, rcl_latency_count(&info.latency));
	EXPECT_EQ(2000, rcl_latency_limit(1));
	EXPECT_EQ(0, rcl_latency_limit(RCLINK_LATENCY_BUCKETS - 1));
	/* 136 are in buckets up to 16, 153 in those up to 17: half is 138 */
	EXPECT_EQ(1000ULL << 17, rcl_latency_percentile(&info.latency, 50));
	EXPECT_EQ(0, rcl_latency_percentile(&info.latency, 99));
	memset(&info.latency, 0, sizeof(info.latency));
	EXPECT_EQ(0, rcl_latency_percentile(&info.latency, 50));
	info.latency.bucket[3] = 1;
	EXPECT_EQ(8000, rcl_latency_percentile(&info.latency, 50));
	EXPECT_EQ(8000, rcl_latency_percentile(&info.latency, 99));
}

TEST_F(msg, more_buckets_than_there_are_do_not_count)
{
	struct rcl_link_info info;

	put_latency(self->msg, RCLINK_LATENCY_BUCKETS + 1);
	EXPECT_EQ(-EPROTO, rcl_link_get(self->hdr, &info));
}

TEST(what_an_intruder_set_off_is_told)
{
	uint64_t counter[RCLINK_A_STATS_PAD] = { [RCLINK_A_STATS_DOWNS] = 7 };
	char text[RCL_TRIP_TEXT_LEN];
	int i;

	EXPECT_EQ(NULL, rcl_trip_text(counter, text));
	counter[RCLINK_A_STATS_RX_WRONG_KIND] = 2;
	counter[RCLINK_A_STATS_RX_UNAUTHENTICATED] = 1;
	EXPECT_STREQ("1 not authentic, 2 of the wrong kind",
		     rcl_trip_text(counter, text));
	for (i = RCLINK_A_STATS_EPOCHS; i < RCLINK_A_STATS_PAD; i++)
		counter[i] = UINT64_MAX;
	EXPECT_GT(sizeof(text) - 1, strlen(rcl_trip_text(counter, text)));
}

TEST_F(msg, a_text_without_end_is_cut)
{
	struct rcl_link_info info;
	char text[RCLINK_NAME_MAX + 20];

	memset(text, 'x', sizeof(text));
	nla_put(self->msg, RCLINK_A_LINK_NAME, sizeof(text), text);
	ASSERT_EQ(0, rcl_link_get(self->hdr, &info));
	EXPECT_EQ(RCLINK_NAME_MAX, strlen(info.name));
}

TEST_F(msg, numbers_of_the_wrong_length_are_refused)
{
	static const int attrs[] = {
		RCLINK_A_LINK_STATE, RCLINK_A_LINK_EPOCH, RCLINK_A_LINK_GID,
		RCLINK_A_LINK_MTU,
	};
	struct rcl_link_info info;
	char data[20] = { 0 };
	unsigned int i, len;

	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		for (len = 0; len < sizeof(data); len++) {
			struct nl_msg *msg = nlmsg_alloc();

			genlmsg_put(msg, 0, 1, FAMILY, 0, 0, 1, 1);
			nla_put(msg, attrs[i], len, data);
			if (len != 4 && len != 8 && len != 16)
				EXPECT_EQ(-EPROTO,
					  rcl_link_get(nlmsg_hdr(msg), &info));
			rcl_nl_msg_free(msg);
		}
	}
}

TEST_F(msg, every_truncation_is_survived)
{
	struct rcl_endpoint ep = endpoint(3);
	struct rcl_connect connect = {
		.link = "alpha", .peer = "b", .remote = &ep,
	};
	struct rcl_link_info info;
	uint32_t len, full;
	void *copy;

	ASSERT_EQ(0, rcl_link_put_connect(self->msg, &connect));
	full = self->hdr->nlmsg_len;
	for (len = NLMSG_HDRLEN; len < full; len++) {
		/* Of exactly this length: the sanitizer finds overruns. */
		copy = malloc(len);
		memcpy(copy, self->hdr, len);
		((struct nlmsghdr *)copy)->nlmsg_len = len;
		rcl_link_get(copy, &info);
		free(copy);
	}
}

TEST_F(msg, a_port_with_its_gids)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 1 };
	struct rcl_dev_info info;
	struct nlattr *nest;
	int i;

	nla_put_string(self->msg, RCLINK_A_DEV_NAME, "mlx5_0");
	nla_put_u32(self->msg, RCLINK_A_DEV_PORT, 2);
	for (i = 0; i < 3; i++) {
		nest = nla_nest_start(self->msg, RCLINK_A_DEV_GID);
		nla_put_u32(self->msg, RCLINK_A_GID_INDEX, 10 + i);
		nla_put(self->msg, RCLINK_A_GID_VALUE, 16, gid);
		nla_put_string(self->msg, RCLINK_A_GID_NETDEV, "eth0");
		nla_nest_end(self->msg, nest);
	}
	nla_put_u32(self->msg, RCLINK_A_DEV_CHOSEN_GID, 11);
	ASSERT_EQ(0, rcl_dev_get(self->hdr, &info));
	EXPECT_STREQ("mlx5_0", info.name);
	EXPECT_EQ(2, info.port);
	ASSERT_EQ(3, info.ngids);
	EXPECT_EQ(12, info.gids[2].index);
	EXPECT_STREQ("eth0", info.gids[2].netdev);
	EXPECT_EQ(0, memcmp(gid, info.gids[2].gid, 16));
	EXPECT_TRUE(info.has_chosen);
	EXPECT_EQ(11, info.chosen_gid);
	rcl_dev_info_free(&info);
}

static void put_peer(struct nl_msg *msg, uint32_t sender)
{
	struct nlattr *nest = nla_nest_start(msg, RCLINK_A_GROUP_PEER);
	uint8_t gid[RCLINK_GID_LEN] = { 0xfe, 0x80, [15] = sender };

	nla_put_u32(msg, RCLINK_A_GROUP_PEER_SENDER, sender);
	nla_put(msg, RCLINK_A_GROUP_PEER_GID, sizeof(gid), gid);
	nla_put_u64(msg, RCLINK_A_GROUP_PEER_MESSAGES, 1ULL << 40);
	nla_put_u32(msg, RCLINK_A_GROUP_PEER_AGE, 700);
	nla_nest_end(msg, nest);
}

TEST_F(msg, a_group_with_all_that_it_has_more_than_once)
{
	struct rcl_group_info info;
	struct nlattr *nest;
	int i;

	nla_put_string(self->msg, RCLINK_A_GROUP_NAME, "g");
	nla_put_u32(self->msg, RCLINK_A_GROUP_QKEY, 7);
	nla_put_string(self->msg, RCLINK_A_GROUP_REFUSAL, "no multicast");
	nla_put_u64(self->msg, RCLINK_A_GROUP_KEY_ID, ~0ULL);
	nla_put_u32(self->msg, RCLINK_A_GROUP_OWNER, 1000);
	nla_put_u32(self->msg, RCLINK_A_GROUP_GROUP, 1001);
	nla_put_u32(self->msg, RCLINK_A_GROUP_MODE, 0640);
	nest = nla_nest_start(self->msg, RCLINK_A_GROUP_STATS);
	for (i = 1; i < RCLINK_A_GROUP_STATS_PAD; i++)
		nla_put_u64(self->msg, i, (1ULL << 33) + i);
	nla_nest_end(self->msg, nest);
	for (i = 0; i < RCLINK_GROUP_LINKS_MAX + 1; i++)
		nla_put_string(self->msg, RCLINK_A_GROUP_LINK, "l");
	put_peer(self->msg, 1);
	put_peer(self->msg, 2);
	ASSERT_EQ(0, rcl_group_get(self->hdr, &info));
	EXPECT_STREQ("g", info.name);
	EXPECT_TRUE(info.has_qkey && info.has_key && !info.has_gid_index);
	EXPECT_EQ(7, info.qkey);
	EXPECT_STREQ("no multicast", info.refusal);
	EXPECT_EQ(~0ULL, info.key_id);
	EXPECT_EQ(1000, info.access.v[RCL_P_OWNER]);
	EXPECT_EQ(1001, info.access.v[RCL_P_GROUP]);
	EXPECT_EQ(0640, info.access.v[RCL_P_MODE]);
	for (i = 1; i < RCLINK_A_GROUP_STATS_PAD; i++)
		EXPECT_EQ((1ULL << 33) + i, info.stats[i]);
	ASSERT_EQ(RCLINK_GROUP_LINKS_MAX, info.nlinks);
	EXPECT_STREQ("l", info.link[RCLINK_GROUP_LINKS_MAX - 1]);
	ASSERT_EQ(2, info.npeers);
	EXPECT_EQ(2, info.peer[1].sender);
	EXPECT_EQ(2, info.peer[1].gid[15]);
	EXPECT_EQ(1ULL << 40, info.peer[1].messages);
	EXPECT_EQ(700, info.peer[1].age);
}

TEST_F(msg, a_peer_of_a_group_with_a_number_of_the_wrong_length)
{
	struct rcl_group_info info;
	struct nlattr *nest;

	put_peer(self->msg, 1);
	nest = nla_nest_start(self->msg, RCLINK_A_GROUP_PEER);
	nla_put_u32(self->msg, RCLINK_A_GROUP_PEER_MESSAGES, 1);
	nla_nest_end(self->msg, nest);
	put_peer(self->msg, 2);
	EXPECT_EQ(-EPROTO, rcl_group_get(self->hdr, &info));
}

TEST_F(msg, a_ping_comes_back)
{
	struct rcl_ping ping = {
		.link = "alpha", .op = RCLINK_PING_OP_CAS, .size = 8,
		.cookie = ~0ULL, .count = 7,
	};
	const struct genlmsghdr *genl = nlmsg_data(self->hdr);
	struct rcl_ping back;
	struct nlattr *count;

	ASSERT_EQ(0, rcl_ping_put(self->msg, &ping));
	ASSERT_EQ(0, rcl_ping_get(self->hdr, &back));
	count = nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0),
			 RCLINK_A_PING_COUNT);
	ASSERT_NE(NULL, count);
	EXPECT_EQ(7, nla_get_u32(count));
	/* A result has no count. */
	back.count = ping.count;
	EXPECT_EQ(0, memcmp(&ping, &back, sizeof(ping)));
}

TEST_F(msg, so_many_pings_come_back_as_there_is_room_for)
{
	struct rcl_ping back;
	uint64_t i;

	for (i = 0; i < RCLINK_PING_COUNT_MAX; i++)
		ASSERT_EQ(0, nla_put_u64(self->msg, RCLINK_A_PING_RTT,
					 i << 33));
	ASSERT_EQ(0, rcl_ping_get(self->hdr, &back));
	EXPECT_EQ(RCLINK_PING_COUNT_MAX, back.ok);
	for (i = 0; i < RCLINK_PING_COUNT_MAX; i++)
		EXPECT_EQ(i << 33, back.rtt[i]);
	nla_put_u64(self->msg, RCLINK_A_PING_RTT, 1);
	EXPECT_EQ(-EPROTO, rcl_ping_get(self->hdr, &back));
}

TEST_F(msg, a_ping_of_another_length_is_none)
{
	struct rcl_ping back;

	nla_put_u32(self->msg, RCLINK_A_PING_RTT, 1);
	EXPECT_EQ(-EPROTO, rcl_ping_get(self->hdr, &back));
}

/* How rcl_nl_error() reports a refusal of the kernel with these attributes. */
static int refusal_of(const struct nlmsghdr *req, const char *text, int off,
		      int missing, int nest, uint32_t max, char *err)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr e = { .error = -EINVAL, .msg = *req };
	struct nlattr *policy;
	int ret;

	nlmsg_put(msg, 0, 1, NLMSG_ERROR, 0, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	nlmsg_append(msg, &e, sizeof(e), 4);
	if (text)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	if (off >= 0)
		nla_put_u32(msg, NLMSGERR_ATTR_OFFS, off);
	if (missing)
		nla_put_u32(msg, NLMSGERR_ATTR_MISS_TYPE, missing);
	if (nest >= 0)
		nla_put_u32(msg, NLMSGERR_ATTR_MISS_NEST, nest);
	if (max) {
		policy = nla_nest_start(msg, NLMSGERR_ATTR_POLICY);
		nla_put_u32(msg, NL_POLICY_TYPE_ATTR_TYPE, NL_ATTR_TYPE_STRING);
		nla_put_u32(msg, NL_POLICY_TYPE_ATTR_MAX_LENGTH, max);
		nla_nest_end(msg, policy);
	}
	ret = rcl_nl_error(nlmsg_hdr(msg), req, &rcl_link_names, err);
	nlmsg_free(msg);
	return ret;
}

static int refusal(const struct nlmsghdr *req, const char *text, int off,
		   int missing, int nest, char *err)
{
	return refusal_of(req, text, off, missing, nest, 0, err);
}

TEST_F(msg, a_refusal_names_the_attribute)
{
	struct rcl_endpoint ep = endpoint(2);
	struct rcl_connect connect = {
		.link = "alpha", .peer = "b", .remote = &ep,
	};
	const struct nlattr *remote, *qp, *psn;
	const char *base = (const char *)self->hdr;
	char err[RCL_ERR_LEN];

	ASSERT_EQ(0, rcl_link_put_connect(self->msg, &connect));
	remote = nlmsg_find_attr(self->hdr, GENL_HDRLEN, RCLINK_A_LINK_REMOTE);
	qp = nla_find(nla_data(remote), nla_len(remote), RCLINK_A_ENDPOINT_QP);
	psn = nla_find(nla_data(qp), nla_len(qp), RCLINK_A_QP_PSN);

	EXPECT_EQ(-EINVAL, refusal(self->hdr, "out of range",
				   (const char *)psn - base, 0, -1, err));
	EXPECT_STREQ("remote.qp.psn: out of range", err);
	refusal(self->hdr, "out of range", (const char *)qp - base, 0, -1, err);
	EXPECT_STREQ("remote.qp: out of range", err);
	refusal(self->hdr, NULL, -1, RCLINK_A_LINK_EPOCH, -1, err);
	EXPECT_STREQ("epoch: Invalid argument", err);
	refusal(self->hdr, "missing", -1, RCLINK_A_ENDPOINT_GID,
		(const char *)remote - base, err);
	EXPECT_STREQ("remote.gid: missing", err);
	refusal(self->hdr, "unknown attribute", -1, 99, -1, err);
	EXPECT_STREQ("attribute 99: unknown attribute", err);
}

TEST_F(msg, a_refusal_does_not_repeat_itself)
{
	char err[RCL_ERR_LEN];

	rcl_link_put_name(self->msg, "alpha");
	refusal(self->hdr, "name: there is no such link",
		NLMSG_HDRLEN + GENL_HDRLEN, 0, -1, err);
	EXPECT_STREQ("name: there is no such link", err);
	/* An invalid offset is ignored. */
	refusal(self->hdr, "why", 5000, 0, -1, err);
	EXPECT_STREQ("why", err);
	refusal(self->hdr, NULL, -1, 0, -1, err);
	EXPECT_STREQ("Invalid argument", err);
}

/* Netlink no longer knows the family, and its error has no text. */
TEST_F(msg, without_the_module_it_is_not_a_link_that_is_missing)
{
	const struct nlmsgerr e = { .error = -ENOENT, .msg = *self->hdr };
	struct nl_msg *msg = nlmsg_alloc();
	char err[RCL_ERR_LEN];

	nlmsg_put(msg, 0, 1, NLMSG_ERROR, 0, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	nlmsg_append(msg, (void *)&e, sizeof(e), 4);
	EXPECT_EQ(-ESHUTDOWN, rcl_nl_error(nlmsg_hdr(msg), self->hdr,
					   &rcl_link_names, err));
	EXPECT_STREQ("the rclink module was unloaded; run `modprobe rclink`",
		     err);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "name: there is no link");
	EXPECT_EQ(-ENOENT, rcl_nl_error(nlmsg_hdr(msg), self->hdr,
					&rcl_link_names, err));
	EXPECT_STREQ("name: there is no link", err);
	nlmsg_free(msg);
}

TEST_F(msg, what_is_too_long_is_said_to_be)
{
	char err[RCL_ERR_LEN];

	rcl_link_put_name(self->msg, "alpha");
	refusal(self->hdr, "Attribute failed policy validation",
		NLMSG_HDRLEN + GENL_HDRLEN, 0, -1, err);
	EXPECT_STREQ("name: longer than it may be", err);
	refusal_of(self->hdr, "Attribute failed policy validation",
		   NLMSG_HDRLEN + GENL_HDRLEN, 0, -1, RCLINK_NAME_MAX, err);
	EXPECT_STREQ("name: longer than 31 bytes", err);
}

TEST_HARNESS_MAIN
