/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/rclink: see include/uapi/linux/rclink_dev.h. */
#ifndef RCL_CDEV_H
#define RCL_CDEV_H

int rcl_cdev_init(void);
void rcl_cdev_exit(void);

#endif /* RCL_CDEV_H */
