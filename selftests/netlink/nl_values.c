// SPDX-License-Identifier: GPL-2.0
/*
 * Values that no verb must ever see: each is refused by name, and links and QPs
 * stay as they were. unit/kmod_endpoint.c runs the whole range of cases against
 * the pure function; here they go through netlink.
 */
#include "rcl.h"
#include "sim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "harness.h"

#define MTU_MAX		4096
#define BAD(field, value, word) \
	{ offsetof(struct rcl_end, field), value, word }

/* One invalid value in the peer's end. */
static const struct bad {
	size_t offset;
	uint64_t value;
	const char *word;
} bads[] = {
	BAD(qp[0].qpn, 0, "qpn"),
	BAD(qp[0].qpn, 1, "qpn"),
	BAD(qp[4].qpn, 0x1000000, "qpn"),
	BAD(qp[4].qpn, 0xffffffff, "qpn"),
	BAD(qp[0].psn, 0x1000000, "psn"),
	BAD(qp[4].psn, 0xffffffff, "psn"),
	BAD(mtu, 0, "mtu"), BAD(mtu, 8, "mtu"),
	BAD(mtu, 1500, "mtu"), BAD(mtu, 8192, "mtu"),
	BAD(rd_atomic, 0, "rd-atomic"),
	BAD(rd_atomic, 256, "rd-atomic"),
	BAD(epoch, 0, "epoch"),
	BAD(epoch, (1ULL << 62) + 1, "epoch"),
	BAD(epoch, ~0ULL, "epoch"),
	BAD(rkey, 0, "rkey"),
	BAD(length, 0, "length"),
	BAD(length, 0x80000001, "length"),
	BAD(length, 0xffffffff, "length"),
	BAD(addr, ~0ULL, "addr"),
	BAD(addr, -65535ULL, "addr"),
	BAD(link_layer, RCLINK_LINK_LAYER_INFINIBAND, "link-layer"),
	BAD(link_layer, RCLINK_LINK_LAYER_ROCE, "link-layer"),
	BAD(link_layer, RCLINK_LINK_LAYER_IWARP, "link-layer"),
	BAD(nqps, 1, "qp"),
	BAD(nqps, 4, "qp"),
	BAD(nqps, 6, "qp"),
	BAD(nqps, 65, "qp"), BAD(nqps, 66, "qp"),
};

static const char * const bad_gids[] = {
	"::", "::1", "ff02::1", "ff0e::1", "::ffff:255.255.255.255",
	"::ffff:224.0.0.1", "::ffff:127.0.0.1",
};

FIXTURE(pair)
{
	struct genl_sock s;
	struct rcl_end local, remote;
	uint64_t links;
	char *qps;
};

static char *qp_table(void)
{
	static char text[2][65536];
	static int i;
	FILE *out = popen("rdma resource show qp", "r");

	i = !i;
	text[i][fread(text[i], 1, sizeof(text[i]) - 1, out)] = '\0';
	pclose(out);
	return text[i];
}

FIXTURE_SETUP(pair)
{
	uint32_t i;

	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_new(&self->s, "ours"));
	ASSERT_EQ(0, rcl_new(&self->s, "theirs"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "ours", &self->local));
	ASSERT_EQ(0, rcl_prepare(&self->s, "theirs", &self->remote));
	/* for cases that claim more QPs */
	for (i = self->remote.nqps; i < RCL_QPS_MAX; i++)
		self->remote.qp[i].qpn = 1000 + i;
	self->links = rcl_links_digest(&self->s);
	self->qps = qp_table();
}

