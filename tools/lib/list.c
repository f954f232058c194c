// SPDX-License-Identifier: GPL-2.0
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often a dump is tried while something changes each time. */
#define DUMP_TRIES	32

static void *info_at(const struct rcl_list *list, size_t i)
{
	return (char *)list->infos + i * list->kind->size;
}

void rcl_list_clear(struct rcl_list *list)
{
	size_t i;

	for (i = 0; list->kind->drop && i < list->num; i++)
		list->kind->drop(info_at(list, i));
	free(list->infos);
	list->infos = NULL;
	list->num = 0;
}

static bool comes_again(const struct rcl_list *list, size_t i)
{
	size_t j;

	for (j = i + 1; j < list->num; j++)
		if (list->kind->same(info_at(list, i), info_at(list, j)))
			return true;
	return false;
}

/* Between two parts of a dump, one may be deleted and made again. */
static void drop_former(struct rcl_list *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->num; i++) {
		if (!comes_again(list, i))
			memmove(info_at(list, kept++), info_at(list, i),
				list->kind->size);
		else if (list->kind->drop)
			list->kind->drop(info_at(list, i));
	}
	list->num = kept;
}

static int add(const struct nlmsghdr *hdr, void *arg)
{
	struct rcl_list *list = arg;
	void *infos;
	int ret;

	infos = realloc(list->infos, (list->num + 1) * list->kind->size);
	if (!infos)
		return -ENOMEM;
	list->infos = infos;
	ret = list->kind->get(hdr, info_at(list, list->num));
	if (!ret)
		list->num++;
	return ret;
}

int rcl_list_add(struct rcl_list *list, struct rcl_nl *nl, struct nl_msg *msg,
		 int put, char *err)
{
	return rcl_nl_request(nl, msg, put, list->kind->names, add, list, err);
}

static int ask(struct rcl_list *list, struct rcl_nl *nl, const char *name,
	       char *err)
{
	struct nl_msg *msg;
	int put = 0;

	msg = rcl_nl_msg(nl, list->kind->cmd, name ? 0 : NLM_F_DUMP, err);
	if (!msg)
		return -ENOMEM;
	if (name)
		put = list->kind->put_name(msg, name);
	return rcl_list_add(list, nl, msg, put, err);
}

int rcl_list_ask(struct rcl_list *list, struct rcl_nl *nl, const char *name,
		 char *err)
{
	int tries = DUMP_TRIES;
	int ret;

	do {
		rcl_list_clear(list);
		ret = ask(list, nl, name, err);
	} while (ret == -EAGAIN && --tries);
	if (ret == -EAGAIN && list->kind->same && !name) {
		drop_former(list);
		return 0;
	}
	if (ret)
		rcl_list_clear(list);
	return ret;
}
