// SPDX-License-Identifier: GPL-2.0
/* What the endpoint over libibverbs sends, and what it accepts. */
#include "seal.h"
#include "shown.h"
#include "stamp.h"
#include "stock.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>

#include <infiniband/verbs.h>
#include <kselftest_harness.h>
#include <openssl/evp.h>

#include "../../kmod/msg.h"
#include "check.h"
#include "echo_op.h"
#include "endpoint.h"
#include "fail.h"
#include "hca.h"
#include "lease.h"
#include "link.h"
#include "news.h"
#include "number.h"
#include "physical.h"
#include "port.h"

static const char stock_text[RCV_STOCK_LEN] =
	"0001:000011:d95672:00000000000000000000ffffc0000201";

static const struct rcv_stock_dest stock_dest = {
	.lid = 1,
	.qpn = 0x11,
	.psn = 0xd95672,
	.gid = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
};

TEST(an_address_of_ibv_rc_pingpong_is_written_as_it_does)
{
	char text[RCV_STOCK_LEN];

	rcv_stock_encode(&stock_dest, text);
	EXPECT_EQ(0, memcmp(stock_text, text, sizeof(text)));
}

TEST(an_address_of_ibv_rc_pingpong_is_read)
{
	struct rcv_stock_dest dest;
	char err[RCL_ERR_LEN];

	ASSERT_EQ(0, rcv_stock_decode(stock_text, &dest, err));
	EXPECT_EQ(stock_dest.lid, dest.lid);
	EXPECT_EQ(stock_dest.qpn, dest.qpn);
	EXPECT_EQ(stock_dest.psn, dest.psn);
	EXPECT_EQ(0, memcmp(stock_dest.gid, dest.gid, sizeof(dest.gid)));
}

/* Each byte is replaced by 'x', and by NUL; NUL itself by '0'. */
TEST(any_other_bytes_are_refused)
{
	char err[RCL_ERR_LEN], text[RCV_STOCK_LEN];
	struct rcv_stock_dest dest;
	int i;

	for (i = 0; i < RCV_STOCK_LEN; i++) {
		memcpy(text, stock_text, sizeof(text));
		text[i] = 'x';
		EXPECT_EQ(-EPROTO, rcv_stock_decode(text, &dest, err));
		text[i] = stock_text[i] ? '\0' : '0';
		EXPECT_EQ(-EPROTO, rcv_stock_decode(text, &dest, err));
	}
	EXPECT_NE(NULL, strstr(err, "ibv_rc_pingpong"));
}

TEST(a_qpn_of_nobody_is_refused)
{
	char err[RCL_ERR_LEN], text[RCV_STOCK_LEN];
	struct rcv_stock_dest dest;

	memcpy(text, stock_text, sizeof(text));
	memcpy(text + 5, "000001", 6);
	EXPECT_EQ(-EPROTO, rcv_stock_decode(text, &dest, err));
}

/* Otherwise a peer started without -g would use a GID that it does not have. */
TEST(on_infiniband_a_stock_peer_is_told_a_gid_on_request_only)
{
	const uint32_t ib = RCLINK_LINK_LAYER_INFINIBAND;

	EXPECT_FALSE(rcv_stock_says_gid(ib, false, RCLINK_GID_INDEX_AUTO));
	EXPECT_TRUE(rcv_stock_says_gid(ib, false, 0));
	EXPECT_TRUE(rcv_stock_says_gid(ib, true, RCLINK_GID_INDEX_AUTO));
	EXPECT_TRUE(rcv_stock_says_gid(RCLINK_LINK_LAYER_ROCE, false,
				       RCLINK_GID_INDEX_AUTO));
}

TEST(packets_have_a_grh_if_both_ends_said_a_gid)
{
	const struct rcv_stock_dest none = { .lid = 1 };

	EXPECT_TRUE(rcv_stock_has_grh(&stock_dest, &stock_dest));
	EXPECT_FALSE(rcv_stock_has_grh(&none, &stock_dest));
	EXPECT_FALSE(rcv_stock_has_grh(&stock_dest, &none));
	EXPECT_FALSE(rcv_stock_has_grh(&none, &none));
}

