/* SPDX-License-Identifier: MIT */
/* exact TIMES SEED exact|truth MOST: sets an exact timer TIMES times, with random n up to MOST. For each handler it prints
 * where it struck: the address of the next instruction, and the stack pointer there. With `truth` the timers are so far away
 * that none is due, but the lower half of n is the same: truth.c steps through that. */
#include <chord.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t seed;
static unsigned sum;
static struct { uint64_t pc, sp; } at[100000];
static unsigned nhit;

static uint64_t
next(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

/* The frame that called this is the runtime's: what its frame pointer points to is described in runtime/x86_64/timers.s. */
static void
hit(void *arg)
{
	const uint64_t *frame = *(const uint64_t **)__builtin_frame_address(0);

	(void)arg;
	at[nhit].pc = frame[2];
	at[nhit].sp = (uint64_t)frame + 184;
	nhit++;
}

static int
compare(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static __attribute__((noinline)) unsigned
mix(unsigned a, unsigned b)
{
	switch (a % 6) {
	case 0: return b * 3;
	case 1: return b ^ a;
	case 2: return b ? mix(a / 5, b / 2) + 1 : a;
	case 3: return b - a;
	case 4: return a / 7 ? mix(a / 7, b) : 5;
	default: return b + (unsigned)abs((int)a);
	}
}

/* Flags pushed and popped, a string instruction, system calls, calls that come back here. */
static __attribute__((noinline)) void
work(unsigned from, unsigned times)
{
	unsigned char text[24] = "exactness is no accident";
	unsigned long flags;

	for (unsigned i = from; i < from + times || sum % 4; i++) {
		sum = mix(i, sum);
		switch (i % 32) {
		case 7:
			__asm__ volatile("leaq -128(%%rsp), %%rsp; pushfq; popq %0; pushq %0; popfq; leaq 128(%%rsp), %%rsp"
			                 : "=r"(flags) : : "cc", "memory");
			sum += flags & 0x100;
			break;
		case 13:
			qsort(text, 5, 1, compare);
			break;
		case 19:
			sum += (unsigned)strnlen((char *)text, sizeof text);
			if (write(-1, text, 1) > 0)
				abort();
			break;
		case 23: {
			unsigned char copy[24];
			void *to = copy, *from = text;
			size_t n = 11;

			__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
			sum += copy[3];
			break;
		}
		}
	}
}

int
main(int argc, char **argv)
{
	unsigned times = (unsigned)atoi(argv[1]);
	unsigned most = (unsigned)atoi(argv[4]);
	uint64_t far = !strcmp(argv[3], "truth") ? 1ull << 40 : 0;

	seed = strtoull(argv[2], NULL, 10);
	for (unsigned i = 0; i < times && i < 100000; i++) {
		uint64_t n = 1 + next() % (i % 8 ? most : most / 10 + 1);

		if (chord_timer_do_(CHORD_TIMER_(instructions), far + n, hit, NULL, far ? 1 : 2))
			return 1;
		work(next() % 32, most / 20 + 3);
		if (chord_timer_cancel(instructions) || (!far && nhit != i + 1))
			return 2;
	}
	/* Padding that is run belongs to the instruction before. */
	if (!far && chord_timer_late(instructions) > 2)
		return 3;
	for (unsigned i = 0; i < nhit; i++)
		printf("%" PRIx64 " %" PRIx64 "\n", at[i].pc, at[i].sp);
	return 0;
}
