// SPDX-License-Identifier: GPL-2.0
/*
 * Regions have an order, and a message lists some that follow each other in it:
 * its reader knows that there are no others in between. So a region is known to
 * have gone when its turn comes, whatever was lost, and not before.
 */
#include "announce.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "group-msg.h"
#include "msg.h"

/**
 * rcl_announce_room - how many regions does a message have room for?
 * @bytes: of the message
 *
 * Return: the number.
 */
u32 rcl_announce_room(u32 bytes)
{
	u32 n = bytes < RCL_ANNOUNCE_HEAD ? 0 :
		(bytes - RCL_ANNOUNCE_HEAD) / RCL_ANNOUNCE_REGION;

	return n < RCL_ANNOUNCE_REGIONS ? n : RCL_ANNOUNCE_REGIONS;
}

/* By name first; several regions may share one, over several links. */
static int rcl_announce_compare(const struct rcl_announce_region *a,
				const struct rcl_announce_region *b)
{
	int ret = memcmp(a->name, b->name, sizeof(a->name));

	if (!ret && a->len != b->len)
		ret = a->len < b->len ? -1 : 1;
	if (!ret && a->rights != b->rights)
		ret = a->rights < b->rights ? -1 : 1;
	return ret;
}

/* Counts the regions before @region, and @region itself if @with is set. */
static u32 rcl_announce_before(const struct rcl_announce_list *list,
			       const struct rcl_announce_region *region,
			       bool with)
{
	u32 low = 0, high = list->n;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (rcl_announce_compare(&list->region[mid], region) < with)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Replaces entries @from to @to - 1 by @n others; the last ones fall off. */
static void rcl_announce_replace(struct rcl_announce_list *list, u32 from,
				 u32 to,
				 const struct rcl_announce_region *region,
				 u32 n)
{
	struct rcl_announce_region *at = list->region;
	u32 behind;

	if (n > RCLINK_GROUP_REGIONS_MAX - from)
		n = RCLINK_GROUP_REGIONS_MAX - from;
	behind = list->n - to;
	if (behind > RCLINK_GROUP_REGIONS_MAX - from - n)
		behind = RCLINK_GROUP_REGIONS_MAX - from - n;
	memmove(at + from + n, at + to, behind * sizeof(*at));
	memcpy(at + from, region, n * sizeof(*at));
	list->n = from + n + behind;
}

/**
 * rcl_announce_add - add a region that this host exports
 * @list: zeroed, or filled by this function
 * @region: has a name that may be announced; nothing happens if the same one is
 *	there already, over another link
 *
 * If there are more than fit, the first ones stay.
 */
void rcl_announce_add(struct rcl_announce_list *list,
		      const struct rcl_announce_region *region)
{
	u32 at = rcl_announce_before(list, region, false);

	if (at < list->n && !rcl_announce_compare(&list->region[at], region))
		return;
	list->total++;
	rcl_announce_replace(list, at, at, region, 1);
}

/**
 * rcl_announce_turn - choose what to announce next
 * @list: what this host exports now
 * @max: how many at once; at least two, so that it advances
 * @announce: the previous announcement, at first zeroed; set to the next one
 *
 * It begins with the region that was last before, or with the one before its
 * place, so that there is no gap; after the end of the list, at its beginning.
 */
void rcl_announce_turn(const struct rcl_announce_list *list, u32 max,
		       struct rcl_announce *announce)
{
	u32 from = 0;

	if (announce->n && !(announce->ends & RCL_ANNOUNCE_LAST))
		from = rcl_announce_before(list,
					   &announce->region[announce->n - 1],
					   true);
	if (from)
		from--;
	announce->total = list->total < RCL_ANNOUNCE_TOTAL ? list->total :
							     RCL_ANNOUNCE_TOTAL;
	announce->n = list->n - from < max ? list->n - from : max;
	memcpy(announce->region, list->region + from,
	       announce->n * sizeof(*announce->region));
	announce->ends = from ? 0 : RCL_ANNOUNCE_FIRST;
	if (from + announce->n == list->n)
		announce->ends |= RCL_ANNOUNCE_LAST;
}

/**
 * rcl_announce_merge - take in what a member announced
 * @list: what it exports as far as is known, at first zeroed
 * @announce: from rcl_announce_decode()
 */
void rcl_announce_merge(struct rcl_announce_list *list,
			const struct rcl_announce *announce)
{
	u32 from = 0, to = list->n;

	if (!(announce->ends & RCL_ANNOUNCE_FIRST))
		from = rcl_announce_before(list, &announce->region[0], false);
	if (!(announce->ends & RCL_ANNOUNCE_LAST))
		to = rcl_announce_before(list,
					 &announce->region[announce->n - 1],
					 true);
	rcl_announce_replace(list, from, to, announce->region, announce->n);
	list->total = announce->total;
}

/**
 * rcl_announce_encode - write a message before it is sealed
 * @buf: has room for it
 * @announce: what to announce
 *
 * Return: the length in bytes.
 */
u32 rcl_announce_encode(u8 *buf, const struct rcl_announce *announce)
{
	u8 *p = buf + RCL_ANNOUNCE_HEAD;
	u32 i;

	rcl_group_msg_begin(buf, RCL_GROUP_MSG_ANNOUNCE, "");
	rcl_msg_put(buf + 4, announce->total, 2);
	buf[6] = announce->n;
	buf[7] = announce->ends;
	for (i = 0; i < announce->n; i++, p += RCL_ANNOUNCE_REGION) {
		rcl_msg_put(p, announce->region[i].len, 8);
		rcl_msg_put(p + 8, announce->region[i].rights, 4);
		memcpy(p + 12, announce->region[i].name, RCLINK_DEV_REGION_LEN);
	}
	return p - buf;
}

/**
 * rcl_announce_is_name - may a region of this name be announced?
 * @name: RCLINK_DEV_REGION_LEN bytes, from anybody
 *
 * Return: true if it is not empty, ends, has only zeros behind its end, and may
 * be shown on a terminal.
 */
bool rcl_announce_is_name(const char *name)
{
	u32 len = strnlen(name, RCLINK_DEV_REGION_LEN);
	u32 i;

	if (!len || len == RCLINK_DEV_REGION_LEN)
		return false;
	for (i = 0; i < RCLINK_DEV_REGION_LEN; i++)
		if (i < len ? name[i] < 0x20 || name[i] >= 0x7f : name[i])
			return false;
	return true;
}

/* With no regions at all, none comes before or behind: both ends are set. */
static bool rcl_announce_is_sane(const struct rcl_announce *announce)
{
	if (announce->n > RCL_ANNOUNCE_REGIONS ||
	    announce->n > announce->total ||
	    announce->ends & ~(RCL_ANNOUNCE_FIRST | RCL_ANNOUNCE_LAST))
		return false;
	return announce->n ||
	       (!announce->total &&
		announce->ends == (RCL_ANNOUNCE_FIRST | RCL_ANNOUNCE_LAST));
}

/**
 * rcl_announce_decode - read a message after its seal was opened
 * @buf: the message
 * @len: its bytes
 * @announce: set
 *
 * Return: 0, or -EBADMSG if anything in it is invalid.
 */
int rcl_announce_decode(const u8 *buf, u32 len, struct rcl_announce *announce)
{
	const u8 *p = buf + RCL_ANNOUNCE_HEAD;
	u32 i;

	if (len < RCL_ANNOUNCE_HEAD ||
	    rcl_group_msg_kind(buf, len) != RCL_GROUP_MSG_ANNOUNCE)
		return -EBADMSG;
	announce->total = rcl_msg_get(buf + 4, 2);
	announce->n = buf[6];
	announce->ends = buf[7];
	if (!rcl_announce_is_sane(announce) ||
	    len != RCL_ANNOUNCE_HEAD + announce->n * RCL_ANNOUNCE_REGION)
		return -EBADMSG;
	for (i = 0; i < announce->n; i++, p += RCL_ANNOUNCE_REGION) {
		struct rcl_announce_region *region = &announce->region[i];

		if (!rcl_announce_is_name((const char *)p + 12))
			return -EBADMSG;
		region->len = rcl_msg_get(p, 8);
		region->rights = rcl_msg_get(p + 8, 4);
		memcpy(region->name, p + 12, RCLINK_DEV_REGION_LEN);
		if (i && rcl_announce_compare(region - 1, region) >= 0)
			return -EBADMSG;
	}
	return 0;
}
