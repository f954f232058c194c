/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module says and is told, as plain structs, and their way into and
 * out of netlink messages. For groups see group.h.
 */
#ifndef RCL_LINK_H
#define RCL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../kmod/policy-field.h"
#include "counter.h"
#include "endpoint.h"
#include "nl.h"

#define RCL_TEXT_LEN	256	/* of the kernel's sentences */
#define RCL_NETDEV_LEN	(RCLINK_NETDEV_MAX + 1)
#define RCL_PORT_ACTIVE	4	/* IBA: PortState */

/* Name in the netlink specification, also the word on the command line. */
const char *rcl_policy_word(int field);

struct rcl_policy {
	char device[RCLINK_DEVICE_MAX + 1];	/* "": any */
	char netdev[RCL_NETDEV_LEN];		/* the same */
	bool device_given;
	bool netdev_given;
	uint32_t given;				/* bit per field */
	uint32_t v[RCL_P_MAX];
};

/* A link, or an event of one. Values that were not sent are 0 or "". */
struct rcl_link_info {
	char name[RCLINK_NAME_MAX + 1];
	uint32_t id;
	struct rcl_policy policy;
	/* What the epoch uses, up or not; "" and 0 without one. */
	char used_device[RCLINK_DEVICE_MAX + 1];
	uint32_t used_port;
	uint32_t used_mtu;	/* of the path, once it is agreed on */
	uint32_t state;		/* enum rclink_link_state */
	uint32_t reason;	/* enum rclink_down_reason */
	uint32_t wc_status;
	uint32_t vendor_err;
	char reason_text[RCL_TEXT_LEN];
	uint64_t epoch;
	uint64_t unwanted_epoch;	/* epoch, if another is wanted; or 0 */
	uint32_t standby_state;	/* enum rclink_link_state, of ... */
	uint64_t standby_epoch;	/* ... the one beside it; 0: none */
	char peer[RCLINK_PEER_MAX + 1];
	uint32_t role;		/* enum rclink_role */
	uint32_t link_layer;	/* enum rclink_link_layer */
	uint8_t gid[RCLINK_GID_LEN];
	uint32_t lid;
	char gid_reason[RCL_TEXT_LEN];
	bool has_local;		/* only for CAP_NET_ADMIN */
	bool has_remote;
	struct rcl_endpoint local;
	struct rcl_endpoint remote;
	uint64_t counter[RCLINK_A_STATS_PAD];
	struct rcl_latency latency;
	uint64_t event_seq;
	uint32_t event_kind;	/* enum rclink_event_kind */
};

struct rcl_gid_info {
	uint32_t index;
	uint8_t gid[RCLINK_GID_LEN];
	uint32_t type;		/* enum rclink_gid_type */
	char netdev[RCL_NETDEV_LEN];
	uint32_t vlan;		/* 0: none */
	uint32_t usable;	/* a link may use it without being told to */
};

/* One port of a device. gids is allocated, see rcl_dev_info_free(). */
struct rcl_dev_info {
	char name[RCLINK_DEVICE_MAX + 1];
	uint32_t port;		/* 0 in an event: the whole device */
	uint64_t event_seq;
	uint32_t link_layer;	/* enum rclink_link_layer */
	uint32_t port_state;	/* IBA: 1 down, 2 init, 3 armed, or active */
	uint32_t active_mtu;
	uint32_t max_mtu;
	uint32_t lid;
	uint32_t sm_lid;
	uint32_t pkeys;
	uint32_t max_qp;
	uint32_t max_qp_wr;
	uint32_t max_cqe;
	uint32_t max_mr;
	uint32_t max_sge;
	uint32_t max_rd_atomic;
	uint32_t max_srq;
	uint32_t fast_reg_pages;
	uint32_t atomics;	/* enum rclink_atomics */
	uint32_t masked_atomics; /* enum rclink_atomics */
	uint32_t max_inline;
	uint32_t sa;		/* the subnet manager says the mlid */
	bool has_chosen;
	uint32_t chosen_gid;
	char reason[RCL_TEXT_LEN];
	struct rcl_gid_info *gids;
	size_t ngids;
};

