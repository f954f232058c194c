// SPDX-License-Identifier: GPL-2.0
#include "verbs_dev.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "doc.h"
#include "hca.h"
#include "link.h"
#include "out.h"
#include "physical.h"
#include "probe.h"

#define GUID_LEN	20
#define PKEYS_SHOWN	4
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))

static const char *windows(const struct rcv_hca *hca)
{
	unsigned int flags = hca->attr.orig_attr.device_cap_flags;

	if (flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B)
		return "1, 2B";
	if (flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A)
		return "1, 2A";
	return flags & IBV_DEVICE_MEM_WINDOW ? "1" : "no";
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * The page list length of fast registration, masked atomics, and whether a
 * subnet manager can be asked concern the kernel only.
 */
static void fill_limits(struct rcl_dev_info *info, const struct rcv_hca *hca)
{
	const struct ibv_device_attr *attr = &hca->attr.orig_attr;

	info->pkeys = hca->port_attr.pkey_tbl_len;
	info->max_qp = attr->max_qp;
	info->max_qp_wr = attr->max_qp_wr;
	info->max_cqe = attr->max_cqe;
	info->max_mr = attr->max_mr;
	info->max_sge = attr->max_sge;
	info->max_rd_atomic = smaller(attr->max_qp_rd_atom,
				      attr->max_qp_init_rd_atom);
	info->max_srq = attr->max_srq;
	info->atomics = attr->atomic_cap;
}

static bool fill_gids(struct rcl_dev_info *info, const struct rcv_hca *hca)
{
	struct rcl_gid_info *to = calloc(hca->ngids + 1, sizeof(*to));
	uint32_t i;

	if (!to)
		return false;
	info->gids = to;
	info->ngids = hca->ngids;
	for (i = 0; i < hca->ngids; i++, to++) {
		to->index = hca->gids[i].index;
		to->type = hca->gids[i].type;
		to->vlan = hca->gids[i].vlan;
		memcpy(to->gid, hca->gids[i].value, sizeof(to->gid));
		snprintf(to->netdev, sizeof(to->netdev), "%s",
			 hca->gids[i].netdev);
	}
	return true;
}

static bool fill(struct rcl_dev_info *info, const struct rcv_hca *hca)
{
	const struct ibv_port_attr *attr = &hca->port_attr;

	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%s",
		 ibv_get_device_name(hca->ctx->device));
	info->port = hca->port;
	info->link_layer = hca->link_layer;
	info->port_state = attr->state;
	info->active_mtu = rcv_mtu_bytes(attr->active_mtu);
	info->max_mtu = rcv_mtu_bytes(attr->max_mtu);
	info->lid = attr->lid;
	info->sm_lid = attr->sm_lid;
	fill_limits(info, hca);
	info->has_chosen = hca->chosen >= 0;
	if (info->has_chosen)
		info->chosen_gid = rcv_hca_gid(hca)->index;
	snprintf(info->reason, sizeof(info->reason), "%s", hca->why);
	return fill_gids(info, hca);
}

static struct json_object *pkeys(const struct rcv_hca *hca)
{
	struct json_object *list = json_object_new_array();
	struct json_object *pkey;
	uint32_t i, value;

	for (i = 0; i < hca->port_attr.pkey_tbl_len; i++) {
		value = rcv_hca_read_pkey(hca, i);
		if (!value)
			continue;
		pkey = json_object_new_object();
		rcl_out_u64(pkey, "index", i);
		rcl_out_u64(pkey, "pkey", value);
		json_object_array_add(list, pkey);
	}
	return list;
}

static const char *guid_text(__be64 guid, char text[GUID_LEN])
{
	uint16_t part[4];

	memcpy(part, &guid, sizeof(part));
	snprintf(text, GUID_LEN, "%04x:%04x:%04x:%04x", be16toh(part[0]),
		 be16toh(part[1]), be16toh(part[2]), be16toh(part[3]));
	return text;
}

static void add_hardware(struct json_object *doc, const struct rcv_hca *hca)
{
	const struct ibv_device_attr *attr = &hca->attr.orig_attr;
	const struct ibv_port_attr *port = &hca->port_attr;
	char text[GUID_LEN];

	rcl_out_text(doc, "phys_state", rcv_phys_state(port->phys_state));
	rcl_out_known(doc, "active_width", rcv_lanes(port->active_width));
	rcl_out_known(doc, "active_speed", rcv_lane_mbits(port->active_speed));
	rcl_out_u64(doc, "lmc", port->lmc);
	rcl_out_text(doc, "node_guid", guid_text(attr->node_guid, text));
	rcl_out_u64(doc, "hw_ver", attr->hw_ver);
	rcl_out_u64(doc, "max_mw", attr->max_mw);
	/* Some drivers report that there is no limit. */
	rcl_out_known(doc, "max_mr_size", attr->max_mr_size == UINT64_MAX ?
					  0 : attr->max_mr_size);
	json_object_object_add(doc, "pkey_table", pkeys(hca));
}

