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
 * Reads all files. When those of old (NULL: none) did not change, it answers
 * with the same as that. NULL with a sentence in err.
 */
struct rcd_trust *rcd_trust_new(const struct rcd_conf *conf,
				const struct rcd_trust *old, char *err);
void rcd_trust_free(struct rcd_trust *t);

/*
 * To answer and to dial with: read again if a file has changed. If that fails
 * it is logged once, the files are used as they were, and it is tried again
 * after a second.
 */
struct rcx_tls *rcd_trust_answer(struct rcd_trust *t);

/* Was there no change since old was made, when t took its place? */
bool rcd_trust_same(const struct rcd_trust *old, const struct rcd_trust *t);

/* To dial this link with that; rcx_tls_free() it. NULL: see err. */
struct rcx_tls *rcd_trust_dial(struct rcd_trust *t,
			       const struct rcd_link_conf *link, char *err);

/*
 * Both ends dial at once: is this the one to go on? The other end says the
 * opposite, because it compares the same two: the first identity of each. By
 * which of several one end knows the other, that one is not told.
 */
bool rcd_trust_goes_first(const struct rcd_trust *t, const char *first);

#endif /* RCD_TRUST_H */
