// SPDX-License-Identifier: GPL-2.0
#include "blame.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "conf.h"
#include "trust.h"

/* systemd makes it when the service starts. */
#define UNIT_DIR	"/run/rclinkd"

/* No line names the default key. */
static void say_usual_key(const struct rcd_conf *conf, const char *err,
			  const struct rcd_report *report)
{
	struct rcd_place whole = conf->place;

	whole.line = 0;
	rcd_say(report, &whole,
		"no key is named, so it is the usual one: %s", err);
}

void rcd_blame_trust(const struct rcd_conf *conf, const char *err,
		     const struct rcd_report *report)
{
	const struct rcx_tls_config config = rcd_trust_config(conf);
	char why[RCL_ERR_LEN];
	bool said = false;
	int i;

	for (i = 0; i < RCX_FILES; i++) {
		if (!rcx_tls_try(&config, i, why))
			continue;
		said = true;
		if (i == RCX_KEY && conf->usual_key)
			say_usual_key(conf, why, report);
		else
			rcd_say(report, &conf->at[i], "%s", why);
	}
	/* They may not fit together, for example. */
	if (!said)
		rcd_say(report, &conf->place, "%s", err);
}

int rcd_blame_metrics(const struct rcd_conf *conf,
		      const struct rcd_report *report)
{
	const char *slash = strrchr(conf->metrics, '/');
	char dir[RCD_PATH_LEN];
	struct stat st;

	if (!slash)
		return 0;
	if (!slash[1] || !strcmp(conf->metrics, UNIT_DIR) ||
	    (!stat(conf->metrics, &st) && S_ISDIR(st.st_mode))) {
		rcd_say(report, &conf->at_metrics,
			"metrics: %s is a directory; name a file in it",
			conf->metrics);
		return -EINVAL;
	}
	if (slash == conf->metrics)
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - conf->metrics),
		 conf->metrics);
	if (!strcmp(dir, UNIT_DIR) || (!stat(dir, &st) && S_ISDIR(st.st_mode)))
		return 0;
	rcd_say(report, &conf->at_metrics,
		"metrics: there is no directory %s; make it before rclinkd starts",
		dir);
	return -EINVAL;
}
