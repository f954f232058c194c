// SPDX-License-Identifier: GPL-2.0
/* Key files: made, checked, and never disclosed (T19, T21). */
#include "ident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "exchange_lib.h"
#include "verify.h"

#include <kselftest_harness.h>

FIXTURE(ident)
{
	char err[RCL_ERR_LEN];
	char pin[RCX_PIN_LEN];
};

FIXTURE_SETUP(ident)
{
	scratch_enter();
	umask(0);
	ASSERT_EQ(0, rcx_ident_generate("key", self->err))
		TH_LOG("%s", self->err);
}

FIXTURE_TEARDOWN(ident)
{
	scratch_leave();
}

static struct rcx_tls *load(enum rcx_role role, const char *file, char *err)
{
	const struct rcx_tls_config cfg = {
		.key_file = file,
		.pin = "sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
	};

	return rcx_tls_new(role, &cfg, err);
}

/* NULL if both users of the file refuse it with @text, or what they say. */
static const char *refused(const char *file, const char *text)
{
	static char err[RCL_ERR_LEN];
	char pin[RCX_PIN_LEN];

	if (!rcx_ident_pin(file, pin, err))
		return "a pin was printed";
	if (!strstr(err, text))
		return err;
	if (load(RCX_INITIATOR, file, err))
		return "the key was loaded";

	return strstr(err, text) ? NULL : err;
}

#define REFUSED(file, text) do {					\
	const char *said = refused(file, text);				\
	EXPECT_EQ(NULL, said) TH_LOG("said: %s", said);			\
} while (0)

static void write_text(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	fputs(text, f);
	fclose(f);
	chmod(file, 0600);
}

static size_t read_text(const char *file, char *buf, size_t size)
{
	FILE *f = fopen(file, "r");
	size_t len = fread(buf, 1, size - 1, f);

	fclose(f);
	buf[len] = '\0';

	return len;
}

TEST_F(ident, a_new_key_is_private_and_never_overwritten)
{
	char before[4096], after[4096];
	struct stat st;

	ASSERT_EQ(0, lstat("key", &st));
	EXPECT_EQ(S_IFREG | 0600, st.st_mode);
	read_text("key", before, sizeof(before));
	EXPECT_EQ(-EEXIST, rcx_ident_generate("key", self->err));
	read_text("key", after, sizeof(after));
	EXPECT_STREQ(before, after);

	ASSERT_EQ(0, symlink("elsewhere", "link"));
	EXPECT_EQ(-EEXIST, rcx_ident_generate("link", self->err));
	EXPECT_NE(0, access("elsewhere", F_OK));
	EXPECT_EQ(-ENOENT, rcx_ident_generate("no/such/dir", self->err));
}

TEST_F(ident, the_pin_is_that_of_the_public_key)
{
	char again[RCX_PIN_LEN], self_text[RCLINK_PEER_MAX + 1];
	char text[8192], *cert;
	struct rcx_tls *tls;

	ASSERT_EQ(0, rcx_ident_pin("key", self->pin, self->err));
	EXPECT_EQ(0, rcx_pin_check(self->pin, self->err));
	EXPECT_EQ(RCX_PIN_LEN - 1, strlen(self->pin));

	/* A certificate is public: anybody may have it. */
	read_text("key", text, sizeof(text));
	cert = strstr(text, "-----BEGIN CERTIFICATE");
	ASSERT_NE(NULL, cert);
	write_text("cert", cert);
	chmod("cert", 0644);
	ASSERT_EQ(0, rcx_ident_pin("cert", again, self->err));
	EXPECT_STREQ(self->pin, again);

	tls = load(RCX_INITIATOR, "key", self->err);
	ASSERT_NE(NULL, tls);
	EXPECT_EQ(0, rcx_tls_self(tls, self_text, self->err));
	EXPECT_STREQ(self->pin, self_text);
	/* Each holder has to free it. */
	EXPECT_EQ(tls, rcx_tls_hold(tls));
	rcx_tls_free(tls);
	EXPECT_EQ(0, rcx_tls_self(tls, self_text, self->err));
	rcx_tls_free(tls);
}

