// SPDX-License-Identifier: GPL-2.0
#include "hca.h"

#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/if_vlan.h>
#include <linux/sockios.h>

#include "fail.h"

#define VENDOR_BROADCOM	0x14e4
#define NO_GID		"the GID table has no entry at that gid-index"
#define PKEY_BASE	0x7fff	/* without the membership bit */

uint32_t rcv_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

enum ibv_mtu rcv_mtu(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && rcv_mtu_bytes(mtu) > bytes)
		mtu--;
	return mtu;
}

const struct rcl_gid *rcv_hca_gid(const struct rcv_hca *hca)
{
	return &hca->gids[hca->chosen];
}

bool rcv_hca_gid_is(const struct rcv_hca *hca, const uint8_t *gid)
{
	union ibv_gid now;

	return !ibv_query_gid(hca->ctx, hca->port,
			      rcv_hca_gid(hca)->index, &now) &&
	       !memcmp(now.raw, gid, sizeof(now.raw));
}

uint32_t rcv_hca_read_pkey(const struct rcv_hca *hca, uint32_t index)
{
	__be16 value;

	if (ibv_query_pkey(hca->ctx, hca->port, index, &value) ||
	    !(be16toh(value) & PKEY_BASE))
		return 0;
	return be16toh(value);
}

int rcv_hca_pkey(const struct rcv_hca *hca, uint32_t index, uint32_t *pkey,
		 char *err)
{
	*pkey = 0;
	if (hca->link_layer != RCLINK_LINK_LAYER_INFINIBAND)
		return 0;
	*pkey = rcv_hca_read_pkey(hca, index);
	if (!*pkey)
		return rcl_fail(err, -ENODATA,
				"pkey-index: port %u of %s has no partition key at %u",
				hca->port,
				ibv_get_device_name(hca->ctx->device), index);
	return 0;
}

/* Another device may have taken its number by now. */
bool rcv_hca_is_gone(const struct rcv_hca *hca)
{
	struct stat st;

	if (!hca->node)
		return false;
	return stat(hca->ctx->device->dev_path, &st) ? errno == ENOENT :
						       st.st_ino != hca->node;
}

