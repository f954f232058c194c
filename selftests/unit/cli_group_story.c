// SPDX-License-Identifier: GPL-2.0
/* The state of a group in words: sentences, and what to do about it. */
#include "group_story.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <kselftest_harness.h>

#include "advice.h"
#include "group.h"
#include "link.h"
#include "out.h"

#define STAT(name)	stats[RCLINK_A_GROUP_STATS_##name]
#define LINKS		4
#define NOTHING		"Nothing has to be done.\n"

struct teller {
	struct rcl_group_info info;
	struct rcl_link_info links[LINKS];
	struct rcl_dev_info devs[2];
	struct rcl_gid_info gids[3];
	struct rcl_group_story story;
	struct json_object *doc;
	char *text;
};

FIXTURE(group)
{
	struct teller t;
};

static void v4(uint8_t gid[RCLINK_GID_LEN], uint8_t first, uint8_t last)
{
	memset(gid, 0, RCLINK_GID_LEN);
	memset(gid + 10, 0xff, 2);
	gid[12] = first;
	gid[15] = last;
}

/* One port with an address of each kind, and a group that is joined from it. */
FIXTURE_SETUP(group)
{
	struct teller *t = &self->t;

	strcpy(t->info.name, "g");
	strcpy(t->info.device, "rxe0");
	t->info.port = 1;
	t->info.has_gid_index = true;
	t->info.gid_index = RCLINK_GID_INDEX_AUTO;
	t->info.state = RCLINK_GROUP_STATE_JOINED;
	v4(t->info.mgid, 239, 3);
	v4(t->info.gid, 192, 1);
	t->info.STAT(JOINS) = 1;
	t->info.has_key = true;
	t->info.has_qkey = true;
	strcpy(t->devs[0].name, "rxe0");
	t->devs[0].port = 1;
	t->devs[0].link_layer = RCLINK_LINK_LAYER_ROCE;
	t->devs[0].port_state = 4;
	t->devs[0].has_chosen = true;
	t->devs[0].gids = t->gids;
	t->devs[0].ngids = 2;
	t->gids[0].gid[0] = 0xfd;
	t->gids[0].usable = true;
	v4(t->gids[1].gid, 192, 1);
	t->gids[1].index = 1;
	t->gids[1].usable = true;
	t->story.info = &t->info;
	t->story.links = t->links;
	t->story.devs = t->devs;
	t->story.ndevs = 1;
}

FIXTURE_TEARDOWN(group)
{
	json_object_put(self->t.doc);
	free(self->t.text);
}

static void link_is(struct teller *t, const char *name, uint32_t state,
		    const char *reason)
{
	struct rcl_link_info *link = &t->links[t->story.nlinks++];

	strcpy(link->name, name);
	link->state = state;
	strcpy(link->reason_text, reason);
}

static void keeps_for(struct teller *t, const char *name)
{
	strcpy(t->info.link[t->info.nlinks++], name);
}

static void hears(struct teller *t, uint32_t sender, uint32_t age)
{
	struct rcl_group_peer *peer = &t->info.peer[t->info.npeers++];

	peer->sender = sender;
	peer->age = age;
	v4(peer->gid, 192, 10 + sender);
}

static void goes_down(struct teller *t, uint32_t reason, const char *text)
{
	t->info.state = RCLINK_GROUP_STATE_DOWN;
	t->info.reason = reason;
	strcpy(t->info.reason_text, text);
	memset(t->info.gid, 0, sizeof(t->info.gid));
}

static void tell(struct teller *t)
{
	size_t len;
	FILE *to = open_memstream(&t->text, &len);

	t->doc = rcl_group_story_doc(&t->story);
	rcl_group_story_print(to, t->doc);
	fclose(to);
}

static bool is_told(const struct teller *t, const char *part, bool want)
{
	bool is = strstr(t->text, part);

	if (is != want)
		fprintf(stderr, "# %s\n# in: %s\n", part, t->text);
	return is == want;
}

static size_t length_of(const struct teller *t, const char *key)
{
	return json_object_array_length(json_object_object_get(t->doc, key));
}

