// SPDX-License-Identifier: GPL-2.0
/*
 * Send or receive numbered messages of known bytes by a channel to a group.
 *
 * usage: flow send GROUP SIZE COUNT GAP-MS	COUNT 0: until it is killed
 *        flow end GROUP			a message that ends receivers
 *        flow recv GROUP COUNT [SENDERS]	until COUNT messages of SENDERS
 *					senders came, or one of "end";
 *					COUNT 0: until "end"
 *        flow withdrawn|short GROUP		a receive that fails
 *        flow idle GROUP			one receive, until it is killed
 *
 * GROUP may be GROUP:SERVICE; the default service is text. "recv" prints
 * "listening" and its PID, then one line: the number of messages, of
 * duplicates, of wrong ones and of flushed receives, the errno, and the numbers
 * and addresses of the senders.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#define SLOT	4096
#define RECVS	RCLINK_DEV_RECVS
#define NUMBERS	65536		/* told apart, of each sender */
#define SENDERS	64
#define WAIT_MS	120000
#define TRIES	30

#define LOCAL_LENGTH	1
#define LOCAL_PROTECTION	4
#define FLUSHED		5

static struct rclink_chan *chan;
static uint8_t *memory;
static uint32_t region;

static int no(const char *what, int ret)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void must(const char *what, int ret)
{
	if (ret < 0)
		no(what, ret);
}

static uint8_t byte_of(uint32_t number, uint32_t i)
{
	return number * 31 + i * 7 + (i >> 8);
}

static void fill(uint8_t *data, uint32_t number, uint32_t len)
{
	uint32_t i;

	memcpy(data, &number, sizeof(number));
	for (i = sizeof(number); i < len; i++)
		data[i] = byte_of(number, i);
}

static bool is_right(const uint8_t *data, uint32_t len)
{
	uint32_t number, i;

	if (len < sizeof(number))
		return false;
	memcpy(&number, data, sizeof(number));
	for (i = sizeof(number); i < len; i++)
		if (data[i] != byte_of(number, i))
			return false;
	return true;
}

static void attach(char *group)
{
	char *service = strchr(group, ':');
	void *at;

	if (service)
		*service++ = 0;
	must("join", rclink_join(&chan, group, service ? service : "text", 0));
	must("memory", rclink_memory(chan, &at, RECVS * SLOT, NULL, 0,
				     &region));
	memory = at;
}

/* An entry that a slow device has no room for stays queued: try again. */
static struct rclink_dev_cqe next(void)
{
	struct rclink_dev_cqe cqe;
	int ret, tries = 0;

	do
		ret = rclink_submit(chan, 1, WAIT_MS);
	while (ret == -EBUSY && ++tries < TRIES);
	must("submit", ret);
	if (rclink_reap(chan, &cqe, 1) != 1)
		no("reap", -EIO);
	return cqe;
}

static void say_so(void)
{
	printf("listening %d\n", getpid());
	fflush(stdout);
}

/* @size 0 is that of the longest message. */
static int send_all(uint32_t size, uint32_t count, uint32_t gap)
{
	struct timespec pause = { .tv_nsec = gap * 1000000L };
	uint32_t i;

	size = size ? size : rclink_max_message(chan);
	for (i = 0; !count || i < count; i++) {
		struct rclink_dev_cqe cqe;

		fill(memory, i, size);
		must("send", rclink_send(chan, rclink_piece(region, 0, size),
					 RCLINK_SQE_SIGNALED, i));
		cqe = next();
		if (cqe.status || cqe.user_data != i || cqe.len != size)
			no(rclink_status_name(cqe.status), -EIO);
		nanosleep(&pause, NULL);
	}
	return EXIT_SUCCESS;
}

static int send_end(void)
{
	must("send", rclink_send(chan, rclink_none(), RCLINK_SQE_SIGNALED, 0));
	return next().status ? EXIT_FAILURE : EXIT_SUCCESS;
}

struct seen {
	uint32_t got, twice, wrong, flushed, senders;
	bool ended;
	uint8_t numbers[SENDERS][NUMBERS];
	uint32_t of[SENDERS];
	uint8_t source[SENDERS][16];
};

static struct seen seen;

static void post(uint64_t slot)
{
	must("recv", rclink_recv(chan, rclink_piece(region, slot * SLOT, SLOT),
				 slot));
}

