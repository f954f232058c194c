/* SPDX-License-Identifier: GPL-2.0 */
/* `rclink dev --verbs`: devices as libibverbs shows them. */
#ifndef VERBS_DEV_H
#define VERBS_DEV_H

struct json_object;

/*
 * Add the documents of all ports of the device called name, or of all devices,
 * as rcl_doc_dev() makes them, and more; those that cannot be asked are left
 * out, after saying why, and CLI_FAILED is returned.
 */
int verbs_dev_list(const char *name, struct json_object *list);

/* What is there beside the rest, as tables. */
void verbs_dev_print(struct json_object *list);

#endif /* VERBS_DEV_H */
