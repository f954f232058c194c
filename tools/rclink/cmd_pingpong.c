// SPDX-License-Identifier: GPL-2.0
/*
 * A message there and back, from process to process. The end that connects has
 * the parameters; the other one reads them from its hello region.
 */
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "call.h"
#include "link.h"
#include "pingpong.h"
#include "pingpong_report.h"
#include "process.h"
#include "text.h"
#include "verbs_stock.h"

#define SIZE		4096
#define ITERS		1000
#define SIGNAL_EVERY	16		/* sends; the rest only count */
#define REAP		16

static const char help[] =
"usage: rclink pingpong LINK[:SERVICE] [OPTIONS]\n\n"
"Send a message to `rclink pingpong --listen` at the peer of the link (service:\n"
"pingpong), which sends it back, many times; both print how long it took.\n\n"
"  -l, --listen   wait for the other end, which has --size, --iters and --check\n"
"  -s, --size N   bytes (4096, up to 1048576)\n"
"  -n, --iters N  messages in each direction (1000)\n"
"  -r, --depth N  receives posted (as many as a channel has)\n"
"  -e, --events   sleep until there is a completion, instead of polling\n"
"  -c, --check    compare the last message with what it must be, at both ends\n"
"  -j, --json     one object, with the time in nanoseconds\n\n"
"       rclink pingpong --stock [HOST] [OPTIONS]\n\n"
"The same with an unmodified ibv_rc_pingpong, without a link and without proof\n"
"of who it is: see `rclink pingpong --stock --help`.\n";

