/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_HELLO_H
#define BENCH_HELLO_H

#include <stdbool.h>

#include "bench.h"

void bench_hello_put(const struct bench *b, struct bench_hello *hello);

/* From a peer, which may say anything: false if it makes no sense. */
bool bench_hello_get(struct bench *b, const struct bench_hello *hello);

/* Whether there is such a test with this operation. */
bool bench_is_test(enum bench_test test, unsigned int op);

/* Whether its size is always 8 bytes. */
bool bench_is_word(enum bench_test test, unsigned int op);

#endif /* BENCH_HELLO_H */
