// SPDX-License-Identifier: GPL-2.0
/*
 * Every attribute of every command, spoilt in every way that needs no knowledge
 * of its meaning: each request is refused, the refusal points at the attribute,
 * and nothing changes. In the end the sound request is accepted.
 */
#include "catalog.h"
#include "fields.h"
#include "rcl.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

#define HUGE	60000	/* fits inside of another attribute */

enum spoil {
	SOUND, MISSING, TWICE, EMPTY, SHORT, LONG, HUGE_LEN, WRONG_NEST,
	SPOILS
};

static const char * const spoils[SPOILS] = {
	"sound", "missing", "twice", "empty", "too short", "too long", "huge",
	"with the wrong NLA_F_NESTED"
};

/* The request under construction. */
struct builder {
	struct genl_msg m;
	const struct field *victim;
	enum spoil spoil;
	uint32_t offset;	/* of the error, which the answer must name */
};

static uint32_t spoilt_len(const struct field *f, enum spoil spoil)
{
	switch (spoil) {
	case EMPTY:
		return 0;
	case SHORT:
		return f->kind == TEXT ? strlen(f->data) : f->len - 1;
	case LONG:
		return f->len + 1;
	case HUGE_LEN:
		return HUGE;
	default:
		return f->kind == TEXT ? strlen(f->data) + 1 : f->len;
	}
}

static void put_value(struct builder *b, const struct field *f,
		      enum spoil spoil)
{
	uint32_t len = spoilt_len(f, spoil);
	uint32_t start = b->m.nlh.nlmsg_len;
	uint16_t type = f->type;
	char bytes[HUGE] = { 0 };

	/* a longer text is still a text */
	if (f->kind == TEXT)
		memset(bytes, 'x', len ? len - 1 : 0);
	if (spoil == SHORT || (spoil != LONG && spoil != HUGE_LEN))
		memcpy(bytes, f->data, len);
	else if (f->kind != TEXT)
		memcpy(bytes, f->data, f->len);
	if (spoil == WRONG_NEST)
		type |= NLA_F_NESTED;
	if (spoil)
		b->offset = start;
	genl_put(&b->m, type, bytes, len);
}

static void put_fields(struct builder *b, const struct field *f, uint32_t n);

static void put_nest(struct builder *b, const struct field *f,
		     enum spoil spoil)
{
	uint32_t start = genl_nest(&b->m, f->type);
	struct nlattr *nla;

	if (spoil)
		b->offset = start;
	if (spoil == LONG)
		genl_put(&b->m, 1000, NULL, 0);
	if (spoil != EMPTY)
		put_fields(b, f->sub, f->nsub);
	genl_nest_end(&b->m, start);
	nla = (void *)(b->m.buf + start);
	if (spoil == WRONG_NEST)
		nla->nla_type &= ~NLA_F_NESTED;
	if (spoil == SHORT)
		nla->nla_len -= 1;
}

static void put_field(struct builder *b, const struct field *f,
		      enum spoil spoil)
{
	if (f->kind == NEST)
		put_nest(b, f, spoil);
	else
		put_value(b, f, spoil);
}

static void put_fields(struct builder *b, const struct field *f, uint32_t n)
{
	enum spoil spoil;
	uint32_t i;

	for (i = 0; i < n; i++, f++) {
		spoil = f == b->victim ? b->spoil : SOUND;
		if (spoil == MISSING)
			continue;
		put_field(b, f, spoil == TWICE ? SOUND : spoil);
		if (spoil != TWICE)
			continue;
		b->offset = b->m.nlh.nlmsg_len;
		put_field(b, f, SOUND);
	}
}

FIXTURE(host)
{
	struct genl_sock s;
	uint64_t links;
	int objects;
};

FIXTURE_VARIANT(host)
{
	uint8_t cmd;
	const struct field *fields;
	uint32_t n;
	bool changes;		/* an accepted request changes the dump */
	int answer;		/* to a sound request */
};

