// SPDX-License-Identifier: GPL-2.0
#include "group_story.h"

#include <stdbool.h>
#include <string.h>

#include <json-c/json.h>

#include "../../kmod/gid.h"
#include "advice.h"
#include "doc.h"
#include "group.h"
#include "link.h"
#include "out.h"
#include "process.h"
#include "text.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MEMBERS_MAX	8	/* in one sentence */
#define MEMBERS_LEN	768	/* of that */

#define OF_OTHER_KIND	"no GID of the kind of the group's address, IPv4 or IPv6"

/* A story while it is being told. */
struct telling {
	const struct rcl_group_story *story;
	const struct rcl_group_info *info;	/* the story's */
	struct json_object *doc;
	struct json_object *said;	/* sentences */
	struct json_object *todo;
	bool fits;			/* there is a port to join with */
};

#define say(t, ...)	rcl_out_append((t)->said, __VA_ARGS__)
#define advise(t, ...)	rcl_out_append((t)->todo, __VA_ARGS__)

static bool is_joined(const struct rcl_group_info *info)
{
	return info->state == RCLINK_GROUP_STATE_JOINED;
}

/* A RoCE packet has one IP header for both its addresses. */
static bool is_of_kind(const struct rcl_group_info *info,
		       const struct rcl_dev_info *dev,
		       const struct rcl_gid_info *gid)
{
	return dev->link_layer != RCLINK_LINK_LAYER_ROCE ||
	       rcl_gid_is_v4(gid->gid) == rcl_gid_is_v4(info->mgid);
}

/* The GID in use, the one set, or the one that the module would take. */
static const struct rcl_gid_info *find_gid(const struct rcl_group_info *info,
					   const struct rcl_dev_info *dev,
					   const char **reason)
{
	const bool set = info->has_gid_index &&
			 info->gid_index != RCLINK_GID_INDEX_AUTO;
	const struct rcl_gid_info *gid, *best = NULL;
	size_t i;

	*reason = dev->reason;
	if (!set && !dev->has_chosen)
		return NULL;
	*reason = set ? "there is no such gid-index" : OF_OTHER_KIND;
	for (i = 0; i < dev->ngids; i++) {
		gid = &dev->gids[i];
		if (set ? gid->index != info->gid_index : !gid->usable)
			continue;
		*reason = OF_OTHER_KIND;
		if (is_of_kind(info, dev, gid) &&
		    (!best ||
		     rcl_gid_rank(gid->gid) > rcl_gid_rank(best->gid)))
			best = gid;
	}
	if (best)
		*reason = is_joined(info) ? "in use" :
			  set ? "set by the operator" :
				"of the kind of the group's address";
	return best;
}

static const char *lid_reason(const struct rcl_group_info *info,
			      const struct rcl_dev_info *dev)
{
	if (dev->link_layer == RCLINK_LINK_LAYER_ROCE)
		return info->mlid ? "mlid is set, and a RoCE port has none" :
				    NULL;
	if (rcl_gid_is_v4(info->mgid))
		return "its address is IPv4: on InfiniBand it begins with ff";
	/* In a joined group it is the MLID in use. */
	if (dev->sa)
		return info->mlid && !is_joined(info) ?
		       "mlid is set, and the subnet manager says it" : NULL;
	return info->mlid ? NULL : "mlid is not set, which InfiniBand needs";
}

static struct json_object *doc_port(struct telling *t,
				    const struct rcl_dev_info *dev)
{
	const struct rcl_gid_info *gid;
	char text[RCL_GID_TEXT_LEN];
	const char *reason;

	gid = find_gid(t->info, dev, &reason);
	if (gid && lid_reason(t->info, dev)) {
		reason = lid_reason(t->info, dev);
		gid = NULL;
	}
	t->fits |= gid && dev->port_state == RCL_PORT_ACTIVE;
	return rcl_doc_port(dev, gid ? rcl_gid_text(gid->gid, text) : NULL,
			    reason);
}

