// SPDX-License-Identifier: GPL-2.0
/*
 * Which peers are let in, by real handshakes (T1, T3 to T7). The owner must not
 * be asked for anything before the peer is authenticated.
 */
#include "exchange_tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Both ends are ours, by CA; @spec is the responder's certificate. */
static void both_by_ca(struct world *w, const struct cert *spec,
		       const struct ident *ca, char *err)
{
	const struct rcx_tls_config dials = {
		.key_file = "own.key",
		.ca_file = "ca.pem",
		.name = "good.example",
	};
	const struct rcx_tls_config cfg = {
		.key_file = "good.key",
		.cert_file = "good.pem",
		.ca_file = "ca.pem",
	};
	struct ident id = ident_make(spec, ca);

	ident_write(&id, "good.key", "good.pem");
	ident_drop(&id);
	w->dial_tls = rcx_tls_new(RCX_INITIATOR, &dials, err);
	w->listen_tls = rcx_tls_new(RCX_RESPONDER, &cfg, err);
	world_listen(w);
	if (world_dial(w))
		world_run(w);
}

TEST_F(tls, both_ends_come_up_by_ca_and_name)
{
	char san[512] = "IP:192.0.2.1,DNS:other.example";
	const struct cert spec = {
		.cn = "x", .eku = "serverAuth,clientAuth", .san = san,
	};
	struct world *w = &self->w;
	int i;

	/* There is room for 16 names; the expected one always has a place. */
	for (i = 1; i < RCX_IDS_MAX; i++)
		strcat(san, ",DNS:x.example");
	strcat(san, ",DNS:good.example");
	both_by_ca(w, &spec, &self->ca, self->err);
	EXPECT_EQ(0, w->dialler.result) TH_LOG("%s", w->dialler.err);
	EXPECT_EQ(0, w->listener_end.result);
	EXPECT_STREQ("good.example", w->dialler.identity);
	EXPECT_STREQ("other.example", w->dialler.first);
	EXPECT_EQ(RCX_IDS_MAX, w->dialler.names);
	EXPECT_STREQ("own.example", w->listener_end.identity);
}

TEST_F(tls, any_name_of_a_certificate_may_be_the_admitted_one)
{
	const struct cert own = {
		.cn = "own",
		.san = "DNS:*.example,DNS:a.example,IP:192.0.2.1,DNS:b.example",
	};
	struct ident id = ident_make(&own, &self->ca);
	struct world *w = &self->w;

	ident_write(&id, "own.key", NULL);
	ident_drop(&id);
	w->listener_end.only = "b.example";
	both_by_ca(w, &good, &self->ca, self->err);
	EXPECT_EQ(0, w->listener_end.result) TH_LOG("%s", w->listener_end.err);
	EXPECT_EQ(1, w->listener_end.admits);
	EXPECT_STREQ("b.example", w->listener_end.identity);
	/* The name that the initiator gives itself. */
	EXPECT_EQ(0, rcx_tls_self(w->dial_tls, self->err, self->err));
	EXPECT_STREQ("a.example", self->err);
	EXPECT_STREQ("a.example", w->listener_end.first);
	EXPECT_EQ(2, w->listener_end.names);
}

TEST_F(tls, no_name_of_a_certificate_is_admitted)
{
	struct world *w = &self->w;

	w->listener_end.only = "c.example";
	both_by_ca(w, &good, &self->ca, self->err);
	EXPECT_EQ(-EACCES, w->listener_end.result);
	SAYS("peer: own.example has no link here", w->dialler.err);
	EXPECT_EQ(-EACCES, w->dialler.result);
	EXPECT_EQ(0, w->dialler.prepares);
	EXPECT_EQ(0, w->listener_end.prepares);
}

TEST_F(tls, T1_another_ca_is_refused)
{
	const struct cert spec = { .cn = "CA", .ca = true };
	struct ident other = ident_make(&spec, NULL);

	/* The same name as ours: only the key differs. */
	CA_REFUSES(&good, &other, "not accepted", "not accepted");
	ident_drop(&other);
}

