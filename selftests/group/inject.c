// SPDX-License-Identifier: GPL-2.0
/*
 * Capture a packet of a group, as anyone on its network can, and send it again,
 * unchanged or changed, in the name of its sender.
 *
 * usage: group_inject DEV FROM MGID COUNT again | forge | key | short | long
 *
 * "forge" changes a bit of the sealed text, "key" a bit of the key's
 * identifier, "short" leaves nothing of the message but eight bytes, "long"
 * makes it as long as an IP datagram may be, which goes in fragments. The ICRC
 * is right for each. Prints "heard" and its source; sends COUNT packets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "packet.h"

#define IP_LEN		20
#define HEADERS		48	/* IP, UDP, BTH, DETH */
#define ICRC_LEN	4
#define CLEAR		16	/* unsealed bytes: key's ID and nonce */
#define SEND_ONLY	0x64	/* BTH opcode of UD */
#define GROUP_QPN	0xffffff
#define WAIT_S		30
#define LONG		65528	/* without the ICRC, and without padding */
#define FRAGMENT	1024	/* a multiple of 8 that fits in any packet */
#define MORE_FRAGMENTS	0x2000

static uint8_t buf[65536];

static void die(const char *what)
{
	fprintf(stderr, "group_inject: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fputs("group_inject: wrong words; see the head of its source\n",
	      stderr);
	exit(2);
}

static bool is_it(size_t len, struct in_addr from, struct in_addr group)
{
	const uint8_t *bth = buf + 28;

	return len >= HEADERS + CLEAR + ICRC_LEN && buf[0] == 0x45 &&
	       buf[9] == IPPROTO_UDP && !memcmp(buf + 12, &from, 4) &&
	       !memcmp(buf + 16, &group, 4) &&
	       (buf[22] << 8 | buf[23]) == PACKET_PORT &&
	       bth[0] == SEND_ONLY &&
	       (bth[5] << 16 | bth[6] << 8 | bth[7]) == GROUP_QPN;
}

static size_t hear(unsigned int dev, struct in_addr from, struct in_addr group)
{
	const struct packet_mreq all = {
		.mr_ifindex = dev, .mr_type = PACKET_MR_PROMISC,
	};
	int tap = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	ssize_t len;

	if (tap < 0 || setsockopt(tap, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all,
				  sizeof(all)))
		die("packet socket");
	alarm(WAIT_S);
	do {
		len = recv(tap, buf, sizeof(buf), 0);
		if (len < 0)
			die("recv");
	} while (!is_it(len, from, group));
	close(tap);
	/* The network may have padded it: use the length in its header. */
	return buf[2] << 8 | buf[3];
}

static void put16(uint8_t *p, unsigned int value)
{
	p[0] = value >> 8;
	p[1] = value;
}

/* Set the lengths in the headers; @len is without the ICRC. */
static size_t resize(size_t len)
{
	buf[29] &= ~0x30;	/* no padding */
	put16(buf + 2, len + ICRC_LEN);
	put16(buf + 24, len + ICRC_LEN - IP_LEN);
	return len;
}

static size_t change(size_t len, const char *how)
{
	uint8_t *message = buf + HEADERS;

	len -= ICRC_LEN;
	if (!strcmp(how, "forge")) {
		message[CLEAR] ^= 1;
	} else if (!strcmp(how, "key")) {
		message[0] ^= 1;
	} else if (!strcmp(how, "short")) {
		len = resize(HEADERS + 8);
	} else if (!strcmp(how, "long")) {
		memset(buf + len, 0, LONG - len);
		len = resize(LONG);
		put16(buf + 6, 0);	/* as after reassembly */
	} else if (strcmp(how, "again")) {
		usage();
	}
	put16(buf + 26, 0);		/* no UDP checksum */
	return len;
}

static void send_it(int fd, const struct sockaddr_in *to, const uint8_t *ip,
		    size_t len)
{
	if (sendto(fd, ip, len, 0, (const struct sockaddr *)to,
		   sizeof(*to)) < 0)
		die("sendto");
}

/* A raw socket sends nothing longer than the MTU, so fragment here. */
static void send_fragments(int fd, const struct sockaddr_in *to, size_t len)
{
	uint8_t part[IP_LEN + FRAGMENT];
	size_t at, n;

	memcpy(part, buf, IP_LEN);
	for (at = IP_LEN; at < len; at += n) {
		n = len - at < FRAGMENT ? len - at : FRAGMENT;
		put16(part + 6, (at - IP_LEN) / 8 |
				(at + n < len ? MORE_FRAGMENTS : 0));
		memcpy(part + IP_LEN, buf + at, n);
		send_it(fd, to, part, IP_LEN + n);
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct ip_mreqn out = { 0 };
	struct in_addr from;
	unsigned int count;
	uint32_t icrc;
	size_t len;
	int fd, i;

	if (argc != 6 || !inet_aton(argv[2], &from) ||
	    !inet_aton(argv[3], &to.sin_addr))
		usage();
	out.imr_ifindex = if_nametoindex(argv[1]);
	count = atoi(argv[4]);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &out,
				 sizeof(out)))
		die("raw socket");
	len = hear(out.imr_ifindex, from, to.sin_addr);
	printf("heard %s\n", inet_ntoa(from));
	len = change(len, argv[5]);
	icrc = packet_icrc(buf, len);
	for (i = 0; i < ICRC_LEN; i++)
		buf[len++] = icrc >> 8 * i;
	while (count--) {
		if (len > LONG)
			send_fragments(fd, &to, len);
		else
			send_it(fd, &to, buf, len);
		nanosleep(&pause, NULL);
	}
	return 0;
}
