/* SPDX-License-Identifier: MIT */
/* Runs one of OpenSSL's algorithms on bytes that are always the same, as a processor with the given features.
 *
 *	measure FEATURES ALGORITHM [KEY.pem]
 *
 * Prints the result. It takes nothing from the clock or from the system's random numbers, and stack and heap are always in the
 * same places (some loops choose a place on the stack by its distance from their operands), so two runs execute the same
 * instructions. It is linked with libcrypto.a, and overwrites that library's variable for features. */
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern unsigned int OPENSSL_ia32cap_P[4];

enum {
	LENGTH = 3000,
	/* cpuid 1. With the bit of several threads AES without AES-NI does not look at the addresses of its tables. */
	EDX = 1 << 4 | 1 << 8 | 1 << 10 | 1 << 15 | 1 << 23 | 1 << 24 | 1 << 25 | 1 << 26 | 1 << 28,
	INTEL = 1 << 30,
	PCLMUL = 1 << 1, SSSE3 = 1 << 9, FMA = 1 << 12, SSE4 = 3 << 19, MOVBE = 1 << 22, AESNI = 1 << 25,
	XSAVE = 3 << 26, AVX = 1 << 28,
	/* cpuid 7 */
	BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8, ADX = 1 << 19,
};

struct features {
	const char *name;
	unsigned edx, ecx, ebx;
};

static const struct features features[] = {
	{"sse2", 0, 0, 0},
	{"ssse3", INTEL, SSSE3, 0},
	{"aesni", INTEL, SSSE3 | SSE4 | PCLMUL | AESNI, 0},
	{"avx", INTEL, SSSE3 | SSE4 | PCLMUL | AESNI | XSAVE | AVX | MOVBE, 0},
	{"avx-only", INTEL, SSSE3 | SSE4 | XSAVE | AVX | MOVBE, 0},
	{"avx2", INTEL, SSSE3 | SSE4 | PCLMUL | AESNI | XSAVE | AVX | MOVBE | FMA, BMI1 | BMI2 | AVX2},
	{"avx2-only", INTEL, SSSE3 | SSE4 | XSAVE | AVX | MOVBE | FMA, BMI1 | BMI2 | AVX2},
	{"adx", INTEL, SSSE3 | SSE4 | PCLMUL | AESNI | XSAVE | AVX | MOVBE | FMA, BMI1 | BMI2 | AVX2 | ADX},
};

static void
fail(const char *what)
{
	fprintf(stderr, "measure: %s\n", what);
	ERR_print_errors_fp(stderr);
	exit(1);
}

static void
set_features(const char *name)
{
	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		if (strcmp(features[i].name, name))
			continue;
		OPENSSL_ia32cap_P[0] = EDX | features[i].edx;
		OPENSSL_ia32cap_P[1] = features[i].ecx;
		OPENSSL_ia32cap_P[2] = features[i].ebx;
		OPENSSL_ia32cap_P[3] = 0;
		return;
	}
	fail("no such features");
}

static void
print(const char *what, const uint8_t *p, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	printf("%s %zu bytes %016llx\n", what, n, (unsigned long long)h);
}

static uint8_t *
input(void)
{
	static uint8_t bytes[LENGTH];
	uint32_t v = 12345;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)((v = v * 1664525 + 1013904223) >> 24);
	return bytes;
}

/* ---- memory at addresses that are always the same ---- */

enum { STACK = 1 << 20, HEAP = 1 << 28 };

static uint8_t *const room = (uint8_t *)0x600000000;
static size_t used;

/* The size stands before each piece; none is used twice. */
static void *
take(size_t n, const char *file, int line)
{
	uint8_t *p = room + STACK + used + 16;

	(void)file;
	(void)line;
	if (n > HEAP - 32 - used)
		fail("out of memory");
	used += (n + 31) & ~(size_t)15;
	memcpy(p - 16, &n, sizeof n);
	return p;
}

static void
leave(void *p, const char *file, int line)
{
	(void)p;
	(void)file;
	(void)line;
}

static void *
take_more(void *p, size_t n, const char *file, int line)
{
	void *to = take(n, file, line);
	size_t was = 0;

	if (p)
		memcpy(&was, (uint8_t *)p - 16, sizeof was);
	if (p)
		memcpy(to, p, was < n ? was : n);
	return to;
}

static void
settle(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;

	if (mmap(room, (size_t)STACK + HEAP, PROT_READ | PROT_WRITE, flags, -1, 0) != room ||
	    !CRYPTO_set_mem_functions(take, take_more, leave))
		fail("no room");
}

/* ---- what random numbers are: the same each time ---- */

static int
numbers(unsigned char *to, int n)
{
	static uint64_t v = 88172645463325252u;

	for (int i = 0; i < n; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		to[i] = (unsigned char)(v >> 32);
	}
	return 1;
}

static int
ready(void)
{
	return 1;
}

static const RAND_METHOD same_numbers = {.bytes = numbers, .pseudorand = numbers, .status = ready};

/* ---- the algorithms ---- */