TEST_F(ident, the_pin_is_that_of_the_certificate)
{
	const struct cert cert = { .cn = "x", .compressed = true };
	char self_text[RCLINK_PEER_MAX + 1];
	struct ident id = ident_make(&cert, NULL);
	struct rcx_tls *tls;

	ident_write(&id, "two", NULL);
	ident_drop(&id);
	ASSERT_EQ(0, rcx_ident_pin("two", self->pin, self->err));
	tls = load(RCX_INITIATOR, "two", self->err);
	ASSERT_NE(NULL, tls) TH_LOG("%s", self->err);
	EXPECT_EQ(0, rcx_tls_self(tls, self_text, self->err));
	EXPECT_STREQ(self_text, self->pin);
	rcx_tls_free(tls);
}

TEST_F(ident, only_the_canonical_form_is_a_pin)
{
	char pin[RCX_PIN_LEN + 8];

	ASSERT_EQ(0, rcx_ident_pin("key", self->pin, self->err));
	EXPECT_NE(0, rcx_pin_check("", self->err));
	EXPECT_NE(0, rcx_pin_check("sha256:", self->err));
	EXPECT_NE(0, rcx_pin_check("sha1:AAAA", self->err));
	EXPECT_NE(0, rcx_pin_check(self->pin + 7, self->err));
	snprintf(pin, sizeof(pin), "%s=", self->pin);
	EXPECT_NE(0, rcx_pin_check(pin, self->err));
	strcpy(pin, self->pin);
	pin[20] = '!';
	EXPECT_NE(0, rcx_pin_check(pin, self->err));
	/* The last character before '=' has two bits that mean nothing. */
	strcpy(pin, "sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=");
	EXPECT_NE(0, rcx_pin_check(pin, self->err));
	pin[49] = 'A';
	EXPECT_EQ(0, rcx_pin_check(pin, self->err));
}

TEST_F(ident, T19_a_key_that_others_may_read_is_refused)
{
	static const mode_t modes[] = { 0640, 0604, 0620, 0602, 0610, 0777 };
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		chmod("key", modes[i]);
		REFUSED("key", "chmod 600");
	}
	chmod("key", 0400);
	EXPECT_EQ(0, rcx_ident_pin("key", self->pin, self->err));
}

TEST_F(ident, T19_a_key_of_somebody_else_is_refused)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, chown("key", 1000, 0));
	REFUSED("key", "belongs to user 1000");
}

TEST_F(ident, T19_what_is_no_key_file_is_refused)
{
	int i;

	REFUSED("missing",
		"missing does not exist; make an identity with: rclink genkey missing");
	mkdir("dir", 0700);
	REFUSED("dir", "not a regular file");
	ASSERT_EQ(0, symlink("key", "link"));
	REFUSED("link", "symbolic link");
	ASSERT_EQ(0, mkfifo("fifo", 0600));
	REFUSED("fifo", "not a regular file");
	REFUSED("/dev/null", "not a regular file");
	write_text("empty", "");
	EXPECT_GT(0, rcx_ident_pin("empty", self->pin, self->err));
	EXPECT_EQ(NULL, load(RCX_RESPONDER, "empty", self->err));
	write_text("long", "");
	for (i = 0; i < 70; i++) {
		FILE *f = fopen("long", "a");

		fprintf(f, "%1024d", 0);
		fclose(f);
	}
	REFUSED("long", "too long");
}

TEST_F(ident, a_key_with_a_password_is_refused_without_asking)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	FILE *f = fopen("locked", "w");

	PEM_write_PKCS8PrivateKey(f, key, EVP_aes_128_cbc(), "secret", 6, NULL,
				  NULL);
	fclose(f);
	EVP_PKEY_free(key);
	chmod("locked", 0600);
	REFUSED("locked", "password");
}

TEST_F(ident, key_and_certificate_must_fit)
{
	char own[8192], other[8192], both[16384], *cert;
	char own_pin[RCX_PIN_LEN];

	ASSERT_EQ(0, rcx_ident_generate("key2", self->err));
	read_text("key", own, sizeof(own));
	read_text("key2", other, sizeof(other));
	cert = strstr(other, "-----BEGIN CERTIFICATE");
	write_text("cert2", cert);
	*strstr(own, "-----BEGIN CERTIFICATE") = '\0';
	snprintf(both, sizeof(both), "%s%s", own, cert);
	write_text("mixed", both);
	EXPECT_EQ(NULL, load(RCX_INITIATOR, "mixed", self->err));
	EXPECT_NE(NULL, strstr(self->err, "not one of the key"));
	/* Beside another certificate in a file of its own, the key counts. */
	EXPECT_EQ(0, rcx_ident_pin("key", own_pin, self->err));
	EXPECT_EQ(0, rcx_ident_pin("mixed", self->pin, self->err));
	EXPECT_STREQ(own_pin, self->pin);
	write_text("bare", own);
	EXPECT_EQ(NULL, load(RCX_INITIATOR, "bare", self->err));
	EXPECT_NE(NULL, strstr(self->err, "no certificate"));
	EXPECT_EQ(NULL, load(RCX_INITIATOR, "cert2", self->err));
	EXPECT_NE(NULL, strstr(self->err, "no private key"));
}

