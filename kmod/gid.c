// SPDX-License-Identifier: GPL-2.0
#include "gid.h"

#include <linux/errno.h>
#include <linux/string.h>

/**
 * rcl_gid_is_zero - is it the unspecified GID?
 * @gid: 16 bytes
 *
 * Return: true if so.
 */
bool rcl_gid_is_zero(const u8 *gid)
{
	static const u8 zero[RCLINK_GID_LEN];

	return !memcmp(gid, zero, sizeof(zero));
}

/**
 * rcl_gid_is_v4 - does it stand for an IPv4 address?
 * @gid: 16 bytes
 *
 * Return: true for ::ffff:a.b.c.d.
 */
bool rcl_gid_is_v4(const u8 *gid)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

/**
 * rcl_gid_is_unicast - can it address a single port?
 * @gid: 16 bytes
 *
 * Return: false for unspecified, multicast, broadcast and loopback addresses.
 */
bool rcl_gid_is_unicast(const u8 *gid)
{
	static const u8 loopback[RCLINK_GID_LEN] = { [15] = 1 };

	if (rcl_gid_is_zero(gid) || gid[0] == 0xff ||
	    !memcmp(gid, loopback, sizeof(loopback)))
		return false;
	/* 0/8, 127/8, 224/4, and 240/4 including the broadcast address */
	if (rcl_gid_is_v4(gid))
		return gid[12] && gid[12] != 127 && gid[12] < 224;
	return true;
}

/**
 * rcl_gid_is_multicast - is it a multicast address?
 * @gid: 16 bytes
 *
 * Return: true for IPv6 and IPv4 multicast addresses.
 */
bool rcl_gid_is_multicast(const u8 *gid)
{
	if (rcl_gid_is_v4(gid))
		return (gid[12] & 0xf0) == 224;
	return gid[0] == 0xff;
}

static bool rcl_gid_is_link_local(const u8 *gid)
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* As good as any other. */
const struct rcl_gid_want rcl_gid_any = { RCLINK_GID_INDEX_AUTO, "" };

/* By rank; 0 if none is usable. */
static const char *const rcl_gid_why[] = {
	"no RoCE v2 GID on a net device that is up",
	"RoCE v2, link-local: the net device has no address",
	"RoCE v2, routable IPv6 address, net device up",
	"RoCE v2, IPv4 address, net device up",
};

/**
 * rcl_gid_rank - how good is a RoCE GID that is usable?
 * @gid: 16 bytes
 *
 * Return: at least 1; larger is better.
 */
unsigned int rcl_gid_rank(const u8 *gid)
{
	if (rcl_gid_is_v4(gid))
		return 3;
	return rcl_gid_is_link_local(gid) ? 1 : 2;
}

/**
 * rcl_gid_is_usable - may a link use it without being told to?
 * @gid: GID of a port
 * @roce: the port is RoCE, not InfiniBand
 *
 * Return: true if rcl_gid_choose() could choose it.
 */
bool rcl_gid_is_usable(const struct rcl_gid *gid, bool roce)
{
	if (!roce)
		return !gid->index;
	return gid->type == RCLINK_GID_TYPE_ROCE_V2 && gid->netdev_up &&
	       rcl_gid_is_unicast(gid->value);
}

static bool rcl_gid_is_on(const struct rcl_gid *gid,
			  const struct rcl_gid_want *want)
{
	return !want->netdev[0] || !strcmp(gid->netdev, want->netdev);
}

static int rcl_gid_choose_given(const struct rcl_gid *gids, u32 n,
				const struct rcl_gid_want *want,
				const char **why)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (gids[i].index != want->index)
			continue;
		*why = "set by the operator";
		if (rcl_gid_is_on(&gids[i], want))
			return i;
		*why = "netdev: another one's GID is at gid-index";
		return -ENODATA;
	}
	*why = "the GID table has no entry at that gid-index: see `rclink dev`";
	return -ENODATA;
}

static int rcl_gid_choose_roce(const struct rcl_gid *gids, u32 n,
			       const struct rcl_gid_want *want,
			       const char **why)
{
	unsigned int rank, best_rank = 0;
	int best = -ENODATA;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!rcl_gid_is_usable(&gids[i], true) ||
		    !rcl_gid_is_on(&gids[i], want))
			continue;
		rank = rcl_gid_rank(gids[i].value);
		if (rank > best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	*why = best < 0 && want->netdev[0] ?
	       "netdev: it has no RoCE v2 GID of this port, or is down" :
	       rcl_gid_why[best_rank];
	return best;
}

/**
 * rcl_gid_choose - choose the GID of a port
 * @gids: the port's valid GIDs, ordered by index
 * @n: how many
 * @want: what the operator has set
 * @roce: the port is RoCE, not InfiniBand
 * @why: set to the reason for the choice, or for not having one
 *
 * RoCE: RoCE v2 on a net device that is up, IPv4 before routable IPv6 before
 * link-local, then the lowest index, so that two hosts with the same kinds of
 * addresses choose the same kind. InfiniBand: index 0.
 *
 * Return: position in @gids, or -ENODATA.
 */
int rcl_gid_choose(const struct rcl_gid *gids, u32 n,
		   const struct rcl_gid_want *want, bool roce,
		   const char **why)
{
	if (want->netdev[0] && !roce) {
		*why = "netdev: an InfiniBand port has none: set it to auto";
		return -ENODATA;
	}
	if (want->index != RCLINK_GID_INDEX_AUTO)
		return rcl_gid_choose_given(gids, n, want, why);
	if (roce)
		return rcl_gid_choose_roce(gids, n, want, why);
	if (n && gids[0].index == 0) {
		*why = "InfiniBand, index 0";
		return 0;
	}
	*why = "no GID at index 0: does a subnet manager run?";
	return -ENODATA;
}
