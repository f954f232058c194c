/* SPDX-License-Identifier: GPL-2.0 */
/* What is wrong with the files that [Host] names, each at its line. */
#ifndef RCD_BLAME_H
#define RCD_BLAME_H

struct rcd_conf;
struct rcd_report;

/* rcd_trust_new() failed with err: say which files cannot be used. */
void rcd_blame_trust(const struct rcd_conf *conf, const char *err,
		     const struct rcd_report *report);

/*
 * 0, or -EINVAL if metrics is a directory, or its directory does not exist and
 * nobody will make it.
 */
int rcd_blame_metrics(const struct rcd_conf *conf,
		      const struct rcd_report *report);

#endif /* RCD_BLAME_H */
