// SPDX-License-Identifier: GPL-2.0
#include "peers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fail.h"
#include "ident.h"
#include "range.h"
#include "session.h"
#include "verify.h"

#define DNS	"dns:"
#define PIN	"sha256:"

struct peer {
	bool dns;			/* else a pin */
	char link[RCLINK_NAME_MAX + 1];
	char identity[RCLINK_PEER_MAX + 1];
};

struct rch_peers {
	struct peer *peer;
	size_t num;
};

struct rch_peers *rch_peers_new(void)
{
	return calloc(1, sizeof(struct rch_peers));
}

void rch_peers_free(struct rch_peers *peers)
{
	if (!peers)
		return;
	free(peers->peer);
	free(peers);
}

int rch_peers_put(struct rch_peers *peers, const char *link,
		  const char *identity, bool dns, char *err)
{
	struct peer *peer;
	const char *why;

	if (rcl_range_name(link, &why))
		return rcl_fail(err, -EINVAL, "%s", why);
	if (dns ? rcx_peer_name_check(identity, err) :
		  rcx_pin_check(identity, err))
		return -EINVAL;
	peer = reallocarray(peers->peer, peers->num + 1, sizeof(*peer));
	if (!peer)
		return rcl_fail(err, -ENOMEM, "out of memory");
	peers->peer = peer;
	peer += peers->num++;
	peer->dns = dns;
	strcpy(peer->link, link);
	strcpy(peer->identity, identity);
	return 0;
}

int rch_peers_add(struct rch_peers *peers, const char *text, char *err)
{
	const char *equals = strchr(text, '=');
	char link[RCLINK_NAME_MAX + 2];
	const char *identity;
	bool dns;

	if (!equals)
		return rcl_fail(err, -EINVAL,
				"a peer is NAME=PIN, NAME being that of a link");
	/* A name that is too long stays too long. */
	snprintf(link, sizeof(link), "%.*s", (int)(equals - text), text);
	identity = equals + 1;
	dns = !strncmp(identity, DNS, strlen(DNS));
	if (dns)
		identity += strlen(DNS);
	return rch_peers_put(peers, link, identity, dns, err);
}

int rch_peers_check(const struct rch_peers *peers, bool by_ca, char *err)
{
	size_t i;

	if (!peers->num)
		return rcl_fail(err, -EINVAL,
				"nobody could connect without a --peer");
	for (i = 0; i < peers->num; i++) {
		if (by_ca && !peers->peer[i].dns)
			return rcl_fail(err, -EINVAL,
					"with --ca a peer is NAME=dns:HOST");
		if (!by_ca && peers->peer[i].dns)
			return rcl_fail(err, -EINVAL,
					"a peer by its name needs --ca");
	}
	return 0;
}

/* Case does not matter in a DNS name, but does in a pin. */
static bool is_peer(const struct peer *peer, const char *identity)
{
	return peer->dns ? !strcasecmp(peer->identity, identity) :
			   !strcmp(peer->identity, identity);
}

bool rch_peers_know(const struct rch_peers *peers, const char *identity,
		    const char *link)
{
	size_t i;

	for (i = 0; i < peers->num; i++)
		if (is_peer(&peers->peer[i], identity) &&
		    (!link || !strcmp(peers->peer[i].link, link)))
			return true;
	return false;
}

/* Which of ids the peer is; -1: none. */
static int which(const struct peer *peer, const struct rcx_ids *ids)
{
	unsigned int i;

	for (i = 0; i < ids->num; i++)
		if (is_peer(peer, ids->id[i]))
			return i;
	return -1;
}

int rch_peers_admit(const struct rch_peers *peers, const struct rcx_ids *ids,
		    const char *wanted, char link[RCLINK_NAME_MAX + 1],
		    char *err)
{
	const struct peer *peer, *found = NULL;
	bool several = false;
	int is, as = -1;
	size_t i;

	for (i = 0; i < peers->num; i++) {
		peer = &peers->peer[i];
		is = which(peer, ids);
		if (is < 0)
			continue;
		several |= found && strcmp(found->link, peer->link);
		if (found && strcmp(peer->link, wanted))
			continue;
		found = peer;
		as = is;
	}
	if (!found)
		return rcl_fail(err, -EACCES,
				"%.130s is not among the peers that the answering host lists; list it there",
				ids->id[0]);
	if (several && strcmp(found->link, wanted))
		return rcl_fail(err, -EACCES,
				"several links are open to this peer, but none called %.40s; ask for one of them with --peer-link, or peer-link in its rclink.conf",
				wanted);
	strcpy(link, found->link);
	return as;
}

bool rch_gave_up(bool refused, int result)
{
	return result == -EALREADY ||
	       (!refused && (result == -EBUSY || result == -ECANCELED ||
			     result == -ECONNRESET));
}

bool rch_goes_first(const char *self, const char *peer)
{
	/* In base64 the case counts, in names it does not. */
	return (strncmp(self, PIN, strlen(PIN)) ? strcasecmp(self, peer) :
						  strcmp(self, peer)) < 0;
}