static void
digest(const char *name)
{
	static const size_t lengths[] = {0, 3, 64, 119, 1000, LENGTH};
	uint8_t out[EVP_MAX_MD_SIZE];
	unsigned n;

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		if (!EVP_Digest(input(), lengths[i], out, &n, EVP_get_digestbyname(name), NULL))
			fail(name);
		print(name, out, n);
	}
}

static size_t
one_way(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, int encrypt, const uint8_t *in, size_t n, uint8_t *out)
{
	const uint8_t *keys = input() + 100;
	int done = 0, rest = 0;

	EVP_CIPHER_CTX_reset(ctx);
	if (!EVP_CipherInit_ex(ctx, cipher, NULL, keys, keys + 64, encrypt))
		fail("init");
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	if (!EVP_CipherUpdate(ctx, out, &done, in, (int)n))
		fail("update");
	EVP_CipherFinal_ex(ctx, out + done, &rest);
	return (size_t)(done + rest);
}

static void
cipher(const char *name)
{
	static const size_t lengths[] = {16, 32, 112, 288, 1024, 2400};
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	static uint8_t there[LENGTH + 64], back[LENGTH + 64];

	if (!c)
		fail(name);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		print(name, there, one_way(ctx, c, 1, input(), lengths[i], there));
		print("back", back, one_way(ctx, c, 0, there, lengths[i], back));
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(c);
}

static void
poly1305(void)
{
	static const size_t lengths[] = {1, 16, 63, 128, 500, 2999};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "poly1305", NULL);
	uint8_t out[16];
	size_t n;

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);

		if (!EVP_MAC_init(ctx, input(), 32, NULL) || !EVP_MAC_update(ctx, input(), lengths[i]) ||
		    !EVP_MAC_final(ctx, out, &n, sizeof out))
			fail("poly1305");
		print("poly1305", out, n);
		EVP_MAC_CTX_free(ctx);
	}
	EVP_MAC_free(mac);
}

static void
rsa(const char *path)
{
	FILE *f = path ? fopen(path, "r") : NULL;
	EVP_PKEY *key = f ? PEM_read_PrivateKey(f, NULL, NULL, NULL) : NULL;
	EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
	uint8_t out[1024];
	size_t n = sizeof out;

	if (!ctx || EVP_PKEY_sign_init(ctx) <= 0 || EVP_PKEY_sign(ctx, out, &n, input(), 32) <= 0)
		fail("rsa sign");
	print("rsa", out, n);
	if (EVP_PKEY_verify_init(ctx) <= 0 || EVP_PKEY_verify(ctx, out, n, input(), 32) != 1)
		fail("rsa verify");
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	fclose(f);
}

static void
curve(int name)
{
	EC_GROUP *g = EC_GROUP_new_by_curve_name(name);
	EC_POINT *p = EC_POINT_new(g), *q = EC_POINT_new(g);
	BIGNUM *k = BN_bin2bn(input(), 32, NULL), *m = BN_bin2bn(input() + 32, 31, NULL);
	uint8_t out[256];
	size_t n;

	if (!EC_POINT_mul(g, p, k, NULL, NULL, NULL) || !EC_POINT_mul(g, q, NULL, p, m, NULL) ||
	    !EC_POINT_mul(g, p, k, q, m, NULL))
		fail("points");
	n = EC_POINT_point2oct(g, p, POINT_CONVERSION_UNCOMPRESSED, out, sizeof out, NULL);
	print(OBJ_nid2sn(name), out, n);
	BN_free(k);
	BN_free(m);
	EC_POINT_free(p);
	EC_POINT_free(q);
	EC_GROUP_free(g);
}

static void
x25519(void)
{
	EVP_PKEY *mine = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, input(), 32);
	EVP_PKEY *other = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, input() + 32, 32);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(mine, NULL);
	uint8_t out[32];
	size_t n = sizeof out;

	if (EVP_PKEY_derive_init(ctx) <= 0 || EVP_PKEY_derive_set_peer(ctx, other) <= 0 || EVP_PKEY_derive(ctx, out, &n) <= 0)
		fail("x25519");
	print("x25519", out, n);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(mine);
	EVP_PKEY_free(other);
}

static void
run(const char *name, const char *key)
{
	if (EVP_get_digestbyname(name))
		digest(name);
	else if (!strcmp(name, "poly1305"))
		poly1305();
	else if (!strcmp(name, "rsa"))
		rsa(key);
	else if (!strcmp(name, "x25519"))
		x25519();
	else if (!strncmp(name, "prime", 5) || !strncmp(name, "sec", 3))
		curve(OBJ_sn2nid(name));
	else
		cipher(name);
}

static void *
measure(void *arg)
{
	char **argv = arg;

	set_features(argv[1]);
	if (!OSSL_PROVIDER_load(NULL, "default") || !OSSL_PROVIDER_load(NULL, "legacy"))
		fail("providers");
	RAND_set_rand_method(&same_numbers);
	run(argv[2], argv[3]);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (argc < 3)
		fail("usage: measure FEATURES ALGORITHM [KEY.pem]");
	settle();
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, room, STACK) || pthread_create(&thread, &attr, measure, argv) ||
	    pthread_join(thread, NULL))
		fail("no thread");
	return 0;
}
