/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a listener admits to which link. */
#ifndef CLI_PEERS_H
#define CLI_PEERS_H

#include <stdbool.h>

#include <linux/rclink.h>

struct cli_peers;

/* NULL without memory. */
struct cli_peers *cli_peers_new(void);
void cli_peers_free(struct cli_peers *peers);

/* All that return int: 0, or a negative errno with a sentence in err. */

/* "NAME=sha256:..." or "NAME=dns:host.example" */
int cli_peers_add(struct cli_peers *peers, const char *text, char *err);

/* Are there any, and of the kind that this way of trust proves? */
int cli_peers_check(const struct cli_peers *peers, bool by_ca, char *err);

/* Is any link open to this identity? */
bool cli_peers_know(const struct cli_peers *peers, const char *identity);

/*
 * Which link is a peer with this identity admitted to that wants the one called
 * wanted? Its only one, or of several the one of that name.
 */
int cli_peers_admit(const struct cli_peers *peers, const char *identity,
		    const char *wanted, char link[RCLINK_NAME_MAX + 1],
		    char *err);

#endif /* CLI_PEERS_H */
