// SPDX-License-Identifier: GPL-2.0
/*
 * Key files. A file is opened once, without following a symlink, and judged by
 * its descriptor: what was checked is what is read. The bytes of a key live in
 * one buffer that is wiped before it is freed.
 *
 * New keys are ECDSA on P-256: OpenSSL 3.0 signs and verifies with them about
 * twice as fast as with Ed25519, and every TLS stack has them. The certificate
 * of a new identity never expires: pinning peers trust the key, not a date that
 * its owner wrote, and a host with a wrong clock must still come up.
 */
#include "ident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "fail.h"

#define FILE_MAX	65536
#define PIN_PREFIX	"sha256:"
#define PIN_BASE64	44	/* of 32 bytes */

const char *rcx_ssl_reason(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();

	return text ? text : "no reason given";
}

/* For an encrypted key, OpenSSL would ask on a terminal that may not exist. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	(void)buf;
	(void)size;
	(void)rwflag;
	(void)arg;

	return -1;
}

static int check_secret(const char *path, const struct stat *st, char *err)
{
	if (st->st_mode & (0077))
		return rcl_fail(err, -EACCES,
				"%s holds a private key and its group or others have access; run: chmod 600 %s",
				path, path);
	if (st->st_uid != geteuid() && st->st_uid)
		return rcl_fail(err, -EACCES,
				"%s holds a private key and belongs to user %u; it must belong to you or to root",
				path, (unsigned int)st->st_uid);

	return 0;
}

static const char *file_advice(int code)
{
	if (code == EACCES && geteuid() == 0)
		return "; a service sees neither /home nor /root";
	if (code == EACCES)
		return "; run it as root, or give a file of your own";
	return code == ENOENT ? "; make its directory first" : "";
}

static int open_file(const char *path, struct stat *st, char *err)
{
	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int ret;

	if (fd < 0 && errno == ELOOP)
		return rcl_fail(err, -ELOOP,
				"%s is a symbolic link; give the file itself",
				path);
	if (fd < 0 && errno == ENOENT)
		return rcl_fail(err, -ENOENT,
				"%s does not exist; make an identity with: rclink genkey %s",
				path, path);
	if (fd < 0)
		return rcl_fail(err, -errno, "cannot open %s: %s%s", path,
				strerror(errno), file_advice(errno));
	if (fstat(fd, st)) {
		ret = rcl_fail(err, -errno, "cannot look at %s: %s", path,
			       strerror(errno));
		goto err_close;
	}
	if (!S_ISREG(st->st_mode)) {
		ret = rcl_fail(err, -EINVAL, "%s is not a regular file", path);
		goto err_close;
	}

	return fd;

err_close:
	close(fd);
	return ret;
}

static int read_all(int fd, const char *path, char *buf, size_t size,
		    char *err)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, buf + have, size - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rcl_fail(err, -errno, "cannot read %s: %s",
					path, strerror(errno));
		have += n;
	} while (n && have < size);
	if (have == size)
		return rcl_fail(err, -EFBIG, "%s is too long for a PEM file",
				path);

	return have;
}

/* The key's certificate and its chain; having none is no error. */
static int read_certs(BIO *bio, const char *path, struct stack_st_X509 *certs,
		      char *err)
{
	X509 *cert;

	while ((cert = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
		if (!sk_X509_push(certs, cert)) {
			X509_free(cert);
			return rcl_fail(err, -ENOMEM, "out of memory");
		}
	}
	if (sk_X509_num(certs) &&
	    ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return rcl_fail(err, -EINVAL,
				"cannot use certificate %d in %s: %s",
				sk_X509_num(certs) + 1, path,
				rcx_ssl_reason());
	ERR_clear_error();
	return 0;
}

/* Read whichever of the two the file has; *key is private, or NULL. */
static int parse(const char *path, const char *pem, int len,
		 const struct stat *st, EVP_PKEY **key,
		 struct stack_st_X509 *certs, char *err)
{
	BIO *bio = BIO_new_mem_buf(pem, len);
	int ret = 0;

	if (!bio)
		return rcl_fail(err, -ENOMEM, "out of memory");
	*key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	if (!*key && strstr(pem, "PRIVATE KEY-----"))
		ret = rcl_fail(err, -EINVAL,
			       "cannot use the private key in %s: %s (keys with a password are not supported)",
			       path, rcx_ssl_reason());
	BIO_free(bio);
	ERR_clear_error();
	if (ret)
		return ret;
	if (*key) {
		ret = check_secret(path, st, err);
		if (ret)
			return ret;
	}

	bio = BIO_new_mem_buf(pem, len);
	if (!bio)
		return rcl_fail(err, -ENOMEM, "out of memory");
	ret = read_certs(bio, path, certs, err);
	BIO_free(bio);

	return ret;
}

static void free_certs(struct stack_st_X509 *certs)
{
	sk_X509_pop_free(certs, X509_free);
}

/*
 * On success, *key is NULL if the file has no private key, and *certs is empty
 * if it has no certificate.
 */
static int load(const char *path, EVP_PKEY **key, struct stack_st_X509 **certs,
		char *err)
{
	char *buf = OPENSSL_zalloc(FILE_MAX + 1);
	struct stat st;
	int fd, ret;

	*key = NULL;
	*certs = sk_X509_new_null();
	if (!buf || !*certs) {
		ret = rcl_fail(err, -ENOMEM, "out of memory");
		goto out_free;
	}
	fd = open_file(path, &st, err);
	if (fd < 0) {
		ret = fd;
		goto out_free;
	}
	ret = read_all(fd, path, buf, FILE_MAX, err);
	if (ret >= 0)
		ret = parse(path, buf, ret, &st, key, *certs, err);
	close(fd);
out_free:
	if (ret) {
		EVP_PKEY_free(*key);
		free_certs(*certs);
		*key = NULL;
		*certs = NULL;
	}
	OPENSSL_clear_free(buf, FILE_MAX + 1);
	return ret;
}

int rcx_ident_load(const char *path, EVP_PKEY **key,
		   struct stack_st_X509 **certs, char *err)
{
	struct stack_st_X509 *own;
	int ret;

	ret = load(path, key, &own, err);
	if (ret)
		return ret;
	if (!*key)
		ret = rcl_fail(err, -EINVAL,
			       "%s has no private key; make an identity with: rclink genkey",
			       path);
	else if (certs && !sk_X509_num(own))
		ret = rcl_fail(err, -EINVAL,
			       "%s has no certificate beside the key; make an identity with: rclink genkey",
			       path);
	else if (certs &&
		 X509_check_private_key(sk_X509_value(own, 0), *key) != 1)
		ret = rcl_fail(err, -EINVAL,
			       "the certificate in %s is not one of the key in it",
			       path);
	ERR_clear_error();
	if (ret) {
		EVP_PKEY_free(*key);
		free_certs(own);
		*key = NULL;
		return ret;
	}
	if (certs)
		*certs = own;
	else
		free_certs(own);

	return 0;
}

int rcx_pin_of(EVP_PKEY *key, char pin[RCX_PIN_LEN], char *err)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	unsigned char *der = NULL;
	int len = i2d_PUBKEY(key, &der);

	if (len <= 0)
		return rcl_fail(err, -EINVAL,
				"cannot encode the public key: %s",
				rcx_ssl_reason());
	SHA256(der, len, hash);
	OPENSSL_free(der);
	memcpy(pin, PIN_PREFIX, strlen(PIN_PREFIX));
	EVP_EncodeBlock((unsigned char *)pin + strlen(PIN_PREFIX), hash,
			sizeof(hash));

	return 0;
}

int rcx_ident_pin(const char *path, char pin[RCX_PIN_LEN], char *err)
{
	struct stack_st_X509 *certs;
	EVP_PKEY *key, *public;
	X509 *cert;
	int ret;

	ret = load(path, &key, &certs, err);
	if (ret)
		return ret;
	cert = sk_X509_value(certs, 0);
	public = X509_get0_pubkey(cert);
	/* As the peer sees it: a key can be encoded in two ways. */
	if (public && (!key || X509_check_private_key(cert, key) == 1))
		ret = rcx_pin_of(public, pin, err);
	else if (key)
		ret = rcx_pin_of(key, pin, err);
	else
		ret = rcl_fail(err, -EINVAL,
			       "%s has neither a private key nor a certificate",
			       path);
	ERR_clear_error();
	EVP_PKEY_free(key);
	free_certs(certs);

	return ret;
}

int rcx_pin_check(const char *pin, char *err)
{
	unsigned char raw[PIN_BASE64], again[PIN_BASE64 + 1];
	const char *text = pin + strlen(PIN_PREFIX);
	bool good;

	good = !strncmp(pin, PIN_PREFIX, strlen(PIN_PREFIX)) &&
	       strlen(text) == PIN_BASE64 &&
	       EVP_DecodeBlock(raw, (const unsigned char *)text,
			       PIN_BASE64) == PIN_BASE64 / 4 * 3;
	if (good) {
		/* Pins are compared as text, so only one spelling is right. */
		EVP_EncodeBlock(again, raw, SHA256_DIGEST_LENGTH);
		good = !memcmp(again, text, PIN_BASE64);
	}
	if (!good)
		return rcl_fail(err, -EINVAL,
				"a pin is sha256: and 44 characters of base64, as `rclink pubkey` prints it on the peer");

	return 0;
}

static bool add_ext(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
	bool ok = ext && X509_add_ext(cert, ext, -1);

	X509_EXTENSION_free(ext);

	return ok;
}

static X509 *self_sign(EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;
	uint64_t serial = 0;

	if (name &&
	    RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1 &&
	    X509_set_version(cert, X509_VERSION_3) &&
	    ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert),
				    serial >> 1 | 1) &&
	    ASN1_TIME_set_string(X509_getm_notBefore(cert),
				 "20000101000000Z") &&
	    ASN1_TIME_set_string(X509_getm_notAfter(cert),
				 "99991231235959Z") &&
	    X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
				       (const unsigned char *)"rclink", -1, -1,
				       0) &&
	    X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, key) &&
	    add_ext(cert, NID_basic_constraints, "critical,CA:FALSE") &&
	    add_ext(cert, NID_key_usage, "critical,digitalSignature") &&
	    X509_sign(cert, key, EVP_sha256()))
		return cert;
	X509_free(cert);

	return NULL;
}