FIXTURE_VARIANT_ADD(host, dev_get)
{
	.cmd = RCLINK_CMD_DEV_GET,
	.fields = dev_get,
	.n = ARRAY_SIZE(dev_get),
};

FIXTURE_VARIANT_ADD(host, link_new)
{
	.cmd = RCLINK_CMD_LINK_NEW,
	.fields = policy,
	.n = ARRAY_SIZE(policy),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_set)
{
	.cmd = RCLINK_CMD_LINK_SET,
	.fields = policy,
	.n = ARRAY_SIZE(policy),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_del)
{
	.cmd = RCLINK_CMD_LINK_DEL,
	.fields = idle,
	.n = ARRAY_SIZE(idle),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_get)
{
	.cmd = RCLINK_CMD_LINK_GET,
	.fields = idle,
	.n = ARRAY_SIZE(idle),
};

FIXTURE_VARIANT_ADD(host, link_prepare)
{
	.cmd = RCLINK_CMD_LINK_PREPARE,
	.fields = prepare,
	.n = ARRAY_SIZE(prepare),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_connect)
{
	.cmd = RCLINK_CMD_LINK_CONNECT,
	.fields = connect,
	.n = ARRAY_SIZE(connect),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_activate)
{
	.cmd = RCLINK_CMD_LINK_ACTIVATE,
	.fields = activate,
	.n = ARRAY_SIZE(activate),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_disconnect)
{
	.cmd = RCLINK_CMD_LINK_DISCONNECT,
	.fields = up,
	.n = ARRAY_SIZE(up),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_replace)
{
	.cmd = RCLINK_CMD_LINK_REPLACE,
	.fields = replace,
	.n = ARRAY_SIZE(replace),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, link_rotate)
{
	.cmd = RCLINK_CMD_LINK_ROTATE,
	.fields = up,
	.n = ARRAY_SIZE(up),
	.changes = true,	/* the number of the last event */
};

FIXTURE_VARIANT_ADD(host, ping)
{
	.cmd = RCLINK_CMD_PING,
	.fields = ping,
	.n = ARRAY_SIZE(ping),
};

FIXTURE_VARIANT_ADD(host, record_get)
{
	.cmd = RCLINK_CMD_RECORD_GET,
	.fields = record_get,
	.n = ARRAY_SIZE(record_get),
};

FIXTURE_VARIANT_ADD(host, link_note)
{
	.cmd = RCLINK_CMD_LINK_NOTE,
	.fields = note,
	.n = ARRAY_SIZE(note),
};

FIXTURE_VARIANT_ADD(host, group_add)
{
	.cmd = RCLINK_CMD_GROUP_ADD,
	.fields = group_add,
	.n = ARRAY_SIZE(group_add),
	.changes = true,	/* the number of the last event */
};

FIXTURE_VARIANT_ADD(host, group_add_from)
{
	.cmd = RCLINK_CMD_GROUP_ADD,
	.fields = group_add_from,
	.n = ARRAY_SIZE(group_add_from),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, group_set)
{
	.cmd = RCLINK_CMD_GROUP_SET,
	.fields = group_set,
	.n = ARRAY_SIZE(group_set),
	.changes = true,
};

FIXTURE_VARIANT_ADD(host, group_get)
{
	.cmd = RCLINK_CMD_GROUP_GET,
	.fields = kept,
	.n = ARRAY_SIZE(kept),
};

FIXTURE_VARIANT_ADD(host, group_regions)
{
	.cmd = RCLINK_CMD_GROUP_REGIONS,
	.fields = group_regions,
	.n = ARRAY_SIZE(group_regions),
	.answer = -ENOENT,	/* no other host is in the group */
};

FIXTURE_VARIANT_ADD(host, group_del)
{
	.cmd = RCLINK_CMD_GROUP_DEL,
	.fields = kept,
	.n = ARRAY_SIZE(kept),
	.changes = true,
};