#define EXPECT_TOLD(part)	EXPECT_TRUE(is_told(&self->t, part, true))
#define EXPECT_UNTOLD(part)	EXPECT_TRUE(is_told(&self->t, part, false))

TEST_F(group, a_keeper_with_a_member)
{
	static const char told[] = {
		"g is joined to ::ffff:239.0.0.3, from rxe0 port 1 with GID ::ffff:192.0.0.1.\n"
		"It was never down since it was made.\n"
		"This host keeps the key, and gives it to the peer of 1 link, of which 1 is up.\n"
		"It hears 1 other member: number 1 at ::ffff:192.0.0.11.\n"
		"Since it was made it has sent 7 messages and received 5, and dropped nothing.\n"
		NOTHING
	};
	struct json_object *port;

	link_is(&self->t, "a", RCLINK_LINK_STATE_UP, "");
	keeps_for(&self->t, "a");
	hears(&self->t, 1, 900);
	self->t.info.STAT(TX_MESSAGES) = 7;
	self->t.info.STAT(RX_MESSAGES) = 5;
	self->t.info.STAT(RX_OWN) = 7;
	self->t.info.gid_index = 1;
	tell(&self->t);
	EXPECT_STREQ(told, self->t.text);
	port = json_object_object_get(self->t.doc, "ports");
	EXPECT_EQ(1, json_object_array_length(port));
	port = json_object_array_get_idx(port, 0);
	EXPECT_STREQ("::ffff:192.0.0.1", rcl_out_get_text(port, "gid"));
	EXPECT_STREQ("in use", rcl_out_get_text(port, "reason"));
	EXPECT_EQ(0, length_of(&self->t, "advice"));
	EXPECT_EQ(0, length_of(&self->t, "dropped"));
	EXPECT_EQ(5, length_of(&self->t, "sentences"));
	EXPECT_EQ(2, rcl_out_get_u64(self->t.doc, "members"));
}

TEST_F(group, a_keeper_without_links)
{
	tell(&self->t);
	EXPECT_TOLD("gives it to nobody: no link is named.\n");
	EXPECT_TOLD("It hears no other member.\n");
	EXPECT_TOLD("What to do: name the links whose peers are to be");
	EXPECT_TOLD(" members: `rclink group set g link LINK`.\n");
	EXPECT_UNTOLD("multicast");
	EXPECT_UNTOLD(NOTHING);
	EXPECT_EQ(1, length_of(&self->t, "advice"));
}

TEST_F(group, a_keeper_whose_links_are_not_all_up)
{
	struct json_object *links;

	link_is(&self->t, "other", RCLINK_LINK_STATE_DOWN, "of no interest");
	link_is(&self->t, "a", RCLINK_LINK_STATE_UP, "");
	link_is(&self->t, "b", RCLINK_LINK_STATE_DOWN, "the port went down");
	link_is(&self->t, "c", RCLINK_LINK_STATE_IDLE, "");
	keeps_for(&self->t, "a");
	keeps_for(&self->t, "b");
	keeps_for(&self->t, "c");
	keeps_for(&self->t, "d");
	hears(&self->t, 1, 0);
	tell(&self->t);
	EXPECT_TOLD("to the peers of 4 links, of which 1 is up.\n");
	EXPECT_TOLD("\nLink b is down: the port went down.\nLink c is idle.\n"
		    "There is no link d on this host.\n");
	EXPECT_TOLD("\nWhat to do: see `rclink why b`.\n"
		    "What to do: see `rclink why c`.\n"
		    "What to do: make the link with `rclink add d` and ");
	EXPECT_TOLD(" take it off: `rclink group set g no-link d`.\n");
	EXPECT_UNTOLD("of no interest");
	EXPECT_UNTOLD("group why");
	EXPECT_EQ(3, length_of(&self->t, "advice"));
	links = json_object_object_get(self->t.doc, "key_links");
	EXPECT_EQ(4, json_object_array_length(links));
	links = json_object_array_get_idx(links, 3);
	EXPECT_STREQ("d", rcl_out_get_text(links, "name"));
	EXPECT_STREQ("", rcl_out_get_text(links, "state"));
}

