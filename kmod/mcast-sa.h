/* SPDX-License-Identifier: GPL-2.0 */
/* The subnet manager's part in a multicast group. */
#ifndef RCL_MCAST_SA_H
#define RCL_MCAST_SA_H

#include <rdma/ib_sa.h>

struct rcl_dev_user;
struct rcl_mcast_addr;
struct rcl_upcall;

/**
 * struct rcl_mcast_sa - a membership that was asked for, or none
 * @up: set; gets kick() on an answer, and fail() when the membership is over
 * @multicast: the core's object, NULL when not asked
 * @answered: @status is set, and @rec if that is 0
 * @status: 0 or a negative errno
 * @rec: of the group
 */
struct rcl_mcast_sa {
	struct rcl_upcall *up;
	struct ib_sa_multicast *multicast;
	bool answered;
	int status;
	struct ib_sa_mcmember_rec rec;
};

static inline bool rcl_mcast_sa_is_asked(const struct rcl_mcast_sa *sa)
{
	return sa->multicast;
}

int rcl_mcast_sa_ask(struct rcl_mcast_sa *sa, const struct rcl_dev_user *user,
		     const u8 *mgid, const char **why);
bool rcl_mcast_sa_has_answer(const struct rcl_mcast_sa *sa);
int rcl_mcast_sa_get(const struct rcl_mcast_sa *sa, struct rcl_mcast_addr *addr,
		     u32 *mtu, const char **why);
void rcl_mcast_sa_leave(struct rcl_mcast_sa *sa);

void rcl_mcast_sa_init(void);
void rcl_mcast_sa_exit(void);

#endif /* RCL_MCAST_SA_H */