TEST_F(tls, T1_self_signed_is_refused_by_ca)
{
	CA_REFUSES(&good, NULL, "self-signed", "self-signed");
}

TEST_F(tls, T1_another_pin_is_refused)
{
	struct ident id = ident_make(&good, NULL);
	struct raw server = { .key_file = "bad.key" };
	struct world *w = &self->w;

	ident_write(&id, "bad.key", NULL);
	ident_drop(&id);
	w->dial_tls = by_pin(RCX_INITIATOR, "own.key", "own.key", self->err);
	SAYS("not the pinned one", try_initiator(w, &server));
}

TEST_F(tls, T1_another_pin_is_not_admitted)
{
	struct world *w = &self->w;

	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	w->dial_tls = by_pin(RCX_INITIATOR, "a", "b", self->err);
	w->listen_tls = by_pin(RCX_RESPONDER, "b", NULL, self->err);
	w->listener_end.only = "sha256:";
	world_listen(w);
	ASSERT_TRUE(world_dial(w));
	world_run(w);
	EXPECT_EQ(-EACCES, w->dialler.result);
	SAYS("peer: sha256:", w->dialler.err);
	EXPECT_EQ(0, w->listener_end.prepares);
}

TEST_F(tls, T3_only_a_common_name_is_refused)
{
	const struct cert spec = { .cn = "good.example" };

	CA_REFUSES(&spec, &self->ca, "no subjectAltName", "no usable DNS name");
}

TEST_F(tls, T3_a_wildcard_is_refused)
{
	const struct cert spec = { .cn = "x", .san = "DNS:*.example" };

	CA_REFUSES(&spec, &self->ca, "no subjectAltName", "no usable DNS name");
}

TEST_F(tls, T3_an_embedded_nul_is_refused)
{
	const struct cert spec = { .cn = "x", .nul_san = true };

	CA_REFUSES(&spec, &self->ca, "no subjectAltName", "no usable DNS name");
}

TEST_F(tls, T3_an_address_is_no_name)
{
	const struct cert spec = {
		.cn = "good.example", .san = "IP:192.0.2.1,email:a@good.example"
	};

	CA_REFUSES(&spec, &self->ca, "no subjectAltName", "no usable DNS name");
}

TEST_F(tls, T3_a_wrong_name_is_refused)
{
	static const char * const sans[] = {
		"DNS:evil.example", "DNS:good.example.evil",
		"DNS:xgood.example",
		"DNS:sub.good.example", "DNS:good", "DNS:good.example.",
	};
	size_t i;

	for (i = 0; i < sizeof(sans) / sizeof(sans[0]); i++) {
		const struct cert spec = { .cn = "good.example",
					   .san = sans[i] };

		CA_REFUSES(&spec, &self->ca, "no subjectAltName",
			   "");
		world_close(&self->w);
		world_open(&self->w);
	}
}

TEST_F(tls, T3_the_expected_name_is_a_whole_name)
{
	static const char * const names[] = {
		"", ".example", "*.example", "good example", "good.example/",
	};
	struct rcx_tls_config cfg = { .key_file = "own.key",
				      .ca_file = "ca.pem" };
	size_t i;

	EXPECT_EQ(NULL, rcx_tls_new(RCX_INITIATOR, &cfg, self->err));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cfg.name = names[i];
		EXPECT_EQ(NULL, rcx_tls_new(RCX_INITIATOR, &cfg, self->err));
		SAYS("DNS name", self->err);
	}
}