TEST_F(group, a_keeper_that_hears_nobody)
{
	link_is(&self->t, "a", RCLINK_LINK_STATE_UP, "");
	keeps_for(&self->t, "a");
	tell(&self->t);
	EXPECT_TOLD("It hears no other member.\n");
	EXPECT_TOLD("What to do: see `rclink group why g` at the hosts that");
	EXPECT_TOLD("What to do: if nothing is wrong there, have the network");
}

TEST_F(group, a_keeper_that_hears_too_few)
{
	link_is(&self->t, "a", RCLINK_LINK_STATE_UP, "");
	link_is(&self->t, "b", RCLINK_LINK_STATE_UP, "");
	keeps_for(&self->t, "a");
	keeps_for(&self->t, "b");
	hears(&self->t, 1, 0);
	tell(&self->t);
	EXPECT_TOLD("of 2 links, of which 2 are up.\n");
	EXPECT_TOLD("see `rclink group why g` at the hosts that are not");
	EXPECT_UNTOLD("multicast");
}

TEST_F(group, a_member)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	self->t.info.sender = 3;
	hears(&self->t, 0, 0);
	tell(&self->t);
	EXPECT_TOLD("\nIt has the key from the peer of link k, and number 3 ");
	EXPECT_UNTOLD("Link k");
	EXPECT_TOLD(NOTHING);
}

TEST_F(group, a_member_whose_link_went_down)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_DOWN, "the peer fell silent");
	strcpy(self->t.info.from, "k");
	hears(&self->t, 0, 0);
	tell(&self->t);
	EXPECT_TOLD("\nLink k is down: the peer fell silent.\n"
		    "Meanwhile it goes on with the key that it has, and");
	EXPECT_TOLD("What to do: see `rclink why k`.\n");
	EXPECT_EQ(1, length_of(&self->t, "advice"));
}

TEST_F(group, who_never_got_a_key)
{
	self->t.info.has_key = false;
	strcpy(self->t.info.from, "k");
	tell(&self->t);
	EXPECT_TOLD("\nIt has no key, so it sends nothing and hears nobody: ");
	EXPECT_TOLD(": the peer of link k keeps it.\n"
		    "There is no link k on this host.\n");
	EXPECT_TOLD("What to do: make the link with `rclink add k`, and ");
	EXPECT_UNTOLD("no-link");
	EXPECT_UNTOLD("number 0");
	EXPECT_UNTOLD("It hears");
	EXPECT_EQ(1, length_of(&self->t, "advice"));
	EXPECT_EQ(0, rcl_out_get_u64(self->t.doc, "members"));
}

TEST_F(group, who_is_refused_the_key)
{
	self->t.info.has_key = false;
	strcpy(self->t.info.from, "k");
	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	tell(&self->t);
	EXPECT_TOLD("\nThat link is up, but its peer has given no key yet; ");
	EXPECT_TOLD("\nWhat to do: if no key comes within seconds, see ");
	EXPECT_TOLD("at the peer of link k, and name the link to this host ");
	EXPECT_TOLD(" there: `rclink group set g link LINK`.\n");
	EXPECT_EQ(1, length_of(&self->t, "advice"));
}

TEST_F(group, who_was_taken_off)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	self->t.info.STAT(RX_UNKNOWN_KEY) = 4;
	hears(&self->t, 0, 0);
	tell(&self->t);
	EXPECT_UNTOLD("taken off the group's members");

	json_object_put(self->t.doc);
	free(self->t.text);
	self->t.info.peer[0].age = 5000;
	tell(&self->t);
	EXPECT_TOLD("What to do: if packets under a key that this host does ");
	EXPECT_TOLD(" taken off the group's members: see `rclink group ");
	EXPECT_TOLD("`rclink group show g` at the peer of link k.\n");
	EXPECT_EQ(3, length_of(&self->t, "advice"));
}

TEST_F(group, a_change_of_the_key_that_was_missed)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_DOWN, "the peer fell silent");
	strcpy(self->t.info.from, "k");
	self->t.info.STAT(RX_UNKNOWN_KEY) = 4;
	tell(&self->t);
	EXPECT_TOLD(" another one by now: connect link k, which brings it.\n");
	EXPECT_UNTOLD("taken off the group's members");
}

