/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far end of chan_late is slow to begin: each of its services is so in
 * another way. On all of them it sends a number, then exports a page under the
 * name of the service; it goes on when somebody connects to LATE_GO, which it
 * closes, or when its channel ends.
 */
#ifndef LATE_H
#define LATE_H

#define LATE_SLOW	"late.slow"	/* then receives all, and answers */
#define LATE_NEVER	"late.never"	/* then has no region; never receives */
#define LATE_GONE	"late.gone"	/* then closes */
#define LATE_GO		".go"		/* behind the name of the service */
#define LATE_SERVICE_LEN 32
#define LATE_MESSAGES	29		/* numbered, 4 bytes each */
#define LATE_HELLO	0x1a7e		/* what it sends, without waiting */

#endif /* LATE_H */
