// SPDX-License-Identifier: GPL-2.0
#include "tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "fail.h"
#include "ident.h"
#include "verify.h"

/* Reasons to give if a file holds something else. */
#define NO_CERT	\
	"no certificate can be read in it; it must be PEM, as `openssl x509` writes it"
#define NO_CRL	\
	"no revocation list can be read in it; it must be PEM, as `openssl crl` writes it"

/* A chain of a few certificates. A stranger may send it before any proof. */
#define CERT_LIST_MAX	16384

/* OpenSSL has it from 3.2 on, if it is built with a library for it. */
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
#define NO_CERT_COMPRESSION	(SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | \
				 SSL_OP_NO_TX_CERTIFICATE_COMPRESSION)
#else
#define NO_CERT_COMPRESSION	0
#endif

static const unsigned char alpn[] = "\x08rclink/1";
#define ALPN_LEN	(sizeof(alpn) - 1)

struct rcx_tls {
	unsigned int users;
	SSL_CTX *ctx;
	enum rcx_role role;
	struct rcx_policy policy;
};

static int select_alpn(SSL *ssl, const unsigned char **out,
		       unsigned char *outlen, const unsigned char *in,
		       unsigned int inlen, void *arg)
{
	(void)ssl;
	(void)arg;
	if (SSL_select_next_proto((unsigned char **)out, outlen, alpn, ALPN_LEN,
				  in, inlen) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;

	return SSL_TLSEXT_ERR_OK;
}

static int check_config(enum rcx_role role, const struct rcx_tls_config *cfg,
			char *err)
{
	if (cfg->crl_file && !cfg->ca_file)
		return rcl_fail(err, -EINVAL, "a CRL needs a CA");
	if (role == RCX_RESPONDER)
		return 0;
	if (!cfg->ca_file && !cfg->pin)
		return rcl_fail(err, -EINVAL,
				"the peer's pin, or a CA and its name, must be given");
	if (cfg->ca_file && cfg->pin)
		return rcl_fail(err, -EINVAL,
				"give a pin or a CA, not both");
	if (cfg->ca_file && !cfg->name)
		return rcl_fail(err, -EINVAL,
				"with a CA the peer's name must be given");
	if (cfg->pin)
		return rcx_pin_check(cfg->pin, err);

	return rcx_peer_name_check(cfg->name, err);
}

/* OpenSSL opens the file, and on a FIFO would wait for a writer. */
static bool is_regular(const char *file)
{
	struct stat st;

	return !stat(file, &st) && S_ISREG(st.st_mode);
}

/*
 * For a missing file OpenSSL says only that the system failed, and for one with
 * something else in it, only which part of OpenSSL noticed.
 */
static const char *file_reason(const char *file, const char *no)
{
	const unsigned long code = ERR_peek_last_error();
	const char *reason = rcx_ssl_reason();

	if (access(file, R_OK))
		return errno == ENOENT ? "it does not exist" : strerror(errno);
	if (!is_regular(file))
		return "it is not a regular file";
	if (ERR_GET_LIB(code) == ERR_LIB_PEM ||
	    ERR_GET_LIB(code) == ERR_LIB_X509 ||
	    ERR_GET_REASON(code) == ERR_R_PEM_LIB)
		return no;
	return reason;
}

/* OpenSSL's first word is on what failed, the last on what came of that. */
static int refuse_file(const char *what, const char *file, const char *no,
		       char *err)
{
	const unsigned long code = ERR_peek_error();
	const char *reason = file_reason(file, no);

	return rcl_fail(err,
			ERR_SYSTEM_ERROR(code) ? -ERR_GET_REASON(code) :
						 -EINVAL,
			"cannot use the %s %s: %s", what, file, reason);
}

static int load_cert(SSL_CTX *ctx, const struct rcx_tls_config *cfg, char *err)
{
	ERR_clear_error();
	if (!cfg->cert_file ||
	    (is_regular(cfg->cert_file) &&
	     SSL_CTX_use_certificate_chain_file(ctx, cfg->cert_file) == 1))
		return 0;
	return refuse_file("certificate", cfg->cert_file, NO_CERT, err);
}

static int load_identity(SSL_CTX *ctx, const struct rcx_tls_config *cfg,
			 char *err)
{
	struct stack_st_X509 *certs = NULL;
	EVP_PKEY *key = NULL;
	X509 *cert;
	int ret;

	ret = rcx_ident_load(cfg->key_file, &key,
			     cfg->cert_file ? NULL : &certs, err);
	if (ret)
		return ret;
	cert = sk_X509_shift(certs);
	ret = load_cert(ctx, cfg, err);
	if (ret)
		goto out_free;
	/* Without a chain, OpenSSL looks for one among the CAs. */
	if (cert && SSL_CTX_use_cert_and_key(ctx, cert, key,
					     sk_X509_num(certs) ? certs : NULL,
					     1) != 1)
		ret = rcl_fail(err, -EINVAL,
			       "cannot use the certificate in %s: %s",
			       cfg->key_file, rcx_ssl_reason());
	else if (!cert && (SSL_CTX_use_PrivateKey(ctx, key) != 1 ||
			   SSL_CTX_check_private_key(ctx) != 1))
		ret = rcl_fail(err, -EINVAL,
			       "the key in %s does not fit the certificate %s: %s",
			       cfg->key_file, cfg->cert_file, rcx_ssl_reason());
out_free:
	EVP_PKEY_free(key);
	X509_free(cert);
	sk_X509_pop_free(certs, X509_free);

	return ret;
}

/* Is one of them self-signed? A chain can end nowhere else. */
static bool has_root(SSL_CTX *ctx)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	struct stack_st_X509 *all = X509_STORE_get1_all_certs(store);
	bool root = false;
	int i;

	for (i = 0; i < sk_X509_num(all) && !root; i++)
		root = X509_self_signed(sk_X509_value(all, i), 0) == 1;
	sk_X509_pop_free(all, X509_free);

	return root;
}

