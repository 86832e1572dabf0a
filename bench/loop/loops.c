/* SPDX-License-Identifier: MIT */
/* Tight loops, one a run: `loops NAME`. Each is a function that is called over and over, as in a library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

enum { N = 1024 };

static uint32_t word[N];
static float real4[2][N];
static double real8[2][N];
static char text[N + 1];
static int unsorted[N], sorted[N];
static int matrix[64][64];

#define LOOP static __attribute__((noinline)) uint64_t

LOOP
sum(const uint32_t *a, long n)
{
	uint64_t s = 0;

	for (long i = 0; i < n; i++)
		s += a[i];
	return s;
}

LOOP
length(const char *p)
{
	const char *q = p;

	while (*q) {
		q++;
		__asm__(""); /* or it becomes a call of strlen */
	}
	return (uint64_t)(q - p);
}

LOOP
copy(char *to, const char *from, long n)
{
	while (n--) {
		*to++ = *from++;
		__asm__("" : : : "memory");
	}
	return 0;
}

LOOP
fnv(const char *p, long n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*p++) * 16777619u;
	return h;
}

LOOP
mix(const char *p, long n)
{
	uint32_t h = 0;

	for (; n; n--)
		h = (h << 5 | h >> 27) + (unsigned char)*p++;
	return h;
}

LOOP
axpy(long n, double t, const double *a, double *c)
{
	for (long i = 0; i < n; i++)
		c[i] += t * a[i];
	return 0;
}

LOOP
saxpy(long n, float t, const float *restrict a, float *restrict c)
{
	for (long i = 0; i < n; i++)
		c[i] += t * a[i];
	return 0;
}

LOOP
bubble(int *a, long n)
{
	uint64_t swaps = 0;

	for (long i = n; i > 1; i--)
		for (long k = 1; k < i; k++)
			if (a[k - 1] > a[k]) {
				int t = a[k];

				a[k] = a[k - 1];
				a[k - 1] = t;
				swaps++;
			}
	return swaps;
}

LOOP
find(const uint32_t *a, uint32_t what)
{
	const uint32_t *q = a;

	while (*q != what) {
		q++;
		__asm__("");
	}
	return (uint64_t)(q - a);
}

LOOP
collatz(uint64_t n)
{
	uint64_t steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

LOOP
nest(int (*m)[64], int n)
{
	uint64_t s = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			if (m[i][k] > 0)
				s += (uint64_t)m[i][k];
	return s;
}

LOOP
chain(const uint32_t *next, long n)
{
	uint32_t at = 0;

	while (n--)
		at = next[at];
	return at;
}

#if defined __x86_64__
__attribute__((target("aes"))) LOOP
aes(const __m128i *key, int rounds)
{
	__m128i x = _mm_set1_epi8(3);

	do
		x = _mm_aesenc_si128(x, key[rounds & 15]);
	while (--rounds);
	return (uint64_t)_mm_cvtsi128_si64(x);
}
#endif

static uint64_t
run_bubble(void)
{
	memcpy(sorted, unsorted, sizeof sorted);
	return bubble(sorted, N / 2);
}

static uint64_t
once(const char *name, unsigned i)
{
#if defined __x86_64__
	static const __m128i key[16];

	if (!strcmp(name, "aes"))
		return aes(key, N);
#endif
	if (!strcmp(name, "sum"))
		return sum(word, N);
	if (!strcmp(name, "strlen"))
		return length(text);
	if (!strcmp(name, "copy"))
		return copy((char *)real4, text, N);
	if (!strcmp(name, "fnv"))
		return fnv(text, N);
	if (!strcmp(name, "mix"))
		return mix(text, N);
	if (!strcmp(name, "axpy"))
		return axpy(N, 1e-9, real8[0], real8[1]);
	if (!strcmp(name, "saxpy"))
		return saxpy(N, 1e-9f, real4[0], real4[1]);
	if (!strcmp(name, "bubble"))
		return run_bubble();
	if (!strcmp(name, "find"))
		return find(word, N - 1);
	if (!strcmp(name, "collatz"))
		return collatz(837799 + i % 64);
	if (!strcmp(name, "nest"))
		return nest(matrix, 64);
	if (!strcmp(name, "chain"))
		return chain(word, N);
	fprintf(stderr, "loops: no loop %s\n", name);
	exit(2);
}

/* Rounds that take about the same time. */
static unsigned
times(const char *name)
{
	if (!strcmp(name, "bubble"))
		return 1200;
	if (!strcmp(name, "nest") || !strcmp(name, "aes") || !strcmp(name, "chain"))
		return 100000;
	if (!strcmp(name, "collatz"))
		return 200000;
	return !strcmp(name, "saxpy") ? 2000000 : 400000;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "sum";
	uint64_t r = 0;

	for (int i = 0; i < N; i++) {
		word[i] = (uint32_t)i;
		text[i] = 'x';
		unsorted[i] = i * 7919 % 1013;
		matrix[i / 16 % 64][i % 64] = i * 31 % 7 - 3;
	}
	for (unsigned i = 0, n = times(name); i < n; i++)
		r += once(name, i);
	printf("%s %llu\n", name, (unsigned long long)r);
	return 0;
}
