// SPDX-License-Identifier: GPL-2.0
/* As vmalloc_user(), but for whom it is charged to. */
#include "pages.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static void rcl_pages_put(struct page **pages, unsigned int n)
{
	while (n--)
		__free_page(pages[n]);
	kfree(pages);
}

static struct page **rcl_pages_get(unsigned int n)
{
	struct page **pages;
	unsigned int i;

	pages = kcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i]) {
			rcl_pages_put(pages, i);
			return NULL;
		}
	}
	return pages;
}

/**
 * rcl_pages_new - allocate memory that remap_vmalloc_range() takes
 * @size: bytes, not many pages
 *
 * It is charged to the calling process's memory cgroup.
 *
 * Context: may sleep.
 * Return: zeroed memory, or NULL.
 */
void *rcl_pages_new(size_t size)
{
	unsigned int n = PFN_UP(size);
	struct page **pages;
	void *addr;

	pages = rcl_pages_get(n);
	if (!pages)
		return NULL;
	addr = vmap(pages, n, VM_MAP | VM_USERMAP | VM_MAP_PUT_PAGES,
		    PAGE_KERNEL);
	if (!addr)
		rcl_pages_put(pages, n);
	return addr;
}

/**
 * rcl_pages_free - the mirror of rcl_pages_new()
 * @addr: of that, or NULL; who has it mapped keeps the pages
 *
 * Context: process or softirq context.
 */
void rcl_pages_free(const void *addr)
{
	/* It owns them, by VM_MAP_PUT_PAGES. */
	vfree(addr);
}
