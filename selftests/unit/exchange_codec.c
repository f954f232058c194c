// SPDX-License-Identifier: GPL-2.0
/* The bytes of the exchange: golden files, truncation, and every refusal. */
#include "codec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "session.h"

#include <kselftest_harness.h>

#define MANDATORY	0x8000

static const char * const golden[] = {
	"welcome", "offer", "answer", "endpoint_roce", "endpoint_ib",
	"confirm", "done", "error", "failed",
};

#define GOLDEN_COUNT	(sizeof(golden) / sizeof(golden[0]))

/* Hex digits of a text file, without what follows a '#'. */
static size_t load(const char *name, uint8_t *buf)
{
	char path[256], line[512], *p;
	unsigned int byte;
	size_t len = 0;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), GOLDEN "/%s.hex", name);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "#")] = '\0';
		for (p = line; sscanf(p, " %2x%n", &byte, &n) == 1; p += n)
			buf[len++] = byte;
	}
	fclose(f);

	return len;
}

/* A message under construction; judge() puts in the length word. */
struct draft {
	uint8_t buf[RCX_MSG_MAX];
	size_t len;
};

static void put(struct draft *d, unsigned int width, uint64_t value)
{
	while (width--)
		d->buf[d->len++] = value >> (8 * width);
}

static void start(struct draft *d, unsigned int type)
{
	d->len = 4;
	put(d, 2, type);
	put(d, 2, RCX_VERSION_MAX);
}

static void add(struct draft *d, unsigned int number, unsigned int width,
		uint64_t value)
{
	put(d, 2, number);
	put(d, 2, width);
	put(d, width, value);
}

/* Decode the draft with the right length word; returns the error or "ok". */
static const char *judge(struct draft *d)
{
	static char err[RCL_ERR_LEN];
	size_t len = d->len;
	struct rcx_msg msg;
	uint8_t *exact;
	int ret;

	d->len = 0;
	put(d, 4, len - 4);
	d->len = len;
	/* On the heap at its exact size, for the sanitizer. */
	exact = malloc(len);
	memcpy(exact, d->buf, len);
	err[0] = '\0';
	ret = rcx_msg_decode(exact, len, &msg, err);
	free(exact);

	return ret ? err : "ok";
}

static struct rcx_msg golden_msg(const char *name)
{
	uint8_t buf[RCX_MSG_MAX];
	char err[RCL_ERR_LEN];
	struct rcx_msg msg;

	if (rcx_msg_decode(buf, load(name, buf), &msg, err))
		abort();

	return msg;
}

static const char *encode(const struct rcx_msg *msg)
{
	static char err[RCL_ERR_LEN];
	uint8_t buf[RCX_ENCODED_MAX];

	return rcx_msg_encode(msg, buf, sizeof(buf), err) < 0 ? err : "ok";
}

#define EXPECT_SAYS(text, got) do {					\
	const char *said = (got);					\
	EXPECT_NE(NULL, strstr(said, text)) TH_LOG("said: %s", said);	\
} while (0)

TEST(golden_files_decode_and_encode_to_the_same_bytes)
{
	uint8_t buf[RCX_MSG_MAX], again[RCX_ENCODED_MAX];
	char err[RCL_ERR_LEN] = "";
	struct rcx_msg msg;
	size_t i, len;

	for (i = 0; i < GOLDEN_COUNT; i++) {
		len = load(golden[i], buf);
		ASSERT_LT(0, len);
		ASSERT_EQ(0, rcx_msg_decode(buf, len, &msg, err))
			TH_LOG("%s: %s", golden[i], err);
		ASSERT_EQ((int)len, rcx_msg_encode(&msg, again, sizeof(again),
						   err))
			TH_LOG("%s: %s", golden[i], err);
		EXPECT_EQ(0, memcmp(buf, again, len)) TH_LOG("%s", golden[i]);
	}
}

