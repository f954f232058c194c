// SPDX-License-Identifier: GPL-2.0
/*
 * On InfiniBand the subnet manager says which LID stands for an MGID, and has
 * switches pass packets for it on to the ports that have joined (IBA
 * 15.2.5.17). The core asks it, several times in 3 s, and reports the answer,
 * and later the end of the membership, when the port, its LID or the subnet
 * manager has changed. It reports both from a work item of its own; the
 * callback here only notes them and kicks.
 *
 * The first member to join has the group created. The subnet manager is told a
 * fixed Q_Key: the Q_Key of the packets comes with the key, and the subnet
 * manager looks at no packet.
 */
#include "mcast-sa.h"

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "mcast.h"
#include "upcall.h"

#define RCL_MCAST_SA_QKEY	0x0072636c	/* "rcl" */
#define RCL_MCAST_SA_MEMBER	1		/* full: sends and receives */
#define RCL_MCAST_SA_FULL	0x8000		/* bit of a partition key */

/* Includes all that is needed to create the group. */
#define RCL_MCAST_SA_MASK	(IB_SA_MCMEMBER_REC_MGID | \
				 IB_SA_MCMEMBER_REC_PORT_GID | \
				 IB_SA_MCMEMBER_REC_JOIN_STATE | \
				 IB_SA_MCMEMBER_REC_QKEY | \
				 IB_SA_MCMEMBER_REC_PKEY | \
				 IB_SA_MCMEMBER_REC_TRAFFIC_CLASS | \
				 IB_SA_MCMEMBER_REC_SL | \
				 IB_SA_MCMEMBER_REC_FLOW_LABEL)

static struct ib_sa_client rcl_mcast_sa_client;

/* Always returns 0: whoever asked ends the membership, not the core. */
static int rcl_mcast_sa_told(int status, struct ib_sa_multicast *multicast)
{
	struct rcl_mcast_sa *sa = multicast->context;

	if (sa->answered) {
		sa->up->fail(sa->up, RCLINK_DOWN_REASON_SUBNET_MANAGER, 0, 0,
			     RCL_QP_NONE);
		return 0;
	}
	sa->status = status;
	if (!status)
		sa->rec = multicast->rec;
	/* Pairs with the acquire in rcl_mcast_sa_has_answer(). */
	smp_store_release(&sa->answered, true);
	sa->up->kick(sa->up);
	return 0;
}

/**
 * rcl_mcast_sa_ask - ask the subnet manager, if there is one, for a membership
 * @sa: with @sa->up set; not asked yet, or left since
 * @user: attached; a RoCE port has no subnet manager to ask
 * @mgid: of the group, 16 bytes
 * @why: set to a sentence when the subnet manager cannot be asked
 *
 * Context: may sleep.
 * Return: 0, and there will be an answer if rcl_mcast_sa_is_asked(); or
 * -ENOMEM, -ENODEV, or what rcl_dev_get_pkey() returns.
 */
int rcl_mcast_sa_ask(struct rcl_mcast_sa *sa, const struct rcl_dev_user *user,
		     const u8 *mgid, const char **why)
{
	struct ib_sa_mcmember_rec rec = {
		.qkey = cpu_to_be32(RCL_MCAST_SA_QKEY),
		.join_state = RCL_MCAST_SA_MEMBER,
	};
	struct ib_sa_multicast *multicast;
	u32 pkey;
	int ret;

	if (!rdma_cap_ib_mcast(user->ib, user->port))
		return 0;
	ret = rcl_dev_get_pkey(user, 0, &pkey, why);
	if (ret)
		return ret;
	/* The core and others compare it with that of the group. */
	rec.pkey = cpu_to_be16(pkey | RCL_MCAST_SA_FULL);
	memcpy(rec.mgid.raw, mgid, sizeof(rec.mgid.raw));
	memcpy(rec.port_gid.raw, user->gid, sizeof(rec.port_gid.raw));
	sa->answered = false;
	*why = "the subnet manager cannot be asked";
	multicast = ib_sa_join_multicast(&rcl_mcast_sa_client, user->ib,
					 user->port, &rec, RCL_MCAST_SA_MASK,
					 GFP_KERNEL, rcl_mcast_sa_told, sa);
	if (IS_ERR(multicast))
		return PTR_ERR(multicast);
	sa->multicast = multicast;
	return 0;
}

/**
 * rcl_mcast_sa_has_answer - has the subnet manager answered, or taken too long?
 * @sa: asked
 *
 * Context: any.
 * Return: true for yes.
 */
bool rcl_mcast_sa_has_answer(const struct rcl_mcast_sa *sa)
{
	/* Pairs with the release in rcl_mcast_sa_told(). */
	return smp_load_acquire(&sa->answered);
}

#define RCL_MCAST_SA_REFUSES \
	"the subnet manager refuses it: the group may have a larger MTU or rate than the port, or another partition key or Q_Key"

static const char *rcl_mcast_sa_why(int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return "the subnet manager does not answer: see that one runs";
	case -EINVAL:
		return RCL_MCAST_SA_REFUSES;
	case -EAGAIN:
		return "the port has no way to its subnet manager yet";
	default:
		return "the subnet manager cannot be asked";
	}
}

/**
 * rcl_mcast_sa_get - what has the subnet manager answered?
 * @sa: asked
 * @addr: its LID, service level and rate are set
 * @mtu: of the port; lowered to that of the group if that is less
 * @why: set to a sentence on failure
 *
 * Context: any.
 * Return: 0, -EINPROGRESS without an answer, -ETIMEDOUT, -EINVAL for a refusal,
 * or another errno from the core.
 */
int rcl_mcast_sa_get(const struct rcl_mcast_sa *sa, struct rcl_mcast_addr *addr,
		     u32 *mtu, const char **why)
{
	int of_group;

	*why = rcl_mcast_sa_why(-ETIMEDOUT);
	if (!rcl_mcast_sa_has_answer(sa))
		return -EINPROGRESS;
	*why = rcl_mcast_sa_why(sa->status);
	if (sa->status)
		return sa->status;
	addr->lid = be16_to_cpu(sa->rec.mlid);
	addr->sl = sa->rec.sl;
	addr->rate = sa->rec.rate;
	of_group = ib_mtu_enum_to_int(sa->rec.mtu);
	if (of_group > 0)
		*mtu = min_t(u32, *mtu, of_group);
	return 0;
}

/**
 * rcl_mcast_sa_leave - the mirror of rcl_mcast_sa_ask()
 * @sa: asked, with an answer or without; no callback comes afterwards
 *
 * The core tells the subnet manager.
 *
 * Context: may sleep, while a callback runs.
 */
void rcl_mcast_sa_leave(struct rcl_mcast_sa *sa)
{
	ib_sa_free_multicast(sa->multicast);
	sa->multicast = NULL;
}

/**
 * rcl_mcast_sa_init - register as a client that may ask
 */
void __init rcl_mcast_sa_init(void)
{
	ib_sa_register_client(&rcl_mcast_sa_client);
}

/**
 * rcl_mcast_sa_exit - the mirror of rcl_mcast_sa_init()
 *
 * Context: may sleep; nobody asks any more.
 */
void rcl_mcast_sa_exit(void)
{
	ib_sa_unregister_client(&rcl_mcast_sa_client);
}
