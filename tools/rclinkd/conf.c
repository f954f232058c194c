// SPDX-License-Identifier: GPL-2.0
/*
 * inih reports keys, but neither their line numbers nor sections without keys,
 * and of lines that are neither key nor section only the first. So it reads
 * through next_line(), which counts lines and keeps the bad ones from it.
 */
#include "conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "group_setting.h"
#include "ident.h"
#include "range.h"
#include "session.h"
#include "setting.h"
#include "verify.h"

#define HOST_SECTION	"Host"
#define LINK_SECTION	"Link "
#define GROUP_SECTION	"Group "
#define SAY_LEN		512
#define ROTATE_MIN	10		/* s */
#define ROTATE_MAX	2592000		/* s, 30 days */
#define BLANKS		" \t\v\f\r"
#define UTF8_MARK	"\xef\xbb\xbf"	/* editors may put it first */
#define SEE_KEYS	"rclink.conf(5) lists the keys"

enum section { NONE, HOST, LINK, GROUP, UNKNOWN };

struct parser {
	struct rcd_conf *conf;
	const struct rcd_report *report;
	FILE *from;
	char text[INI_MAX_LINE];	/* of the line being read */
	struct rcd_place place;		/* of the line being read */
	struct rcd_place head;		/* of the section's head */
	char title[INI_MAX_LINE];	/* of the section */
	const char *value;		/* of the key being read, or NULL */
	bool begun;			/* the section has a key */
	enum section in;
	bool bad;
};

const char *rcd_place_text(const struct rcd_place *place,
			   char buf[RCD_PLACE_LEN])
{
	int len = snprintf(buf, RCD_PLACE_LEN, "%s", place->file);

	if (place->line)
		snprintf(buf + len, RCD_PLACE_LEN - len, ":%u", place->line);
	rcl_make_printable(buf);
	return buf;
}

void rcd_say(const struct rcd_report *report, const struct rcd_place *place,
	     const char *fmt, ...)
{
	char text[SAY_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rcl_make_printable(text);
	report->say(report->ctx, place, text);
}

__attribute__((format(printf, 2, 3)))
static void complain(struct parser *p, const char *fmt, ...)
{
	char text[SAY_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->value && strstr(p->value, " #"))
		rcd_say(p->report, &p->place,
			"%s; behind a value only ` ;` begins a comment", text);
	else
		rcd_say(p->report, &p->place, "%s", text);
	p->bad = true;
	if (p->in == LINK)
		p->conf->link[p->conf->num - 1].bad = true;
	else if (p->in == GROUP)
		p->conf->group[p->conf->ngroups - 1].bad = true;
}

const char *rcd_link_identity(const struct rcd_link_conf *link)
{
	return link->pin[0] ? link->pin : link->dns;
}

bool rcd_link_same(const struct rcd_link_conf *a,
		   const struct rcd_link_conf *b)
{
	return !strcmp(a->pin, b->pin) && !strcmp(a->dns, b->dns) &&
	       !strcmp(a->host, b->host) && a->port == b->port &&
	       !strcmp(a->wanted, b->wanted) && a->rotate == b->rotate &&
	       !memcmp(&a->policy, &b->policy, sizeof(a->policy));
}

const struct rcd_link_conf *rcd_conf_link(const struct rcd_conf *conf,
					  const char *name)
{
	size_t i;

	for (i = 0; i < conf->num; i++)
		if (!strcmp(conf->link[i].name, name))
			return &conf->link[i];
	return NULL;
}

const struct rcd_group_conf *rcd_conf_group(const struct rcd_conf *conf,
					    const char *name)
{
	size_t i;

	for (i = 0; i < conf->ngroups; i++)
		if (!strcmp(conf->group[i].want.name, name))
			return &conf->group[i];
	return NULL;
}

static bool copy(struct parser *p, char *to, size_t size, const char *key,
		 const char *value)
{
	if (*to) {
		complain(p, "%s is given twice; keep one", key);
		return false;
	}
	if (!*value || strlen(value) >= size) {
		complain(p, "%s must have 1 to %zu characters", key, size - 1);
		return false;
	}
	strcpy(to, value);
	return true;
}

static bool set_path(struct parser *p, char *to, struct rcd_place *at,
		     const char *key, const char *value)
{
	if (!at->line)
		*at = p->place;
	if (*value == '/')
		return copy(p, to, RCD_PATH_LEN, key, value);
	complain(p, "%s must be an absolute path, not '%s'", key, value);
	return false;
}

/* Ignores the zone of IPv6: that interface may come later. */
static bool is_address(const char *host)
{
	uint8_t gid[RCLINK_GID_LEN];
	const char *zone = strchr(host, ':') ? "%" : "";
	char text[RCL_HOST_LEN];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(host, zone), host);
	return rcl_parse_gid(text, gid);
}