TEST_F(group, members_that_are_not_heard_any_more)
{
	int i;

	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	hears(&self->t, 0, 4999);
	hears(&self->t, 1, 5000);
	hears(&self->t, 2, 63000);
	/* The host of number 2 again, which has another number now. */
	hears(&self->t, 3, 4000);
	v4(self->t.info.peer[3].gid, 192, 12);
	tell(&self->t);
	EXPECT_TOLD("It hears 2 other members: number 0 at ::ffff:192.0.0.1");
	EXPECT_TOLD("0, number 3 at ::ffff:192.0.0.12.\n");
	EXPECT_TOLD("not heard number 1 at ::ffff:192.0.0.11 for 5.00 s: who ");
	EXPECT_TOLD("see `rclink group why g` at the hosts that are not");
	EXPECT_UNTOLD("multicast");

	json_object_put(self->t.doc);
	free(self->t.text);
	for (i = 4; i < RCLINK_GROUP_MEMBERS_MAX; i++)
		hears(&self->t, i, UINT32_MAX);
	tell(&self->t);
	EXPECT_TOLD("::ffff:192.0.0.20 for 4294967 s, and 53 more: who is");
}

TEST_F(group, all_members_are_heard)
{
	int i;

	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	for (i = 0; i < RCLINK_GROUP_MEMBERS_MAX; i++)
		hears(&self->t, i, 0);
	tell(&self->t);
	EXPECT_TOLD("It hears 64 other members: number 0 at ");
	EXPECT_TOLD("number 7 at ::ffff:192.0.0.17, and 56 more.\n");
	EXPECT_TOLD(NOTHING);
}

TEST_F(group, that_was_down)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	hears(&self->t, 0, 0);
	self->t.info.STAT(JOINS) = 4;
	tell(&self->t);
	EXPECT_TOLD("\nSince it was made it was down 3 times.\n");
	EXPECT_UNTOLD("Most likely");
	EXPECT_TOLD(NOTHING);
}

TEST_F(group, without_its_device)
{
	static const char told[] = {
		"g is down: the RDMA device was removed; it was joined 1 time, and is tried again every 2 s.\n"
		"Most likely: the RDMA device was deleted or unplugged, or its driver was unloaded.\n"
		"There is no RDMA device or port that it may use.\n"
	};

	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	goes_down(&self->t, RCLINK_DOWN_REASON_DEVICE_REMOVED,
		  "the RDMA device was removed");
	strcpy(self->t.devs[0].name, "rxe1");
	tell(&self->t);
	EXPECT_TRUE(!strncmp(told, self->t.text, strlen(told)));
	EXPECT_TOLD("\nWhat to do: bring the device back, see `rclink dev`.\n");
	EXPECT_UNTOLD("It hears");
	EXPECT_EQ(1, length_of(&self->t, "advice"));
	EXPECT_EQ(0, length_of(&self->t, "ports"));
}

TEST_F(group, whose_port_is_down)
{
	keeps_for(&self->t, "a");
	link_is(&self->t, "a", RCLINK_LINK_STATE_DOWN, "the port went down");
	goes_down(&self->t, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	self->t.devs[0].port_state = 1;
	self->t.devs[0].has_chosen = false;
	strcpy(self->t.devs[0].reason, "no net device is up");
	self->t.info.device[0] = '\0';
	self->t.info.port = 0;
	tell(&self->t);
	EXPECT_TOLD("\nrxe0 port 1 is down, and there is no GID to use: no ");
	EXPECT_TOLD("What to do: check the cable, `ip link` and `rclink dev`.\n"
		    "What to do: see `rclink why a`.\n");
	EXPECT_EQ(2, length_of(&self->t, "advice"));
}

TEST_F(group, whose_address_is_gone)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_GID_CHANGED, "it changed");
	self->t.devs[0].ngids = 1;
	tell(&self->t);
	EXPECT_TOLD("\nrxe0 port 1 is active, and there is no GID to use");
	EXPECT_TOLD(": no GID of the kind of the group's address, IPv4 or");
	EXPECT_TOLD("What to do: check the addresses with `ip address`");
}