TEST(golden_values_are_what_the_file_says)
{
	struct rcx_msg msg = golden_msg("endpoint_roce");

	EXPECT_EQ(RCX_MSG_ENDPOINT, msg.type);
	EXPECT_EQ(2, msg.version);
	EXPECT_EQ(RCLINK_LINK_LAYER_ROCE, msg.endpoint.link_layer);
	EXPECT_EQ(192, msg.endpoint.gid[12]);
	EXPECT_EQ(1, msg.endpoint.gid[15]);
	EXPECT_EQ(1024, msg.endpoint.mtu);
	EXPECT_EQ(16, msg.endpoint.rd_atomic);
	EXPECT_EQ(RCLINK_ATOMICS_HCA, msg.endpoint.atomics);
	EXPECT_EQ(0x0102030405060708, msg.endpoint.epoch);
	EXPECT_EQ(0xffff888012345000, msg.endpoint.addr);
	EXPECT_EQ(0x77665544, msg.endpoint.rkey);
	EXPECT_EQ(65536, msg.endpoint.length);
	EXPECT_EQ(2, msg.endpoint.nqps);
	EXPECT_EQ(17, msg.endpoint.qp[0].qpn);
	EXPECT_EQ(0xabc123, msg.endpoint.qp[0].psn);
	EXPECT_EQ(18, msg.endpoint.qp[1].qpn);
}

TEST(golden_paths_are_what_the_file_says)
{
	struct rcx_msg msg = golden_msg("offer");
	const struct rcl_path *path = msg.paths.path;

	EXPECT_EQ(RCX_MSG_OFFER, msg.type);
	EXPECT_STREQ("kv-cache_1.b", msg.link);
	ASSERT_EQ(3, msg.paths.num);
	EXPECT_STREQ("mlx5_0", path[0].device);
	EXPECT_EQ(1, path[0].port);
	EXPECT_EQ(RCLINK_LINK_LAYER_INFINIBAND, path[0].link_layer);
	EXPECT_EQ(RCLINK_GID_TYPE_IB, path[0].gid_type);
	EXPECT_EQ(4096, path[0].mtu);
	EXPECT_EQ(0xfe, path[0].gid[0]);
	EXPECT_STREQ("mlx5_1", path[1].device);
	EXPECT_EQ(RCLINK_LINK_LAYER_ROCE, path[1].link_layer);
	EXPECT_EQ(RCLINK_GID_TYPE_ROCE_V2, path[1].gid_type);
	EXPECT_EQ(100, path[1].vlan);
	EXPECT_EQ(192, path[1].gid[12]);
	EXPECT_EQ(2, path[2].port);
	EXPECT_EQ(1024, path[2].mtu);
	EXPECT_EQ(0, path[2].vlan);
}

/* An optional field is not marked as mandatory, so an older end skips it. */
TEST(a_partition_key_is_carried_when_there_is_one)
{
	uint8_t buf[RCX_MSG_MAX];
	struct rcx_msg msg = golden_msg("endpoint_ib"), got;
	char err[RCL_ERR_LEN];
	int without, with;

	without = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_LT(0, without);
	msg.endpoint.pkey = 0x8005;
	with = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_EQ(without + 6, with);
	EXPECT_EQ(0, memcmp(buf + without, "\0\23\0\2\200\5", 6));
	ASSERT_EQ(0, rcx_msg_decode(buf, with, &got, err));
	EXPECT_EQ(0x8005, got.endpoint.pkey);
	msg.endpoint.pkey = 0x10000;
	EXPECT_GT(0, rcx_msg_encode(&msg, buf, sizeof(buf), err));
	EXPECT_NE(NULL, strstr(err, "pkey"));
}

