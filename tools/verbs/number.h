/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers of epochs in this process: those of a link only grow, and what a
 * peer makes of them concerns its own link alone.
 */
#ifndef RCV_NUMBER_H
#define RCV_NUMBER_H

#include <stdint.h>

/* For the link's next epoch, from 1. 0: no memory is left. */
uint64_t rcv_number_next(const char *link);

/* Both ends of the link took this one. */
void rcv_number_agreed(const char *link, uint64_t number);

#endif /* RCV_NUMBER_H */
