// SPDX-License-Identifier: GPL-2.0
/* What a peer may say of its end: the same checks on both kinds of link. */
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>

#include <kselftest_harness.h>

FIXTURE(ends)
{
	struct rcl_endpoint local;
	struct rcl_endpoint remote;
	bool loopback;
	const char *why;
};

FIXTURE_VARIANT(ends)
{
	u32 link_layer;
	u32 lid;
};

FIXTURE_VARIANT_ADD(ends, roce)
{
	.link_layer = RCLINK_LINK_LAYER_ROCE,
};

FIXTURE_VARIANT_ADD(ends, infiniband)
{
	.link_layer = RCLINK_LINK_LAYER_INFINIBAND,
	.lid = 7,
};

static void make_end(struct rcl_endpoint *end, u32 link_layer, u32 lid,
		     const char *gid, u32 qpn)
{
	u32 i;

	memset(end, 0, sizeof(*end));
	end->link_layer = link_layer;
	inet_pton(AF_INET6, gid, end->gid);
	end->lid = lid;
	end->mtu = 1024;
	end->rd_atomic = 4;
	end->epoch = 1;
	end->addr = 0x1234567000;
	end->rkey = 0x1234;
	end->length = 65536;
	end->nqps = 5;
	for (i = 0; i < end->nqps; i++) {
		end->qp[i].qpn = qpn + i;
		end->qp[i].psn = 0xffffff - i;
	}
}

FIXTURE_SETUP(ends)
{
	make_end(&self->local, variant->link_layer, variant->lid,
		 "::ffff:192.0.2.1", 17);
	/* Two hosts may well have the same QPNs. */
	make_end(&self->remote, variant->link_layer, variant->lid,
		 "::ffff:192.0.2.2", 17);
}

FIXTURE_TEARDOWN(ends)
{
}

static int check(struct _test_data_ends *ends)
{
	ends->why = NULL;
	return rcl_endpoint_check(&ends->local, &ends->remote, ends->loopback,
				  &ends->why);
}

/* Refused, and the sentence names the attribute. */
static bool refused(struct _test_data_ends *ends, const char *word)
{
	int ret = check(ends);

	if (ret == -EINVAL && ends->why && strstr(ends->why, word))
		return true;
	fprintf(stderr, "# %d, not about %s: %s\n", ret, word,
		ends->why ?: "nothing");
	return false;
}

TEST_F(ends, a_sound_peer_is_accepted)
{
	EXPECT_EQ(0, check(self));
	self->remote.qp[0].psn = 0;
	self->remote.qp[1].qpn = 2;
	self->remote.qp[2].qpn = 0xffffff;
	self->remote.mtu = 4096;
	self->remote.rd_atomic = 255;
	self->remote.epoch = self->local.epoch + RCL_EPOCH_AHEAD;
	self->remote.addr = 0;
	self->remote.rkey = 0xffffffff;
	self->remote.length = 1U << 31;
	EXPECT_EQ(0, check(self));
	self->remote.addr = -(u64)self->remote.length - 1;
	self->remote.mtu = 256;
	self->remote.rd_atomic = 1;
	EXPECT_EQ(0, check(self));
}

TEST_F(ends, the_link_layer_is_this_ports)
{
	u32 layer;

	for (layer = 0; layer <= 4; layer++) {
		if (layer == self->local.link_layer)
			continue;
		self->remote.link_layer = layer;
		EXPECT_TRUE(refused(self, "link-layer"));
	}
}

TEST_F(ends, the_mtu_is_one_of_five)
{
	static const u32 bad[] = {
		0, 1, 5, 8, 128, 255, 257, 1000, 1500, 2049, 4095, 8192,
		0x80000000, 0xffffffff
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->remote.mtu = bad[i];
		EXPECT_TRUE(refused(self, "mtu"));
	}
}

TEST_F(ends, the_gid_is_a_unicast_address)
{
	static const char * const bad[] = {
		"::", "::1", "ff02::1", "::ffff:255.255.255.255",
		"::ffff:224.0.0.1", "::ffff:127.0.0.1", "::ffff:0.0.0.0",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		inet_pton(AF_INET6, bad[i], self->remote.gid);
		EXPECT_TRUE(refused(self, "gid"));
	}
}

TEST_F(ends, the_own_gid_needs_loopback)
{
	u32 i;

	memcpy(self->remote.gid, self->local.gid, RCLINK_GID_LEN);
	EXPECT_TRUE(refused(self, "gid"));
	self->loopback = true;
	/* and even then the peer's QPs must not be the link's own */
	EXPECT_TRUE(refused(self, "qpn"));
	for (i = 0; i < self->remote.nqps; i++)
		self->remote.qp[i].qpn += 100;
	EXPECT_EQ(0, check(self));
	self->remote.qp[4].qpn = self->local.qp[0].qpn;
	EXPECT_TRUE(refused(self, "qpn"));
}

