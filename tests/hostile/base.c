/* SPDX-License-Identifier: MIT */
/* Loops whose counters are found by a register, and a handler that runs the same loops after each of their instructions.
 *
 *	base 0        the loops, not stepped through; base 4 runs the handler once
 *	base 1        stepped through
 *	base 2 FILE   the loops for ever; FILE has the number of rounds of all loops so far
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOP __attribute__((noinline)) unsigned

static unsigned word[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static char text[17] = "sixteen letters.";
static volatile unsigned long steps;
static volatile unsigned heard;

LOOP
sum(const unsigned *a, unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		s += a[i];
	return s;
}

LOOP
length(const char *p)
{
	const char *q = p;

	while (*q) {
		q++;
		__asm__("");
	}
	return (unsigned)(q - p);
}

/* Two counters or more, one of them behind an addition that changes flags which are still read. */
LOOP
collatz(unsigned n)
{
	unsigned k = 0;

	for (; n > 1; k++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return k;
}

LOOP
nest(const unsigned *a, unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i; k < n; k++) {
			if (a[k] > a[i])
				s += sum(a, k & 3);
			else
				s ^= a[i] << (k & 7);
		}
	return s;
}

LOOP
choose(const unsigned *a, unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		switch (a[i]) {
		case 1: s += 7; break;
		case 2: s ^= i; break;
		case 3: s = s << 1 | s >> 31; break;
		case 4: s -= 3; break;
		case 5: s *= 5; break;
		case 6: s |= 1; break;
		default: s++;
		}
	return s;
}

#define ALL "+r"(v0), "+r"(v1), "+r"(v2), "+r"(v3), "+r"(v4), "+r"(v5), "+r"(v6), "+r"(v7), "+r"(v8), "+r"(v9), "+r"(v10)

/* No register is dead in the inner loop, so one that is needed only behind it is lent. */
LOOP
crowded(const unsigned *a, unsigned n)
{
	unsigned long v0 = n, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9, v10 = 10;
	unsigned s = 0;

	for (unsigned k = 0; k < 2; k++) {
		const unsigned *p = a;

		__asm__("" : ALL);
		do
			s += *p++;
		while (*p != 9);
		__asm__("" : ALL);
		s += (unsigned)(v0 + 2 * v1 + 3 * v2 + 4 * v3 + 5 * v4 + 6 * v5 + 7 * v6 + 8 * v7 + 9 * v8 + 10 * v9 + 11 * v10);
	}
	return s;
}

LOOP
work(unsigned n)
{
	return sum(word, n) + length(text + 16 - n) * 2 + collatz(n + 4) * 3 + nest(word, n) * 5 + choose(word, n) * 7 +
	       crowded(word, n) * 9;
}

__attribute__((noinline, used)) void
handler(int sig)
{
	(void)sig;
	steps++;
	heard = work(3);
}

static void
forever(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	volatile uint64_t *done;

	if (fd < 0 || ftruncate(fd, 4096))
		exit(1);
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (done == MAP_FAILED)
		exit(1);
	for (;; ++*done)
		heard = work(7);
}

int
main(int argc, char **argv)
{
	int how = argc > 1 ? atoi(argv[1]) : 0;
	struct sigaction a = {.sa_handler = handler};
	uint64_t flags = (uint64_t)(how & 1) << 8;
	unsigned r;

	sigaction(SIGTRAP, &a, NULL);
	if (how == 2)
		forever(argv[2]);
	if (how == 4)
		handler(0);
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
	                 : : "r"(flags) : "cc", "memory");
	r = work(7);
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
	                 : : : "cc", "memory");
	fprintf(stderr, "%lu\n", steps);
	return (int)(r & 127);
}