TEST(masked_atomics_are_carried_by_who_has_them)
{
	uint8_t buf[RCX_MSG_MAX];
	struct rcx_msg msg = golden_msg("endpoint_ib"), got;
	char err[RCL_ERR_LEN];
	int without, with;

	EXPECT_EQ(RCLINK_ATOMICS_NONE, msg.endpoint.masked_atomics);
	without = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_LT(0, without);
	msg.endpoint.masked_atomics = RCLINK_ATOMICS_GLOBAL;
	with = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_EQ(without + 5, with);
	EXPECT_EQ(0, memcmp(buf + without, "\0\25\0\1\2", 5));
	ASSERT_EQ(0, rcx_msg_decode(buf, with, &got, err));
	EXPECT_EQ(RCLINK_ATOMICS_GLOBAL, got.endpoint.masked_atomics);
	/* Without masked atomics the field must be left out. */
	buf[with - 1] = 0;
	EXPECT_EQ(-EPROTO, rcx_msg_decode(buf, with, &got, err));
	EXPECT_NE(NULL, strstr(err, "masked-atomics: 0"));
	buf[with - 1] = 3;
	EXPECT_EQ(-EPROTO, rcx_msg_decode(buf, with, &got, err));
}

/* T11: wherever it is cut, and whether the length word is adapted or not. */
TEST(a_message_cut_at_any_byte_is_refused)
{
	uint8_t buf[RCX_MSG_MAX], *exact;
	char err[RCL_ERR_LEN];
	struct rcx_msg msg;
	size_t i, cut, len;
	int fixed;

	for (i = 0; i < GOLDEN_COUNT; i++) {
		len = load(golden[i], buf);
		for (cut = 0; cut < len; cut++)
			for (fixed = 0; fixed < 2; fixed++) {
				exact = malloc(cut + 1);
				memcpy(exact, buf, cut);
				if (fixed && cut >= 4) {
					exact[0] = 0;
					exact[1] = 0;
					exact[2] = (cut - 4) >> 8;
					exact[3] = cut - 4;
				}
				EXPECT_EQ(-EPROTO, rcx_msg_decode(exact, cut,
								  &msg, err))
					TH_LOG("%s at %zu", golden[i], cut);
				free(exact);
			}
	}
}

TEST(a_length_word_out_of_range_is_refused)
{
	static const uint32_t lengths[] = {
		0, 3, RCX_LENGTH_MAX + 1, 10 << 20, INT32_MAX, UINT32_MAX
	};
	char err[RCL_ERR_LEN];
	struct rcx_header h;
	struct draft d;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		d.len = 0;
		put(&d, 4, lengths[i]);
		put(&d, 4, 0x00010001);
		EXPECT_EQ(-EPROTO, rcx_header_decode(d.buf, &h, err));
		EXPECT_SAYS("is not 4 to 16384", err);
	}
}

TEST(fields_are_skipped_or_refused_by_their_top_bit)
{
	struct draft d;
	int i;

	start(&d, RCX_MSG_DONE);
	EXPECT_SAYS("ok", judge(&d));
	add(&d, 99, 4, 0);
	/* Field 1 is known in other messages, but not in a DONE. */
	add(&d, 1, 2, 1);
	add(&d, 0, 0, 0);
	EXPECT_SAYS("ok", judge(&d));
	add(&d, MANDATORY | 99, 4, 0);
	EXPECT_SAYS("mandatory field 99 is not known", judge(&d));

	start(&d, RCX_MSG_DONE);
	add(&d, MANDATORY | 1, 2, 1);
	EXPECT_SAYS("mandatory field 1 is not known", judge(&d));

	start(&d, RCX_MSG_DONE);
	for (i = 0; i < RCX_FIELDS_MAX; i++)
		add(&d, 99, 0, 0);
	EXPECT_SAYS("ok", judge(&d));
	for (; i < 1000; i++)
		add(&d, 99, 0, 0);
	EXPECT_SAYS("more than 128 fields", judge(&d));
}

