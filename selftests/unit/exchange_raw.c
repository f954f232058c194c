// SPDX-License-Identifier: GPL-2.0
#include "exchange_lib.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

static int any(X509_STORE_CTX *store, void *arg)
{
	(void)store;
	(void)arg;

	return 1;
}

static int take_alpn(SSL *ssl, const unsigned char **out, unsigned char *len,
		     const unsigned char *in, unsigned int inlen, void *arg)
{
	(void)ssl;
	(void)inlen;
	(void)arg;
	*out = in + 1;
	*len = in[0];

	return SSL_TLSEXT_ERR_OK;
}

/* Keep the client's secret for tests that write records of their own. */
static void keep_secret(const SSL *ssl, const char *line)
{
	static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";
	struct raw *r = SSL_get_app_data(ssl);

	if (!strncmp(line, label, strlen(label)))
		OPENSSL_hexstr2buf_ex(r->secret, sizeof(r->secret),
				      &r->secret_len, strrchr(line, ' ') + 1,
				      '\0');
}

static bool set_up(struct raw *r)
{
	r->ctx = SSL_CTX_new(r->server ? TLS_server_method() :
			     TLS_client_method());
	SSL_CTX_set_security_level(r->ctx, 0);
	SSL_CTX_set_cert_verify_callback(r->ctx, any, NULL);
	SSL_CTX_set_verify(r->ctx, SSL_VERIFY_PEER, NULL);
	if (r->max_version) {
		SSL_CTX_set_min_proto_version(r->ctx, TLS1_VERSION);
		SSL_CTX_set_max_proto_version(r->ctx, r->max_version);
	}
	SSL_CTX_set_dh_auto(r->ctx, 1);
	SSL_CTX_set_keylog_callback(r->ctx, keep_secret);
	if (r->ciphers && SSL_CTX_set_cipher_list(r->ctx, r->ciphers) != 1)
		return false;
	if (r->server && !r->no_alpn)
		SSL_CTX_set_alpn_select_cb(r->ctx, take_alpn, NULL);
	else if (!r->no_alpn)
		SSL_CTX_set_alpn_protos(r->ctx,
					(const uint8_t *)"\x08rclink/1", 9);
	if (!r->key_file)
		return true;

	return SSL_CTX_use_certificate_chain_file(r->ctx, r->cert_file ?
						  r->cert_file : r->key_file) ==
	       1 && SSL_CTX_use_PrivateKey_file(r->ctx, r->key_file,
						SSL_FILETYPE_PEM) == 1;
}

void set_buffers(int fd, int size)
{
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int connect_to(uint16_t port, int buffers)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (buffers)
		set_buffers(fd, buffers);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		abort();

	return fd;
}

/* protocol.rst has the label and the context, which is the epoch. */
static void export_key(struct raw *r)
{
	static const char label[] = "EXPORTER-rclink-control-key";
	static const uint8_t epoch[8] = { [7] = 9 };

	SSL_export_keying_material(r->ssl, r->key, sizeof(r->key), label,
				   sizeof(label) - 1, epoch, sizeof(epoch), 1);
}

static void *raw_thread(void *arg)
{
	struct timeval limit = { .tv_sec = 10 };
	struct raw *r = arg;
	int one = 1;

	r->fd = r->server ? accept(r->world->listener, NULL, NULL) :
		connect_to(r->world->port, r->buffers);
	setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(r->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	r->ssl = SSL_new(r->ctx);
	SSL_set_app_data(r->ssl, r);
	SSL_set_fd(r->ssl, r->fd);
	if (r->resume)
		SSL_set_session(r->ssl, r->resume);
	r->shaken = (r->server ? SSL_accept(r->ssl) : SSL_connect(r->ssl)) == 1;
	if (r->shaken) {
		r->reused = SSL_session_reused(r->ssl);
		export_key(r);
		if (r->script)
			r->script(r);
		r->session = SSL_get1_session(r->ssl);
	}
	SSL_free(r->ssl);
	if (r->fd >= 0)
		close(r->fd);

	return NULL;
}

void raw_start(struct raw *r)
{
	signal(SIGPIPE, SIG_IGN);
	if (!set_up(r) ||
	    pthread_create(&r->thread, NULL, raw_thread, r)) {
		ERR_print_errors_fp(stderr);
		abort();
	}
}

void raw_join(struct raw *r)
{
	pthread_join(r->thread, NULL);
	SSL_SESSION_free(r->session);
	SSL_CTX_free(r->ctx);
}

bool raw_send(struct raw *r, const void *buf, size_t len)
{
	return !len || SSL_write(r->ssl, buf, len) == (int)len;
}

static bool read_all(struct raw *r, uint8_t *buf, size_t len)
{
	size_t n;

	for (; len; buf += n, len -= n)
		if (SSL_read_ex(r->ssl, buf, len, &n) != 1)
			return false;

	return true;
}

bool raw_recv(struct raw *r)
{
	struct rcx_header header;
	uint8_t buf[RCX_MSG_MAX];
	char err[RCL_ERR_LEN];

	return read_all(r, buf, RCX_HEADER_LEN) &&
	       !rcx_header_decode(buf, &header, err) &&
	       read_all(r, buf + RCX_HEADER_LEN,
			header.size - RCX_HEADER_LEN) &&
	       !rcx_msg_decode(buf, header.size, &r->got, err);
}

size_t raw_build(struct raw *r, uint32_t type, uint8_t buf[RCX_MSG_MAX])
{
	struct rcx_msg msg = {
		.type = type,
		.version = RCX_VERSION_MAX,
		.version_min = RCX_VERSION_MIN,
		.version_max = RCX_VERSION_MAX,
		.link = "wanted",
		.paths = { .num = 1, .path = { path_make("192.0.2.1") } },
		.endpoint = endpoint_make(r->server ? 9 : 7),
		.agreed = 9,
		.code = RCX_CODE_FAILED,
		.text = "so it is",
	};
	char err[RCL_ERR_LEN];
	int len = rcx_msg_encode(&msg, buf, RCX_MSG_MAX, err);

	if (len < 0)
		abort();

	return len;
}

bool raw_say(struct raw *r, uint32_t type)
{
	uint8_t buf[RCX_MSG_MAX];
	size_t len = raw_build(r, type, buf);

	return raw_send(r, buf, len);
}

void raw_reset(struct raw *r)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(r->fd);
	r->fd = -1;
}

