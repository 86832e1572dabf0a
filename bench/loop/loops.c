/* SPDX-License-Identifier: MIT */
/* Tight loops, one a run. Each is a function that is called over and over, as in a library.
 *
 *	loops NAME         nanoseconds a call: the median of many stretches of some microseconds, and the least
 *	loops NAME CALLS   makes that many calls and prints what they computed; `all` for all of them
 *
 * Stretches are this short because the machine has other work, too: a stretch that such work interrupts is not the median. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

enum { N = 1024 };

/* In one piece, so that every build has the same distances; none that a loop goes through is near a multiple of 4096, where
 * processors mistake one address for another. */
static struct {
	char text[N + 1];
	_Alignas(64) float real4[2][N + 512];
	_Alignas(64) double real8[2][N + 256];
	_Alignas(64) uint32_t word[N];
	_Alignas(64) int unsorted[N], sorted[N];
	_Alignas(64) int matrix[64][64];
} data;

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
	uint32_t here = 0;

	while (n--)
		here = next[here];
	return here;
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

__attribute__((target("aes"))) LOOP
aes9(const __m128i *key, int blocks)
{
	__m128i x = _mm_set1_epi8(3);

	while (blocks--) {
		const __m128i *k = key;
		int rounds = 9;

		do {
			x = _mm_aesenc_si128(x, *k++);
			__asm__("" : "+r"(rounds));
		} while (--rounds);
	}
	return (uint64_t)_mm_cvtsi128_si64(x);
}
#endif

#ifdef FORTRAN
void product_(const int *n, const double *a, const double *b, double *c);
double dot_(const int *n, const double *x, const double *y);

static uint64_t
run_fortran(const char *name)
{
	static double a[64 * 64 + 256], b[64 * 64 + 256], c[64 * 64];
	static const int n = 64, all = 64 * 64;

	if (!strcmp(name, "dot"))
		return (uint64_t)dot_(&all, a, b);
	product_(&n, a, b, c);
	return (uint64_t)c[5];
}
#endif

static uint64_t
run_bubble(void)
{
	memcpy(data.sorted, data.unsorted, sizeof data.sorted);
	return bubble(data.sorted, N / 2);
}

static uint64_t
once(const char *name, unsigned i)
{
#if defined __x86_64__
	static const __m128i key[16];

	if (!strcmp(name, "aes"))
		return aes(key, N);
	if (!strcmp(name, "aes9"))
		return aes9(key, 64);
#endif
#ifdef FORTRAN
	if (!strcmp(name, "dot") || !strcmp(name, "dgemm"))
		return run_fortran(name);
#endif
	if (!strcmp(name, "sum"))
		return sum(data.word, N);
	if (!strcmp(name, "strlen"))
		return length(data.text);
	if (!strcmp(name, "copy"))
		return copy((char *)data.real4, data.text, N);
	if (!strcmp(name, "fnv"))
		return fnv(data.text, N);
	if (!strcmp(name, "mix"))
		return mix(data.text, N);
	if (!strcmp(name, "axpy"))
		return axpy(N, 1e-9, data.real8[0], data.real8[1]);
	if (!strcmp(name, "saxpy"))
		return saxpy(N, 1e-9f, data.real4[0], data.real4[1]);
	if (!strcmp(name, "bubble"))
		return run_bubble();
	if (!strcmp(name, "find"))
		return find(data.word, N - 1);
	if (!strcmp(name, "collatz"))
		return collatz(837799 + i % 64);
	if (!strcmp(name, "nest"))
		return nest(data.matrix, 64);
	if (!strcmp(name, "chain"))
		return chain(data.word, N);
	fprintf(stderr, "loops: no loop %s\n", name);
	exit(2);
}

static const char *const loops[] = {
	"sum", "strlen", "copy", "fnv", "mix", "axpy", "saxpy", "bubble", "find", "collatz", "nest", "chain",
#if defined __x86_64__
	"aes", "aes9",
#endif
#ifdef FORTRAN
	"dgemm", "dot",
#endif
};

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of so many calls. */
static double
stretch(const char *name, unsigned calls, volatile uint64_t *r)
{
	double start = now();

	for (unsigned i = 0; i < calls; i++)
		*r += once(name, i);
	return now() - start;
}

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(const char *name)
{
	enum { STRETCHES = 1500, NANOSECONDS = 30000, BUDGET = 100000000 };
	static double t[STRETCHES];
	static volatile uint64_t r;
	unsigned calls = 1;
	size_t n = 0;

	while (stretch(name, calls, &r) < NANOSECONDS)
		calls *= 2;
	for (double start = now(); n < STRETCHES && (n < 31 || now() - start < BUDGET); n++)
		t[n] = stretch(name, calls, &r) / calls;
	qsort(t, n, sizeof *t, by_time);
	printf("%.2f %.2f\n", t[n / 2], t[0]);
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "sum";
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t r = 0;

	for (int i = 0; i < N; i++) {
		data.word[i] = (uint32_t)i;
		data.text[i] = 'x';
		data.unsorted[i] = i * 7919 % 1013;
		data.matrix[i / 16 % 64][i % 64] = i * 31 % 7 - 3;
	}
	for (size_t k = 0; k < sizeof loops / sizeof *loops; k++)
		for (unsigned long i = 0; i < calls && (!strcmp(name, "all") || !strcmp(name, loops[k])); i++)
			r += once(loops[k], (unsigned)i);
	if (calls)
		printf("%s %llu\n", name, (unsigned long long)r);
	else
		measure(name);
	return 0;
}