static const struct rcv_shown page = {
	.addr = 0x7f0000001000, .len = 4096, .rights = 2, .rkey = 0x1234,
};

TEST(memory_that_one_end_shows_the_other_sees)
{
	uint8_t data[RCL_MSG_DATA_MAX];
	struct rcl_msg msg = { .type = RCL_MSG_IMPORTED };
	struct rcv_shown shown;

	rcv_shown_put(&page, 0, data, &msg);
	ASSERT_EQ(28, msg.len);
	ASSERT_EQ(0, rcv_shown_get(&msg, &shown));
	EXPECT_EQ(page.addr, shown.addr);
	EXPECT_EQ(page.len, shown.len);
	EXPECT_EQ(page.rights, shown.rights);
	EXPECT_EQ(page.rkey, shown.rkey);
}

TEST(there_is_no_key_behind_the_only_extent)
{
	uint8_t data[RCL_MSG_DATA_MAX];
	struct rcl_msg msg = { .type = RCL_MSG_IMPORTED };

	rcv_shown_put(&page, 1, data, &msg);
	EXPECT_EQ(24, msg.len);
}

/* Bad numbers of bytes, addresses, shifts and rights; then other lengths. */
TEST(memory_that_cannot_be_is_refused)
{
	static const struct {
		uint32_t at, bytes;
		uint64_t value;
	} bad[] = {
		{ 8, 8, 0 }, { 0, 8, ~0ULL }, { 8, 8, ~0ULL }, { 16, 4, 11 },
		{ 16, 4, 31 }, { 8, 8, 1ULL << 43 }, { 20, 4, 16 },
	};
	uint8_t data[RCL_MSG_DATA_MAX];
	struct rcl_msg msg = { .type = RCL_MSG_IMPORTED };
	struct rcv_shown shown;
	uint32_t len;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rcv_shown_put(&page, 0, data, &msg);
		rcl_msg_put(data + bad[i].at, bad[i].value, bad[i].bytes);
		EXPECT_EQ(-EPROTO, rcv_shown_get(&msg, &shown));
	}
	rcv_shown_put(&page, 0, data, &msg);
	for (len = 0; len < RCL_MSG_DATA_MAX; len++) {
		msg.len = len;
		EXPECT_EQ(len == 28 ? 0 : -EPROTO, rcv_shown_get(&msg, &shown));
	}
}

/* The first key may be good for the first part of the memory only. */
TEST(what_the_first_key_of_memory_is_good_for_is_known)
{
	static const struct {
		uint64_t addr, len;
		uint32_t shift, extents;
		uint64_t first;
	} rows[] = {
		{ 0x1000, 4096, 30, 1, 4096 },
		{ 0x1000, 8192, 12, 2, 4096 },
		{ 0x1ff0, 4096, 12, 2, 16 },
		{ 0x1ff0, 8, 12, 1, 8 },
		{ 0x40000000 - 16, 4096, 30, 2, 16 },
	};
	uint8_t data[RCL_MSG_DATA_MAX] = { 0 };
	struct rcl_msg msg = { .type = RCL_MSG_IMPORTED, .data = data };
	struct rcv_shown shown;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rcl_msg_put(data, rows[i].addr, 8);
		rcl_msg_put(data + 8, rows[i].len, 8);
		rcl_msg_put(data + 16, rows[i].shift, 4);
		msg.len = 24 + 4 * rows[i].extents;
		ASSERT_EQ(0, rcv_shown_get(&msg, &shown));
		EXPECT_EQ(rows[i].first, shown.first);
	}
}

TEST(operations_are_found_by_their_names)
{
	const struct rcv_echo_op *op;

	for (op = rcv_echo_ops; op->name; op++)
		EXPECT_EQ(op, rcv_echo_op(op->name));
	EXPECT_EQ(8, op - rcv_echo_ops);
	EXPECT_EQ(NULL, rcv_echo_op("mcas"));
	EXPECT_EQ(NULL, rcv_echo_op(""));
}

