/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that this is built for. */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/version.h>

/* The third argument of create_cq. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define sim_cq_udata	ib_udata
#else
#define sim_cq_udata	uverbs_attr_bundle
#endif

#endif /* SIM_COMPAT_H */