/* Whatever was refused before, valid values are accepted. */
FIXTURE_TEARDOWN(pair)
{
	EXPECT_EQ(self->links, rcl_links_digest(&self->s));
	EXPECT_STREQ(self->qps, qp_table());
	EXPECT_EQ(0, rcl_connect(&self->s, "ours", self->local.epoch,
				 RCLINK_ROLE_INITIATOR, &self->remote, NULL));
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static void spoil(struct rcl_end *end, const struct bad *bad)
{
	bool wide = bad->offset == offsetof(struct rcl_end, epoch) ||
		    bad->offset == offsetof(struct rcl_end, addr);

	memcpy((char *)end + bad->offset, &bad->value, wide ? 8 : 4);
}

static bool refuses(struct genl_sock *s, const char *name,
		    const struct rcl_end *local, const struct rcl_end *remote,
		    const char *word)
{
	/* Verbs calls, which only a simulated device counts. */
	long calls = rcl_is_ib() ? sim_seen(rcl_device, "any") : 0;
	struct genl_ack ack;
	int ret = rcl_connect(s, name, local->epoch, RCLINK_ROLE_INITIATOR,
			      remote, &ack);

	if (ret == -EINVAL && strstr(ack.text, word) &&
	    (!rcl_is_ib() ||
	     (calls >= 0 && calls == sim_seen(rcl_device, "any"))))
		return true;
	fprintf(stderr, "# %d '%s': no %s, or verbs\n", ret, ack.text, word);
	return false;
}

#define refused(s, ...)	refuses(s, "ours", __VA_ARGS__)

TEST_F(pair, bad_values_of_the_peer_are_refused_by_name)
{
	struct rcl_end end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bads); i++) {
		end = self->remote;
		spoil(&end, &bads[i]);
		/* one of the link layers is the right one */
		if (!memcmp(&end, &self->remote, sizeof(end)))
			continue;
		EXPECT_TRUE(refused(&self->s, &self->local, &end,
				    bads[i].word))
			TH_LOG("%s %jx", bads[i].word,
			       (uintmax_t)bads[i].value);
	}
}

TEST_F(pair, bad_gids_of_the_peer_are_refused)
{
	struct rcl_end end = self->remote;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_gids); i++) {
		inet_pton(AF_INET6, bad_gids[i], end.gid);
		EXPECT_TRUE(refused(&self->s, &self->local, &end, "gid"))
			TH_LOG("%s", bad_gids[i]);
	}
}

TEST_F(pair, an_address_of_another_family_is_refused)
{
	struct rcl_end end = self->remote;

	if (rcl_is_ib())
		SKIP(return, "a GID of InfiniBand is no address");
	inet_pton(AF_INET6, "2001:db8::1", end.gid);
	EXPECT_TRUE(refused(&self->s, &self->local, &end, "gid"));
}

TEST_F(pair, lids_that_are_of_no_port_are_refused)
{
	static const uint32_t lids[] = { 0, 0xc000, 0xffff };
	struct rcl_end end = self->remote;
	unsigned int i;

	if (!rcl_is_ib())
		SKIP(return, "a RoCE port has no LID");
	for (i = 0; i < ARRAY_SIZE(lids); i++) {
		end.lid = lids[i];
		EXPECT_TRUE(refused(&self->s, &self->local, &end, "lid"))
			TH_LOG("%x", lids[i]);
	}
}

TEST_F(pair, the_links_own_qps_are_refused)
{
	struct rcl_end end = self->remote;

	end.qp[0].qpn = self->local.qp[0].qpn;
	EXPECT_TRUE(refused(&self->s, &self->local, &end, "qpn"));
	end = self->remote;
	end.qp[3].qpn = self->local.qp[4].qpn;
	EXPECT_TRUE(refused(&self->s, &self->local, &end, "qpn"));
	end.qp[3].qpn = end.qp[2].qpn;
	EXPECT_TRUE(refused(&self->s, &self->local, &end, "qpn"));
}

TEST_F(pair, the_own_gid_is_refused_without_loopback)
{
	struct genl_msg m;
	struct rcl_end local;

	genl_begin(&m, &self->s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "plain");
	ASSERT_EQ(0, genl_ask(&self->s, &m, NULL, NULL));
	ASSERT_EQ(0, rcl_prepare(&self->s, "plain", &local));
	EXPECT_TRUE(refuses(&self->s, "plain", &local, &self->remote, "gid"));
	EXPECT_EQ(0, rcl_del(&self->s, "plain"));
	/* that happened since is in what a dump says */
	self->links = rcl_links_digest(&self->s);
}

TEST_F(pair, another_role_is_refused)
{
	static const uint32_t roles[] = { 0, 3, 0xffffffff };
	struct genl_ack ack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(roles); i++) {
		EXPECT_EQ(-ERANGE, rcl_connect(&self->s, "ours",
					       self->local.epoch, roles[i],
					       &self->remote, &ack));
		EXPECT_NE(0, ack.offset);
		EXPECT_NE('\0', ack.text[0]);
	}
}

