// SPDX-License-Identifier: GPL-2.0
/* Which GID of its port a group takes. The device is made up. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#define strscpy(to, from, size)	snprintf(to, size, "%s", from)
#define be16_to_cpu(x)		ntohs(x)
#define IB_MULTICAST_LID_BASE	htons(0xc000)
#define IB_LID_PERMISSIVE	htons(0xffff)
#define IB_PORT_ACTIVE		4

enum ib_mtu {
	IB_MTU_256 = 1,
};

struct ib_device {
	struct {
		bool attach_mcast;
	} ops;
};

/* Include the file under test here, since it needs the above. */
#include "../../kmod/group-conf.c"

#include "kselftest_harness.h"

#define V2	RCLINK_GID_TYPE_ROCE_V2
#define AUTO	RCLINK_GID_INDEX_AUTO
#define MAX	4

static struct ib_device ib = { .ops.attach_mcast = true };
static struct rcl_gid gids[MAX];
static u32 ngids;
static int changes;	/* so often the port has just changed */

u32 rcl_keeper_find(const struct rcl_keeper_links *links, const char *name)
{
	return 0;
}

int rcl_dev_find_port(const char *device, u32 port, struct rcl_port *info)
{
	return -ENODEV;
}

int rcl_dev_nth_port(unsigned int n, struct rcl_port *info)
{
	return -ENOENT;
}

int rcl_dev_attach(struct rcl_dev_user *user, const struct rcl_policy *policy,
		   struct rcl_port *port, const char **why)
{
	const struct rcl_gid_want want = rcl_policy_gid(policy);
	int chosen = rcl_gid_choose(gids, ngids, &want, true, why);

	if (changes) {
		changes--;
		*why = "it changes";
		return -EAGAIN;
	}
	if (chosen < 0)
		return -EADDRNOTAVAIL;
	*port = (struct rcl_port){
		.device = "rxe0",
		.port = 1,
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.ngids = ngids,
		.gids = gids,
	};
	user->ib = &ib;
	user->gid_index = gids[chosen].index;
	memcpy(user->gid, gids[chosen].value, sizeof(user->gid));
	return 0;
}

void rcl_dev_detach(struct rcl_dev_user *user)
{
	user->ib = NULL;
}

void rcl_port_release(struct rcl_port *info)
{
}

/* As in the table of a port: one RoCE v2 GID for each address. */
static void have(const char *const *addresses, u32 n)
{
	memset(gids, 0, sizeof(gids));
	for (ngids = 0; ngids < n; ngids++) {
		gids[ngids].index = 10 + ngids;
		inet_pton(AF_INET6, addresses[ngids], gids[ngids].value);
		gids[ngids].type = V2;
		gids[ngids].netdev_up = true;
	}
}

/* Returns the index of the GID, or a negative errno. */
static int attach(const char *mgid, u32 gid_index, const char **why)
{
	struct rcl_group_conf conf = { .gid_index = gid_index };
	struct rcl_group_port never = {};
	struct rcl_dev_user user = {};
	int ret;

	inet_pton(AF_INET6, mgid, conf.addr.gid);
	ret = rcl_group_conf_attach(&conf, &never, &user, why);
	return ret ? ret : (int)user.gid_index;
}

static const char *const usual[] = {
	"fe80::1", "2001:db8::1", "::ffff:192.0.2.1", "::ffff:192.0.2.2",
};

static const char v4[] = "::ffff:239.1.2.3";
static const char v6[] = "ff15::1";

TEST(a_group_takes_the_kind_that_its_address_is_of)
{
	const char *why = NULL;

	have(usual, 4);
	EXPECT_EQ(12, attach(v4, AUTO, &why));
	EXPECT_EQ(11, attach(v6, AUTO, &why));
}

/* So that all members send from, and to, the same network. */
TEST(an_ipv4_address_does_not_change_which_ipv6_one_is_taken)
{
	const char *why = NULL;
	u32 n;

	for (n = 2; n <= 4; n++) {
		have(usual, n);
		EXPECT_EQ(11, attach(v6, AUTO, &why))
			TH_LOG("%u addresses", n);
	}
	gids[1].netdev_up = false;
	EXPECT_EQ(10, attach(v6, AUTO, &why));
}

TEST(a_port_that_changes_meanwhile_is_tried_again)
{
	const char *why = NULL;

	have(usual, 4);
	changes = 1;
	EXPECT_EQ(11, attach(v6, AUTO, &why));
	/* This one has a better GID when it is reached at last. */
	changes = 2;
	EXPECT_EQ(-EAGAIN, attach(v6, AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "GID table just changed"));
	changes = 9;
	EXPECT_EQ(-EAGAIN, attach(v6, AUTO, &why));
	EXPECT_STREQ("it changes", why);
	changes = 0;
}

TEST(a_name_that_no_link_has_is_refused_as_what_it_is)
{
	struct rcl_group_conf conf = { .name = "g", .from = "a b" };
	struct rcl_keeper_links links = { .n = 1, .name = { "/" } };
	const char *why = NULL;

	EXPECT_EQ(-EINVAL, rcl_group_conf_check(&conf, &links, &why));
	EXPECT_EQ(why, strstr(why, "from: "));
	conf.from[0] = 0;
	EXPECT_EQ(-EINVAL, rcl_group_conf_check(&conf, &links, &why));
	EXPECT_EQ(why, strstr(why, "link: "));
}

TEST(a_port_without_the_kind_is_refused)
{
	const char *why = NULL;

	have(usual, 2);
	EXPECT_EQ(-EADDRNOTAVAIL, attach(v4, AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "no GID of the same kind"));
	have(usual + 2, 2);
	EXPECT_EQ(-EADDRNOTAVAIL, attach(v6, AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "no GID of the same kind"));
}

TEST(the_operator_is_obeyed)
{
	const char *why = NULL;

	have(usual, 4);
	EXPECT_EQ(13, attach(v4, 13, &why));
	EXPECT_EQ(10, attach(v6, 10, &why));
	EXPECT_EQ(-EADDRNOTAVAIL, attach(v6, 12, &why));
	EXPECT_NE(NULL, strstr(why, "not of the same kind"));
}

TEST_HARNESS_MAIN