/* Make a group whose key this host keeps, and wait until it has one. */
static int keep(struct genl_sock *s)
{
	const struct nlattr *kind = NULL;
	uint8_t at[RCLINK_GID_LEN];
	struct genl_sock news;
	struct genl_msg m;
	uint32_t lid;
	int ret;

	/* An address other than that of group_add */
	rcl_group_at(at, &lid);
	at[sizeof(at) - 1]++;
	if (lid)
		lid++;
	ret = rcl_open(&news);
	if (ret)
		return ret;
	ret = genl_join(&news);
	genl_begin(&m, s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "kept");
	genl_put(&m, RCLINK_A_GROUP_MGID, at, sizeof(at));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, lid);
	genl_put_str(&m, RCLINK_A_GROUP_LINK, "idle");
	if (!ret)
		ret = genl_ask(s, &m, NULL, NULL);
	while (!ret &&
	       (!kind || genl_u32(kind) != RCLINK_EVENT_KIND_REKEYED)) {
		ret = genl_recv(&news, &m, slow(10000));
		kind = ret ? NULL : genl_attr(&m, RCLINK_A_GROUP_EVENT_KIND);
	}
	genl_close(&news);
	if (ret)
		return ret;
	return rcl_until_told(s, "idle",
			      genl_u64(genl_attr(&m, RCLINK_A_GROUP_EVENT_SEQ)),
			      10000);
}

/* Make a link without heartbeats, which would change its counters. */
static int new_still(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_LOOPBACK, 1);
	genl_put_u32(&m, RCLINK_A_LINK_HEARTBEAT, 0);
	return genl_ask(s, &m, NULL, NULL);
}

/* Links in every state, and the one that a command needs */
FIXTURE_SETUP(host)
{
	static const char * const names[] = {
		"idle", "ours", "theirs", "other", "up", "peer"
	};
	struct genl_sock *s = &self->s;
	struct rcl_end local;
	unsigned int i;

	rcl_group_at(mgid, &mlid);
	ASSERT_EQ(0, rcl_open(s));
	ASSERT_EQ(0, rcl_clean(s));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ASSERT_EQ(0, new_still(s, names[i]));
	ASSERT_EQ(0, rcl_pair(s, "up", "peer", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_prepare(s, "ours", &local));
	ASSERT_EQ(0, rcl_prepare(s, "theirs", &remote));
	ASSERT_EQ(5, remote.nqps);
	epoch = local.epoch;
	if (variant->cmd == RCLINK_CMD_LINK_ACTIVATE)
		rcl_connect(s, "ours", epoch, 1, &remote, NULL);
	strcpy(policy_name, variant->cmd == RCLINK_CMD_LINK_NEW ? "fresh" :
	       "idle");
	if (variant->cmd >= RCLINK_CMD_GROUP_ADD)
		ASSERT_EQ(0, keep(s));
	self->links = rcl_links_digest(s);
	self->objects = rcl_all_objects();
	ASSERT_NE(0, self->links);
	/* four links with five QPs each */
	ASSERT_LT(20, self->objects);
}

FIXTURE_TEARDOWN(host)
{
	rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "fresh", NULL);
	rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "kept", NULL);
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static void build(struct builder *b, struct genl_sock *s, uint8_t cmd,
		  const struct field *fields, uint32_t n)
{
	genl_begin(&b->m, s, cmd);
	b->offset = 0;
	put_fields(b, fields, n);
}

/* Does the refusal point at the attribute, or name the one that is missing? */
static bool names_it(const struct builder *b, const struct genl_ack *ack)
{
	const char *word = b->victim->word;

	if (!ack->text[0])
		return false;
	if (b->spoil == MISSING)
		return ack->missing == b->victim->type ||
		       strstr(ack->text, word);
	return ack->offset == b->offset;
}

/* For a nest that is cut or stretched, the answer points somewhere inside. */
static bool anywhere(const struct builder *b)
{
	return b->victim->kind == NEST && b->spoil >= EMPTY &&
	       b->spoil <= HUGE_LEN;
}