TEST_F(group, takes_a_routable_address_before_a_link_local_one)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	memset(self->t.info.mgid, 0xff, sizeof(self->t.info.mgid));
	self->t.gids[2] = self->t.gids[0];
	self->t.gids[2].index = 2;
	self->t.gids[0].gid[0] = 0xfe;
	self->t.gids[0].gid[1] = 0x80;
	self->t.devs[0].ngids = 3;
	tell(&self->t);
	EXPECT_TOLD("\nrxe0 port 1 is active, GID fd00::: of the kind of the");
	EXPECT_UNTOLD("fe80::");
}

TEST_F(group, that_waits_for_the_next_try)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	tell(&self->t);
	EXPECT_TOLD("\nrxe0 port 1 is active, GID ::ffff:192.0.0.1: of the");
	EXPECT_TOLD("What to do: wait for the next try; if it stays down, ");
	EXPECT_UNTOLD("check the cable");
}

TEST_F(group, whose_next_try_was_refused)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	strcpy(self->t.info.refusal, "it has no multicast");
	tell(&self->t);
	EXPECT_TOLD("\nThe last try was refused: it has no multicast.\n");
	EXPECT_TOLD("What to do: see to what the last try was refused for: ");
	EXPECT_UNTOLD("check the cable");
	EXPECT_UNTOLD("wait for");
	EXPECT_STREQ(self->t.info.refusal,
		     rcl_out_get_text(self->t.doc, "refusal"));
}

TEST_F(group, whose_mtu_has_changed)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_MTU_CHANGED, "it changed");
	tell(&self->t);
	EXPECT_TOLD("What to do: have the same MTU at all members");
	EXPECT_TOLD("What to do: wait for the next try;");
}

TEST_F(group, that_the_device_gave_up)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_COMPLETION,
		  "local protection error");
	self->t.info.gid_index = 1;
	tell(&self->t);
	EXPECT_TOLD("g is down: local protection error; ");
	EXPECT_TOLD("GID ::ffff:192.0.0.1: set by the operator.\n");
	EXPECT_TOLD("What to do: see the kernel log for what the driver says.\n"
		    "What to do: wait for the next try;");
}

TEST_F(group, that_no_port_is_fit_for)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_QP_FATAL, "it failed");
	self->t.info.gid_index = 7;
	tell(&self->t);
	EXPECT_TOLD("no GID to use: there is no such gid-index.\n");
	EXPECT_TOLD("What to do: see `rclink dev` for what each port lacks.\n");
	EXPECT_UNTOLD("wait for");
}

TEST_F(group, of_the_other_network)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_DEVICE_REMOVED, "it is gone");
	self->t.info.device[0] = '\0';
	memset(self->t.info.mgid, 0xff, sizeof(self->t.info.mgid));
	self->t.info.mlid = 0xc001;
	self->t.devs[1] = self->t.devs[0];
	strcpy(self->t.devs[1].name, "ib0");
	self->t.devs[1].ngids = 1;
	self->t.devs[1].link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	self->t.story.ndevs = 2;
	tell(&self->t);
	EXPECT_TOLD("to use: mlid is set, and a RoCE port has none.\n");
	EXPECT_TOLD("ib0 port 1 is active, GID fd00::: ");

	json_object_put(self->t.doc);
	free(self->t.text);
	self->t.info.mlid = 0;
	tell(&self->t);
	EXPECT_TOLD("to use: mlid is not set, which InfiniBand needs.\n");

	json_object_put(self->t.doc);
	free(self->t.text);
	self->t.devs[1].sa = 1;
	tell(&self->t);
	EXPECT_TOLD("ib0 port 1 is active, GID fd00::: ");

	json_object_put(self->t.doc);
	free(self->t.text);
	self->t.info.mlid = 0xc001;
	tell(&self->t);
	EXPECT_TOLD("to use: mlid is set, and the subnet manager says it.\n");
}

TEST_F(group, of_an_address_that_infiniband_has_not)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_DEVICE_REMOVED, "it is gone");
	self->t.devs[0].link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	self->t.devs[0].sa = 1;
	tell(&self->t);
	EXPECT_TOLD("to use: its address is IPv4: on InfiniBand it begins");
	EXPECT_UNTOLD("wait for the next try");
}