static int refuse_to_write(const char *path, char *err)
{
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return rcl_fail(err, -EEXIST,
				"%s exists and is not overwritten, as links of its identity would stop working; `rclink pubkey %s` prints its pin",
				path, path);
	return rcl_fail(err, -EEXIST,
			"%s is in the way, and no regular file; give another name",
			path);
}

static int write_file(const char *path, const char *data, size_t len,
		      char *err)
{
	size_t done = 0;
	int fd, ret = 0;
	ssize_t n;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0 && errno == EEXIST)
		return refuse_to_write(path, err);
	if (fd < 0)
		return rcl_fail(err, -errno, "cannot create %s: %s%s", path,
				strerror(errno), file_advice(errno));
	while (!ret && done < len) {
		n = write(fd, data + done, len - done);
		if (n > 0)
			done += n;
		else if (n < 0 && errno != EINTR)
			ret = -errno;
	}
	if (!ret && fsync(fd))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret)
		return 0;
	rcl_fail(err, ret, "cannot write %s: %s", path, strerror(-ret));
	unlink(path);
	return ret;
}

int rcx_ident_generate(const char *path, char *err)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = key ? self_sign(key) : NULL;
	BIO *bio = BIO_new(BIO_s_secmem());
	char *data;
	long len;
	int ret;

	if (!cert || !bio ||
	    !PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL,
					   NULL) ||
	    !PEM_write_bio_X509(bio, cert)) {
		ret = rcl_fail(err, -EIO, "cannot make a key: %s",
			       rcx_ssl_reason());
	} else {
		len = BIO_get_mem_data(bio, &data);
		ret = write_file(path, data, len, err);
		OPENSSL_cleanse(data, len);
	}
	BIO_free(bio);
	X509_free(cert);
	EVP_PKEY_free(key);

	return ret;
}
