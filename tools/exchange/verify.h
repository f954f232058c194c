/* SPDX-License-Identifier: GPL-2.0 */
/* What makes a peer's certificate good enough: called by the TLS handshake. */
#ifndef RCX_VERIFY_H
#define RCX_VERIFY_H

#include <stdbool.h>

#include "ident.h"
#include "session.h"

struct x509_st;
struct x509_store_ctx_st;

/* What this end requires of every peer. */
struct rcx_policy {
	bool by_ca;		/* chain and name, else the pin of the key */
	bool has_crl;		/* of by_ca: nothing of the chain is revoked */
	char pin[RCX_PIN_LEN];	/* the only one allowed; "": any, report it */
	char name[RCLINK_PEER_MAX + 1];	/* likewise the DNS name */
};

/* What was found; attached to its SSL as app data. */
struct rcx_peer {
	struct rcx_ids ids;
	char err[RCL_ERR_LEN];	/* why not, if it was refused */
};

/* The certificate verify callback; policy is a struct rcx_policy. */
int rcx_verify(struct x509_store_ctx_st *store, void *policy);

/*
 * Add the names that a certificate is for; whose ("this host's") names it in
 * the sentence. 0, or -EINVAL with a sentence in peer->err if it has no names,
 * or too many.
 */
int rcx_collect_names(struct x509_st *leaf, const char *whose,
		      struct rcx_peer *peer);

/* Can name be the exact name of a peer in CA mode? */
int rcx_peer_name_check(const char *name, char *err);

#endif /* RCX_VERIFY_H */
