/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of the exchange: certificates made on the spot, owners of
 * sessions that do little but count the calls that they get, and a peer that
 * uses bare OpenSSL for TLS and can therefore break every rule.
 */
#ifndef EXCHANGE_LIB_H
#define EXCHANGE_LIB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include "codec.h"
#include "session.h"
#include "tls.h"

struct event;
struct event_base;

/* A key with a certificate. */
struct ident {
	EVP_PKEY *key;
	X509 *cert;
};

struct cert {
	const char *cn;
	const char *san;	/* as in openssl.cnf, "DNS:a,IP:192.0.2.1" */
	const char *eku;
	bool ca;
	bool nul_san;		/* DNS:good.example, a NUL, .evil.example */
	int rsa;		/* bits; else P-256 */
	/* an RSA key from 2^x - 1 for each x: two primes and the exponent */
	int mersenne[3];
	bool ed25519;
	bool compressed;	/* the key in the certificate only */
	const char *digest;	/* else SHA-256 */
	long from, to;		/* seconds from now; both 0: valid for a day */
};

/* A directory for this test, which becomes the current one. */
void scratch_enter(void);
void scratch_leave(void);

/* issuer NULL: self-signed. Aborts when OpenSSL cannot. */
struct ident ident_make(const struct cert *cert, const struct ident *issuer);
void ident_write(const struct ident *id, const char *key_file,
		 const char *cert_file);
/* Append the issuer's certificate to those in the file. */
void ident_append(const struct ident *id, const char *cert_file);
void ident_drop(struct ident *id);
/*
 * Write a CRL of ca with the serial number of revoked (none if NULL). It is
 * valid for an hour, which begins from seconds after now.
 */
void crl_write(const struct ident *ca, const X509 *revoked, long from,
	       const char *file);

enum stage {
	AT_NONE, AT_ADMIT, AT_OFFER, AT_PREPARE, AT_CONNECT, AT_ACTIVATE
};

/* One end of an exchange: how it is to behave, and which calls it got. */
struct owner {
	struct rcx_session *session;
	struct rcx_paths paths;	/* offered; one if not filled in */
	struct rcl_endpoint endpoint; /* of the first path; see there */
	int bad_paths;		/* the first so many fail, at fail_at or ... */
	bool bad_hello;		/* ... because the link never comes up */
	int silent_paths;	/* on the first so many the link stays down */
	int fail_with;		/* errno, -EIO if not filled in */
	enum stage fail_at;
	enum stage cancel_at;
	unsigned int cancel_steps;	/* bit per enum rcx_step */
	int prepare_ms;		/* how long prepare takes, if not 0 */
	int late_ms;		/* how long connect takes, if not 0 */
	int activate_ms;	/* how long activate takes, if not 0 */
	event_callback_fn meanwhile; /* called with the owner, at half-time */
	bool stay_down;		/* the link never comes up */
	bool go_down;		/* the link goes down instead of up */
	const char *only;	/* the identity to admit; NULL: any */
	int admits, offers, prepares, connects, activates, aborts, dones;
	int failed;		/* paths that were given up */
	char tried[8 * RCX_PATH_LEN]; /* which paths those are, and why */
	bool early;		/* a call came out of order */
	bool leak;		/* a text had a PSN, key, rkey or address */
	unsigned int steps;	/* bit per enum rcx_step */
	char first[RCLINK_PEER_MAX + 1];	/* peer's first identity */
	unsigned int names;	/* number of the peer's identities */
	char identity[RCLINK_PEER_MAX + 1];
	char wanted[RCLINK_NAME_MAX + 1];
	uint64_t agreed;
	uint8_t key[RCLINK_KEY_LEN];
	struct rcl_endpoint remote;
	uint8_t gid[RCLINK_GID_LEN];	/* of the path being prepared */
	int result;
	char err[RCL_ERR_LEN];
};

/* A loopback listener and an event loop; tests start the sessions. */
struct world {
	struct event_base *base;
	struct event *accepting;
	struct event *watchdog;
	int listener;
	uint16_t port;
	int timeout_ms;
	int left;		/* sessions that are not done */
	bool stuck;		/* the watchdog had to end the loop */
	struct rcx_tls *dial_tls;
	struct rcx_tls *listen_tls;
	struct owner dialler;
	struct owner listener_end;
};

