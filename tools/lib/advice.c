// SPDX-License-Identifier: GPL-2.0
#include "advice.h"

#include <stddef.h>

#include <linux/rclink.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define CONNECT_AGAIN	"then connect it again"
#define NO_DAEMON	"connect it again, where rclinkd does not"
#define INTRUDER	"see `rclink stats`; if it comes again, look for an intruder in the RDMA network; "
/* Not `modinfo`, which shows what is installed. */
#define COMPARE_LOADED	"compare `cat /sys/module/rclink/srcversion`, of the module that is loaded, on both hosts"
#define LOAD_SAME	", install the same, and load it: `rmmod rclink; modprobe rclink`; "
#define REPORT_BUG	"report it with the kernel logs of both hosts"

/* A new reason needs one line here. */
static const struct rcl_advice reasons[] = {
	[RCLINK_DOWN_REASON_NONE] = { "nothing is wrong", "nothing" },
	[RCLINK_DOWN_REASON_DISCONNECTED] = {
		"somebody on this host took the link down",
		"if that was not wanted, find out who; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_PEER_DISCONNECTED] = {
		"somebody on the peer took the link down, deleted it there, or unloaded the module",
		"see `rclink why` on the peer; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_OWNER_GONE] = {
		"the rclink that brought the link up ended before both ends were up",
		"connect it again, and see what that says" },
	[RCLINK_DOWN_REASON_TIMED_OUT] = {
		"the peer's kernel did not answer: its host stands still, or the path carries no RDMA",
		"check that the peer's host runs, and the path: MTU, VLAN, and UDP port 4791 on RoCE; "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_COMPLETION] = {
		"the device gave up a work request",
		"see `rclink why` on the peer and the kernel logs; "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_QP_FATAL] = {
		"the device gave up a queue pair: its driver or firmware failed, or a packet came that does not belong there",
		"see the kernel log for what the driver says; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_DEVICE_FATAL] = {
		"the RDMA device failed as a whole",
		"see the kernel log; reset the device or reload its driver, "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_PORT_DOWN] = {
		"the cable was pulled, the switch port failed, or the net device was set down on this host",
		"check the cable, `ip link` and `rclink dev`; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_GID_CHANGED] = {
		"the address that the link was built on was removed or changed on this host",
		"check the addresses with `ip address` and `rclink dev`; "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_DEVICE_REMOVED] = {
		"the RDMA device was deleted or unplugged, or its driver was unloaded",
		"bring the device back, see `rclink dev`; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_UNAUTHENTICATED] = {
		"somebody sends forged packets to this link",
		INTRUDER CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_PROTOCOL] = {
		"the peer's module has a bug, is of another version, or is hostile",
		COMPARE_LOADED "; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_LOCAL_ERROR] = {
		"this host is short of memory or the device of resources, or the device refused the peer's values",
		"see the kernel log and `rdma resource`; " CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_PEER_SILENT] = {
		"the peer's host is off, stands still or restarts, or the path to it or back is cut",
		"check that the peer's host runs, and the path in both directions; "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_OUT_OF_SEQUENCE] = {
		"somebody recorded a message and sent it again, or said in the peer's name that a lost one had arrived",
		INTRUDER CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_NOT_A_MESSAGE] = {
		"somebody sends packets to this link that no module sends",
		INTRUDER CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_ACCESS] = {
		"somebody sends requests to this link that it gave no right to",
		INTRUDER CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_OTHER_VERSION] = {
		"the modules of both hosts are of versions that do not go together",
		COMPARE_LOADED LOAD_SAME CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_REPLACED] = {
		"one end had noticed a failure before the other one did, or its host was about to sleep or to lose its device, or somebody connected another link with the same one of the peer, or who connected it was killed just then, or rclinkd has set it otherwise",
		"see `rclink show` for a link that took its place, else `rclink why` at both hosts for what failed"
	},
	[RCLINK_DOWN_REASON_MTU] = {
		"a switch or a port on the way takes only smaller packets than the ports at both ends; or, if it was so once, the peer's host went away just then",
		"lower mtu of this link with `rclink set`, or raise that of the switches; "
		CONNECT_AGAIN },
	[RCLINK_DOWN_REASON_SLEEP] = {
		"this host was suspended or hibernated, and its peers do not wait for that",
		NO_DAEMON },
	[RCLINK_DOWN_REASON_SNAPSHOT] = {
		"the hypervisor copied this host, or took it back to a snapshot: another one may have the keys that it had",
		NO_DAEMON },
};