/* Bad values of a policy: for any device, and beyond what a device has. */
static const struct {
	const char *word;
	uint16_t type;
	uint32_t value;
} bad_policies[] = {
	{ "port", RCLINK_A_LINK_PORT, 256 },
	{ "mtu", RCLINK_A_LINK_MTU, 8 },
	{ "mtu", RCLINK_A_LINK_MTU, 8192 },
	{ "qps", RCLINK_A_LINK_QPS, 0 },
	{ "qps", RCLINK_A_LINK_QPS, 65 },
	{ "timeout", RCLINK_A_LINK_TIMEOUT, 0 },
	{ "timeout", RCLINK_A_LINK_TIMEOUT, 32 },
	{ "retry", RCLINK_A_LINK_RETRY, 8 },
	{ "rnr-retry", RCLINK_A_LINK_RNR_RETRY, 8 },
	{ "min-rnr-timer", RCLINK_A_LINK_MIN_RNR_TIMER, 32 },
	{ "rd-atomic", RCLINK_A_LINK_RD_ATOMIC, 0 },
	{ "rd-atomic", RCLINK_A_LINK_RD_ATOMIC, 256 },
	{ "sl", RCLINK_A_LINK_SL, 16 },
	{ "traffic-class", RCLINK_A_LINK_TRAFFIC_CLASS, 256 },
	{ "hop-limit", RCLINK_A_LINK_HOP_LIMIT, 256 },
	{ "flow-label", RCLINK_A_LINK_FLOW_LABEL, 0x100000 },
	{ "pkey-index", RCLINK_A_LINK_PKEY_INDEX, 65536 },
	{ "buffer-size", RCLINK_A_LINK_BUFFER_SIZE, 4095 },
	{ "buffer-size", RCLINK_A_LINK_BUFFER_SIZE, 1048577 },
	{ "owner", RCLINK_A_LINK_OWNER, 0xffffffff },
	{ "group", RCLINK_A_LINK_GROUP, 0xffffffff },
	{ "mode", RCLINK_A_LINK_MODE, 0100 },
	{ "mode", RCLINK_A_LINK_MODE, 0667 },
	{ "mode", RCLINK_A_LINK_MODE, 01000 },
	{ "heartbeat", RCLINK_A_LINK_HEARTBEAT, 9 },
	{ "heartbeat", RCLINK_A_LINK_HEARTBEAT, 60001 },
	{ "misses", RCLINK_A_LINK_MISSES, 1 },
	{ "misses", RCLINK_A_LINK_MISSES, 101 },
}, beyond_device[] = {
	{ "rd-atomic", RCLINK_A_LINK_RD_ATOMIC, 255 },
	{ "pkey-index", RCLINK_A_LINK_PKEY_INDEX, 65535 },
};

static int ask_policy(struct genl_sock *s, uint8_t cmd, const char *name,
		      const char *device, uint16_t type, uint32_t value,
		      struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, cmd);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	if (device)
		genl_put_str(&m, RCLINK_A_LINK_DEVICE, device);
	genl_put_u32(&m, type, value);
	return genl_ask(s, &m, NULL, ack);
}

TEST_F(pair, policies_out_of_range_are_refused_by_name)
{
	struct genl_ack ack;
	unsigned int i;
	int cmd;

	for (i = 0; i < ARRAY_SIZE(bad_policies); i++) {
		for (cmd = RCLINK_CMD_LINK_NEW; cmd <= RCLINK_CMD_LINK_SET;
		     cmd++) {
			EXPECT_EQ(-EINVAL,
				  ask_policy(&self->s, cmd, cmd ==
					     RCLINK_CMD_LINK_NEW ? "fresh" :
					     "ours", NULL,
					     bad_policies[i].type,
					     bad_policies[i].value, &ack));
			EXPECT_NE(NULL, strstr(ack.text, bad_policies[i].word))
				TH_LOG("%s: %s", bad_policies[i].word,
				       ack.text);
		}
	}
}

TEST_F(pair, policies_beyond_the_device_are_refused_by_name)
{
	struct genl_ack ack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(beyond_device); i++) {
		EXPECT_EQ(-EINVAL, ask_policy(&self->s, RCLINK_CMD_LINK_NEW,
					      "fresh", rcl_device,
					      beyond_device[i].type,
					      beyond_device[i].value, &ack));
		EXPECT_NE(NULL, strstr(ack.text, beyond_device[i].word))
			TH_LOG("%s: %s", beyond_device[i].word, ack.text);
	}
}

