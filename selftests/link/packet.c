// SPDX-License-Identifier: GPL-2.0
#include "packet.h"

#include <stdbool.h>
#include <string.h>

#define IP_LEN		20
#define UDP_LEN		8
#define BTH_LEN		12
#define ICRC_LEN	4
#define SOURCE_PORT	49192
#define CRC_POLYNOMIAL	0xedb88320

static void put(uint8_t *p, uint64_t value, int bytes)
{
	while (bytes--) {
		p[bytes] = value;
		value >>= 8;
	}
}

static void put_ip(uint8_t *ip, const struct packet *p, size_t len)
{
	ip[0] = 0x45;
	put(ip + 2, len, 2);
	put(ip + 4, 1, 2);		/* identification; 0: kernel's choice */
	put(ip + 6, 0x4000, 2);		/* do not fragment */
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, &p->from, 4);
	memcpy(ip + 16, &p->to, 4);
}

static void put_udp(uint8_t *udp, size_t len)
{
	put(udp, SOURCE_PORT, 2);
	put(udp + 2, PACKET_PORT, 2);
	put(udp + 4, len, 2);
}

static void put_bth(uint8_t *bth, const struct packet *p)
{
	const bool asks = p->opcode != PACKET_ACK;

	bth[0] = p->opcode;
	bth[1] = 0x40 | (-p->len & 3) << 4;	/* migrated; bytes of padding */
	put(bth + 2, 0xffff, 2);		/* the default partition */
	put(bth + 4, p->qpn & 0xffffff, 4);
	put(bth + 8, (p->psn & 0xffffff) | (asks ? 1u << 31 : 0), 4);
}

/* The extended headers, behind the BTH. Returns their length. */
static size_t put_extended(uint8_t *to, const struct packet *p)
{
	switch (p->opcode) {
	case PACKET_WRITE:
	case PACKET_WRITE_IMM:
		put(to, p->addr, 8);
		put(to + 8, p->rkey, 4);
		put(to + 12, p->len, 4);
		return p->opcode == PACKET_WRITE ? 16 : 20;
	case PACKET_ACK:
		to[0] = p->syndrome;
		return 4;
	default:
		return 0;
	}
}

static uint32_t crc_of(uint32_t crc, const uint8_t *p, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	}
	return crc;
}

/* Covers all that no router changes; the rest counts as ones (IBA A17.3.3). */
uint32_t packet_icrc(const uint8_t *buf, size_t len)
{
	uint8_t head[8 + IP_LEN + UDP_LEN + BTH_LEN];
	uint8_t *ip = head + 8, *udp = ip + IP_LEN, *bth = udp + UDP_LEN;
	uint32_t crc;

	memset(head, 0xff, 8);
	memcpy(ip, buf, sizeof(head) - 8);
	ip[1] = 0xff;				/* type of service */
	ip[8] = 0xff;				/* time to live */
	memset(ip + 10, 0xff, 2);		/* checksums */
	memset(udp + 6, 0xff, 2);
	bth[4] = 0xff;				/* congestion */
	crc = crc_of(~0u, head, sizeof(head));
	return ~crc_of(crc, buf + sizeof(head) - 8, len - sizeof(head) + 8);
}

size_t packet_build(uint8_t buf[PACKET_MAX], const struct packet *p)
{
	size_t len = IP_LEN + UDP_LEN + BTH_LEN;
	uint32_t icrc;
	int i;

	memset(buf, 0, PACKET_MAX);
	len += put_extended(buf + len, p);
	if (p->len)
		memcpy(buf + len, p->data, p->len);
	len += p->len + (-p->len & 3);
	put_ip(buf, p, len + ICRC_LEN);
	put_udp(buf + IP_LEN, len + ICRC_LEN - IP_LEN);
	put_bth(buf + IP_LEN + UDP_LEN, p);
	icrc = packet_icrc(buf, len);
	for (i = 0; i < ICRC_LEN; i++)
		buf[len++] = icrc >> 8 * i;
	return len;
}
