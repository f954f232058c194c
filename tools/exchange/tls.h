/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TLS side of one listener, or of one dialled peer: keys, what is trusted,
 * and the fixed rules (TLS 1.3 only, both ends authenticated, ALPN, nothing
 * resumed). Sessions hold a reference, so its owner may switch to another one.
 */
#ifndef RCX_TLS_H
#define RCX_TLS_H

#include "session.h"

struct ssl_st;

struct rcx_tls_config {
	const char *key_file;	/* private key, and its certificate */
	const char *cert_file;	/* certificate chain, if not in key_file */
	const char *ca_file;	/* trust this CA; NULL: trust by pin */
	const char *crl_file;	/* with ca_file: CRLs of all its CAs */
	const char *pin;	/* initiator without ca_file: the peer's pin */
	const char *name;	/* initiator with ca_file: its DNS name */
};

enum rcx_file { RCX_KEY, RCX_CERT, RCX_CA, RCX_CRL, RCX_FILES };

/* Returns NULL with an errno and a sentence in err (RCL_ERR_LEN bytes). */
struct rcx_tls *rcx_tls_new(enum rcx_role role,
			    const struct rcx_tls_config *cfg, char *err);
/*
 * The same for an initiator, with the key, certificates, CA and CRLs of own,
 * which are not read again; pin or name as above.
 */
struct rcx_tls *rcx_tls_dial(struct rcx_tls *own, const char *pin,
			     const char *name, char *err);
/* Is this file of cfg usable? 0 if so or not given, else -errno and err. */
int rcx_tls_try(const struct rcx_tls_config *cfg, enum rcx_file which,
		char *err);
/* Drops one reference; rcx_tls_new() and rcx_tls_dial() return the first. */
void rcx_tls_free(struct rcx_tls *tls);

/*
 * Who this end proves to be: the pin of its key, or with a CA the first name of
 * its certificate. self has RCLINK_PEER_MAX + 1 bytes. Returns 0, or -EINVAL
 * with a sentence.
 */
int rcx_tls_self(const struct rcx_tls *tls, char *self, char *err);

/* Takes one more reference, to be freed. Returns tls. */
struct rcx_tls *rcx_tls_hold(struct rcx_tls *tls);

/* For conn.c: a new TLS connection in this role; NULL if out of memory. */
struct ssl_st *rcx_tls_ssl(struct rcx_tls *tls);

#endif /* RCX_TLS_H */