TEST_F(pair, a_device_or_port_that_is_not_there_is_refused)
{
	struct genl_ack ack;

	EXPECT_EQ(-ENODEV, ask_policy(&self->s, RCLINK_CMD_LINK_NEW, "fresh",
				      "no_such", RCLINK_A_LINK_QPS, 1, &ack));
	EXPECT_NE(NULL, strstr(ack.text, "device"));
	EXPECT_EQ(-ENODEV, ask_policy(&self->s, RCLINK_CMD_LINK_NEW, "fresh",
				      rcl_device, RCLINK_A_LINK_PORT, 99,
				      &ack));
	EXPECT_NE(NULL, strstr(ack.text, "port"));
	EXPECT_EQ(-ENODEV, ask_policy(&self->s, RCLINK_CMD_LINK_SET, "ours",
				      rcl_device, RCLINK_A_LINK_PORT, 99,
				      &ack));
	EXPECT_NE(NULL, strstr(ack.text, "port"));
}

TEST_F(pair, a_link_is_set_to_a_device_and_port_and_back_to_any)
{
	struct rcl_view view;
	struct genl_ack ack;

	EXPECT_EQ(0, ask_policy(&self->s, RCLINK_CMD_LINK_SET, "ours",
				rcl_device, RCLINK_A_LINK_PORT, 1, &ack));
	ASSERT_EQ(0, rcl_view(&self->s, "ours", &view));
	EXPECT_EQ(1, view.port);
	EXPECT_STREQ(rcl_device, view.device);
	EXPECT_EQ(0, ask_policy(&self->s, RCLINK_CMD_LINK_SET, "ours", "",
				RCLINK_A_LINK_PORT, 0, &ack));
	ASSERT_EQ(0, rcl_view(&self->s, "ours", &view));
	EXPECT_EQ(0, view.port);
	EXPECT_STREQ("", view.device);
}

/* A path for PREPARE that is missing or invalid; type 0: only a device. */
static const struct bad_path {
	const char *device;	/* NULL: any */
	uint16_t type;
	uint32_t value;
	int error;
	const char *word;
} bad_paths[] = {
	{ "", 0, 0, EINVAL, "device must" },
	{ "", RCLINK_A_LINK_PORT, 1, EINVAL, "device must" },
	{ "no_such", 0, 0, ENODEV, "device: " },
	{ "no_such", RCLINK_A_LINK_PORT, 1, ENODEV, "device: " },
	{ NULL, RCLINK_A_LINK_PORT, 0, EINVAL, "port must" },
	{ NULL, RCLINK_A_LINK_PORT, 256, EINVAL, "port must" },
	{ NULL, RCLINK_A_LINK_PORT, 0xffffffff, EINVAL, "port must" },
	{ rcl_device, RCLINK_A_LINK_PORT, 0, EINVAL, "port must" },
	{ rcl_device, RCLINK_A_LINK_PORT, 99, ENODEV, "port: " },
	{ rcl_device, RCLINK_A_LINK_PORT, 256, EINVAL, "port must" },
	{ rcl_device, RCLINK_A_LINK_PORT, 0xffffffff, EINVAL, "port must" },
	{ rcl_device, RCLINK_A_LINK_GID_INDEX, 1000, ENODATA, "gid-index" },
};

FIXTURE(path)
{
	struct genl_sock s;
	struct rcl_view view;
	uint64_t links;
	int objects;
};

FIXTURE_VARIANT(path)
{
	bool beside;
};

FIXTURE_VARIANT_ADD(path, of_a_link_that_is_idle)
{
	.beside = false,
};

FIXTURE_VARIANT_ADD(path, beside_what_is_up)
{
	.beside = true,
};

FIXTURE_SETUP(path)
{
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_new(&self->s, "ours"));
	ASSERT_EQ(0, rcl_new(&self->s, "theirs"));
	if (variant->beside)
		ASSERT_EQ(0, rcl_pair(&self->s, "ours", "theirs",
				      RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_view(&self->s, "ours", &self->view));
	self->links = rcl_links_digest(&self->s);
	self->objects = rcl_all_objects();
	ASSERT_LE(0, self->objects);
}

FIXTURE_TEARDOWN(path)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static int ask_path(struct genl_sock *s, const struct bad_path *path,
		    bool beside, struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_PREPARE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "ours");
	if (path->device)
		genl_put_str(&m, RCLINK_A_LINK_DEVICE, path->device);
	if (path->type == RCLINK_A_LINK_GID_INDEX)
		genl_put_u32(&m, RCLINK_A_LINK_PORT, 1);
	if (path->type)
		genl_put_u32(&m, path->type, path->value);
	if (beside)
		genl_put(&m, RCLINK_A_LINK_ROTATE, NULL, 0);
	return genl_ask(s, &m, NULL, ack);
}

