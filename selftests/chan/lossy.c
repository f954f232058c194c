// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation that moves data, by several processes side by side, compared
 * at both ends; see lossy.h.
 *
 * usage: lossy LINK listen WRITERS
 *        lossy LINK run WRITERS SECONDS SEED MIX [end]
 *
 * With "end" a channel may end at any time, and is opened again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

#include "lossy.h"

#define BACKLOG	4

/* Do all child processes end well? */
static int gather(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad += status != 0;
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int do_listen(const char *link, uint32_t writers)
{
	struct rclink_listener *listener[LOSSY_WRITERS];
	char name[LOSSY_NAME];
	uint8_t *memory;
	uint32_t i;
	int ret;

	memory = mmap(NULL, LOSSY_LEAD + LOSSY_MEMORY, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return EXIT_FAILURE;
	memory += LOSSY_LEAD;
	for (i = 0; i < writers; i++) {
		lossy_name(name, "lossy", i);
		ret = rclink_listen(&listener[i], link, name, BACKLOG, 0);
		if (ret) {
			fprintf(stderr, "lossy: listen: %s\n", strerror(-ret));
			return EXIT_FAILURE;
		}
	}
	puts("listening");
	fflush(stdout);
	for (i = 0; i < writers; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			exit(lossy_far(listener[i], i, memory));
		}
	/* If one ends, the others keep its listener open, but never accept. */
	wait(NULL);
	return EXIT_FAILURE;
}

static int do_run(const char *link, uint32_t writers, char **argv)
{
	unsigned int seconds = strtoul(argv[0], NULL, 0);
	uint64_t seed = strtoul(argv[1], NULL, 0) |
		strtoull(argv[2], NULL, 0) << LOSSY_MIX_SHIFT;
	uint32_t i;

	for (i = 0; i < writers; i++)
		if (!fork())
			exit(lossy_near(link, i, seed, seconds, argv[3]));
	return gather();
}

int main(int argc, char **argv)
{
	uint32_t writers = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;

	if (!writers || writers > LOSSY_WRITERS)
		return 2;
	if (argc == 4 && !strcmp(argv[2], "listen"))
		return do_listen(argv[1], writers);
	if (argc >= 7 && argc <= 8 && !strcmp(argv[2], "run"))
		return do_run(argv[1], writers, argv + 4);
	return 2;
}
