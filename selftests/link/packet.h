/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of RoCE v2 over IPv4, as anybody on the path can make them: pure. */
#ifndef PACKET_H
#define PACKET_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_PORT	4791
#define PACKET_DATA_MAX	1024
#define PACKET_MAX	(20 + 8 + 12 + 16 + PACKET_DATA_MAX + 3 + 4)

/* Operations of RC, IBA 9.2.1. */
enum packet_opcode {
	PACKET_SEND = 0x04,
	PACKET_WRITE = 0x0a,
	PACKET_WRITE_IMM = 0x0b,
	PACKET_ACK = 0x11,
};

/* Members that an operation has no use for are left out. */
struct packet {
	struct in_addr from;
	struct in_addr to;
	uint32_t qpn;
	uint32_t psn;
	enum packet_opcode opcode;
	uint32_t rkey;
	uint64_t addr;
	uint8_t syndrome;	/* of an acknowledgment, IBA 9.7.5.2.8 */
	const uint8_t *data;
	size_t len;		/* at most PACKET_DATA_MAX */
};

/* Build a packet, from the IP header to the ICRC. Return: its length. */
size_t packet_build(uint8_t buf[PACKET_MAX], const struct packet *p);

/* The ICRC of a packet from its IP header on; it is sent low byte first. */
uint32_t packet_icrc(const uint8_t *buf, size_t len);

#endif /* PACKET_H */