TEST_F(tls, an_end_knows_its_own_name)
{
	const struct cert nameless = { .cn = "host.example" };
	struct rcx_tls *tls = by_ca(RCX_RESPONDER, NULL, self->err);
	char name[RCLINK_PEER_MAX + 1];
	struct ident id;

	ASSERT_NE(NULL, tls);
	EXPECT_EQ(0, rcx_tls_self(tls, name, self->err));
	EXPECT_STREQ("own.example", name);
	rcx_tls_free(tls);

	id = ident_make(&nameless, &self->ca);
	ident_write(&id, "own.key", NULL);
	ident_drop(&id);
	tls = by_ca(RCX_RESPONDER, NULL, self->err);
	ASSERT_NE(NULL, tls);
	EXPECT_EQ(-EINVAL, rcx_tls_self(tls, name, self->err));
	SAYS("subjectAltName", self->err);
	rcx_tls_free(tls);
}

TEST_F(tls, T4_revoked_is_refused)
{
	struct ident bad = ident_make(&good, &self->ca);
	struct raw server = { .key_file = "bad.key" };
	struct raw client = { .key_file = "bad.key" };
	struct world *w = &self->w;

	ident_write(&bad, "bad.key", NULL);
	crl_write(&self->ca, bad.cert, -60, "crl.pem");
	ident_drop(&bad);
	w->dial_tls = by_ca(RCX_INITIATOR, "crl.pem", self->err);
	w->listen_tls = by_ca(RCX_RESPONDER, "crl.pem", self->err);
	SAYS("revoked", try_initiator(w, &server));
	SAYS("revoked", try_responder(w, &client));
}

static int crls_verified;

static int verify_crl(X509_CRL *crl, EVP_PKEY *key)
{
	crls_verified++;
	return 1;
}

static int look_up(X509_CRL *crl, X509_REVOKED **revoked,
		   const ASN1_INTEGER *serial, const X509_NAME *issuer)
{
	return 0;
}

/*
 * In bad.key: a certificate that only names our CA as its issuer. Both ends
 * have a CRL, with its serial number if it is @listed.
 */
static void forge(struct _test_data_tls *self, bool listed)
{
	const struct cert spec = { .cn = "CA", .ca = true };
	struct ident other = ident_make(&spec, NULL);
	struct ident bad = ident_make(&good, &other);

	ident_write(&bad, "bad.key", NULL);
	crl_write(&self->ca, listed ? bad.cert : NULL, -60, "crl.pem");
	ident_drop(&bad);
	ident_drop(&other);
	self->w.dial_tls = by_ca(RCX_INITIATOR, "crl.pem", self->err);
	self->w.listen_tls = by_ca(RCX_RESPONDER, "crl.pem", self->err);
}

/* To verify a CRL is to hash it, however long it is. */
TEST_F(tls, T4_no_crl_is_verified_for_a_stranger)
{
	X509_CRL_METHOD *counts = X509_CRL_METHOD_new(NULL, NULL, look_up,
						      verify_crl);
	struct raw server = { .key_file = "bad.key" };
	struct raw client = { .key_file = "bad.key" };
	struct raw nobody = { .key_file = NULL };
	struct raw known = { .key_file = "own.key" };
	struct world *w = &self->w;

	X509_CRL_set_default_method(counts);
	forge(self, false);
	SAYS("signature failure", try_initiator(w, &server));
	SAYS("signature failure", try_responder(w, &client));
	w->listener_end.dones = 0;
	SAYS("sent no certificate", try_responder(w, &nobody));
	EXPECT_EQ(0, crls_verified);
	w->listener_end.dones = 0;
	SAYS("waiting for OFFER", try_responder(w, &known));
	EXPECT_NE(0, crls_verified);
	rcx_tls_free(w->dial_tls);
	rcx_tls_free(w->listen_tls);
	w->dial_tls = NULL;
	w->listen_tls = NULL;
	X509_CRL_set_default_method(NULL);
	X509_CRL_METHOD_free(counts);
}

/* Else anybody could ask which serial numbers are revoked. */
TEST_F(tls, T4_a_forged_certificate_is_not_looked_up)
{
	struct raw server = { .key_file = "bad.key" };
	struct raw client = { .key_file = "bad.key" };

	forge(self, true);
	SAYS("signature failure", try_initiator(&self->w, &server));
	SAYS("signature failure", try_responder(&self->w, &client));
}

