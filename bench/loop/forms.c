/* SPDX-License-Identifier: MIT */
/* What each form of an addition to a counter costs on this processor: nanoseconds a round, of a loop that does nothing else and
 * of one that looks through bytes as strlen does. Each number is the shortest of several runs. The loops lie in one line of the
 * cache. Some processors can forward a store to the load of the next round at no cost (memory renaming). On these some forms
 * cost no more than the loop without an addition. */
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Long enough to be interrupted: Zen 4 forwards to PC-relative addresses, too, until the first interrupt. */
enum { ROUNDS = 40000000, RUNS = 5 };

static unsigned long counters[2] __attribute__((used));

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char text[ROUNDS + 1] __attribute__((used));

#define FORM(function, body) \
	static __attribute__((noinline)) void function##_beside(void) \
	{ \
		__asm__ volatile("leaq counters(%%rip), %%rdx\n\tleaq text(%%rip), %%rcx\n\t.p2align 6\n1:\t" body \
		                 "\n\tincq %%rcx\n\tcmpb $0, (%%rcx)\n\tjne 1b" : : : "rax", "rcx", "rdx", "memory", "cc"); \
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
FORM(loaded, "leaq counters(%%rip), %%rax; incq %%gs:8(%%rax)")
FORM(through, "leaq 1(%%rax), %%rax; movq %%rax, %%gs:counters(%%rip)")
FORM(stack, "incq -8(%%rsp)")
FORM(spilled, "movq %%rdx, -8(%%rsp); leaq counters(%%rip), %%rdx; incq %%gs:(%%rdx); movq -8(%%rsp), %%rdx")
FORM(two, "incq %%gs:counters(%%rip); incq %%gs:counters+8(%%rip)")
FORM(two_base, "incq %%gs:(%%rdx); incq %%gs:8(%%rdx)")
FORM(vector, "pcmpeqd %%xmm1, %%xmm1; psubq %%xmm1, %%xmm0; movq %%xmm0, %%gs:counters(%%rip)")

static const struct {
	const char *text;
	void (*run)(void), (*beside)(void);
} forms[] = {
	{"nothing", empty, empty_beside},
	{"incq %gs:C(%rip)", relative, relative_beside},
	{"addq $5, %gs:C(%rip)", relative_add, relative_add_beside},
	{"incq C(%rip)", relative_plain, relative_plain_beside},
	{"incq %gs:(%r)", base, base_beside},
	{"incq %gs:8(%r)", base_far, base_far_beside},
	{"addq $5, %gs:8(%r)", base_add, base_add_beside},
	{"leaq C(%rip), %r; incq %gs:8(%r)", loaded, loaded_beside},
	{"the same, %r spilled around it", spilled, spilled_beside},
	{"leaq 1(%r), %r; movq %r, %gs:C(%rip)", through, through_beside},
	{"psubq, movq %xmm, %gs:C(%rip)", vector, vector_beside},
	{"incq -8(%rsp)", stack, stack_beside},
	{"two of incq %gs:C(%rip)", two, two_beside},
	{"two of incq %gs:8(%r)", two_base, two_base_beside},
};

static double
best(void (*run)(void))
{
	double least = 1e18;

	for (int i = 0; i < RUNS; i++) {
		double t = now();

		run();
		t = now() - t;
		least = t < least ? t : least;
	}
	return least / ROUNDS;
}

int
main(void)
{
	memset(text, 'x', ROUNDS);
	best(empty); /* wakes the processor up */
	printf("%-40s %9s %9s\n", "in the loop", "alone", "strlen");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		printf("%-40s %6.2f ns %6.2f ns\n", forms[i].text, best(forms[i].run), best(forms[i].beside));
	return 0;
}