TEST(fields_missing_twice_or_of_a_wrong_length_are_refused)
{
	struct draft d;

	start(&d, RCX_MSG_WELCOME);
	add(&d, MANDATORY | 1, 2, 1);
	EXPECT_SAYS("WELCOME: field 2 (version-max) is missing", judge(&d));
	add(&d, 2, 2, 1);
	EXPECT_SAYS("ok", judge(&d));
	add(&d, 1, 2, 1);
	EXPECT_SAYS("field 1 (version-min) is there twice", judge(&d));

	start(&d, RCX_MSG_CONFIRM);
	add(&d, MANDATORY | 15, 4, 1);
	EXPECT_SAYS("agreed-epoch: 4 bytes is the wrong length", judge(&d));

	start(&d, RCX_MSG_DONE);
	put(&d, 1, 0);
	EXPECT_SAYS("1 trailing bytes", judge(&d));
	put(&d, 4, 0x63000400);
	EXPECT_SAYS("field 99 says 4 bytes, only 1 follow", judge(&d));

	start(&d, 77);
	EXPECT_SAYS("message type 77 is not known", judge(&d));
	start(&d, 0);
	EXPECT_SAYS("message type 0 is not known", judge(&d));
}

TEST(versions_of_a_welcome_are_in_order)
{
	struct draft d;

	start(&d, RCX_MSG_WELCOME);
	add(&d, MANDATORY | 1, 2, 3);
	add(&d, MANDATORY | 2, 2, 2);
	EXPECT_SAYS("version-min 3 is above version-max 2", judge(&d));
	start(&d, RCX_MSG_WELCOME);
	add(&d, MANDATORY | 1, 2, 0);
	EXPECT_SAYS("version-min: 0 is not 1", judge(&d));
}

/* Such values are not even encoded. */
TEST(values_out_of_range_are_refused)
{
	struct rcx_msg good = golden_msg("endpoint_roce"), m;

#define REFUSED(text, change) do {					\
	m = good;							\
	change;								\
	EXPECT_SAYS(text, encode(&m));					\
} while (0)

	EXPECT_SAYS("ok", encode(&good));
	REFUSED("link-layer: 0", m.endpoint.link_layer = 0);
	REFUSED("link-layer: 3",
		m.endpoint.link_layer = RCLINK_LINK_LAYER_IWARP);
	REFUSED("mtu: 8 ", m.endpoint.mtu = 8);
	REFUSED("mtu 1500", m.endpoint.mtu = 1500);
	REFUSED("mtu: 8192", m.endpoint.mtu = 8192);
	REFUSED("rd-atomic: 256", m.endpoint.rd_atomic = 256);
	REFUSED("atomics: 3", m.endpoint.atomics = 3);
	REFUSED("epoch: 0", m.endpoint.epoch = 0);
	REFUSED("rkey: 0", m.endpoint.rkey = 0);
	REFUSED("length: 0", m.endpoint.length = 0);
	REFUSED("wraps around", m.endpoint.addr = UINT64_MAX - 65535);
	REFUSED("all-zero gid", memset(m.endpoint.gid, 0, 16));
	REFUSED("multicast", m.endpoint.gid[0] = 0xff);
	REFUSED("lid 5 on RoCE", m.endpoint.lid = 5);
	REFUSED("lid: 49152", m.endpoint.lid = 0xc000);
	REFUSED("lid 0 ", m.endpoint.link_layer = 1);
	REFUSED("0 QPs", m.endpoint.nqps = 0);
	REFUSED("66 QPs", m.endpoint.nqps = 66);
	REFUSED("the number of QP 1 is not", m.endpoint.qp[1].qpn = 1);
	REFUSED("the number of QP 1 is not", m.endpoint.qp[1].qpn = 1 << 24);
	REFUSED("the PSN of QP 1", m.endpoint.qp[1].psn = 1 << 24);
	REFUSED("two QPs have one number", m.endpoint.qp[1].qpn = 17);
	REFUSED("type 10", m.type = 10);
#undef REFUSED
}

/*
 * The same values as a peer would send them: decode a golden message with
 * @value in @width bytes of its field @number, @at bytes from the start.
 */