TEST_F(tls, T4_others_on_the_crl_do_no_harm)
{
	struct ident other = ident_make(&good, &self->ca);
	const struct rcx_tls_config cfg = {
		.key_file = "good.key", .ca_file = "ca.pem",
		.crl_file = "crl.pem",
	};
	struct ident id = ident_make(&good, &self->ca);
	struct world *w = &self->w;

	ident_write(&id, "good.key", NULL);
	crl_write(&self->ca, other.cert, -60, "crl.pem");
	ident_drop(&other);
	ident_drop(&id);
	w->dial_tls = by_ca(RCX_INITIATOR, "crl.pem", self->err);
	w->listen_tls = rcx_tls_new(RCX_RESPONDER, &cfg, self->err);
	world_listen(w);
	ASSERT_TRUE(world_dial(w));
	world_run(w);
	EXPECT_EQ(0, w->dialler.result) TH_LOG("%s", w->dialler.err);
}

TEST_F(tls, T4_a_wrong_extended_key_usage_is_refused)
{
	struct cert spec = good;

	spec.eku = "codeSigning";
	CA_REFUSES(&spec, &self->ca, "purpose", "purpose");
}

TEST_F(tls, T4_a_client_certificate_is_not_for_servers)
{
	struct cert spec = good;

	spec.eku = "clientAuth";
	CA_REFUSES(&spec, &self->ca, "purpose", "");
}

TEST_F(tls, T4_a_server_certificate_is_not_for_clients)
{
	struct cert spec = good;

	spec.eku = "serverAuth";
	CA_REFUSES(&spec, &self->ca, "", "purpose");
}

TEST_F(tls, T4_the_certificate_of_a_ca_is_refused)
{
	struct cert spec = good;

	spec.ca = true;
	CA_REFUSES(&spec, &self->ca, "CA:FALSE", "CA:FALSE");
}

TEST_F(tls, T4_weak_rsa_is_refused_by_ca)
{
	struct cert spec = good;

	spec.rsa = 1024;
	CA_REFUSES(&spec, &self->ca, "key too weak", "key too weak");
}

TEST_F(tls, T4_weak_rsa_is_refused_by_pin)
{
	struct cert spec = good;

	spec.rsa = 1024;
	PIN_REFUSES(&spec, "too weak", "too weak");
}

TEST_F(tls, T4_rsa_of_many_bits_is_refused_by_pin)
{
	const struct cert spec = { .cn = "x", .mersenne = { 4423, 4253, 17 } };

	PIN_REFUSES(&spec, "takes too long", "takes too long");
}

TEST_F(tls, T4_rsa_of_a_long_exponent_is_refused_by_pin)
{
	const struct cert spec = { .cn = "x", .mersenne = { 2281, 607, 89 } };

	PIN_REFUSES(&spec, "takes too long", "takes too long");
}

TEST_F(tls, T4_rsa_of_an_exponent_that_is_not_so_long_is_fine_by_pin)
{
	const struct cert spec = { .cn = "x", .mersenne = { 2281, 607, 61 } };
	struct ident id = ident_make(&spec, NULL);
	struct raw client = { .key_file = "good.key" };

	ident_write(&id, "good.key", NULL);
	ident_drop(&id);
	self->w.listen_tls = by_pin(RCX_RESPONDER, "own.key", NULL, self->err);
	SAYS("waiting for OFFER", try_responder(&self->w, &client));
}

TEST_F(tls, T4_rsa_of_a_long_exponent_is_refused_by_ca)
{
	struct cert spec = good;

	memcpy(spec.mersenne, (int[]){ 2281, 607, 89 }, sizeof(spec.mersenne));
	CA_REFUSES(&spec, &self->ca, "takes too long", "takes too long");
}

