/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ending a link takes the module as long as the device needs for its QPs, and a
 * goodbye. So it is asked for in threads, see ask.h, for some links at once.
 */
#ifndef RCD_LINKS_END_H
#define RCD_LINKS_END_H

#include <stdbool.h>

struct rcd_link;
struct rcd_links;

/*
 * A link that is gone is deleted, one that is stale or whose peer is to be
 * another is made anew; for any other, the epoch is replaced, so that its
 * channels may go on. Nothing more is done if that is under way. all->ended()
 * is called when it is over, which may be at once.
 */
void rcd_link_end(struct rcd_link *link);

/*
 * The same for a link whose peer is to be another: it waits for no other link,
 * so that the old peer is not there a moment longer.
 */
void rcd_link_end_now(struct rcd_link *link);

/* Is the end still to be asked for? It ends the epoch that is up by then. */
bool rcd_link_end_waits(const struct rcd_link *link);

/* Do now what waits for its turn; all->ended() is called no more. */
void rcd_links_end_all(struct rcd_links *all);

#endif /* RCD_LINKS_END_H */
