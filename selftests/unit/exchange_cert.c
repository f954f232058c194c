// SPDX-License-Identifier: GPL-2.0
#include "exchange_lib.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static char scratch[64];

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "# cannot %s\n", what);
	abort();
}

void scratch_enter(void)
{
	snprintf(scratch, sizeof(scratch), "/tmp/rcx-test.XXXXXX");
	must(mkdtemp(scratch) && !chdir(scratch), "make a directory");
}

void scratch_leave(void)
{
	struct dirent *entry;
	DIR *dir;

#ifdef __SANITIZE_ADDRESS__
	/* A test's process ends without the leak check at exit. */
	must(!__lsan_do_recoverable_leak_check(), "find all memory freed");
#endif
	must(!chdir("/"), "leave the directory");
	dir = opendir(scratch);
	must(dir, "open the directory");
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		must(!unlinkat(dirfd(dir), entry->d_name,
			       entry->d_type == DT_DIR ? AT_REMOVEDIR : 0),
		     "empty the directory");
	}
	closedir(dir);
	must(!rmdir(scratch), "remove the directory");
}

static void extend(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *ext;

	if (!value)
		return;
	ext = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
	must(ext && X509_add_ext(cert, ext, -1), value);
	X509_EXTENSION_free(ext);
}

static void add_nul_san(X509 *cert)
{
	static const char name[] = "good.example\0.evil.example";
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *san = GENERAL_NAME_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();

	ASN1_STRING_set(text, name, sizeof(name) - 1);
	GENERAL_NAME_set0_value(san, GEN_DNS, text);
	sk_GENERAL_NAME_push(names, san);
	must(X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1,
	     "add a name");
	GENERAL_NAMES_free(names);
}

enum { P, Q, E, N, D, DP, DQ, QINV, RSA_NUMBERS };

/* Derive the other numbers from n[P], n[Q] and n[E]. */
static void derive_rsa(BIGNUM **n, BN_CTX *ctx)
{
	BIGNUM *p1 = BN_CTX_get(ctx), *q1 = BN_CTX_get(ctx);
	BIGNUM *phi = BN_CTX_get(ctx);

	must(phi && BN_sub(p1, n[P], BN_value_one()) &&
	     BN_sub(q1, n[Q], BN_value_one()) && BN_mul(phi, p1, q1, ctx) &&
	     BN_mul(n[N], n[P], n[Q], ctx) &&
	     BN_mod_inverse(n[D], n[E], phi, ctx) &&
	     BN_mod(n[DP], n[D], p1, ctx) && BN_mod(n[DQ], n[D], q1, ctx) &&
	     BN_mod_inverse(n[QINV], n[Q], n[P], ctx), "derive a key");
}

static EVP_PKEY *import_rsa(BIGNUM **n)
{
	static const char * const names[RSA_NUMBERS] = {
		[P] = OSSL_PKEY_PARAM_RSA_FACTOR1,
		[Q] = OSSL_PKEY_PARAM_RSA_FACTOR2,
		[E] = OSSL_PKEY_PARAM_RSA_E,
		[N] = OSSL_PKEY_PARAM_RSA_N,
		[D] = OSSL_PKEY_PARAM_RSA_D,
		[DP] = OSSL_PKEY_PARAM_RSA_EXPONENT1,
		[DQ] = OSSL_PKEY_PARAM_RSA_EXPONENT2,
		[QINV] = OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
	};
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params;
	int i;

	for (i = 0; i < RSA_NUMBERS; i++)
		must(OSSL_PARAM_BLD_push_BN(bld, names[i], n[i]), names[i]);
	params = OSSL_PARAM_BLD_to_param(bld);
	must(EVP_PKEY_fromdata_init(ctx) == 1 &&
	     EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) == 1,
	     "import a key");
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	EVP_PKEY_CTX_free(ctx);

	return key;
}

/* Keys of known primes are made at once; a search would take minutes. */
static EVP_PKEY *make_mersenne(const int bits[3])
{
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *n[RSA_NUMBERS];
	EVP_PKEY *key;
	int i;

	BN_CTX_start(ctx);
	for (i = 0; i < RSA_NUMBERS; i++)
		n[i] = BN_CTX_get(ctx);
	for (i = P; i <= E; i++)
		must(BN_set_bit(n[i], bits[i]) && BN_sub_word(n[i], 1),
		     "make a prime");
	derive_rsa(n, ctx);
	key = import_rsa(n);
	BN_CTX_end(ctx);
	BN_CTX_free(ctx);

	return key;
}

