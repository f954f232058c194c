// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <stdio.h>

#include <json-c/json.h>

#include "call.h"
#include "doc.h"
#include "link.h"
#include "nl.h"
#include "out.h"
#include "verbs_dev.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static const char help[] =
"usage: rclink dev [-j] [--verbs] [DEV]\n\n"
"RDMA devices and their ports, what they can do, their GIDs, and which of them is\n"
"best of each port; an exchange may choose another one, by the peer's.\n\n"
"  -j, --json   an array of objects, one for each port\n"
"  --verbs      ask libibverbs and not the module: what a process can use\n";

static const char no_device[] =
"There is no RDMA device; see that its driver is loaded.";

/* The module's list of all devices is without ports that cannot be read. */
static const char no_ports[] =
"There is no RDMA device, or no port of one can be read; see that its driver is\n"
"loaded. `rclink dev DEV` says why a port cannot be read.";

enum { VERBS = 256 };

static const struct option options[] = {
	{ "verbs", no_argument, NULL, VERBS },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static void text_mtu(struct json_object *row, const char *key, char *buf)
{
	snprintf(buf, RCL_CELL_LEN, "%llu/%llu",
		 (unsigned long long)rcl_out_get_u64(row, key),
		 (unsigned long long)rcl_out_get_u64(row, "max_mtu"));
}

/* 0 means that the device cannot do it. */
static void text_or_no(struct json_object *row, const char *key, char *buf)
{
	uint64_t value = rcl_out_get_u64(row, key);

	if (value)
		snprintf(buf, RCL_CELL_LEN, "%llu", (unsigned long long)value);
	else
		snprintf(buf, RCL_CELL_LEN, "no");
}

static void text_pages(struct json_object *row, const char *key, char *buf)
{
	if (!json_object_object_get(row, key)) {
		snprintf(buf, RCL_CELL_LEN, "-");
		return;
	}
	text_or_no(row, key, buf);
	if (rcl_out_get_u64(row, key))
		snprintf(buf, RCL_CELL_LEN, "%llu pages",
			 (unsigned long long)rcl_out_get_u64(row, key));
}

static void text_chosen(struct json_object *row, const char *key, char *buf)
{
	struct json_object *value = json_object_object_get(row, key);

	snprintf(buf, RCL_CELL_LEN, "%s",
		 json_object_get_boolean(value) ? "*" : " ");
}

static const struct rcl_col ports[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "LAYER", "link_layer", NULL },
	{ "STATE", "state", NULL },
	{ "MTU", "active_mtu", text_mtu },
	{ "LID", "lid", NULL },
};

static const struct rcl_col operations[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "ATOMICS", "atomics", NULL },
	{ "MASKED", "masked_atomics", NULL },
	{ "FAST-REG", "fast_reg_pages", text_pages },
	{ "SRQ", "max_srq", text_or_no },
	{ "INLINE", "max_inline", NULL },
};

static const struct rcl_col limits[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "QPS", "max_qp", NULL },
	{ "WRS", "max_qp_wr", NULL },
	{ "CQES", "max_cqe", NULL },
	{ "MRS", "max_mr", NULL },
	{ "SGES", "max_sge", NULL },
	{ "RD-ATOMIC", "max_rd_atomic", NULL },
	{ "PKEYS", "pkeys", NULL },
};

static const struct rcl_col gids[] = {
	{ " ", "chosen", text_chosen },
	{ "INDEX", "index", NULL },
	{ "TYPE", "type", NULL },
	{ "GID", "gid", NULL },
	{ "NETDEV", "netdev", NULL },
};

static void print_port(struct json_object *port)
{
	struct json_object *list = json_object_object_get(port, "gids");

	printf("\n%s port %llu: %s\n", rcl_out_get_text(port, "device"),
	       (unsigned long long)rcl_out_get_u64(port, "port"),
	       rcl_out_get_text(port, "reason"));
	if (json_object_array_length(list))
		rcl_out_table(stdout, list, gids, NUM(gids), "");
}

static void print_text(struct json_object *list, bool verbs)
{
	size_t i;

	if (!json_object_array_length(list)) {
		puts(verbs ? no_device : no_ports);
		return;
	}
	rcl_out_table(stdout, list, ports, NUM(ports), "");
	putchar('\n');
	rcl_out_table(stdout, list, operations, NUM(operations), "");
	printf("\nmost of each\n");
	rcl_out_table(stdout, list, limits, NUM(limits), "");
	if (verbs)
		verbs_dev_print(list);
	for (i = 0; i < json_object_array_length(list); i++)
		print_port(json_object_array_get_idx(list, i));
}

static int ask_module(const char *name, struct json_object *list)
{
	struct rcl_dev_info *infos;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	size_t i, num;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_devs(nl, name, &infos, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return cli_refused("dev", name, ret, err);
	for (i = 0; i < num; i++)
		json_object_array_add(list, rcl_doc_dev(&infos[i]));
	rcl_call_devs_free(infos, num);
	return CLI_OK;
}

int cmd_dev(int argc, char **argv)
{
	struct json_object *list = json_object_new_array();
	bool json = false;
	bool verbs = false;
	char **words;
	int status;
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		json |= c == 'j';
		verbs |= c == VERBS;
	}
	words = cli_operands(argc, argv, 0, 1);

	status = verbs ? verbs_dev_list(words[0], list) :
			 ask_module(words[0], list);
	/* Show what there is, even if some could not be asked. */
	if (!status || json_object_array_length(list)) {
		if (json)
			rcl_out_json(stdout, list);
		else
			print_text(list, verbs);
	}
	json_object_put(list);
	return status;
}
