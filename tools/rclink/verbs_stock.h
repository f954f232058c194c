/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VERBS_STOCK_H
#define VERBS_STOCK_H

/* `rclink pingpong --stock`, with its arguments. Returns an exit code. */
int verbs_stock(int argc, char **argv);

#endif /* VERBS_STOCK_H */
