/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to and from the members of a group. */
#ifndef GROUP_CHAN_H
#define GROUP_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a message as text: with the NUL, each byte as "\x00" in the worst case. */
#define GROUP_TEXT_LEN(bytes)	((bytes) * 4 + 1)

/* What is not to be shown on a terminal becomes "\x1b". Returns to. */
const char *group_text(const uint8_t *data, size_t len, char *to);

/* Both take GROUP[:SERVICE]; return an exit code, after saying why not. */
int group_send(const char *name, const char *text);
/* So many messages; 0 for all that come. */
int group_recv(const char *name, uint32_t num, bool json);

#endif /* GROUP_CHAN_H */
