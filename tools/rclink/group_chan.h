/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to and from the members of a group. */
#ifndef GROUP_CHAN_H
#define GROUP_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a message as text, with the NUL; at worst each byte becomes "\x00". */
#define GROUP_TEXT_LEN(bytes)	((bytes) * 4 + 1)

/* Bytes that a terminal must not get become text like "\x1b". Returns to. */
const char *group_text(const uint8_t *data, size_t len, char *to);

/* Both take GROUP[:SERVICE]; return an exit code, after saying why not. */
int group_send(const char *name, const char *text);
/* Receives num messages; 0 for all that come. */
int group_recv(const char *name, uint32_t num, bool json);

#endif /* GROUP_CHAN_H */
