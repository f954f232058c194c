/* SPDX-License-Identifier: GPL-2.0 */
/* Groups: what the module says and is told of them, and its commands. */
#ifndef RCL_GROUP_H
#define RCL_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/rclink.h>

#include "fail.h"
#include "link.h"

#define RCL_GROUP_TEXT_LEN	256	/* of the kernel's sentences */
#define RCL_GROUP_REGION_LEN	32	/* of a name, with the NUL */

struct json_object;
struct rcl_nl;

/* Another member that was heard. */
struct rcl_group_peer {
	uint32_t sender;
	uint8_t gid[RCLINK_GID_LEN];
	uint64_t messages;
	uint32_t age;		/* ms */
};

/* A group, or an event of one. Values that were not sent are 0 or "". */
struct rcl_group_info {
	char name[RCLINK_NAME_MAX + 1];
	uint32_t id;
	bool device_given;	/* by whoever adds it, even as auto */
	char device[RCLINK_DEVICE_MAX + 1];
	bool port_given;	/* the same */
	uint32_t port;		/* 0: any */
	bool has_gid_index;
	uint32_t gid_index;	/* RCLINK_GID_INDEX_AUTO: any */
	uint8_t mgid[RCLINK_GID_LEN];
	uint32_t mlid;		/* 0: RoCE */
	bool has_qkey;		/* told only to CAP_NET_ADMIN */
	uint32_t qkey;
	uint32_t state;		/* enum rclink_group_state */
	uint32_t reason;	/* enum rclink_down_reason */
	char reason_text[RCL_GROUP_TEXT_LEN];
	char refusal[RCL_GROUP_TEXT_LEN];	/* of the last try to join */
	uint8_t gid[RCLINK_GID_LEN];
	uint32_t mtu;
	uint64_t stats[RCLINK_A_GROUP_STATS_MAX + 1];
	char from[RCLINK_NAME_MAX + 1];	/* "": this host keeps the key */
	char link[RCLINK_GROUP_LINKS_MAX][RCLINK_NAME_MAX + 1];
	size_t nlinks;
	bool has_key;
	uint64_t key_id;
	uint32_t sender;
	struct rcl_group_peer peer[RCLINK_GROUP_MEMBERS_MAX];
	size_t npeers;
	uint32_t consumers;
	struct rcl_policy access;	/* owner, group and mode alone */
	uint64_t event_seq;
	uint32_t event_kind;	/* enum rclink_event_kind */
};

/* The word for each counter of a group; none is a gauge. */
extern const char *const rcl_group_stat_word[RCLINK_A_GROUP_STATS_PAD];

/* Members other than this host; each says once a second that it is there. */
bool rcl_group_is_heard(const struct rcl_group_peer *peer);
size_t rcl_group_heard(const struct rcl_group_info *info);

/* Including this host, if it has a key. */
size_t rcl_group_members(const struct rcl_group_info *info);

/* Packets and messages that came in and reached nobody, except its own. */
uint64_t rcl_group_dropped(const struct rcl_group_info *info);

/* What a member says it exports. */
struct rcl_group_region {
	char name[RCL_GROUP_REGION_LEN];
	uint64_t length;
	uint32_t rights;	/* RCLINK_REGION_* */
};

struct rcl_group_regions {
	uint32_t total;
	struct rcl_group_region region[RCLINK_GROUP_REGIONS_MAX];
	size_t num;
};

/* Decode a message of the family: 0 or -EPROTO. */
int rcl_group_get(const struct nlmsghdr *hdr, struct rcl_group_info *info);

/* All return 0 or a negative errno with a sentence in err. */
int rcl_call_group_add(struct rcl_nl *nl, const struct rcl_group_info *group,
		       char *err);
/* Links to put on or take off the list for the key, or just another key. */
struct rcl_group_change {
	struct rcl_policy access;	/* owner, group and mode alone */
	char on[RCLINK_GROUP_LINKS_MAX][RCLINK_NAME_MAX + 1];
	size_t non;
	char off[RCLINK_GROUP_LINKS_MAX][RCLINK_NAME_MAX + 1];
	size_t noff;
	bool rekey;
};

int rcl_call_group_set(struct rcl_nl *nl, const char *name,
		       const struct rcl_group_change *change, char *err);
int rcl_call_group_del(struct rcl_nl *nl, const char *name, char *err);
/* One group, or all if name is NULL; the caller frees *infos. */
int rcl_call_groups(struct rcl_nl *nl, const char *name,
		    struct rcl_group_info **infos, size_t *num, char *err);

/* Those of the member with that number; -ENOENT if it has said nothing. */
int rcl_call_group_regions(struct rcl_nl *nl, const char *name,
			   uint32_t sender, struct rcl_group_regions *regions,
			   char *err);

/* All about a group, as a document for out.h. */
struct json_object *rcl_doc_group(const struct rcl_group_info *info);
/* What an event tells, or how a group is, if kind is not that of an event. */
struct json_object *rcl_doc_group_event(const struct rcl_group_info *info,
					const char *kind);
/* A region of a member. */
struct json_object *rcl_doc_region(const struct rcl_group_peer *peer,
				   const struct rcl_group_region *region);

#endif /* RCL_GROUP_H */
