// SPDX-License-Identifier: GPL-2.0
/*
 * OpenSSL over a BIO of our own: its socket BIO uses write(), which kills the
 * process with SIGPIPE when the peer has gone, and it cannot tell a FIN from a
 * reset afterwards. Ours remembers both, so that each way in which a connection
 * can end gets its own sentence.
 */
#include "conn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "fail.h"
#include "ident.h"
#include "tls.h"
#include "verify.h"

#define EXPORT_LABEL	"EXPORTER-rclink-control-key"
#define DRAIN_MAX	65536

struct rcx_conn {
	int fd;
	SSL *ssl;
	BIO_METHOD *method;
	bool established;	/* the handshake is done here */
	bool eof;		/* the peer sent a FIN */
	int error;		/* errno of the socket */
	size_t drained;
	struct rcx_peer peer;
	char err[RCL_ERR_LEN];
};

static bool again(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static int bio_write(BIO *bio, const char *buf, int len)
{
	struct rcx_conn *c = BIO_get_data(bio);
	ssize_t n = send(c->fd, buf, len, MSG_NOSIGNAL);

	BIO_clear_retry_flags(bio);
	if (n < 0 && again(errno))
		BIO_set_retry_write(bio);
	else if (n < 0)
		c->error = errno;

	return n;
}

static int bio_read(BIO *bio, char *buf, int len)
{
	struct rcx_conn *c = BIO_get_data(bio);
	ssize_t n = recv(c->fd, buf, len, 0);

	BIO_clear_retry_flags(bio);
	if (n < 0 && again(errno))
		BIO_set_retry_read(bio);
	else if (n < 0)
		c->error = errno;
	else if (!n)
		c->eof = true;

	return n;
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
	(void)bio;
	(void)num;
	(void)ptr;

	return cmd == BIO_CTRL_FLUSH;
}

static BIO *new_bio(struct rcx_conn *c)
{
	/* OpenSSL has few BIO types, and never takes one back. */
	static int type;
	BIO *bio;

	if (!type)
		type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
	c->method = BIO_meth_new(type, "rclink socket");
	if (!c->method || !BIO_meth_set_write(c->method, bio_write) ||
	    !BIO_meth_set_read(c->method, bio_read) ||
	    !BIO_meth_set_ctrl(c->method, bio_ctrl))
		return NULL;
	bio = BIO_new(c->method);
	if (bio) {
		BIO_set_data(bio, c);
		BIO_set_init(bio, 1);
	}

	return bio;
}

struct rcx_conn *rcx_conn_new(struct rcx_tls *tls, int fd, char *err)
{
	struct rcx_conn *c = calloc(1, sizeof(*c));
	BIO *bio;

	if (!c) {
		close(fd);
		goto err_memory;
	}
	c->fd = fd;
	c->ssl = rcx_tls_ssl(tls);
	bio = c->ssl && SSL_set_app_data(c->ssl, &c->peer) ? new_bio(c) : NULL;
	if (!bio)
		goto err_free;
	SSL_set_bio(c->ssl, bio, bio);

	return c;

err_free:
	rcx_conn_free(c);
err_memory:
	rcl_fail(err, -ENOMEM, "out of memory for a TLS connection");
	return NULL;
}

void rcx_conn_free(struct rcx_conn *c)
{
	if (!c)
		return;
	SSL_free(c->ssl);
	BIO_meth_free(c->method);
	close(c->fd);
	free(c);
}

/* What the peer's alert means to the person at this end. */
static const struct {
	int alert;
	const char *text;
} alerts[] = {
	{ SSL_AD_HANDSHAKE_FAILURE, "no common TLS parameters" },
	{ SSL_AD_BAD_CERTIFICATE,
	  "this host's certificate is not the expected one; compare its pin, or its names"
	},
	{ SSL_AD_UNSUPPORTED_CERTIFICATE,
	  "this host's certificate is not made for this use" },
	{ SSL_AD_CERTIFICATE_REVOKED, "this host's certificate is revoked" },
	{ SSL_AD_CERTIFICATE_EXPIRED,
	  "this host's certificate is not valid now; renew it, or check the clocks of both hosts"
	},
	{ SSL_AD_CERTIFICATE_UNKNOWN,
	  "it does not accept this host's certificate; its log says why" },
	{ SSL_AD_UNKNOWN_CA,
	  "this host's certificate is not from the CA that the peer trusts" },
	{ SSL_AD_ACCESS_DENIED, "it denies access" },
	{ SSL_AD_DECRYPT_ERROR,
	  "a signature or key of the handshake was wrong" },
	{ SSL_AD_PROTOCOL_VERSION, "it does not speak TLS 1.3" },
	{ SSL_AD_INSUFFICIENT_SECURITY, "it wants stronger keys" },
	{ SSL_AD_CERTIFICATE_REQUIRED, "it got no certificate of this host" },
	{ SSL_AD_NO_APPLICATION_PROTOCOL,
	  "it does not speak rclink/1; check the port" },
};

static void describe_alert(struct rcx_conn *c, int alert)
{
	size_t i;

	for (i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++) {
		if (alerts[i].alert != alert)
			continue;
		rcl_fail(c->err, 0, "the peer refused the connection: %s",
			 alerts[i].text);
		return;
	}
	rcl_fail(c->err, 0, "the peer broke the connection off: %s",
		 SSL_alert_desc_string_long(alert));
}

/* What OpenSSL's last error means to the person at this end. */
static void describe(struct rcx_conn *c)
{
	unsigned long code = ERR_peek_last_error();
	int reason = ERR_GET_REASON(code);

	if (ERR_GET_LIB(code) != ERR_LIB_SSL)
		reason = 0;
	switch (reason) {
	case SSL_R_CERTIFICATE_VERIFY_FAILED:
		snprintf(c->err, sizeof(c->err), "%s", c->peer.err);
		break;
	case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
		rcl_fail(c->err, 0,
			 "the peer sent no certificate; both ends must prove who they are");
		break;
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_VERSION_TOO_LOW:
	case SSL_R_NO_PROTOCOLS_AVAILABLE:
		rcl_fail(c->err, 0,
			 "the peer does not speak TLS 1.3, and nothing older is allowed");
		break;
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_HTTPS_PROXY_REQUEST:
		rcl_fail(c->err, 0,
			 "the peer does not speak TLS; check the port");
		break;
	case SSL_R_NO_APPLICATION_PROTOCOL:
		rcl_fail(c->err, 0,
			 "the peer does not speak rclink/1; check the port");
		break;
	default:
		if (reason >= SSL_AD_REASON_OFFSET)
			describe_alert(c, reason - SSL_AD_REASON_OFFSET);
		else
			rcl_fail(c->err, 0, "TLS failed: %s",
				 rcx_ssl_reason());
	}
}

/* ret is from the preceding OpenSSL call, which may have queued errors. */
static enum rcx_io result(struct rcx_conn *c, int ret)
{
	enum rcx_io io = RCX_IO_FAILED;

	switch (SSL_get_error(c->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		return RCX_IO_READ;
	case SSL_ERROR_WANT_WRITE:
		return RCX_IO_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return RCX_IO_CLOSED;
	}

	/* An alert read before the FIN says more than the FIN does. */
	if (ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_SSL &&
	    ERR_GET_REASON(ERR_peek_last_error()) !=
	    SSL_R_UNEXPECTED_EOF_WHILE_READING) {
		describe(c);
	} else if (c->error) {
		rcl_fail(c->err, 0, "the connection broke: %s",
			 strerror(c->error));
	} else if (c->eof) {
		io = RCX_IO_CLOSED;
	} else {
		describe(c);
	}
	ERR_clear_error();

	return io;
}

static bool has_alpn(const struct rcx_conn *c)
{
	const unsigned char *name;
	unsigned int len;

	SSL_get0_alpn_selected(c->ssl, &name, &len);

	return len == 8 && !memcmp(name, "rclink/1", 8);
}

enum rcx_io rcx_conn_handshake(struct rcx_conn *c)
{
	int ret;

	ERR_clear_error();
	ret = SSL_do_handshake(c->ssl);
	if (ret != 1)
		return result(c, ret);
	c->established = true;
	if (!has_alpn(c)) {
		rcl_fail(c->err, 0,
			 "the peer does not speak rclink/1; check the port");
		return RCX_IO_FAILED;
	}

	return RCX_IO_DONE;
}

enum rcx_io rcx_conn_read(struct rcx_conn *c, void *buf, size_t len, size_t *n)
{
	int ret;

	ERR_clear_error();
	ret = SSL_read_ex(c->ssl, buf, len, n);

	return ret == 1 ? RCX_IO_DONE : result(c, ret);
}

bool rcx_conn_pending(const struct rcx_conn *c)
{
	return SSL_pending(c->ssl) > 0;
}

enum rcx_io rcx_conn_write(struct rcx_conn *c, const void *buf, size_t len,
			   size_t *n)
{
	int ret;

	ERR_clear_error();
	ret = SSL_write_ex(c->ssl, buf, len, n);

	return ret == 1 ? RCX_IO_DONE : result(c, ret);
}

void rcx_conn_finish(struct rcx_conn *c)
{
	/* Before that, OpenSSL sends its alert by itself. */
	if (c->established)
		SSL_shutdown(c->ssl);
	ERR_clear_error();
	shutdown(c->fd, SHUT_WR);
}

enum rcx_io rcx_conn_drain(struct rcx_conn *c)
{
	char buf[4096];
	ssize_t n;

	while (!c->eof && !c->error && c->drained < DRAIN_MAX) {
		n = recv(c->fd, buf, sizeof(buf), 0);
		if (n < 0 && again(errno))
			return RCX_IO_READ;
		if (n <= 0)
			break;
		c->drained += n;
	}

	return RCX_IO_CLOSED;
}

const char *rcx_conn_error(const struct rcx_conn *c)
{
	return c->err;
}

const struct rcx_ids *rcx_conn_ids(const struct rcx_conn *c)
{
	return &c->peer.ids;
}

int rcx_conn_export(struct rcx_conn *c, uint64_t epoch,
		    uint8_t key[RCLINK_KEY_LEN])
{
	uint8_t context[8];
	int i;

	for (i = 7; i >= 0; i--, epoch >>= 8)
		context[i] = epoch;
	if (SSL_export_keying_material(c->ssl, key, RCLINK_KEY_LEN,
				       EXPORT_LABEL, strlen(EXPORT_LABEL),
				       context, sizeof(context), 1) == 1)
		return 0;
	ERR_clear_error();

	return -EIO;
}
