/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a listener admits to which link. */
#ifndef RCH_PEERS_H
#define RCH_PEERS_H

#include <stdbool.h>

#include <linux/rclink.h>

struct rch_peers;
struct rcx_ids;

/* NULL if out of memory. */
struct rch_peers *rch_peers_new(void);
void rch_peers_free(struct rch_peers *peers);

/* All that return int: 0, or a negative errno with a sentence in err. */

/* "NAME=sha256:..." or "NAME=dns:host.example" */
int rch_peers_add(struct rch_peers *peers, const char *text, char *err);
/* The same in parts. dns: the identity is a DNS name, else a pin. */
int rch_peers_put(struct rch_peers *peers, const char *link,
		  const char *identity, bool dns, char *err);

/* Are there any, and all of the kind that this way of trust proves? */
int rch_peers_check(const struct rch_peers *peers, bool by_ca, char *err);

/* Is this link (NULL: any link) open to this identity? */
bool rch_peers_know(const struct rch_peers *peers, const char *identity,
		    const char *link);

/*
 * Admit a peer that has all of these identities and wants the link called
 * wanted: to its only link, or, if it has several, to the one of that name.
 * Returns the index in ids that it is admitted as.
 */
int rch_peers_admit(const struct rch_peers *peers, const struct rcx_ids *ids,
		    const char *wanted, char link[RCLINK_NAME_MAX + 1],
		    char *err);

/*
 * A known peer was not admitted: did it give up? Then the link has come up, or
 * is about to, by another exchange; if both dialled at once, this end may have
 * told it so. refused: this end refused it, for whatever reason.
 */
bool rch_gave_up(bool refused, int result);

/*
 * Both ends dial at once: does this end's exchange go on? Decided by the first
 * identity that each end proves; if they are equal, it does not.
 */
bool rch_goes_first(const char *self, const char *peer);

#endif /* RCH_PEERS_H */
