// SPDX-License-Identifier: GPL-2.0
/*
 * What a module built with -fprofile-arcs needs of a kernel without
 * CONFIG_GCOV_KERNEL. Each time rclink is unloaded, its counters are added to
 * the .gcda files of its objects, in rclink_coverage of debugfs.
 */
#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gcov.h"

#if __GNUC__ < 12 || __GNUC__ > 13
#error "another gcc has another format"
#endif

#define GCDA_MAGIC		0x67636461
#define GCDA_FUNCTION		0x01000000
#define GCDA_ARCS		0x01a10000

struct gcda_head {
	__le32 magic, version, stamp, sum;
} __packed;

/* Lengths are in bytes, of what follows the length. */
struct gcda_function {
	__le32 tag, length, ident, lines_sum, arcs_sum;
	__le32 counters_tag, counters_length;
	__le64 counter[];
} __packed;

struct gcda {
	struct list_head node;
	char name[64];
	struct debugfs_blob_wrapper blob;
};

static DEFINE_MUTEX(gcda_lock);	/* protects gcda_list and its counters */
static LIST_HEAD(gcda_list);
static struct dentry *gcda_dir;

/* Only its address is used, to mark a kind of counters; nobody calls it. */
void __gcov_merge_add(s64 *counter, u32 counters)
{
}
EXPORT_SYMBOL_GPL(__gcov_merge_add);

static size_t gcda_size(const struct gcov_info *info)
{
	size_t size = sizeof(struct gcda_head);
	u32 i;

	for (i = 0; i < info->functions; i++)
		size += sizeof(struct gcda_function) +
			info->function[i]->arcs.n * sizeof(__le64);
	return size;
}

static struct gcda *gcda_find(const char *name)
{
	struct gcda *gcda;

	list_for_each_entry(gcda, &gcda_list, node) {
		if (!strcmp(gcda->name, name))
			return gcda;
	}
	return NULL;
}

static struct gcda *gcda_create(const char *name, size_t size)
{
	struct gcda *gcda = kzalloc(sizeof(*gcda), GFP_KERNEL);

	if (!gcda)
		return NULL;
	gcda->blob.data = kvzalloc(size, GFP_KERNEL);
	if (!gcda->blob.data) {
		kfree(gcda);
		return NULL;
	}
	gcda->blob.size = size;
	strscpy(gcda->name, name, sizeof(gcda->name));
	list_add(&gcda->node, &gcda_list);
	debugfs_create_blob(gcda->name, 0400, gcda_dir, &gcda->blob);
	return gcda;
}

/* Only the counters differ from one call to the next. */
static void gcda_add(struct gcda *gcda, const struct gcov_info *info)
{
	struct gcda_head *head = gcda->blob.data;
	struct gcda_function *to = (void *)(head + 1);
	const struct gcov_function *from;
	u32 i, j;

	head->magic = cpu_to_le32(GCDA_MAGIC);
	head->version = cpu_to_le32(info->version);
	head->stamp = cpu_to_le32(info->stamp);
	head->sum = cpu_to_le32(info->sum);
	for (i = 0; i < info->functions; i++) {
		from = info->function[i];
		to->tag = cpu_to_le32(GCDA_FUNCTION);
		to->length = cpu_to_le32(offsetof(typeof(*to), counters_tag) -
					 offsetof(typeof(*to), ident));
		to->ident = cpu_to_le32(from->ident);
		to->lines_sum = cpu_to_le32(from->lines_sum);
		to->arcs_sum = cpu_to_le32(from->arcs_sum);
		to->counters_tag = cpu_to_le32(GCDA_ARCS);
		to->counters_length =
			cpu_to_le32(from->arcs.n * sizeof(to->counter[0]));
		for (j = 0; j < from->arcs.n; j++)
			le64_add_cpu(&to->counter[j], from->arcs.value[j]);
		to = (void *)&to->counter[from->arcs.n];
	}
}

/**
 * rcl_coverage_take - add the counters of a module, before it is gone
 * @info: of each of its objects
 * @n: number of objects
 *
 * Context: Process context, may sleep. Nothing of the module runs.
 */
void rcl_coverage_take(struct gcov_info **info, size_t n)
{
	struct gcda *gcda;
	size_t i, size;

	mutex_lock(&gcda_lock);
	for (i = 0; i < n; i++) {
		size = gcda_size(info[i]);
		gcda = gcda_find(kbasename(info[i]->filename));
		if (!gcda)
			gcda = gcda_create(kbasename(info[i]->filename), size);
		if (gcda && gcda->blob.size == size)
			gcda_add(gcda, info[i]);
		else
			pr_err("%s is not counted\n", info[i]->filename);
	}
	mutex_unlock(&gcda_lock);
}
EXPORT_SYMBOL_GPL(rcl_coverage_take);

static int __init coverage_init(void)
{
	gcda_dir = debugfs_create_dir("rclink_coverage", NULL);
	return PTR_ERR_OR_ZERO(gcda_dir);
}

static void __exit coverage_exit(void)
{
	struct gcda *gcda, *next;

	debugfs_remove_recursive(gcda_dir);
	list_for_each_entry_safe(gcda, next, &gcda_list, node) {
		kvfree(gcda->blob.data);
		kfree(gcda);
	}
}

module_init(coverage_init);
module_exit(coverage_exit);

MODULE_DESCRIPTION("Keeps what rclink.ko counted of its lines, for gcov");
MODULE_LICENSE("GPL");
