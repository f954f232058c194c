// SPDX-License-Identifier: GPL-2.0
/* A stock peer tells whether a fault is in rclink or in the fabric. */
#include "verbs_stock.h"

#include <stdio.h>

#include <json-c/json.h>

#include "cli.h"
#include "out.h"
#include "pingpong_report.h"
#include "stock.h"
#include "text.h"

#define SIZE		4096
#define LARGEST		1073741824
#define ITERS		1000
#define ITERS_MAX	100000000
#define DEPTH		500
#define MTU		1024
#define ADDRESS_LEN	(RCL_GID_TEXT_LEN + sizeof("GID "))

static const char help[] =
"usage: rclink pingpong --stock [HOST] [OPTIONS]\n\n"
"Play ibv_rc_pingpong with an unmodified one of rdma-core at HOST, or wait for\n"
"one to call, by libibverbs: without a link, and without the module. The peer is\n"
"not authenticated, and its addresses travel in the clear: for tests of a\n"
"fabric only. --size, --iters and --mtu must be those of the peer, by default\n"
"they are.\n\n"
"  -p, --port P       TCP port (18515)\n"
"  -d, --dev DEV      RDMA device (the first one that is fit)\n"
"  -i, --ib-port N    its port\n"
"  -g, --gid-index N  its GID (as for a link; on InfiniBand only if given)\n"
"      --sl N         service level (0)\n"
"  -m, --mtu N        path MTU in bytes (1024)\n"
"  -s, --size N       bytes (4096)\n"
"  -n, --iters N      messages in each direction (1000)\n"
"  -r, --depth N      receives posted (500)\n"
"  -e, --events       sleep until there is a completion, instead of polling\n"
"  -t, --timestamps   time by the device's clock, too, if it has one\n"
"  -c, --check        look at the last message; give the peer -c, too\n"
"  -j, --json         one object, with the time in nanoseconds\n";

enum { STOCK = 256, SL };

static const struct option options[] = {
	{ "stock", no_argument, NULL, STOCK },
	{ "port", required_argument, NULL, 'p' },
	{ "dev", required_argument, NULL, 'd' },
	{ "ib-port", required_argument, NULL, 'i' },
	{ "gid-index", required_argument, NULL, 'g' },
	{ "sl", required_argument, NULL, SL },
	{ "mtu", required_argument, NULL, 'm' },
	{ "size", required_argument, NULL, 's' },
	{ "iters", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'r' },
	{ "events", no_argument, NULL, 'e' },
	{ "timestamps", no_argument, NULL, 't' },
	{ "check", no_argument, NULL, 'c' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static bool silent;	/* print one JSON document, nothing else */

static void on_listening(uint16_t port)
{
	if (!silent)
		printf("listening on TCP port %u\n", port);
}

static void parse_fabric(const char *cmd, int c, struct rcv_stock_args *a)
{
	if (c == 'p')
		a->tcp_port = cli_number(cmd, "--port", optarg, 1, UINT16_MAX);
	else if (c == 'd')
		a->device = optarg;
	else if (c == 'i')
		a->port = cli_number(cmd, "--ib-port", optarg, 1, 255);
	else if (c == 'g')
		a->gid_index = cli_number(cmd, "--gid-index", optarg, 0, 65535);
	else if (c == SL)
		a->sl = cli_number(cmd, "--sl", optarg, 0, 15);
	else if (c == 'm')
		a->mtu = cli_number(cmd, "--mtu", optarg, 256, 4096);
}

static void parse(int argc, char **argv, struct rcv_stock_args *a)
{
	const char *cmd = argv[0];
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		parse_fabric(cmd, c, a);
		if (c == 's')
			a->size = cli_number(cmd, "-s", optarg, 0, LARGEST);
		else if (c == 'n')
			a->iters = cli_number(cmd, "-n", optarg, 1, ITERS_MAX);
		else if (c == 'r')
			a->depth = cli_number(cmd, "-r", optarg, 2, 65535);
		a->events |= c == 'e';
		a->stamps |= c == 't';
		a->check |= c == 'c';
		silent |= c == 'j';
	}
	if (a->mtu & (a->mtu - 1))
		cli_usage(cmd, "--mtu must be 256, 512, 1024, 2048 or 4096");
	a->host = cli_operands(argc, argv, 0, 1)[0];
}

/* The GID if both ends use it, else the LID. */
static const char *address(const struct rcv_stock_result *r,
			   const struct rcv_stock_dest *dest, char *buf)
{
	char gid[RCL_GID_TEXT_LEN];

	if (!rcv_stock_has_grh(&r->local, &r->remote))
		snprintf(buf, ADDRESS_LEN, "LID %u", dest->lid);
	else
		snprintf(buf, ADDRESS_LEN, "GID %s",
			 rcl_gid_text(dest->gid, gid));
	return buf;
}

static void out_address(struct json_object *doc, const char *lid_key,
			const char *gid_key, const struct rcv_stock_dest *dest)
{
	rcl_out_known(doc, lid_key, dest->lid);
	rcl_out_gid(doc, gid_key, dest->gid);
}

static void report_json(const struct rcv_stock_args *a,
			const struct rcv_stock_result *r)
{
	struct json_object *doc = json_object_new_object();

	rcl_out_text(doc, "device", r->device);
	out_address(doc, "lid", "gid", &r->local);
	out_address(doc, "peer_lid", "peer_gid", &r->remote);
	json_object_object_add(doc, "authenticated",
			       json_object_new_boolean(0));
	json_object_object_add(doc, "extended_cq",
			       json_object_new_boolean(r->extended));
	rcl_out_u64(doc, "mtu", a->mtu);
	rcl_out_u64(doc, "size", a->size);
	rcl_out_u64(doc, "iters", a->iters);
	rcl_out_u64(doc, "bytes", 2ULL * a->size * a->iters);
	rcl_out_u64(doc, "duration", r->duration);
	rcl_out_known(doc, "device_duration", r->device_ns);
	rcl_out_json(stdout, doc);
	json_object_put(doc);
}

static void report(const struct rcv_stock_args *a,
		   const struct rcv_stock_result *r)
{
	char text[ADDRESS_LEN];

	printf("%s, %s", r->device, address(r, &r->local, text));
	printf(", to %s: not authenticated\n", address(r, &r->remote, text));
	pingpong_report_lines(a->size, a->iters, r->duration);
	if (r->stamps)
		printf("first to last message %s by the device's clock\n",
		       rcl_ns_text(r->device_ns, text));
	else if (a->stamps)
		puts("the device has no time of completions");
}

int verbs_stock(int argc, char **argv)
{
	struct rcv_stock_args args = {
		.tcp_port = RCV_STOCK_PORT,
		.device = "",
		.gid_index = RCLINK_GID_INDEX_AUTO,
		.mtu = MTU,
		.size = SIZE,
		.iters = ITERS,
		.depth = DEPTH,
	};
	struct rcv_stock_result result;
	char name[] = "pingpong --stock";
	char err[RCL_ERR_LEN];

	/* As users have to type it. */
	argv[0] = name;
	parse(argc, argv, &args);
	if (rcv_stock_run(&args, on_listening, &result, err))
		return cli_fail("pingpong --stock: %s", err);
	if (silent)
		report_json(&args, &result);
	else
		report(&args, &result);
	return CLI_OK;
}
