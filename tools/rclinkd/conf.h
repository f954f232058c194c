/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration, rclink.conf(5): [Host] and any number of [Link NAME] and
 * [Group NAME], in one file or several. It is read and judged, not applied.
 */
#ifndef RCD_CONF_H
#define RCD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "group.h"
#include "link.h"
#include "text.h"
#include "tls.h"

#define RCD_PATH_LEN	256

#define RCD_PLACE_LEN	(RCD_PATH_LEN + 12)

struct rcd_place {
	char file[RCD_PATH_LEN];
	unsigned int line;		/* 0: the file as a whole */
};

struct rcd_link_conf {
	struct rcd_place place;		/* of [Link NAME] */
	char name[RCLINK_NAME_MAX + 1];
	char pin[RCLINK_PEER_MAX + 1];	/* "" with dns */
	char dns[RCLINK_PEER_MAX + 1];	/* "" with pin */
	char host[RCL_HOST_LEN];	/* "": the peer dials */
	uint16_t port;
	char wanted[RCLINK_NAME_MAX + 1]; /* the link at the peer */
	uint32_t rotate;		/* s between epochs; 0: never */
	struct rcl_policy policy;
	bool bad;			/* one of its lines is */
};

struct rcd_group_conf {
	struct rcd_place place;		/* of [Group NAME] */
	struct rcl_group_info want;
	bool bad;			/* one of its lines is */
};

struct rcd_conf {
	struct rcd_place place;		/* of [Host], or the first file */
	char key[RCD_PATH_LEN];
	bool usual_key;			/* no other one is named */
	char cert[RCD_PATH_LEN];	/* "": it is in key */
	char ca[RCD_PATH_LEN];		/* "": peers are known by pin */
	char crl[RCD_PATH_LEN];
	struct rcd_place at[RCX_FILES];	/* lines naming these; line 0: none */
	struct rcd_place at_metrics;
	bool listens;
	char bind[RCL_HOST_LEN];	/* "": all addresses */
	uint16_t port;
	char metrics[RCD_PATH_LEN];	/* "": none are written */
	struct rcd_link_conf *link;
	size_t num;
	struct rcd_group_conf *group;
	size_t ngroups;
	bool unclear;			/* it cannot be judged as a whole */
	bool unasked;			/* what failed may work later */
};

/*
 * say() is told what is wrong, one sentence at a time. alive(), unless NULL, is
 * told that work goes on, because looking up a name may take seconds.
 */
struct rcd_report {
	void (*say)(void *ctx, const struct rcd_place *place, const char *text);
	void (*alive)(void);
	void *ctx;
};

void rcd_conf_init(struct rcd_conf *conf);
void rcd_conf_free(struct rcd_conf *conf);

/* Those that return int: 0, or a negative errno after saying why. */

/* Add what a file says; file is its name, for places. */
int rcd_conf_parse(struct rcd_conf *conf, FILE *from, const char *file,
		   const struct rcd_report *report);

/*
 * Once all files are parsed: fill in defaults, and check that everything fits
 * together. Links and groups with a bad line are not checked.
 */
int rcd_conf_finish(struct rcd_conf *conf, const struct rcd_report *report);

/*
 * All of the above for the file, and those in conf.d beside it. -EAGAIN if the
 * source of user or group names does not answer yet, or a file or memory was
 * not to be had, else -EINVAL.
 */
int rcd_conf_load(struct rcd_conf *conf, const char *file,
		  const struct rcd_report *report);

/* [Link NAME], or NULL. */
const struct rcd_link_conf *rcd_conf_link(const struct rcd_conf *conf,
					  const char *name);

/* [Group NAME], or NULL. */
const struct rcd_group_conf *rcd_conf_group(const struct rcd_conf *conf,
					    const char *name);

/* The identity that the peer must prove. */
const char *rcd_link_identity(const struct rcd_link_conf *link);

/* Are both the same, except for their names and places? */
bool rcd_link_same(const struct rcd_link_conf *a,
		   const struct rcd_link_conf *b);

/* "FILE:LINE". Returns buf. */
const char *rcd_place_text(const struct rcd_place *place,
			   char buf[RCD_PLACE_LEN]);

__attribute__((format(printf, 3, 4)))
void rcd_say(const struct rcd_report *report, const struct rcd_place *place,
	     const char *fmt, ...);

#endif /* RCD_CONF_H */
