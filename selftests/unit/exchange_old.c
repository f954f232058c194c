// SPDX-License-Identifier: GPL-2.0
/*
 * What TLS once allowed: ciphers without secrecy or authentication, and another
 * handshake in a connection (T6). Older versions are in exchange_tls.c.
 */
#include "exchange_lib.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "ident.h"

#include <kselftest_harness.h>

#define ALERT			21
#define FATAL			2
#define HANDSHAKE_FAILURE	40
#define PROTOCOL_VERSION	70
#define MISSING			109	/* missing_extension */

FIXTURE(old)
{
	struct world w;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(old)
{
	scratch_enter();
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	world_open_pinned(&self->w, true);
}

FIXTURE_TEARDOWN(old)
{
	world_close(&self->w);
	scratch_leave();
}

/* The owner's error, if the peer was refused before anything was done for it */
static const char *refused(const struct world *w, const struct owner *o)
{
	if (owner_wrong(o))
		return owner_wrong(o);
	if (w->stuck || !o->result)
		return "it was let in";
	if (o->admits || o->offers || o->prepares)
		return "something was done for it";
	return o->err;
}

/* Can two ends that break the rule alike shake hands? */
static bool meet(struct world *w, const struct raw *client,
		 const struct raw *server)
{
	struct raw near = *client, far = *server;

	near.world = w;
	far.world = w;
	far.key_file = "b";
	raw_start(&far);
	raw_start(&near);
	raw_join(&near);
	raw_join(&far);
	return near.shaken && far.shaken;
}

TEST_F(old, T6_ciphers_without_secrecy_or_proof_are_refused)
{
	static const char * const ciphers[] = {
		"eNULL:@SECLEVEL=0", "aNULL:@SECLEVEL=0",
		"eNULL:aNULL:@SECLEVEL=0",
	};
	struct world *w = &self->w;
	size_t i;

	for (i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++) {
		struct raw client = { .max_version = TLS1_2_VERSION,
				      .ciphers = ciphers[i] };
		struct raw server = client;

		server.server = true;
		world_open_pinned(w, false);
		EXPECT_TRUE(meet(w, &client, &server));
		SAYS("TLS 1.3", refused(w, raw_against(w, &client)));
		EXPECT_FALSE(client.shaken);
		SAYS("TLS 1.3", refused(w, raw_against(w, &server)));
		EXPECT_FALSE(server.shaken);
	}
}

/* Cipher suites by number, because OpenSSL lacks some of them. */
static const uint16_t export[] = {
	0x0003, 0x0006, 0x0008, 0x000b, 0x000e, 0x0011, 0x0014, 0x0017, 0x0019,
	0x0026, 0x0027, 0x0028, 0x0029, 0x002a, 0x002b, 0x0060, 0x0061, 0x0062,
	0x0063, 0x0064, 0x0065,
};

/* The last two are of TLS 1.3. */
static const uint16_t null[] = {
	0x0000, 0x0001, 0x0002, 0x002c, 0x002d, 0x002e, 0x003b, 0x00b0, 0x00b1,
	0xc001, 0xc006, 0xc00b, 0xc010, 0xc015, 0xc039, 0xc03a, 0xc03b, 0xc0b4,
	0xc0b5,
};

static const uint16_t anonymous[] = {
	0x0017, 0x0018, 0x0019, 0x001a, 0x001b, 0x0034, 0x003a, 0x0046, 0x006c,
	0x006d, 0x0089, 0x009b, 0x00a6, 0x00a7, 0x00bf, 0x00c5, 0xc015, 0xc016,
	0xc017, 0xc018, 0xc019,
};

static const uint16_t sound[] = { 0x1301, 0x1302, 0x1303 };

/* A ClientHello in its record; @is_1_3 adds the extension for TLS 1.3. */
static size_t hello(uint8_t *to, const uint16_t *suites, size_t n, bool is_1_3)
{
	static const uint8_t says_1_3[] = { 0, 7, 0, 43, 0, 3, 2, 3, 4 };
	uint8_t *p = to + 9;
	size_t i;

	*p++ = 3;
	*p++ = 3;
	memset(p, 0xa5, 32);
	p += 32;
	*p++ = 0;			/* no session */
	*p++ = 2 * n >> 8;
	*p++ = 2 * n;
	for (i = 0; i < n; i++) {
		*p++ = suites[i] >> 8;
		*p++ = suites[i];
	}
	*p++ = 1;
	*p++ = 0;			/* no compression */
	if (is_1_3) {
		memcpy(p, says_1_3, sizeof(says_1_3));
		p += sizeof(says_1_3);
	}
	memcpy(to, (uint8_t[]){ 22, 3, 1 }, 3);
	to[3] = (p - to - 5) >> 8;
	to[4] = p - to - 5;
	memcpy(to + 5, (uint8_t[]){ 1, 0 }, 2);
	to[7] = (p - to - 9) >> 8;
	to[8] = p - to - 9;
	return p - to;
}

/* Our end's error; it must send @alert to the peer, and nothing else. */
static const char *hello_says(struct world *w, const uint16_t *suites, size_t n,
			      bool is_1_3, int alert)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(w->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t buf[512];
	ssize_t len = hello(buf, suites, n, is_1_3);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    send(fd, buf, len, 0) != len || shutdown(fd, SHUT_WR))
		abort();
	world_listen(w);
	world_run(w);
	len = recv(fd, buf, sizeof(buf), 0);
	close(fd);
	if (len != 7 || buf[0] != ALERT || buf[5] != FATAL || buf[6] != alert) {
		printf("# %zd bytes, alert %d\n", len, buf[6]);
		return "the peer was told another thing";
	}
	return refused(w, &w->listener_end);
}