static bool refused(struct builder *b, const struct genl_ack *ack)
{
	bool einval = ack->error == -EINVAL || ack->error == -ERANGE;

	if (einval && ack->text[0] && (anywhere(b) || names_it(b, ack)))
		return true;
	fprintf(stderr, "# %s %s: %d '%s' at %u, not %u, missing %u\n",
		b->victim->word, spoils[b->spoil], ack->error, ack->text,
		ack->offset, b->offset, ack->missing);
	return false;
}

static bool applies(const struct field *f, enum spoil spoil)
{
	if (spoil == MISSING)
		return f->needed;
	if (spoil == TWICE)
		return !f->many;
	if (f->kind == NEST)
		return spoil != HUGE_LEN;
	if (f->kind == FLAG)
		return spoil != EMPTY && spoil != SHORT;
	return true;
}

/* Count the spoilt requests that were not refused as they should be. */
static int spoil_fields(struct genl_sock *s, uint8_t cmd,
			const struct field *all, uint32_t nall,
			const struct field *fields, uint32_t n, uint64_t links)
{
	struct genl_ack ack;
	struct builder b;
	int wrong = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		b.victim = &fields[i];
		for (b.spoil = MISSING; b.spoil < SPOILS; b.spoil++) {
			if (!applies(b.victim, b.spoil))
				continue;
			build(&b, s, cmd, all, nall);
			genl_ask(s, &b.m, NULL, &ack);
			wrong += !refused(&b, &ack);
			if (rcl_links_digest(s) == links)
				continue;
			fprintf(stderr, "# %s %s: something changed\n",
				b.victim->word, spoils[b.spoil]);
			return wrong + 1;
		}
		if (fields[i].kind == NEST)
			wrong += spoil_fields(s, cmd, all, nall, fields[i].sub,
					      fields[i].nsub, links);
	}
	return wrong;
}

TEST_F_TIMEOUT(host, refuses_each_attribute_spoilt, 120)
{
	EXPECT_EQ(0, spoil_fields(&self->s, variant->cmd, variant->fields,
				  variant->n, variant->fields, variant->n,
				  self->links));
	EXPECT_EQ(self->objects, rcl_all_objects());
}

/* Is an attribute of @type behind a sound request refused, and named? */
static bool refused_with(struct genl_sock *s, uint8_t cmd,
			 const struct field *fields, uint32_t n,
			 uint16_t type)
{
	struct builder b = { .victim = NULL };
	struct genl_ack ack;
	uint32_t offset;

	build(&b, s, cmd, fields, n);
	offset = b.m.nlh.nlmsg_len;
	genl_put_u32(&b.m, type, 1);
	genl_ask(s, &b.m, NULL, &ack);
	if (ack.error == -EINVAL && ack.text[0] && ack.offset == offset)
		return true;
	fprintf(stderr, "# type %u: %d '%s' at %u\n", type, ack.error,
		ack.text, ack.offset);
	return false;
}

static void spoil_end(struct __test_metadata *_metadata, struct genl_sock *s,
		      uint8_t cmd, const struct field *fields, uint32_t n)
{
	struct builder b = { .victim = NULL };
	struct genl_ack ack;
	struct nlattr *nla;
	uint32_t more;

	for (more = 1; more <= 3; more++) {
		build(&b, s, cmd, fields, n);
		memset(b.m.buf + b.m.nlh.nlmsg_len, 0, 4);
		b.m.nlh.nlmsg_len += more;
		EXPECT_EQ(-EINVAL, genl_ask(s, &b.m, NULL, &ack));
		EXPECT_NE('\0', ack.text[0]);
	}
	/* an attribute longer than the message, or shorter than its header */
	build(&b, s, cmd, fields, n);
	nla = genl_put(&b.m, fields[0].type, NULL, 4);
	nla->nla_len = 200;
	EXPECT_EQ(-EINVAL, genl_ask(s, &b.m, NULL, &ack));
	nla->nla_len = 3;
	EXPECT_EQ(-EINVAL, genl_ask(s, &b.m, NULL, &ack));
	/* bits of the header that are reserved */
	build(&b, s, cmd, fields, n);
	b.m.buf[NLMSG_HDRLEN + 2] = 1;
	EXPECT_EQ(-EINVAL, genl_ask(s, &b.m, NULL, NULL));
}