TEST(an_operation_is_tried_on_memory_that_allows_it_only)
{
	static const struct {
		const char *op;
		int ret;
		uint32_t size, rights, addr;
		bool atomics;	/* our device has them */
	} rows[] = {
		{ "write", 0, 4096, 3, 4, false },
		{ "write", -EMSGSIZE, 4097, 3, 0, true },
		{ "write", -EACCES, 8, 1, 0, true },
		{ "write-imm", -EACCES, 8, 2, 0, true },
		{ "read", 0, 4096, 2, 4, false },
		{ "read", -EACCES, 8, 5, 0, true },
		{ "cas", 0, 8, 6, 8, true },
		{ "cas", -EOPNOTSUPP, 8, 3, 8, true },
		{ "fadd", -EOPNOTSUPP, 8, 7, 8, false },
		{ "fadd", -EINVAL, 8, 7, 4, true },
		{ "fadd", -EACCES, 8, 4, 8, true },
		{ "send-inv", 0, 65536, 10, 0, false },
		{ "send-inv", -EACCES, 8, 7, 0, true },
	};
	char err[RCL_ERR_LEN];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rcv_shown shown = {
			.addr = rows[i].addr, .len = 8192, .first = 4096,
			.rights = rows[i].rights,
		};

		EXPECT_EQ(rows[i].ret,
			  rcv_echo_check(rcv_echo_op(rows[i].op), rows[i].size,
					 &shown, rows[i].atomics, err))
			TH_LOG("%s", rows[i].op);
		EXPECT_EQ(-ENOENT,
			  rcv_echo_check(rcv_echo_op(rows[i].op), 8, NULL,
					 true, err));
	}
}

TEST(what_is_sent_has_no_byte_of_what_was_there)
{
	uint8_t before[600], sent[600];
	size_t i;

	rcv_echo_fill(before, sizeof(before), false);
	rcv_echo_fill(sent, sizeof(sent), true);
	for (i = 0; i < sizeof(sent); i++)
		EXPECT_NE(before[i], sent[i]);
	EXPECT_TRUE(rcv_echo_is(before, sizeof(before), false));
	EXPECT_TRUE(rcv_echo_is(sent, sizeof(sent), true));
	sent[599]++;
	EXPECT_FALSE(rcv_echo_is(sent, sizeof(sent), true));
	EXPECT_TRUE(rcv_echo_is(sent, 599, true));
}

#define EPOCH	7

FIXTURE(seal)
{
	struct rcv_seal a, b;	/* of the initiator, of the responder */
	uint8_t key[RCLINK_KEY_LEN];
	uint8_t buf[RCL_MSG_SLOT];
	int len;
};

FIXTURE_SETUP(seal)
{
	static const struct rcl_msg hello = { .type = RCL_MSG_HELLO };
	unsigned int i;

	for (i = 0; i < sizeof(self->key); i++)
		self->key[i] = i;
	ASSERT_EQ(0, rcv_seal_start(&self->a, self->key, RCLINK_ROLE_INITIATOR,
				    EPOCH));
	ASSERT_EQ(0, rcv_seal_start(&self->b, self->key, RCLINK_ROLE_RESPONDER,
				    EPOCH));
	self->len = rcv_seal_close(&self->a, self->buf,
				   rcl_msg_encode(self->buf + RCL_MSG_AAD,
						  &hello));
	ASSERT_EQ(RCL_MSG_AAD + RCL_MSG_HEAD + RCL_MSG_TAG, self->len);
}

FIXTURE_TEARDOWN(seal)
{
	rcv_seal_wipe(&self->a);
	rcv_seal_wipe(&self->b);
}

