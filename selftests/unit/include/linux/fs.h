/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_FS_H
#define UNIT_LINUX_FS_H

struct file;

struct file *get_file(struct file *file);

#endif /* UNIT_LINUX_FS_H */
