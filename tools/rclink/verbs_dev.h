/* SPDX-License-Identifier: GPL-2.0 */
/* `rclink dev --verbs`: devices as libibverbs shows them. */
#ifndef VERBS_DEV_H
#define VERBS_DEV_H

struct json_object;

/*
 * Add the documents of all ports of the device called name, or of all devices
 * if it is NULL: what rcl_doc_dev() makes, and more. Ports that cannot be asked
 * are left out, after saying why, and CLI_FAILED is returned.
 */
int verbs_dev_list(const char *name, struct json_object *list);

/* Print, as tables, what `rclink dev` shows only with --verbs. */
void verbs_dev_print(struct json_object *list);

#endif /* VERBS_DEV_H */