void world_open(struct world *w);
void world_close(struct world *w);
/*
 * Open a world whose TLS contexts go by pin, of the identity files a and b. If
 * it is not the first one, the former world is closed before.
 */
void world_open_pinned(struct world *w, bool first);
/* Start an initiator; false if that fails, and dialler.err says why. */
bool world_dial(struct world *w);
/* Accept one connection with a session. */
void world_listen(struct world *w);
/* Run the loop until all sessions are done. */
void world_run(struct world *w);

const struct rcx_ops *world_ops(void);

/* An endpoint that the codec accepts; a path with this address. */
struct rcl_endpoint endpoint_make(uint64_t epoch);
struct rcl_path path_make(const char *address);

/* Check what must hold of every end in any case: NULL, or what is wrong. */
const char *owner_wrong(const struct owner *o);

#define HOLDS(o) do {							\
	const struct owner *end = (o);					\
	EXPECT_EQ(NULL, owner_wrong(end))				\
		TH_LOG("%s: %d %s", owner_wrong(end), end->result, end->err); \
} while (0)

#define SAYS(text, got) do {						\
	const char *said = (got);					\
	EXPECT_NE(NULL, strcasestr(said, text)) TH_LOG("said: %s", said); \
} while (0)

/* A peer that may break the protocol, in a thread of its own. */
struct raw {
	/* Filled in by the test. */
	struct world *world;
	bool server;
	const char *key_file;	/* NULL: no certificate */
	const char *cert_file;
	int max_version;	/* TLS1_2_VERSION, or 0 */
	const char *ciphers;	/* of TLS 1.2; NULL: OpenSSL's default */
	bool no_alpn;
	int buffers;		/* bytes, of the socket; 0: as usual */
	SSL_SESSION *resume;
	void (*script)(struct raw *r);
	const void *arg;
	int cut, how;		/* for scripts */
	/* Result. */
	pthread_t thread;
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
	bool shaken;		/* the handshake succeeded at this end */
	bool reused;
	bool again;		/* a second handshake succeeded */
	uint8_t secret[EVP_MAX_MD_SIZE];	/* of the client's traffic */
	size_t secret_len;
	uint8_t key[RCLINK_KEY_LEN];	/* as documented, of epoch 9 */
	SSL_SESSION *session;
	struct rcx_msg got;	/* the last message */
};

/* Of a socket, or of all that it accepts. */
void set_buffers(int fd, int size);
void raw_start(struct raw *r);
void raw_join(struct raw *r);
bool raw_send(struct raw *r, const void *buf, size_t len);
/* Receive one message into r->got. */
bool raw_recv(struct raw *r);
/* Build a message; returns its length. */
size_t raw_build(struct raw *r, uint32_t type, uint8_t buf[RCX_MSG_MAX]);
bool raw_say(struct raw *r, uint32_t type);
void raw_reset(struct raw *r);
/* Read and discard until our end breaks off. */
void raw_wait(struct raw *r);
/*
 * Run our session against the raw peer; returns the session's owner. Without a
 * script the peer follows the protocol; if its argument is a cut, up to there.
 */
struct owner *raw_against(struct world *w, struct raw *r);

/* A script: wait for a byte of our end, to see whether it admits the peer. */
void listen_only(struct raw *r);
/*
 * Run our initiator (with w->dial_tls) against a raw server, or our responder
 * (with w->listen_tls) against a raw client. The owner must not be asked to
 * prepare, nor to admit a client. Returns why the session ended.
 */
const char *try_initiator(struct world *w, struct raw *r);
const char *try_responder(struct world *w, struct raw *r);

/* The messages of each end in order; those of the two ends alternate. */
#define SERVER_SAYS	5
#define CLIENT_SAYS	4
extern const uint32_t server_says[SERVER_SAYS], client_says[CLIENT_SAYS];

/* How to break off. HANDSHAKE asks for a second handshake instead. */
enum how { FIN, RUDE_FIN, RESET, SILENCE, HANDSHAKE };

/* A raw peer's argument: break off at this byte of this message. */
struct cut {
	uint32_t message;
	size_t at;
	enum how how;
};

#endif /* EXCHANGE_LIB_H */