/* As on a system that is configured for FIPS. */
TEST_F(seal, needs_a_cipher_that_openssl_may_refuse)
{
	struct rcv_seal seal;

	ASSERT_EQ(1, EVP_set_default_properties(NULL, "fips=yes"));
	EXPECT_EQ(-EOPNOTSUPP, rcv_seal_start(&seal, self->key,
					      RCLINK_ROLE_INITIATOR, EPOCH));
	ASSERT_EQ(1, EVP_set_default_properties(NULL, ""));
	ASSERT_EQ(0, rcv_seal_start(&seal, self->key, RCLINK_ROLE_INITIATOR,
				    EPOCH));
	rcv_seal_wipe(&seal);
}

TEST_F(seal, what_one_end_seals_the_other_opens)
{
	struct rcl_msg msg;

	ASSERT_EQ(RCL_MSG_HEAD, rcv_seal_open(&self->b, self->buf, self->len));
	ASSERT_EQ(0, rcl_msg_decode(self->buf + RCL_MSG_AAD, RCL_MSG_HEAD,
				    &msg));
	EXPECT_EQ(RCL_MSG_HELLO, msg.type);
}

TEST_F(seal, the_head_is_in_the_clear_as_documented)
{
	static const uint8_t head[RCL_MSG_AAD] = { [7] = EPOCH };

	EXPECT_EQ(0, memcmp(head, self->buf, sizeof(head)));
}

TEST_F(seal, every_damaged_bit_is_noticed)
{
	uint8_t buf[RCL_MSG_SLOT];
	int bit;

	for (bit = 0; bit < 8 * self->len; bit++) {
		memcpy(buf, self->buf, sizeof(buf));
		buf[bit / 8] ^= 1 << bit % 8;
		EXPECT_GT(0, rcv_seal_open(&self->b, buf, self->len));
	}
	EXPECT_EQ(RCL_MSG_HEAD, rcv_seal_open(&self->b, self->buf, self->len));
}

TEST_F(seal, a_message_is_opened_once)
{
	uint8_t again[RCL_MSG_SLOT];

	memcpy(again, self->buf, sizeof(again));
	EXPECT_LT(0, rcv_seal_open(&self->b, self->buf, self->len));
	EXPECT_EQ(-EILSEQ, rcv_seal_open(&self->b, again, self->len));
}

TEST_F(seal, a_message_that_was_lost_is_missed)
{
	self->len = rcv_seal_close(&self->a, self->buf, RCL_MSG_HEAD);
	EXPECT_EQ(-EILSEQ, rcv_seal_open(&self->b, self->buf, self->len));
}

/* Otherwise the nonce would be one of the other direction. */
TEST_F(seal, a_sequence_has_no_direction)
{
	self->buf[8] |= 0x80;
	EXPECT_EQ(-EBADMSG, rcv_seal_open(&self->b, self->buf, self->len));
}

TEST_F(seal, an_end_does_not_open_its_own)
{
	EXPECT_EQ(-EBADMSG, rcv_seal_open(&self->a, self->buf, self->len));
}

TEST_F(seal, another_epoch_is_stale)
{
	self->b.epoch++;
	EXPECT_EQ(-ESTALE, rcv_seal_open(&self->b, self->buf, self->len));
}

TEST_F(seal, a_length_out_of_range_is_refused)
{
	EXPECT_EQ(-EMSGSIZE, rcv_seal_open(&self->b, self->buf, 0));
	EXPECT_EQ(-EMSGSIZE, rcv_seal_open(&self->b, self->buf,
					   RCL_MSG_AAD + RCL_MSG_TAG - 1));
	EXPECT_EQ(-EMSGSIZE, rcv_seal_open(&self->b, self->buf,
					   RCL_MSG_SLOT + 1));
	EXPECT_EQ(-EBADMSG, rcv_seal_open(&self->b, self->buf,
					  RCL_MSG_AAD + RCL_MSG_TAG));
}

