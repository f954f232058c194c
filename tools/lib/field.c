// SPDX-License-Identifier: GPL-2.0
#include "field.h"

#include <errno.h>
#include <string.h>

#include <linux/rclink.h>
#include <netlink/attr.h>

static int get_exactly(const struct nlattr *nla, void *to, int len)
{
	if (nla_len(nla) != len)
		return -EPROTO;
	memcpy(to, nla_data(nla), len);
	return 0;
}

static int get_field(const struct nlattr *nla, const struct rcl_field *f,
		     void *object)
{
	char *to = (char *)object + f->off;

	switch (f->kind) {
	case RCL_GID:
		return get_exactly(nla, to, RCLINK_GID_LEN);
	case RCL_U64:
		return get_exactly(nla, to, sizeof(uint64_t));
	case RCL_U32:
		return get_exactly(nla, to, sizeof(uint32_t));
	default:
		nla_strlcpy(to, nla, f->kind);
		return 0;
	}
}

int rcl_fields_get(struct nlattr **tb, const struct rcl_field *f, size_t num,
		   void *object)
{
	size_t i;
	int ret;

	for (i = 0; i < num; i++) {
		if (!tb[f[i].attr])
			continue;
		ret = get_field(tb[f[i].attr], &f[i], object);
		if (ret)
			return ret;
	}
	return 0;
}

int rcl_u32_get(const struct nlattr *nla, uint32_t *value)
{
	return get_exactly(nla, value, sizeof(*value));
}

int rcl_u64_get(const struct nlattr *nla, uint64_t *value)
{
	return get_exactly(nla, value, sizeof(*value));
}

int rcl_u64s_get(const struct nlattr *nest, uint64_t *values, int num)
{
	const struct nlattr *nla;
	int rem, ret = 0;

	nla_for_each_nested(nla, nest, rem) {
		if (!ret && nla_type(nla) && nla_type(nla) < num)
			ret = rcl_u64_get(nla, &values[nla_type(nla)]);
	}
	return ret;
}
