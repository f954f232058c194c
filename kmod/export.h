/* SPDX-License-Identifier: GPL-2.0 */
/* Regions that a link offers to its peer, by name. */
#ifndef RCL_EXPORT_H
#define RCL_EXPORT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

struct rcl_lessee;

/**
 * struct rcl_window - memory as the other end addresses it
 * @addr: first address under @rkey
 * @len: bytes
 * @rkey: of the registration
 * @rights: RCLINK_REGION_*
 */
struct rcl_window {
	u64 addr;
	u64 len;
	u32 rkey;
	u32 rights;
};

/**
 * struct rcl_export - one of them; embedded in its owner
 * @node: in the table
 * @name: of the region
 * @window: what the peer is told
 * @owner: whose it is
 */
struct rcl_export {
	struct list_head node;
	char name[RCLINK_DEV_REGION_LEN];
	struct rcl_window window;
	const struct rcl_lessee *owner;
};

/**
 * struct rcl_exports - the table
 * @lock: protects @list
 * @list: of struct rcl_export
 */
struct rcl_exports {
	struct mutex lock;	/* protects list */
	struct list_head list;
};

void rcl_exports_init(struct rcl_exports *exports);
int rcl_export_add(struct rcl_exports *exports, struct rcl_export *export);
void rcl_export_del(struct rcl_exports *exports, struct rcl_export *export);
int rcl_export_find(struct rcl_exports *exports, const char *name,
		    const struct rcl_lessee *asked, struct rcl_window *window);

#endif /* RCL_EXPORT_H */
