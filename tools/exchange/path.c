// SPDX-License-Identifier: GPL-2.0
#include "path.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "../../kmod/gid.h"
#include "bytes.h"
#include "fail.h"

#define FIXED_LEN	27	/* of an entry, without the name */
#define VLAN_MAX	4094
#define V6_NETWORK_BITS	64	/* the rest is the interface */
#define MTU_MIN		256
#define MTU_MAX		4096
#define NAME_SHOWN	20	/* of a device name: a peer's may be long */

enum rcx_gid_kind rcx_gid_kind(const struct rcl_path *path)
{
	if (path->link_layer == RCLINK_LINK_LAYER_INFINIBAND)
		return RCX_GID_INFINIBAND;
	if (rcl_gid_is_v4(path->gid))
		return RCX_GID_IPV4;
	if (path->gid[0] == 0xfe && (path->gid[1] & 0xc0) == 0x80)
		return RCX_GID_LINK_LOCAL;

	return RCX_GID_IPV6;
}

/* The name is printed at the other end, and written to logs there. */
static bool is_device_name(const char *name)
{
	size_t len = strnlen(name, RCLINK_DEVICE_MAX + 1);
	size_t i;

	if (!len || len > RCLINK_DEVICE_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || !isgraph((unsigned char)name[i]))
			return false;

	return true;
}

static int check_path(const struct rcl_path *path, char *err)
{
	bool ib = path->link_layer == RCLINK_LINK_LAYER_INFINIBAND;
	bool ib_gid = path->gid_type == RCLINK_GID_TYPE_IB;

	if (!ib && path->link_layer != RCLINK_LINK_LAYER_ROCE)
		return rcl_fail(err, -EINVAL,
				"link layer %u is neither InfiniBand nor RoCE",
				path->link_layer);
	if (path->gid_type < RCLINK_GID_TYPE_IB ||
	    path->gid_type > RCLINK_GID_TYPE_ROCE_V2 ||
	    ib != ib_gid)
		return rcl_fail(err, -EINVAL,
				"GID type %u is none of this link layer",
				path->gid_type);
	if (!rcl_gid_is_unicast(path->gid))
		return rcl_fail(err, -EINVAL,
				"its GID is no unicast address");
	if (path->mtu < MTU_MIN || path->mtu > MTU_MAX ||
	    path->mtu & (path->mtu - 1))
		return rcl_fail(err, -EINVAL,
				"mtu %u is not 256, 512, 1024, 2048 or 4096",
				path->mtu);
	if (path->vlan > VLAN_MAX || (ib && path->vlan))
		return rcl_fail(err, -EINVAL, "VLAN %u cannot be", path->vlan);
	if (!path->port)
		return rcl_fail(err, -EINVAL, "ports are counted from 1");
	if (!is_device_name(path->device))
		return rcl_fail(err, -EINVAL,
				"a device name has 1 to %d printable characters",
				RCLINK_DEVICE_MAX);

	return 0;
}

bool rcx_path_is_good(const struct rcl_path *path)
{
	char ignored[RCL_ERR_LEN];

	return !check_path(path, ignored);
}

bool rcx_path_same(const struct rcl_path *a, const struct rcl_path *b)
{
	return a->link_layer == b->link_layer && a->gid_type == b->gid_type &&
	       a->vlan == b->vlan && a->port == b->port &&
	       !memcmp(a->gid, b->gid, sizeof(a->gid)) &&
	       !strcmp(a->device, b->device);
}

int rcx_paths_check(const struct rcx_paths *paths, char *err)
{
	char why[RCL_ERR_LEN];
	uint32_t i, j;

	if (!paths->num || paths->num > RCX_PATHS_MAX)
		return rcl_fail(err, -EINVAL, "%u paths, not 1 to %d",
				paths->num, RCX_PATHS_MAX);
	for (i = 0; i < paths->num; i++) {
		if (check_path(&paths->path[i], why))
			return rcl_fail(err, -EINVAL, "path %u: %s", i + 1,
					why);
		for (j = 0; j < i; j++)
			if (rcx_path_same(&paths->path[i],
					  &paths->path[j]))
				return rcl_fail(err, -EINVAL,
						"path %u is there twice",
						i + 1);
	}

	return 0;
}

size_t rcx_paths_encode(const struct rcx_paths *paths, uint8_t *p)
{
	const uint8_t *start = p;
	uint32_t i;

	for (i = 0; i < paths->num; i++) {
		const struct rcl_path *path = &paths->path[i];
		size_t len = strlen(path->device);

		rcx_put_be(p, 1, path->link_layer);
		rcx_put_be(p + 1, 1, path->gid_type);
		rcx_put_be(p + 2, 2, path->vlan);
		rcx_put_be(p + 4, 2, path->mtu);
		rcx_put_be(p + 6, 4, path->port);
		memcpy(p + 10, path->gid, RCLINK_GID_LEN);
		rcx_put_be(p + 26, 1, len);
		memcpy(p + FIXED_LEN, path->device, len);
		p += FIXED_LEN + len;
	}

	return p - start;
}

