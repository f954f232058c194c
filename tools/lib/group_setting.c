// SPDX-License-Identifier: GPL-2.0
#include "group_setting.h"

#include <errno.h>
#include <string.h>

#include "fail.h"
#include "group.h"
#include "range.h"
#include "setting.h"
#include "text.h"

#define PORT_MAX	255	/* as for a link */
#define MLID_MIN	0xc000
#define MLID_MAX	0xfffe
#define BETWEEN		" \t,"	/* names of links */

static int given_before(const char *word, char *err)
{
	return rcl_fail(err, -EEXIST, "%s is given twice", word);
}

static int set_mgid(struct rcl_group_info *group, const char *value, char *err)
{
	if (!rcl_gid_is_unset(group->mgid))
		return given_before("mgid", err);
	if (!rcl_parse_gid(value, group->mgid))
		return rcl_fail(err, -EINVAL, "mgid: '%.100s' is no address",
				value);
	return 0;
}

static int set_device(struct rcl_group_info *group, const char *value,
		      char *err)
{
	if (group->device_given)
		return given_before("dev", err);
	if (!*value || strlen(value) > RCLINK_DEVICE_MAX)
		return rcl_fail(err, -EINVAL, "dev must be 1 to %d characters",
				RCLINK_DEVICE_MAX);
	group->device_given = true;
	if (strcmp(value, "auto"))
		strcpy(group->device, value);
	return 0;
}

static int get_number(const char *word, const char *value, uint32_t min,
		      uint32_t max, uint32_t *number, char *err)
{
	if (rcl_parse_u32(value, number) && *number >= min && *number <= max)
		return 0;
	return rcl_fail(err, -EINVAL,
			"%s must be a number from %u to %u, not '%.100s'", word,
			min, max, value);
}

static int set_port(struct rcl_group_info *group, const char *value, char *err)
{
	int ret = 0;

	if (group->port_given)
		return given_before("port", err);
	if (strcmp(value, "auto"))
		ret = get_number("port", value, 1, PORT_MAX, &group->port, err);
	group->port_given = !ret;
	return ret;
}

static int set_gid_index(struct rcl_group_info *group, const char *value,
			 char *err)
{
	if (group->has_gid_index)
		return given_before("gid-index", err);
	group->has_gid_index = true;
	group->gid_index = RCLINK_GID_INDEX_AUTO;
	if (!strcmp(value, "auto"))
		return 0;
	return get_number("gid-index", value, 0, RCLINK_GID_INDEX_AUTO - 1,
			  &group->gid_index, err);
}

static int set_qkey(struct rcl_group_info *group, const char *value, char *err)
{
	if (group->has_qkey)
		return given_before("qkey", err);
	group->has_qkey = true;
	return get_number("qkey", value, 0, UINT32_MAX, &group->qkey, err);
}

/* The first len characters of value. */
static int get_name(const char *word, const char *value, size_t len, char *name,
		    char *err)
{
	char text[RCLINK_NAME_MAX + 2];		/* one more is too many */
	const char *why;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, value, len);
	text[len] = '\0';
	if (rcl_range_name(text, &why))
		return rcl_fail(err, -EINVAL, "%s: %s, not '%s'", word, why,
				text);
	strcpy(name, text);
	return 0;
}

static int set_from(struct rcl_group_info *group, const char *value, char *err)
{
	if (group->from[0])
		return given_before("from", err);
	return get_name("from", value, strlen(value), group->from, err);
}

/* The first len characters of value. */
static int add_link(char (*names)[RCLINK_NAME_MAX + 1], size_t *num,
		    const char *word, const char *value, size_t len, char *err)
{
	char name[RCLINK_NAME_MAX + 1];
	size_t i;
	int ret;

	ret = get_name(word, value, len, name, err);
	if (ret)
		return ret;
	for (i = 0; i < *num; i++)
		if (!strcmp(names[i], name))
			return rcl_fail(err, -EEXIST, "%s %s is given twice",
					word, name);
	if (*num == RCLINK_GROUP_LINKS_MAX)
		return rcl_fail(err, -EINVAL, "%s: more than %d of them", word,
				RCLINK_GROUP_LINKS_MAX);
	strcpy(names[(*num)++], name);
	return 0;
}

static int add_links(char (*names)[RCLINK_NAME_MAX + 1], size_t *num,
		     const char *word, const char *value, char *err)
{
	size_t len;
	int ret;

	do {
		value += strspn(value, BETWEEN);
		len = strcspn(value, BETWEEN);
		ret = add_link(names, num, word, value, len, err);
		value += len;
	} while (!ret && value[strspn(value, BETWEEN)]);
	return ret;
}

static bool is_access(const char *word)
{
	return !strcmp(word, "owner") || !strcmp(word, "group") ||
	       !strcmp(word, "mode");
}

int rcl_group_setting_parse(struct rcl_group_info *group, const char *word,
			    const char *value, char *err)
{
	if (!strcmp(word, "mgid"))
		return set_mgid(group, value, err);
	if (!strcmp(word, "dev") || !strcmp(word, "device"))
		return set_device(group, value, err);
	if (!strcmp(word, "port"))
		return set_port(group, value, err);
	if (!strcmp(word, "gid-index"))
		return set_gid_index(group, value, err);
	if (!strcmp(word, "mlid"))
		return group->mlid ? given_before(word, err) :
		       get_number(word, value, MLID_MIN, MLID_MAX,
				  &group->mlid, err);
	if (!strcmp(word, "qkey"))
		return set_qkey(group, value, err);
	if (!strcmp(word, "from"))
		return set_from(group, value, err);
	if (!strcmp(word, "link"))
		return add_links(group->link, &group->nlinks, word, value, err);
	if (is_access(word))
		return rcl_setting_parse(&group->access, word, value, err);
	return rcl_fail(err, -ENOENT, "there is no word '%.100s'", word);
}

int rcl_group_change_parse(struct rcl_group_change *change, const char *word,
			   const char *value, char *err)
{
	if (!strcmp(word, "link"))
		return add_links(change->on, &change->non, word, value, err);
	if (!strcmp(word, "no-link"))
		return add_links(change->off, &change->noff, word, value, err);
	if (is_access(word))
		return rcl_setting_parse(&change->access, word, value, err);
	return rcl_fail(err, -ENOENT,
			"link, no-link, rekey, owner, group or mode, not '%.100s'",
			word);
}

bool rcl_group_lists(const struct rcl_group_info *group, const char *link)
{
	size_t i;

	for (i = 0; i < group->nlinks; i++)
		if (!strcmp(group->link[i], link))
			return true;
	return false;
}