static void take(const struct rclink_dev_cqe *cqe, const uint8_t *source)
{
	const uint8_t *data = memory + cqe->user_data * SLOT;
	uint32_t number, sender = cqe->imm;

	if (cqe->status) {
		seen.flushed += cqe->status == FLUSHED;
		return;
	}
	if (!cqe->len) {
		seen.ended = true;
		return;
	}
	seen.got++;
	if (!(cqe->flags & RCLINK_CQE_SENDER) || sender >= SENDERS ||
	    cqe->op != RCLINK_OP_RECV || !is_right(data, cqe->len)) {
		seen.wrong++;
		return;
	}
	memcpy(&number, data, sizeof(number));
	seen.twice += seen.numbers[sender][number % NUMBERS]++;
	seen.senders += !seen.of[sender]++;
	memcpy(seen.source[sender], source, 16);
}

static void report(int err)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t i;

	printf("{\"got\":%u,\"twice\":%u,\"wrong\":%u,", seen.got, seen.twice,
	       seen.wrong);
	printf("\"flushed\":%u,\"errno\":%d,\"from\":{", seen.flushed, err);
	for (i = 0, err = 0; i < SENDERS; i++) {
		if (!seen.of[i])
			continue;
		inet_ntop(AF_INET6, seen.source[i], text, sizeof(text));
		printf("%s\"%u\":\"%s\"", err++ ? "," : "", i, text);
	}
	puts("}}");
}

static int receive(uint32_t count, uint32_t senders)
{
	struct rclink_dev_cqe cqes[RECVS];
	struct rclink_source sources[RECVS];
	uint64_t i;
	int n, ret;

	for (i = 0; i < RECVS; i++)
		post(i);
	must("submit", rclink_submit(chan, 0, 0));
	say_so();
	do {
		ret = rclink_submit(chan, 1, WAIT_MS);
		n = rclink_reap_from(chan, cqes, sources, RECVS);
		for (i = 0; (int)i < n; i++) {
			take(&cqes[i], sources[i].gid);
			if (!cqes[i].status)
				post(cqes[i].user_data);
		}
	} while (ret >= 0 && !seen.ended &&
		 (!count || seen.got < count || seen.senders < senders));
	report(ret < 0 ? -ret : 0);
	return EXIT_SUCCESS;
}

/* A receive into a withdrawn region fails; the next one gets its message. */
static int withdrawn(void)
{
	struct rclink_dev_cqe first, second;
	static uint8_t other[SLOT];
	uint32_t gone;

	must("region", rclink_region(chan, other, SLOT, NULL, 0, &gone));
	must("recv", rclink_recv(chan, rclink_piece(gone, 0, SLOT), 1));
	must("recv", rclink_recv(chan, rclink_piece(region, 0, SLOT), 2));
	must("submit", rclink_submit(chan, 0, 0));
	must("withdraw", rclink_withdraw(chan, gone));
	say_so();
	first = next();
	second = next();
	printf("%u %u, %u %u\n", first.status, (unsigned int)first.user_data,
	       second.status, (unsigned int)second.user_data);
	return first.status != LOCAL_PROTECTION || first.user_data != 1 ||
	       second.status || second.user_data != 2 ||
	       !is_right(memory, second.len) || other[0];
}

/* A receive that is too short fails, and its message is lost. */
static int too_short(void)
{
	struct rclink_dev_cqe first, second;
	uint32_t lost, number;

	memset(memory, 0xff, SLOT);
	must("recv", rclink_recv(chan, rclink_piece(region, 0, 8), 1));
	must("recv", rclink_recv(chan, rclink_piece(region, SLOT, SLOT), 2));
	must("submit", rclink_submit(chan, 0, 0));
	say_so();
	first = next();
	second = next();
	memcpy(&lost, memory, sizeof(lost));
	memcpy(&number, memory + SLOT, sizeof(number));
	printf("%u %u, %u %u\n", first.status, lost, second.status, number);
	return first.status != LOCAL_LENGTH || first.user_data != 1 ||
	       lost != UINT32_MAX || second.status || second.user_data != 2 ||
	       !is_right(memory + SLOT, second.len);
}

static int idle(void)
{
	post(0);
	must("submit", rclink_submit(chan, 0, 0));
	say_so();
	return pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (argc > 2)
		attach(argv[2]);
	if (!strcmp(what, "send") && argc == 6)
		return send_all(atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	if (!strcmp(what, "recv") && (argc == 4 || argc == 5))
		return receive(atoi(argv[3]), argc == 5 ? atoi(argv[4]) : 0);
	if (!strcmp(what, "end"))
		return send_end();
	if (!strcmp(what, "withdrawn"))
		return withdrawn();
	if (!strcmp(what, "short"))
		return too_short();
	if (!strcmp(what, "idle"))
		return idle();
	fputs("flow: see the source\n", stderr);
	return 2;
}