/* Does err have eight characters in a row of the key's base64? */
static int tells(const char *err, const char *key)
{
	const char *end = strstr(key, "-----END");
	const char *p = strchr(key, '\n');
	char part[9] = "";

	for (; p && p + 8 < end; p++) {
		memcpy(part, p, 8);
		if (!memchr(part, '\n', 8) && !memchr(part, '-', 8) &&
		    strstr(err, part))
			return 1;
	}

	return 0;
}

TEST_F(ident, T21_no_sentence_has_bytes_of_the_key)
{
	char text[8192], bad[8192];
	size_t len, i;

	len = read_text("key", text, sizeof(text));
	for (i = 0; i < len; i += 3) {
		struct rcx_tls *tls;

		strcpy(bad, text);
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		write_text("bad", bad);
		tls = load(RCX_INITIATOR, "bad", self->err);
		rcx_tls_free(tls);
		if (!tls)
			EXPECT_EQ(0, tells(self->err, text))
				TH_LOG("said: %s", self->err);
		if (rcx_ident_pin("bad", self->pin, self->err))
			EXPECT_EQ(0, tells(self->err, text));
		bad[i] = '\0';
		write_text("bad", bad);
		tls = load(RCX_INITIATOR, "bad", self->err);
		rcx_tls_free(tls);
		if (!tls)
			EXPECT_EQ(0, tells(self->err, text));
	}
}

/* The address and the wildcard do not count as names. */
TEST_F(ident, a_certificate_has_16_names_at_most)
{
	char san[1024] = "IP:192.0.2.1,DNS:*.example";
	struct cert spec = { .cn = "x", .san = san };
	struct rcx_peer peer;
	struct ident id;
	int ret, i;

	for (i = 0; i <= RCX_IDS_MAX + 1; i++) {
		memset(&peer, 0, sizeof(peer));
		id = ident_make(&spec, NULL);
		ret = rcx_collect_names(id.cert, "my", &peer);
		ident_drop(&id);
		EXPECT_EQ(i && i <= RCX_IDS_MAX ? 0 : -EINVAL, ret);
		if (!ret)
			EXPECT_EQ(i, peer.ids.num);
		sprintf(san + strlen(san), ",DNS:n%d.example", i);
	}
	EXPECT_STREQ("n15.example", peer.ids.id[15]);
	SAYS("my certificate has 17 DNS names", peer.err);
}

/* A CA file with an intermediate CA alone is refused; its root is needed. */
TEST_F(ident, a_ca_has_a_root)
{
	const struct cert root_spec = { .cn = "root", .ca = true };
	const struct cert below_spec = { .cn = "below", .ca = true };
	const struct cert good = { .cn = "a", .san = "DNS:good.example" };
	const struct rcx_tls_config config = {
		.key_file = "good.key",
		.cert_file = "good.pem",
		.ca_file = "ca.pem",
	};
	struct ident root = ident_make(&root_spec, NULL);
	struct ident below = ident_make(&below_spec, &root);
	struct ident id = ident_make(&good, &below);
	struct rcx_tls *tls;

	ident_write(&id, "good.key", "good.pem");
	ident_write(&below, NULL, "ca.pem");
	EXPECT_EQ(NULL, rcx_tls_new(RCX_RESPONDER, &config, self->err));
	SAYS("cannot use the CA in ca.pem: no root", self->err);
	EXPECT_NE(0, rcx_tls_try(&config, RCX_CA, self->err));
	ident_append(&root, "ca.pem");
	tls = rcx_tls_new(RCX_RESPONDER, &config, self->err);
	EXPECT_NE(NULL, tls) TH_LOG("%s", self->err);
	rcx_tls_free(tls);
	ident_drop(&id);
	ident_drop(&below);
	ident_drop(&root);
}

