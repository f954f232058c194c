// SPDX-License-Identifier: GPL-2.0
/* Whom a listener admits to which link. */
#include "peers.h"

#include <errno.h>

#include <kselftest_harness.h>

#include "fail.h"
#include "session.h"

#define PIN_A	"sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define PIN_B	"sha256:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
#define PIN_B2	"sha256:bBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="

FIXTURE(peers)
{
	struct rch_peers *peers;
	char link[RCLINK_NAME_MAX + 1];
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(peers)
{
	self->peers = rch_peers_new();
	ASSERT_NE(NULL, self->peers);
}

FIXTURE_TEARDOWN(peers)
{
	rch_peers_free(self->peers);
}

/* The identities of a peer with these names; the second may be NULL. */
static const struct rcx_ids *ids_of(const char *name, const char *second)
{
	static struct rcx_ids ids;

	ids.num = second ? 2 : 1;
	strcpy(ids.id[0], name);
	strcpy(ids.id[1], second ? second : "");
	return &ids;
}

/* The index of the identity that is admitted, or a negative errno. */
#define ADMIT(name, second, wanted)					\
	rch_peers_admit(self->peers, ids_of(name, second), wanted,	\
			self->link, self->err)

TEST_F(peers, one_entry_is_the_link_whatever_was_wanted)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "a=" PIN_A, self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "b=" PIN_B, self->err));
	EXPECT_EQ(0, ADMIT(PIN_A, NULL, "x"));
	EXPECT_STREQ("a", self->link);
	EXPECT_EQ(0, ADMIT(PIN_B, NULL, "a"));
	EXPECT_STREQ("b", self->link);
}

TEST_F(peers, of_several_entries_the_wanted_one_counts)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "a=" PIN_A, self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "b=" PIN_A, self->err));
	EXPECT_EQ(0, ADMIT(PIN_A, NULL, "b"));
	EXPECT_STREQ("b", self->link);
	EXPECT_EQ(0, ADMIT(PIN_A, NULL, "a"));
	EXPECT_STREQ("a", self->link);
	EXPECT_EQ(-EACCES, ADMIT(PIN_A, NULL, "c"));
	EXPECT_NE(NULL, strstr(self->err, "c"));
}

TEST_F(peers, of_links_by_two_names_of_a_peer_the_wanted_one_counts)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "l=dns:one", self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "k=dns:two", self->err));
	EXPECT_EQ(0, ADMIT("one", "two", "l"));
	EXPECT_STREQ("l", self->link);
	EXPECT_EQ(1, ADMIT("one", "two", "k"));
	EXPECT_STREQ("k", self->link);
	EXPECT_EQ(0, ADMIT("two", "one", "k"));
	EXPECT_STREQ("k", self->link);
	EXPECT_EQ(-EACCES, ADMIT("one", "two", "m"));
	EXPECT_NE(NULL, strstr(self->err, "none called m"));
	EXPECT_EQ(1, ADMIT("three", "two", "l"));
	EXPECT_STREQ("k", self->link);
}

TEST_F(peers, one_link_by_two_names_is_one_link)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "l=dns:one", self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "l=dns:two", self->err));
	EXPECT_LE(0, ADMIT("one", "two", "x"));
	EXPECT_STREQ("l", self->link);
	EXPECT_EQ(1, ADMIT("three", "two", "x"));
	EXPECT_EQ(-EACCES, ADMIT("three", "four", "l"));
	EXPECT_NE(NULL, strstr(self->err, "three is not among the peers"));
}

TEST_F(peers, whose_link_it_is_can_be_asked_again)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "a=" PIN_A, self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "b=" PIN_B, self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "c=" PIN_A, self->err));
	EXPECT_TRUE(rch_peers_know(self->peers, PIN_A, NULL));
	EXPECT_TRUE(rch_peers_know(self->peers, PIN_A, "a"));
	EXPECT_TRUE(rch_peers_know(self->peers, PIN_A, "c"));
	EXPECT_FALSE(rch_peers_know(self->peers, PIN_A, "b"));
	EXPECT_FALSE(rch_peers_know(self->peers, PIN_A, "d"));
	EXPECT_FALSE(rch_peers_know(self->peers, PIN_B2, NULL));
}

TEST_F(peers, an_unknown_identity_is_refused)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "b=" PIN_B, self->err));
	EXPECT_EQ(-EACCES, ADMIT(PIN_A, NULL, "b"));
	EXPECT_NE(NULL, strstr(self->err, PIN_A));
	EXPECT_EQ(-EACCES, ADMIT(PIN_B2, NULL, "b"));
}

TEST_F(peers, names_are_compared_whole_and_without_case)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "a=dns:Host.example",
				   self->err));
	EXPECT_EQ(0, ADMIT("host.EXAMPLE", NULL, "a"));
	EXPECT_EQ(-EACCES, ADMIT("host.example.org", NULL, "a"));
	EXPECT_EQ(-EACCES, ADMIT("dns:host.example", NULL, "a"));
}

TEST_F(peers, entries_are_a_name_and_an_identity)
{
	static const char *const bad[] = {
		"", "=", "a", "a=", "=" PIN_A, "a=sha256:", "a=sha256:xx",
		"a=" PIN_A "x", "a=md5:00", "a=dns:",
		"12345678901234567890123456789012=" PIN_A,
		"a b=" PIN_A, "-a=" PIN_A, "a/b=" PIN_A, "a\n=" PIN_A,
		"a=dns:*.example", "a=dns:b example", "a=dns:.example",
		"a=dns:b\x1b.example",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		self->err[0] = '\0';
		EXPECT_EQ(-EINVAL, rch_peers_add(self->peers, bad[i],
						 self->err))
			TH_LOG("bad[%u]", i);
		EXPECT_NE('\0', self->err[0]);
	}
	EXPECT_EQ(-EINVAL, rch_peers_check(self->peers, false, self->err));
}

TEST_F(peers, the_kind_of_identity_fits_the_kind_of_trust)
{
	ASSERT_EQ(0, rch_peers_add(self->peers, "a=" PIN_A, self->err));
	EXPECT_EQ(0, rch_peers_check(self->peers, false, self->err));
	EXPECT_EQ(-EINVAL, rch_peers_check(self->peers, true, self->err));
	ASSERT_EQ(0, rch_peers_add(self->peers, "b=dns:b", self->err));
	EXPECT_EQ(-EINVAL, rch_peers_check(self->peers, false, self->err));
}

TEST_HARNESS_MAIN
