// SPDX-License-Identifier: GPL-2.0
/*
 * Two ways to trust a peer.
 *
 * By pin: the SHA-256 of the peer's public key is known; nothing else in its
 * certificate counts, with three exceptions. A key too weak for security level
 * 2 is refused, because then knowing the pin would not prove much. So is one
 * that would keep this end busy: it asks only later whose key that is. Validity
 * dates are respected: `rclink genkey` writes none that ever matter, so a date
 * that excludes today was put there by somebody who meant it.
 *
 * By CA: the chain must end in the given CA and nowhere else, everything in it
 * must have security level 2, the key usage must allow TLS, the leaf must not
 * be a CA, and a DNS name in subjectAltName must be the expected one, letter by
 * letter but for case. The common name is never looked at; no wildcard matches.
 */
#include "verify.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "fail.h"

#define SECURITY_BITS	112	/* security level 2 */
#define KEY_BITS_MAX	8192
/* OpenSSL has this limit for RSA of more than 3072 bits, and none below. */
#define EXPONENT_BITS_MAX	64

static int refuse(X509_STORE_CTX *store, int code)
{
	/*
	 * The code chooses the alert that the peer gets. The one for "expired"
	 * is also for "not yet valid" (RFC 8446, 6.2).
	 */
	if (code == X509_V_ERR_CERT_NOT_YET_VALID)
		code = X509_V_ERR_CERT_HAS_EXPIRED;
	X509_STORE_CTX_set_error(store, code);

	return 0;
}

static bool dns_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

/* No '*', no NUL, no control character, no leading dot. */
static bool dns_name(const unsigned char *p, int len)
{
	int i;

	if (len <= 0 || len > RCLINK_PEER_MAX || p[0] == '.')
		return false;
	for (i = 0; i < len; i++)
		if (!dns_char(p[i]))
			return false;

	return true;
}

int rcx_peer_name_check(const char *name, char *err)
{
	if (!dns_name((const unsigned char *)name, strlen(name)))
		return rcl_fail(err, -EINVAL,
				"the name of a peer is a whole DNS name of at most %d characters, without wildcards",
				RCLINK_PEER_MAX);

	return 0;
}

/* In lower case: names have no case, and the module compares bytes. */
static void add_name(struct rcx_ids *ids, const unsigned char *name, size_t len)
{
	char *to = ids->id[ids->num++];
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 :
							   name[i];
	to[len] = '\0';
}

/* Returns how many there are; adds as many as fit. */
static unsigned int add_names(X509 *leaf, struct rcx_ids *ids)
{
	unsigned int found = 0;
	GENERAL_NAMES *sans;
	GENERAL_NAME *san;
	int i;

	sans = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
	for (i = 0; i < sk_GENERAL_NAME_num(sans); i++) {
		san = sk_GENERAL_NAME_value(sans, i);
		if (san->type != GEN_DNS ||
		    !dns_name(ASN1_STRING_get0_data(san->d.dNSName),
			      ASN1_STRING_length(san->d.dNSName)) ||
		    ++found > RCX_IDS_MAX)
			continue;
		add_name(ids, ASN1_STRING_get0_data(san->d.dNSName),
			 ASN1_STRING_length(san->d.dNSName));
	}
	GENERAL_NAMES_free(sans);

	return found;
}

int rcx_collect_names(X509 *leaf, const char *whose, struct rcx_peer *peer)
{
	unsigned int found = add_names(leaf, &peer->ids);

	if (!found)
		return rcl_fail(peer->err, -EINVAL,
				"%s certificate has no usable DNS name in subjectAltName; issue one with the host's name",
				whose);
	if (found > RCX_IDS_MAX)
		return rcl_fail(peer->err, -EINVAL,
				"%s certificate has %u DNS names in subjectAltName; issue one with %d at most",
				whose, found, RCX_IDS_MAX);

	return 0;
}

/*
 * The link may be up under another of the peer's names. The one that was
 * dialled must be among them, even if there are more than there is room for.
 */
