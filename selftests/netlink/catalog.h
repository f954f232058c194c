/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel reports of a family: its commands, who may use them, and the
 * attributes that each takes.
 */
#ifndef CATALOG_H
#define CATALOG_H

#include <stdint.h>

#define CATALOG_CMDS	64
#define CATALOG_ATTRS	512
#define CATALOG_NONE	UINT32_MAX

struct catalog {
	unsigned int ncmds;
	struct {
		uint8_t cmd;
		uint32_t flags;		/* GENL_ADMIN_PERM and others */
		uint32_t policy;	/* of a request, or CATALOG_NONE */
	} cmds[CATALOG_CMDS];
	unsigned int nattrs;
	struct {
		uint32_t policy;	/* the one that it is in */
		uint16_t type;
		uint32_t nested;	/* policy inside, or CATALOG_NONE */
	} attrs[CATALOG_ATTRS];
};

int catalog_read(struct catalog *c, const char *family);

#endif /* CATALOG_H */
