// SPDX-License-Identifier: GPL-2.0
/* Values to text and back. */
#include "text.h"

#include <string.h>

#include <kselftest_harness.h>

#include "link.h"

#include "cli_spec.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	enum rcl_words words;
} enums[] = {
	{ "link-layer", RCL_WORDS_LINK_LAYER },
	{ "gid-type", RCL_WORDS_GID_TYPE },
	{ "link-state", RCL_WORDS_STATE },
	{ "down-reason", RCL_WORDS_REASON },
	{ "role", RCL_WORDS_ROLE },
	{ "ping-op", RCL_WORDS_PING_OP },
	{ "event-kind", RCL_WORDS_EVENT_KIND },
	{ "atomics", RCL_WORDS_ATOMICS },
	{ "entry-kind", RCL_WORDS_ENTRY_KIND },
	{ "step", RCL_WORDS_STEP },
	{ "recover", RCL_WORDS_RECOVER },
	{ "group-state", RCL_WORDS_GROUP_STATE },
};

TEST(the_words_are_those_of_the_specification)
{
	unsigned int checked = 0, i, j;
	uint32_t value;

	for (i = 0; i < NUM(spec_enums); i++) {
		for (j = 0; j < NUM(enums); j++) {
			if (strcmp(spec_enums[i].set, enums[j].name))
				continue;
			checked++;
			ASSERT_STREQ(spec_enums[i].word,
				     rcl_word(enums[j].words,
					      spec_enums[i].value));
			ASSERT_TRUE(rcl_word_value(enums[j].words,
						   spec_enums[i].word, &value));
			EXPECT_EQ(spec_enums[i].value, value);
		}
	}
	EXPECT_EQ(NUM(spec_enums), checked);
}

TEST(the_names_of_attributes_are_those_of_the_specification)
{
	const struct rcl_nl_names *names;
	unsigned int i;

	for (i = 0; i < NUM(spec_attributes); i++) {
		const struct spec_entry *e = &spec_attributes[i];

		if (!strcmp(e->set, "link"))
			names = &rcl_link_names;
		else if (!strcmp(e->set, "endpoint"))
			names = rcl_link_names.nested[RCLINK_A_LINK_REMOTE];
		else if (!strcmp(e->set, "ping"))
			names = &rcl_ping_names;
		else if (!strcmp(e->set, "record"))
			names = &rcl_record_names;
		else
			continue;
		/* Only an attribute that may be in a request needs a name. */
		if (e->value < names->num && names->name[e->value])
			EXPECT_STREQ(e->word, names->name[e->value]);
	}
}

TEST(a_value_without_a_word_has_none)
{
	uint32_t value;

	EXPECT_EQ(NULL, rcl_word(RCL_WORDS_STATE, 0));
	EXPECT_EQ(NULL, rcl_word(RCL_WORDS_STATE, 6));
	EXPECT_EQ(NULL, rcl_word(RCL_WORDS_STATE, 0xffffffff));
	EXPECT_FALSE(rcl_word_value(RCL_WORDS_STATE, "upp", &value));
	EXPECT_FALSE(rcl_word_value(RCL_WORDS_STATE, "", &value));
}

TEST(gids_are_ipv6_addresses)
{
	static const uint8_t mapped[16] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1
	};
	static const uint8_t local[16] = { 0xfe, 0x80, [15] = 1 };
	static const uint8_t zero[16];
	char buf[RCL_GID_TEXT_LEN];

	EXPECT_STREQ("::ffff:192.0.2.1", rcl_gid_text(mapped, buf));
	EXPECT_STREQ("fe80::1", rcl_gid_text(local, buf));
	EXPECT_TRUE(rcl_gid_is_unset(zero));
	EXPECT_FALSE(rcl_gid_is_unset(local));
}

TEST(times_have_the_unit_that_suits_them)
{
	char buf[RCL_NS_TEXT_LEN];

	EXPECT_STREQ("0 ns", rcl_ns_text(0, buf));
	EXPECT_STREQ("999 ns", rcl_ns_text(999, buf));
	EXPECT_STREQ("1.00 us", rcl_ns_text(1000, buf));
	EXPECT_STREQ("12.3 us", rcl_ns_text(12345, buf));
	EXPECT_STREQ("123 us", rcl_ns_text(123456, buf));
	EXPECT_STREQ("1.23 ms", rcl_ns_text(1234567, buf));
	EXPECT_STREQ("12345 s", rcl_ns_text(12345000000000, buf));
}

