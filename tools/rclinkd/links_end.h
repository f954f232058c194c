/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ends a link takes the module as long as the device does for its QPs, and
 * a goodbye. So it is asked for in threads, see ask.h, of some links at once.
 */
#ifndef RCD_LINKS_END_H
#define RCD_LINKS_END_H

#include <stdbool.h>

struct rcd_link;
struct rcd_links;

/*
 * One that is gone is deleted, one that is stale made anew, one whose peer is
 * to be another disconnected; of any other one the epoch is replaced, so that
 * its channels may go on. Nothing more if that is under way. When it is over,
 * which may be at once, all->ended() hears of it.
 */
void rcd_link_end(struct rcd_link *link);

/*
 * The same of one whose peer is to be another: it waits for no other link, so
 * that whoever it was is not there a moment longer.
 */
void rcd_link_end_now(struct rcd_link *link);

/* Is it still to be asked for? It ends whatever epoch is up by then. */
bool rcd_link_end_waits(const struct rcd_link *link);

/* Whatever waits for its turn is done now, and all->ended() hears no more. */
void rcd_links_end_all(struct rcd_links *all);

#endif /* RCD_LINKS_END_H */
