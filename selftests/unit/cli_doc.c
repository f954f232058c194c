// SPDX-License-Identifier: GPL-2.0
/* JSON documents, and how they are shown. */
#include "doc.h"

#include <string.h>

#include <json-c/json.h>
#include <kselftest_harness.h>

#include "link.h"
#include "out.h"

static const char *const contract[] = {
	"name", "state", "epoch", "reason", "peer", "device", "port",
	"link_layer", "gid", "mtu", "qps",
};

static struct rcl_link_info up_link(void)
{
	struct rcl_link_info info = {
		.name = "alpha",
		.policy = { .device = "rxe0", .given = (1u << RCL_P_MAX) - 1 },
		.state = RCLINK_LINK_STATE_UP,
		.epoch = 7,
		.peer = "host.example",
		.role = RCLINK_ROLE_RESPONDER,
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid = { 0xfe, 0x80, [15] = 1 },
		.has_local = true,
		.local = { .nqps = 2, .rkey = 77, .addr = 1ULL << 63,
			.qp = { { 17, 1 }, { 18, 0xffffff } } },
	};

	info.policy.v[RCL_P_PORT] = 1;
	info.policy.v[RCL_P_MTU] = 1024;
	info.policy.v[RCL_P_QPS] = 1;
	return info;
}

static const char *text_of(struct json_object *obj, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(obj, key, &value))
		return "(no such key)";
	return value ? json_object_get_string(value) : "null";
}

TEST(a_link_has_all_keys_of_the_contract)
{
	struct rcl_link_info idle = { .name = "a", .state = 1 };
	struct json_object *doc = rcl_doc_link(&idle);
	struct rcl_link_info up = up_link();
	unsigned int i;

	for (i = 0; i < sizeof(contract) / sizeof(contract[0]); i++)
		EXPECT_TRUE(json_object_object_get_ex(doc, contract[i], NULL))
			TH_LOG("%s", contract[i]);
	EXPECT_STREQ("idle", text_of(doc, "state"));
	EXPECT_STREQ("none", text_of(doc, "reason"));
	EXPECT_STREQ("null", text_of(doc, "peer"));
	EXPECT_STREQ("null", text_of(doc, "gid"));
	EXPECT_STREQ("null", text_of(doc, "mtu"));
	EXPECT_STREQ("null", text_of(doc, "port"));
	json_object_put(doc);

	doc = rcl_doc_link(&up);
	EXPECT_STREQ("up", text_of(doc, "state"));
	EXPECT_STREQ("7", text_of(doc, "epoch"));
	EXPECT_STREQ("rxe0", text_of(doc, "device"));
	EXPECT_STREQ("1", text_of(doc, "port"));
	EXPECT_STREQ("roce", text_of(doc, "link_layer"));
	EXPECT_STREQ("fe80::1", text_of(doc, "gid"));
	EXPECT_STREQ("1024", text_of(doc, "mtu"));
	EXPECT_STREQ("responder", text_of(doc, "role"));
	EXPECT_STREQ("host.example", text_of(doc, "peer"));
	json_object_put(doc);
}

static void shows(struct __test_metadata *_metadata,
		  const struct rcl_link_info *info, const char *device,
		  const char *port, const char *mtu)
{
	struct json_object *doc = rcl_doc_link(info);

	EXPECT_STREQ(device, text_of(doc, "device"));
	EXPECT_STREQ(port, text_of(doc, "port"));
	EXPECT_STREQ(mtu, text_of(doc, "mtu"));
	json_object_put(doc);
}

/* A link that is down shows what is set; for auto, what it used last. */
TEST(a_link_that_is_down_has_what_is_set)
{
	struct rcl_link_info info = up_link();

	strcpy(info.used_device, "rxe1");
	info.used_port = 2;
	info.used_mtu = 4096;
	shows(_metadata, &info, "rxe1", "2", "4096");

	info.state = RCLINK_LINK_STATE_DOWN;
	shows(_metadata, &info, "rxe0", "1", "1024");

	info.policy.device[0] = '\0';
	info.policy.v[RCL_P_PORT] = 0;
	info.policy.v[RCL_P_MTU] = 0;
	shows(_metadata, &info, "rxe1", "2", "4096");
}