static void set_listen(struct parser *p, const char *value)
{
	struct rcd_conf *conf = p->conf;

	if (conf->bind[0] || !conf->listens)
		complain(p, "listen is given twice; keep one");
	else if (!strcmp(value, "none"))
		conf->listens = false;
	else if (!rcl_parse_host(value, conf->bind, &conf->port) ||
		 !is_address(conf->bind))
		complain(p,
			 "'%s' is no address to listen on; say ADDRESS, ADDRESS:PORT, [IPV6]:PORT or none",
			 value);
}

static void set_host(struct parser *p, const char *key, const char *value)
{
	struct rcd_conf *conf = p->conf;

	if (!strcmp(key, "key"))
		set_path(p, conf->key, &conf->at[RCX_KEY], key, value);
	else if (!strcmp(key, "cert"))
		set_path(p, conf->cert, &conf->at[RCX_CERT], key, value);
	else if (!strcmp(key, "ca"))
		conf->unclear |= !set_path(p, conf->ca, &conf->at[RCX_CA], key,
					   value);
	else if (!strcmp(key, "crl"))
		set_path(p, conf->crl, &conf->at[RCX_CRL], key, value);
	else if (!strcmp(key, "metrics"))
		set_path(p, conf->metrics, &conf->at_metrics, key, value);
	else if (!strcmp(key, "listen"))
		set_listen(p, value);
	else
		complain(p, "[Host] has no key '%s'; " SEE_KEYS, key);
}

static void set_peer(struct parser *p, struct rcd_link_conf *link,
		     const char *value)
{
	if (link->host[0])
		complain(p, "peer is given twice; keep one");
	else if (!rcl_parse_host(value, link->host, &link->port))
		complain(p, "peer must be HOST or HOST:PORT, not '%s'", value);
}

static void set_pin(struct parser *p, struct rcd_link_conf *link,
		    const char *value)
{
	char err[RCL_ERR_LEN];

	if (rcx_pin_check(value, err))
		complain(p, "pin: %s", err);
	else
		copy(p, link->pin, sizeof(link->pin), "pin", value);
}

