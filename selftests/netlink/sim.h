/* SPDX-License-Identifier: GPL-2.0 */
/* The simulated devices of rdmasim, for tests: see its main.c and knobs.c. */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include "rcl.h"

/* The devices of a link's two ends. */
#define SIM_NEAR	"sim0"
#define SIM_FAR		"sim1"

/* Events and statuses of completions, by their numbers in kernel enums. */
enum {
	SIM_QP_FATAL = 1,
	SIM_QP_REQ_ERR = 2,
	SIM_QP_ACCESS_ERR = 3,
	SIM_DEVICE_FATAL = 8,
	SIM_REREGISTER = 17,
	SIM_EVENTS = 19,

	SIM_FLUSHED = 5,
	SIM_RETRY_EXCEEDED = 12,
	SIM_LOC_LEN_ERR = 1,
	SIM_LOC_QP_OP_ERR = 2,
	SIM_LOC_PROT_ERR = 4,
	SIM_LOC_ACCESS_ERR = 8,
	SIM_REM_INV_REQ_ERR = 9,
	SIM_REM_ACCESS_ERR = 10,
	SIM_REM_OP_ERR = 11,
	SIM_GENERAL = 21,
	SIM_STATUSES = 22,
	SIM_VENDOR = 0x51,	/* vendor_err is this plus the status */
};

int sim_new_device(const char *line);
int sim_del_device(const char *name);
/* Write to a knob that is common to all devices. */
int sim_put(const char *knob, const char *text);
int sim_knob(const char *device, const char *knob, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
long sim_seen(const char *device, const char *fault);
/* Wait until the DMA API has nothing mapped for a device with dma=2. */
long sim_mapped_left(const char *device);
int sim_link(struct genl_sock *s, const char *name, const char *device,
	     uint16_t attr, uint32_t value);

/* Add group g at a given port of sim0: else each port would be tried. */
int sim_group(struct genl_sock *s, struct genl_ack *ack);

/* Make links a and b on the two devices; count the objects of others. */
int sim_begin(struct genl_sock *s, int *objects);
/* The same, on devices that are made with @words. */
int sim_begin_with(struct genl_sock *s, const char *words, int *objects);
void sim_end(struct genl_sock *s);

/* Bring both up; ping; wait until a link is down; bring both up again. */
int sim_up(struct genl_sock *s);
int sim_ping(struct genl_sock *s, const char *name, uint32_t op, int64_t size);
int sim_goes_down(struct genl_sock *s, const char *name,
		  struct rcl_view *view);
int sim_again(struct genl_sock *s);
/* Wait until only the objects of others are left; how many more are there? */
int sim_objects_left(int others);

#endif /* SIM_TEST_H */