/* The ports that it may use. */
static struct json_object *doc_ports(struct telling *t)
{
	struct json_object *ports = json_object_new_array();
	const struct rcl_group_info *info = t->info;
	size_t i;

	for (i = 0; i < t->story->ndevs; i++) {
		const struct rcl_dev_info *dev = &t->story->devs[i];

		if ((info->device[0] && strcmp(info->device, dev->name)) ||
		    (info->port && info->port != dev->port))
			continue;
		json_object_array_add(ports, doc_port(t, dev));
	}
	return ports;
}

/* Once a port fits again, a reason that lay in a port is over, no other. */
static void advise_down(struct telling *t)
{
	struct json_object *ports = json_object_object_get(t->doc, "ports");
	const struct rcl_advice *gone =
		rcl_group_advice(RCLINK_DOWN_REASON_DEVICE_REMOVED);
	const uint32_t reason = t->info->reason;
	const bool of_port = reason == RCLINK_DOWN_REASON_PORT_DOWN ||
			     reason == RCLINK_DOWN_REASON_GID_CHANGED ||
			     reason == RCLINK_DOWN_REASON_DEVICE_REMOVED;

	if (!json_object_array_length(ports))
		advise(t, "%s", gone->todo);
	else if (t->fits != of_port)
		advise(t, "%s", rcl_group_advice(reason)->todo);
	else if (!t->fits)
		advise(t, "see `rclink dev` for what each port lacks");
	if (t->info->refusal[0])
		advise(t,
		       "see to what the last try was refused for: the group is joined again by itself");
	else if (t->fits)
		advise(t,
		       "wait for the next try; if it stays down, `rclink group why %s` says what that was refused for",
		       t->info->name);
}

static void tell_down(struct telling *t)
{
	const struct rcl_group_info *info = t->info;
	const char *cause = rcl_group_advice(info->reason)->cause;
	unsigned long long joins = info->stats[RCLINK_A_GROUP_STATS_JOINS];

	say(t,
	    "%s is down%s%s; it was joined %llu time%s, and is tried again every 2 s",
	    info->name, info->reason_text[0] ? ": " : "", info->reason_text,
	    joins, joins == 1 ? "" : "s");
	rcl_out_text(t->doc, "cause", cause);
	say(t, "Most likely: %s", cause);
	if (info->refusal[0])
		say(t, "The last try was refused: %s", info->refusal);
	rcl_doc_tell_ports(json_object_object_get(t->doc, "ports"), t->said);
	advise_down(t);
}

static void tell_state(struct telling *t)
{
	const struct rcl_group_info *info = t->info;
	unsigned long long downs = info->stats[RCLINK_A_GROUP_STATS_JOINS];
	char gid[RCL_GID_TEXT_LEN], mgid[RCL_GID_TEXT_LEN];

	if (!is_joined(info)) {
		tell_down(t);
		return;
	}
	downs -= downs > 0;
	rcl_out_text(t->doc, "cause", NULL);
	say(t, "%s is joined to %s, from %s port %u with GID %s",
	    info->name, rcl_gid_text(info->mgid, mgid), info->device,
	    info->port, rcl_gid_text(info->gid, gid));
	if (downs)
		say(t, "Since it was made it was down %llu time%s", downs,
		    downs == 1 ? "" : "s");
	else
		say(t, "It was never down since it was made");
}

static const struct rcl_link_info *find_link(const struct telling *t,
					     const char *name)
{
	size_t i;

	for (i = 0; i < t->story->nlinks; i++)
		if (!strcmp(t->story->links[i].name, name))
			return &t->story->links[i];
	return NULL;
}

static bool is_up(const struct rcl_link_info *link)
{
	return link && link->state == RCLINK_LINK_STATE_UP;
}