/* A peer may be ahead by RCL_EPOCH_AHEAD each time, and its link follows it. */
TEST(a_peer_moves_the_numbers_of_its_own_link_only)
{
	uint64_t far = 1ULL << 32;

	EXPECT_EQ(1, rcv_number_next("a"));
	EXPECT_EQ(1, rcv_number_next("b"));
	rcv_number_agreed("a", far);
	rcv_number_agreed("a", 2 * far);
	EXPECT_EQ(2 * far + 1, rcv_number_next("a"));
	EXPECT_EQ(2, rcv_number_next("b"));
	/* It never goes back. */
	rcv_number_agreed("a", 7);
	EXPECT_EQ(2 * far + 2, rcv_number_next("a"));
	/* Link c has had no epoch so far. */
	rcv_number_agreed("c", 40);
	EXPECT_EQ(41, rcv_number_next("c"));
}

/* Events of port 1, and their reasons if the GID is gone and if it holds. */
TEST(news_of_a_port_end_an_epoch_as_in_the_module)
{
	static const struct {
		enum ibv_event_type event;
		uint32_t gone, holds;
	} news[] = {
		{ IBV_EVENT_PORT_ERR, RCLINK_DOWN_REASON_PORT_DOWN,
		  RCLINK_DOWN_REASON_PORT_DOWN },
		{ IBV_EVENT_LID_CHANGE, RCLINK_DOWN_REASON_GID_CHANGED,
		  RCLINK_DOWN_REASON_GID_CHANGED },
		{ IBV_EVENT_GID_CHANGE, RCLINK_DOWN_REASON_GID_CHANGED,
		  RCLINK_DOWN_REASON_NONE },
		{ IBV_EVENT_CLIENT_REREGISTER, RCLINK_DOWN_REASON_GID_CHANGED,
		  RCLINK_DOWN_REASON_NONE },
		{ IBV_EVENT_PORT_ACTIVE, RCLINK_DOWN_REASON_NONE,
		  RCLINK_DOWN_REASON_NONE },
		{ IBV_EVENT_SM_CHANGE, RCLINK_DOWN_REASON_NONE,
		  RCLINK_DOWN_REASON_NONE },
	};
	struct rcv_watched w = { .port = 1 };
	struct ibv_async_event e = { 0 };
	size_t i;

	for (i = 0; i < sizeof(news) / sizeof(news[0]); i++) {
		e.event_type = news[i].event;
		e.element.port_num = 1;
		w.gid_holds = false;
		EXPECT_EQ(news[i].gone, rcv_news_reason(&w, &e));
		w.gid_holds = true;
		EXPECT_EQ(news[i].holds, rcv_news_reason(&w, &e));
		w.gid_holds = false;
		e.element.port_num = 2;
		EXPECT_EQ(RCLINK_DOWN_REASON_NONE, rcv_news_reason(&w, &e));
	}
}

TEST(news_of_the_control_qp_end_an_epoch_as_in_the_module)
{
	static const enum ibv_event_type access[] = {
		IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
	};
	struct ibv_qp ctrl, pooled;
	struct rcv_watched w = { .ctrl = &ctrl };
	struct ibv_async_event e = { .event_type = IBV_EVENT_QP_FATAL };
	size_t i;

	e.element.qp = &ctrl;
	EXPECT_EQ(RCLINK_DOWN_REASON_QP_FATAL, rcv_news_reason(&w, &e));
	for (i = 0; i < sizeof(access) / sizeof(access[0]); i++) {
		e.event_type = access[i];
		e.element.qp = &ctrl;
		EXPECT_EQ(RCLINK_DOWN_REASON_ACCESS, rcv_news_reason(&w, &e));
		w.vague = true;
		EXPECT_EQ(RCLINK_DOWN_REASON_QP_FATAL, rcv_news_reason(&w, &e));
		w.vague = false;
		e.element.qp = &pooled;
		EXPECT_EQ(RCLINK_DOWN_REASON_NONE, rcv_news_reason(&w, &e));
	}
}

