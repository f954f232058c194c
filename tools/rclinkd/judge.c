// SPDX-License-Identifier: GPL-2.0
/* Do the files, taken together, make sense? */
#include "conf.h"

#include <errno.h>
#include <string.h>

#include "range.h"

#define KEY_FILE	"/etc/rclink/key.pem"

static int check_link(const struct rcd_conf *conf,
		      const struct rcd_link_conf *link,
		      const struct rcd_report *report)
{
	const char *why;

	if (conf->ca[0] && !link->dns[0])
		rcd_say(report, &link->place,
			"[Link %s] needs a name, because [Host] has a ca: that of the peer in its certificate",
			link->name);
	else if (!conf->ca[0] && !link->pin[0])
		rcd_say(report, &link->place,
			"[Link %s] needs a pin: what `rclink pubkey` prints on the peer",
			link->name);
	else if (link->pin[0] && link->dns[0])
		rcd_say(report, &link->place,
			"[Link %s] has a pin and a name; keep the %s",
			link->name, conf->ca[0] ? "name" : "pin");
	else if (!conf->listens && !link->host[0])
		rcd_say(report, &link->place,
			"[Link %s] has no peer to dial, and [Host] answers nobody; add peer, or remove listen = none",
			link->name);
	else if (link->rotate &&
		 link->policy.v[RCL_P_RECOVER] != RCLINK_RECOVER_RESUME)
		rcd_say(report, &link->place,
			"[Link %s] has rotate, which would end its channels each time; add recover = resume",
			link->name);
	else if (rcl_range_agree(link->policy.given, link->policy.v, &why))
		rcd_say(report, &link->place, "[Link %s]: %s", link->name, why);
	else
		return 0;
	return -EINVAL;
}

/* A key for a link that nobody makes is a mistake in the link's name. */
static int check_group_link(const struct rcd_conf *conf,
			    const struct rcd_group_conf *group,
			    const char *word, const char *name,
			    const struct rcd_report *report)
{
	if (!*name || rcd_conf_link(conf, name))
		return 0;
	rcd_say(report, &group->place,
		"[Group %s]: %s is %s, but there is no [Link %s]",
		group->want.name, word, name, name);
	return -EINVAL;
}

static int check_group(const struct rcd_conf *conf,
		       const struct rcd_group_conf *group,
		       const struct rcd_report *report)
{
	const struct rcl_group_info *want = &group->want;
	const char *why = NULL;
	size_t i;
	int ret;

	if (rcl_gid_is_unset(want->mgid))
		why = "needs an mgid: its multicast address";
	else if (want->from[0] && want->nlinks)
		why = "has from and link: who gets a key gives none; keep one";
	else if (want->from[0] && want->has_qkey)
		why = "has from and qkey, which comes with the key; keep from";
	if (why)
		rcd_say(report, &group->place, "[Group %s] %s", want->name,
			why);
	ret = check_group_link(conf, group, "from", want->from, report);
	for (i = 0; i < want->nlinks; i++)
		if (check_group_link(conf, group, "link", want->link[i],
				     report))
			ret = -EINVAL;
	return why ? -EINVAL : ret;
}

int rcd_conf_finish(struct rcd_conf *conf, const struct rcd_report *report)
{
	struct rcd_link_conf *link;
	int ret = 0;
	size_t i;

	if (conf->unclear)
		return -EINVAL;
	if (conf->crl[0] && !conf->ca[0]) {
		rcd_say(report, &conf->at[RCX_CRL],
			"[Host] has a crl and no ca; name the CA that it is of");
		ret = -EINVAL;
	}
	if (!conf->key[0]) {
		strcpy(conf->key, KEY_FILE);
		conf->usual_key = true;
	}
	for (i = 0; i < conf->num; i++) {
		link = &conf->link[i];
		if (!link->wanted[0])
			strcpy(link->wanted, link->name);
		if (link->bad || check_link(conf, link, report))
			ret = -EINVAL;
	}
	for (i = 0; i < conf->ngroups; i++)
		if (conf->group[i].bad ||
		    check_group(conf, &conf->group[i], report))
			ret = -EINVAL;
	return ret;
}