TEST_F(old, T6_a_hello_with_such_ciphers_alone_is_refused)
{
	static const struct {
		const uint16_t *suites;
		size_t n;
	} all[] = {
		{ export, sizeof(export) / sizeof(export[0]) },
		{ null, sizeof(null) / sizeof(null[0]) },
		{ anonymous, sizeof(anonymous) / sizeof(anonymous[0]) },
	};
	struct world *w = &self->w;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		world_open_pinned(w, false);
		SAYS("TLS 1.3", hello_says(w, all[i].suites, all[i].n, false,
					   PROTOCOL_VERSION));
		world_open_pinned(w, false);
		SAYS("no shared cipher", hello_says(w, all[i].suites, all[i].n,
						    true, HANDSHAKE_FAILURE));
	}
}

/* As short a hello with sound ciphers is refused for missing extensions. */
TEST_F(old, T6_a_hello_with_sound_ciphers_is_not_refused_for_them)
{
	const char *err = hello_says(&self->w, sound, 3, true, MISSING);

	SAYS("TLS failed", err);
	EXPECT_EQ(NULL, strstr(err, "cipher")) TH_LOG("%s", err);
}

/*
 * The peer begins another handshake before or within each of its messages. Our
 * end refuses it; until the first message is complete it has prepared nothing.
 * Returns the number of failures.
 */
static int begin_again(struct world *w, bool server)
{
	const uint32_t *says = server ? server_says : client_says;
	struct raw r = { .server = server };
	uint8_t buf[RCX_MSG_MAX];
	struct owner *o;
	int i, bad = 0;

	for (i = 0; i < 2 * (server ? SERVER_SAYS : CLIENT_SAYS); i++) {
		struct cut cut = { .message = says[i / 2], .how = HANDSHAKE };

		if (i % 2)
			cut.at = raw_build(&r, says[i / 2], buf) / 2;
		world_open_pinned(w, false);
		r = (struct raw){ .server = server, .arg = &cut };
		o = raw_against(w, &r);
		if (!owner_wrong(o) && o->result && !w->stuck && !r.again &&
		    strstr(o->err, "TLS failed: bad record type") &&
		    (i > 1 || (!o->prepares && !o->admits)))
			continue;
		printf("# message %u, at %zu: %d %s (%s)\n", cut.message,
		       cut.at, o->result, o->err, owner_wrong(o) ? : "ok");
		bad++;
	}
	return bad;
}

TEST_F(old, T6_another_handshake_is_refused_at_any_point)
{
	EXPECT_EQ(0, begin_again(&self->w, true));
	EXPECT_EQ(0, begin_again(&self->w, false));
}

static void derive(const struct raw *r, const char *label, uint8_t *out,
		   size_t len)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
	EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 "SHA384", 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
						  (void *)r->secret,
						  r->secret_len),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX,
						  "tls13 ", 6),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL,
						  (void *)label, strlen(label)),
		OSSL_PARAM_construct_end(),
	};

	if (EVP_KDF_derive(ctx, out, len, params) != 1)
		abort();
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
}

/* The first record behind the handshake, sealed as OpenSSL would. */
static void send_sealed(struct raw *r, uint8_t type, const uint8_t *data,
			size_t len)
{
	uint8_t key[32], iv[12], record[RCX_MSG_MAX + 32] = { 23, 3, 3 };
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	derive(r, "key", key, sizeof(key));
	derive(r, "iv", iv, sizeof(iv));
	record[3] = (len + 17) >> 8;
	record[4] = len + 17;
	memcpy(record + 5, data, len);
	record[5 + len] = type;
	if (EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, iv) != 1 ||
	    EVP_EncryptUpdate(ctx, NULL, &n, record, 5) != 1 ||
	    EVP_EncryptUpdate(ctx, record + 5, &n, record + 5, len + 1) != 1 ||
	    EVP_EncryptFinal_ex(ctx, record + 6 + len, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, 16,
				record + 6 + len) != 1 ||
	    send(r->fd, record, len + 22, 0) != (ssize_t)len + 22)
		abort();
	EVP_CIPHER_CTX_free(ctx);
}

static void seal_offer(struct raw *r)
{
	uint8_t buf[RCX_MSG_MAX];

	raw_recv(r);
	send_sealed(r, 23, buf, raw_build(r, RCX_MSG_OFFER, buf));
	raw_recv(r);
}

static void seal_hello(struct raw *r)
{
	uint8_t buf[512];
	size_t len = hello(buf, sound, 3, true);

	raw_recv(r);
	send_sealed(r, 22, buf + 5, len - 5);
	raw_wait(r);
}

/* Our end takes an OFFER from send_sealed(), but refuses a ClientHello. */
TEST_F(old, T6_another_handshake_that_is_sealed_is_refused)
{
	struct raw offers = { .script = seal_offer };
	struct raw greets = { .script = seal_hello };
	struct world *w = &self->w;

	EXPECT_EQ(1, raw_against(w, &offers)->admits);
	EXPECT_EQ(RCX_MSG_ANSWER, offers.got.type);
	ASSERT_EQ(48, offers.secret_len);
	world_open_pinned(w, false);
	SAYS("TLS failed: unexpected message",
	     refused(w, raw_against(w, &greets)));
	EXPECT_TRUE(greets.shaken);
}

TEST_HARNESS_MAIN