TEST_F(group, that_the_subnet_manager_refuses)
{
	goes_down(&self->t, RCLINK_DOWN_REASON_SUBNET_MANAGER, "it is refused");
	tell(&self->t);
	EXPECT_TOLD("see that one runs, and what it says of the group.\n");
	EXPECT_TOLD("wait for the next try");
}

TEST_F(group, what_was_dropped)
{
	struct json_object *dropped;
	uint64_t sum;
	int i;

	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	hears(&self->t, 0, 0);
	for (i = RCLINK_A_GROUP_STATS_RX_SHORT;
	     i <= RCLINK_A_GROUP_STATS_RX_MISSED; i++)
		self->t.info.stats[i] = 1000 + i;
	sum = rcl_group_dropped(&self->t.info);
	tell(&self->t);
	dropped = json_object_object_get(self->t.doc, "dropped");
	EXPECT_EQ(6, json_object_array_length(dropped));
	for (i = 0; i < 6; i++) {
		struct json_object *one = json_object_array_get_idx(dropped, i);
		const char *counter = rcl_out_get_text(one, "counter");
		struct json_object *stats =
			json_object_object_get(self->t.doc, "stats");

		EXPECT_NE(0, rcl_out_get_u64(one, "count"));
		EXPECT_EQ(rcl_out_get_u64(stats, counter),
			  rcl_out_get_u64(one, "count"));
		EXPECT_TOLD(rcl_out_get_text(one, "meaning"));
		sum -= rcl_out_get_u64(one, "count");
	}
	EXPECT_EQ(0, sum);
	EXPECT_UNTOLD("dropped nothing");
	EXPECT_TOLD("compare `cat /sys/module/rclink/srcversion`, of the");
	EXPECT_TOLD("post more receives");
	EXPECT_TOLD("or one sent in the name of another, which silences that");
	EXPECT_TOLD("made, with `rclink group set NAME rekey` at the host");
	EXPECT_EQ(5, length_of(&self->t, "advice"));
}

TEST_F(group, what_drops_need_nothing)
{
	link_is(&self->t, "k", RCLINK_LINK_STATE_UP, "");
	strcpy(self->t.info.from, "k");
	hears(&self->t, 0, 0);
	self->t.info.STAT(RX_UNKNOWN_KEY) = 2;
	tell(&self->t);
	EXPECT_TOLD("It dropped 2 packets under a key that this host does not");
	EXPECT_TOLD(NOTHING);
}

TEST_F(group, has_nothing_secret_or_hostile)
{
	self->t.info.qkey = 0x87654321;
	goes_down(&self->t, 99, "\x1b[2J\n");
	self->t.info.state = 99;
	link_is(&self->t, "k", 99, "\r\xff");
	strcpy(self->t.info.from, "k");
	tell(&self->t);
	EXPECT_EQ(NULL, json_object_object_get(self->t.doc, "qkey"));
	EXPECT_UNTOLD("\x1b");
	EXPECT_UNTOLD("\r");
	EXPECT_UNTOLD("\xff");
	EXPECT_TOLD("g is down: ?[2J?; ");
	EXPECT_TOLD("Link k is ?: ??.\n");
	EXPECT_TOLD("Most likely: the module knows a reason that this tool");
}

/* All reasons that the module gives for a group's end; see fail(). */
TEST(every_reason_of_a_group_has_its_advice)
{
	static const uint32_t reasons[] = {
		RCLINK_DOWN_REASON_COMPLETION, RCLINK_DOWN_REASON_QP_FATAL,
		RCLINK_DOWN_REASON_DEVICE_FATAL, RCLINK_DOWN_REASON_PORT_DOWN,
		RCLINK_DOWN_REASON_GID_CHANGED,
		RCLINK_DOWN_REASON_DEVICE_REMOVED,
		RCLINK_DOWN_REASON_LOCAL_ERROR,
		RCLINK_DOWN_REASON_SUBNET_MANAGER,
		RCLINK_DOWN_REASON_MTU_CHANGED,
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		EXPECT_NE(rcl_group_advice(99), rcl_group_advice(reasons[i]));
		EXPECT_NE(NULL, rcl_group_advice(reasons[i])->todo);
	}
}

TEST_HARNESS_MAIN