/* The messages of each end in order; those of the peer come in between. */
const uint32_t server_says[] = {
	RCX_MSG_WELCOME, RCX_MSG_ANSWER, RCX_MSG_ENDPOINT, RCX_MSG_CONFIRM,
	RCX_MSG_DONE
};

const uint32_t client_says[] = {
	RCX_MSG_OFFER, RCX_MSG_ENDPOINT, RCX_MSG_CONFIRM, RCX_MSG_DONE
};

void raw_wait(struct raw *r)
{
	char buf[256];

	while (SSL_read(r->ssl, buf, sizeof(buf)) > 0)
		;
}

/*
 * Renegotiate, as in TLS 1.2. OpenSSL does not do so in a connection of TLS
 * 1.3, so the request is sent past it, in the clear.
 */
static void handshake_again(struct raw *r)
{
	static const uint8_t hello_request[] = { 22, 3, 3, 0, 4, 0, 0, 0, 0 };
	static const uint8_t client_hello[50] = {
		22, 3, 3, 0, 45, 1, 0, 0, 41, 3, 3,
		[45] = 2, 0xc0, 0x2b, 1, 0,	/* behind 32 bytes and no id */
	};

	if (SSL_renegotiate(r->ssl) == 1)
		r->again = SSL_do_handshake(r->ssl) == 1;
	else if (r->server)
		send(r->fd, hello_request, sizeof(hello_request), 0);
	else
		send(r->fd, client_hello, sizeof(client_hello), 0);
	raw_wait(r);
}

static void break_off(struct raw *r, enum how how)
{
	switch (how) {
	case FIN:
		SSL_shutdown(r->ssl);
		break;
	case RUDE_FIN:
		break;
	case RESET:
		raw_reset(r);
		break;
	case SILENCE:
		raw_wait(r);
		break;
	case HANDSHAKE:
		handshake_again(r);
		break;
	}
}

/* Follow the protocol; with a cut, break off at a byte of a message. */
static void talk_and_cut(struct raw *r)
{
	const struct cut *cut = r->arg;
	uint8_t buf[RCX_MSG_MAX];
	size_t len, i;

	for (i = 0; i < SERVER_SAYS; i++) {
		if (!r->server && !raw_recv(r))
			return;
		if (!r->server && i == CLIENT_SAYS)
			break;
		len = raw_build(r, r->server ? server_says[i] : client_says[i],
				buf);
		if (r->got.type == RCX_MSG_ERROR)
			return;
		if (cut && cut->message == buf[5]) {
			raw_send(r, buf, cut->at);
			break_off(r, cut->how);
			return;
		}
		if (!raw_send(r, buf, len))
			return;
		if (r->server && !raw_recv(r))
			return;
	}
	raw_wait(r);
}

/* Our session against the raw peer; returns its owner. */
struct owner *raw_against(struct world *w, struct raw *r)
{
	r->world = w;
	r->key_file = r->server ? "b" : "a";
	if (!r->script)
		r->script = talk_and_cut;
	if (!r->server)
		world_listen(w);
	raw_start(r);
	if (r->server && !world_dial(w))
		abort();
	world_run(w);
	raw_join(r);

	return r->server ? &w->dialler : &w->listener_end;
}

void listen_only(struct raw *r)
{
	char byte;

	SSL_read(r->ssl, &byte, 1);
}

static void welcome(struct raw *r)
{
	raw_say(r, RCX_MSG_WELCOME);
	raw_recv(r);
}

const char *try_initiator(struct world *w, struct raw *r)
{
	r->world = w;
	r->server = true;
	if (!r->script)
		r->script = welcome;
	raw_start(r);
	if (!world_dial(w))
		return w->dialler.err;
	world_run(w);
	raw_join(r);
	if (w->stuck || w->dialler.dones != 1)
		return "stuck";
	if (w->dialler.prepares)
		return "prepared";

	return w->dialler.err;
}

const char *try_responder(struct world *w, struct raw *r)
{
	r->world = w;
	if (!r->script)
		r->script = listen_only;
	world_listen(w);
	raw_start(r);
	world_run(w);
	raw_join(r);
	if (w->stuck || w->listener_end.dones != 1)
		return "stuck";
	if (w->listener_end.admits || w->listener_end.prepares)
		return "admitted";

	return w->listener_end.err;
}
