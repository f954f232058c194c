/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a listener admits to which link. */
#ifndef RCH_PEERS_H
#define RCH_PEERS_H

#include <stdbool.h>

#include <linux/rclink.h>

struct rch_peers;
struct rcx_ids;

/* NULL without memory. */
struct rch_peers *rch_peers_new(void);
void rch_peers_free(struct rch_peers *peers);

/* All that return int: 0, or a negative errno with a sentence in err. */

/* "NAME=sha256:..." or "NAME=dns:host.example" */
int rch_peers_add(struct rch_peers *peers, const char *text, char *err);
/* The same in parts: dns says that the identity is a DNS name, else a pin. */
int rch_peers_put(struct rch_peers *peers, const char *link,
		  const char *identity, bool dns, char *err);

/* Are there any, and of the kind that this way of trust proves? */
int rch_peers_check(const struct rch_peers *peers, bool by_ca, char *err);

/* Is this link, or any with NULL, open to this identity? */
bool rch_peers_know(const struct rch_peers *peers, const char *identity,
		    const char *link);

/*
 * Which link is a peer admitted to that has all of these identities and wants
 * the one called wanted? Its only one, or of several the one of that name.
 * Returns by which of ids, from 0.
 */
int rch_peers_admit(const struct rch_peers *peers, const struct rcx_ids *ids,
		    const char *wanted, char link[RCLINK_NAME_MAX + 1],
		    char *err);

/*
 * A peer that is known was not admitted: did it give up? The link has come up,
 * or is about to, by another exchange than this one; that may be what this end
 * told it, of two that dial at once. refused: by this end, at any rate.
 */
bool rch_gave_up(bool refused, int result);

/*
 * Both ends dial at once: is it this end's exchange that goes on? By the first
 * identity that each end proves. Never of two that are equal.
 */
bool rch_goes_first(const char *self, const char *peer);

#endif /* RCH_PEERS_H */
