// SPDX-License-Identifier: GPL-2.0
/*
 * Send packets to a QP in the name of its peer, knowing its QPN and a PSN.
 *
 * usage: inject FROM TO QPN PSN[:COUNT[:STEP]] send [HEX] | imm |
 *	  write RKEY [ADDRESS] | ack SYNDROME
 *	  inject FROM TO QPN replay
 *
 * Sends COUNT packets, whose PSNs are STEP apart. "write" carries 8 bytes;
 * "imm" carries none, and names no memory. "replay" prints "ready", waits for a
 * SEND from FROM to the QP, and sends its payload again with the next PSN.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "packet.h"

#define HEADERS		40	/* IP, UDP, BTH */
#define ICRC_LEN	4
#define BURST		64	/* packets, and then a pause */
#define WAIT_S		30

static uint8_t data[PACKET_DATA_MAX];

static void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fputs("inject: wrong words; see the head of its source\n", stderr);
	exit(2);
}

static uint32_t number(const char *text, int base)
{
	char *end;
	unsigned long value = strtoul(text, &end, base);

	if (!*text || *end)
		usage();
	return value;
}

static size_t bytes_of(const char *hex)
{
	unsigned int byte;
	size_t n = 0;

	for (; *hex; hex += 2) {
		if (n == sizeof(data) || sscanf(hex, "%2x", &byte) != 1)
			usage();
		data[n++] = byte;
		if (!hex[1])
			usage();
	}
	return n;
}

static void send_one(int fd, const struct packet *p)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr = p->to,
	};
	uint8_t buf[PACKET_MAX];
	size_t len = packet_build(buf, p);

	while (sendto(fd, buf, len, 0, (const struct sockaddr *)&to,
		      sizeof(to)) < 0)
		if (errno != ENOBUFS)
			die("sendto");
}

/* Pauses, as packets that overrun the receiver's queue would prove nothing. */
static void send_all(int fd, struct packet *p, uint32_t count, uint32_t step)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint32_t i;

	for (i = 0; i < count; i++, p->psn += step) {
		send_one(fd, p);
		if (i % BURST == BURST - 1)
			nanosleep(&pause, NULL);
	}
}

static void parse_op(struct packet *p, char **words)
{
	const char *op = words[0], *arg = words[1];

	if (arg && words[2] && strcmp(op, "write"))
		usage();
	p->data = data;
	if (!strcmp(op, "send")) {
		p->opcode = PACKET_SEND;
		p->len = arg ? bytes_of(arg) : 0;
	} else if (!strcmp(op, "imm") && !arg) {
		p->opcode = PACKET_WRITE_IMM;
	} else if (!strcmp(op, "write") && arg) {
		p->opcode = PACKET_WRITE;
		p->rkey = number(arg, 0);
		p->addr = words[2] ? strtoull(words[2], NULL, 0) : 0;
		p->len = 8;
	} else if (!strcmp(op, "ack") && arg) {
		p->opcode = PACKET_ACK;
		p->syndrome = number(arg, 0);
	} else {
		usage();
	}
}

/* Is @buf the SEND to be replayed? Then copies its payload to @p. */
static bool take(struct packet *p, const uint8_t *buf, size_t len)
{
	const uint8_t *bth = buf + 28;
	size_t pad = bth[1] >> 4 & 3;

	if (len < HEADERS + ICRC_LEN || buf[0] != 0x45 ||
	    buf[9] != IPPROTO_UDP || memcmp(buf + 12, &p->from, 4) ||
	    memcmp(buf + 16, &p->to, 4) ||
	    (buf[22] << 8 | buf[23]) != PACKET_PORT || bth[0] != PACKET_SEND ||
	    (uint32_t)(bth[5] << 16 | bth[6] << 8 | bth[7]) != p->qpn)
		return false;
	p->len = len - HEADERS - ICRC_LEN - pad;
	if (p->len > sizeof(data))
		return false;
	memcpy(data, buf + HEADERS, p->len);
	p->psn = (bth[9] << 16 | bth[10] << 8 | bth[11]) + 1;
	return true;
}

static void replay(int fd, struct packet *p)
{
	int tap = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	uint8_t buf[2048];
	ssize_t len;

	if (tap < 0)
		die("packet socket");
	alarm(WAIT_S);
	puts("ready");
	fflush(stdout);
	do {
		len = recv(tap, buf, sizeof(buf), 0);
		if (len < 0)
			die("recv");
	} while (!take(p, buf, len));
	p->opcode = PACKET_SEND;
	p->data = data;
	send_one(fd, p);
}

int main(int argc, char **argv)
{
	uint32_t count = 1, step = 1;
	struct packet p = { 0 };
	char *rest;
	int fd;

	if (argc < 5 || argc > 8 || !inet_aton(argv[1], &p.from) ||
	    !inet_aton(argv[2], &p.to))
		usage();
	p.qpn = number(argv[3], 0);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		die("raw socket");
	if (argc == 5 && !strcmp(argv[4], "replay")) {
		replay(fd, &p);
		return 0;
	}
	if (argc < 6)
		usage();
	p.psn = strtoul(argv[4], &rest, 0);
	if (*rest == ':')
		count = strtoul(rest + 1, &rest, 0);
	if (*rest == ':')
		step = strtoul(rest + 1, &rest, 0);
	if (*rest)
		usage();
	parse_op(&p, argv + 5);
	send_all(fd, &p, count, step);
	return 0;
}
