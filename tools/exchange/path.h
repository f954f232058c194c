/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths: the ways out of one host that it offers to the other, as bytes, and
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

#define RCX_GID_LEN	46	/* of a GID in words */
#define RCX_PATH_LEN	160	/* of a path in words */

struct rcx_paths {
	uint32_t num;
	struct rcl_path path[RCX_PATHS_MAX];
	uint32_t left;		/* that did not fit; no peer hears of it */
};

/* One of each end, by their places in the two lists. */
struct rcx_pair {
	uint8_t initiator;
	uint8_t responder;
};

/* The kinds of GIDs, the better ones larger. */
enum rcx_gid_kind {
	RCX_GID_LINK_LOCAL,
	RCX_GID_IPV6,
	RCX_GID_IPV4,
	RCX_GID_INFINIBAND,
	RCX_GID_BEST = RCX_GID_INFINIBAND
};

enum rcx_gid_kind rcx_gid_kind(const struct rcl_path *path);

/* But for the MTU; a list has none that are the same. */
bool rcx_path_same(const struct rcl_path *a, const struct rcl_path *b);

/* May it be in a list that is sent? A device may have any name. */
bool rcx_path_is_good(const struct rcl_path *path);

/* 0, or -EINVAL with a sentence in err: may this list be sent, or believed? */
int rcx_paths_check(const struct rcx_paths *paths, char *err);

/* The list was checked; returns the bytes, at most RCX_PATHS_LEN. */
size_t rcx_paths_encode(const struct rcx_paths *paths, uint8_t *p);

/* 0, or -EPROTO with a sentence; the list is still to be checked. */
int rcx_paths_decode(struct rcx_paths *paths, const uint8_t *p, size_t len,
		     char *err);

/*
 * Which pairs to try, in this order: the same at both ends, who have the same
 * two lists. Returns how many, 0 if none goes together.
 */
unsigned int rcx_paths_order(const struct rcx_paths *initiator,
			     const struct rcx_paths *responder,
			     struct rcx_pair pairs[RCX_TRIES_MAX]);

const char *rcx_gid_text(const uint8_t gid[RCLINK_GID_LEN],
			 char buf[RCX_GID_LEN]);

/* "192.0.2.1 (rxe0 port 1)" */
const char *rcx_path_text(const struct rcl_path *path, char buf[RCX_PATH_LEN]);

#endif /* RCX_PATH_H */
