// SPDX-License-Identifier: GPL-2.0
/*
 * Regions have an order, and a message tells of some that follow each other in
 * it: who hears it knows that there are no others in between. So one that has
 * gone is known to have when its turn comes, whatever was lost, and not before.
 */
#include "here.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "msg.h"
#include "text.h"

/**
 * rcl_here_room - how many regions does a message have room for?
 * @bytes: of the message
 *
 * Return: the number.
 */
u32 rcl_here_room(u32 bytes)
{
	u32 n = bytes < RCL_HERE_HEAD ? 0 :
		(bytes - RCL_HERE_HEAD) / RCL_HERE_REGION;

	return n < RCL_HERE_REGIONS ? n : RCL_HERE_REGIONS;
}

/* By name; of one name there may be several, over several links. */
static int rcl_here_compare(const struct rcl_here_region *a,
			    const struct rcl_here_region *b)
{
	int ret = memcmp(a->name, b->name, sizeof(a->name));

	if (!ret && a->len != b->len)
		ret = a->len < b->len ? -1 : 1;
	if (!ret && a->rights != b->rights)
		ret = a->rights < b->rights ? -1 : 1;
	return ret;
}

/* How many come before it, and itself where @with is set? */
static u32 rcl_here_before(const struct rcl_here_list *list,
			   const struct rcl_here_region *region, bool with)
{
	u32 low = 0, high = list->n;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (rcl_here_compare(&list->region[mid], region) < with)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Those at @from to @to make room for others; the last ones fall off. */
static void rcl_here_replace(struct rcl_here_list *list, u32 from, u32 to,
			     const struct rcl_here_region *region, u32 n)
{
	struct rcl_here_region *at = list->region;
	u32 behind;

	n = n < RCL_HERE_MAX - from ? n : RCL_HERE_MAX - from;
	behind = list->n - to;
	if (behind > RCL_HERE_MAX - from - n)
		behind = RCL_HERE_MAX - from - n;
	memmove(at + from + n, at + to, behind * sizeof(*at));
	memcpy(at + from, region, n * sizeof(*at));
	list->n = from + n + behind;
}

/**
 * rcl_here_add - one more that this host exports
 * @list: zeroed, or of this function
 * @region: with a name that may be told of; nothing happens when the same is
 *	there, over another link
 *
 * Of more than there is room for, the first ones stay.
 */
void rcl_here_add(struct rcl_here_list *list,
		  const struct rcl_here_region *region)
{
	u32 at = rcl_here_before(list, region, false);

	if (at < list->n && !rcl_here_compare(&list->region[at], region))
		return;
	list->total++;
	rcl_here_replace(list, at, at, region, 1);
}

/**
 * rcl_here_turn - say what comes next
 * @list: what this host exports now
 * @max: so many at once, at least two, so that it goes on
 * @here: what it said before, at first zeroed; set
 *
 * It begins with the one that was last, or would come before that, so that
 * there is no gap, and behind the end of the list at its begin.
 */
void rcl_here_turn(const struct rcl_here_list *list, u32 max,
		   struct rcl_here *here)
{
	u32 from = 0;

	if (here->n && !(here->ends & RCL_HERE_LAST))
		from = rcl_here_before(list, &here->region[here->n - 1], true);
	if (from)
		from--;
	here->total = list->total < RCL_HERE_TOTAL ? list->total :
						   RCL_HERE_TOTAL;
	here->n = list->n - from < max ? list->n - from : max;
	memcpy(here->region, list->region + from,
	       here->n * sizeof(*here->region));
	here->ends = from ? 0 : RCL_HERE_FIRST;
	if (from + here->n == list->n)
		here->ends |= RCL_HERE_LAST;
}

/**
 * rcl_here_merge - a member said something
 * @list: what it exports as far as is known, at first zeroed
 * @here: of rcl_here_decode()
 */
void rcl_here_merge(struct rcl_here_list *list, const struct rcl_here *here)
{
	u32 from = 0, to = list->n;

	if (!(here->ends & RCL_HERE_FIRST))
		from = rcl_here_before(list, &here->region[0], false);
	if (!(here->ends & RCL_HERE_LAST))
		to = rcl_here_before(list, &here->region[here->n - 1], true);
	rcl_here_replace(list, from, to, here->region, here->n);
	list->total = here->total;
}

/**
 * rcl_here_encode - write a message before it is sealed
 * @buf: has room for it
 * @here: what is said
 *
 * Return: the length in bytes.
 */
u32 rcl_here_encode(u8 *buf, const struct rcl_here *here)
{
	u8 *p = buf + RCL_HERE_HEAD;
	u32 i;

	rcl_text_begin(buf, RCL_TEXT_HERE, "");
	rcl_msg_put(buf + 4, here->total, 2);
	buf[6] = here->n;
	buf[7] = here->ends;
	for (i = 0; i < here->n; i++, p += RCL_HERE_REGION) {
		rcl_msg_put(p, here->region[i].len, 8);
		rcl_msg_put(p + 8, here->region[i].rights, 4);
		memcpy(p + 12, here->region[i].name, RCLINK_DEV_REGION_LEN);
	}
	return p - buf;
}

/**
 * rcl_here_is_name - may a region of this name be told of?
 * @name: RCLINK_DEV_REGION_LEN bytes, of whoever
 *
 * Return: true if it ends, has nothing behind its end, and may be shown on a
 * terminal.
 */
bool rcl_here_is_name(const char *name)
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

/* Where there are none at all, nothing comes before or behind them. */
static bool rcl_here_is_sane(const struct rcl_here *here)
{
	if (here->n > RCL_HERE_REGIONS || here->n > here->total ||
	    here->ends & ~(RCL_HERE_FIRST | RCL_HERE_LAST))
		return false;
	return here->n || (!here->total &&
			   here->ends == (RCL_HERE_FIRST | RCL_HERE_LAST));
}

/**
 * rcl_here_decode - read a message after its seal was opened
 * @buf: the message
 * @len: its bytes
 * @here: set
 *
 * Return: 0, or -EBADMSG when anything in it is not as it must be.
 */
int rcl_here_decode(const u8 *buf, u32 len, struct rcl_here *here)
{
	const u8 *p = buf + RCL_HERE_HEAD;
	u32 i;

	if (len < RCL_HERE_HEAD || rcl_text_kind(buf, len) != RCL_TEXT_HERE)
		return -EBADMSG;
	here->total = rcl_msg_get(buf + 4, 2);
	here->n = buf[6];
	here->ends = buf[7];
	if (!rcl_here_is_sane(here) ||
	    len != RCL_HERE_HEAD + here->n * RCL_HERE_REGION)
		return -EBADMSG;
	for (i = 0; i < here->n; i++, p += RCL_HERE_REGION) {
		struct rcl_here_region *region = &here->region[i];

		if (!rcl_here_is_name((const char *)p + 12))
			return -EBADMSG;
		region->len = rcl_msg_get(p, 8);
		region->rights = rcl_msg_get(p + 8, 4);
		memcpy(region->name, p + 12, RCLINK_DEV_REGION_LEN);
		if (i && rcl_here_compare(region - 1, region) >= 0)
			return -EBADMSG;
	}
	return 0;
}
