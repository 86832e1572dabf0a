/* SPDX-License-Identifier: MIT */
/* What each form of an addition to a counter costs on this processor: nanoseconds a round, of a loop that does nothing else, of one
 * that looks through bytes as strlen does, of one that adds up vectors, and of one that moves each byte by one place. The numbers
 * are the shortest and the longest of several runs. The loops lie in one line of the cache. Some processors can forward a store to
 * the load of the next round at no cost (memory renaming). On these some forms cost no more than the loop without an addition.
 * Intel's forget at interrupts that they can, so there the two numbers may differ by much. A loop that stores in each round may
 * have to wait for any second store, whatever its form. */
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Long enough to be interrupted: Zen 4 forwards to PC-relative addresses, too, until the first interrupt. */
enum { ROUNDS = 40000000, RUNS = 5 };
/* Of the sum of vectors, in the first cache. */
enum { VECTORS = 1024, TIMES = 10000 };

static unsigned long counters[32] __attribute__((used, aligned(256)));

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char text[ROUNDS + 1] __attribute__((used, aligned(64)));

#define FORM(function, body) \
	static __attribute__((noinline)) void function##_beside(void) \
	{ \
		__asm__ volatile("leaq counters(%%rip), %%rdx\n\tleaq text(%%rip), %%rcx\n\t.p2align 6\n1:\t" body \
		                 "\n\tincq %%rcx\n\tcmpb $0, (%%rcx)\n\tjne 1b" : : : "rax", "rcx", "rdx", "memory", "cc"); \
	} \
	static __attribute__((noinline)) void function##_vectors(void) \
	{ \
		__asm__ volatile("leaq counters(%%rip), %%rdx\n\tleaq text(%%rip), %%rcx\n\tleaq %c0(%%rcx), %%rsi\n\t" \
		                 "pxor %%xmm2, %%xmm2\n\t.p2align 6\n1:\tmovdqa (%%rcx), %%xmm3\n\t" body \
		                 "\n\taddq $16, %%rcx\n\tmovdqa %%xmm3, %%xmm4\n\tpunpckhdq %%xmm2, %%xmm3\n\t" \
		                 "punpckldq %%xmm2, %%xmm4\n\tpaddq %%xmm4, %%xmm3\n\tpaddq %%xmm3, %%xmm5\n\t" \
		                 "cmpq %%rcx, %%rsi\n\tjne 1b" \
		                 : : "i"(16 * VECTORS) : "rax", "rcx", "rdx", "rsi", "xmm0", "xmm1", "xmm2", "xmm3", \
		                 "xmm4", "xmm5", "memory", "cc"); \
	} \
	static __attribute__((noinline)) void function##_bytes(void) \
	{ \
		__asm__ volatile("leaq counters(%%rip), %%rdx\n\tleaq text(%%rip), %%rcx\n\tleaq %c0(%%rcx), %%rsi\n\t" \
		                 "movl $120, %%r9d\n\t.p2align 6\n1:\tincq %%rcx\n\t" body "\n\tmovl %%r9d, %%r11d\n\t" \
		                 "movzbl (%%rcx), %%r9d\n\tmovb %%r11b, (%%rcx)\n\tcmpq %%rcx, %%rsi\n\tjne 1b" \
		                 : : "i"(16 * VECTORS) : "rax", "rcx", "rdx", "rsi", "r9", "r11", "xmm0", "xmm1", "memory", "cc"); \
	} \
	static __attribute__((noinline)) void function(void) \
	{ \
		__asm__ volatile("leaq counters(%%rip), %%rdx\n\tmovl %0, %%ecx\n\t" \
		                 ".p2align 6\n1:\t" body "\n\tdecl %%ecx\n\tjne 1b" \
		                 : : "i"(ROUNDS) : "rax", "rcx", "rdx", "memory", "cc"); \
	}