static bool is_as_before(struct genl_sock *s, const struct rcl_view *before)
{
	struct rcl_view now;

	return !rcl_view(s, "ours", &now) && now.state == before->state &&
	       now.reason == before->reason && now.epoch == before->epoch &&
	       now.standby == before->standby &&
	       now.standby_epoch == before->standby_epoch;
}

TEST_F(path, bad_values_are_not_prepared)
{
	const struct bad_path *bad;
	struct genl_ack ack;
	struct rcl_end end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_paths); i++) {
		bad = &bad_paths[i];
		EXPECT_EQ(-bad->error, ask_path(&self->s, bad, variant->beside,
						&ack))
			TH_LOG("%u: %s", i, ack.text);
		EXPECT_NE(NULL, strstr(ack.text, bad->word))
			TH_LOG("%u: %s", i, ack.text);
		EXPECT_TRUE(is_as_before(&self->s, &self->view))
			TH_LOG("%u", i);
		EXPECT_EQ(self->objects, rcl_all_objects())
			TH_LOG("%u", i);
	}
	/* A link that is up counts its heartbeats, which changes its digest. */
	if (!variant->beside)
		EXPECT_EQ(self->links, rcl_links_digest(&self->s));
	/* A valid path is prepared, and gets the next epoch. */
	EXPECT_EQ(0, variant->beside ?
		  rcl_prepare_beside(&self->s, "ours", &end) :
		  rcl_prepare(&self->s, "ours", &end));
	EXPECT_EQ(self->view.epoch + 1, end.epoch);
}

TEST_F(pair, bad_names_are_refused)
{
	static const char * const names[] = { "", "-a", "a b", "a/b", "..",
					      "a\n", "%s", "\xff" };
	struct genl_ack ack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(-EINVAL, rcl_named(&self->s, RCLINK_CMD_LINK_NEW,
					     names[i], &ack));
		EXPECT_NE(NULL, strstr(ack.text, "name"));
	}
}

/* Also for RCLINK_CMD_RECORD_GET, which takes no text. */
static int ask_note(struct genl_sock *s, uint8_t cmd, const char *link,
		    const char *text, struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, cmd);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, link);
	if (cmd == RCLINK_CMD_LINK_NOTE)
		genl_put_str(&m, RCLINK_A_RECORD_TEXT, text);
	return genl_ask(s, &m, NULL, ack);
}

TEST_F(pair, an_empty_note_is_refused)
{
	struct genl_ack ack;

	EXPECT_EQ(-EINVAL, ask_note(&self->s, RCLINK_CMD_LINK_NOTE, "ours", "",
				    &ack));
	EXPECT_NE(NULL, strstr(ack.text, "text"));
}

TEST_F(pair, a_group_has_each_link_once)
{
	static const uint8_t mgid[RCLINK_GID_LEN] = {
		[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1, [15] = 3
	};
	static const uint8_t cmds[] = {
		RCLINK_CMD_GROUP_ADD, RCLINK_CMD_GROUP_SET,
	};
	struct genl_ack ack;
	struct genl_msg m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		genl_begin(&m, &self->s, cmds[i]);
		genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
		if (cmds[i] == RCLINK_CMD_GROUP_ADD)
			genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
		genl_put_str(&m, RCLINK_A_GROUP_LINK, "a");
		genl_put_str(&m, RCLINK_A_GROUP_LINK, "b");
		genl_put_str(&m, RCLINK_A_GROUP_LINK, "a");
		EXPECT_EQ(-EINVAL, genl_ask(&self->s, &m, NULL, &ack));
		EXPECT_NE(NULL, strstr(ack.text, "link: there twice"))
			TH_LOG("%s", ack.text);
	}
}

/* An empty name must not pass for an attribute that is absent. */
TEST_F(pair, a_group_of_an_empty_name_is_refused)
{
	static const struct {
		uint16_t type;
		const char *word;
	} empty[] = {
		{ RCLINK_A_GROUP_FROM, "from" },
		{ RCLINK_A_GROUP_DEVICE, "device" },
		{ RCLINK_A_GROUP_LINK, "name" },
	};
	static const uint8_t mgid[RCLINK_GID_LEN] = {
		[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1, [15] = 3
	};
	struct genl_ack ack;
	struct genl_msg m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(empty); i++) {
		genl_begin(&m, &self->s, RCLINK_CMD_GROUP_ADD);
		genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
		genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
		genl_put_str(&m, empty[i].type, "");
		EXPECT_EQ(-EINVAL, genl_ask(&self->s, &m, NULL, &ack));
		EXPECT_NE(NULL, strstr(ack.text, empty[i].word))
			TH_LOG("%s", ack.text);
	}
	EXPECT_EQ(-ENOENT, rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g",
				     &ack));
}

