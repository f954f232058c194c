// SPDX-License-Identifier: GPL-2.0
/* What is valid for a time only: certificates, and CRLs of a CA (T2). */
#include "exchange_tls.h"

#define NOT_VALID	"this host's certificate is not valid now"

/* Return: what the owner of bad.key is told when this end refuses it. */
static const char *told(struct world *w, struct rcx_tls *listens)
{
	world_close(w);
	world_open(w);
	w->dial_tls = by_pin(RCX_INITIATOR, "bad.key", "own.key",
			     w->dialler.err);
	w->listen_tls = listens;
	world_listen(w);
	if (world_dial(w))
		world_run(w);

	return w->dialler.err;
}

static const char *told_by_ca(struct world *w, const char *crl, char *err)
{
	return told(w, by_ca(RCX_RESPONDER, crl, err));
}

static const char *told_by_pin(struct world *w, char *err)
{
	return told(w, by_pin(RCX_RESPONDER, "own.key", NULL, err));
}

TEST_F(tls, T2_expired_is_refused_by_ca)
{
	struct cert spec = good;

	spec.from = -7200;
	spec.to = -3600;
	CA_REFUSES(&spec, &self->ca, "expired", "expired");
	SAYS(NOT_VALID, told_by_ca(&self->w, NULL, self->err));
}

TEST_F(tls, T2_not_yet_valid_is_refused_by_ca)
{
	struct cert spec = good;

	spec.from = 10L * 365 * 86400;
	spec.to = 20L * 365 * 86400;
	CA_REFUSES(&spec, &self->ca, "not yet valid", "not yet valid");
	SAYS(NOT_VALID, told_by_ca(&self->w, NULL, self->err));
}

TEST_F(tls, T2_expired_is_refused_by_pin)
{
	struct cert spec = good;

	spec.from = -7200;
	spec.to = -3600;
	PIN_REFUSES(&spec, "expired", "expired");
	SAYS(NOT_VALID, told_by_pin(&self->w, self->err));
}

TEST_F(tls, T2_not_yet_valid_is_refused_by_pin)
{
	struct cert spec = good;

	spec.from = 3600;
	spec.to = 7200;
	PIN_REFUSES(&spec, "not yet valid", "not yet valid");
	SAYS(NOT_VALID, told_by_pin(&self->w, self->err));
}

/* The host that has the CRL must act; its peer is not told of the CRL. */
#define CRL_REFUSES(why) do {						\
	const char *text = "this host's CRL " why;			\
									\
	REFUSES(&good, &self->ca,					\
		by_ca(RCX_INITIATOR, "crl.pem", self->err),		\
		by_ca(RCX_RESPONDER, "crl.pem", self->err), text, text); \
	SAYS("it does not accept this host's certificate",		\
	     told_by_ca(&self->w, "crl.pem", self->err));		\
} while (0)

TEST_F(tls, T2_by_a_crl_that_is_out_of_date_all_are_refused)
{
	crl_write(&self->ca, NULL, -7200, "crl.pem");
	CRL_REFUSES("is out of date; get a newer one");
}

TEST_F(tls, T2_by_a_crl_that_is_not_yet_valid_all_are_refused)
{
	crl_write(&self->ca, NULL, 7200, "crl.pem");
	CRL_REFUSES("is not yet valid");
}

TEST_F(tls, T2_by_a_crl_of_another_ca_all_are_refused)
{
	const struct cert spec = { .cn = "another CA", .ca = true };
	struct ident other = ident_make(&spec, NULL);

	crl_write(&other, NULL, -60, "crl.pem");
	ident_drop(&other);
	CRL_REFUSES("has no list of the CA");
}

/* The CA has a new key under its old name. */
TEST_F(tls, T2_by_a_crl_that_the_ca_did_not_sign_all_are_refused)
{
	const struct cert spec = { .cn = "CA", .ca = true };
	struct ident other = ident_make(&spec, NULL);

	crl_write(&other, NULL, -60, "crl.pem");
	ident_drop(&other);
	CRL_REFUSES("cannot be used with this CA");
}

TEST_HARNESS_MAIN