/* Without a failed work request there is no status; an event has a number. */
TEST(a_link_says_what_a_work_request_told)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc = rcl_doc_link(&info);

	EXPECT_STREQ("null", text_of(doc, "wc_status"));
	EXPECT_STREQ("null", text_of(doc, "wc_name"));
	EXPECT_STREQ("null", text_of(doc, "vendor_err"));
	json_object_put(doc);

	info.reason = RCLINK_DOWN_REASON_COMPLETION;
	info.wc_status = 12;
	doc = rcl_doc_link(&info);
	EXPECT_STREQ("12", text_of(doc, "wc_status"));
	EXPECT_STREQ("RETRY_EXC_ERR", text_of(doc, "wc_name"));
	EXPECT_STREQ("0", text_of(doc, "vendor_err"));
	json_object_put(doc);

	info.reason = RCLINK_DOWN_REASON_QP_FATAL;
	info.wc_status = 0;
	info.vendor_err = 3;
	doc = rcl_doc_link(&info);
	EXPECT_STREQ("null", text_of(doc, "wc_status"));
	EXPECT_STREQ("null", text_of(doc, "wc_name"));
	EXPECT_STREQ("3", text_of(doc, "vendor_err"));
	json_object_put(doc);
}

TEST(a_link_that_is_rotated_has_two_epochs)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc = rcl_doc_link(&info);
	struct json_object *standby;

	EXPECT_STREQ("null", text_of(doc, "standby"));
	json_object_put(doc);

	info.standby_epoch = 8;
	info.standby_state = RCLINK_LINK_STATE_CONNECTED;
	doc = rcl_doc_link(&info);
	EXPECT_STREQ("up", text_of(doc, "state"));
	EXPECT_STREQ("7", text_of(doc, "epoch"));
	standby = json_object_object_get(doc, "standby");
	EXPECT_STREQ("8", text_of(standby, "epoch"));
	EXPECT_STREQ("connected", text_of(standby, "state"));
	json_object_put(doc);
}

TEST(who_may_open_channels_is_numbers_and_octal)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc;

	info.policy.v[RCL_P_OWNER] = 0xfffffffe;
	info.policy.v[RCL_P_GROUP] = 109;
	info.policy.v[RCL_P_MODE] = 060;
	doc = rcl_doc_link(&info);
	EXPECT_STREQ("4294967294", text_of(doc, "owner"));
	EXPECT_STREQ("109", text_of(doc, "group"));
	EXPECT_STREQ("0060", text_of(doc, "mode"));
	json_object_put(doc);
}

TEST(secrets_are_there_only_if_the_module_sent_them)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc = rcl_doc_link(&info);
	struct json_object *local, *qps;

	local = json_object_object_get(doc, "local");
	qps = json_object_object_get(local, "queue_pairs");
	ASSERT_EQ(2, json_object_array_length(qps));
	EXPECT_STREQ("16777215",
		     text_of(json_object_array_get_idx(qps, 1), "psn"));
	EXPECT_STREQ("9223372036854775808", text_of(local, "addr"));
	EXPECT_FALSE(json_object_object_get_ex(doc, "remote", NULL));
	json_object_put(doc);

	info.has_local = false;
	doc = rcl_doc_link(&info);
	EXPECT_EQ(NULL, strstr(json_object_to_json_string(doc), "psn"));
	EXPECT_EQ(NULL, strstr(json_object_to_json_string(doc), "rkey"));
	EXPECT_FALSE(json_object_object_get_ex(doc, "local", NULL));
	json_object_put(doc);
}

TEST(no_text_of_others_reaches_a_terminal_raw)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc;

	strcpy(info.peer, "a\x1b[31m\n\xff");
	doc = rcl_doc_link(&info);
	EXPECT_STREQ("a?[31m??", text_of(doc, "peer"));
	json_object_put(doc);
}