static const char *received(const char *name, unsigned int number,
			    size_t at, unsigned int width, uint64_t value)
{
	static char err[RCL_ERR_LEN];
	uint8_t buf[RCX_MSG_MAX];
	struct rcx_msg msg;
	size_t len, p;

	len = load(name, buf);
	for (p = 8; rcx_get_be(buf + p, 2) != (MANDATORY | number);)
		p += 4 + rcx_get_be(buf + p + 2, 2);
	for (p += 4 + at; width--; p++)
		buf[p] = width < 8 ? value >> 8 * width : 0;

	return rcx_msg_decode(buf, len, &msg, err) ? err : "ok";
}

TEST(values_out_of_range_are_refused_when_they_come)
{
	static const struct {
		const char *says, *name;
		unsigned int number;
		size_t at;
		unsigned int width;
		uint64_t value;
	} bad[] = {
		{ "link-layer: 0", "endpoint_roce", 4, 0, 1, 0 },
		{ "link-layer: 3", "endpoint_roce", 4, 0, 1, 3 },
		{ "all-zero gid", "endpoint_roce", 5, 0, 16, 0 },
		{ "multicast", "endpoint_roce", 5, 0, 1, 0xff },
		{ "lid 5 on RoCE", "endpoint_roce", 6, 0, 2, 5 },
		{ "lid 0 ", "endpoint_ib", 6, 0, 2, 0 },
		{ "lid: 49152", "endpoint_ib", 6, 0, 2, 0xc000 },
		{ "mtu: 255 ", "endpoint_roce", 7, 0, 2, 255 },
		{ "mtu 1500", "endpoint_roce", 7, 0, 2, 1500 },
		{ "mtu: 8192", "endpoint_roce", 7, 0, 2, 8192 },
		{ "atomics: 3", "endpoint_roce", 9, 0, 1, 3 },
		{ "epoch: 0", "endpoint_roce", 10, 0, 8, 0 },
		{ "wraps around", "endpoint_roce", 11, 0, 8,
		  UINT64_MAX - 65535 },
		{ "rkey: 0", "endpoint_roce", 12, 0, 4, 0 },
		{ "length: 0", "endpoint_roce", 13, 0, 4, 0 },
		{ "the number of QP 1 is not", "endpoint_roce", 14, 8, 4, 1 },
		{ "the number of QP 1 is not", "endpoint_roce", 14, 8, 4,
		  1 << 24 },
		{ "the PSN of QP 1", "endpoint_roce", 14, 12, 4, 1 << 24 },
		{ "two QPs have one number", "endpoint_roce", 14, 8, 4, 17 },
		{ "agreed-epoch: 0", "confirm", 15, 0, 8, 0 },
		{ "code: 0", "error", 16, 0, 2, 0 },
		{ "letters", "offer", 3, 3, 1, '/' },
		{ "path 2: link layer 3", "offer", 18, 33, 1, 3 },
		{ "GID type 4", "offer", 18, 34, 1, 4 },
		{ "VLAN 4095", "offer", 18, 35, 2, 4095 },
		{ "mtu 1500", "offer", 18, 37, 2, 1500 },
		{ "ports are counted", "offer", 18, 39, 4, 0 },
		{ "unicast", "offer", 18, 43, 16, 0 },
		{ "device name", "offer", 18, 61, 1, '\x1b' },
	};
	size_t i;

	EXPECT_SAYS("ok", received("endpoint_roce", 14, 8, 4, 18));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_SAYS(bad[i].says,
			    received(bad[i].name, bad[i].number, bad[i].at,
				     bad[i].width, bad[i].value));
}

