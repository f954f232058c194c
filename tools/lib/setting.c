// SPDX-License-Identifier: GPL-2.0
#include "setting.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "link.h"
#include "text.h"

#define KNOWN_MAX	32	/* names; others are looked up each time */
#define NAME_LEN	64

static int set_name(const char *word, const char *value, char *name,
		    size_t max, bool *given, char *err)
{
	if (!*value || strlen(value) > max)
		return rcl_fail(err, -EINVAL, "%s must be 1 to %zu characters",
				word, max);
	if (*given)
		return rcl_fail(err, -EEXIST, "%s is given twice", word);
	*given = true;
	if (strcmp(value, "auto"))
		strcpy(name, value);
	return 0;
}

/*
 * errno is 0 or ESRCH if no name service has this name; otherwise one of them
 * does not answer, as may happen early at boot.
 */
static int no_name(const char *word, const char *what, const char *name,
		   char *err)
{
	const int error = errno;

	if (!error || error == ESRCH)
		return rcl_fail(err, -EINVAL,
				"%s: this host has no %s '%.100s'; a number will do, too",
				word, what, name);
	return rcl_fail(err, -EAGAIN,
			"%s: the %s '%.100s' cannot be asked for: %s; try again later, or give a number",
			word, what, name, strerror(error));
}

/* What name services answered, which may have taken them seconds. */
static struct known {
	bool group;		/* else a user */
	char name[NAME_LEN];
	int ret;
	uint32_t id;
	char err[RCL_ERR_LEN];
} known[KNOWN_MAX];

static size_t num_known;

void rcl_setting_forget(void)
{
	num_known = 0;
}

static const struct known *recall(bool group, const char *name)
{
	size_t i;

	for (i = 0; i < num_known; i++)
		if (known[i].group == group && !strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static void remember(bool group, const char *name, int ret, uint32_t id,
		     const char *err)
{
	struct known *new = &known[num_known];

	if (num_known == KNOWN_MAX || strlen(name) >= NAME_LEN)
		return;
	num_known++;
	new->group = group;
	strcpy(new->name, name);
	new->ret = ret;
	new->id = id;
	snprintf(new->err, sizeof(new->err), "%s", ret ? err : "");
}

static int ask_user(const char *name, uint32_t *id, char *err)
{
	const struct passwd *user;

	errno = 0;
	user = getpwnam(name);
	if (!user)
		return no_name("owner", "user", name, err);
	*id = user->pw_uid;
	return 0;
}

static int ask_group(const char *name, uint32_t *id, char *err)
{
	const struct group *group;

	errno = 0;
	group = getgrnam(name);
	if (!group)
		return no_name("group", "group", name, err);
	*id = group->gr_gid;
	return 0;
}

/* What looks like a number is one: names may be looked up over the network. */
static int get_id(bool group, const char *name, uint32_t *id, char *err)
{
	const struct known *before;
	int ret;

	if (rcl_parse_u32(name, id))
		return 0;
	before = recall(group, name);
	if (before) {
		*id = before->id;
		return before->ret ? rcl_fail(err, before->ret, "%s",
					      before->err) : 0;
	}
	*id = 0;
	ret = group ? ask_group(name, id, err) : ask_user(name, id, err);
	remember(group, name, ret, *id, err);
	return ret;
}

static int get_number(const char *word, const char *text, uint32_t *value,
		      char *err)
{
	if (!rcl_parse_u32(text, value))
		return rcl_fail(err, -EINVAL,
				"%s must be a number, not '%.100s'", word,
				text);
	return 0;
}

/* 0 means auto only in the module: a user who types it means something else. */
static int get_or_auto(int field, const char *text, uint32_t *value, char *err)
{
	int ret;

	*value = 0;
	if (!strcmp(text, "auto"))
		return 0;
	ret = get_number(rcl_policy_word(field), text, value, err);
	if (!ret && !*value)
		ret = rcl_fail(err, -EINVAL,
			       "%s cannot be 0; say auto to leave it to the module",
			       rcl_policy_word(field));
	return ret;
}

static int get_value(int field, const char *text, uint32_t *value, char *err)
{
	switch (field) {
	case RCL_P_OWNER:
		return get_id(false, text, value, err);
	case RCL_P_GROUP:
		return get_id(true, text, value, err);
	case RCL_P_MODE:
		if (rcl_parse_mode(text, value))
			return 0;
		return rcl_fail(err, -EINVAL,
				"mode must be octal, as 0660, not '%.100s'",
				text);
	case RCL_P_RECOVER:
		if (rcl_word_value(RCL_WORDS_RECOVER, text, value))
			return 0;
		return rcl_fail(err, -EINVAL,
				"recover must be reset or resume, not '%.100s'",
				text);
	case RCL_P_GID_INDEX:
		*value = RCLINK_GID_INDEX_AUTO;
		if (!strcmp(text, "auto"))
			return 0;
		break;
	case RCL_P_PORT:
	case RCL_P_MTU:
		return get_or_auto(field, text, value, err);
	}
	return get_number(rcl_policy_word(field), text, value, err);
}

int rcl_setting_parse(struct rcl_policy *policy, const char *word,
		      const char *value, char *err)
{
	int field;

	if (!strcmp(word, "dev") || !strcmp(word, "device"))
		return set_name("dev", value, policy->device,
				RCLINK_DEVICE_MAX, &policy->device_given, err);
	if (!strcmp(word, "netdev"))
		return set_name(word, value, policy->netdev, RCLINK_NETDEV_MAX,
				&policy->netdev_given, err);
	for (field = 0; field < RCL_P_MAX; field++)
		if (!strcmp(word, rcl_policy_word(field)))
			break;
	if (field == RCL_P_MAX)
		return rcl_fail(err, -ENOENT, "there is no '%.100s' to set",
				word);
	if (policy->given & 1u << field)
		return rcl_fail(err, -EEXIST, "%s is given twice", word);
	policy->given |= 1u << field;
	return get_value(field, value, &policy->v[field], err);
}
