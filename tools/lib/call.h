/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the module as functions. All return 0 or a negative errno
 * with a sentence in err.
 */
#ifndef RCL_CALL_H
#define RCL_CALL_H

#include "link.h"
#include "nl.h"

int rcl_call_new(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err);
int rcl_call_set(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err);
int rcl_call_delete(struct rcl_nl *nl, const char *name, char *err);
int rcl_call_disconnect(struct rcl_nl *nl, const char *name, char *err);
/* -ESTALE: epoch is neither up nor the next; -ENOTCONN: none is up. */
int rcl_call_replace(struct rcl_nl *nl, const char *name, uint64_t epoch,
		     char *err);
int rcl_call_rotate(struct rcl_nl *nl, const char *name, char *err);

/* One link, or all if name is NULL; the caller frees *infos. */
int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err);

/* All ports of device name, or of all if NULL; see rcl_call_devs_free(). */
int rcl_call_devs(struct rcl_nl *nl, const char *name,
		  struct rcl_dev_info **infos, size_t *num, char *err);
void rcl_call_devs_free(struct rcl_dev_info *infos, size_t num);

/* What happened to a link, oldest first; the caller frees *entries. */
int rcl_call_record(struct rcl_nl *nl, const char *name,
		    struct rcl_entry **entries, size_t *num, char *err);
/* How the note of a failed exchange begins: it has no path left. */
#define RCL_NOTE_EXCHANGE	"an exchange that "
/* Have the link's record keep text, or the beginning of it. */
int rcl_call_note(struct rcl_nl *nl, const char *name, const char *text,
		  char *err);

/*
 * The new epoch belongs to nl's socket from here until it is up. path NULL: the
 * module chooses. rotate: a link that is up stays up meanwhile.
 */
int rcl_call_prepare(struct rcl_nl *nl, const char *name,
		     const struct rcl_path *path, bool rotate,
		     struct rcl_endpoint *local, char *err);
int rcl_call_connect(struct rcl_nl *nl, const struct rcl_connect *c,
		     uint64_t *agreed, char *err);
int rcl_call_activate(struct rcl_nl *nl, const char *name, uint64_t epoch,
		      const uint8_t key[RCLINK_KEY_LEN], char *err);

/* The result goes to the function set by rcl_nl_notify(). */
int rcl_call_ping(struct rcl_nl *nl, const struct rcl_ping *ping, char *err);

/* What a message of the family is, for the function of rcl_nl_notify(). */
bool rcl_is_link_event(const struct nlmsghdr *hdr);
bool rcl_is_group_event(const struct nlmsghdr *hdr);
bool rcl_is_dev_event(const struct nlmsghdr *hdr);
bool rcl_is_ping_result(const struct nlmsghdr *hdr);

#endif /* RCL_CALL_H */
