// SPDX-License-Identifier: GPL-2.0
/*
 * What an exchange costs beyond TLS: compares a bare mutual TLS 1.3 handshake
 * by blocking OpenSSL with a whole exchange whose owner has nothing to do. Each
 * is timed from before the connect until the other end says that it is done,
 * between two processes over loopback. The two take turns, so that both see the
 * same machine. The result is the median.
 *
 * usage: bench_exchange [ROUNDS]		both, and their ratio
 *	  bench_exchange --handshake [ROUNDS]	one number, in microseconds
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/ssl.h>

#include "ident.h"
#include "path.h"
#include "session.h"
#include "tls.h"

#define ROUNDS		200
#define WARM_UP		3
#define TIMEOUT_MS	30000

struct place {
	int listener;
	uint16_t port;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_exchange: %s\n", what);
	exit(1);
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static struct place place_open(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	struct place p;

	p.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(p.listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(p.listener, 16) ||
	    getsockname(p.listener, (struct sockaddr *)&addr, &len))
		die("no loopback");
	p.port = ntohs(addr.sin_port);

	return p;
}

static int any(X509_STORE_CTX *store, void *arg)
{
	(void)store;
	(void)arg;

	return 1;
}

/* A context for what mutual TLS 1.3 requires, and nothing else. */
static SSL_CTX *bare_new(const SSL_METHOD *method, const char *key)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_certificate_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		die("OpenSSL does not take the key");
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_cert_verify_callback(ctx, any, NULL);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER |
			   SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);

	return ctx;
}

static void bare_serve(SSL_CTX *ctx, int fd)
{
	SSL *ssl = SSL_new(ctx);
	char byte = 0;

	SSL_set_fd(ssl, fd);
	/* One byte tells the client that its certificate was seen. */
	if (SSL_accept(ssl) != 1 || SSL_write(ssl, &byte, 1) != 1)
		die("the bare handshake failed at the server");
	SSL_read(ssl, &byte, 1);
	SSL_free(ssl);
	close(fd);
}

static double bare_once(SSL_CTX *ctx, uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	double start = now_us(), end;
	SSL *ssl = SSL_new(ctx);
	int fd, one = 1;
	char byte;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	SSL_set_fd(ssl, fd);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    SSL_connect(ssl) != 1 || SSL_read(ssl, &byte, 1) != 1)
		die("the bare handshake failed at the client");
	end = now_us();
	SSL_shutdown(ssl);
	SSL_free(ssl);
	close(fd);

	return end - start;
}

/* An owner that has nothing to do. */
struct end {
	struct event_base *base;
	struct rcx_session *session;
	double done_at;
};

static int admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		 char *link, char *err)
{
	(void)ctx;
	(void)ids;
	(void)err;
	strcpy(link, wanted);

	return 0;
}

static int offer(void *ctx, const char *link, struct rcx_paths *paths,
		 char *err)
{
	(void)ctx;
	(void)link;
	(void)err;
	*paths = (struct rcx_paths){
		.num = 1,
		.path[0] = {
			.device = "rxe0",
			.port = 1,
			.link_layer = RCLINK_LINK_LAYER_ROCE,
			.gid_type = RCLINK_GID_TYPE_ROCE_V2,
			.mtu = 1024,
			.gid = { 0xfe, 0x80, [15] = 1 },
		},
	};

	return 0;
}

static int prepare(void *ctx, const char *link, const struct rcl_path *path,
		   struct rcl_endpoint *local, char *err)
{
	uint32_t i;

	(void)ctx;
	(void)link;
	(void)path;
	(void)err;
	*local = (struct rcl_endpoint){
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid = { 0xfe, 0x80, [15] = 1 },
		.mtu = 1024,
		.epoch = 1,
		.rkey = 1,
		.length = 65536,
		.nqps = 5,
	};
	for (i = 0; i < local->nqps; i++)
		local->qp[i].qpn = 17 + i;

	return 0;
}

static int agree(void *ctx, const char *link, uint64_t local_epoch,
		 const char *identity, enum rcx_role role,
		 const struct rcl_endpoint *remote, uint64_t *agreed,
		 char *err)
{
	(void)ctx;
	(void)link;
	(void)identity;
	(void)role;
	(void)remote;
	(void)err;
	*agreed = local_epoch;

	return 0;
}

static int activate(void *ctx, const char *link, uint64_t epoch,
		    const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct end *end = ctx;

	(void)link;
	(void)epoch;
	(void)key;
	(void)err;
	rcx_session_link_up(end->session);

	return 0;
}

static void undo(void *ctx, const char *link)
{
	(void)ctx;
	(void)link;
}

static void step(void *ctx, enum rcx_step step, const char *detail)
{
	struct end *end = ctx;

	(void)detail;
	if (step == RCX_STEP_DONE)
		end->done_at = now_us();
}