TEST(paths_that_cannot_be_are_refused)
{
	struct rcx_msg good = golden_msg("offer"), m;

#define REFUSED(text, change) do {					\
	m = good;							\
	change;								\
	EXPECT_SAYS(text, encode(&m));					\
} while (0)
#define PATH	m.paths.path[1]

	EXPECT_SAYS("ok", encode(&good));
	REFUSED("1 to 31 characters", m.link[0] = '\0');
	REFUSED("1 to 31 characters", memset(m.link, 'a', sizeof(m.link)));
	REFUSED("letters", m.link[3] = '/');
	REFUSED("letters", m.link[3] = '\n');
	REFUSED("OFFER: paths: 0 paths", m.paths.num = 0);
	REFUSED("9 paths", m.paths.num = 9);
	REFUSED("path 2: link layer 0", PATH.link_layer = 0);
	REFUSED("path 2: link layer 3",
		PATH.link_layer = RCLINK_LINK_LAYER_IWARP);
	REFUSED("GID type 0", PATH.gid_type = 0);
	REFUSED("GID type 4", PATH.gid_type = 4);
	REFUSED("GID type 1", PATH.gid_type = RCLINK_GID_TYPE_IB);
	REFUSED("GID type 3",
		PATH.link_layer = RCLINK_LINK_LAYER_INFINIBAND);
	REFUSED("unicast", memset(PATH.gid, 0, 16));
	REFUSED("unicast", memset(PATH.gid, 0xff, 16));
	REFUSED("unicast", memset(PATH.gid, 0, 15); PATH.gid[15] = 1);
	REFUSED("unicast", PATH.gid[12] = 127);
	REFUSED("unicast", PATH.gid[12] = 224);
	REFUSED("mtu 0", PATH.mtu = 0);
	REFUSED("mtu 1500", PATH.mtu = 1500);
	REFUSED("mtu 8192", PATH.mtu = 8192);
	REFUSED("VLAN 4095", PATH.vlan = 4095);
	REFUSED("VLAN 7", m.paths.path[0].vlan = 7);
	REFUSED("ports are counted", PATH.port = 0);
	REFUSED("device name", PATH.device[0] = '\0');
	REFUSED("device name", memset(PATH.device, 'x', sizeof(PATH.device)));
	REFUSED("device name", PATH.device[1] = '\n');
	REFUSED("device name", PATH.device[1] = ' ');
	REFUSED("device name", PATH.device[1] = '\x1b');
	REFUSED("device name", PATH.device[1] = '\xe4');
	REFUSED("path 3 is there twice", m.paths.path[2] = PATH);
#undef PATH
#undef REFUSED
}

/* A message that still decodes can be encoded: both check the same ranges. */
TEST(every_bit_flip_is_refused_or_encodable)
{
	uint8_t buf[RCX_MSG_MAX];
	char err[RCL_ERR_LEN];
	struct rcx_msg msg;
	size_t len, bit, i;

	for (i = 0; i < GOLDEN_COUNT; i++) {
		len = load(golden[i], buf);
		for (bit = 0; bit < len * 8; bit++) {
			buf[bit / 8] ^= 1 << bit % 8;
			if (!rcx_msg_decode(buf, len, &msg, err))
				EXPECT_SAYS("ok", encode(&msg));
			buf[bit / 8] ^= 1 << bit % 8;
		}
	}
}

TEST(the_largest_endpoint_fits)
{
	struct rcx_msg msg = golden_msg("endpoint_roce"), back;
	uint8_t buf[RCX_ENCODED_MAX];
	char err[RCL_ERR_LEN] = "";
	uint32_t i;
	int len;

	msg.endpoint.nqps = 1 + RCLINK_QPS_MAX;
	for (i = 0; i < msg.endpoint.nqps; i++)
		msg.endpoint.qp[i] = (struct rcl_qp_id){ 100 + i, i };
	len = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_LT(0, len) TH_LOG("%s", err);
	ASSERT_EQ(0, rcx_msg_decode(buf, len, &back, err)) TH_LOG("%s", err);
	EXPECT_EQ(0, memcmp(&msg.endpoint, &back.endpoint,
			    sizeof(msg.endpoint)));
	EXPECT_EQ(-ENOBUFS, rcx_msg_encode(&msg, buf, sizeof(buf) - 1, err));
}