TEST(a_device_that_fails_may_have_been_removed)
{
	struct ibv_async_event e = { .event_type = IBV_EVENT_DEVICE_FATAL };
	struct rcv_watched w = { 0 };

	EXPECT_EQ(RCLINK_DOWN_REASON_DEVICE_FATAL, rcv_news_reason(&w, &e));
	w.gone = true;
	EXPECT_EQ(RCLINK_DOWN_REASON_DEVICE_REMOVED, rcv_news_reason(&w, &e));
	e.event_type = IBV_EVENT_CQ_ERR;
	EXPECT_EQ(RCLINK_DOWN_REASON_QP_FATAL, rcv_news_reason(&w, &e));
}

/* The same values as in ibv_devinfo; unknown ones give 0 or NULL. */
TEST(the_wire_of_a_port_is_in_numbers)
{
	EXPECT_EQ(1, rcv_lanes(1));
	EXPECT_EQ(4, rcv_lanes(2));
	EXPECT_EQ(8, rcv_lanes(4));
	EXPECT_EQ(12, rcv_lanes(8));
	EXPECT_EQ(2, rcv_lanes(16));
	EXPECT_EQ(0, rcv_lanes(0));
	EXPECT_EQ(0, rcv_lanes(3));
	EXPECT_EQ(0, rcv_lanes(32));
	EXPECT_EQ(2500, rcv_lane_mbits(1));
	EXPECT_EQ(25000, rcv_lane_mbits(32));
	EXPECT_EQ(100000, rcv_lane_mbits(128));
	EXPECT_EQ(0, rcv_lane_mbits(0));
	EXPECT_EQ(0, rcv_lane_mbits(5));
	EXPECT_EQ(0, rcv_lane_mbits(256));
	EXPECT_STREQ("link-up", rcv_phys_state(5));
	EXPECT_EQ(NULL, rcv_phys_state(0));
	EXPECT_EQ(NULL, rcv_phys_state(8));
}

/* A clock of 1 GHz, of 32 and of 64 bits, and one of 156250 kHz. */
TEST(stamps_are_compared_by_the_bits_that_they_have)
{
	EXPECT_EQ(30, rcv_stamps_ns(20, 50, 0xffffffff, 1000000));
	EXPECT_EQ(30, rcv_stamps_ns(0xfffffff0, 14, 0xffffffff, 1000000));
	EXPECT_EQ(30, rcv_stamps_ns(-16ULL, 14, ~0ULL, 1000000));
	EXPECT_EQ(6400, rcv_stamps_ns(0, 1000, ~0ULL, 156250));
	/* Six hours, which in ns * 1000000 is beyond 64 bits. */
	EXPECT_EQ(21600 * 1000000000ULL,
		  rcv_stamps_ns(5, 21600 * 1000000000ULL + 5, ~0ULL, 1000000));
	EXPECT_EQ(0, rcv_stamps_ns(0, 1000, ~0ULL, 0));
	EXPECT_EQ(0, rcv_stamps_ns(0, 1000, 0, 1000000));
}

/* Each limit is accepted, and one more is refused. */
TEST(what_a_port_does_not_have_is_refused_as_by_the_module)
{
	static const struct {
		enum rcl_policy_field field;
		uint32_t most;
		const char *why;
	} limits[] = {
		{ RCL_P_MTU, 1024, "mtu is larger than the port's active" },
		{ RCL_P_QPS, 9, "qps is more than the device has" },
		{ RCL_P_RD_ATOMIC, 3, "rd-atomic is more than the device" },
		{ RCL_P_PKEY_INDEX, 4, "pkey-index is beyond the port's" },
	};
	struct rcv_hca hca = {
		.attr.orig_attr = {
			.max_qp = 10, .max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 3,
		},
		.port_attr = {
			.max_mtu = IBV_MTU_2048, .active_mtu = IBV_MTU_1024,
			.pkey_tbl_len = 5,
		},
	};
	struct rcl_policy policy = { .v = { [RCL_P_RD_ATOMIC] = 1 } };
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint32_t *v = &policy.v[limits[i].field], was = *v;

		*v = limits[i].most;
		EXPECT_EQ(0, rcv_port_check(&hca, &policy, &why));
		++*v;
		ASSERT_EQ(-EINVAL, rcv_port_check(&hca, &policy, &why));
		EXPECT_EQ(why, strstr(why, limits[i].why));
		*v = was;
	}
	policy.v[RCL_P_MTU] = 4096;
	ASSERT_EQ(-EINVAL, rcv_port_check(&hca, &policy, &why));
	EXPECT_EQ(why, strstr(why, "mtu is larger than the port's: "));
	EXPECT_NE(NULL, strstr(why, "`rclink dev --verbs`"));
}