static const struct option options[] = {
	{ "listen", no_argument, NULL, 'l' },
	{ "size", required_argument, NULL, 's' },
	{ "iters", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'r' },
	{ "events", no_argument, NULL, 'e' },
	{ "check", no_argument, NULL, 'c' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

#define PAGE	4096

/* Alone in its page, because the whole page is shared. */
static union {
	struct rcl_pingpong_hello hello;
	uint8_t page[PAGE];
} shown __attribute__((aligned(PAGE)));

struct pingpong {
	struct attach at;
	struct rcl_pingpong args;
	bool listen, events, json;
	uint32_t depth;
	uint8_t *out, *in;		/* messages */
	uint32_t out_region, in_region;
	uint32_t posted;		/* receives that wait for a message */
	uint32_t sent, received;	/* messages */
	bool done;			/* the last of our sends, or a read */
	uint64_t duration;		/* ns */
};

static int failed(struct pingpong *p, const char *what, int ret)
{
	attach_failed(&p->at, what, ret);
	return ret;
}

/* Post receives up to the depth. */
static int post(struct pingpong *p)
{
	int ret = 0;

	for (; p->posted < p->depth && !ret; p->posted++)
		ret = rclink_recv(p->at.chan,
				  rclink_piece(p->in_region, 0, p->args.size),
				  0);
	return ret;
}

static int take(struct pingpong *p, const struct rclink_dev_cqe *cqe)
{
	/* A peer with its last message may be gone before this end knows it. */
	if (cqe->status && p->args.iters && p->received == p->args.iters) {
		p->done = true;
		return 0;
	}
	if (cqe->status) {
		attach_broken(&p->at, cqe);
		return -EIO;
	}
	if (cqe->op != RCLINK_OP_RECV) {
		p->done = cqe->user_data;
		return 0;
	}
	if (cqe->len != p->args.size)
		return failed(p, "a message of another size", -EPROTO);
	p->received++;
	p->posted--;
	return 0;
}

/* Hands over what is queued, and returns when something has completed. */
static int progress(struct pingpong *p)
{
	struct pollfd fd = { .fd = rclink_fd(p->at.chan), .events = POLLIN };
	struct rclink_dev_cqe cqes[REAP];
	int i, num, ret;

	ret = attach_submit(&p->at, !p->events);
	while (!(num = rclink_reap(p->at.chan, cqes, REAP))) {
		/* What completed before the end can still be reaped. */
		if (ret < 0 && ret != -EINTR)
			return failed(p, "broken off", ret);
		if (!p->events)
			return 0;
		if (fd.revents & (POLLHUP | POLLERR))
			return failed(p, "broken off", -ECONNRESET);
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return failed(p, "poll", -errno);
	}
	if (num < 0)
		return failed(p, "completions", num);
	for (i = 0, ret = 0; i < num && !ret; i++)
		ret = take(p, &cqes[i]);
	return ret;
}

static struct rclink_data message(const struct pingpong *p)
{
	if (p->args.size <= RCLINK_DEV_INLINE_MAX)
		return rclink_bytes(p->out, p->args.size);
	return rclink_piece(p->out_region, 0, p->args.size);
}

static int send_one(struct pingpong *p)
{
	bool last = ++p->sent == p->args.iters;
	unsigned int flags = 0;

	if (last || !(p->sent % SIGNAL_EVERY))
		flags = RCLINK_SQE_SIGNALED;
	return rclink_send(p->at.chan, message(p), flags, last);
}

/* The end that connected is one message ahead until the last has come back. */
static int rally(struct pingpong *p)
{
	uint32_t ahead = !p->listen;
	uint64_t begun = rcl_now();
	int ret = 0;

	p->done = false;
	while (!ret && (p->received < p->args.iters || !p->done)) {
		if (p->posted <= p->depth / 2)
			ret = post(p);
		if (!ret && p->sent < p->args.iters &&
		    p->sent < p->received + ahead)
			ret = send_one(p);
		if (ret)
			return failed(p, "cannot queue", ret);
		ret = progress(p);
	}
	p->duration = rcl_now() - begun;
	return ret;
}

static int right(struct pingpong *p)
{
	uint32_t i;

	for (i = 0; p->args.check && i < p->args.size; i++)
		if (p->in[i] != rcl_pingpong_byte(i, p->listen))
			break;
	if (!p->args.check || i == p->args.size)
		return CLI_OK;
	return cli_fail("pingpong %s: byte %u is %u, not %u; report it",
			p->at.target.link, i, p->in[i],
			rcl_pingpong_byte(i, p->listen));
}

/* Once the size is known, allocate the memory, with the message in it. */
static int prepare(struct pingpong *p)
{
	uint32_t i;

	p->out = attach_memory(&p->at, p->args.size + 1, &p->out_region);
	if (p->out)
		p->in = attach_memory(&p->at, p->args.size + 1, &p->in_region);
	if (!p->in)
		return -ENOMEM;
	for (i = 0; i < p->args.size; i++)
		p->out[i] = rcl_pingpong_byte(i, !p->listen);
	return 0;
}

/* The end that connected: show the parameters, and wait until they are read. */
static int lead(struct pingpong *p)
{
	int ret;

	rcl_pingpong_put(&p->args, &shown.hello);
	ret = prepare(p);
	if (ret)
		return ret;
	ret = post(p);
	if (!ret)
		ret = attach_submit(&p->at, 0);
	if (ret < 0)
		return failed(p, "cannot receive", ret);
	if (attach_offer(&p->at, &shown, sizeof(shown),
			 RCLINK_REGION_READ))
		return -EIO;
	/* The first message only says that the other end is ready. */
	do {
		ret = progress(p);
	} while (!ret && !p->received);
	p->received = 0;
	return ret;
}

static int read_hello(struct pingpong *p, const struct rclink_remote *remote)
{
	const bool check = p->args.check;
	uint32_t region;
	int ret;

	ret = attach_region(&p->at, &shown, sizeof(shown), &region);
	if (!ret)
		ret = rclink_read(p->at.chan,
				  rclink_piece(region, 0, sizeof(shown.hello)),
				  remote, 0, RCLINK_SQE_SIGNALED, 1);
	if (ret)
		return failed(p, "cannot read", ret);
	while (!ret && !p->done)
		ret = progress(p);
	if (ret)
		return ret;
	if (!rcl_pingpong_get(&p->args, &shown.hello))
		return failed(p, "parameters that make no sense", -EPROTO);
	p->args.check |= check;
	return 0;
}

static int follow(struct pingpong *p)
{
	struct rclink_remote remote;
	int ret;

	if (attach_find(&p->at, &remote))
		return -EIO;
	ret = read_hello(p, &remote);
	if (!ret)
		ret = prepare(p);
	if (ret)
		return ret;
	ret = post(p);
	if (!ret)
		ret = rclink_send(p->at.chan, message(p), 0, 0);
	return ret ? failed(p, "cannot queue", ret) : 0;
}

/* As ibv_rc_pingpong prints them, without what only the module may know. */
static void addresses(const char *link)
{
	char gid[RCL_GID_TEXT_LEN], err[RCL_ERR_LEN];
	struct rcl_link_info *info;
	struct rcl_nl *nl;
	size_t num;

	nl = rcl_nl_open(err);
	if (!nl || rcl_call_links(nl, link, &info, &num, err)) {
		rcl_nl_close(nl);
		return;
	}
	printf("  local address:  LID 0x%04x, GID %s\n", info->lid,
	       rcl_gid_text(info->gid, gid));
	/* Users who may not see secrets learn who the peer is, not where. */
	if (info->has_remote)
		printf("  remote address: LID 0x%04x, GID %s\n",
		       info->remote.lid, rcl_gid_text(info->remote.gid, gid));
	else
		printf("  remote address: of %s\n", info->peer);
	free(info);
	rcl_nl_close(nl);
}

static int run(struct pingpong *p)
{
	int status;

	if (!p->json)
		addresses(p->at.target.link);
	if ((p->listen ? follow(p) : lead(p)) || rally(p))
		return CLI_FAILED;
	status = right(p);
	if (!status)
		pingpong_report(p->at.target.link, p->at.target.service,
				&p->args, p->duration, p->json);
	return status;
}

static void parse(int argc, char **argv, struct pingpong *p)
{
	const char *cmd = argv[0];
	uint32_t depth;
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == 's') {
			p->args.size = cli_number(cmd, "-s", optarg, 0,
						  RCL_PINGPONG_LARGEST);
		} else if (c == 'n') {
			p->args.iters = cli_number(cmd, "-n", optarg, 1,
						   RCL_PINGPONG_ITERS_MAX);
		} else if (c == 'r') {
			depth = cli_number(cmd, "-r", optarg, 1, UINT32_MAX);
			p->depth = depth < p->depth ? depth : p->depth;
		}
		p->listen |= c == 'l';
		p->events |= c == 'e';
		p->args.check |= c == 'c';
		p->json |= c == 'j';
	}
	attach_parse(&p->at, cmd, *cli_operands(argc, argv, 1, 1),
		     RCL_PINGPONG_SERVICE);
}

static bool is_stock(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--stock"))
			return true;
	return false;
}

int cmd_pingpong(int argc, char **argv)
{
	struct pingpong p = {
		.args.size = SIZE,
		.args.iters = ITERS,
		.depth = RCLINK_DEV_RECVS,
	};
	unsigned int flags;
	int status;

	if (is_stock(argc, argv))
		return verbs_stock(argc, argv);
	parse(argc, argv, &p);
	flags = p.events ? 0 : RCLINK_CHAN_POLLED;
	status = p.listen ? attach_accept(&p.at, flags) :
			    attach_connect(&p.at, flags);
	if (status)
		return status;
	status = run(&p);
	attach_close(&p.at);
	return status;
}