TEST(the_longest_list_of_paths_fits_and_one_more_is_refused)
{
	struct rcx_msg msg = golden_msg("offer"), back;
	uint8_t buf[RCX_ENCODED_MAX];
	char err[RCL_ERR_LEN] = "";
	struct draft d;
	uint32_t i;
	int len;

	memset(msg.link, 'x', RCLINK_NAME_MAX);
	msg.rotate = 1;
	msg.paths.num = RCX_PATHS_MAX;
	for (i = 0; i < RCX_PATHS_MAX; i++) {
		msg.paths.path[i] = msg.paths.path[0];
		memset(msg.paths.path[i].device, 'd', RCLINK_DEVICE_MAX);
		msg.paths.path[i].port = UINT32_MAX - i;
	}
	len = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_LT(0, len) TH_LOG("%s", err);
	ASSERT_EQ(0, rcx_msg_decode(buf, len, &back, err)) TH_LOG("%s", err);
	EXPECT_EQ(0, memcmp(&msg.paths, &back.paths, sizeof(msg.paths)));
	EXPECT_EQ(1, back.rotate);
	msg.rotate = 2;
	EXPECT_GT(0, rcx_msg_encode(&msg, buf, sizeof(buf), err));

	start(&d, RCX_MSG_ANSWER);
	put(&d, 4, 0x80120000 + 9 * 28);
	for (i = 0; i < 9; i++) {
		put(&d, 8, 0x0203000004000000);
		put(&d, 2, i + 1);
		put(&d, 8, 0);
		put(&d, 8, 0x0000ffffc0000201);
		put(&d, 2, 0x0178);
	}
	EXPECT_SAYS("more than 8 paths", judge(&d));
}

TEST(a_path_that_runs_over_its_end_is_refused)
{
	struct draft d;

	start(&d, RCX_MSG_ANSWER);
	put(&d, 4, 0x80120000);
	EXPECT_SAYS("ANSWER: 0 paths", judge(&d));
	start(&d, RCX_MSG_ANSWER);
	add(&d, MANDATORY | 18, 5, 1);
	EXPECT_SAYS("path 1 does not end where it should", judge(&d));
	start(&d, RCX_MSG_ANSWER);
	put(&d, 4, 0x80120000 + 28);
	d.len += 26;
	put(&d, 2, 0x0278);
	EXPECT_SAYS("path 1 does not end where it should", judge(&d));
	start(&d, RCX_MSG_ANSWER);
	put(&d, 4, 0x80120000 + 28);
	d.len += 26;
	put(&d, 2, 0x0100);
	EXPECT_SAYS("NUL in its device name", judge(&d));
}

TEST(error_text_is_made_printable_and_short)
{
	struct rcx_msg msg = { .type = RCX_MSG_ERROR, .version = 2, .code = 1 };
	uint8_t buf[RCX_ENCODED_MAX];
	char err[RCL_ERR_LEN];
	struct draft d;
	int len;

	memset(msg.text, 'a', sizeof(msg.text));
	msg.text[0] = '\x1b';
	len = rcx_msg_encode(&msg, buf, sizeof(buf), err);
	ASSERT_LT(0, len);
	EXPECT_EQ(NULL, memchr(buf, 0x1b, len));

	/* As from a peer that did not make the text printable. */
	start(&d, RCX_MSG_ERROR);
	add(&d, MANDATORY | 16, 2, 1);
	add(&d, MANDATORY | 17, 4, 0x1b5b324a);
	EXPECT_SAYS("ok", judge(&d));
	ASSERT_EQ(0, rcx_msg_decode(d.buf, d.len, &msg, err));
	EXPECT_STREQ("?[2J", msg.text);

	start(&d, RCX_MSG_ERROR);
	add(&d, MANDATORY | 16, 2, 1);
	put(&d, 4, 0x80110000 + RCX_TEXT_MAX + 1);
	memset(d.buf + d.len, 'x', RCX_TEXT_MAX + 1);
	d.len += RCX_TEXT_MAX + 1;
	EXPECT_SAYS("text: 201 bytes", judge(&d));
}

TEST_HARNESS_MAIN