static EVP_PKEY *make_key(const struct cert *cert)
{
	EVP_PKEY *key;

	if (cert->mersenne[P])
		key = make_mersenne(cert->mersenne);
	else if (cert->rsa)
		key = EVP_RSA_gen(cert->rsa);
	else if (cert->ed25519)
		key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	else
		key = EVP_EC_gen("P-256");
	must(key, "make a key");

	return key;
}

static void shape(EVP_PKEY *key, const char *format)
{
	static const char name[] = OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT;

	must(EVP_PKEY_set_utf8_string_param(key, name, format), format);
}

struct ident ident_make(const struct cert *cert, const struct ident *issuer)
{
	struct ident id = { .key = make_key(cert), .cert = X509_new() };
	const EVP_MD *md = EVP_get_digestbyname(cert->digest ? : "SHA256");
	bool always = !cert->from && !cert->to;
	static long serial = 100;
	EVP_PKEY *signer = issuer ? issuer->key : id.key;
	X509_NAME *name = X509_get_subject_name(id.cert);

	if (EVP_PKEY_get_id(signer) == EVP_PKEY_ED25519)
		md = NULL;
	X509_set_version(id.cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(id.cert), serial++);
	X509_gmtime_adj(X509_getm_notBefore(id.cert),
			always ? -3600 : cert->from);
	X509_gmtime_adj(X509_getm_notAfter(id.cert), always ? 86400 : cert->to);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
				   (const unsigned char *)cert->cn, -1, -1, 0);
	X509_set_issuer_name(id.cert, issuer ?
			     X509_get_subject_name(issuer->cert) : name);
	if (cert->compressed)
		shape(id.key, "compressed");
	X509_set_pubkey(id.cert, id.key);
	if (cert->compressed)
		shape(id.key, "uncompressed");
	extend(id.cert, NID_basic_constraints,
	       cert->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
	extend(id.cert, NID_ext_key_usage, cert->eku);
	extend(id.cert, NID_subject_alt_name, cert->san);
	if (cert->nul_san)
		add_nul_san(id.cert);
	must(X509_sign(id.cert, signer, md), "sign a certificate");

	return id;
}

void ident_write(const struct ident *id, const char *key_file,
		 const char *cert_file)
{
	FILE *f;

	umask(077);
	if (key_file) {
		f = fopen(key_file, "w");
		must(f && PEM_write_PKCS8PrivateKey(f, id->key, NULL, NULL, 0,
						    NULL, NULL) &&
		     PEM_write_X509(f, id->cert), "write a key");
		fclose(f);
	}
	if (cert_file) {
		f = fopen(cert_file, "w");
		must(f && PEM_write_X509(f, id->cert), "write a certificate");
		fclose(f);
	}
}

void ident_append(const struct ident *id, const char *cert_file)
{
	FILE *f = fopen(cert_file, "a");

	must(f && PEM_write_X509(f, id->cert), "append a certificate");
	fclose(f);
}

void ident_drop(struct ident *id)
{
	EVP_PKEY_free(id->key);
	X509_free(id->cert);
}

void crl_write(const struct ident *ca, const X509 *revoked, long from,
	       const char *file)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *when = X509_gmtime_adj(NULL, from);
	X509_REVOKED *entry;
	ASN1_INTEGER *serial;
	FILE *f;

	X509_CRL_set_version(crl, X509_CRL_VERSION_2);
	X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca->cert));
	X509_CRL_set1_lastUpdate(crl, when);
	if (revoked) {
		entry = X509_REVOKED_new();
		serial = ASN1_INTEGER_dup(X509_get0_serialNumber(revoked));
		X509_REVOKED_set_serialNumber(entry, serial);
		ASN1_INTEGER_free(serial);
		X509_REVOKED_set_revocationDate(entry, when);
		X509_CRL_add0_revoked(crl, entry);
	}
	X509_gmtime_adj(when, from + 3600);
	X509_CRL_set1_nextUpdate(crl, when);
	must(X509_CRL_sign(crl, ca->key, EVP_sha256()), "sign a CRL");
	f = fopen(file, "w");
	must(f && PEM_write_X509_CRL(f, crl), "write a CRL");
	fclose(f);
	ASN1_TIME_free(when);
	X509_CRL_free(crl);
}
