/* SPDX-License-Identifier: GPL-2.0 */
/* The operations that are tried with the service `echo`: pure. */
#ifndef RCV_ECHO_OP_H
#define RCV_ECHO_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "shown.h"

#define RCV_ECHO_SERVICE	"echo"		/* and its memory */
#define RCV_ECHO_ONCE		"echo.once"	/* the same, for send-inv */
#define RCV_ECHO_SIZE		65536		/* of both, and of a message */
#define RCV_ECHO_WORD		8		/* of an atomic */

struct rcv_echo_op {
	const char *name;
	uint32_t opcode;	/* enum ibv_wr_opcode */
	uint32_t rights;	/* needed; 0: no memory */
	bool answered;		/* by a message */
	bool changes;		/* memory, which is then read */
};

/* All of them; the last entry has no name. */
extern const struct rcv_echo_op rcv_echo_ops[];

/* NULL: there is no such operation. */
const struct rcv_echo_op *rcv_echo_op(const char *name);

/* Name of the memory that op is for. */
const char *rcv_echo_memory(const struct rcv_echo_op *op);

static inline bool rcv_echo_is_atomic(const struct rcv_echo_op *op)
{
	return op->rights & RCV_RIGHT_ATOMIC;
}

/*
 * Can op be done on size bytes of what the peer shows? shown is NULL if that is
 * nothing; atomics: this end's device has them. Returns 0, or a negative errno
 * with a sentence in err.
 */
int rcv_echo_check(const struct rcv_echo_op *op, uint32_t size,
		   const struct rcv_shown *shown, bool atomics, char *err);

/*
 * Fill in, or check, the initial bytes of memory or, with sent, those that are
 * sent and written: the two differ in every byte.
 */
void rcv_echo_fill(uint8_t *to, uint32_t len, bool sent);
bool rcv_echo_is(const uint8_t *data, uint32_t len, bool sent);

#endif /* RCV_ECHO_OP_H */