static int add_port(struct json_object *list, struct rcv_hca *hca,
		    const struct rcv_probe *probe)
{
	const struct ibv_device_attr *attr = &hca->attr.orig_attr;
	struct rcl_dev_info info;
	struct json_object *doc;
	char text[16];

	if (!fill(&info, hca))
		return cli_fail("dev: out of memory");
	info.max_inline = probe->max_inline;
	doc = rcl_doc_dev(&info);
	rcl_dev_info_free(&info);
	json_object_object_del(doc, "fast_reg_pages");
	json_object_object_del(doc, "masked_atomics");
	json_object_object_del(doc, "sa");
	rcl_out_text(doc, "firmware", *attr->fw_ver ? attr->fw_ver : NULL);
	snprintf(text, sizeof(text), "%04x:%u", attr->vendor_id,
		 attr->vendor_part_id);
	rcl_out_text(doc, "vendor", text);
	rcl_out_u64(doc, "vectors", hca->ctx->num_comp_vectors);
	rcl_out_text(doc, "windows", windows(hca));
	json_object_object_add(doc, "timestamps",
			       json_object_new_boolean(probe->stamps));
	rcl_out_text(doc, "node", hca->ctx->device->dev_name);
	add_hardware(doc, hca);
	json_object_array_add(list, doc);
	return CLI_OK;
}

static int add_device(struct json_object *list, struct ibv_device *device)
{
	struct rcv_probe probe;
	char err[RCL_ERR_LEN];
	int status = CLI_OK;
	struct rcv_hca hca;
	uint32_t port;

	if (rcv_hca_attach(&hca, device, err))
		return cli_fail("dev: %s", err);
	rcv_probe(&hca, &probe);
	for (port = 1; port <= hca.attr.orig_attr.phys_port_cnt; port++) {
		if (rcv_hca_look(&hca, port, &rcl_gid_any, err))
			status = cli_fail("dev: %s", err);
		else
			status |= add_port(list, &hca, &probe);
	}
	rcv_hca_close(&hca);
	return status;
}

int verbs_dev_list(const char *name, struct json_object *list)
{
	struct ibv_device **devices;
	char err[RCL_ERR_LEN];
	int i, num = 0, status = CLI_OK;

	devices = rcv_hca_list(&num, err);
	if (!devices)
		status = cli_fail("dev: %s", err);
	for (i = 0; i < num; i++)
		if (!name || !strcmp(name, ibv_get_device_name(devices[i])))
			status |= add_device(list, devices[i]);
	if (devices)
		ibv_free_device_list(devices);
	if (!status && name && !json_object_array_length(list))
		status = cli_fail("dev: there is no device '%s'", name);
	return status;
}

static void text_yes(struct json_object *row, const char *key, char *buf)
{
	struct json_object *value = json_object_object_get(row, key);

	snprintf(buf, RCL_CELL_LEN, "%s",
		 json_object_get_boolean(value) ? "yes" : "no");
}

static void text_hex(struct json_object *row, const char *key, char *buf)
{
	snprintf(buf, RCL_CELL_LEN, "0x%" PRIx64, rcl_out_get_u64(row, key));
}

static void text_rate(struct json_object *row, const char *key, char *buf)
{
	uint64_t lanes = rcl_out_get_u64(row, "active_width");
	uint64_t mbits = rcl_out_get_u64(row, key);

	if (lanes && mbits)
		snprintf(buf, RCL_CELL_LEN, "%" PRIu64 " x %g Gbit/s", lanes,
			 mbits / 1000.0);
}

/* In the largest unit that divides the value. */
static void text_bytes(struct json_object *row, const char *key, char *buf)
{
	static const char units[] = " KMGTPE";
	uint64_t bytes = rcl_out_get_u64(row, key);
	size_t i = 0;

	if (!bytes) {
		snprintf(buf, RCL_CELL_LEN, "any");
		return;
	}
	while (!(bytes % 1024)) {
		bytes /= 1024;
		i++;
	}
	snprintf(buf, RCL_CELL_LEN, i ? "%" PRIu64 " %ciB" : "%" PRIu64, bytes,
		 units[i]);
}

static void text_pkeys(struct json_object *row, const char *key, char *buf)
{
	struct json_object *list = json_object_object_get(row, key);
	size_t i, num = json_object_array_length(list);
	struct json_object *pkey;
	int len = 0;

	for (i = 0; i < num && i < PKEYS_SHOWN; i++) {
		pkey = json_object_array_get_idx(list, i);
		len += snprintf(buf + len, RCL_CELL_LEN - len, "%s0x%04" PRIx64,
				i ? ", " : "", rcl_out_get_u64(pkey, "pkey"));
	}
	if (num > PKEYS_SHOWN)
		snprintf(buf + len, RCL_CELL_LEN - len, " and %zu more",
			 num - PKEYS_SHOWN);
}

static const struct rcl_col columns[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "FIRMWARE", "firmware", NULL },
	{ "VENDOR", "vendor", NULL },
	{ "VECTORS", "vectors", NULL },
	{ "WINDOWS", "windows", NULL },
	{ "TIMESTAMPS", "timestamps", text_yes },
	{ "NODE", "node", NULL },
};

static const struct rcl_col wires[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "PHYSICAL", "phys_state", NULL },
	{ "RATE", "active_speed", text_rate },
	{ "LMC", "lmc", NULL },
	{ "NODE-GUID", "node_guid", NULL },
	{ "REVISION", "hw_ver", text_hex },
};

static const struct rcl_col memory[] = {
	{ "DEVICE", "device", NULL },
	{ "PORT", "port", NULL },
	{ "MWS", "max_mw", NULL },
	{ "MR-SIZE", "max_mr_size", text_bytes },
	{ "PARTITIONS", "pkey_table", text_pkeys },
};

void verbs_dev_print(struct json_object *list)
{
	printf("\nfor userspace\n");
	rcl_out_table(stdout, list, columns, NUM(columns), "");
	putchar('\n');
	rcl_out_table(stdout, list, wires, NUM(wires), "");
	putchar('\n');
	rcl_out_table(stdout, list, memory, NUM(memory), "");
}
