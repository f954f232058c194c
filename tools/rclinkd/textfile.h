/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics in a file, for a collector that reads such (rclinkd(8)): those of the
 * links as `rclink stats --prometheus` prints them, and the daemon's own. It is
 * replaced as a whole, so nobody reads half of one.
 */
#ifndef RCD_TEXTFILE_H
#define RCD_TEXTFILE_H

struct event_base;
struct rcd_hwcount;
struct rcd_links;
struct rcd_textfile;

/* Writes nothing yet. NULL with a sentence in err. */
struct rcd_textfile *rcd_textfile_new(struct event_base *base,
				      const struct rcd_links *links,
				      const struct rcd_hwcount *hwcount,
				      char *err);
void rcd_textfile_free(struct rcd_textfile *t);

/*
 * Write to this file, now and from time to time; "": to none. The one that was
 * written to before is removed, if it is another. That it cannot be written is
 * said once for each reason, and the next time is tried again.
 */
void rcd_textfile_set(struct rcd_textfile *t, const char *file);

#endif /* RCD_TEXTFILE_H */
