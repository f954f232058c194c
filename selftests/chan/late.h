/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far end of chan_late is slow to begin, on each of its services in another
 * way. On all of them it sends LATE_HELLO, then exports a page under the name
 * of the service; it goes on when somebody connects to LATE_GO, a channel that
 * it closes, or when its own channel ends.
 */
#ifndef LATE_H
#define LATE_H

#define LATE_SLOW	"late.slow"	/* then receives all, and answers */
#define LATE_NEVER	"late.never"	/* then has no region; never receives */
#define LATE_GONE	"late.gone"	/* then closes */
#define LATE_GO		".go"		/* behind the name of the service */
#define LATE_SERVICE_LEN 32
#define LATE_MESSAGES	29		/* numbered, 4 bytes each */
#define LATE_HELLO	0x1a7e		/* sent first, without waiting */

#endif /* LATE_H */
