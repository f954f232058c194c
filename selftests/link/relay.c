// SPDX-License-Identifier: GPL-2.0
/*
 * Pass one TCP connection on, TLS record by TLS record, up to a record that is
 * not passed on: so a test decides at which message an exchange ends, and how.
 *
 * usage: relay PORT ADDRESS PORT [bytes | up|down RECORDS fin|reset|hold]
 *
 * Listens on the loopback address. "up" is the direction of the end that dials.
 * "bytes" sends every byte in a segment of its own.
 * When the record after RECORDS has arrived, it prints "cut" and ends both
 * connections by FIN or reset; or holds that direction for as long as both ends
 * like, while the other one goes on. Prints "ready" once it listens and, when
 * both ends have closed, how many records it saw: "up N down N".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER		5	/* type, version, length of a TLS record */
#define RECORD_MAX	(HEADER + 65535)

enum { UP, DOWN, WAYS };
enum how { PASS, BYTES, FIN, RESET, HOLD };

struct way {
	int from, to;
	bool open;
	bool drop;		/* read, and not passed on */
	unsigned int records;
	unsigned char buf[RECORD_MAX];
	size_t len;
};

static struct way ways[WAYS];
static int cut_way;
static unsigned int cut_after;
static enum how cut_how;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address_of(const char *ip, const char *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
	};

	if (inet_pton(AF_INET, ip, &addr.sin_addr) != 1) {
		fprintf(stderr, "relay: %s is no address\n", ip);
		exit(2);
	}
	return addr;
}

static int accept_one(const char *port)
{
	struct sockaddr_in addr = address_of("127.0.0.1", port);
	int fd, sock, on = 1;

	sock = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(sock, 1))
		die("listen");
	puts("ready");
	fd = accept(sock, NULL, NULL);
	if (fd < 0)
		die("accept");
	close(sock);
	return fd;
}

static int dial(const char *ip, const char *port)
{
	struct sockaddr_in addr = address_of(ip, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("connect");
	return fd;
}

static void reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static void cut(struct way *w)
{
	int i;

	puts("cut");
	switch (cut_how) {
	case RESET:
		reset(w->from);
		reset(w->to);
		exit(0);
	case FIN:
		/* What still comes must be read: close() would reset. */
		for (i = 0; i < WAYS; i++) {
			shutdown(ways[i].to, SHUT_WR);
			ways[i].drop = true;
		}
		break;
	default:
		w->open = false;
	}
}

static void pass_record(struct way *w)
{
	size_t most = cut_how == BYTES ? 1 : sizeof(w->buf);
	size_t done = 0, len;
	ssize_t n;

	if (w->drop)
		return;
	if (cut_how >= FIN && w == &ways[cut_way] && w->records == cut_after) {
		cut(w);
		return;
	}
	w->records++;
	while (done < w->len) {
		len = w->len - done < most ? w->len - done : most;
		n = send(w->to, w->buf + done, len, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		done += n;
	}
}

static void read_some(struct way *w)
{
	size_t want = HEADER;
	ssize_t n;

	if (w->len >= HEADER)
		want += w->buf[3] << 8 | w->buf[4];
	n = read(w->from, w->buf + w->len, want - w->len);
	if (n <= 0) {
		w->open = false;
		/* While a direction is held, both ends stay connected. */
		if (ways[UP].open || ways[DOWN].open || cut_how != HOLD)
			shutdown(w->to, SHUT_WR);
		return;
	}
	w->len += n;
	if (w->len < HEADER ||
	    w->len < HEADER + (size_t)(w->buf[3] << 8 | w->buf[4]))
		return;
	pass_record(w);
	w->len = 0;
}

static void relay(void)
{
	struct pollfd fds[WAYS];
	int i;

	while (ways[UP].open || ways[DOWN].open) {
		for (i = 0; i < WAYS; i++) {
			fds[i].fd = ways[i].open ? ways[i].from : -1;
			fds[i].events = POLLIN;
			fds[i].revents = 0;
		}
		if (poll(fds, WAYS, -1) < 0)
			die("poll");
		for (i = 0; i < WAYS; i++)
			if (fds[i].revents)
				read_some(&ways[i]);
	}
}

static enum how how_of(const char *word)
{
	if (!strcmp(word, "fin"))
		return FIN;
	return strcmp(word, "reset") ? HOLD : RESET;
}

int main(int argc, char **argv)
{
	int near, far, on = 1;

	if (argc != 4 && argc != 5 && argc != 7) {
		fprintf(stderr,
			"usage: relay PORT ADDRESS PORT [bytes | up|down RECORDS fin|reset|hold]\n");
		return 2;
	}
	if (argc == 5) {
		cut_how = BYTES;
	} else if (argc == 7) {
		cut_way = strcmp(argv[4], "up") ? DOWN : UP;
		cut_after = atoi(argv[5]);
		cut_how = how_of(argv[6]);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	near = accept_one(argv[1]);
	far = dial(argv[2], argv[3]);
	setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	ways[UP] = (struct way) { .from = near, .to = far, .open = true };
	ways[DOWN] = (struct way) { .from = far, .to = near, .open = true };
	relay();
	if (cut_how == HOLD)
		pause();
	printf("up %u down %u\n", ways[UP].records, ways[DOWN].records);
	return 0;
}