static void add_link(struct telling *t, struct json_object *links,
		     const char *name)
{
	const struct rcl_link_info *link = find_link(t, name);
	struct json_object *obj = json_object_new_object();
	const char *reason = link ? link->reason_text : "";

	rcl_out_text(obj, "name", name);
	rcl_out_text(obj, "state", link ? rcl_word(RCL_WORDS_STATE,
						   link->state) : NULL);
	rcl_out_text(obj, "reason", link ? rcl_word(RCL_WORDS_REASON,
						    link->reason) : NULL);
	rcl_out_text(obj, "reason_text", *reason ? reason : NULL);
	json_object_array_add(links, obj);
}

/* The links that the key comes or goes by. */
static struct json_object *doc_links(struct telling *t)
{
	struct json_object *links = json_object_new_array();
	size_t i;

	if (t->info->from[0])
		add_link(t, links, t->info->from);
	for (i = 0; i < t->info->nlinks; i++)
		add_link(t, links, t->info->link[i]);
	return links;
}

static void tell_no_link(struct telling *t, const char *name)
{
	if (t->info->from[0])
		advise(t, "make the link with `rclink add %s`, and connect it",
		       name);
	else
		advise(t,
		       "make the link with `rclink add %s` and connect it, or take it off: `rclink group set %s no-link %s`",
		       name, t->info->name, name);
}

/* Tell what is wrong with a link, if anything is. */
static void tell_link(struct telling *t, const char *name)
{
	const struct rcl_link_info *link = find_link(t, name);
	const char *state;

	if (!link) {
		say(t, "There is no link %s on this host", name);
		tell_no_link(t, name);
		return;
	}
	if (is_up(link))
		return;
	state = rcl_word(RCL_WORDS_STATE, link->state);
	say(t, "Link %s is %s%s%s", name, state ? state : "?",
	    link->reason_text[0] ? ": " : "", link->reason_text);
	advise(t, "see `rclink why %s`", name);
}

static size_t count_up(const struct telling *t)
{
	size_t i, num = 0;

	for (i = 0; i < t->info->nlinks; i++)
		num += is_up(find_link(t, t->info->link[i]));
	return num;
}

static void tell_keeper(struct telling *t)
{
	const struct rcl_group_info *info = t->info;
	const size_t num = info->nlinks, up = count_up(t);
	size_t i;

	if (!num) {
		say(t,
		    "This host keeps the key, and gives it to nobody: no link is named");
		advise(t,
		       "name the links whose peers are to be members: `rclink group set %s link LINK`",
		       info->name);
		return;
	}
	say(t,
	    "This host keeps the key, and gives it to the peer%s of %zu link%s, of which %zu %s up",
	    num == 1 ? "" : "s", num, num == 1 ? "" : "s", up,
	    up == 1 ? "is" : "are");
	for (i = 0; i < num; i++)
		tell_link(t, info->link[i]);
}

static void tell_from(struct telling *t)
{
	const struct rcl_group_info *info = t->info;
	const bool up = is_up(find_link(t, info->from));

	if (info->has_key)
		say(t,
		    "It has the key from the peer of link %s, and number %u under it",
		    info->from, info->sender);
	else
		say(t,
		    "It has no key, so it sends nothing and hears nobody: the peer of link %s keeps it",
		    info->from);
	tell_link(t, info->from);
	if (info->has_key && !up)
		say(t,
		    "Meanwhile it goes on with the key that it has, and gets no other");
	if (info->has_key || !up)
		return;
	say(t,
	    "That link is up, but its peer has given no key yet; if that stays so, it keeps no group of that name, or not for this host");
	advise(t,
	       "if no key comes within seconds, see `rclink group why %s` at the peer of link %s, and name the link to this host there: `rclink group set %s link LINK`",
	       info->name, info->from, info->name);
}

/* A member that asked for the key again has a new number: it is not lost. */
static bool has_another(const struct rcl_group_info *info,
			const struct rcl_group_peer *peer)
{
	size_t i;

	for (i = 0; i < info->npeers; i++)
		if (rcl_group_is_heard(&info->peer[i]) &&
		    !memcmp(info->peer[i].gid, peer->gid, RCLINK_GID_LEN))
			return true;
	return false;
}