TEST(rates_have_the_unit_that_suits_them)
{
	char buf[RCL_RATE_TEXT_LEN];

	EXPECT_STREQ("0 B/s", rcl_rate_text(0, 1000000000, buf));
	EXPECT_STREQ("0 B/s", rcl_rate_text(5, 0, buf));
	EXPECT_STREQ("1023 B/s", rcl_rate_text(1023, 1000000000, buf));
	EXPECT_STREQ("1.0 KiB/s", rcl_rate_text(512, 500000000, buf));
	EXPECT_STREQ("2.5 MiB/s", rcl_rate_text(262144, 100000000, buf));
	EXPECT_STREQ("4096.0 GiB/s", rcl_rate_text(1ULL << 42, 1000000000,
						   buf));
}

TEST(numbers_are_digits_and_nothing_else)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "+1", "-1", "1x", "x", "0x", "0xg", "1.0",
		"0x0x1", "4294967296", "99999999999999999999",
	};
	uint32_t value;
	unsigned int i;

	for (i = 0; i < NUM(bad); i++)
		EXPECT_FALSE(rcl_parse_u32(bad[i], &value))
			TH_LOG("bad[%u]", i);
	ASSERT_TRUE(rcl_parse_u32("0", &value));
	EXPECT_EQ(0, value);
	ASSERT_TRUE(rcl_parse_u32("010", &value));
	EXPECT_EQ(10, value);
	ASSERT_TRUE(rcl_parse_u32("4294967295", &value));
	EXPECT_EQ(4294967295, value);
	ASSERT_TRUE(rcl_parse_u32("0xfFfff", &value));
	EXPECT_EQ(0xfffff, value);
}

TEST(modes_are_octal)
{
	static const char *const bad[] = {
		"", "8", "rw", "0o660", "0x1b0", "-600", "+600", " 600", "600 ",
		"0000600", "6.0",
	};
	uint32_t value;
	unsigned int i;

	for (i = 0; i < NUM(bad); i++)
		EXPECT_FALSE(rcl_parse_mode(bad[i], &value))
			TH_LOG("bad[%u]", i);
	ASSERT_TRUE(rcl_parse_mode("0", &value));
	EXPECT_EQ(0, value);
	ASSERT_TRUE(rcl_parse_mode("660", &value));
	EXPECT_EQ(0660, value);
	ASSERT_TRUE(rcl_parse_mode("0606", &value));
	EXPECT_EQ(0606, value);
	ASSERT_TRUE(rcl_parse_mode("777777", &value));
	EXPECT_EQ(0777777, value);
}

TEST(seconds_may_have_a_fraction)
{
	static const char *const bad[] = {
		"", "-1", "nan", "inf", "1s", "1e9", " 1", "86401", ".",
	};
	unsigned int i;
	uint64_t ns;

	for (i = 0; i < NUM(bad); i++)
		EXPECT_FALSE(rcl_parse_seconds(bad[i], &ns))
			TH_LOG("bad[%u]", i);
	ASSERT_TRUE(rcl_parse_seconds("0", &ns));
	EXPECT_EQ(0, ns);
	ASSERT_TRUE(rcl_parse_seconds(".25", &ns));
	EXPECT_EQ(250000000, ns);
	ASSERT_TRUE(rcl_parse_seconds("86400", &ns));
	EXPECT_EQ(86400000000000, ns);
}

TEST(hosts_may_have_a_port)
{
	static const struct {
		const char *text, *host;
		uint16_t port;
	} good[] = {
		{ "host", "host", 7185 },
		{ "host:1", "host", 1 },
		{ "192.0.2.1:65535", "192.0.2.1", 65535 },
		{ "2001:db8::1", "2001:db8::1", 7185 },
		{ "[2001:db8::1]", "2001:db8::1", 7185 },
		{ "[2001:db8::1]:80", "2001:db8::1", 80 },
	};
	static const char *const bad[] = {
		"", ":1", "host:", "host:0", "host:65536", "host:x", "[::1",
		"[::1]80", "[::1]:", "[]", "[]:1", " host", "a b", "host\n",
		"host\t:1", "[::1 ]", "a\x7f", "\x1b[0m",
	};
	char host[RCL_HOST_LEN];
	char longest[RCL_HOST_LEN + 1];
	unsigned int i;
	uint16_t port;

	for (i = 0; i < NUM(good); i++) {
		port = 7185;
		ASSERT_TRUE(rcl_parse_host(good[i].text, host, &port));
		EXPECT_STREQ(good[i].host, host);
		EXPECT_EQ(good[i].port, port);
	}
	for (i = 0; i < NUM(bad); i++)
		EXPECT_FALSE(rcl_parse_host(bad[i], host, &port))
			TH_LOG("bad[%u]", i);
	memset(longest, 'a', RCL_HOST_LEN);
	longest[RCL_HOST_LEN] = '\0';
	EXPECT_FALSE(rcl_parse_host(longest, host, &port));
	longest[RCL_HOST_LEN - 1] = '\0';
	EXPECT_TRUE(rcl_parse_host(longest, host, &port));
}

TEST_HARNESS_MAIN
