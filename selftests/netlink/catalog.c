// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel says of the family, by CTRL_CMD_GETFAMILY and
 * CTRL_CMD_GETPOLICY (net/netlink/genetlink.c, net/netlink/policy.c).
 */
#include "catalog.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "genl.h"

/* The first attribute in another one, or the one behind @last, or NULL. */
static const struct nlattr *next_in(const struct nlattr *in,
				    const struct nlattr *last)
{
	const char *end = (const char *)in + in->nla_len;
	const char *next = last ?
		(const char *)last + NLA_ALIGN(last->nla_len) :
		(const char *)in + NLA_HDRLEN;

	return next < end ? (const void *)next : NULL;
}

static uint16_t type_of(const struct nlattr *nla)
{
	return nla->nla_type & NLA_TYPE_MASK;
}

static void add_commands(struct catalog *c, const struct genl_msg *m)
{
	const struct nlattr *ops = genl_attr(m, CTRL_ATTR_OPS), *op = NULL;

	while (ops && (op = next_in(ops, op))) {
		if (c->ncmds == CATALOG_CMDS)
			abort();
		c->cmds[c->ncmds].cmd =
			genl_u32(genl_next(op, CTRL_ATTR_OP_ID, NULL));
		c->cmds[c->ncmds].flags =
			genl_u32(genl_next(op, CTRL_ATTR_OP_FLAGS, NULL));
		c->cmds[c->ncmds++].policy = CATALOG_NONE;
	}
}

static void set_policy(struct catalog *c, const struct nlattr *op)
{
	const struct nlattr *policy = genl_next(op, CTRL_ATTR_POLICY_DO, NULL);
	unsigned int i;

	for (i = 0; policy && i < c->ncmds; i++)
		if (c->cmds[i].cmd == type_of(op))
			c->cmds[i].policy = genl_u32(policy);
}

static void add_attr(struct catalog *c, uint32_t policy,
		     const struct nlattr *attr)
{
	const struct nlattr *nested =
		genl_next(attr, NL_POLICY_TYPE_ATTR_POLICY_IDX, NULL);

	if (c->nattrs == CATALOG_ATTRS)
		abort();
	c->attrs[c->nattrs].policy = policy;
	c->attrs[c->nattrs].type = type_of(attr);
	c->attrs[c->nattrs++].nested =
		nested ? genl_u32(nested) : CATALOG_NONE;
}

static void add_policy(const struct genl_msg *m, void *arg)
{
	const struct nlattr *ops = genl_attr(m, CTRL_ATTR_OP_POLICY);
	const struct nlattr *policies = genl_attr(m, CTRL_ATTR_POLICY);
	const struct nlattr *op = NULL, *policy = NULL, *attr = NULL;
	struct catalog *c = arg;

	while (ops && (op = next_in(ops, op)))
		set_policy(c, op);
	while (policies && (policy = next_in(policies, policy)))
		while ((attr = next_in(policy, attr)))
			add_attr(c, type_of(policy), attr);
}

/* 0, or a negative errno. */
int catalog_read(struct catalog *c, const char *family)
{
	struct genl_msg m, answer;
	struct genl_sock s;
	int ret;

	memset(c, 0, sizeof(*c));
	ret = genl_open(&s, "nlctrl");
	if (ret)
		return ret;
	genl_begin(&m, &s, CTRL_CMD_GETFAMILY);
	genl_put_str(&m, CTRL_ATTR_FAMILY_NAME, family);
	ret = genl_ask(&s, &m, &answer, NULL);
	if (!ret) {
		add_commands(c, &answer);
		genl_begin(&m, &s, CTRL_CMD_GETPOLICY);
		genl_put_str(&m, CTRL_ATTR_FAMILY_NAME, family);
		ret = genl_dump(&s, &m, add_policy, c);
	}
	genl_close(&s);
	return ret;
}
