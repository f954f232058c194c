// SPDX-License-Identifier: GPL-2.0
/* The family, and what its answers have in common. */
#include "nl-base.h"

#include <linux/module.h>
#include <net/genetlink.h>

#include "nl-gen.h"
#include "nl-parse.h"

static const struct genl_multicast_group rcl_nl_groups[] = {
	[RCLINK_NLGRP_EVENTS] = { .name = RCLINK_MCGRP_EVENTS },
};

struct genl_family rcl_nl_family __ro_after_init = {
	.name = RCLINK_FAMILY_NAME,
	.version = RCLINK_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = rclink_nl_ops,
	.n_ops = ARRAY_SIZE(rclink_nl_ops),
	.resv_start_op = 1,
	.mcgrps = rcl_nl_groups,
	.n_mcgrps = ARRAY_SIZE(rcl_nl_groups),
};

/**
 * rcl_nl_no_memory - say that there was no memory for a request
 * @extack: of the request; NULL if nobody wants to know
 *
 * Return: -ENOMEM.
 */
int rcl_nl_no_memory(struct netlink_ext_ack *extack)
{
	rcl_nl_why(extack, "out of memory");
	return -ENOMEM;
}

/**
 * rcl_nl_result - say why a request failed
 * @info: request
 * @ret: 0 or a negative errno
 * @missing: the sentence for -ENOENT, where @why has none
 * @why: the sentence, or NULL
 *
 * Return: @ret.
 */
int rcl_nl_result(struct genl_info *info, int ret, const char *missing,
		  const char *why)
{
	if (ret == -ENOENT && !why)
		why = missing;
	if (ret == -ENOMEM && !why)
		return rcl_nl_no_memory(info->extack);
	if (ret)
		rcl_nl_why(info->extack, why);
	return ret;
}

/**
 * rcl_nl_reply - begin a reply
 * @info: request
 * @cmd: RCLINK_CMD_*
 * @hdr: set, for rcl_nl_reply_end()
 *
 * Context: may sleep.
 * Return: the message, or NULL when there is no memory.
 */
struct sk_buff *rcl_nl_reply(struct genl_info *info, u8 cmd, void **hdr)
{
	struct sk_buff *skb;

	skb = genlmsg_new(RCL_NL_BIG, GFP_KERNEL);
	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, &rcl_nl_family, 0, cmd);
	if (*hdr)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/**
 * rcl_nl_reply_end - send a reply, or drop it
 * @info: request
 * @skb: message of rcl_nl_reply()
 * @hdr: as set by rcl_nl_reply()
 * @ret: result of putting the attributes
 *
 * Return: 0, @ret, or an errno from netlink.
 */
int rcl_nl_reply_end(struct genl_info *info, struct sk_buff *skb, void *hdr,
		     int ret)
{
	if (ret) {
		nlmsg_free(skb);
		return ret;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/**
 * rcl_nl_seq - the number by which the parts of a dump are compared
 * @generation: of what is dumped: differs after each change
 *
 * Return: likewise, but never 0, which to the core means a dump's first part.
 */
unsigned int rcl_nl_seq(unsigned int generation)
{
	return generation * 2 + 1;
}

/**
 * rcl_nl_dump_put - begin one object of a dump
 * @skb: message
 * @cb: of the dump; its @seq is set
 * @cmd: RCLINK_CMD_*
 *
 * Return: the header for rcl_nl_dump_end(), or NULL when there is no room.
 */
void *rcl_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &rcl_nl_family, NLM_F_MULTI, cmd);
	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/**
 * rcl_nl_dump_end - end one object of a dump, or take it back
 * @skb: message
 * @hdr: from rcl_nl_dump_put()
 * @ret: result of putting the attributes
 *
 * Return: 0, or -EMSGSIZE; then the message is as it was before.
 */
int rcl_nl_dump_end(struct sk_buff *skb, void *hdr, int ret)
{
	if (ret) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}
