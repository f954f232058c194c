/* SPDX-License-Identifier: GPL-2.0 */
/* What the service manager wants to know; without one, nothing happens. */
#ifndef RCD_NOTIFY_H
#define RCD_NOTIFY_H

struct event_base;
struct rcd_notify;

/* Starts to feed the watchdog, if there is one. NULL without memory. */
struct rcd_notify *rcd_notify_new(struct event_base *base);
void rcd_notify_free(struct rcd_notify *n);

/* Call it while the loop waits for something, or does not run yet. */
void rcd_notify_alive(void);

void rcd_notify_ready(void);
void rcd_notify_reloading(void);
void rcd_notify_stopping(void);
void rcd_notify_status(unsigned int up, unsigned int links);

#endif /* RCD_NOTIFY_H */