/* In lower case: names ignore case, and links are compared by them. */
static void set_name(struct parser *p, struct rcd_link_conf *link,
		     const char *value)
{
	char err[RCL_ERR_LEN];
	char *c;

	if (rcx_peer_name_check(value, err)) {
		complain(p, "name: %s", err);
		return;
	}
	copy(p, link->dns, sizeof(link->dns), "name", value);
	for (c = link->dns; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c;
}

static void set_wanted(struct parser *p, struct rcd_link_conf *link,
		       const char *value)
{
	const char *why;

	if (rcl_range_name(value, &why))
		complain(p, "peer-link: %s, not '%s'", why, value);
	else
		copy(p, link->wanted, sizeof(link->wanted), "peer-link", value);
}

static void set_rotate(struct parser *p, struct rcd_link_conf *link,
		       const char *value)
{
	uint32_t s;

	if (link->rotate)
		complain(p, "rotate is given twice; keep one");
	else if (!rcl_parse_u32(value, &s) || s < ROTATE_MIN || s > ROTATE_MAX)
		complain(p, "rotate must be %d to %d seconds, not '%s'",
			 ROTATE_MIN, ROTATE_MAX, value);
	else
		link->rotate = s;
}

/* Check the field that is given now, but was not before. */
static void check_range(struct parser *p, const struct rcl_policy *policy,
			uint32_t before, const char *value)
{
	const char *why;
	int field;

	if (policy->given == before)
		return;
	field = __builtin_ctz(policy->given & ~before);
	if (rcl_range_check(field, policy->v[field], &why))
		complain(p, "%s, not %s", why, value);
}

static void set_policy(struct parser *p, struct rcd_link_conf *link,
		       const char *key, const char *value)
{
	uint32_t before = link->policy.given;
	char err[RCL_ERR_LEN];
	int ret;

	ret = rcl_setting_parse(&link->policy, key, value, err);
	p->conf->unasked |= ret == -EAGAIN;
	if (ret == -ENOENT) {
		complain(p, "[Link %s] has no key '%s'; " SEE_KEYS, link->name,
			 key);
	} else if (ret) {
		complain(p, "%s", err);
	} else {
		check_range(p, &link->policy, before, value);
	}
}

static void set_link(struct parser *p, const char *key, const char *value)
{
	struct rcd_link_conf *link = &p->conf->link[p->conf->num - 1];

	if (!strcmp(key, "peer"))
		set_peer(p, link, value);
	else if (!strcmp(key, "pin"))
		set_pin(p, link, value);
	else if (!strcmp(key, "name"))
		set_name(p, link, value);
	else if (!strcmp(key, "peer-link"))
		set_wanted(p, link, value);
	else if (!strcmp(key, "rotate"))
		set_rotate(p, link, value);
	else
		set_policy(p, link, key, value);
}

static void set_group(struct parser *p, const char *key, const char *value)
{
	struct rcl_group_info *want =
		&p->conf->group[p->conf->ngroups - 1].want;
	uint32_t before = want->access.given;
	char err[RCL_ERR_LEN];
	int ret;

	ret = rcl_group_setting_parse(want, key, value, err);
	p->conf->unasked |= ret == -EAGAIN;
	if (ret == -ENOENT)
		complain(p, "[Group %s] has no key '%s'; " SEE_KEYS, want->name,
			 key);
	else if (ret)
		complain(p, "%s", err);
	else if (!strcmp(key, "mgid") && !rcl_range_mgid(want->mgid))
		complain(p,
			 "mgid must be a multicast address, as 239.1.2.3 or ff15::1, not '%s'",
			 value);
	else
		check_range(p, &want->access, before, value);
}

static enum section begin_host(struct parser *p)
{
	const struct rcd_place *first = &p->conf->place;

	if (first->line) {
		complain(p, "there is a [Host] at %s:%u already; keep one",
			 first->file, first->line);
		return UNKNOWN;
	}
	p->conf->place = p->head;
	return HOST;
}

/* May such a section begin? other: where there is one already, or NULL. */
static bool may_begin(struct parser *p, const char *kind, const char *name,
		      const struct rcd_place *other)
{
	const char *why;

	if (rcl_range_name(name, &why)) {
		complain(p, "[%s%s]: %s", kind, name, why);
		return false;
	}
	if (other) {
		complain(p, "there is a [%s%s] at %s:%u already; keep one",
			 kind, name, other->file, other->line);
		return false;
	}
	return true;
}

/* Returns the array with one more element, zeroed, after its num, or NULL. */
static void *grow(struct parser *p, void *array, size_t num, size_t size)
{
	void *more = reallocarray(array, num + 1, size);

	if (more) {
		memset((char *)more + num * size, 0, size);
		return more;
	}
	p->conf->unasked = true;
	complain(p, "out of memory");
	return NULL;
}

static enum section begin_link(struct parser *p, const char *name)
{
	struct rcd_conf *conf = p->conf;
	const struct rcd_link_conf *other = rcd_conf_link(conf, name);
	struct rcd_link_conf *link;

	if (!may_begin(p, LINK_SECTION, name, other ? &other->place : NULL))
		return UNKNOWN;
	link = grow(p, conf->link, conf->num, sizeof(*link));
	if (!link)
		return UNKNOWN;
	conf->link = link;
	link += conf->num++;
	link->place = p->head;
	link->port = RCX_DEFAULT_PORT;
	strcpy(link->name, name);
	return LINK;
}

static enum section begin_group(struct parser *p, const char *name)
{
	struct rcd_conf *conf = p->conf;
	const struct rcd_group_conf *other = rcd_conf_group(conf, name);
	struct rcd_group_conf *group;

	if (!may_begin(p, GROUP_SECTION, name, other ? &other->place : NULL))
		return UNKNOWN;
	group = grow(p, conf->group, conf->ngroups, sizeof(*group));
	if (!group)
		return UNKNOWN;
	conf->group = group;
	group += conf->ngroups++;
	group->place = p->head;
	strcpy(group->want.name, name);
	return GROUP;
}

/* Is it a section of this kind, with a name? Then *section is the name. */
static bool has_name(const char **section, const char *kind)
{
	if (strncmp(*section, kind, strlen(kind)))
		return false;
	*section += strlen(kind);
	*section += strspn(*section, " \t");
	return true;
}

static enum section kind_of(const char **section)
{
	if (!strcmp(*section, HOST_SECTION))
		return HOST;
	if (has_name(section, LINK_SECTION))
		return LINK;
	return has_name(section, GROUP_SECTION) ? GROUP : UNKNOWN;
}

/* Nobody knows what it was meant to be. */
static enum section no_section(struct parser *p, const char *section)
{
	complain(p,
		 "there is no section [%s]; sections are [Host], [Link NAME] and [Group NAME]",
		 section);
	p->conf->unclear = true;
	return UNKNOWN;
}

static void begin(struct parser *p)
{
	struct rcd_place here = p->place;
	const char *section = p->title;

	p->begun = true;
	if (p->in == NONE) {
		complain(p,
			 "a key comes before any section; put it below [Host], [Link NAME] or [Group NAME]");
		p->in = UNKNOWN;
		return;
	}
	p->place = p->head;
	switch (kind_of(&section)) {
	case HOST:
		p->in = begin_host(p);
		break;
	case LINK:
		p->in = begin_link(p, section);
		break;
	case GROUP:
		p->in = begin_group(p, section);
		break;
	default:
		p->in = no_section(p, section);
	}
	p->place = here;
}

static void live(const struct parser *p)
{
	if (p->report->alive)
		p->report->alive();
}

static int on_key(void *arg, const char *section, const char *key,
		  const char *value)
{
	struct parser *p = arg;

	/* inih has truncated it. */
	(void)section;
	if (!p->begun)
		begin(p);
	p->value = value;
	/* To look up the one before may have taken as long as is allowed. */
	if (!strcmp(key, "owner") || !strcmp(key, "group"))
		live(p);
	if (p->in == HOST)
		set_host(p, key, value);
	else if (p->in == LINK)
		set_link(p, key, value);
	else if (p->in == GROUP)
		set_group(p, key, value);
	p->value = NULL;
	return 1;
}

static void end_section(struct parser *p)
{
	struct rcd_place here = p->place;
	const char *section = p->title;

	if (p->in == NONE || p->begun)
		return;
	p->place = p->head;
	if (kind_of(&section) == UNKNOWN)
		no_section(p, section);
	else
		complain(p, "there is nothing below this section; remove it");
	p->place = here;
}

/* inih ignores what follows a section's head on its line. */
static void nothing_behind(struct parser *p, const char *head)
{
	const char *end = strchr(head, ']');
	size_t blanks;

	if (!end++)
		return;
	blanks = strspn(end, " \t\r\n");
	if (end[blanks] && !(blanks && end[blanks] == ';'))
		complain(p, "what follows ']' belongs on a line of its own");
}

/* Find one of chars before a comment, as inih does. */
static const char *find(const char *text, const char *chars)
{
	bool blank = false;

	for (; *text && !strchr(chars, *text); text++) {
		if (blank && *text == ';')
			return NULL;
		blank = strchr(BLANKS, *text);
	}
	return *text ? text : NULL;
}

/* Nobody knows what it was meant to be, but its section is not empty. */
static const char *refuse_line(struct parser *p)
{
	if (p->in != NONE && !p->begun)
		begin(p);
	complain(p, "this is no [SECTION], no KEY = VALUE and no # comment");
	p->conf->unclear = true;
	return "\n";
}

static const char *next_head(struct parser *p, const char *text)
{
	end_section(p);
	live(p);
	p->head = p->place;
	snprintf(p->title, sizeof(p->title), "%.*s",
		 (int)strcspn(text + 1, "]"), text + 1);
	p->in = UNKNOWN;
	p->begun = !find(text, "]");
	if (p->begun)
		return refuse_line(p);
	nothing_behind(p, text);
	return text;
}

/* Read as much of the next line as fits into text. Returns its length. */
static size_t read_line(struct parser *p)
{
	size_t len = 0;
	int c = 0;

	memset(p->text, 0, sizeof(p->text));
	while (c != '\n' && (c = getc_unlocked(p->from)) != EOF) {
		if (len < sizeof(p->text) - 1)
			p->text[len] = c;
		len++;
	}
	return len;
}

/* Without leading blanks, which inih would take for a continuation. */
static char *next_line(char *line, int size, void *arg)
{
	struct parser *p = arg;
	size_t len = read_line(p);
	const char *text;

	if (!len || ferror(p->from))
		return NULL;
	p->place.line++;
	text = p->text;
	if (p->place.line == 1 && !strncmp(text, UTF8_MARK, strlen(UTF8_MARK)))
		text += strlen(UTF8_MARK);
	text += strspn(text, BLANKS);
	if (strlen(p->text) != len || strlen(text) >= (size_t)size) {
		complain(p, "this line has a zero byte, or more than %d",
			 size - 2);
		p->conf->unclear = true;
		text = "\n";
	} else if (*text == '[') {
		text = next_head(p, text);
	} else if (!strchr("\n#;", *text) && !find(text, "=:")) {
		text = refuse_line(p);
	}
	return strcpy(line, text);
}

void rcd_conf_init(struct rcd_conf *conf)
{
	rcl_setting_forget();
	memset(conf, 0, sizeof(*conf));
	conf->listens = true;
	conf->port = RCX_DEFAULT_PORT;
}

void rcd_conf_free(struct rcd_conf *conf)
{
	free(conf->link);
	free(conf->group);
}

int rcd_conf_parse(struct rcd_conf *conf, FILE *from, const char *file,
		   const struct rcd_report *report)
{
	struct parser p = {
		.conf = conf,
		.report = report,
		.from = from,
	};
	int ret;

	snprintf(p.place.file, sizeof(p.place.file), "%s", file);
	ret = ini_parse_stream(next_line, &p, on_key, &p);
	end_section(&p);
	p.in = NONE;
	conf->unclear |= ret;
	conf->unasked |= ferror(from) && rcl_may_pass(errno);
	if (ferror(from))
		complain(&p, "cannot read: %s", strerror(errno));
	else if (ret)
		complain(&p, "cannot read all of this file");
	return p.bad ? -EINVAL : 0;
}