/* Two CAs of the same name as ours; one signed the other. */
TEST_F(tls, T4_an_issuer_that_our_ca_did_not_sign_verifies_no_crl)
{
	struct cert spec = { .cn = "CA", .ca = true };
	struct ident root = ident_make(&spec, NULL), other, bad;
	struct raw server = { .key_file = "bad.key", .cert_file = "bad.pem" };
	struct raw client = { .key_file = "bad.key", .cert_file = "bad.pem" };
	struct world *w = &self->w;

	/* By its kind of key, OpenSSL finds it and not ours. */
	memcpy(spec.mersenne, (int[]){ 2281, 607, 89 }, sizeof(spec.mersenne));
	other = ident_make(&spec, &root);
	bad = ident_make(&good, &other);
	ident_write(&bad, "bad.key", "bad.pem");
	ident_append(&other, "bad.pem");
	crl_write(&self->ca, NULL, -60, "crl.pem");
	ident_drop(&bad);
	ident_drop(&other);
	ident_drop(&root);
	w->dial_tls = by_ca(RCX_INITIATOR, "crl.pem", self->err);
	w->listen_tls = by_ca(RCX_RESPONDER, "crl.pem", self->err);
	SAYS("certificate signature failure (certificate 1",
	     try_initiator(w, &server));
	SAYS("certificate signature failure (certificate 1",
	     try_responder(w, &client));
}

TEST_F(tls, T4_rsa_of_512_bits_cannot_even_sign)
{
	struct cert spec = good;

	spec.rsa = 512;
	/* A key that cannot sign: a client then sends no certificate. */
	CA_REFUSES(&spec, &self->ca, "TLS", "no certificate");
}

TEST_F(tls, T4_a_weak_issuer_is_refused)
{
	const struct cert spec = { .cn = "sub", .ca = true, .rsa = 512 };
	struct ident sub = ident_make(&spec, &self->ca);
	struct ident bad = ident_make(&good, &sub);
	struct raw server = { .key_file = "bad.key", .cert_file = "bad.pem" };
	struct raw client = { .key_file = "bad.key", .cert_file = "bad.pem" };
	struct world *w = &self->w;

	ident_write(&bad, "bad.key", "bad.pem");
	ident_append(&sub, "bad.pem");
	ident_drop(&bad);
	ident_drop(&sub);
	w->dial_tls = by_ca(RCX_INITIATOR, NULL, self->err);
	w->listen_tls = by_ca(RCX_RESPONDER, NULL, self->err);
	SAYS("too weak", try_initiator(w, &server));
	SAYS("too weak", try_responder(w, &client));
}

TEST_F(tls, T4_sha1_is_refused)
{
	struct cert spec = good;

	spec.digest = "SHA1";
	CA_REFUSES(&spec, &self->ca, "digest", "digest");
}

TEST_F(tls, T4_md5_is_refused)
{
	/* ECDSA has no signature with MD5. */
	const struct cert rsa = { .cn = "CA", .ca = true, .rsa = 2048 };
	struct ident ca = ident_make(&rsa, NULL);
	struct cert spec = good;

	spec.digest = "MD5";
	ident_write(&ca, NULL, "ca.pem");
	CA_REFUSES(&spec, &ca, "digest", "digest");
	ident_drop(&ca);
}

TEST_F(tls, T4_strong_keys_of_other_kinds_are_fine)
{
	struct cert specs[2] = { good, good };
	int i;

	specs[0].rsa = 3072;
	specs[1].ed25519 = true;
	for (i = 0; i < 2; i++) {
		both_by_ca(&self->w, &specs[i], &self->ca, self->err);
		EXPECT_EQ(0, self->w.dialler.result)
			TH_LOG("%s", self->w.dialler.err);
		world_close(&self->w);
		world_open(&self->w);
	}
}

