/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics in a file, for a collector that reads one (rclinkd(8)): those of the
 * links as `rclink stats --prometheus` prints them, and the daemon's own. The
 * file is replaced as a whole, so nobody reads half of one.
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
 * Write to this file, now and from time to time; "": to none. The previous file
 * is removed if it is another one. A failure to write is logged once for each
 * reason, and writing is tried again the next time.
 */
void rcd_textfile_set(struct rcd_textfile *t, const char *file);

#endif /* RCD_TEXTFILE_H */
