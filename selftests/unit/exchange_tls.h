/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tries a strange certificate on both of our ends: our initiator against a
 * server that has it, our responder against a client that has it.
 */
#ifndef EXCHANGE_TLS_H
#define EXCHANGE_TLS_H

#include "exchange_lib.h"
#include "ident.h"

#include <kselftest_harness.h>

FIXTURE(tls)
{
	struct world w;
	struct ident ca;	/* in ca.pem; it issued own.pem for own.key */
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(tls)
{
	const struct cert ca = { .cn = "CA", .ca = true };
	const struct cert own = { .cn = "own", .san = "DNS:own.example" };
	struct ident id;

	scratch_enter();
	world_open(&self->w);
	self->ca = ident_make(&ca, NULL);
	ident_write(&self->ca, NULL, "ca.pem");
	id = ident_make(&own, &self->ca);
	ident_write(&id, "own.key", "own.pem");
	ident_drop(&id);
}

FIXTURE_TEARDOWN(tls)
{
	world_close(&self->w);
	ident_drop(&self->ca);
	scratch_leave();
}

/* As in rclinkd, an initiator uses the files that a responder has read. */
static struct rcx_tls *by_ca(enum rcx_role role, const char *crl, char *err)
{
	const struct rcx_tls_config cfg = {
		.key_file = "own.key",
		.ca_file = "ca.pem",
		.crl_file = crl,
	};
	struct rcx_tls *own = rcx_tls_new(RCX_RESPONDER, &cfg, err), *tls;

	if (!own || role == RCX_RESPONDER)
		return own;
	tls = rcx_tls_dial(own, NULL, "good.example", err);
	rcx_tls_free(own);
	return tls;
}

static struct rcx_tls *by_pin(enum rcx_role role, const char *key,
			      const char *peer, char *err)
{
	char pin[RCX_PIN_LEN] = "";
	const struct rcx_tls_config cfg = { .key_file = key };
	struct rcx_tls *own = rcx_tls_new(RCX_RESPONDER, &cfg, err), *tls;

	if (!own || role == RCX_RESPONDER)
		return own;
	tls = rcx_ident_pin(peer, pin, err) ? NULL :
	      rcx_tls_dial(own, pin, NULL, err);
	rcx_tls_free(own);
	return tls;
}

/* Both of our ends refuse a certificate made to spec; "": for any reason. */
#define REFUSES(spec, issuer, initiator, responder, text_i, text_r) do { \
	struct ident bad = ident_make(spec, issuer);			\
	struct raw server = { .key_file = "bad.key" };			\
	struct raw client = { .key_file = "bad.key" };			\
	struct world *w = &self->w;					\
									\
	ident_write(&bad, "bad.key", NULL);				\
	ident_drop(&bad);						\
	w->dial_tls = initiator;					\
	w->listen_tls = responder;					\
	ASSERT_NE(NULL, w->dial_tls) TH_LOG("%s", self->err);		\
	ASSERT_NE(NULL, w->listen_tls) TH_LOG("%s", self->err);		\
	SAYS(text_i, try_initiator(w, &server));			\
	SAYS(text_r, try_responder(w, &client));			\
} while (0)

#define CA_REFUSES(spec, issuer, text_i, text_r)			\
	REFUSES(spec, issuer, by_ca(RCX_INITIATOR, NULL, self->err),	\
		by_ca(RCX_RESPONDER, NULL, self->err), text_i, text_r)

#define PIN_REFUSES(spec, by_i, by_r)					\
	REFUSES(spec, NULL,						\
		by_pin(RCX_INITIATOR, "own.key", "bad.key", self->err),	\
		by_pin(RCX_RESPONDER, "own.key", NULL, self->err), by_i, by_r)

static const struct cert good = { .cn = "good", .san = "DNS:good.example" };

#endif /* EXCHANGE_TLS_H */
