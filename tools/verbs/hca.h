/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices as libibverbs shows them: a device, one port of it, its GIDs. */
#ifndef RCV_HCA_H
#define RCV_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../kmod/gid.h"

struct rcv_hca {
	struct ibv_context *ctx;
	uint64_t node;			/* inode in sysfs; 0: not seen */
	struct ibv_device_attr_ex attr;
	uint32_t port;
	struct ibv_port_attr port_attr;
	uint32_t link_layer;		/* enum rclink_link_layer */
	uint32_t ngids;
	struct rcl_gid *gids;
	int chosen;			/* position in gids, or negative */
	const char *why;		/* reason for that choice */
};

/* All return 0, or a negative errno with a sentence in err (RCL_ERR_LEN). */

/* All devices, for ibv_free_device_list(); NULL with a sentence in err. */
struct ibv_device **rcv_hca_list(int *num, char *err);

/* Open a device; on failure it is closed again. */
int rcv_hca_attach(struct rcv_hca *hca, struct ibv_device *device, char *err);

/* Look at a port, and choose a GID as the module does. */
int rcv_hca_look(struct rcv_hca *hca, uint32_t port,
		 const struct rcl_gid_want *want, char *err);

/*
 * Open the device of that name or, if that is "", the first one with a port
 * that is active and has a GID; port 0 means the first such port.
 */
int rcv_hca_open(struct rcv_hca *hca, const char *name, uint32_t port,
		 const struct rcl_gid_want *want, char *err);

void rcv_hca_close(struct rcv_hca *hca);

/* Do stamps of completions tell time? Those of irdma are round-trip times. */
static inline bool rcv_hca_has_clock(const struct rcv_hca *hca)
{
	return hca->attr.hca_core_clock && hca->attr.completion_timestamp_mask;
}

/* The chosen GID; does the table have gid at its index now? */
const struct rcl_gid *rcv_hca_gid(const struct rcv_hca *hca);
bool rcv_hca_gid_is(const struct rcv_hca *hca, const uint8_t *gid);

/*
 * The partition key at that index of an InfiniBand port; 0 for other ports. An
 * empty entry is refused: every packet would vanish.
 */
int rcv_hca_pkey(const struct rcv_hca *hca, uint32_t index, uint32_t *pkey,
		 char *err);

/* Any entry of the table; 0 if it is empty or does not exist. */
uint32_t rcv_hca_read_pkey(const struct rcv_hca *hca, uint32_t index);

/* Was the device removed? Some drivers tell nobody, and wait for its users. */
bool rcv_hca_is_gone(const struct rcv_hca *hca);

/* Does it have memory windows of type 2, which are for one QP? */
bool rcv_hca_has_windows(const struct rcv_hca *hca);

/* Does it report an access error for other failures, too? */
bool rcv_hca_is_vague(const struct rcv_hca *hca);

/* An MTU of the verbs in bytes, 0 if it is none; and back. */
uint32_t rcv_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu rcv_mtu(uint32_t bytes);

#endif /* RCV_HCA_H */
