/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far end of chan_late is slow to begin: each of its services is so in
 * another way. On all of them it exports a page under the name of the service.
 */
#ifndef LATE_H
#define LATE_H

#define LATE_SLOW	"late.slow"	/* sends, later receives all, answers */
#define LATE_NEVER	"late.never"	/* its region ends; never receives */
#define LATE_GONE	"late.gone"	/* closes */
#define LATE_MS		3000		/* until it does so */
#define LATE_MESSAGES	29		/* numbered, 4 bytes each */
#define LATE_HELLO	0x1a7e		/* what it sends, without waiting */

#endif /* LATE_H */