static void done(void *ctx, int result, const char *err)
{
	struct end *end = ctx;

	if (result)
		die(err);
	event_base_loopbreak(end->base);
}

static const struct rcx_ops ops = {
	.admit = admit,
	.offer = offer,
	.prepare = prepare,
	.connect = agree,
	.activate = activate,
	.abort = undo,
	.step = step,
	.done = done,
};

static double exchange_once(struct event_base *base, struct rcx_tls *tls,
			    uint16_t port)
{
	struct end end = { .base = base };
	double start = now_us();
	char err[RCL_ERR_LEN];

	end.session = rcx_session_dial(base, tls, "127.0.0.1", port, "a", "b",
				       TIMEOUT_MS, &ops, &end, err);
	if (!end.session)
		die(err);
	event_base_dispatch(base);

	return end.done_at - start;
}

static void exchange_serve(struct event_base *base, struct rcx_tls *tls, int fd)
{
	struct end end = { .base = base };
	char err[RCL_ERR_LEN];

	end.session = rcx_session_accept(base, tls, fd, TIMEOUT_MS, &ops, &end,
					 err);
	if (!end.session)
		die(err);
	event_base_dispatch(base);
}

/* Serve bare handshakes, or exchanges if bare is NULL, until killed. */
static void serve(const char *key, struct place *bare, struct place *ours)
{
	const struct rcx_tls_config cfg = { .key_file = key };
	struct event_base *base = event_base_new();
	char err[RCL_ERR_LEN];
	struct rcx_tls *tls = rcx_tls_new(RCX_RESPONDER, &cfg, err);
	SSL_CTX *ctx = bare_new(TLS_server_method(), key);

	if (!tls)
		die(err);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (bare) {
		for (;;)
			bare_serve(ctx, accept(bare->listener, NULL, NULL));
	}
	for (;;)
		exchange_serve(base, tls, accept(ours->listener, NULL, NULL));
}

static pid_t spawn(const char *key, struct place *bare, struct place *ours)
{
	pid_t pid = fork();

	if (!pid)
		serve(key, bare, ours);

	return pid;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, count, sizeof(*values), compare);

	return values[count / 2];
}

static void measure(const char *dialler, const char *listener, int rounds,
		    bool handshake_only)
{
	double *bare = calloc(rounds, sizeof(*bare));
	double *ours = calloc(rounds, sizeof(*ours));
	struct place a = place_open(), b = place_open();
	SSL_CTX *ctx = bare_new(TLS_client_method(), dialler);
	struct event_base *base = event_base_new();
	char pin[RCX_PIN_LEN], err[RCL_ERR_LEN];
	const struct rcx_tls_config cfg = { .key_file = dialler, .pin = pin };
	struct rcx_tls *tls = NULL;
	pid_t servers[2];
	int i;

	servers[0] = spawn(listener, &a, NULL);
	servers[1] = spawn(listener, NULL, &b);
	if (!rcx_ident_pin(listener, pin, err))
		tls = rcx_tls_new(RCX_INITIATOR, &cfg, err);
	if (!tls)
		die(err);
	for (i = -WARM_UP; i < rounds; i++) {
		bare[i < 0 ? 0 : i] = bare_once(ctx, a.port);
		if (!handshake_only)
			ours[i < 0 ? 0 : i] = exchange_once(base, tls, b.port);
	}
	kill(servers[0], SIGTERM);
	kill(servers[1], SIGTERM);
	if (handshake_only)
		printf("%.0f\n", median(bare, rounds));
	else
		printf("bare handshake %.0f us, exchange %.0f us, ratio %.2f\n",
		       median(bare, rounds), median(ours, rounds),
		       median(ours, rounds) / median(bare, rounds));
	rcx_tls_free(tls);
	SSL_CTX_free(ctx);
	event_base_free(base);
	free(bare);
	free(ours);
}

int main(int argc, char **argv)
{
	bool handshake_only = argc > 1 && !strcmp(argv[1], "--handshake");
	char dir[] = "/tmp/bench_exchange.XXXXXX", err[RCL_ERR_LEN];
	int rounds = ROUNDS;

	argc -= handshake_only;
	argv += handshake_only;
	if (argc > 1)
		rounds = atoi(argv[1]);
	if (rounds < 1)
		die("usage: bench_exchange [--handshake] [ROUNDS]");
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(dir) || chdir(dir))
		die("no temporary directory");
	if (rcx_ident_generate("a", err) || rcx_ident_generate("b", err))
		die(err);
	measure("a", "b", rounds, handshake_only);
	if (unlink("a") || unlink("b") || rmdir(dir))
		die("cannot clean up");

	return 0;
}
