// SPDX-License-Identifier: GPL-2.0
#include "trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf.h"
#include "log.h"
#include "peers.h"
#include "process.h"
#include "tls.h"

#define FILES	4
#define AGAIN_NS	1000000000ULL	/* between two tries of one file */

/* Another file of the same name has another stamp. */
struct stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct rcd_trust {
	char file[FILES][RCD_PATH_LEN];	/* key, cert, ca, crl */
	struct stamp stamp[FILES];	/* of what answers */
	struct stamp bad[FILES];	/* of what could not be used ... */
	uint64_t tried;			/* ... last, in ns ... */
	char why[RCL_ERR_LEN];		/* ... and why */
	struct rcx_tls *answer;
	bool renewed;			/* since this was made */
	char self[RCLINK_PEER_MAX + 1];	/* first identity a peer is shown */
};

static const char *given(const char *file)
{
	return *file ? file : NULL;
}

static struct rcx_tls_config config_of(const struct rcd_trust *t)
{
	return (struct rcx_tls_config) {
		.key_file = t->file[0],
		.cert_file = given(t->file[1]),
		.ca_file = given(t->file[2]),
		.crl_file = given(t->file[3]),
	};
}

struct rcx_tls_config rcd_trust_config(const struct rcd_conf *conf)
{
	return (struct rcx_tls_config) {
		.key_file = conf->key,
		.cert_file = given(conf->cert),
		.ca_file = given(conf->ca),
		.crl_file = given(conf->crl),
	};
}

static void look(const struct rcd_trust *t, struct stamp *stamp)
{
	struct stat st;
	int i;

	memset(stamp, 0, FILES * sizeof(*stamp));
	for (i = 0; i < FILES; i++) {
		if (!t->file[i][0] || stat(t->file[i], &st))
			continue;
		stamp[i].dev = st.st_dev;
		stamp[i].ino = st.st_ino;
		stamp[i].size = st.st_size;
		stamp[i].changed = st.st_ctim;
	}
}

static int load(struct rcd_trust *t, char *err)
{
	const struct rcx_tls_config config = config_of(t);
	char self[RCLINK_PEER_MAX + 1];
	struct rcx_tls *tls;

	tls = rcx_tls_new(RCX_RESPONDER, &config, err);
	if (!tls)
		return -errno;
	if (rcx_tls_self(tls, self, err)) {
		rcx_tls_free(tls);
		return -EINVAL;
	}
	rcx_tls_free(t->answer);
	t->answer = tls;
	strcpy(t->self, self);
	return 0;
}

/* The file names are padded with zeros. */
static bool same_files(const struct rcd_trust *a, const struct rcd_trust *b)
{
	return !memcmp(a->file, b->file, sizeof(a->file)) &&
	       !memcmp(a->stamp, b->stamp, sizeof(a->stamp));
}

struct rcd_trust *rcd_trust_new(const struct rcd_conf *conf,
				const struct rcd_trust *old, char *err)
{
	struct rcd_trust *t = calloc(1, sizeof(*t));
	int ret;

	if (!t) {
		rcl_fail(err, -ENOMEM, "out of memory");
		errno = ENOMEM;
		return NULL;
	}
	strcpy(t->file[0], conf->key);
	strcpy(t->file[1], conf->cert);
	strcpy(t->file[2], conf->ca);
	strcpy(t->file[3], conf->crl);
	/* Before reading them: what changes meanwhile is then read again. */
	look(t, t->stamp);
	ret = load(t, err);
	if (ret) {
		rcd_trust_free(t);
		errno = -ret;
		return NULL;
	}
	if (old && same_files(t, old)) {
		rcx_tls_free(t->answer);
		t->answer = rcx_tls_hold(old->answer);
	}
	return t;
}

void rcd_trust_free(struct rcd_trust *t)
{
	if (!t)
		return;
	rcx_tls_free(t->answer);
	free(t);
}

/* It may be usable later, if no file descriptor was left for example. */
static void keep_old(struct rcd_trust *t, const struct stamp *bad,
		     const char *err)
{
	const bool known = !memcmp(bad, t->bad, sizeof(t->bad)) &&
			   !strcmp(err, t->why);

	memcpy(t->bad, bad, sizeof(t->bad));
	strcpy(t->why, err);
	t->tried = rcl_now();
	if (!known)
		rcd_log(LOG_ERR,
			"the keys changed, but cannot be used, so the old ones stay in use: %s",
			err);
}

struct rcx_tls *rcd_trust_answer(struct rcd_trust *t)
{
	struct stamp now[FILES];
	char err[RCL_ERR_LEN];

	look(t, now);
	if (!memcmp(now, t->stamp, sizeof(now)) ||
	    (!memcmp(now, t->bad, sizeof(now)) &&
	     rcl_now() - t->tried < AGAIN_NS))
		return t->answer;
	if (load(t, err)) {
		keep_old(t, now, err);
		return t->answer;
	}
	memcpy(t->stamp, now, sizeof(now));
	t->why[0] = '\0';
	t->renewed = true;
	rcd_log(LOG_NOTICE, "the keys changed; the new ones answer");
	return t->answer;
}

/* Read nothing again: a CRL takes longer to read than all the rest. */
struct rcx_tls *rcd_trust_dial(struct rcd_trust *t,
			       const struct rcd_link_conf *link, char *err)
{
	return rcx_tls_dial(rcd_trust_answer(t), given(link->pin),
			    given(link->dns), err);
}

bool rcd_trust_same(const struct rcd_trust *old, const struct rcd_trust *t)
{
	return old->answer == t->answer && !old->renewed;
}

bool rcd_trust_goes_first(const struct rcd_trust *t, const char *first)
{
	return rch_goes_first(t->self, first);
}