static void add_wanted(X509 *leaf, const char *wanted, struct rcx_ids *ids)
{
	add_names(leaf, ids);
	for (ids->wanted = 0; ids->wanted < ids->num; ids->wanted++)
		if (!strcasecmp(ids->id[ids->wanted], wanted))
			return;
	if (ids->num == RCX_IDS_MAX)
		ids->num--;
	ids->wanted = ids->num;
	add_name(ids, (const unsigned char *)wanted, strlen(wanted));
}

static int check_name(X509_STORE_CTX *store, X509 *leaf,
		      const struct rcx_policy *policy, struct rcx_peer *peer)
{
	const unsigned int flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				   X509_CHECK_FLAG_NO_WILDCARDS |
				   X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;

	if (!policy->name[0] && !rcx_collect_names(leaf, "the peer's", peer))
		return 1;
	if (!policy->name[0])
		return refuse(store, X509_V_ERR_HOSTNAME_MISMATCH);
	if (X509_check_host(leaf, policy->name, 0, flags, NULL) != 1) {
		rcl_fail(peer->err, 0,
			 "the peer's certificate is not for %s: no subjectAltName has exactly this DNS name",
			 policy->name);
		return refuse(store, X509_V_ERR_HOSTNAME_MISMATCH);
	}
	add_wanted(leaf, policy->name, &peer->ids);

	return 1;
}

/* A stranger's signature is verified; making it costs much less. */
static bool is_costly(const EVP_PKEY *key)
{
	int kind = EVP_PKEY_get_base_id(key);
	BIGNUM *e = NULL;
	bool costly;

	/* For a kind without a number, as ML-DSA, bits are not a modulus. */
	if (kind != EVP_PKEY_KEYMGMT && EVP_PKEY_get_bits(key) > KEY_BITS_MAX)
		return true;
	/* For another kind, OpenSSL would queue an error. */
	if (kind != EVP_PKEY_RSA && kind != EVP_PKEY_RSA_PSS)
		return false;
	costly = !EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e) ||
		 BN_num_bits(e) > EXPONENT_BITS_MAX;
	BN_free(e);

	return costly;
}

static int refuse_costly(X509_STORE_CTX *store, struct rcx_peer *peer,
			 const char *whose, const char *make)
{
	rcl_fail(peer->err, 0,
		 "%s takes too long to verify with: it has more than %d bits, or an RSA exponent of more than %d; %s",
		 whose, KEY_BITS_MAX, EXPONENT_BITS_MAX, make);

	return refuse(store, X509_V_ERR_CERT_REJECTED);
}

static int refuse_chain(X509_STORE_CTX *store, struct rcx_peer *peer)
{
	int code = X509_STORE_CTX_get_error(store);

	rcl_fail(peer->err, 0,
		 "the peer's certificate is not accepted: %s (certificate %d of its chain); check it against the CA, and the clocks",
		 X509_verify_cert_error_string(code),
		 X509_STORE_CTX_get_error_depth(store));

	return refuse(store, code ? code : X509_V_ERR_UNSPECIFIED);
}

static const char *crl_fault(int code)
{
	switch (code) {
	case X509_V_ERR_UNABLE_TO_GET_CRL:
		return "has no list of the CA that issued it; add that one";
	case X509_V_ERR_CRL_NOT_YET_VALID:
		return "is not yet valid; check the clock";
	case X509_V_ERR_CRL_HAS_EXPIRED:
		return "is out of date; get a newer one, or check the clock";
	default:
		return "cannot be used with this CA; have the CA issue another";
	}
}

/*
 * With these flags from the start, OpenSSL would do this before it verifies who
 * issued the certificates: hash the whole list for any stranger, and tell him
 * whether a number is in it. As flags of the store, they would hold for this
 * host's own chain, too, which OpenSSL builds for each caller.
 */
