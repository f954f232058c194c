// SPDX-License-Identifier: GPL-2.0
/*
 * Linked into rclink.ko where coverage is measured. The init and exit functions
 * of the module are here, so that the counters are saved before their memory is
 * gone. Stock kernels call no constructors of modules (CONFIG_CONSTRUCTORS);
 * -fprofile-info-section needs none.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "gcov.h"

static void take(void)
{
	rcl_coverage_take(rcl_coverage_begin,
			  rcl_coverage_end - rcl_coverage_begin);
}

static int __init hook_init(void)
{
	int ret = rcl_module_init();

	if (ret)
		take();
	return ret;
}

static void __exit hook_exit(void)
{
	rcl_module_exit();
	take();
}

module_init(hook_init);
module_exit(hook_exit);
