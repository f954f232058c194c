// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "process.h"

#define DAY_S		86400
#define MODE_DIGITS	6

#define WORDS_MAX	25

/* In the order of the enums; those that begin at 1 have no word for 0. */
static const char *const words_of[][WORDS_MAX] = {
	[RCL_WORDS_LINK_LAYER] = { NULL, "infiniband", "roce", "iwarp" },
	[RCL_WORDS_GID_TYPE] = { NULL, "ib", "roce-v1", "roce-v2" },
	[RCL_WORDS_STATE] = { NULL, "idle", "prepared", "connected", "up",
		"down" },
	[RCL_WORDS_REASON] = { "none", "disconnected", "peer-disconnected",
		"owner-gone", "timed-out", "completion", "qp-fatal",
		"device-fatal", "port-down", "gid-changed", "device-removed",
		"unauthenticated", "protocol", "local-error", "peer-silent",
		"out-of-sequence", "not-a-message", "access", "other-version",
		"replaced", "mtu", "subnet-manager", "mtu-changed",
		"sleep", "snapshot" },
	[RCL_WORDS_ROLE] = { NULL, "initiator", "responder" },
	[RCL_WORDS_RECOVER] = { "reset", "resume" },
	[RCL_WORDS_PING_OP] = { NULL, "send", "write", "read", "cas", "fadd" },
	[RCL_WORDS_EVENT_KIND] = { NULL, "created", "changed", "deleted",
		"standby-down", "rotate", "rekeyed", "set" },
	[RCL_WORDS_ATOMICS] = { "none", "hca", "global" },
	[RCL_WORDS_PORT_STATE] = { NULL, "down", "init", "armed", "active" },
	[RCL_WORDS_ENTRY_KIND] = { NULL, "state", "failure", "refused",
		"note", "standby" },
	[RCL_WORDS_STEP] = { NULL, "prepare", "connect", "activate" },
	[RCL_WORDS_GROUP_STATE] = { NULL, "joined", "down" },
};

const char *rcl_word(enum rcl_words words, uint32_t value)
{
	return value < WORDS_MAX ? words_of[words][value] : NULL;
}

bool rcl_word_value(enum rcl_words words, const char *word, uint32_t *value)
{
	uint32_t i;

	for (i = 0; i < WORDS_MAX; i++) {
		if (words_of[words][i] && !strcmp(words_of[words][i], word)) {
			*value = i;
			return true;
		}
	}
	return false;
}

void rcl_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void rcl_print_quoted(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", to);
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

const char *rcl_gid_text(const uint8_t gid[RCLINK_GID_LEN],
			 char buf[RCL_GID_TEXT_LEN])
{
	return inet_ntop(AF_INET6, gid, buf, RCL_GID_TEXT_LEN);
}

bool rcl_gid_is_unset(const uint8_t gid[RCLINK_GID_LEN])
{
	static const uint8_t zero[RCLINK_GID_LEN];

	return !memcmp(gid, zero, sizeof(zero));
}

bool rcl_parse_gid(const char *text, uint8_t gid[RCLINK_GID_LEN])
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(gid, v4, sizeof(v4));
	return inet_pton(AF_INET, text, gid + sizeof(v4)) == 1 ||
	       inet_pton(AF_INET6, text, gid) == 1;
}

const char *rcl_ns_text(uint64_t ns, char buf[RCL_NS_TEXT_LEN])
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	double value = ns;
	size_t i = 0;

	while (value >= 1000 && i < sizeof(unit) / sizeof(unit[0]) - 1) {
		value /= 1000;
		i++;
	}
	snprintf(buf, RCL_NS_TEXT_LEN, "%.*f %s",
		 i == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2, value,
		 unit[i]);
	return buf;
}

const char *rcl_time_text(int64_t ns, char buf[RCL_TIME_TEXT_LEN])
{
	time_t s = ns / (int64_t)NS_PER_S;
	struct tm tm;
	size_t len;

	gmtime_r(&s, &tm);
	len = strftime(buf, RCL_TIME_TEXT_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + len, RCL_TIME_TEXT_LEN - len, ".%03dZ",
		 (int)(ns % (int64_t)NS_PER_S / 1000000));
	return buf;
}

const char *rcl_rate_text(uint64_t bytes, uint64_t ns,
			  char buf[RCL_RATE_TEXT_LEN])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	double rate = ns ? (double)bytes * NS_PER_S / ns : 0;
	size_t i = 0;

	while (rate >= 1024 && i < sizeof(units) / sizeof(units[0]) - 1) {
		rate /= 1024;
		i++;
	}
	snprintf(buf, RCL_RATE_TEXT_LEN, "%.*f %s/s", i > 0, rate, units[i]);
	return buf;
}

bool rcl_parse_u32(const char *text, uint32_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	unsigned long long v;
	char *end;

	/* strtoull() would take blanks, a sign, and another 0x. */
	if (digits[strspn(digits, "0123456789abcdefABCDEF")])
		return false;
	errno = 0;
	v = strtoull(digits, &end, hex ? 16 : 10);
	if (errno || *end || end == digits || v > UINT32_MAX)
		return false;
	*value = v;
	return true;
}

bool rcl_parse_mode(const char *text, uint32_t *value)
{
	size_t len = strspn(text, "01234567");

	if (!len || len > MODE_DIGITS || text[len])
		return false;
	*value = strtoul(text, NULL, 8);
	return true;
}

bool rcl_parse_seconds(const char *text, uint64_t *ns)
{
	double s;
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	s = strtod(text, &end);
	if (*end || end == text || !isfinite(s) || s < 0 || s > DAY_S)
		return false;
	*ns = s * NS_PER_S + 0.5;
	return true;
}

static bool parse_port(const char *text, uint16_t *port)
{
	uint32_t v;

	if (!rcl_parse_u32(text, &v) || !v || v > UINT16_MAX)
		return false;
	*port = v;
	return true;
}

bool rcl_parse_host(const char *text, char host[RCL_HOST_LEN], uint16_t *port)
{
	const char *colon = strchr(text, ':');
	const char *rest;
	size_t len;

	for (rest = text; *rest; rest++)
		if (isspace((unsigned char)*rest) ||
		    iscntrl((unsigned char)*rest))
			return false;
	if (text[0] == '[') {
		text++;
		rest = strchr(text, ']');
		if (!rest)
			return false;
		len = rest++ - text;
	} else if (colon && !strchr(colon + 1, ':')) {
		rest = colon;
		len = rest - text;
	} else {
		/* With two colons it can only be an address. */
		len = strlen(text);
		rest = text + len;
	}
	if (!len || len >= RCL_HOST_LEN)
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (!*rest)
		return true;
	return *rest == ':' && parse_port(rest + 1, port);
}
