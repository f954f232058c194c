/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of `rclink --verbs`: argv[0] is "--verbs NAME". */
#ifndef VERBS_CMD_H
#define VERBS_CMD_H

int verbs_listen(int argc, char **argv);
int verbs_connect(int argc, char **argv);
int verbs_ping(int argc, char **argv);
int verbs_pingpong(int argc, char **argv);
int verbs_echo(int argc, char **argv);
int verbs_bench(int argc, char **argv);
int verbs_window(int argc, char **argv);

#endif /* VERBS_CMD_H */