/* That the file is missing is a mistake; that it cannot be opened may pass. */
TEST_F(ident, why_a_file_is_not_usable_is_told)
{
	struct rcx_tls_config config = { .key_file = "no.key" };
	struct rlimit none, before;

	EXPECT_EQ(NULL, rcx_tls_new(RCX_RESPONDER, &config, self->err));
	EXPECT_EQ(ENOENT, errno);
	config.key_file = "key";
	config.ca_file = "/etc/passwd";
	EXPECT_EQ(NULL, rcx_tls_new(RCX_RESPONDER, &config, self->err));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, rcx_tls_try(&config, RCX_CA, self->err));
	config.cert_file = "key";
	EXPECT_EQ(-EMFILE, rcx_tls_try(&config, RCX_CERT, self->err));
	EXPECT_EQ(NULL, rcx_tls_new(RCX_RESPONDER, &config, self->err));
	EXPECT_EQ(EMFILE, errno);
	setrlimit(RLIMIT_NOFILE, &before);
	SAYS("Too many open files", self->err);
}

TEST_F(ident, what_nobody_writes_to_is_not_waited_for)
{
	static const char * const files[] = { "fifo", "dir", "/dev/null" };
	struct rcx_tls_config config = { .key_file = "key" };
	size_t i;
	int which;

	ASSERT_EQ(0, mkfifo("fifo", 0600));
	ASSERT_EQ(0, mkdir("dir", 0700));
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		config.cert_file = files[i];
		config.ca_file = files[i];
		config.crl_file = files[i];
		for (which = RCX_CERT; which < RCX_FILES; which++) {
			EXPECT_NE(0, rcx_tls_try(&config, which, self->err));
			SAYS("it is not a regular file", self->err);
		}
	}
}

/* Write a key, and to @chain its certificate and that of the CA in between. */
static void write_chain(const char *key, const char *chain)
{
	const struct cert top = { .cn = "top", .ca = true };
	const struct cert sub = { .cn = "sub", .ca = true };
	const struct cert leaf = { .cn = "x", .san = "DNS:good.example" };
	struct ident a = ident_make(&top, NULL);
	struct ident b = ident_make(&sub, &a);
	struct ident c = ident_make(&leaf, &b);

	ident_write(&a, NULL, "ca.pem");
	ident_write(&c, key, chain == key ? NULL : chain);
	ident_append(&b, chain);
	ident_drop(&a);
	ident_drop(&b);
	ident_drop(&c);
}

/* NULL, or why two hosts with this configuration refuse each other. */
static const char *differ(const struct rcx_tls_config *cfg)
{
	static char err[RCL_ERR_LEN];
	struct world w;
	bool bad;

	world_open(&w);
	w.listen_tls = rcx_tls_new(RCX_RESPONDER, cfg, err);
	if (!w.listen_tls)
		return err;
	w.dial_tls = rcx_tls_dial(w.listen_tls, NULL, "good.example", err);
	if (!w.dial_tls)
		return err;
	world_listen(&w);
	if (!world_dial(&w))
		return "nobody dials";
	world_run(&w);
	strcpy(err, w.dialler.result ? w.dialler.err : w.listener_end.err);
	bad = w.dialler.result || w.listener_end.result;
	world_close(&w);
	return bad ? err : NULL;
}

TEST_F(ident, who_dials_shows_the_same_chain)
{
	const struct rcx_tls_config cfg = {
		.key_file = "good.key",
		.cert_file = "good.pem",
		.ca_file = "ca.pem",
	};
	const char *why;

	write_chain("good.key", "good.pem");
	why = differ(&cfg);
	EXPECT_EQ(NULL, why) TH_LOG("%s", why);
}

TEST_F(ident, a_chain_may_be_in_the_key_file)
{
	const struct rcx_tls_config cfg = {
		.key_file = "good.key",
		.ca_file = "ca.pem",
	};
	const char *why;
	FILE *f;

	write_chain("good.key", "good.key");
	why = differ(&cfg);
	EXPECT_EQ(NULL, why) TH_LOG("%s", why);
	f = fopen("good.key", "a");
	fputs("-----BEGIN CERTIFICATE-----\nAAAA\n"
	      "-----END CERTIFICATE-----\n", f);
	fclose(f);
	REFUSED("good.key", "cannot use certificate 3 in good.key: ");
}

TEST_F(ident, who_dials_says_whom)
{
	struct rcx_tls *own = load(RCX_RESPONDER, "key", self->err);

	ASSERT_NE(NULL, own);
	EXPECT_EQ(NULL, rcx_tls_dial(own, NULL, "good.example", self->err));
	EXPECT_NE(NULL, strstr(self->err, "pin")) TH_LOG("%s", self->err);
	rcx_tls_free(own);
}

TEST_HARNESS_MAIN
