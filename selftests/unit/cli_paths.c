// SPDX-License-Identifier: GPL-2.0
/* What a host offers of its ports and GIDs. */
#include "paths.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "path.h"

#include <kselftest_harness.h>

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))
#define V1	RCLINK_GID_TYPE_ROCE_V1
#define V2	RCLINK_GID_TYPE_ROCE_V2

static struct rcl_gid_info gid(uint32_t index, const char *address,
			       uint32_t type, bool usable)
{
	struct rcl_gid_info gid = {
		.index = index,
		.type = type,
		.usable = usable,
	};

	if (inet_pton(AF_INET6, address, gid.gid) != 1)
		abort();

	return gid;
}

FIXTURE(host)
{
	struct rcl_gid_info gids[3][5];
	struct rcl_dev_info devs[3];
	struct rcl_link_info link;
	struct rcx_paths paths;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(host)
{
	const struct rcl_gid_info roce[] = {
		gid(0, "fe80::1", V1, false), gid(1, "fe80::1", V2, true),
		gid(2, "2001:db8::1", V2, true),
		gid(3, "::ffff:192.0.2.1", V2, true),
		gid(4, "::ffff:192.0.2.2", V2, false),
	};
	unsigned int i;

	for (i = 0; i < NUM(self->devs); i++) {
		memcpy(self->gids[i], roce, sizeof(roce));
		self->gids[i][3].gid[14] = i;
		self->devs[i] = (struct rcl_dev_info){
			.port = 1,
			.link_layer = RCLINK_LINK_LAYER_ROCE,
			.port_state = 4,
			.active_mtu = 1024,
			.gids = self->gids[i],
			.ngids = NUM(roce),
		};
	}
	strcpy(self->devs[0].name, "rxe0");
	strcpy(self->devs[1].name, "rxe1");
	strcpy(self->devs[2].name, "rxe1");
	self->devs[2].port = 2;
}

FIXTURE_TEARDOWN(host)
{
}

static void set(struct rcl_policy *policy, enum rcl_policy_field field,
		uint32_t value)
{
	policy->given |= 1u << field;
	policy->v[field] = value;
}

/* Return: the paths that are offered, such as "rxe0/1:3 rxe1/1:3". */
static const char *offered(const struct rcl_link_info *link,
			   const struct rcl_dev_info *devs, size_t ndevs,
			   struct rcx_paths *paths)
{
	static char text[RCX_PATHS_MAX * 32];
	uint32_t i;

	rch_paths(link, devs, ndevs, paths);
	text[0] = '\0';
	for (i = 0; i < paths->num; i++)
		sprintf(text + strlen(text), "%s%s/%u:%u", i ? " " : "",
			paths->path[i].device, paths->path[i].port,
			paths->path[i].gid_index);

	return text;
}

#define OFFERED(num) \
	offered(&self->link, self->devs, num, &self->paths)

TEST_F(host, better_kinds_come_first_and_unusable_ones_not_at_all)
{
	static const char *const best[] = {
		"rxe0/1:3 rxe1/1:3 rxe1/2:3 rxe0/1:2 rxe1/1:2 rxe1/2:2 rxe0/1:1 rxe1/1:1",
	};

	EXPECT_STREQ("rxe0/1:3 rxe0/1:2 rxe0/1:1", OFFERED(1));
	EXPECT_EQ(1024, self->paths.path[0].mtu);
	EXPECT_EQ(V2, self->paths.path[0].gid_type);
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err))
		TH_LOG("%s", self->err);
	EXPECT_STREQ("rxe0/1:3 rxe1/1:3 rxe0/1:2 rxe1/1:2 rxe0/1:1 rxe1/1:1",
		     OFFERED(2));
	EXPECT_EQ(0, self->paths.left);
	/* There are nine paths; one is left out. */
	EXPECT_STREQ(best[0], OFFERED(3));
	EXPECT_EQ(1, self->paths.left);
}

TEST_F(host, what_the_operator_has_set_is_all)
{
	set(&self->link.policy, RCL_P_PORT, 0);
	set(&self->link.policy, RCL_P_GID_INDEX, RCLINK_GID_INDEX_AUTO);
	set(&self->link.policy, RCL_P_MTU, 0);
	strcpy(self->link.policy.device, "rxe1");
	EXPECT_STREQ("rxe1/1:3 rxe1/2:3 rxe1/1:2 rxe1/2:2 rxe1/1:1 rxe1/2:1",
		     OFFERED(3));
	set(&self->link.policy, RCL_P_PORT, 2);
	EXPECT_STREQ("rxe1/2:3 rxe1/2:2 rxe1/2:1", OFFERED(3));
	set(&self->link.policy, RCL_P_MTU, 4096);
	set(&self->link.policy, RCL_P_GID_INDEX, 0);
	EXPECT_STREQ("rxe1/2:0", OFFERED(3));
	EXPECT_EQ(V1, self->paths.path[0].gid_type);
	EXPECT_EQ(4096, self->paths.path[0].mtu);
	set(&self->link.policy, RCL_P_GID_INDEX, 9);
	EXPECT_STREQ("", OFFERED(3));
}

