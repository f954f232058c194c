// SPDX-License-Identifier: GPL-2.0
/*
 * By now the generated policies have checked the type and length of each
 * attribute. What is left is what a policy cannot express: attributes that are
 * missing or given twice. The core checks values, with a sentence for each.
 */
#include "nl-parse.h"

#include <net/genetlink.h>

#include "endpoint.h"
#include "nl-gen.h"
#include "policy.h"

/**
 * rcl_nl_why - give a refusal its sentence
 * @extack: of the request
 * @why: constant string, or NULL to keep what is there
 */
void rcl_nl_why(struct netlink_ext_ack *extack, const char *why)
{
	if (extack && why)
		extack->_msg = why;
}

static int rcl_nl_once_in(const struct nlattr *head, int len, u64 lists,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	u64 seen = 0;
	int rem;

	nla_for_each_attr(nla, head, len, rem) {
		int type = nla_type(nla);

		if (seen & ~lists & BIT_ULL(type)) {
			NL_SET_ERR_MSG_ATTR(extack, nla,
					    "attribute is there twice");
			return -EINVAL;
		}
		seen |= BIT_ULL(type);
	}
	return 0;
}

/**
 * rcl_nl_once - refuse a request that has an attribute twice
 * @info: of the request, whose types have been checked
 * @lists: bits of the attributes that may be repeated
 *
 * Return: 0 or -EINVAL.
 */
int rcl_nl_once(struct genl_info *info, u64 lists)
{
	BUILD_BUG_ON(RCLINK_A_LINK_MAX >= 64);
	return rcl_nl_once_in(genlmsg_data(info->genlhdr),
			      genlmsg_len(info->genlhdr), lists,
			      info->extack);
}

/**
 * rcl_nl_require - refuse a request that lacks an attribute
 * @info: of the request
 * @attr: attribute that must be there
 * @text: sentence for its absence
 *
 * Return: 0 or -EINVAL.
 */
int rcl_nl_require(struct genl_info *info, int attr, const char *text)
{
	if (!GENL_REQ_ATTR_CHECK(info, attr))
		return 0;
	rcl_nl_why(info->extack, text);
	return -EINVAL;
}

/**
 * rcl_nl_name - find the name
 * @info: of the request
 * @attr: of the name
 * @name: set on success
 *
 * Return: 0 or -EINVAL.
 */
int rcl_nl_name(struct genl_info *info, int attr, const char **name)
{
	int ret;

	ret = rcl_nl_need(info, attr, "name");
	if (!ret)
		*name = nla_data(info->attrs[attr]);
	return ret;
}

/**
 * rcl_nl_begin - refuse what the policies cannot see, and find the name
 * @info: of the request
 * @attr: of the name
 * @name: set on success
 *
 * Return: 0 or -EINVAL.
 */
int rcl_nl_begin(struct genl_info *info, int attr, const char **name)
{
	int ret;

	ret = rcl_nl_once(info, 0);
	return ret ? : rcl_nl_name(info, attr, name);
}

static void rcl_nl_parse_fields(struct genl_info *info, int num,
				struct rcl_policy_change *change)
{
	struct nlattr *nla;
	int i;

	memset(change, 0, sizeof(*change));
	for (i = 0; i < num; i++) {
		nla = info->attrs[RCLINK_A_LINK_PORT + i];
		if (!nla)
			continue;
		change->mask |= BIT(i);
		change->to.v[i] = nla_get_u32(nla);
	}
	nla = info->attrs[RCLINK_A_LINK_DEVICE];
	if (nla) {
		change->device = true;
		nla_strscpy(change->to.device, nla, sizeof(change->to.device));
	}
}

/**
 * rcl_nl_parse_policy - parse the policy fields of a request
 * @info: of the request
 * @change: filled in
 */
void rcl_nl_parse_policy(struct genl_info *info,
			 struct rcl_policy_change *change)
{
	const struct nlattr *nla;

	BUILD_BUG_ON(RCLINK_A_LINK_PORT + RCL_P_MAX - 1 !=
		     RCLINK_A_LINK_RECOVER);
	rcl_nl_parse_fields(info, RCL_P_MAX, change);
	nla = info->attrs[RCLINK_A_LINK_NETDEV];
	if (nla) {
		change->netdev = true;
		nla_strscpy(change->to.netdev, nla, sizeof(change->to.netdev));
	}
}

/**
 * rcl_nl_parse_path - parse device, port and GID index of a request
 * @info: of a request that takes no other policy field
 * @path: filled in
 */