/* A group is joined again by itself, and has no peer to blame. */
static const struct rcl_advice group_reasons[] = {
	[RCLINK_DOWN_REASON_COMPLETION] = {
		"the device gave up a work request",
		"see the kernel log for what the driver says" },
	[RCLINK_DOWN_REASON_QP_FATAL] = {
		"the device gave up the group's queue pair: its driver or firmware failed",
		"see the kernel log for what the driver says" },
	[RCLINK_DOWN_REASON_DEVICE_FATAL] = {
		"the RDMA device failed as a whole",
		"see the kernel log; reset the device or reload its driver" },
	[RCLINK_DOWN_REASON_PORT_DOWN] = {
		"the cable was pulled, the switch port failed, or the net device was set down on this host",
		"check the cable, `ip link` and `rclink dev`" },
	[RCLINK_DOWN_REASON_GID_CHANGED] = {
		"the address that the group was joined from was removed or changed on this host",
		"check the addresses with `ip address` and `rclink dev`" },
	[RCLINK_DOWN_REASON_DEVICE_REMOVED] = {
		"the RDMA device was deleted or unplugged, or its driver was unloaded",
		"bring the device back, see `rclink dev`" },
	[RCLINK_DOWN_REASON_LOCAL_ERROR] = {
		"this host is short of memory or the device of resources",
		"see the kernel log and `rdma resource`" },
	[RCLINK_DOWN_REASON_SUBNET_MANAGER] = {
		"the subnet manager was restarted or is another one, no longer runs, or has the group with a larger MTU or rate than the port, or with another partition key or Q_Key",
		"see that one runs, and what it says of the group" },
	[RCLINK_DOWN_REASON_MTU_CHANGED] = {
		"the MTU of the port's net device was changed on this host",
		"have the same MTU at all members: what is longer than one's vanishes there"
	},
};

static const struct rcl_advice unknown = {
	"the module knows a reason that this tool does not",
	"install the tool and the module of one version"
};

/* In the order of enum ib_wc_status, IBA 11.6.2. */
static const struct {
	const char *name;
	struct rcl_advice advice;	/* empty: that of COMPLETION */
} statuses[] = {
	{ "SUCCESS", { 0 } },
	{ "LOC_LEN_ERR", {
		"the peer sent more than there was room for",
		REPORT_BUG } },
	{ "LOC_QP_OP_ERR", {
		"the device found a work request of this host to be wrong",
		REPORT_BUG } },
	{ "LOC_EEC_OP_ERR", { 0 } },
	{ "LOC_PROT_ERR", {
		"a work request named memory of this host that is not registered",
		REPORT_BUG } },
	{ "WR_FLUSH_ERR", {
		"the device or its driver failed, or somebody sent a request without a right: some devices, as rxe, do not tell",
		"see the kernel log for what the driver says; "
		INTRUDER CONNECT_AGAIN } },
	{ "MW_BIND_ERR", { 0 } },
	{ "BAD_RESP_ERR", {
		"the peer's device answered what it may not",
		"compare drivers and firmware of both devices; "
		CONNECT_AGAIN } },
	{ "LOC_ACCESS_ERR", {
		"the peer wrote where this host does not let it",
		"see `rclink why` on the peer; " REPORT_BUG } },
	{ "REM_INV_REQ_ERR", {
		"the peer's device found a request of this host to be wrong",
		"compare MTU and versions at both ends; " CONNECT_AGAIN } },
	{ "REM_ACCESS_ERR", {
		"the peer does not let this host access that memory, or not any more",
		"see `rclink why` on the peer; " CONNECT_AGAIN } },
	{ "REM_OP_ERR", {
		"the peer's device failed at a request of this host",
		"see the kernel log of the peer; " CONNECT_AGAIN } },
	{ "RETRY_EXC_ERR", {
		"the peer lost its power, its kernel or its port, or the network loses all or large packets",
		"check that the peer's host runs and `ping` reaches it, then the path: MTU, VLAN, PFC, and UDP port 4791 on RoCE; "
		CONNECT_AGAIN } },
	{ "RNR_RETRY_EXC_ERR", {
		"the peer was too slow to post receives",
		"raise rnr-retry or min-rnr-timer with `rclink set`; "
		CONNECT_AGAIN } },
	{ "LOC_RDD_VIOL_ERR", { 0 } },
	{ "REM_INV_RD_REQ_ERR", { 0 } },
	{ "REM_ABORT_ERR", { 0 } },
	{ "INV_EECN_ERR", { 0 } },
	{ "INV_EEC_STATE_ERR", { 0 } },
	{ "FATAL_ERR", {
		"the device failed at it",
		"see the kernel log for what the driver says; "
		CONNECT_AGAIN } },
	{ "RESP_TIMEOUT_ERR", { 0 } },
	{ "GENERAL_ERR", { 0 } },
};

const struct rcl_advice *rcl_advice(uint32_t reason, uint32_t wc_status)
{
	if (reason == RCLINK_DOWN_REASON_COMPLETION &&
	    wc_status < ARRAY_SIZE(statuses) &&
	    statuses[wc_status].advice.cause)
		return &statuses[wc_status].advice;
	if (reason < ARRAY_SIZE(reasons) && reasons[reason].cause)
		return &reasons[reason];
	return &unknown;
}

const struct rcl_advice *rcl_group_advice(uint32_t reason)
{
	if (reason < ARRAY_SIZE(group_reasons) && group_reasons[reason].cause)
		return &group_reasons[reason];
	return &unknown;
}

const char *rcl_wc_name(uint32_t status)
{
	return status < ARRAY_SIZE(statuses) ? statuses[status].name : NULL;
}
