/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths: the ways out of a host that it offers to its peer, their encoding, and
 * which of them go together, best first. Pure functions.
 */
#ifndef RCX_PATH_H
#define RCX_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoint.h"

#define RCX_PATHS_MAX	8	/* of one host */
#define RCX_TRIES_MAX	4	/* pairs that are tried in one exchange */
#define RCX_PATHS_LEN	(RCX_PATHS_MAX * (27 + RCLINK_DEVICE_MAX))

#define RCX_GID_LEN	46	/* of a GID as text */
#define RCX_PATH_LEN	160	/* of a path as text */

struct rcx_paths {
	uint32_t num;
	struct rcl_path path[RCX_PATHS_MAX];
	uint32_t left;		/* how many did not fit; not encoded */
};

/* One path of each end, by its index in that end's list. */
struct rcx_pair {
	uint8_t initiator;
	uint8_t responder;
};

/* The kinds of GIDs; better ones have larger values. */
enum rcx_gid_kind {
	RCX_GID_LINK_LOCAL,
	RCX_GID_IPV6,
	RCX_GID_IPV4,
	RCX_GID_INFINIBAND,
	RCX_GID_BEST = RCX_GID_INFINIBAND
};

enum rcx_gid_kind rcx_gid_kind(const struct rcl_path *path);

/* Are they the same, except for the MTU? No list has two such paths. */
bool rcx_path_same(const struct rcl_path *a, const struct rcl_path *b);

/* May path be in a list that is sent? A device may have any name. */
bool rcx_path_is_good(const struct rcl_path *path);

/* May this list be sent, or believed? 0, or -EINVAL with a sentence in err. */
int rcx_paths_check(const struct rcx_paths *paths, char *err);

/* The list has been checked. Returns the length, at most RCX_PATHS_LEN. */
size_t rcx_paths_encode(const struct rcx_paths *paths, uint8_t *p);

/* 0, or -EPROTO with a sentence. The list still has to be checked. */
int rcx_paths_decode(struct rcx_paths *paths, const uint8_t *p, size_t len,
		     char *err);

/*
 * The pairs to try, in order. Both ends have the same two lists, and so get the
 * same pairs. Returns how many, 0 if no two paths go together.
 */
unsigned int rcx_paths_order(const struct rcx_paths *initiator,
			     const struct rcx_paths *responder,
			     struct rcx_pair pairs[RCX_TRIES_MAX]);

const char *rcx_gid_text(const uint8_t gid[RCLINK_GID_LEN],
			 char buf[RCX_GID_LEN]);

/* "192.0.2.1 (rxe0 port 1)" */
const char *rcx_path_text(const struct rcl_path *path, char buf[RCX_PATH_LEN]);

#endif /* RCX_PATH_H */
