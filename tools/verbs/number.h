/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The epoch numbers of this process: those of a link only grow, and a peer can
 * affect those of its own link alone.
 */
#ifndef RCV_NUMBER_H
#define RCV_NUMBER_H

#include <stdint.h>

/* The number of the link's next epoch, from 1. 0: out of memory. */
uint64_t rcv_number_next(const char *link);

/* Both ends of the link agreed on this number. */
void rcv_number_agreed(const char *link, uint64_t number);

#endif /* RCV_NUMBER_H */