static bool is_silent(const struct rcl_group_info *info,
		      const struct rcl_group_peer *peer)
{
	return !rcl_group_is_heard(peer) && !has_another(info, peer);
}

/* List the members heard, or the silent ones. Returns how many. */
static size_t list_members(const struct rcl_group_info *info, bool silent,
			   char buf[MEMBERS_LEN])
{
	char gid[RCL_GID_TEXT_LEN], age[RCL_NS_TEXT_LEN];
	const struct rcl_group_peer *peer;
	size_t i, num = 0, len = 0;

	for (i = 0; i < info->npeers; i++) {
		peer = &info->peer[i];
		if (silent ? !is_silent(info, peer) : !rcl_group_is_heard(peer))
			continue;
		if (++num > MEMBERS_MAX)
			continue;
		len += snprintf(buf + len, MEMBERS_LEN - len,
				"%snumber %u at %s", num > 1 ? ", " : "",
				peer->sender, rcl_gid_text(peer->gid, gid));
		if (silent)
			len += snprintf(buf + len, MEMBERS_LEN - len,
					" for %s",
					rcl_ns_text(peer->age * NS_PER_MS,
						    age));
	}
	if (num > MEMBERS_MAX)
		snprintf(buf + len, MEMBERS_LEN - len, ", and %zu more",
			 num - MEMBERS_MAX);
	return num;
}

/*
 * Packets come in, but none opens: the others have another key. The module
 * keeps no times, so they may be from a change of the key that is long over.
 */
static void advise_other_key(struct telling *t)
{
	const struct rcl_group_info *info = t->info;

	if (!info->from[0] || !info->stats[RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY])
		return;
	if (is_up(find_link(t, info->from)))
		advise(t,
		       "if packets under a key that this host does not have go on coming in, most likely it was taken off the group's members: see `rclink group show %s` at the peer of link %s",
		       info->name, info->from);
	else
		advise(t,
		       "if packets under a key that this host does not have go on coming in, the group has another one by now: connect link %s, which brings it",
		       info->from);
}

/* Not everybody who should be heard is. */
static void advise_members(struct telling *t, size_t heard, size_t silent)
{
	const struct rcl_group_info *info = t->info;
	const size_t peers = info->from[0] ? 1 : count_up(t);

	if (!silent && heard >= peers)
		return;
	if (!heard)
		advise_other_key(t);
	advise(t,
	       "see `rclink group why %s` at the hosts that are not heard, if they are to be members",
	       info->name);
	if (!heard)
		advise(t,
		       "if nothing is wrong there, have the network carry multicast between the hosts: snooping of IGMP or MLD needs a querier");
}

static void tell_members(struct telling *t)
{
	const struct rcl_group_info *info = t->info;
	char list[MEMBERS_LEN];
	size_t heard, silent;

	if (!is_joined(info) || !info->has_key)
		return;
	heard = list_members(info, false, list);
	if (heard)
		say(t, "It hears %zu other member%s: %s", heard,
		    heard == 1 ? "" : "s", list);
	else
		say(t, "It hears no other member");
	silent = list_members(info, true, list);
	if (silent)
		say(t,
		    "It has not heard %s: who is silent has left, is down, or sends what is lost",
		    list);
	advise_members(t, heard, silent);
}

