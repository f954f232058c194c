// SPDX-License-Identifier: GPL-2.0
/* The fate of each operation, by what the peer has received. */
#include "fate.h"

#include <uapi/linux/rclink_dev.h>

#include <kselftest_harness.h>

/* The peer has message 5: D done, A again, U unknown, F flushed. */
static const struct {
	u8 op;
	const char *before;	/* operations counted 4, 5, 6 */
	const char *replay;	/* the same, with replay asked for */
} expected[] = {
	{ RCLINK_OP_SEND, "DDA", "DDA" },
	{ RCLINK_OP_SEND_IMM, "DDA", "DDA" },
	{ RCLINK_OP_SEND_INV, "DDA", "DDA" },
	{ RCLINK_OP_WRITE_IMM, "DDA", "DDA" },
	/* Counts the messages before it: 5 is behind the last one received. */
	{ RCLINK_OP_WRITE, "DUU", "DAA" },
	{ RCLINK_OP_READ, "FFF", "FAA" },
	{ RCLINK_OP_CAS, "UUU", "UUU" },
	{ RCLINK_OP_FADD, "UUU", "UUU" },
	{ RCLINK_OP_MCAS, "UUU", "UUU" },
	{ RCLINK_OP_MFADD, "UUU", "UUU" },
};

static char word(u8 op, u32 counted, u32 had, bool replay)
{
	switch (rcl_fate_of(op, counted, had, replay)) {
	case RCL_FATE_DONE: return 'D';
	case RCL_FATE_AGAIN: return 'A';
	case RCL_FATE_UNKNOWN: return 'U';
	case RCL_FATE_FLUSHED: return 'F';
	}
	return '?';
}

TEST(each_operation_has_its_fate)
{
	unsigned int i, j;

	ASSERT_EQ(RCLINK_OP_MAX - 1, sizeof(expected) / sizeof(expected[0]));
	for (i = 0; i < RCLINK_OP_MAX - 1; i++)
		for (j = 0; j < 3; j++) {
			u8 op = expected[i].op;

			EXPECT_EQ(expected[i].before[j],
				  word(op, 4 + j, 5, false))
				TH_LOG("op %u, %u", op, 4 + j);
			EXPECT_EQ(expected[i].replay[j],
				  word(op, 4 + j, 5, true))
				TH_LOG("op %u, %u, replay", op, 4 + j);
		}
}

TEST(counts_may_wrap)
{
	EXPECT_EQ('D', word(RCLINK_OP_SEND, 0xffffffff, 0, false));
	EXPECT_EQ('A', word(RCLINK_OP_SEND, 0, 0xffffffff, false));
	EXPECT_EQ('D', word(RCLINK_OP_WRITE, 0xffffffff, 0, false));
	EXPECT_EQ('U', word(RCLINK_OP_WRITE, 0, 0xffffffff, false));
}

TEST(what_takes_a_receive_is_counted)
{
	u8 op;

	for (op = 0; op < RCLINK_OP_MAX; op++) {
		bool counts = op == RCLINK_OP_SEND ||
			      op == RCLINK_OP_SEND_IMM ||
			      op == RCLINK_OP_WRITE_IMM ||
			      op == RCLINK_OP_SEND_INV;

		if (op != RCLINK_OP_RECV)
			EXPECT_EQ(counts, rcl_fate_counts(op));
	}
}

TEST_HARNESS_MAIN