TEST_F(host, a_net_device_may_be_set)
{
	strcpy(self->gids[0][1].netdev, "eth0.5");
	strcpy(self->gids[1][2].netdev, "eth0.5");
	strcpy(self->gids[1][3].netdev, "eth0");
	strcpy(self->link.policy.netdev, "eth0.5");
	EXPECT_STREQ("rxe1/1:2 rxe0/1:1", OFFERED(3));
	set(&self->link.policy, RCL_P_GID_INDEX, 2);
	EXPECT_STREQ("rxe1/1:2", OFFERED(3));
	set(&self->link.policy, RCL_P_GID_INDEX, 3);
	EXPECT_STREQ("", OFFERED(3));
}

/* The module also tells what device, port and MTU the link used last. */
TEST_F(host, what_was_used_last_binds_nobody)
{
	strcpy(self->link.used_device, "rxe1");
	self->link.used_port = 2;
	self->link.used_mtu = 256;
	EXPECT_STREQ("rxe0/1:3 rxe0/1:2 rxe0/1:1", OFFERED(1));
	EXPECT_EQ(1024, self->paths.path[0].mtu);
}

/* A device name with a blank, or an MTU that is too small. */
TEST_F(host, what_no_message_can_have_spoils_nothing)
{
	strcpy(self->devs[0].name, "rxe 0");
	EXPECT_STREQ("rxe1/1:3 rxe1/1:2 rxe1/1:1", OFFERED(2));
	EXPECT_EQ(0, self->paths.left);
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err));
	self->devs[1].active_mtu = 0;
	set(&self->link.policy, RCL_P_GID_INDEX, 3);
	EXPECT_STREQ("rxe1/2:3", OFFERED(3));
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err));
	/* The module has a word for that. */
	EXPECT_STREQ("", OFFERED(2));
}

TEST_F(host, ports_that_cannot_are_left_out)
{
	self->devs[0].port_state = 1;
	self->devs[1].link_layer = RCLINK_LINK_LAYER_IWARP;
	EXPECT_STREQ("rxe1/2:3 rxe1/2:2 rxe1/2:1", OFFERED(3));
	EXPECT_STREQ("", OFFERED(2));
	EXPECT_STREQ("", OFFERED(0));
}

TEST_F(host, nothing_is_there_twice)
{
	self->gids[0][4] = self->gids[0][1];
	self->gids[0][4].index = 4;
	EXPECT_STREQ("rxe0/1:3 rxe0/1:2 rxe0/1:1", OFFERED(1));
	self->gids[0][4].vlan = 5;
	EXPECT_STREQ("rxe0/1:3 rxe0/1:2 rxe0/1:1 rxe0/1:4", OFFERED(1));
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err));
}

/* The first path of each port and network. */
#define FIRST "rxe0/1:0 rxe1/1:3 rxe0/1:9 rxe0/1:10 "

/* A port with many addresses leaves room for those of the other ports. */
TEST_F(host, each_port_and_network_has_one_before_any_has_more)
{
	struct rcl_gid_info many[12];
	unsigned int i;

	for (i = 0; i < 10; i++) {
		many[i] = gid(i, "::ffff:192.0.2.1", V2, true);
		many[i].gid[15] = i + 1;
	}
	many[9].gid[14] = 9;
	many[10] = gid(10, "2001:db8::1", V2, true);
	many[11] = gid(11, "2001:db8::2", V2, true);
	self->devs[0].gids = many;
	self->devs[0].ngids = NUM(many);
	EXPECT_STREQ(FIRST "rxe1/1:2 rxe1/1:1 rxe0/1:1 rxe0/1:2", OFFERED(2));
	EXPECT_EQ(7, self->paths.left);
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err));
}

TEST_F(host, infiniband_is_first)
{
	self->gids[1][0] = gid(0, "fe80::2:c903:0:1", RCLINK_GID_TYPE_IB, true);
	self->devs[1].link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	self->devs[1].ngids = 1;
	EXPECT_STREQ("rxe1/1:0 rxe0/1:3 rxe0/1:2 rxe0/1:1", OFFERED(2));
	EXPECT_EQ(0, rcx_paths_check(&self->paths, self->err));
}

TEST_HARNESS_MAIN
