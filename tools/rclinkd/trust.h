/* SPDX-License-Identifier: GPL-2.0 */
/* This host's keys, and whom it trusts; always as they are on disk. */
#ifndef RCD_TRUST_H
#define RCD_TRUST_H

#include <stdbool.h>

struct rcd_conf;
struct rcd_link_conf;
struct rcd_trust;
struct rcx_tls;
struct rcx_tls_config;

/* The files of [Host], as long as conf is there. */
struct rcx_tls_config rcd_trust_config(const struct rcd_conf *conf);

/*
 * Reads all files. If those of old (NULL: none) did not change, the new one
 * answers with the same as old. NULL with an errno and a sentence in err.
 */
struct rcd_trust *rcd_trust_new(const struct rcd_conf *conf,
				const struct rcd_trust *old, char *err);
void rcd_trust_free(struct rcd_trust *t);

/*
 * What to answer and to dial with. It is read again if a file has changed. If
 * that fails, this is logged once, the files are used as they were, and reading
 * is tried again after a second.
 */
struct rcx_tls *rcd_trust_answer(struct rcd_trust *t);

/* Did nothing change from when old was made until t took its place? */
bool rcd_trust_same(const struct rcd_trust *old, const struct rcd_trust *t);

/* What to dial this link with; rcx_tls_free() it. NULL: see err. */
struct rcx_tls *rcd_trust_dial(struct rcd_trust *t,
			       const struct rcd_link_conf *link, char *err);

/*
 * Both ends dial at once: is this the one to go on? The other end decides the
 * opposite, because it compares the same two values, the first identity of
 * each. An end is not told by which of its identities the other one knows it.
 */
bool rcd_trust_goes_first(const struct rcd_trust *t, const char *first);

#endif /* RCD_TRUST_H */