TEST_F(pair, a_group_is_changed_somehow_and_by_name)
{
	struct genl_ack ack;
	struct genl_msg m;

	EXPECT_EQ(-EINVAL, rcl_named(&self->s, RCLINK_CMD_GROUP_SET, "g",
				     &ack));
	EXPECT_NE(NULL, strstr(ack.text, "nothing is to change"));
	genl_begin(&m, &self->s, RCLINK_CMD_GROUP_SET);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put(&m, RCLINK_A_GROUP_REKEY, NULL, 0);
	EXPECT_EQ(-ENOENT, genl_ask(&self->s, &m, NULL, &ack));
	EXPECT_NE(NULL, strstr(ack.text, "no group of that name"));
	genl_put_str(&m, RCLINK_A_GROUP_NO_LINK, "");
	EXPECT_EQ(-EINVAL, genl_ask(&self->s, &m, NULL, &ack));
	EXPECT_NE(NULL, strstr(ack.text, "no-link: must be a name"));
}

TEST_F(pair, names_of_no_link_are_refused)
{
	struct genl_ack ack;
	int cmd;

	for (cmd = RCLINK_CMD_LINK_SET; cmd <= RCLINK_CMD_PING; cmd++) {
		if (cmd == RCLINK_CMD_LINK_CONNECT ||
		    cmd == RCLINK_CMD_LINK_ACTIVATE)
			continue;
		EXPECT_EQ(-ENOENT, rcl_named(&self->s, cmd, "nobody", &ack))
			TH_LOG("command %d", cmd);
		EXPECT_NE(NULL, strstr(ack.text, "name"));
	}
	for (cmd = RCLINK_CMD_RECORD_GET; cmd <= RCLINK_CMD_LINK_NOTE; cmd++) {
		EXPECT_EQ(-ENOENT, ask_note(&self->s, cmd, "nobody", "text",
					    &ack));
		EXPECT_NE(NULL, strstr(ack.text, "name"));
	}
	EXPECT_EQ(-ENOENT, rcl_connect(&self->s, "nobody", 1, 1,
				       &self->remote, &ack));
	EXPECT_EQ(-ENOENT, rcl_activate(&self->s, "nobody", 1, &ack));
}

TEST_F(pair, a_name_that_is_taken_is_refused)
{
	struct genl_ack ack;

	EXPECT_EQ(-EEXIST, rcl_named(&self->s, RCLINK_CMD_LINK_NEW, "ours",
				     &ack));
	EXPECT_NE(NULL, strstr(ack.text, "name"));
}

/* Even if the port is capable of it, the link would never come up. */
TEST(an_mtu_that_is_not_active_is_not_prepared)
{
	struct genl_ack ack;
	struct genl_sock s;
	struct rcl_end end;
	struct genl_msg m;

	ASSERT_EQ(0, rcl_open(&s));
	ASSERT_EQ(0, rcl_clean(&s));
	ASSERT_EQ(0, rcl_new(&s, "ours"));
	ASSERT_EQ(0, rcl_prepare(&s, "ours", &end));
	ASSERT_EQ(0, rcl_disconnect(&s, "ours"));
	/* A port with the largest MTU has no larger one to try. */
	if (end.mtu < MTU_MAX) {
		EXPECT_EQ(0, ask_policy(&s, RCLINK_CMD_LINK_SET, "ours", NULL,
					RCLINK_A_LINK_MTU, 2 * end.mtu, &ack));
		genl_begin(&m, &s, RCLINK_CMD_LINK_PREPARE);
		genl_put_str(&m, RCLINK_A_LINK_NAME, "ours");
		EXPECT_EQ(-EINVAL, genl_ask(&s, &m, NULL, &ack));
		EXPECT_NE(NULL, strstr(ack.text, "mtu"))
			TH_LOG("%s", ack.text);
	}
	EXPECT_EQ(0, rcl_clean(&s));
	genl_close(&s);
}

TEST_HARNESS_MAIN
