// SPDX-License-Identifier: GPL-2.0
/* The GIDs of a device; the test is the device. */
#include "hca.h"

#include <errno.h>
#include <stdlib.h>

#include <kselftest_harness.h>

#include "fail.h"

#undef ibv_query_port

#define PORTS	2

/* The length of each port's GID table. */
static const int lengths[PORTS] = { 2, 5 };

/* These replace functions of libibverbs. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)port_attr;

	attr->state = IBV_PORT_ACTIVE;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = lengths[port_num - 1];
	return 0;
}

/* Those of all ports, and like the kernel, all or none. */
ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry entry = { .gid.raw = { 0xfe, 0x80 } };
	size_t n = 0;
	int i;

	for (entry.port_num = 1; entry.port_num <= PORTS; entry.port_num++) {
		for (i = 0; i < lengths[entry.port_num - 1]; i++) {
			if (n == max_entries)
				return -EINVAL;
			entry.gid_index = i;
			entry.gid.raw[15] = 1 + i;
			entries[n++] = entry;
		}
	}
	return n;
}

TEST(ports_may_have_tables_of_different_length)
{
	struct ibv_device device = { .name = "ib0" };
	struct ibv_context ctx = { .device = &device };
	struct rcv_hca hca = {
		.ctx = &ctx, .attr.orig_attr.phys_port_cnt = PORTS,
	};
	char err[RCL_ERR_LEN] = "";
	int i;

	for (i = 0; i < PORTS; i++) {
		EXPECT_EQ(0, rcv_hca_look(&hca, 1 + i, &rcl_gid_any, err));
		EXPECT_STREQ("", err);
		EXPECT_EQ(lengths[i], hca.ngids);
	}
	free(hca.gids);
}

TEST_HARNESS_MAIN