static int look_up(X509_STORE_CTX *store, struct rcx_peer *peer)
{
	int code;

	X509_STORE_CTX_set_flags(store, X509_V_FLAG_CRL_CHECK |
				 X509_V_FLAG_CRL_CHECK_ALL);
	if (X509_STORE_CTX_get_check_revocation(store)(store) == 1)
		return 1;
	code = X509_STORE_CTX_get_error(store);
	if (code == X509_V_ERR_CERT_REVOKED)
		return refuse_chain(store, peer);
	rcl_fail(peer->err, 0,
		 "the peer's certificate cannot be looked up (certificate %d of its chain, %s): this host's CRL %s",
		 X509_STORE_CTX_get_error_depth(store),
		 X509_verify_cert_error_string(code), crl_fault(code));

	/* This code's alert, certificate_unknown, blames nobody. */
	return refuse(store, X509_V_ERR_CRL_PATH_VALIDATION_ERROR);
}

static int verify_chain(X509_STORE_CTX *store, X509 *leaf,
			const struct rcx_policy *policy, struct rcx_peer *peer)
{
	if (X509_verify_cert(store) != 1)
		return refuse_chain(store, peer);
	if (policy->has_crl && !look_up(store, peer))
		return 0;
	/* The CA chose the other keys of the chain, but hardly this one. */
	if (is_costly(X509_get0_pubkey(leaf)))
		return refuse_costly(store, peer,
				     "the key of the peer's certificate",
				     "have one issued for a smaller one");
	if (X509_check_ca(leaf)) {
		rcl_fail(peer->err, 0,
			 "the peer's certificate is that of a CA; a host needs one with CA:FALSE");
		return refuse(store, X509_V_ERR_CERT_REJECTED);
	}

	return check_name(store, leaf, policy, peer);
}

static int verify_pin(X509_STORE_CTX *store, X509 *leaf,
		      const struct rcx_policy *policy, struct rcx_peer *peer)
{
	EVP_PKEY *key = X509_get0_pubkey(leaf);
	char *pin = peer->ids.id[0];

	if (!key || rcx_pin_of(key, pin, peer->err)) {
		rcl_fail(peer->err, 0,
			 "the peer's public key is of an unknown kind");
		return refuse(store, X509_V_ERR_CERT_REJECTED);
	}
	if (policy->pin[0] && strcmp(pin, policy->pin)) {
		rcl_fail(peer->err, 0,
			 "the peer's key is %s, not the pinned one; compare with `rclink pubkey` on the peer",
			 pin);
		return refuse(store, X509_V_ERR_CERT_REJECTED);
	}
	if (EVP_PKEY_get_security_bits(key) < SECURITY_BITS) {
		rcl_fail(peer->err, 0,
			 "the peer's key is too weak (%d bits of security); make one with: rclink genkey",
			 EVP_PKEY_get_security_bits(key));
		return refuse(store, X509_V_ERR_EE_KEY_TOO_SMALL);
	}
	if (is_costly(key))
		return refuse_costly(store, peer, "the peer's key",
				     "make one with: rclink genkey");
	if (X509_cmp_current_time(X509_get0_notBefore(leaf)) >= 0) {
		rcl_fail(peer->err, 0,
			 "the peer's certificate is not yet valid; check the clocks of both hosts");
		return refuse(store, X509_V_ERR_CERT_NOT_YET_VALID);
	}
	if (X509_cmp_current_time(X509_get0_notAfter(leaf)) <= 0) {
		rcl_fail(peer->err, 0,
			 "the peer's certificate has expired; renew it, or check the clocks of both hosts");
		return refuse(store, X509_V_ERR_CERT_HAS_EXPIRED);
	}
	peer->ids.num = 1;

	return 1;
}

int rcx_verify(X509_STORE_CTX *store, void *arg)
{
	int index = SSL_get_ex_data_X509_STORE_CTX_idx();
	SSL *ssl = X509_STORE_CTX_get_ex_data(store, index);
	struct rcx_peer *peer = SSL_get_app_data(ssl);
	X509 *leaf = X509_STORE_CTX_get0_cert(store);
	const struct rcx_policy *policy = arg;

	memset(peer, 0, sizeof(*peer));
	if (policy->by_ca)
		return verify_chain(store, leaf, policy, peer);

	return verify_pin(store, leaf, policy, peer);
}