TEST_F(host, refuses_what_does_not_belong_there_and_takes_the_rest)
{
	/* unknown types, and those of answers or other commands */
	static const uint16_t types[] = {
		0, 64, 100, 0x3fff, RCLINK_A_LINK_STATE,
		RCLINK_A_LINK_REASON_TEXT, RCLINK_A_LINK_LOCAL,
		RCLINK_A_LINK_STATS, RCLINK_A_LINK_EVENT_SEQ,
		RCLINK_A_LINK_PAD,
	};
	struct builder b = { .victim = NULL };
	struct genl_ack ack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		EXPECT_TRUE(refused_with(&self->s, variant->cmd,
					 variant->fields, variant->n,
					 types[i]));
	spoil_end(_metadata, &self->s, variant->cmd, variant->fields,
		  variant->n);
	EXPECT_EQ(self->links, rcl_links_digest(&self->s));

	build(&b, &self->s, variant->cmd, variant->fields, variant->n);
	EXPECT_EQ(variant->answer, genl_ask(&self->s, &b.m, NULL, &ack))
		TH_LOG("%s", ack.text);
	EXPECT_EQ(variant->changes, self->links != rcl_links_digest(&self->s));
}

static const struct field *of_type(const struct field *fields, uint32_t n,
				   uint16_t type)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (fields[i].type == type)
			return &fields[i];
	return NULL;
}

/* The field of @type in some request with @cmd, or NULL */
static const struct field *tried(uint8_t cmd, uint16_t type)
{
	const struct __fixture_variant_metadata *v;
	const struct _fixture_variant_host *variant;
	const struct field *f = NULL;

	for (v = _host_fixture_object.variant; v && !f; v = v->next) {
		variant = v->data;
		if (variant->cmd == cmd)
			f = of_type(variant->fields, variant->n, type);
	}
	return f;
}

/* Count the attributes of @policy that are not tried, nested ones included. */
static int left_out(const struct catalog *c, uint32_t policy, uint8_t cmd,
		    const struct field *in)
{
	const struct field *f;
	unsigned int i;
	int out = 0;

	for (i = 0; i < c->nattrs; i++) {
		if (c->attrs[i].policy != policy)
			continue;
		f = in ? of_type(in->sub, in->nsub, c->attrs[i].type) :
			 tried(cmd, c->attrs[i].type);
		if (!f) {
			fprintf(stderr, "# command %u: not tried: %s %u\n",
				cmd, in ? in->word : "attribute",
				c->attrs[i].type);
			out++;
		} else if (c->attrs[i].nested != CATALOG_NONE) {
			out += left_out(c, c->attrs[i].nested, cmd, f);
		}
	}
	return out;
}

TEST(each_attribute_of_each_command_is_tried)
{
	struct catalog c;
	unsigned int i;

	ASSERT_EQ(0, catalog_read(&c, RCLINK_FAMILY_NAME));
	ASSERT_LT(0, c.ncmds);
	for (i = 0; i < c.ncmds; i++) {
		ASSERT_NE(CATALOG_NONE, c.cmds[i].policy);
		EXPECT_EQ(0, left_out(&c, c.cmds[i].policy, c.cmds[i].cmd,
				      NULL));
	}
}

TEST(unknown_commands_are_refused)
{
	static const uint8_t cmds[] = {
		0, RCLINK_CMD_PING_NTF, RCLINK_CMD_LINK_NTF,
		RCLINK_CMD_GROUP_NTF, RCLINK_CMD_DEV_NTF,
		RCLINK_CMD_MAX + 1, 255
	};
	struct genl_sock s;
	struct genl_msg m;
	unsigned int i;

	ASSERT_EQ(0, rcl_open(&s));
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		genl_begin(&m, &s, cmds[i]);
		EXPECT_EQ(-EOPNOTSUPP, genl_ask(&s, &m, NULL, NULL));
	}
}

TEST_HARNESS_MAIN