FORM(empty, "")
FORM(relative, "incq %%gs:counters(%%rip)")
FORM(relative_add, "addq $5, %%gs:counters(%%rip)")
FORM(relative_plain, "incq counters(%%rip)")
FORM(base, "incq %%gs:(%%rdx)")
FORM(base_far, "incq %%gs:8(%%rdx)")
FORM(base_add, "addq $5, %%gs:8(%%rdx)")
FORM(base_one, "addq $1, %%gs:(%%rdx)")
FORM(cells, "addb $8, %%dl; addq $1, %%gs:(%%rdx)")
FORM(loaded, "leaq counters(%%rip), %%rax; incq %%gs:8(%%rax)")
FORM(stored, "movq %%rcx, %%gs:counters(%%rip)")
FORM(held, "leaq 1(%%rax), %%rax")
FORM(through, "leaq 1(%%rax), %%rax; movq %%rax, %%gs:counters(%%rip)")
FORM(stack, "incq -8(%%rsp)")
FORM(spilled, "movq %%rdx, -8(%%rsp); leaq counters(%%rip), %%rdx; incq %%gs:(%%rdx); movq -8(%%rsp), %%rdx")
FORM(two, "incq %%gs:counters(%%rip); incq %%gs:counters+8(%%rip)")
FORM(two_base, "incq %%gs:(%%rdx); incq %%gs:8(%%rdx)")
FORM(vector, "pcmpeqd %%xmm1, %%xmm1; psubq %%xmm1, %%xmm0; movq %%xmm0, %%gs:counters(%%rip)")

static const struct {
	const char *text;
	void (*run)(void), (*beside)(void), (*vectors)(void), (*bytes)(void);
} forms[] = {
	{"nothing", empty, empty_beside, empty_vectors, empty_bytes},
	{"incq %gs:C(%rip)", relative, relative_beside, relative_vectors, relative_bytes},
	{"addq $5, %gs:C(%rip)", relative_add, relative_add_beside, relative_add_vectors, relative_add_bytes},
	{"incq C(%rip)", relative_plain, relative_plain_beside, relative_plain_vectors, relative_plain_bytes},
	{"incq %gs:(%r)", base, base_beside, base_vectors, base_bytes},
	{"incq %gs:8(%r)", base_far, base_far_beside, base_far_vectors, base_far_bytes},
	{"addq $5, %gs:8(%r)", base_add, base_add_beside, base_add_vectors, base_add_bytes},
	{"addq $1, %gs:(%r)", base_one, base_one_beside, base_one_vectors, base_one_bytes},
	{"addb $8, %rb; addq $1, %gs:(%r)", cells, cells_beside, cells_vectors, cells_bytes},
	{"leaq C(%rip), %r; incq %gs:8(%r)", loaded, loaded_beside, loaded_vectors, loaded_bytes},
	{"the same, %r spilled around it", spilled, spilled_beside, spilled_vectors, spilled_bytes},
	{"movq %r, %gs:C(%rip), a store alone", stored, stored_beside, stored_vectors, stored_bytes},
	{"leaq 1(%r), %r, no store", held, held_beside, held_vectors, held_bytes},
	{"leaq 1(%r), %r; movq %r, %gs:C(%rip)", through, through_beside, through_vectors, through_bytes},
	{"psubq, movq %xmm, %gs:C(%rip)", vector, vector_beside, vector_vectors, vector_bytes},
	{"incq -8(%rsp)", stack, stack_beside, stack_vectors, stack_bytes},
	{"two of incq %gs:C(%rip)", two, two_beside, two_vectors, two_bytes},
	{"two of incq %gs:8(%r)", two_base, two_base_beside, two_base_vectors, two_base_bytes},
};

static void
show(void (*run)(void), int times, double rounds)
{
	double least = 1e18, most = 0;

	for (int i = 0; i < RUNS; i++) {
		double t = now();

		for (int k = 0; k < times; k++)
			run();
		t = now() - t;
		least = t < least ? t : least;
		most = t > most ? t : most;
	}
	printf("  %5.2f - %4.2f ns", least / times / rounds, most / times / rounds);
}

int
main(void)
{
	memset(text, 'x', ROUNDS);
	printf("%-40s  %-14s  %-14s  %-14s  %-14s\n", "in the loop", "alone", "strlen", "vectors", "bytes");
	empty(); /* wakes the processor up */
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		printf("%-40s", forms[i].text);
		show(forms[i].run, 1, ROUNDS);
		show(forms[i].beside, 1, ROUNDS);
		show(forms[i].vectors, TIMES, VECTORS);
		show(forms[i].bytes, TIMES / 4, 16 * VECTORS);
		putchar('\n');
	}
	return 0;
}