bool rcv_hca_has_windows(const struct rcv_hca *hca)
{
	return hca->attr.orig_attr.device_cap_flags &
	       (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

/* bnxt_re reports an access error when retries are exceeded. */
bool rcv_hca_is_vague(const struct rcv_hca *hca)
{
	return hca->attr.orig_attr.vendor_id == VENDOR_BROADCOM;
}

int rcv_hca_attach(struct rcv_hca *hca, struct ibv_device *device, char *err)
{
	const char *name = ibv_get_device_name(device);
	struct stat st;
	int ret;

	memset(hca, 0, sizeof(*hca));
	hca->ctx = ibv_open_device(device);
	if (!hca->ctx)
		return rcl_fail(err, -errno,
				"cannot open %s: %s; this user needs read and write access to /dev/infiniband/%s",
				name, strerror(errno), device->dev_name);
	if (!stat(device->dev_path, &st))
		hca->node = st.st_ino;
	ret = ibv_query_device_ex(hca->ctx, NULL, &hca->attr);
	if (ret) {
		rcv_hca_close(hca);
		return rcl_fail(err, -ret, "cannot query %s: %s", name,
				strerror(ret));
	}
	return 0;
}

void rcv_hca_close(struct rcv_hca *hca)
{
	if (hca->ctx)
		ibv_close_device(hca->ctx);
	hca->ctx = NULL;
	free(hca->gids);
	hca->gids = NULL;
}

static uint32_t link_layer(const struct rcv_hca *hca)
{
	if (hca->ctx->device->transport_type == IBV_TRANSPORT_IWARP)
		return RCLINK_LINK_LAYER_IWARP;
	if (hca->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return RCLINK_LINK_LAYER_ROCE;
	return RCLINK_LINK_LAYER_INFINIBAND;
}

static bool netdev_is_up(int fd, const char *name)
{
	const short want = IFF_UP | IFF_RUNNING;
	struct ifreq req = { 0 };

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	return !ioctl(fd, SIOCGIFFLAGS, &req) && (req.ifr_flags & want) == want;
}

/* The ioctl would load the VLAN module; without it there is no VLAN. */
static uint32_t netdev_vlan(int fd, const char *name)
{
	struct vlan_ioctl_args args = { .cmd = GET_VLAN_VID_CMD };

	if (access("/proc/net/vlan", F_OK))
		return 0;
	strncpy(args.device1, name, sizeof(args.device1) - 1);
	return ioctl(fd, SIOCGIFVLAN, &args) ? 0 : args.u.VID;
}

static void look_at_netdev(struct rcl_gid *gid)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	gid->netdev_up = netdev_is_up(fd, gid->netdev);
	gid->vlan = netdev_vlan(fd, gid->netdev);
	close(fd);
}

static void take_gid(struct rcl_gid *gid, const struct ibv_gid_entry *entry)
{
	static const uint32_t types[] = {
		[IBV_GID_TYPE_IB] = RCLINK_GID_TYPE_IB,
		[IBV_GID_TYPE_ROCE_V1] = RCLINK_GID_TYPE_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = RCLINK_GID_TYPE_ROCE_V2,
	};

	memset(gid, 0, sizeof(*gid));
	gid->index = entry->gid_index;
	memcpy(gid->value, entry->gid.raw, sizeof(gid->value));
	if (entry->gid_type <= IBV_GID_TYPE_ROCE_V2)
		gid->type = types[entry->gid_type];
	if (entry->ndev_ifindex &&
	    if_indextoname(entry->ndev_ifindex, gid->netdev))
		look_at_netdev(gid);
}

/* Those of all ports come together. */
static size_t gids_max(const struct rcv_hca *hca)
{
	struct ibv_port_attr attr;
	size_t max = 0;
	uint32_t i;

	for (i = 1; i <= hca->attr.orig_attr.phys_port_cnt; i++)
		if (!ibv_query_port(hca->ctx, i, &attr))
			max += attr.gid_tbl_len;
	return max;
}

/*
 * All GIDs of the port, or only the one that the operator gave; but none whose
 * index does not fit into an address handle.
 */
static int read_gids(struct rcv_hca *hca, uint32_t want)
{
	bool given = want != RCLINK_GID_INDEX_AUTO;
	size_t max = gids_max(hca);
	struct ibv_gid_entry *entries;
	ssize_t i, n;

	entries = calloc(max ? max : 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	n = ibv_query_gid_table(hca->ctx, entries, max, 0);
	free(hca->gids);
	hca->gids = calloc(n > 0 ? n : 1, sizeof(*hca->gids));
	if (!hca->gids)
		n = -ENOMEM;
	for (i = 0; i < n; i++) {
		if (entries[i].port_num != hca->port ||
		    entries[i].gid_index > UINT8_MAX ||
		    (given && entries[i].gid_index != want))
			continue;
		take_gid(&hca->gids[hca->ngids++], &entries[i]);
	}
	free(entries);
	return n < 0 ? n : 0;
}

int rcv_hca_look(struct rcv_hca *hca, uint32_t port,
		 const struct rcl_gid_want *want, char *err)
{
	const char *name = ibv_get_device_name(hca->ctx->device);
	int ret;

	hca->ngids = 0;
	hca->port = port;
	ret = -ibv_query_port(hca->ctx, port, &hca->port_attr);
	if (ret)
		return rcl_fail(err, ret,
				"cannot query port %u of %s: %s; `rclink dev --verbs` lists the ports",
				port, name, strerror(-ret));
	hca->link_layer = link_layer(hca);
	ret = read_gids(hca, want->index);
	if (ret)
		return rcl_fail(err, ret, "cannot read the GIDs of %s: %s",
				name, strerror(-ret));
	hca->chosen = -EOPNOTSUPP;
	if (hca->link_layer == RCLINK_LINK_LAYER_IWARP)
		hca->why = "iWARP needs the RDMA CM: use InfiniBand or RoCE";
	else if (hca->ctx->device->transport_type != IBV_TRANSPORT_IB)
		hca->why = "the device has no reliable connections (RC)";
	else if (hca->port_attr.state == IBV_PORT_ACTIVE &&
		 !rcv_mtu_bytes(hca->port_attr.active_mtu))
		hca->why =
			"the port's MTU is less than 256: raise the netdev's";
	else if (want->index != RCLINK_GID_INDEX_AUTO && !hca->ngids)
		hca->why = NO_GID ": see `rclink dev --verbs`";
	else
		hca->chosen = rcl_gid_choose(hca->gids, hca->ngids, want,
					     hca->link_layer ==
					     RCLINK_LINK_LAYER_ROCE, &hca->why);
	return 0;
}

/* Is the port fit for a link? If not, *why is the reason. */
static bool fits(const struct rcv_hca *hca, const char **why)
{
	*why = hca->why;
	if (hca->port_attr.state == IBV_PORT_ACTIVE)
		return hca->chosen >= 0;
	*why = hca->link_layer == RCLINK_LINK_LAYER_INFINIBAND &&
	       (hca->port_attr.state == IBV_PORT_INIT ||
		hca->port_attr.state == IBV_PORT_ARMED) ?
	       "the port is not active: does a subnet manager run?" :
	       "the port is not active: see its cable, or its net device";
	return false;
}

static int find_port(struct rcv_hca *hca, uint32_t port,
		     const struct rcl_gid_want *want, char *err)
{
	uint32_t i, last = hca->attr.orig_attr.phys_port_cnt;
	const char *why = "it has no port";
	int ret;

	if (port)
		last = port;
	for (i = port ? port : 1; i <= last; i++) {
		ret = rcv_hca_look(hca, i, want, err);
		if (ret)
			return ret;
		if (fits(hca, &why))
			return 0;
	}
	return rcl_fail(err, -ENODEV, "%s: %s",
			ibv_get_device_name(hca->ctx->device), why);
}

struct ibv_device **rcv_hca_list(int *num, char *err)
{
	struct ibv_device **list = ibv_get_device_list(num);

	if (!list)
		rcl_fail(err, -errno,
			 "cannot list RDMA devices: %s; is ib_uverbs loaded?",
			 strerror(errno));
	return list;
}

int rcv_hca_open(struct rcv_hca *hca, const char *name, uint32_t port,
		 const struct rcl_gid_want *want, char *err)
{
	struct ibv_device **list;
	int i, num, ret = -ENODEV;

	list = rcv_hca_list(&num, err);
	if (!list)
		return -ENODEV;
	if (*name)
		rcl_fail(err, ret,
			 "there is no device '%s'; `rclink dev --verbs` lists them",
			 name);
	else
		rcl_fail(err, ret,
			 "there is no RDMA device for userspace; are its driver and ib_uverbs loaded?");
	for (i = 0; i < num && ret; i++) {
		if (*name && strcmp(name, ibv_get_device_name(list[i])))
			continue;
		ret = rcv_hca_attach(hca, list[i], err);
		if (ret)
			continue;
		ret = find_port(hca, port, want, err);
		if (ret)
			rcv_hca_close(hca);
	}
	ibv_free_device_list(list);
	return ret;
}
