// SPDX-License-Identifier: GPL-2.0
/*
 * The right to use a link or a group works like that to use a file: its owner,
 * group and mode are checked against the credentials of whoever opened the
 * device. These do not change later, whoever has the file then; so the kernel's
 * own helpers, which look at the caller's, are given these for a moment.
 */
#include "access.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "link.h"

#define RCL_ACCESS_RW	06	/* a channel goes both ways */

/* Only the first of the three classes that matches counts. */
static bool rcl_access_by_mode(kuid_t owner, kgid_t group, u32 mode)
{
	if (uid_eq(owner, current_fsuid()))
		mode >>= 6;
	else if (in_group_p(group))
		mode >>= 3;
	return (mode & RCL_ACCESS_RW) == RCL_ACCESS_RW;
}

/**
 * rcl_access_may - does a consumer have the right?
 * @access: owner, group and mode of what it wants to use
 * @cred: of the consumer, NULL for the kernel, which may use everything
 * @audit: it asks for it, so a refusal may be recorded as its attempt
 *
 * Context: process context.
 * Return: true if so.
 */
bool rcl_access_may(const struct rcl_access *access, const struct cred *cred,
		    bool audit)
{
	kuid_t owner = make_kuid(&init_user_ns, access->owner);
	kgid_t group = make_kgid(&init_user_ns, access->group);
	const struct cred *own;
	bool may;

	if (!cred)
		return true;
	own = override_creds(cred);
	/* Anybody with the capability could grant himself the right. */
	may = rcl_access_by_mode(owner, group, access->mode) ||
	      (audit ? capable(CAP_NET_ADMIN) :
		       ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN));
	revert_creds(own);
	return may;
}

static bool rcl_access_may_link(const struct rcl_policy *policy,
				const struct cred *cred, bool audit)
{
	struct rcl_access access = {
		.owner = policy->v[RCL_P_OWNER],
		.group = policy->v[RCL_P_GROUP],
		.mode = policy->v[RCL_P_MODE],
	};

	return rcl_access_may(&access, cred, audit);
}

/**
 * rcl_access_get - look up a link for a consumer that wants to use it
 * @name: of the link
 * @cred: of the consumer, NULL for the kernel, which may use everything
 *
 * Context: may sleep.
 * Return: the link with a reference, or an ERR_PTR: -ENODEV if there is no such
 * link, -EACCES without the right.
 */
struct rcl_link *rcl_access_get(const char *name, const struct cred *cred)
{
	struct rcl_link *link = rcl_link_get(name);
	struct rcl_policy policy;

	if (!link)
		return ERR_PTR(-ENODEV);
	rcl_link_read_policy(link, &policy);
	if (rcl_access_may_link(&policy, cred, true))
		return link;
	rcl_link_put(link);
	return ERR_PTR(-EACCES);
}

/**
 * rcl_access_check - may a consumer use a link?
 * @name: of the link
 * @cred: of the consumer, NULL for the kernel, which may use everything
 * @audit: as for rcl_access_may()
 *
 * Context: process context; never drops the last reference to a link, whose
 * work item may be waiting for a lock that the caller holds.
 * Return: 0, -ENODEV or -EACCES.
 */
int rcl_access_check(const char *name, const struct cred *cred, bool audit)
{
	struct rcl_policy policy;

	if (!rcl_link_policy(name, &policy))
		return -ENODEV;
	return rcl_access_may_link(&policy, cred, audit) ? 0 : -EACCES;
}