/*
 * X509_V_FLAG_PARTIAL_CHAIN would let a chain end in any certificate of the
 * file: it would no longer be possible to check whether that one is revoked.
 */
static int load_ca(SSL_CTX *ctx, const struct rcx_tls_config *cfg, char *err)
{
	if (!cfg->ca_file)
		return 0;
	ERR_clear_error();
	if (!is_regular(cfg->ca_file) ||
	    SSL_CTX_load_verify_file(ctx, cfg->ca_file) != 1)
		return refuse_file("CA in", cfg->ca_file, NO_CERT, err);
	if (!has_root(ctx))
		return rcl_fail(err, -EINVAL,
				"cannot use the CA in %s: no root, which signed itself, is in it; add the one that this CA has its certificate from",
				cfg->ca_file);
	return 0;
}

static int load_crl(SSL_CTX *ctx, const struct rcx_tls_config *cfg, char *err)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	X509_LOOKUP *lookup;

	if (!cfg->crl_file)
		return 0;
	ERR_clear_error();
	lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
	if (!lookup || !is_regular(cfg->crl_file) ||
	    X509_load_crl_file(lookup, cfg->crl_file, X509_FILETYPE_PEM) < 1)
		return refuse_file("CRL in", cfg->crl_file, NO_CRL, err);
	return 0;
}

/* The rules that no configuration can change. */
static int set_rules(struct rcx_tls *tls, char *err)
{
	SSL_CTX *ctx = tls->ctx;

	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set1_groups_list(ctx, "X25519:P-256") != 1 ||
	    SSL_CTX_set_num_tickets(ctx, 0) != 1)
		return rcl_fail(err, -EOPNOTSUPP,
				"this OpenSSL cannot do TLS 1.3: %s",
				rcx_ssl_reason());
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
			    SSL_OP_NO_RENEGOTIATION | NO_CERT_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_max_early_data(ctx, 0);
	SSL_CTX_set_max_cert_list(ctx, CERT_LIST_MAX);
	/* A peer's endless key updates must not keep one SSL_read() busy. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
			 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			 SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER |
			   SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(ctx, rcx_verify, &tls->policy);
	SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
	if (SSL_CTX_set_alpn_protos(ctx, alpn, ALPN_LEN))
		return rcl_fail(err, -ENOMEM, "out of memory");

	return 0;
}

static struct rcx_tls *new_tls(enum rcx_role role, char *err)
{
	struct rcx_tls *tls = calloc(1, sizeof(*tls));
	int ret;

	if (!tls) {
		rcl_fail(err, -ENOMEM, "out of memory");
		errno = ENOMEM;
		return NULL;
	}
	tls->users = 1;
	tls->role = role;
	tls->ctx = SSL_CTX_new(role == RCX_INITIATOR ? TLS_client_method() :
			       TLS_server_method());
	if (!tls->ctx) {
		ret = rcl_fail(err, -ENOMEM, "cannot start OpenSSL: %s",
			       rcx_ssl_reason());
		goto err_free;
	}
	ret = set_rules(tls, err);
	if (ret)
		goto err_free;

	return tls;

err_free:
	rcx_tls_free(tls);
	errno = -ret;
	return NULL;
}

/* Has no key yet, and trusts nobody. */
static struct rcx_tls *create(enum rcx_role role,
			      const struct rcx_tls_config *cfg, char *err)
{
	struct rcx_tls *tls;

	if (check_config(role, cfg, err)) {
		errno = EINVAL;
		return NULL;
	}
	tls = new_tls(role, err);
	if (!tls)
		return NULL;
	tls->policy.by_ca = cfg->ca_file;
	tls->policy.has_crl = cfg->crl_file;
	/* Both lengths were checked. A responder takes whoever admit takes. */
	if (role == RCX_INITIATOR && cfg->pin)
		snprintf(tls->policy.pin, sizeof(tls->policy.pin), "%s",
			 cfg->pin);
	else if (role == RCX_INITIATOR)
		snprintf(tls->policy.name, sizeof(tls->policy.name), "%s",
			 cfg->name);
	return tls;
}