static const struct {
	int stat;
	const char *meaning;	/* follows "packets" */
	const char *todo;	/* NULL: nothing */
} drops[] = {
	{
		RCLINK_A_GROUP_STATS_RX_SHORT,
		"too short for a message: something else than rclink sends to this address",
		"if what is too short comes again, look for who else uses the address, or for an intruder in the RDMA network",
	},
	{
		RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY,
		"under a key that this host does not have: around a change of the key, from who was taken off, or of another group at this address",
		NULL,
	},
	{
		RCLINK_A_GROUP_STATS_RX_FORGED,
		"with a seal that does not open: somebody without the key sent them, or the network changed them",
		"if a seal that does not open comes again, look for an intruder in the RDMA network",
	},
	{
		RCLINK_A_GROUP_STATS_RX_AGAIN,
		"again or too late: the network copied or delayed them, somebody repeats them, a member went back to a snapshot, or one sent in the name of another, which silences that",
		"if what comes again or too late goes on and a member is not heard, have another key made, with `rclink group set NAME rekey` at the host that keeps it",
	},
	{
		RCLINK_A_GROUP_STATS_RX_MALFORMED,
		"from a member, but without sense: its module is of another version, or hostile",
		"compare `cat /sys/module/rclink/srcversion`, of the module that is loaded, on all hosts of the group",
	},
	{
		RCLINK_A_GROUP_STATS_RX_MISSED,
		"that a process or module of this host had no receive posted for",
		"have those who use the group post more receives, and sooner",
	},
};

static void tell_drop(struct telling *t, struct json_object *dropped, size_t i)
{
	const uint64_t num = t->info->stats[drops[i].stat];
	struct json_object *obj;

	if (!num)
		return;
	obj = json_object_new_object();
	rcl_out_text(obj, "counter", rcl_group_stat_word[drops[i].stat]);
	rcl_out_u64(obj, "count", num);
	rcl_out_text(obj, "meaning", drops[i].meaning);
	json_object_array_add(dropped, obj);
	say(t, "It dropped %llu packet%s %s", (unsigned long long)num,
	    num == 1 ? "" : "s", drops[i].meaning);
	if (drops[i].todo)
		advise(t, "%s", drops[i].todo);
}

static void tell_traffic(struct telling *t)
{
	struct json_object *dropped = json_object_new_array();
	const uint64_t *stats = t->info->stats;
	size_t i;

	say(t,
	    "Since it was made it has sent %llu message%s and received %llu%s",
	    (unsigned long long)stats[RCLINK_A_GROUP_STATS_TX_MESSAGES],
	    stats[RCLINK_A_GROUP_STATS_TX_MESSAGES] == 1 ? "" : "s",
	    (unsigned long long)stats[RCLINK_A_GROUP_STATS_RX_MESSAGES],
	    rcl_group_dropped(t->info) ? "" : ", and dropped nothing");
	for (i = 0; i < ARRAY_SIZE(drops); i++)
		tell_drop(t, dropped, i);
	json_object_object_add(t->doc, "dropped", dropped);
}

struct json_object *rcl_group_story_doc(const struct rcl_group_story *story)
{
	struct telling t = {
		.story = story,
		.info = story->info,
		.doc = rcl_doc_group(story->info),
		.said = json_object_new_array(),
		.todo = json_object_new_array(),
	};

	/* The document is to be shown to others. */
	json_object_object_del(t.doc, "qkey");
	json_object_object_add(t.doc, "ports", doc_ports(&t));
	json_object_object_add(t.doc, "key_links", doc_links(&t));
	tell_state(&t);
	if (t.info->from[0])
		tell_from(&t);
	else
		tell_keeper(&t);
	tell_members(&t);
	tell_traffic(&t);
	json_object_object_add(t.doc, "sentences", t.said);
	json_object_object_add(t.doc, "advice", t.todo);
	return t.doc;
}

static const char *text_at(struct json_object *array, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(array, i));
}

void rcl_group_story_print(FILE *to, struct json_object *doc)
{
	struct json_object *said = json_object_object_get(doc, "sentences");
	struct json_object *todo = json_object_object_get(doc, "advice");
	size_t i, num = json_object_array_length(todo);

	for (i = 0; i < json_object_array_length(said); i++)
		fprintf(to, "%s.\n", text_at(said, i));
	for (i = 0; i < num; i++)
		fprintf(to, "What to do: %s.\n", text_at(todo, i));
	if (!num)
		fputs("Nothing has to be done.\n", to);
}