void rcl_nl_parse_path(struct genl_info *info, struct rcl_policy_change *path)
{
	BUILD_BUG_ON(RCLINK_A_LINK_PORT + RCL_P_GID_INDEX !=
		     RCLINK_A_LINK_GID_INDEX);
	rcl_nl_parse_fields(info, RCL_P_GID_INDEX + 1, path);
}

static int rcl_nl_parse_qp(const struct nlattr *nest, struct rcl_endpoint *end,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RCLINK_A_QP_PSN + 1];
	struct rcl_qp_id *qp;
	int ret;

	if (end->nqps == RCL_QPS_ALL) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "qp: more than 65 of them");
		return -EINVAL;
	}
	ret = rcl_nl_once_in(nla_data(nest), nla_len(nest), 0, extack);
	if (ret)
		return ret;
	ret = nla_parse_nested(tb, RCLINK_A_QP_PSN, nest, rclink_qp_nl_policy,
			       extack);
	if (ret)
		return ret;
	if (!tb[RCLINK_A_QP_QPN] || !tb[RCLINK_A_QP_PSN]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "qp: qpn or psn is missing");
		return -EINVAL;
	}
	qp = &end->qp[end->nqps++];
	qp->qpn = nla_get_u32(tb[RCLINK_A_QP_QPN]);
	qp->psn = nla_get_u32(tb[RCLINK_A_QP_PSN]);
	return 0;
}

static int rcl_nl_parse_qps(const struct nlattr *nest, struct rcl_endpoint *end,
			    struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	int rem;
	int ret;

	nla_for_each_nested(nla, nest, rem) {
		if (nla_type(nla) != RCLINK_A_ENDPOINT_QP)
			continue;
		ret = rcl_nl_parse_qp(nla, end, extack);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rcl_nl_parse_end - parse the remote end of a request
 * @info: of the request, with RCLINK_A_LINK_REMOTE
 * @end: zeroed, filled in
 *
 * Return: 0 or -EINVAL.
 */
int rcl_nl_parse_end(struct genl_info *info, struct rcl_endpoint *end)
{
	struct nlattr *nest = info->attrs[RCLINK_A_LINK_REMOTE];
	struct nlattr *tb[RCLINK_A_ENDPOINT_MAX + 1];
	struct netlink_ext_ack *extack = info->extack;
	int ret;
	int i;

	ret = rcl_nl_once_in(nla_data(nest), nla_len(nest),
			     BIT_ULL(RCLINK_A_ENDPOINT_QP), extack);
	if (ret)
		return ret;
	ret = nla_parse_nested(tb, RCLINK_A_ENDPOINT_MAX, nest,
			       rclink_endpoint_nl_policy, extack);
	if (ret)
		return ret;
	for (i = RCLINK_A_ENDPOINT_LINK_LAYER; i <= RCLINK_A_ENDPOINT_QP; i++) {
		if (tb[i])
			continue;
		NL_SET_ERR_ATTR_MISS(extack, nest, i);
		NL_SET_ERR_MSG(extack, "remote: an attribute is missing");
		return -EINVAL;
	}
	end->link_layer = nla_get_u32(tb[RCLINK_A_ENDPOINT_LINK_LAYER]);
	memcpy(end->gid, nla_data(tb[RCLINK_A_ENDPOINT_GID]), sizeof(end->gid));
	end->lid = nla_get_u32(tb[RCLINK_A_ENDPOINT_LID]);
	end->mtu = nla_get_u32(tb[RCLINK_A_ENDPOINT_MTU]);
	end->rd_atomic = nla_get_u32(tb[RCLINK_A_ENDPOINT_RD_ATOMIC]);
	end->atomics = nla_get_u32(tb[RCLINK_A_ENDPOINT_ATOMICS]);
	end->epoch = nla_get_u64(tb[RCLINK_A_ENDPOINT_EPOCH]);
	end->addr = nla_get_u64(tb[RCLINK_A_ENDPOINT_ADDR]);
	end->rkey = nla_get_u32(tb[RCLINK_A_ENDPOINT_RKEY]);
	end->length = nla_get_u32(tb[RCLINK_A_ENDPOINT_LENGTH]);
	if (tb[RCLINK_A_ENDPOINT_PKEY])
		end->pkey = nla_get_u32(tb[RCLINK_A_ENDPOINT_PKEY]);
	if (tb[RCLINK_A_ENDPOINT_MASKED_ATOMICS])
		end->masked_atomics =
			nla_get_u32(tb[RCLINK_A_ENDPOINT_MASKED_ATOMICS]);
	return rcl_nl_parse_qps(nest, end, extack);
}