struct rcx_tls *rcx_tls_new(enum rcx_role role,
			    const struct rcx_tls_config *cfg, char *err)
{
	struct rcx_tls *tls = create(role, cfg, err);
	int ret;

	if (!tls)
		return NULL;
	ret = load_identity(tls->ctx, cfg, err);
	if (!ret)
		ret = load_ca(tls->ctx, cfg, err);
	if (!ret)
		ret = load_crl(tls->ctx, cfg, err);
	if (!ret)
		return tls;
	rcx_tls_free(tls);
	errno = -ret;
	return NULL;
}

/* All that was read is refcounted, and stays while either of the two does. */
static int share(SSL_CTX *ctx, SSL_CTX *own, char *err)
{
	struct stack_st_X509 *chain = NULL;

	if (SSL_CTX_get0_chain_certs(own, &chain) != 1 ||
	    SSL_CTX_use_cert_and_key(ctx, SSL_CTX_get0_certificate(own),
				     SSL_CTX_get0_privatekey(own), chain,
				     1) != 1)
		return rcl_fail(err, -EINVAL,
				"cannot use this host's key to dial: %s",
				rcx_ssl_reason());
	SSL_CTX_set1_cert_store(ctx, SSL_CTX_get_cert_store(own));
	return 0;
}

struct rcx_tls *rcx_tls_dial(struct rcx_tls *own, const char *pin,
			     const char *name, char *err)
{
	const struct rcx_tls_config cfg = {
		.ca_file = own->policy.by_ca ? "that of own" : NULL,
		.crl_file = own->policy.has_crl ? "that of own" : NULL,
		.pin = pin,
		.name = name,
	};
	struct rcx_tls *tls = create(RCX_INITIATOR, &cfg, err);

	if (!tls || !share(tls->ctx, own->ctx, err))
		return tls;
	rcx_tls_free(tls);
	return NULL;
}

/* The key alone, if its certificate is in another file. */
static int try_key(SSL_CTX *ctx, const struct rcx_tls_config *cfg, char *err)
{
	EVP_PKEY *key;
	int ret;

	if (!cfg->cert_file)
		return load_identity(ctx, cfg, err);
	ret = rcx_ident_load(cfg->key_file, &key, NULL, err);
	if (!ret)
		EVP_PKEY_free(key);
	return ret;
}

int rcx_tls_try(const struct rcx_tls_config *cfg, enum rcx_file which,
		char *err)
{
	int (*const load[RCX_FILES])(SSL_CTX *ctx,
				     const struct rcx_tls_config *cfg,
				     char *err) = {
		[RCX_KEY] = try_key,
		[RCX_CERT] = load_cert,
		[RCX_CA] = load_ca,
		[RCX_CRL] = load_crl,
	};
	struct rcx_tls *tls = new_tls(RCX_RESPONDER, err);
	int ret = tls ? load[which](tls->ctx, cfg, err) : -ENOMEM;

	rcx_tls_free(tls);
	return ret;
}

int rcx_tls_self(const struct rcx_tls *tls, char *self, char *err)
{
	X509 *cert = SSL_CTX_get0_certificate(tls->ctx);
	struct rcx_peer names = { .ids.num = 0 };

	if (!tls->policy.by_ca)
		return rcx_pin_of(X509_get0_pubkey(cert), self, err);
	if (rcx_collect_names(cert, "this host's", &names))
		return rcl_fail(err, -EINVAL, "%s", names.err);
	strcpy(self, names.ids.id[0]);
	return 0;
}

struct rcx_tls *rcx_tls_hold(struct rcx_tls *tls)
{
	tls->users++;
	return tls;
}

void rcx_tls_free(struct rcx_tls *tls)
{
	if (!tls || --tls->users)
		return;
	SSL_CTX_free(tls->ctx);
	free(tls);
}

SSL *rcx_tls_ssl(struct rcx_tls *tls)
{
	SSL *ssl = SSL_new(tls->ctx);

	if (!ssl)
		return NULL;
	if (tls->role == RCX_INITIATOR)
		SSL_set_connect_state(ssl);
	else
		SSL_set_accept_state(ssl);

	return ssl;
}