TEST_F(ends, another_address_family_is_refused_on_roce)
{
	bool roce = variant->link_layer == RCLINK_LINK_LAYER_ROCE;

	inet_pton(AF_INET6, "2001:db8::2", self->remote.gid);
	EXPECT_EQ(roce ? -EINVAL : 0, check(self));
}

TEST_F(ends, the_lid_is_a_unicast_one_on_infiniband)
{
	static const u32 bad[] = { 0, 0xc000, 0xffff, 0x10000, 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->remote.lid = bad[i];
		EXPECT_EQ(variant->lid ? -EINVAL : 0, check(self));
	}
	self->remote.lid = 0xbfff;
	EXPECT_EQ(0, check(self));
}

TEST_F(ends, both_have_as_many_qps)
{
	static const u32 bad[] = { 0, 1, 4, 6, 65 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->remote.nqps = bad[i];
		EXPECT_TRUE(refused(self, "qp"));
	}
}

TEST_F(ends, every_qpn_is_a_single_24_bit_number_from_2_on)
{
	static const u32 bad[] = { 0, 1, 0x1000000, 0xffffffff };
	u32 i, j;

	for (i = 0; i < self->remote.nqps; i++) {
		u32 good = self->remote.qp[i].qpn;

		for (j = 0; j < ARRAY_SIZE(bad); j++) {
			self->remote.qp[i].qpn = bad[j];
			EXPECT_TRUE(refused(self, "qpn"));
		}
		self->remote.qp[i].qpn = self->remote.qp[(i + 1) % 5].qpn;
		EXPECT_TRUE(refused(self, "qpn"));
		self->remote.qp[i].qpn = good;
	}
}

TEST_F(ends, every_psn_has_24_bits)
{
	u32 i;

	for (i = 0; i < self->remote.nqps; i++) {
		self->remote.qp[i].psn = 0x1000000;
		EXPECT_TRUE(refused(self, "psn"));
		self->remote.qp[i].psn = 0xffffffff;
		EXPECT_TRUE(refused(self, "psn"));
		self->remote.qp[i].psn = 0;
	}
}

TEST_F(ends, the_epoch_is_neither_0_nor_far_ahead)
{
	const u64 far = self->local.epoch + RCL_EPOCH_AHEAD + 1;
	const u64 bad[] = { 0, far, 1ULL << 63, ~0ULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->remote.epoch = bad[i];
		EXPECT_TRUE(refused(self, "epoch"));
		/* Only that helps, so the text names it. */
		EXPECT_TRUE(refused(self, "delete the link on both hosts"));
	}
}

TEST_F(ends, the_epoch_may_be_behind)
{
	self->local.epoch = 1ULL << 63;
	self->remote.epoch = 1;
	EXPECT_EQ(0, check(self));
}

TEST_F(ends, the_depth_is_1_to_255)
{
	self->remote.rd_atomic = 0;
	EXPECT_TRUE(refused(self, "rd-atomic"));
	self->remote.rd_atomic = 256;
	EXPECT_TRUE(refused(self, "rd-atomic"));
}

TEST_F(ends, both_are_members_of_one_partition)
{
	static const struct {
		u32 local, remote;
		const char *text;
	} cases[] = {
		{ 0xffff, 0xffff, NULL },
		{ 0x8005, 5, NULL },
		{ 5, 0x8005, NULL },
		{ 0, 0x8005, NULL },
		{ 0x8005, 0, NULL },
		{ 0x8005, 0x8006, "another partition" },
		{ 5, 5, "limited members" },
		{ 0xffff, 0x10000, "0 to 65535" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		self->local.pkey = cases[i].local;
		self->remote.pkey = cases[i].remote;
		if (cases[i].text) {
			EXPECT_TRUE(refused(self, cases[i].text));
			continue;
		}
		EXPECT_EQ(0, check(self));
	}
}

TEST_F(ends, the_buffer_has_a_key_a_length_and_an_end)
{
	self->remote.rkey = 0;
	EXPECT_TRUE(refused(self, "rkey"));
	self->remote.rkey = 1;
	self->remote.length = 0;
	EXPECT_TRUE(refused(self, "length"));
	self->remote.length = (1U << 31) + 1;
	EXPECT_TRUE(refused(self, "length"));
	self->remote.length = 0xffffffff;
	EXPECT_TRUE(refused(self, "length"));
	self->remote.length = 4096;
	self->remote.addr = ~0ULL;
	EXPECT_TRUE(refused(self, "addr"));
	self->remote.addr = -4095ULL;
	EXPECT_TRUE(refused(self, "addr"));
}

TEST_HARNESS_MAIN
