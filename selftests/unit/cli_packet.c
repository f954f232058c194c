// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that a test injects are like those of a device: they are compared
 * with whole packets, whose ICRC another implementation of CRC-32 has computed.
 */
#include "packet.h"

#include <arpa/inet.h>
#include <string.h>

#include <kselftest_harness.h>

static void expect(struct __test_metadata *_metadata, struct packet p,
		   const char *want)
{
	char hex[2 * PACKET_MAX + 1] = "";
	uint8_t buf[PACKET_MAX];
	size_t i, len;

	inet_aton("192.0.2.2", &p.from);
	inet_aton("192.0.2.1", &p.to);
	p.qpn = 0x12;
	p.psn = 0xabcdef;
	len = packet_build(buf, &p);
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", buf[i]);
	EXPECT_STREQ(want, hex);
}

TEST(a_send_is_padded)
{
	const struct packet empty = { .opcode = PACKET_SEND };
	const struct packet some = {
		.opcode = PACKET_SEND,
		.data = (const uint8_t *)"abcde",
		.len = 5,
	};

	expect(_metadata, empty,
	       "4500002c0001400040110000c0000202c0000201c02812b7001800000440ffff0000001280abcdef9f037a4f");
	expect(_metadata, some,
	       "450000340001400040110000c0000202c0000201c02812b7002000000470ffff0000001280abcdef616263646500000032a2f02f");
}

TEST(a_write_names_its_memory)
{
	const struct packet imm = { .opcode = PACKET_WRITE_IMM };
	const struct packet write = {
		.opcode = PACKET_WRITE,
		.rkey = 0x1234,
		.data = (const uint8_t *)"12345678",
		.len = 8,
	};

	expect(_metadata, imm,
	       "450000400001400040110000c0000202c0000201c02812b7002c00000b40ffff0000001280abcdef0000000000000000000000000000000000000000a3245380");
	expect(_metadata, write,
	       "450000440001400040110000c0000202c0000201c02812b7003000000a40ffff0000001280abcdef0000000000000000000012340000000831323334353637388ae4fa4b");
}

TEST(an_answer_asks_for_none)
{
	const struct packet nak = {
		.opcode = PACKET_ACK,
		.syndrome = 0x62,
	};

	expect(_metadata, nak,
	       "450000300001400040110000c0000202c0000201c02812b7001c00001140ffff0000001200abcdef62000000e0e3a523");
}

TEST_HARNESS_MAIN