/* Round trips to ask for, or how they went. */
struct rcl_ping {
	char link[RCLINK_NAME_MAX + 1];
	uint32_t op;		/* enum rclink_ping_op */
	uint32_t size;
	uint64_t cookie;
	uint32_t count;		/* that are asked for */
	uint32_t error;		/* positive errno */
	char reason_text[RCL_TEXT_LEN];
	uint32_t ok;		/* that were verified */
	uint64_t rtt[RCLINK_PING_COUNT_MAX];	/* ns, of each of these */
};

/* One thing that happened to a link. */
struct rcl_entry {
	uint64_t number;
	uint32_t kind;		/* enum rclink_entry_kind */
	uint64_t time;		/* ns, CLOCK_BOOTTIME */
	uint64_t last;
	uint32_t times;
	uint64_t epoch;
	uint32_t from;		/* enum rclink_link_state, 0: just created */
	uint32_t to;
	uint32_t step;		/* enum rclink_step */
	uint32_t reason;	/* enum rclink_down_reason */
	uint32_t wc_status;
	uint32_t vendor_err;
	bool has_qp;
	uint32_t qp;		/* 0: control QP; i: pooled QP i */
	char text[RCL_TEXT_LEN];
	uint64_t counter[RCLINK_A_STATS_PAD];	/* some of them */
};

/* The peer's side of an exchange, as the module takes it. */
struct rcl_connect {
	const char *link;
	uint64_t epoch;
	const char *peer;
	uint32_t role;
	const struct rcl_endpoint *remote;
};

extern const struct rcl_nl_names rcl_link_names;
extern const struct rcl_nl_names rcl_ping_names;
extern const struct rcl_nl_names rcl_record_names;

/* Encode: 0, or -EMSGSIZE when the message is full. */
int rcl_link_put_name(struct nl_msg *msg, const char *name);
int rcl_link_put_policy(struct nl_msg *msg, const char *name,
			const struct rcl_policy *policy);
int rcl_link_put_connect(struct nl_msg *msg, const struct rcl_connect *c);
int rcl_link_put_epoch(struct nl_msg *msg, const char *name, uint64_t epoch);
int rcl_link_put_activate(struct nl_msg *msg, const char *name, uint64_t epoch,
			  const uint8_t key[RCLINK_KEY_LEN]);
int rcl_dev_put(struct nl_msg *msg, const char *device, uint32_t port);
int rcl_ping_put(struct nl_msg *msg, const struct rcl_ping *ping);
int rcl_record_put(struct nl_msg *msg, const char *link, uint64_t number);
int rcl_note_put(struct nl_msg *msg, const char *link, const char *text);

/* Decode a message of the family: 0, -EPROTO or -ENOMEM. */
int rcl_link_get(const struct nlmsghdr *hdr, struct rcl_link_info *info);
int rcl_dev_get(const struct nlmsghdr *hdr, struct rcl_dev_info *info);
int rcl_ping_get(const struct nlmsghdr *hdr, struct rcl_ping *ping);
/* Appends to *entries, which the caller frees, even after an error. */
int rcl_record_get(const struct nlmsghdr *hdr, struct rcl_entry **entries,
		   size_t *num);

void rcl_dev_info_free(struct rcl_dev_info *info);

/*
 * What is used, or else what is set; for a link that is down, what is set for
 * its next epoch, or else what was used last. "" or 0: neither.
 */
const char *rcl_link_device(const struct rcl_link_info *info);
uint32_t rcl_link_port(const struct rcl_link_info *info);
uint32_t rcl_link_mtu(const struct rcl_link_info *info);

#endif /* RCL_LINK_H */