TEST(a_port_marks_the_gid_that_is_chosen)
{
	struct rcl_gid_info gids[] = {
		{ .index = 3, .type = RCLINK_GID_TYPE_ROCE_V1 },
		{ .index = 5, .type = RCLINK_GID_TYPE_ROCE_V2,
		  .gid = { 0xfe, 0x80, [15] = 5 },
		  .netdev = "eth0.7", .vlan = 7 },
	};
	struct rcl_dev_info info = {
		.name = "rxe0", .port = 1, .port_state = 4, .has_chosen = true,
		.chosen_gid = 5, .gids = gids, .ngids = 2, .active_mtu = 1024,
	};
	struct json_object *doc = rcl_doc_dev(&info);
	struct json_object *list = json_object_object_get(doc, "gids");

	EXPECT_STREQ("active", text_of(doc, "state"));
	EXPECT_STREQ("5", text_of(doc, "chosen_gid"));
	EXPECT_STREQ("fe80::5", text_of(doc, "gid"));
	EXPECT_STREQ("1024", text_of(doc, "mtu"));
	EXPECT_STREQ("false",
		     text_of(json_object_array_get_idx(list, 0), "chosen"));
	EXPECT_STREQ("true",
		     text_of(json_object_array_get_idx(list, 1), "chosen"));
	EXPECT_STREQ("roce-v2",
		     text_of(json_object_array_get_idx(list, 1), "type"));
	EXPECT_STREQ("null",
		     text_of(json_object_array_get_idx(list, 0), "vlan"));
	EXPECT_STREQ("7",
		     text_of(json_object_array_get_idx(list, 1), "vlan"));
	json_object_put(doc);

	info.has_chosen = false;
	doc = rcl_doc_dev(&info);
	EXPECT_STREQ("null", text_of(doc, "chosen_gid"));
	EXPECT_STREQ("null", text_of(doc, "gid"));
	json_object_put(doc);
}

/* Links have the same name if one is made after another was deleted. */
TEST(an_event_says_which_link)
{
	struct rcl_link_info info = up_link();
	struct json_object *doc;

	info.id = 12;
	info.event_seq = 8;
	doc = rcl_doc_event(&info, "changed");
	EXPECT_STREQ("changed", text_of(doc, "kind"));
	EXPECT_STREQ("8", text_of(doc, "event_seq"));
	EXPECT_STREQ("alpha", text_of(doc, "name"));
	EXPECT_STREQ("12", text_of(doc, "id"));
	json_object_put(doc);
}

/* It has no link's name, so nobody takes it for an event of a link. */
TEST(an_event_of_a_device_has_a_port_or_none)
{
	struct rcl_dev_info info = { .name = "rxe0", .event_seq = 7 };
	struct json_object *doc = rcl_doc_dev_event(&info);

	EXPECT_STREQ("changed", text_of(doc, "kind"));
	EXPECT_STREQ("7", text_of(doc, "event_seq"));
	EXPECT_STREQ("rxe0", text_of(doc, "device"));
	EXPECT_STREQ("null", text_of(doc, "port"));
	EXPECT_STREQ("(no such key)", text_of(doc, "name"));
	json_object_put(doc);

	info.port = 2;
	doc = rcl_doc_dev_event(&info);
	EXPECT_STREQ("2", text_of(doc, "port"));
	json_object_put(doc);
}

TEST(tables_are_as_wide_as_what_is_in_them)
{
	static const struct rcl_col cols[] = {
		{ "A", "a", NULL }, { "LONG", "b", NULL }, { "C", "c", NULL },
	};
	struct json_object *rows = json_object_new_array();
	struct json_object *row = json_object_new_object();
	char *text = NULL;
	size_t len;
	FILE *to;

	rcl_out_u64(row, "a", 12345);
	rcl_out_text(row, "b", NULL);
	rcl_out_text(row, "c", "x");
	json_object_array_add(rows, row);
	to = open_memstream(&text, &len);
	rcl_out_table(to, rows, cols, 3, " ");
	rcl_out_block(to, row, cols, 3, "");
	fclose(to);
	EXPECT_STREQ(" A      LONG  C\n"
		     " 12345  -     x\n"
		     "A     12345\n"
		     "LONG  -\n"
		     "C     x\n", text);
	free(text);
	json_object_put(rows);
}

TEST_HARNESS_MAIN
