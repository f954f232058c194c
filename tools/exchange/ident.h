/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Identities: a private key with a self-signed certificate in one PEM file,
 * and the pin of a public key, "sha256:" and the base64 of the SHA-256 of its
 * SubjectPublicKeyInfo.
 */
#ifndef RCX_IDENT_H
#define RCX_IDENT_H

#include <stddef.h>

#define RCX_PIN_LEN	52	/* with the terminating NUL */

struct evp_pkey_st;
struct stack_st_X509;

/*
 * All return 0, or a negative errno with a sentence in err (RCL_ERR_LEN
 * bytes). No sentence ever contains a byte of a private key.
 */

/* Write a new identity to path, which must not exist yet. */
int rcx_ident_generate(const char *path, char *err);

/* The pin of an identity file, or of a certificate. */
int rcx_ident_pin(const char *path, char pin[RCX_PIN_LEN], char *err);

/* Is pin in the canonical form? */
int rcx_pin_check(const char *pin, char *err);

/*
 * For tls.c: load the key and, unless certs is NULL, its certificate as the
 * first of them, followed by the chain that the file has.
 */
int rcx_ident_load(const char *path, struct evp_pkey_st **key,
		   struct stack_st_X509 **certs, char *err);

/* The pin of a public key. */
int rcx_pin_of(struct evp_pkey_st *key, char pin[RCX_PIN_LEN], char *err);

/* The reason for OpenSSL's last error, as a short text; empties its queue. */
const char *rcx_ssl_reason(void);

#endif /* RCX_IDENT_H */
