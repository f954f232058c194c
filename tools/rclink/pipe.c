// SPDX-License-Identifier: GPL-2.0
#include "pipe.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "cli.h"
#include "process.h"

#define SHOW_NS		(NS_PER_S / 2)
#define MIB		1048576.0
#define REAP		16

int pipe_begin(struct pipe *p)
{
	p->sha = EVP_MD_CTX_new();
	if (!p->sha || !EVP_DigestInit_ex(p->sha, EVP_sha256(), NULL))
		return cli_fail("%s: out of memory", p->at.cmd);
	p->memory = attach_memory(&p->at, PIPE_MEMORY, &p->region);
	if (!p->memory)
		return CLI_FAILED;
	p->begun = rcl_now();
	p->shown = p->begun;
	return CLI_OK;
}

void pipe_end(struct pipe *p)
{
	attach_close(&p->at);
	if (p->memory)
		munmap(p->memory, PIPE_MEMORY);
	EVP_MD_CTX_free(p->sha);
}

static void show(struct pipe *p, uint64_t now)
{
	double seconds = (double)(now - p->begun + 1) / NS_PER_S;

	fprintf(stderr, "\r%s: %.1f MiB, %.1f MiB/s \033[K", p->at.cmd,
		p->sum.total / MIB, p->sum.total / MIB / seconds);
	p->shown = now;
}

void pipe_count(struct pipe *p, const void *data, size_t len)
{
	uint64_t now;

	EVP_DigestUpdate(p->sha, data, len);
	p->sum.total += len;
	if (!p->progress)
		return;
	now = rcl_now();
	if (now - p->shown >= SHOW_NS)
		show(p, now);
}

void pipe_finish(struct pipe *p)
{
	EVP_DigestFinal_ex(p->sha, p->sum.sha, NULL);
}

void pipe_quiet(struct pipe *p)
{
	if (!p->progress)
		return;
	show(p, rcl_now());
	fputc('\n', stderr);
	p->progress = false;
}

void pipe_over(struct pipe *p, int status)
{
	p->ended = rcl_now();
	p->over = true;
	p->status = status;
}

void pipe_failed(struct pipe *p, const char *what, const char *why)
{
	pipe_quiet(p);
	pipe_over(p, cli_fail("%s %s:%s: %s: %s", p->at.cmd, p->at.target.link,
			      p->at.target.service, what, why));
}

void pipe_failed_errno(struct pipe *p, const char *what, int ret)
{
	pipe_quiet(p);
	pipe_over(p, attach_failed(&p->at, what, ret));
}

int pipe_reap(struct pipe *p,
	      void (*take)(void *end, const struct rclink_dev_cqe *cqe),
	      void *end)
{
	struct rclink_dev_cqe cqes[REAP];
	int i, num;

	num = rclink_reap(p->at.chan, cqes, REAP);
	if (num < 0 && !p->over)
		pipe_failed_errno(p, "completions", num);
	for (i = 0; i < num; i++) {
		if (cqes[i].op != RCLINK_OP_RECV)
			p->completed++;
		if (p->over)
			continue;
		if (cqes[i].status) {
			pipe_quiet(p);
			pipe_over(p, attach_broken(&p->at, &cqes[i]));
		} else if (cqes[i].op == RCLINK_OP_RECV) {
			take(end, &cqes[i]);
		}
	}
	return num;
}

void pipe_linger(struct pipe *p)
{
	int ret = 0;

	while (p->completed != p->sent && (ret >= 0 || ret == -EINTR)) {
		ret = attach_wait(&p->at);
		if (pipe_reap(p, NULL, NULL) < 0)
			break;
	}
}