static const uint16_t pkeys[] = { 0xffff, 0x8001, 0x0001, 0x0000, 0x8000 };

/* Replaces the function of libibverbs. */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index,
		   __be16 *pkey)
{
	if (index >= (int)(sizeof(pkeys) / sizeof(pkeys[0])))
		return -1;
	*pkey = htobe16(pkeys[index]);
	return 0;
}

FIXTURE(partition)
{
	struct ibv_device device;
	struct ibv_context ctx;
	struct rcv_hca hca;
	struct rcl_endpoint local, remote;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(partition)
{
	strcpy(self->device.name, "ib0");
	self->ctx.device = &self->device;
	self->hca.ctx = &self->ctx;
	self->hca.port = 1;
	self->hca.link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	self->local = (struct rcl_endpoint){
		.link_layer = RCLINK_LINK_LAYER_INFINIBAND,
		.lid = 1, .mtu = 1024, .rd_atomic = 1, .epoch = 1, .rkey = 1,
		.length = 4096, .nqps = 1, .qp = { { .qpn = 2 } },
		.gid = { 0xfe, 0x80, [15] = 1 },
	};
	self->remote = self->local;
	self->remote.gid[15] = 2;
}

FIXTURE_TEARDOWN(partition)
{
}

TEST_F(partition, is_that_of_the_index)
{
	ASSERT_EQ(0, rcv_hca_pkey(&self->hca, 0, &self->local.pkey, self->err));
	EXPECT_EQ(0xffff, self->local.pkey);
	ASSERT_EQ(0, rcv_hca_pkey(&self->hca, 2, &self->local.pkey, self->err));
	EXPECT_EQ(1, self->local.pkey);
}

TEST_F(partition, is_not_at_an_empty_index_or_behind_the_last)
{
	uint32_t i;

	for (i = 3; i < 6; i++) {
		EXPECT_EQ(-ENODATA, rcv_hca_pkey(&self->hca, i,
						 &self->local.pkey, self->err));
		EXPECT_NE(NULL, strstr(self->err, "pkey-index: "));
	}
}

TEST_F(partition, is_none_of_roce)
{
	self->hca.link_layer = RCLINK_LINK_LAYER_ROCE;
	ASSERT_EQ(0, rcv_hca_pkey(&self->hca, 7, &self->local.pkey, self->err));
	EXPECT_EQ(0, self->local.pkey);
}

/* By the check of both endpoints before a QP is modified. */
TEST_F(partition, must_be_the_peers)
{
	static const struct {
		uint32_t index, remote;
		const char *why;
	} pairs[] = {
		{ 0, 0xffff, NULL }, { 1, 0x8001, NULL }, { 1, 1, NULL },
		{ 2, 0x8001, NULL }, { 0, 0, NULL },
		{ 1, 0xffff, "another partition" },
		{ 2, 1, "both ends are limited members" },
	};
	const char *why;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ASSERT_EQ(0, rcv_hca_pkey(&self->hca, pairs[i].index,
					  &self->local.pkey, self->err));
		self->remote.pkey = pairs[i].remote;
		why = NULL;
		ret = rcl_endpoint_check(&self->local, &self->remote, false,
					 &why);
		EXPECT_EQ(pairs[i].why ? -EINVAL : 0, ret);
		if (pairs[i].why)
			EXPECT_NE(NULL, strstr(why, pairs[i].why));
	}
}

TEST_HARNESS_MAIN