TEST_F(tls, T5_a_client_without_a_certificate_is_refused)
{
	struct raw by_name = { 0 }, by_key = { 0 };
	struct world *w = &self->w;

	w->listen_tls = by_ca(RCX_RESPONDER, NULL, self->err);
	SAYS("sent no certificate", try_responder(w, &by_name));
	/* In TLS 1.3 the client completes its handshake before that. */
	EXPECT_TRUE(by_name.shaken);
	world_close(w);
	world_open(w);
	w->listen_tls = by_pin(RCX_RESPONDER, "own.key", NULL, self->err);
	SAYS("sent no certificate", try_responder(w, &by_key));
}

TEST_F(tls, T5_a_client_that_was_refused_creates_nothing)
{
	struct ident id = ident_make(&good, NULL);
	struct world *w = &self->w;
	const struct rcx_tls_config cfg = {
		.key_file = "good.key", .ca_file = "ca.pem",
	};

	/* The client accepts the server's key, but not vice versa. */
	ident_write(&id, "good.key", NULL);
	ident_drop(&id);
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	w->dial_tls = by_pin(RCX_INITIATOR, "a", "good.key", self->err);
	w->listen_tls = rcx_tls_new(RCX_RESPONDER, &cfg, self->err);
	world_listen(w);
	ASSERT_TRUE(world_dial(w));
	world_run(w);
	EXPECT_NE(0, w->dialler.steps & 1 << RCX_STEP_TLS);
	EXPECT_EQ(0, w->dialler.prepares);
	SAYS("the peer refused the connection", w->dialler.err);
	SAYS("waiting for WELCOME", w->dialler.err);
	SAYS("self-signed", w->listener_end.err);
}

TEST_F(tls, T6_older_versions_are_refused)
{
	static const int versions[] = {
		TLS1_2_VERSION, TLS1_1_VERSION, TLS1_VERSION
	};
	struct world *w = &self->w;
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct raw server = { .key_file = "own.key",
				      .max_version = versions[i] };
		struct raw client = server;

		w->dial_tls = by_ca(RCX_INITIATOR, NULL, self->err);
		w->listen_tls = by_ca(RCX_RESPONDER, NULL, self->err);
		SAYS("TLS 1.3", try_initiator(w, &server));
		EXPECT_FALSE(server.shaken);
		SAYS("TLS 1.3", try_responder(w, &client));
		EXPECT_FALSE(client.shaken);
		world_close(w);
		world_open(w);
	}
}

TEST_F(tls, other_protocols_by_alpn_are_refused)
{
	struct raw server = { .key_file = "own.key", .no_alpn = true };
	struct raw client = server;
	struct world *w = &self->w;

	w->dial_tls = by_pin(RCX_INITIATOR, "own.key", "own.key", self->err);
	w->listen_tls = by_pin(RCX_RESPONDER, "own.key", NULL, self->err);
	SAYS("rclink/1", try_initiator(w, &server));
	SAYS("rclink/1", try_responder(w, &client));
}

TEST_F(tls, T7_no_session_can_be_resumed)
{
	struct raw first = { .key_file = "own.key", .world = &self->w };
	struct raw second = { .key_file = "own.key" };
	struct world *w = &self->w;

	w->listen_tls = by_pin(RCX_RESPONDER, "own.key", NULL, self->err);
	first.script = listen_only;
	world_listen(w);
	raw_start(&first);
	world_run(w);
	pthread_join(first.thread, NULL);
	ASSERT_NE(NULL, first.session);
	EXPECT_FALSE(SSL_SESSION_is_resumable(first.session));
	EXPECT_EQ(0, SSL_SESSION_get_max_early_data(first.session));

	/* A client that offers it nevertheless does not resume it. */
	second.resume = first.session;
	w->listener_end.dones = 0;
	SAYS("closed the connection", try_responder(w, &second));
	EXPECT_FALSE(second.reused);
	SSL_SESSION_free(first.session);
	SSL_CTX_free(first.ctx);
}

TEST_HARNESS_MAIN