static void decode_path(struct rcl_path *path, const uint8_t *p, size_t name)
{
	path->link_layer = rcx_get_be(p, 1);
	path->gid_type = rcx_get_be(p + 1, 1);
	path->vlan = rcx_get_be(p + 2, 2);
	path->mtu = rcx_get_be(p + 4, 2);
	path->port = rcx_get_be(p + 6, 4);
	memcpy(path->gid, p + 10, RCLINK_GID_LEN);
	memcpy(path->device, p + FIXED_LEN, name);
	path->device[name] = '\0';
}

int rcx_paths_decode(struct rcx_paths *paths, const uint8_t *p, size_t len,
		     char *err)
{
	size_t name;

	for (paths->num = 0; len; paths->num++) {
		if (paths->num == RCX_PATHS_MAX)
			return rcl_fail(err, -EPROTO, "more than %d paths",
					RCX_PATHS_MAX);
		name = len < FIXED_LEN ? 0 : p[FIXED_LEN - 1];
		if (len < FIXED_LEN + name || name > RCLINK_DEVICE_MAX)
			return rcl_fail(err, -EPROTO,
					"path %u does not end where it should",
					paths->num + 1);
		/* A NUL would turn one name into two. */
		if (memchr(p + FIXED_LEN, '\0', name))
			return rcl_fail(err, -EPROTO,
					"path %u has a NUL in its device name",
					paths->num + 1);
		decode_path(&paths->path[paths->num], p, name);
		p += FIXED_LEN + name;
		len -= FIXED_LEN + name;
	}

	return 0;
}

/* A pair, and what makes it better than another, most important first. */
struct choice {
	unsigned int kind;
	unsigned int prefix;
	bool vlan;
	uint32_t mtu;
	struct rcx_pair pair;
};

static unsigned int common_bits(const uint8_t *a, const uint8_t *b)
{
	unsigned int bits = 0;

	while (bits < 8 * RCLINK_GID_LEN &&
	       !((a[bits / 8] ^ b[bits / 8]) & 0x80 >> bits % 8))
		bits++;

	return bits;
}

static struct choice judge(const struct rcl_path *a, const struct rcl_path *b)
{
	unsigned int bits = common_bits(a->gid, b->gid);

	if (rcx_gid_kind(a) != RCX_GID_IPV4 && bits > V6_NETWORK_BITS)
		bits = V6_NETWORK_BITS;

	return (struct choice){
		.kind = rcx_gid_kind(a),
		.prefix = bits,
		.vlan = a->vlan == b->vlan,
		.mtu = a->mtu < b->mtu ? a->mtu : b->mtu,
	};
}

static bool goes_together(const struct rcl_path *a, const struct rcl_path *b)
{
	return a->link_layer == b->link_layer && a->gid_type == b->gid_type &&
	       rcx_gid_kind(a) == rcx_gid_kind(b);
}

static bool is_better(const struct choice *a, const struct choice *b)
{
	unsigned int places_a = a->pair.initiator + a->pair.responder;
	unsigned int places_b = b->pair.initiator + b->pair.responder;

	if (a->kind != b->kind)
		return a->kind > b->kind;
	if (a->prefix != b->prefix)
		return a->prefix > b->prefix;
	if (a->vlan != b->vlan)
		return a->vlan;
	if (a->mtu != b->mtu)
		return a->mtu > b->mtu;
	/* Both ends list first what they like best. */
	if (places_a != places_b)
		return places_a < places_b;

	return a->pair.initiator < b->pair.initiator;
}

/* Keep the best, in order. Returns how many there are now. */
static unsigned int insert(struct choice *best, unsigned int num,
			   const struct choice *choice)
{
	unsigned int at;

	for (at = num; at && is_better(choice, &best[at - 1]); at--)
		if (at < RCX_TRIES_MAX)
			best[at] = best[at - 1];
	if (at < RCX_TRIES_MAX)
		best[at] = *choice;

	return num < RCX_TRIES_MAX ? num + 1 : num;
}

unsigned int rcx_paths_order(const struct rcx_paths *initiator,
			     const struct rcx_paths *responder,
			     struct rcx_pair pairs[RCX_TRIES_MAX])
{
	struct choice best[RCX_TRIES_MAX], choice;
	unsigned int num = 0;
	uint32_t i, j;

	for (i = 0; i < initiator->num; i++)
		for (j = 0; j < responder->num; j++) {
			if (!goes_together(&initiator->path[i],
					   &responder->path[j]))
				continue;
			choice = judge(&initiator->path[i],
				       &responder->path[j]);
			choice.pair.initiator = i;
			choice.pair.responder = j;
			num = insert(best, num, &choice);
		}
	for (i = 0; i < num; i++)
		pairs[i] = best[i].pair;

	return num;
}

const char *rcx_gid_text(const uint8_t gid[RCLINK_GID_LEN],
			 char buf[RCX_GID_LEN])
{
	if (rcl_gid_is_v4(gid))
		return inet_ntop(AF_INET, gid + 12, buf, RCX_GID_LEN);

	return inet_ntop(AF_INET6, gid, buf, RCX_GID_LEN);
}

const char *rcx_path_text(const struct rcl_path *path, char buf[RCX_PATH_LEN])
{
	char gid[RCX_GID_LEN];

	snprintf(buf, RCX_PATH_LEN, "%s (%.*s port %u)",
		 rcx_gid_text(path->gid, gid), NAME_SHOWN, path->device,
		 path->port);

	return buf;
}
