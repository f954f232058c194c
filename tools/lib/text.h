/* SPDX-License-Identifier: GPL-2.0 */
/* Values to text and back. */
#ifndef RCL_TEXT_H
#define RCL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/rclink.h>

#define RCL_GID_TEXT_LEN	46
#define RCL_NS_TEXT_LEN		24
#define RCL_RATE_TEXT_LEN	24
#define RCL_HOST_LEN		256
#define RCL_TIME_TEXT_LEN	40

/* The enums of the specification, and the states of a port. */
enum rcl_words {
	RCL_WORDS_LINK_LAYER,
	RCL_WORDS_GID_TYPE,
	RCL_WORDS_STATE,
	RCL_WORDS_REASON,
	RCL_WORDS_ROLE,
	RCL_WORDS_RECOVER,
	RCL_WORDS_PING_OP,
	RCL_WORDS_EVENT_KIND,
	RCL_WORDS_ATOMICS,
	RCL_WORDS_PORT_STATE,
	RCL_WORDS_ENTRY_KIND,
	RCL_WORDS_STEP,
	RCL_WORDS_GROUP_STATE,
};

/* The word for a value, or NULL when there is none. */
const char *rcl_word(enum rcl_words words, uint32_t value);

/* The value of a word; false when there is no such word. */
bool rcl_word_value(enum rcl_words words, const char *word, uint32_t *value);

/* Names and reasons may come from elsewhere; keep terminals out of trouble. */
void rcl_make_printable(char *text);

/* As the value of a Prometheus label, which may contain anything. */
void rcl_print_quoted(FILE *to, const char *text);

/* As an IPv6 address. Returns buf. */
const char *rcl_gid_text(const uint8_t gid[RCLINK_GID_LEN],
			 char buf[RCL_GID_TEXT_LEN]);
bool rcl_gid_is_unset(const uint8_t gid[RCLINK_GID_LEN]);

/* An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d. */
bool rcl_parse_gid(const char *text, uint8_t gid[RCLINK_GID_LEN]);

/* A time in the unit that suits it, such as "12.3 us". Returns buf. */
const char *rcl_ns_text(uint64_t ns, char buf[RCL_NS_TEXT_LEN]);

/* A CLOCK_REALTIME time, such as "2026-01-31T12:00:00.000Z". Returns buf. */
const char *rcl_time_text(int64_t ns, char buf[RCL_TIME_TEXT_LEN]);

/* The rate of bytes over ns, such as "12.3 MiB/s". Returns buf. */
const char *rcl_rate_text(uint64_t bytes, uint64_t ns,
			  char buf[RCL_RATE_TEXT_LEN]);

/* Parsers: true if the whole text is such a value. */
bool rcl_parse_u32(const char *text, uint32_t *value);	/* decimal or 0x */
bool rcl_parse_mode(const char *text, uint32_t *value);	/* octal */
bool rcl_parse_seconds(const char *text, uint64_t *ns);	/* up to a day */
/*
 * "host", "host:port", "v6", "[v6]", "[v6]:port"; without a port, *port is left
 * as it is. A host may have any characters but blanks and control characters.
 */
bool rcl_parse_host(const char *text, char host[RCL_HOST_LEN], uint16_t *port);

#endif /* RCL_TEXT_H */
