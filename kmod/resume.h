/* SPDX-License-Identifier: GPL-2.0 */
/* Leases that go on in the next epoch. */
#ifndef RCL_RESUME_H
#define RCL_RESUME_H

#include <linux/types.h>

struct list_head;
struct rcl_epoch;
struct rcl_lease;
struct rcl_lessee;
struct rcl_msg;

void rcl_resume_later(struct rcl_lessee *lessee, u32 index,
		      struct list_head *suspended);
void rcl_resume_lose(struct rcl_lessee *lessee, int why);
bool rcl_resume_lose_all(struct list_head *suspended, int why);
void rcl_resume_lose_broken(struct list_head *suspended, int why);
void rcl_resume_begin(struct rcl_epoch *ep, struct list_head *suspended);
int rcl_resume_ask(struct rcl_epoch *ep);
bool rcl_resume_may_import(const struct rcl_epoch *ep);
int rcl_resume_question(struct rcl_epoch *ep, struct rcl_lease *lease,
			const struct rcl_msg *msg, struct rcl_msg *answer);
int rcl_resume_answer(struct rcl_epoch *ep, struct rcl_lease *lease,
		      const struct rcl_msg *msg);
void rcl_resume_close(struct rcl_epoch *ep, struct rcl_lease *lease, int why);

#endif /* RCL_RESUME_H */
